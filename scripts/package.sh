#!/bin/bash
# Build Debian packages, one for each PostgreSQL version whose server development files are installed, and try them.
#
#	package.sh [directory]		where the packages go; default: build/packages
#
# The package for the server that pg_config.sh finds is built twice, to see that both come out the same, then
# unpacked over a copy of that server in a temporary directory and used there: nothing is installed on this machine
# but what building takes.  lintian looks at all packages.  Prints TAP.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/tap.sh
. scripts/cluster.sh
clean_environment "$@"

OUT=${1:-$ROOT_DIR/build/packages}

need_tools()
{
	local missing=

	command -v dpkg-buildpackage >/dev/null || missing="$missing dpkg-dev"
	command -v dh >/dev/null || missing="$missing debhelper"
	command -v fakeroot >/dev/null || missing="$missing fakeroot"
	command -v lintian >/dev/null || missing="$missing lintian"
	command -v pg_buildext >/dev/null || missing="$missing postgresql-common"
	# dh's own functions have to be there for the module to be loaded: is the file?
	perl -e '-f "$_/Debian/Debhelper/Sequence/pgxs_loop.pm" && exit 0 for @INC; exit 1' ||
		missing="$missing postgresql-server-dev-all"
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null || die "missing:$missing; Debian packages are built on Debian"
	echo "# installing:$missing"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
		as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $missing >/dev/null ||
		die "could not install:$missing"
}

