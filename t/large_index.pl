# An index whose new pages have block numbers beyond 2^31, where a signed int is negative.  The file
# has a hole: of its 16 TB almost nothing is written.  VACUUM and surfidx_check would read the hole.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

# MAP: blocks of the free space map for so many
use constant { HALF => 2**31, MAP => int(2**31 / 4069 * 1.01), BLOCK => 8192 };

my $node = new_node('large_index', 'shared_buffers = 16MB');
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (k bigint NOT NULL, v int) WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX t_k ON t USING surfidx (k) INCLUDE (v) WITH (delta_size = 256, filter = bloom);
CHECKPOINT;
END
my $file = $node->data_dir . '/'
	. $node->safe_psql('postgres', "SELECT pg_relation_filepath('t_k')");
my $segment = $node->safe_psql('postgres',
	"SELECT setting FROM pg_settings WHERE name = 'segment_size'");

sub lengthen
{
	my ($fork, $blocks) = @_;

	for my $i (0 .. int($blocks / $segment))
	{
		my $path = $fork . ($i > 0 ? ".$i" : '');
		my $rest = $blocks - $i * $segment;

		open(my $f, '>>', $path) or die "$path: $!";
		truncate($f, ($rest < $segment ? $rest : $segment) * BLOCK) or die "$path: $!";
		close $f;
	}
	return;
}

# Blocks of all forks of the index read by any process that has ended or reported its statistics.
sub fetched
{
	$node->poll_query_until('postgres', "SELECT used = 0 FROM surfidx_shared_memory()
		WHERE name = 'merge workers'") or die 'a worker that stays';
	return $node->safe_psql('postgres', "SELECT pg_stat_get_blocks_fetched('t_k'::regclass)");
}

sub change
{
	my ($from) = @_;

	$node->safe_psql('postgres', <<"END");
INSERT INTO t SELECT g * 7919 % 1000003, g FROM generate_series($from, $from + 39999) g;
DELETE FROM t WHERE v % 13 = 5;
END
	return;
}

my $each = "SELECT count(*), md5(string_agg(concat(k, ' ', v), ',')) FROM (SELECT k, v FROM t ORDER BY";
my @asked = (
	'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1000 AND 700000',
	"$each k) x",
	"$each k DESC) x",
	'SELECT count(x.v), sum(x.v) FROM generate_series(1, 9000) g CROSS JOIN LATERAL '
		. '(SELECT v FROM t WHERE k = g * 99 OFFSET 0) x WHERE g < 100',
	'SELECT count(*) FROM t WHERE k > 0');

sub answers
{
	my ($off) = @_;
	my $set = join '', map { "SET enable_$_ = off; " } split / /, $off;

	return $node->safe_psql('postgres', $set . join('; ', @asked));
}

sub same
{
	my ($what) = @_;

	is(answers('seqscan bitmapscan sort'), answers('indexscan indexonlyscan bitmapscan'), $what);
	return;
}

# Not every file system has holes.
sub has_holes
{
	my $path = $node->data_dir . '/hole';

	open(my $f, '>', $path) or die "$path: $!";
	truncate($f, 1 << 30) or die "$path: $!";
	my $blocks = (stat $f)[12];
	close $f;
	unlink $path;
	return $blocks < 1 << 10;
}

plan(skip_all => 'a hole of 16 TB needs a file system that has holes') unless has_holes();
lengthen($file, HALF);
lengthen("${file}_fsm", MAP);
is($node->safe_psql('postgres', "SELECT pg_relation_size('t_k') / " . BLOCK), HALF, 'a hole');
my $read = fetched();
change(1);
$node->poll_query_until('postgres', 'SELECT root > 2::bigint ^ 31 AND level > 0 '
	. "AND generations = 1 FROM surfidx_meta('t_k')") or die 'no merge';
change(40001);
cmp_ok(fetched() - $read, '<', MAP, 'merges do not go through the free space map');
same('the tree is beyond the hole, and the log');
is($node->safe_psql('postgres',
		"SELECT kind FROM surfidx_meta('t_k') m, surfidx_page_stats('t_k', m.root)"),
	'inner', 'a page is shown');
is($node->safe_psql('postgres',
		'SELECT blocks > 2::bigint ^ 31, entries > 60000 FROM surfidx_stats(\'t_k\', 10)'),
	't|t', 'statistics');
my ($rc, $out, $err) = $node->psql('postgres', 'INSERT INTO t SELECT k FROM t LIMIT 1');
like($err, qr/duplicate key/, 'uniqueness');

# Redo writes there, too.
$node->stop('immediate');
$node->start;
same('after a crash');
change(80001);
same('and on');
# (what looks at each test's indexes at its end would read the hole)
$node->safe_psql('postgres', 'DROP TABLE t');
$node->stop;
done_testing();
