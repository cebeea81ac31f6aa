# Sourced in the root of the sources, after scripts/common.sh: benchmarks of src/core, compiled
# without a server.
#
#	core_objects directory			src/core, into the directory's *.o
#	core_bench directory name...	bench/core/bench_NAME.c with these, into directory/NAME

core_flags="-std=c11 -O2 $CORE_FLAGS"

core_objects()
{
	local source

	for source in $CORE_SOURCES; do
		# shellcheck disable=SC2086
		${CC:-cc} $core_flags -c "$source" -o "$1/$(basename "$source" .c).o"
	done
}

core_bench()
{
	local dir=$1 name

	shift
	for name; do
		# shellcheck disable=SC2086
		${CC:-cc} $core_flags "bench/core/bench_$name.c" "$dir"/*.o -lm -lpthread -o "$dir/$name"
	done
}