# build_in dir: the same name and time in each build, or the compiler's notes of them would differ
build_in()
{
	local dir=$1

	rm -rf "$WORK/build" && mkdir -p "$WORK/build/surfidx" "$dir" &&
		tar -c --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.d' --exclude='*.so' --exclude=./.deps . |
		tar -x -C "$WORK/build/surfidx" &&
		chown -R "$(test_user)" "$WORK/build" &&
		(cd "$WORK/build/surfidx" &&
			as_user pg_buildext updatecontrol &&
			as_user env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u PG_CONFIG PATH=/usr/sbin:/usr/bin:/sbin:/bin \
				dpkg-buildpackage -us -uc -b -d) >"$WORK/build.log" 2>&1 &&
		mv "$WORK"/build/*.deb "$dir"
}

# A copy of the server of Debian's packages, with the package over it; the server finds its files from where it lies.
copy_server()
{
	local version=$1 package=$2 root=$WORK/root

	mkdir -p "$root/usr/lib/postgresql" "$root/usr/share/postgresql" &&
		cp -a "/usr/lib/postgresql/$version" "$root/usr/lib/postgresql/" &&
		cp -a "/usr/share/postgresql/$version" "$root/usr/share/postgresql/" &&
		rm -f "$root/usr/lib/postgresql/$version/lib/surfidx.so" \
			"$root/usr/share/postgresql/$version/extension/surfidx"* &&
		dpkg -x "$package" "$root" &&
		chmod -R a+rX "$WORK"
}

sql()
{
	as_user "$BINDIR/psql" -X -q -v ON_ERROR_STOP=1 -At "$@"
}

use_server()
{
	sql -c "CREATE EXTENSION surfidx" \
		-c "CREATE TABLE t AS SELECT g AS id, md5(g::text) AS h FROM generate_series(1, 10000) g" \
		-c "CREATE INDEX t_id ON t USING surfidx (id); CREATE INDEX t_h ON t USING surfidx (h)" \
		-c "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(10001, 12000) g" &&
		cluster_stop immediate &&
		as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -w -t 60 start >/dev/null &&
		CLUSTER_RUNNING=$PGDATA &&
		sql -c "SELECT surfidx_check(c.oid, true) FROM pg_class c WHERE relname IN ('t_id', 't_h')" >/dev/null &&
		[ "$(sql -c "SET enable_seqscan = off; SELECT count(*) FROM t WHERE id BETWEEN 9000 AND 11000")" = 2001 ]
}

need_tools
find_postgres
make_workdir
trap cluster_cleanup EXIT
version=$("$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')

build_in "$OUT"
ok $? "dpkg-buildpackage"
[ "$bad" -eq 0 ] || { tail -30 "$WORK/build.log"; done_testing; exit 1; }
package=$(ls "$OUT/postgresql-$version-surfidx_"*.deb 2>/dev/null | tail -1)
[ -n "$package" ]
ok $? "there is a package for PostgreSQL $version"

build_in "$WORK/again"
cmp -s "$package" "$WORK/again/$(basename "$package")"
ok $? "a second build gives the same bytes"

as_user lintian --fail-on error,warning "$OUT"/*.deb >"$WORK/lintian.log" 2>&1
ok $? "lintian finds neither errors nor warnings"

contents=$(dpkg -c "$package" | awk '{ print $6 }')
for file in "lib/postgresql/$version/lib/surfidx.so" "share/postgresql/$version/extension/surfidx.control"; do
	grep -qx "./usr/$file" <<<"$contents"
	ok $? "the package has $file"
done
dpkg --fsys-tarfile "$package" | tar -x -O "./usr/lib/postgresql/$version/lib/surfidx.so" >"$WORK/surfidx.so"
extra=$(objdump -T "$WORK/surfidx.so" | awk '$4 == ".text" { print $NF }' |
	grep -vE '^(Pg_magic_func|_PG_init|(pg_finfo_)?surfidx_[a-z0-9_]*|sfx_[a-z_]*_main)$')
[ -z "$extra" ]
ok $? "the library exports nothing but its entry points${extra:+: $extra}"
missing=
for file in surfidx--*.sql; do
	grep -qx "./usr/share/postgresql/$version/extension/$file" <<<"$contents" || missing="$missing $file"
done
[ -z "$missing" ]
ok $? "the package has all install and upgrade scripts$missing"
missing=
for file in docs/*.md; do
	grep -qx ".$("$PG_CONFIG" --docdir)/surfidx/$(basename "$file")" <<<"$contents" ||
		missing="$missing $file"
done
[ -z "$missing" ]
ok $? "the package has the documents that hints name$missing"
dpkg -x "$package" "$WORK/unpacked"
broken=$(cd "$WORK/unpacked/usr/share/doc" && find . -name '*.md' | while read -r file; do
	perl -0ne 'print "$1\n" while /\]\((?!https?:)([^)#\s]+)/g' "$file" | while read -r link; do
		[ -e "$(dirname "$file")/$link" ] || echo "$file: $link"
	done
done)
[ -z "$broken" ]
ok $? "links of the package's documents lead somewhere$broken"
dpkg -f "$package" Depends | grep -q "postgresql-$version"
ok $? "it depends on the server's package"

# PGXN takes the distribution by this file
perl -MJSON::PP -e '
	local $/;
	open(my $f, "<", "META.json") or die "META.json: $!\n";
	my $meta = decode_json(<$f>);
	my ($control) = `cat surfidx.control` =~ /^default_version = .(.*?).$/m;
	my $provided = $meta->{provides}{surfidx};
	# PGXN wants three numbers
	my $three = $control =~ /^\d+\.\d+$/ ? "$control.0" : $control;

	for my $key (qw(name version abstract maintainer license provides meta-spec)) { die "META.json: no $key\n" if !$meta->{$key} }
	die "META.json: version is not $three\n" if $meta->{version} ne $three || $provided->{version} ne $three;
	die "META.json: there is no $provided->{$_}\n" for grep { !-e $provided->{$_} } qw(file docfile);
	my ($newest) = `cat CHANGELOG.md` =~ /^## ([0-9.]+)/m;
	my ($debian) = `cat debian/changelog` =~ /^surfidx \(([0-9.]+)\)/;
	die "CHANGELOG.md has $newest\n" if $newest ne $control;
	die "debian/changelog has $debian\n" if $debian ne $control;
	my ($rpm) = `cat rpm/surfidx.spec` =~ /^Version:\s*(\S+)/m;
	die "rpm/surfidx.spec has $rpm\n" if $rpm ne $three;
	my ($library) = `cat src/base/settings.c` =~ /^#define SFX_VERSION\s+"(.*?)"/m;
	die "src/base/settings.c has $library\n" if $library ne $three;
	my %status = map { $_ => 1 } qw(stable testing unstable);
	die "META.json: no such release_status\n" if !$status{$meta->{release_status}};
	die "META.json: bad tag\n" if grep { length > 255 || m![/\\\p{Cntrl}]! } @{ $meta->{tags} };
	for my $needs (values %{ $meta->{prereqs}{runtime} }, $meta->{provides})
	{
		for (values %$needs)
		{
			my $is = ref $_ ? $_->{version} : $_;

			die "META.json: $is is no version\n" if $is !~ /^\d+\.\d+\.\d+$/;
		}
	}'
ok $? "META.json is complete; each file that names this version names the same"

copy_server "$version" "$package" &&
	BINDIR=$WORK/root/usr/lib/postgresql/$version/bin &&
	cluster_start data &&
	use_server
ok $? "a server with the unpacked package builds indexes, survives a crash and checks them"

# Removed as docs/upgrades.md says: indexes first, then the setting, then the package.
sql -c "DROP EXTENSION surfidx CASCADE" 2>/dev/null &&
	cluster_stop &&
	sed -i '/shared_preload_libraries/d' "$PGDATA/postgresql.conf" &&
	mv "$WORK/root/usr/lib/postgresql/$version/lib/surfidx.so" "$WORK/removed.so" &&
	as_user "$BINDIR/pg_ctl" -D "$PGDATA" -l "$CLUSTER_LOG" -w -t 60 start >/dev/null &&
	CLUSTER_RUNNING=$PGDATA &&
	[ "$(sql -c "SELECT count(*) FROM t WHERE id BETWEEN 9000 AND 11000")" = 2001 ]
ok $? "after its removal the server starts and has the table"

[ "$bad" -eq 0 ] || tail -n 20 "$WORK"/*.log
done_testing
