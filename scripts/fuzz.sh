#!/bin/bash
# fuzz.sh name [seconds]: run src/core/fuzz/fuzz_<name>.c under libFuzzer, ASan and UBSan.  Needs clang.

set -e
. "$(dirname "$0")/common.sh"
cd "$ROOT_DIR"
name=$1
[ -f "src/core/fuzz/fuzz_$name.c" ] ||
	die "usage: fuzz.sh name [seconds], name one of: $(ls src/core/fuzz | sed -n 's/^fuzz_\(.*\)\.c$/\1/p' | xargs)"
mkdir -p build
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Isrc/core \
	"src/core/fuzz/fuzz_$name.c" src/core/*.c -lm -o "$dir/fuzz"
mkdir "$dir/corpus"
"$dir/fuzz" -max_total_time="${2:-60}" -max_len=16384 -artifact_prefix="$PWD/build/" "$dir/corpus"
