# Sourced: what a whole server has used, and how it is begun anew.
#
#	server_ticks			CPU of all processes of the server in $PGDATA that are, and that were,
#							in ticks of the kernel
#	server_restart [size]	the same data, empty buffers; the limit of memory of bench/memory.sh
#	server_read database [names]	reads all files of its tables and indexes, tables first, into
#							the kernel's cache; names: a regular expression of these

server_ticks()
{
	local postmaster

	postmaster=$(head -1 "$PGDATA/postmaster.pid")
	# shellcheck disable=SC2046
	{ cat "/proc/$postmaster/stat" $(sed 's/ *$//; s|\([0-9][0-9]*\) *|/proc/\1/stat |g' \
		"/proc/$postmaster/task/$postmaster/children") 2>/dev/null || true; } |
		sed 's/.*) //' | awk '{ t += $12 + $13 + (NR == 1 ? $14 + $15 : 0) } END { print t }'
}

server_restart()
{
	as_user "$BINDIR/pg_ctl" -D "$PGDATA" -m fast -w -t 300 stop >/dev/null
	memory_forget
	as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -w -t 300 start >/dev/null
	[ -z "$1" ] || [ -z "$MEMORY_GROUP" ] || memory_limit "$1"
}

server_read()
{
	PGDATABASE=$1 sql -v names="${2:-.*}" >/dev/null <<-'END'
		SELECT sum(length(pg_read_binary_file(path, piece, 1048576, true)))
		FROM (SELECT oid, relkind, pg_relation_filepath(oid) AS path FROM pg_class
				WHERE relnamespace NOT IN ('pg_catalog'::regnamespace,
						'information_schema'::regnamespace)
					AND relkind IN ('r', 'i') AND relname ~ :'names'
				ORDER BY relkind DESC OFFSET 0) s,
			generate_series(0, pg_relation_size(oid), 1048576) piece
	END
}
