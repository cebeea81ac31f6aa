# A collation that orders in another way than when the index was made, as a new version of the C
# library or of ICU may bring (K4, R12).  localedef makes one collation of two languages' rules, one
# after the other: Estonian has z after s, and õ, ä, ö, ü at the end.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir;

# The rules of that language under our collation's name: those of the next start.
sub order_as
{
	my $language = shift;

	system("rm -rf $dir/xx_XX.UTF-8; "
		  . "localedef --no-archive -i $language -f UTF-8 $dir/xx_XX.UTF-8 >/dev/null 2>&1");
	return -d "$dir/xx_XX.UTF-8";
}

plan skip_all => 'localedef, or the sources of locales, are not installed'
  unless order_as('et_EE') && order_as('en_US');

$ENV{LOCPATH} = $dir;
my $node = new_node('changed', 'surfidx.delta_size = 64');
$node->start;

# Words of letters whose order changes; w_1 and w_2 have them, the second after a number.
my $words = q{SELECT i, (ARRAY['z', 's', 'y', 'i', 'zs', 'st', 'to', 'ta'])[1 + i * 7 % 8] ||
	substr(translate(md5(i::text), '0123456789', 'zstuvyixzs'), 1, 6)};
$node->safe_psql('postgres', qq{
	CREATE EXTENSION surfidx;
	CREATE COLLATION xx (provider = libc, locale = 'xx_XX.UTF-8');
	CREATE TABLE w (i int, s text COLLATE xx);
	INSERT INTO w $words FROM generate_series(1, 40000) i;
	CREATE INDEX w_1 ON w USING surfidx (s);
	CREATE INDEX w_2 ON w USING surfidx ((i % 3), s) INCLUDE (i);
	CREATE UNIQUE INDEX w_u ON w USING surfidx (s, i);
	INSERT INTO w $words FROM generate_series(40001, 42000) i;
	SELECT surfidx_check_all(true, true)});
$node->stop;
order_as('et_EE');
$node->start;

my @indexes = qw(w_1 w_2 w_u);
# What a sequential scan says.
my $rows = q{SET enable_indexscan = off; SET enable_indexonlyscan = off;
	SET enable_bitmapscan = off;
	SELECT count(*), count(DISTINCT i) FROM (SELECT i, ctid FROM w OFFSET 0) x};
my $unordered =
  qr/ERROR:  XX002: index "w_\w" is out of order at block \d+: .*HINT:  Please REINDEX it, and, if/s;

sub fails_as_unordered
{
	my ($statement, $what) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$statement");

	like($err, $unordered, $what);
	return;
}

fails_as_unordered("SELECT surfidx_check('$_')", "$_: the verifier says what it is") foreach @indexes;
foreach my $index (@indexes)
{
	fails_as_unordered("CLUSTER w USING $index",
		"CLUSTER by $index does not lose the rows that scans miss");
}
is($node->safe_psql('postgres', $rows), '42000|42000', 'all rows are there');

# Whatever writes goes on: several rounds of rows, merges and VACUUM.
foreach my $round (1 .. 3)
{
	my $from = 40000 + $round * 2000;

	foreach my $statement (
		"INSERT INTO w $words FROM generate_series($from + 1, $from + 2000) i",
		"DELETE FROM w WHERE i % 7 = $round",
		"UPDATE w SET s = s || 'z' WHERE i % 11 = $round",
		'VACUUM w',
		"SELECT surfidx_merge('$indexes[$round % 3]')",
		"UPDATE w SET s = 'z' || s WHERE i % 13 = $round",
		'VACUUM w')
	{
		my ($rc, $out, $err) = $node->psql('postgres', $statement);

		is("$rc$err", '0', "round $round: " . substr($statement, 0, 20));
	}
}

# A dead row whose entry VACUUM has missed would be found under another row's TID.
foreach my $index (@indexes)
{
	$node->safe_psql('postgres', "SELECT surfidx_merge('$index')");
	is($node->safe_psql('postgres', qq{SELECT entries -
		(SELECT count(*) FROM (SELECT FROM w OFFSET 0) x) FROM surfidx_stats('$index')}),
		'0', "$index: VACUUM has left an entry for each row");
}

$node->safe_psql('postgres', 'REINDEX TABLE w');
is($node->safe_psql('postgres',
		q{SELECT count(*) FROM surfidx_check_all(true, true) WHERE problem IS NOT NULL}),
	'0', 'REINDEX mends');
my $before = $node->safe_psql('postgres', $rows);
$node->safe_psql('postgres', "CLUSTER w USING w_1");
is($node->safe_psql('postgres', $rows), $before, 'CLUSTER is possible then, and keeps all rows');
$node->stop;

done_testing();
