# Sourced by demo.sh and bench/run.sh, after common.sh: real file paths, as many as wanted.
#
#	collect_paths directory wanted		writes directory/paths.tsv: path, tab, package; PATHS_SOURCE says where from
#
# The first source that has enough of them is taken:
#	1. $PATHS_FILE, if given: a file with one path per line, or path, tab, package
#	2. Debian's Contents index, fetched by apt itself into a folder of its own: the system's package lists stay as they are.
#	   The machine's architecture has 1.7 million paths (12 MB to fetch); for more, those of "all" are added (34 MB, 7.3 million).
#	3. offline, or with OFFLINE=1: the lists of the installed packages and what find sees below /
# Where that is not enough, the same paths are repeated below /srv/host002, /srv/host003 ..., like a
# backup of a fleet of equal machines.
#
# Packages come in a random order that is the same in every run, the files of a package in the order
# of their names: as they would be installed.

MAX_PATH=1000			# bytes; longer ones are left out
PER_ARCHITECTURE=1500000	# more are wanted: fetch "all", too
FETCH_TIMEOUT=90		# seconds
FIND_TIMEOUT=40
FIND_LIMIT=8000000		# paths

# fetch_contents directory architecture...: Contents files below directory/lists
fetch_contents()
{
	local dir=$1 arch target=Acquire::IndexTargets::deb options=

	shift
	for arch; do
		options="$options -o $target::Contents-$arch::MetaKey=\$(COMPONENT)/Contents-$arch
			-o $target::Contents-$arch::ShortDescription=Contents-$arch -o $target::Contents-$arch::Description=Contents-$arch
			-o $target::Contents-$arch::KeepCompressed=true -o $target::Contents-$arch::PDiffs=false"
	done
	as_user mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	# nothing but the Contents; as the test user, because apt needs no more rights for a folder of its own
	# shellcheck disable=SC2086
	as_user timeout "$FETCH_TIMEOUT" apt-get update -qq -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" \
		-o Acquire::Languages=none -o APT::Update::Post-Invoke::= -o $target::Packages::DefaultEnabled=false \
		-o $target::DEP-11::DefaultEnabled=false -o Acquire::IndexTargets::deb-src::Sources::DefaultEnabled=false \
		$options >/dev/null 2>&1
	ls "$dir"/lists/*Contents* >/dev/null 2>&1
}

# Contents lines are "path   section/package,section/package": the first package is enough.
contents_to_tsv()
{
	local file

	for file in "$1"/lists/*Contents*; do
		/usr/lib/apt/apt-helper cat-file "$file"
	done | awk '{
		packages = $NF
		sub(/[ \t]+[^ \t]+$/, "")
		split(packages, p, ",")
		n = split(p[1], q, "/")
		print "/" $0 "\t" q[n]
	}'
}

# Paths of installed packages, then all that find sees and no package owns.
machine_to_tsv()
{
	awk '{
		if (!(FILENAME in name)) {
			n = split(FILENAME, f, "/")
			name[FILENAME] = f[n]
			sub(/(:[^:]*)?\.list$/, "", name[FILENAME])
		}
		print $0 "\t" name[FILENAME]
	}' /var/lib/dpkg/info/*.list 2>/dev/null
	as_user timeout "$FIND_TIMEOUT" find / -xdev \( -path /proc -o -path /sys -o -path "$1" \) -prune -o -print 2>/dev/null |
		head -n "$FIND_LIMIT" | sed 's/$/\tlocal/' || true
}

# Valid UTF-8 without control characters or backslashes.
clean_tsv()
{
	LC_ALL=C.UTF-8 grep -ax '.*' |
		LC_ALL=C awk -F '\t' -v max="$MAX_PATH" \
			'NF == 2 && length($1) <= max && $1 !~ /[\001-\037\177\\]/'
}

# Packages at random, reproducibly; inside of each by name.
order_by_package()
{
	LC_ALL=C sort -t "$(printf '\t')" -k2,2 -k1,1 |
		awk -F '\t' 'BEGIN { srand(20160626) }
			$2 != last { last = $2; rank = sprintf("%.9f", rand()) }
			{ print rank "\t" $0 }' |
		LC_ALL=C sort -s -t "$(printf '\t')" -k1,1 | cut -f 2-
}

# repeat_paths file have wanted: the first ones, and those of other roots until there are enough
repeat_paths()
{
	local host=2 have=$2

	head -n "$3" "$1"
	while [ "$have" -lt "$3" ]; do
		head -n $(($3 - have)) "$1" | sed "s|^|/srv/host$(printf %03d $host)|"
		have=$((have + $2))
		host=$((host + 1))
	done
}

collect_paths()
{
	local dir=$1 want=$2 raw=$1/paths.raw all=$1/paths.all have arch

	arch=$(dpkg --print-architecture 2>/dev/null)
	if [ -n "$PATHS_FILE" ]; then
		PATHS_SOURCE="the file given"
		awk -F '\t' '{ print $1 "\t" (NF > 1 ? $2 : "none") }' "$PATHS_FILE" >"$raw"
	elif [ -z "$OFFLINE" ] && [ -n "$arch" ] && [ -x /usr/lib/apt/apt-helper ] &&
		fetch_contents "$dir" "$arch" $([ "$want" -le "$PER_ARCHITECTURE" ] || echo all); then
		PATHS_SOURCE="Debian's Contents index"
		contents_to_tsv "$dir" >"$raw"
	else
		PATHS_SOURCE="this machine's packages and file system"
		machine_to_tsv "$dir" >"$raw"
	fi
	clean_tsv <"$raw" | LC_ALL=C sort -u -t "$(printf '\t')" -k1,1 | order_by_package >"$all"
	have=$(wc -l <"$all")
	[ "$have" -gt 0 ] || die "found no file paths"
	repeat_paths "$all" "$have" "$want" >"$dir/paths.tsv"
	[ "$have" -ge "$want" ] || PATHS_SOURCE="$PATHS_SOURCE ($have paths, repeated below /srv/host002 and so on)"
	rm -rf "$raw" "$all" "$dir/lists" "$dir/cache"
}
