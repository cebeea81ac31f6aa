# Indexes that earlier versions have written: files of each format version that there was lie in t/format.  The library's own format is read,
# checked and used; one that it does not know is refused by an error that names both versions and the remedy, and REINDEX heals.
#
# SURFIDX_CUT_FORMAT=dir writes the files of the present format there: do that when the format's version has changed, and for each release.
use strict;
use warnings;

use FindBin;
use IO::Compress::Gzip qw(gzip);
use IO::Uncompress::Gunzip qw(gunzip);
use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $BLCKSZ = 8192;
my %indexes = (
	f_n => '(n)',
	f_s => '(s DESC, n) INCLUDE (v)',
	f_u => '(u, v)',
	f_b => '(n, s) WITH (filter = surf)');

plan skip_all => 'the files are of a little-endian machine' if unpack('h*', pack('S', 1)) !~ /^1/;

# Page checksums and LSNs are another cluster's.
my $config = $ENV{PG_CONFIG} || 'pg_config';
my ($major) = `$config --version` =~ /(\d+)/;
my $node = new_node('format', "surfidx.auto_merge = off\nfull_page_writes = on", $major >= 18 ? (extra => ['--no-data-checksums']) : ());

# The same rows at the same places each time: 3,000 in the tree, 300 in the delta, some of them deleted.
sub make
{
	$node->safe_psql('postgres', q{CREATE TABLE f (n int8, s text COLLATE "C", u text COLLATE "POSIX", v int) WITH (autovacuum_enabled = off);
		INSERT INTO f SELECT g::int8 * 7919 % 100003, 'user' || g % 700 || '@example.org', CASE WHEN g % 9 > 0 THEN left(md5(g::text), 6) END, g FROM generate_series(1, 3000) g});
	$node->safe_psql('postgres', "CREATE INDEX $_ ON f USING surfidx $indexes{$_}") for sort keys %indexes;
	$node->safe_psql('postgres', q{INSERT INTO f SELECT g::int8 * 104729 % 100003, 'more' || g, left(md5(g::text), 6), g FROM generate_series(3001, 3300) g;
		DELETE FROM f WHERE v % 50 = 0});
	return;
}

sub file_of { return $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_[0]')") }
sub version_of { return unpack('S', substr($_[0], $BLCKSZ - 4, 2)) }

$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx');
make();
my %file = map { $_ => file_of($_) } keys %indexes;
$node->safe_psql('postgres', "SELECT surfidx_check('$_', true, true)") for sort keys %indexes;
$node->stop;
my %own = map { $_ => slurp_file($file{$_}) } keys %indexes;
my $version = version_of($own{f_n});

if (my $dir = $ENV{SURFIDX_CUT_FORMAT})
{
	mkdir "$dir/$version";
	for my $index (keys %indexes)
	{
		my $bytes = $own{$index};

		# LSN and checksum
		substr($bytes, $_ * $BLCKSZ, 10) = "\0" x 10 for 0 .. length($bytes) / $BLCKSZ - 1;
		gzip(\$bytes => "$dir/$version/$index.gz", -Level => 9, Minimal => 1) or die;
	}
}

my @versions = map { m!/(\d+)$! } glob("$FindBin::Bin/format/*");
ok(scalar(grep { $_ == $version } @versions), "there are files of format version $version (SURFIDX_CUT_FORMAT makes them)");

for my $v (sort { $a <=> $b } @versions)
{
	for my $index (sort keys %indexes)
	{
		my $bytes = '';

		gunzip("$FindBin::Bin/format/$v/$index.gz" => \$bytes) or die "$v/$index.gz";
		is(version_of($bytes), $v, "format $v: $index says so");
		open(my $f, '>:raw', $file{$index}) or die "$file{$index}: $!";
		print $f $bytes;
		close $f or die;
	}
	$node->start;
	for my $index (sort keys %indexes)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "SELECT surfidx_check('$index', true, true)");

		if ($v == $version)
		{
			is($err, '', "format $v: $index is read");
			is($node->safe_psql('postgres', "SELECT surfidx_merge('$index') > 0; SELECT surfidx_check('$index', true, true)"), "t\n", "format $v: $index is written");
		}
		else
		{
			like($err, qr/ERROR:  index "$index" has format version $v at block 0, this library reads version $version\nHINT:  Please REINDEX it\./,
				"format $v: $index is refused");
			($rc, $out, $err) = $node->psql('postgres', 'SET enable_seqscan = off; INSERT INTO f VALUES (1)');
			like($err, qr/format version/, "format $v: nothing is written beside $index");
		}
	}
	is($node->psql('postgres', 'REINDEX TABLE f; INSERT INTO f VALUES (-1)'), 0, "format $v: REINDEX heals");
	$node->safe_psql('postgres', "SELECT surfidx_check('$_', true, true)") for sort keys %indexes;
	# as it was for the next version
	$node->safe_psql('postgres', 'DROP TABLE f');
	make();
	%file = map { $_ => file_of($_) } keys %indexes;
	$node->stop;
}
done_testing();
