# Sourced from the root of the sources: how each bench begins.
#
#	take_options "name ..." argument...	"--name value" sets that variable; others: $words
#	no_words	ends the script if there are any
#	own_cluster name [configuration line]...	a server in a place of its own, gone at the end
#	server_ticks	clock ticks that its postmaster, the children, and those that ended have taken

set -e -o pipefail
. scripts/common.sh
. scripts/cluster.sh
. bench/report.sh

take_options()
{
	local known=" $1 " name

	shift
	words=()
	while [ $# -gt 0 ]; do
		name=${1#--}
		if [[ $1 == --* && $known == *" $name "* ]]; then
			[ $# -gt 1 ] || die "$1 wants a value"
			printf -v "$name" %s "$2"
			shift
		else
			words+=("$1")
		fi
		shift
	done
	# the scripts change folders
	# shellcheck disable=SC2154
	[[ $known != *" out "* ]] || out=$(realpath -m "$out")
}

what_is()
{
	die "what is \"$1\"? See the head of bench/$(basename "$0")"
}

no_words()
{
	[ ${#words[@]} -eq 0 ] || what_is "${words[0]}"
}

leave()
{
	set +e +o pipefail
	cluster_cleanup
}

own_cluster()
{
	find_postgres
	make_workdir
	trap leave EXIT
	trap 'exit 130' INT TERM
	cluster_start "$@"
	export PGOPTIONS="-c client_min_messages=warning"
}

server_ticks()
{
	local postmaster

	postmaster=$(head -1 "$PGDATA/postmaster.pid")
	{
		sed 's/.*) //' "/proc/$postmaster/stat" | awk '{ print $12 + $13 + $14 + $15 }'
		pgrep -P "$postmaster" | while read -r pid; do
			sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | awk '{ print $12 + $13 }'
		done
	} | awk '{ n += $1 } END { print n }'
}
