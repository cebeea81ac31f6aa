#!/bin/bash
# What a release is made of, from the commit that is checked out: build/surfidx-VERSION.zip, as PGXN
# takes it, and build/surfidx-VERSION.tar.gz, for RPM.
#
#	dist.sh						both; their names
#	dist.sh --released VERSION	nothing: is VERSION that of META.json, and dated in CHANGELOG.md?

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
version=$(perl -MJSON::PP -0ne 'print decode_json($_)->{version}' META.json) || die "META.json"

if [ "$1" = --released ]; then
	[ "$2" = "$version" ] || die "META.json is of version $version, not ${2:-?}"
	grep -qE "^## ${version%.0} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md ||
		die "CHANGELOG.md has no date for ${version%.0}: \"## ${version%.0} (YYYY-MM-DD)\""
	exit 0
fi
mkdir -p build
for format in zip tar.gz; do
	file=build/surfidx-$version.$format
	git archive --format="$format" --prefix="surfidx-$version/" -o "$file" HEAD || die "git archive"
	echo "$file"
done
