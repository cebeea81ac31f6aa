#!/bin/bash
# indent.sh: PostgreSQL's own style, by pg_bsd_indent, for src but src/core (which has a style of its own).
#
#	indent.sh [file]...				status 1 if pg_bsd_indent would change a line; default: all files
#	indent.sh --write [file]...		change them
#	indent.sh --typedefs			write scripts/typedefs.txt anew, from the debug information of src/*/*.o
#
# pg_bsd_indent is a package of Debian, and in PostgreSQL's sources from 16 on: make -C
# src/tools/pg_bsd_indent.  PG_BSD_INDENT or the path says where it is.  Comments are wrapped at
# column 100.  What it does not understand is written otherwise: a loop of a macro such as foreach
# has braces, an expression that goes on in the next line of a declaration has brackets around it.
cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
indent=${PG_BSD_INDENT:-$(command -v pg_bsd_indent)}
OPTIONS="-bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 -i4 -l100 -lp -lpl -nip -npro -sac -tpg -ts4"

[ -n "$indent" ] || die "pg_bsd_indent is not installed"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# indented file: into $dir/new.c.  Comments that begin with a line of dashes are kept, and so are
# compound literals of one line, which become calls for as long as it takes.
indented()
{
	sed -E 's!/\*---!/*---X_X!; s!/\* ---!/*---X_Y!
			s!\(([A-Za-z0-9_]+)\) \{([^{}]*)\}!X_L(\1, X_M(\2), X_E)!' "$1" >"$dir/old.c"
	# it leaves a backup where it is called
	(cd "$dir" && "$indent" $OPTIONS -Utypedefs old.c out.c) >"$dir/said" 2>&1 || { echo "$1: $(head -1 "$dir/said")"; return 1; }
	sed -E 's!/\*---X_X!/*---!; s!/\*---X_Y!/* ---!; s!X_L\(([A-Za-z0-9_]+), X_M\(([^{}]*)\), X_E\)!(\1) {\2}!; s!^([A-Za-z_][^ \t]*)[ \t]+\*$!\1 *!' "$dir/out.c" >"$dir/new.c"
}

sources()
{
	# shellcheck disable=SC2046,SC2086
	echo $LAYER_SOURCES $(printf 'src/%s/*.h ' $(folders LAYERS))
}

if [ "$1" = --typedefs ]; then
	for file in src/*/*.o; do
		readelf --debug-dump=info "$file" 2>/dev/null
	done | awk '/DW_TAG_typedef/ { t = 1; next } t && /DW_AT_name/ { print $NF; t = 0 }' | LC_ALL=C sort -u >"$dir/all"
	# of all that the server's headers define, what our sources name
	cat src/*/*.[ch] | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | LC_ALL=C sort -u | LC_ALL=C comm -12 - "$dir/all" >scripts/typedefs.txt
	exit 0
fi
# and what the sources define themselves, of which objects know only what they were built with
{ cat scripts/typedefs.txt; cat src/*/*.[ch] | sed -nE 's/^\} ([A-Za-z_][A-Za-z0-9_]*);$/\1/p'; } |
	LC_ALL=C sort -u >"$dir/typedefs"
failed=0
write=
[ "$1" != --write ] || { write=1; shift; }
for file in ${*:-$(sources)}; do
	indented "$file" || { failed=1; continue; }
	n=$(diff "$file" "$dir/new.c" | grep -c '^[<>]')
	[ "$n" -gt 0 ] || continue
	if [ -n "$write" ]; then
		cat "$dir/new.c" >"$file"
	else
		echo "$file: $n lines that scripts/indent.sh --write would change"
		failed=1
	fi
done
exit $failed
