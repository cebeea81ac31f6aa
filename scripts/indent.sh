#!/bin/bash
# indent.sh: PostgreSQL's own style, by pg_bsd_indent, for src but src/core (which has a style of its own).
#
#	indent.sh				status 1 if a file has more lines that pg_bsd_indent would change than scripts/indent.txt has for it
#	indent.sh --write		[file]... change them; default: all
#	indent.sh --record		write scripts/indent.txt anew, and scripts/typedefs.txt from the debug information of src/*/*.o
#
# pg_bsd_indent is in PostgreSQL's sources from 16 on: make -C src/tools/pg_bsd_indent.  PG_BSD_INDENT or the path says
# where it is; where there is none, nothing is checked.  Comments are wrapped at column 100.
cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
indent=${PG_BSD_INDENT:-$(command -v pg_bsd_indent)}
OPTIONS="-bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 -i4 -l100 -lp -lpl -nip -npro -sac -tpg -ts4"
# files that pg_bsd_indent does not understand: it takes their macros for statements
SKIPPED="src/keys/key.c src/keys/order.c src/plan/estimate_conditions.c src/plan/estimate_count.c"

[ -n "$indent" ] || { echo "skipped: pg_bsd_indent is not installed"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# indented file: into $dir/new.c.  Comments that begin with a line of dashes are kept.
indented()
{
	sed 's!/\*---!/*---X_X!; s!/\* ---!/*---X_Y!' "$1" >"$dir/old.c"
	# it leaves a backup where it is called
	(cd "$dir" && "$indent" $OPTIONS -Utypedefs old.c out.c) >"$dir/said" 2>&1 || { echo "$1: $(head -1 "$dir/said")"; return 1; }
	sed -E 's!/\*---X_X!/*---!; s!/\*---X_Y!/* ---!; s!^([A-Za-z_][^ \t]*)[ \t]+\*$!\1 *!' "$dir/out.c" >"$dir/new.c"
}

sources()
{
	local file

	for file in $LAYER_SOURCES $(printf 'src/%s/*.h ' $(folders LAYERS)); do
		[[ " $SKIPPED " == *" $file "* ]] || echo "$file"
	done
}

if [ "$1" = --record ]; then
	for file in src/*/*.o; do
		readelf --debug-dump=info "$file" 2>/dev/null
	done | awk '/DW_TAG_typedef/ { t = 1; next } t && /DW_AT_name/ { print $NF; t = 0 }' | LC_ALL=C sort -u >"$dir/all"
	# of all that the server's headers define, what our sources name
	cat src/*/*.[ch] | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | LC_ALL=C sort -u | LC_ALL=C comm -12 - "$dir/all" >scripts/typedefs.txt
fi
# and what the sources define themselves, of which objects know only what they were built with
{ cat scripts/typedefs.txt; cat src/*/*.[ch] | sed -nE 's/^\} ([A-Za-z_][A-Za-z0-9_]*);$/\1/p'; } |
	LC_ALL=C sort -u >"$dir/typedefs"
failed=0
write=
[ "$1" != --write ] || { write=1; shift; }
[ "$1" != --record ] || { record=1; shift; : >"$dir/record"; }
for file in ${*:-$(sources)}; do
	indented "$file" || { failed=1; continue; }
	n=$(diff "$file" "$dir/new.c" | grep -c '^[<>]')
	[ "$n" -gt 0 ] || continue
	if [ -n "$write" ]; then
		cat "$dir/new.c" >"$file"
	elif [ -n "$record" ]; then
		echo "$n $file" >>"$dir/record"
	elif [ "$n" -gt "$(awk -v f="$file" '$2 == f { print $1 }' scripts/indent.txt | grep . || echo 0)" ]; then
		echo "$file: $n lines that scripts/indent.sh --write would change"
		failed=1
	fi
done
[ -z "$record" ] || cp "$dir/record" scripts/indent.txt
exit $failed
