#!/bin/bash
# layers.sh: a folder of src uses itself and those before it in CORE and LAYERS (Makefile), no other.
# Asked are #include lines and, where objects have been built, the symbols that they need.
cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh

# Lines for the awk below: L folder | H header folder | I folder file:line header | D symbol folder | U folder file symbol
facts()
{
	local folder file

	for folder in $(folders CORE) $(folders LAYERS); do
		echo "L $folder"
		for file in src/$folder/*.h; do
			[ ! -e "$file" ] || echo "H $(basename "$file") $folder"
		done
		grep -nHE '^#include "' src/$folder/*.[ch] | sed -E "s!^([^:]+:[0-9]+):#include \"([^\"]+)\".*!I $folder \1 \2!"
		for file in src/$folder/*.o; do
			[ -e "$file" ] || continue
			nm "$file" | awk -v l="$folder" -v f="${file%.o}.c" '
				NF == 2 && $1 == "U" { print "U", l, f, $2 }
				NF == 3 && $2 ~ /[TDBRC]/ { print "D", $3, l }'
		done
	done
}

facts | awk '
	$1 == "L" { rank[$2] = ++n }
	$1 == "H" { if ($2 in home) { print $2 " stands in " home[$2] " and in " $3; bad++ } home[$2] = $3 }
	$1 == "D" { def[$2] = $3 }
	$1 == "I" { inc[++ni] = $0 }
	$1 == "U" { und[++nu] = $0 }
	END {
		for (i = 1; i <= ni; i++) {
			split(inc[i], a, " ")
			if (a[4] in home && rank[home[a[4]]] > rank[a[2]]) { print a[3] ": includes " home[a[4]] "/" a[4]; bad++ }
		}
		for (i = 1; i <= nu; i++) {
			split(und[i], a, " ")
			if (a[4] in def && rank[def[a[4]]] > rank[a[2]]) { print a[3] ": uses " a[4] " of " def[a[4]]; bad++ }
		}
		printf "%d upward, %d includes, %d symbols looked at\n", bad, ni, nu
		exit bad > 0
	}'
