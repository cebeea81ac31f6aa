# Sourced: a limit of memory for a server, by a control group, where the machine allows one.
#
#	memory_limit size	the server whose data is in $PGDATA and all that it starts, page cache
#						included, from now on; again: another limit, or the server that was
#						started since.  False, and says so, if it cannot be had (needs the right
#						to make control groups, and with version 2 a memory controller for them)
#	memory_refaults		pages of files (of the kernel, 4 kB mostly) that it had in memory before,
#						and had to read again
#	memory_refaults_command	the command that prints them
#	memory_forget		lets go of the pages of files that it has in memory
#	memory_release		after the server has stopped: remove the group

MEMORY_GROUP=

# memory_files directory: the names of the group's files, by the version of control groups
memory_files()
{
	if [ -e "$1/memory.limit_in_bytes" ]; then
		MEMORY_LIMIT=memory.limit_in_bytes
		MEMORY_RECLAIM=memory.force_empty
	else
		MEMORY_LIMIT=memory.max
		MEMORY_RECLAIM=memory.reclaim
	fi
}

memory_limit()
{
	local own root pid

	own=$(sed -n 's/^[0-9]*:memory:\(.*\)/\1/p' /proc/self/cgroup)
	root=/sys/fs/cgroup/memory
	if [ -z "$own" ]; then
		own=$(sed -n 's/^0:://p' /proc/self/cgroup)
		root=/sys/fs/cgroup
	fi
	MEMORY_GROUP=$root${own%/}/surfidx-bench-$$
	[ -d "$MEMORY_GROUP" ] || mkdir "$MEMORY_GROUP" 2>/dev/null
	memory_files "$MEMORY_GROUP"
	if ! numfmt --from=iec "${1%B}" 2>/dev/null >"$MEMORY_GROUP/$MEMORY_LIMIT"; then
		rmdir "$MEMORY_GROUP" 2>/dev/null
		MEMORY_GROUP=
		echo "# no limit of memory: this machine lets nobody make a control group with one below" \
			"${root}${own}"
		return 1
	fi
	pid=$(head -1 "$PGDATA/postmaster.pid")
	# (one that ends meanwhile needs none)
	for pid in $pid $(cat "/proc/$pid/task/$pid/children"); do
		echo "$pid" >"$MEMORY_GROUP/cgroup.procs" 2>/dev/null || [ ! -d "/proc/$pid" ] || return 1
	done
}

memory_refaults_command()
{
	if [ -n "$MEMORY_GROUP" ]; then
		echo "sed -n 's/^workingset_refault_file //p' $MEMORY_GROUP/memory.stat"
	else
		echo "echo 0"
	fi
}

memory_refaults()
{
	eval "$(memory_refaults_command)"
}

memory_forget()
{
	[ -n "$MEMORY_GROUP" ] || return 0
	# what cannot be had is in use, which version 2 calls an error
	echo 1G 2>/dev/null >"$MEMORY_GROUP/$MEMORY_RECLAIM" || true
}

memory_release()
{
	[ -z "$MEMORY_GROUP" ] || rmdir "$MEMORY_GROUP"
	MEMORY_GROUP=
}
