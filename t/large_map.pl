# A table whose visibility map has more pages than one scan may keep pinned: aggregates are left to
# core, plans from before it grew and rows by block answer what its rows are.  The table is a file
# with a hole: of its 2 GB almost nothing is written.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

# Of so few buffers eight pages of the map may stay pinned, for so many blocks each.
use constant { PAGES => 8, BLOCKS => (8192 - 24) * 4, SEGMENT => 1 << 30 };

my $node = new_node('large', "shared_buffers = 4MB\nsurfidx.auto_merge = off");
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (k int NOT NULL, g int NOT NULL) WITH (autovacuum_enabled = off);
CREATE INDEX t_k ON t USING surfidx (k) INCLUDE (g);
CREATE INDEX t_g ON t USING surfidx (g, k);
INSERT INTO t SELECT i * 7919 % 30011, i % 7 FROM generate_series(1, 30000) i;
VACUUM ANALYZE t;
END

my %query = (
	counted => 'SELECT count(*) FROM t',
	range => 'SELECT count(*), sum(g) FROM t WHERE k BETWEEN 100 AND 29900',
	sums => 'SELECT sum(k), min(k), max(k), count(DISTINCT k) FROM t WHERE k > $1',
	groups => 'SELECT g, count(*) FROM t GROUP BY g',
	ends => 'SELECT g, max(k) FROM t GROUP BY g',
	apart => 'SELECT DISTINCT g FROM t');
my $old = open_session($node);
my $rows = open_session($node);
my $core = open_session($node);

ask($_, 'SET enable_seqscan = off; SET enable_bitmapscan = off') for $old, $rows, $core;
ask($core, 'SET enable_indexonlyscan = off');
ask($_, 'SET surfidx.aggregates = off; SET surfidx.rows_by_block = off') for $core, $rows;
ask($rows, 'SET surfidx.rows_by_block = on');
ask($old, 'SET plan_cache_mode = force_generic_plan');
for my $name (sort keys %query)
{
	my $with = $query{$name} =~ /\$1/;

	ask($old, "PREPARE $name" . ($with ? '(int)' : '') . " AS $query{$name}");
	like(ask($old, "EXPLAIN EXECUTE $name" . ($with ? '(5)' : '')), qr/SurfidxAggregate/,
		"$name: the index computes it");
}

# What plans made before give, and rows by block, is what core makes of the rows one by one.
sub same_rows
{
	my ($what) = @_;
	my $different = '';

	for my $name (sort keys %query)
	{
		my $with = $query{$name} =~ /\$1/;
		my $is = ask($old, "EXECUTE $name" . ($with ? '(5)' : ''));
		# (by the index, which knows where the hole is)
		my $right = ask($core, 'WITH r AS MATERIALIZED (SELECT k, g FROM t WHERE k >= 0) '
				. ($query{$name} =~ s/\$1/5/r =~ s/FROM t/FROM r/r));

		$different .= "$name: $is instead of $right\n"
			if join("\n", sort split /\n/, $is) ne join("\n", sort split /\n/, $right);
	}
	my $all = "SELECT count(*), sum(k), sum(g), md5(string_agg(k || ' ' || g, ',' ORDER BY k, g))"
		. ' FROM (SELECT k, g FROM t WHERE k >= 0 OFFSET 0) x';
	my ($is, $right) = (ask($rows, $all), ask($core, $all));

	$different .= "rows by block: $is instead of $right\n" if $is ne $right;
	is($different, '', $what);
	return;
}

same_rows('a small table');

# The table gets a hole that reaches beyond the last page of the map that may be pinned.
my $file = $node->data_dir . '/'
	. $node->safe_psql('postgres', "SELECT pg_relation_filepath('t')");
my $end = (PAGES * BLOCKS + 100) * 8192;

sub lengthen
{
	my ($path, $size) = @_;

	open(my $f, '>>', $path) or die "$path: $!";
	truncate($f, $size) or die "$path: $!";
	close $f;
	return;
}

lengthen($file . ($_ > 0 ? ".$_" : ''),
	$end - $_ * SEGMENT > SEGMENT ? SEGMENT : $end - $_ * SEGMENT)
	for 0 .. int(($end - 1) / SEGMENT);
is($node->safe_psql('postgres', "SELECT pg_relation_size('t')"), $end, 'it has a hole');
ok($node->safe_psql('postgres', "SET enable_seqscan = off; EXPLAIN $query{counted}") !~
		/SurfidxAggregate/, 'a new plan is core\'s');
# (whose planner tells this session how long the table is)
ask($old, "EXPLAIN $query{counted}");
same_rows('plans of the small table');
$node->safe_psql('postgres', 'INSERT INTO t SELECT 40000 + i, i % 9 FROM generate_series(1, 3000) i');
is(ask($core, 'SELECT count(*) > 2000 FROM t WHERE k > 40000 AND (ctid::text::point)[0] > '
			. PAGES * BLOCKS),
	't', 'new rows are beyond the hole');
same_rows('... beside rows that are beyond the last page of the map');
ask($core, 'DELETE FROM t WHERE k >= 0 AND k % 10 = 3');
ask($core, "SELECT surfidx_merge('t_k'), surfidx_merge('t_g')");
same_rows('... beside dead ones');

# (VACUUM makes plans anew)
$node->safe_psql('postgres', 'VACUUM t');
same_rows('all pages but those of the hole are all-visible');
ask($core, 'DELETE FROM t WHERE k >= 0 AND k % 10 = 4');
same_rows('rows deleted beyond the last page of the map');
is($_->{err}, '', 'no errors') for $old, $rows, $core;
end_session($_) for $old, $rows, $core;
$node->stop;
done_testing();
