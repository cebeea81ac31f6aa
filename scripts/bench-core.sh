#!/bin/bash
# bench-core.sh [entries] [set=file]...: the codecs and the leaves of src/core without a server (make bench-core).
#
#	entries			how many of each key set go into the table of bytes per entry (default 10000000; 24 bytes of memory each)
#	emails=file, urls=file, paths=file	sets of one key per line; without paths=, what find sees below /usr
#
# Prints codec by key set: bytes, ns to encode, decode, find and get; then for the schemes of HOPE and for FSST compression rates, and ns per source byte to
# encode and decode whole keys; then bytes per entry of whole leaves beside the information limit;
# then inner pages: children in a page, and ns to find one in a hot and in a cold page, of three formats; then rows that cut leaves visit while an index grows; then SuRF filters: bits, errors and ns of random int8,
# made-up e-mails, and all sets given.

set -e
. "$(dirname "$0")/common.sh"
cd "$ROOT_DIR"
. bench/core/build.sh
entries=10000000
case $1 in
	[0-9]*) entries=$1; shift ;;
esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
core_objects "$dir"
core_bench "$dir" codecs inner hope table grow surf
case "$*" in
	*paths=*) ;;
	*) find /usr -xdev >"$dir/paths" 2>/dev/null || true; set -- "$@" "paths=$dir/paths" ;;
esac
"$dir/codecs"
echo
"$dir/hope" "${@#*=}"
echo
"$dir/table" -n "$entries" "$@"
echo
for a; do
	case $a in paths=*) "$dir/inner" "${a#paths=}" ;; esac
done
echo
"$dir/grow"
echo
"$dir/surf"
"$dir/surf" "${@#*=}"
