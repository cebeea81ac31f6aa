#!/bin/bash
# fuzz.sh name [seconds [keep]]: run fuzz/fuzz_<name>.c under libFuzzer, ASan and UBSan.  Needs clang.
#
# Begins with the cases of fuzz/corpus/<name>.  With keep, these are replaced by the fewest cases that reach
# all edges that the old and the new ones reach: they are what "make test" replays.

set -e
. "$(dirname "$0")/common.sh"
cd "$ROOT_DIR"
name=$1
[ -f "fuzz/fuzz_$name.c" ] ||
	die "usage: fuzz.sh name [seconds [keep]], name one of: $(ls fuzz | sed -n 's/^fuzz_\(.*\)\.c$/\1/p' | xargs)"
mkdir -p build
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined $CORE_FLAGS \
	"fuzz/fuzz_$name.c" $CORE_SOURCES -lm -o "$dir/fuzz"
corpus=fuzz/corpus/$name
mkdir -p "$dir/corpus" "$dir/reduced" "$corpus"
"$dir/fuzz" -max_total_time="${2:-60}" -max_len=16384 -artifact_prefix="$PWD/build/" "$dir/corpus" "$corpus"
if [ "$3" = keep ]; then
	"$dir/fuzz" -merge=1 -use_counters=0 -max_len=16384 "$dir/reduced" "$dir/corpus" "$corpus"
	rm -rf "$corpus"
	cp -r "$dir/reduced" "$corpus"
fi
