# Sourced: a limit of memory for a server, by a control group, where the machine allows one.
#
#	memory_limit size		the server whose data is in $PGDATA and all that it starts, page cache included, from now on; false, and says so, if it
#							cannot be had (needs the right to make control groups, and with version 2 a memory controller for them)
#	memory_refaults			pages of files that it had in memory before, and had to read again
#	memory_release			after the server has stopped: remove the group

MEMORY_GROUP=

memory_limit()
{
	local own root group limit pid

	own=$(sed -n 's/^[0-9]*:memory:\(.*\)/\1/p' /proc/self/cgroup)
	if [ -n "$own" ]; then
		root=/sys/fs/cgroup/memory
		limit=memory.limit_in_bytes
	else
		own=$(sed -n 's/^0:://p' /proc/self/cgroup)
		root=/sys/fs/cgroup
		limit=memory.max
	fi
	group=$root${own%/}/surfidx-bench-$$
	if ! mkdir "$group" 2>/dev/null || ! numfmt --from=iec "${1%B}" 2>/dev/null >"$group/$limit"; then
		rmdir "$group" 2>/dev/null
		echo "# no limit of memory: this machine lets nobody make a control group with one below ${root}${own}"
		return 1
	fi
	MEMORY_GROUP=$group
	pid=$(head -1 "$PGDATA/postmaster.pid")
	for pid in $pid $(cat "/proc/$pid/task/$pid/children"); do
		echo "$pid" >"$group/cgroup.procs" || return 1
	done
}

memory_refaults()
{
	if [ -n "$MEMORY_GROUP" ]; then
		awk '$1 == "workingset_refault_file" { print $2 }' "$MEMORY_GROUP/memory.stat"
	else
		echo 0
	fi
}

memory_release()
{
	[ -z "$MEMORY_GROUP" ] || rmdir "$MEMORY_GROUP"
	MEMORY_GROUP=
}
