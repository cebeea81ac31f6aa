# Sourced: a private copy of the server with a test build of surfidx (-DSFX_TEST: stop points and mutants, src/base/stop.h).
#
#	test_server dir		makes dir, sets TEST_PG_CONFIG.  Call find_postgres (common.sh) first.
#
# PostgreSQL finds its files relative to its programs: copies of those in the same place below dir, and links to everything
# else, are a server of their own, into which surfidx can be installed beside the real one.  Objects are kept in build/test;
# what would be inlined across files is not, which halves the time.

# link_all from to: links in directory to for everything in from, but for what is surfidx's
link_all()
{
	local file

	mkdir -p "$2"
	for file in "$1"/*; do
		case $(basename "$file") in
			surfidx* | extension) ;;
			*) ln -s "$file" "$2/" ;;
		esac
	done
}

test_server()
{
	local dir=$1 bin lib share out=$ROOT_DIR/build/test

	bin=$("$PG_CONFIG" --bindir)
	lib=$("$PG_CONFIG" --pkglibdir)
	share=$("$PG_CONFIG" --sharedir)
	mkdir -p "$dir$bin"
	cp -p "$bin"/* "$dir$bin/"
	link_all "$lib" "$dir$lib"
	link_all "$share" "$dir$share"
	link_all "$share/extension" "$dir$share/extension"
	# shared libraries of the server's own, and the headers
	if [ "$("$PG_CONFIG" --libdir)" != "$lib" ]; then
		mkdir -p "$dir$("$PG_CONFIG" --libdir)"
		for file in "$("$PG_CONFIG" --libdir)"/libpq* "$("$PG_CONFIG" --libdir)"/libpg* "$("$PG_CONFIG" --libdir)"/libecpg*; do
			[ ! -e "$file" ] || ln -s "$file" "$dir$("$PG_CONFIG" --libdir)/"
		done
	fi
	mkdir -p "$dir$(dirname "$("$PG_CONFIG" --includedir)")"
	[ -e "$dir$("$PG_CONFIG" --includedir)" ] || ln -s "$("$PG_CONFIG" --includedir)" "$dir$("$PG_CONFIG" --includedir)"
	TEST_PG_CONFIG=$dir$bin/pg_config

	mkdir -p "$out"
	# -keep-newer-files and the times of the sources: only what has changed is compiled
	(cd "$ROOT_DIR" && tar -cf - --exclude='*.o' --exclude='*.d' Makefile scripts src ./*.sql ./*.control) | tar -xf - -C "$out" --keep-newer-files 2>/dev/null
	# what was deleted or renamed here must go there, too
	(cd "$out" && find src -name '*.c' -o -name '*.h' | while read -r file; do
		[ -e "$ROOT_DIR/$file" ] || rm -f "$file" "${file%.c}.o" "${file%.c}.d"
	done)
	make -s -C "$out" -j"$(nproc)" PG_CONFIG="$PG_CONFIG" COPT=-DSFX_TEST LTO= all &&
		install -m 755 "$out/surfidx.so" "$dir$lib/" &&
		install -m 644 "$out"/surfidx.control "$out"/surfidx--*.sql "$dir$share/extension/"
}
