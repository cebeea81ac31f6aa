#!/bin/bash
# What a release is made of, from the commit that is checked out: build/surfidx-VERSION.zip, as PGXN
# takes it, and build/surfidx-VERSION.tar.gz, for RPM.
#
#	dist.sh						both; their names
#	dist.sh --freeze			adds checksums of scripts and of t/format to t/format/released
#	dist.sh --released VERSION	nothing: is VERSION that of META.json, dated in CHANGELOG.md, and
#								frozen, and are the files of earlier ones as they were?

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
version=$(perl -MJSON::PP -0ne 'print decode_json($_)->{version}' META.json) || die "META.json"

readonly FROZEN=t/format/released

# what no release has frozen yet
not_frozen()
{
	local file

	for file in surfidx--*.sql t/format/*/*.gz; do
		grep -q "  $file\$" $FROZEN || echo "$file"
	done
}

if [ "$1" = --freeze ]; then
	not_frozen | xargs -r sha256sum >>$FROZEN
	exit
elif [ "$1" = --released ]; then
	[ "$2" = "$version" ] || die "META.json is of version $version, not ${2:-?}"
	grep -qE "^## ${version%.0} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md ||
		die "CHANGELOG.md has no date for ${version%.0}: \"## ${version%.0} (YYYY-MM-DD)\""
	[ -z "$(not_frozen)" ] || die "not frozen: $(not_frozen | paste -sd' '): dist.sh --freeze"
	sha256sum --quiet -c $FROZEN || die "$FROZEN: what a release has frozen has changed"
	exit 0
fi
mkdir -p build
for format in zip tar.gz; do
	file=build/surfidx-$version.$format
	git archive --format="$format" --prefix="surfidx-$version/" -o "$file" HEAD || die "git archive"
	echo "$file"
done
