# Rows by block of index-only scans: rules Y1 and Y12 of src/README.md.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

# 20,000 rows in several leaves, on pages that are all-visible, with room for more.
sub table
{
	my ($columns) = @_;

	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int, v int) WITH (autovacuum_enabled = off);
		INSERT INTO t SELECT g, -g FROM generate_series(1, 20000) g ORDER BY hashint4(g);
		DELETE FROM t WHERE k BETWEEN 100 AND 200;');
	sql("CREATE INDEX t_k ON t USING surfidx ($columns)");
	sql('VACUUM (ANALYZE) t');
	return;
}

sub reader
{
	my $s = session();

	sql('SET enable_seqscan = off; SET enable_bitmapscan = off', $s);
	return $s;
}

scenario 'rows of one block after the other', ['rows outlive their stretch'], sub {
	table('k');
	is(sql('SELECT count(k), sum(k::int8), count(DISTINCT k) FROM t', reader()),
		'19899|199994850|19899', 'each is returned once');
};

# values made for many rows at once, and row by row
for my $columns ('k', 'k, v')
{
	scenario "rows on pages that are not all-visible, ($columns)", ['hidden rows are ready'], sub {
		table($columns);
		sql('DELETE FROM t WHERE k IN (3000, 4000, 19000)');
		is(sql("SELECT count(k), sum(k::int8) FROM t", reader()), '19896|199968850',
			'are looked at in the table');
	};

	scenario "a row inserted behind the map's pinning, ($columns)", ['map before entries'], sub {
		table($columns);
		my $s = reader();
		arm('map pinned', 'wait');
		my $blocks = sql("SELECT pg_relation_size('t') / 8192");
		start('SELECT count(k), max(k) FROM t WHERE k > 0', $s);
		wait_at('map pinned');
		sql('INSERT INTO t VALUES (20001, -20001)');
		# entries of the delta do not come by block
		sql("SELECT surfidx_merge('t_k')");
		is(sql("SELECT ctid < '($blocks,0)' FROM t WHERE k = 20001"), 't',
			'it stands on a page that was all-visible');
		release('map pinned');
		is(finish($s), '19899|20000', 'is not returned');
	};
}

# (a, b) > (5, 50): where b is NULL and a is 5 it is not true (R11)
for my $columns ('a, b', 'a DESC, b', 'a, b DESC', 'a DESC, b DESC NULLS LAST')
{
	scenario "NULLs between the pieces of a row comparison, ($columns)",
	  $columns =~ /^(a, b|a DESC, b DESC NULLS LAST)$/ ? ['pieces over NULLs'] : [], sub {
		sql('DROP TABLE IF EXISTS t; CREATE TABLE t (a int, b int) WITH (autovacuum_enabled = off);
			INSERT INTO t SELECT g % 10, nullif(g % 100, 5) FROM generate_series(1, 20000) g');
		sql("CREATE INDEX t_ab ON t USING surfidx ($columns)");
		sql('VACUUM (ANALYZE) t');
		my $s = reader();
		my $rows = 'SELECT count(*) FROM t WHERE (a, b)';
		is(sql("$rows > (5, 50)", $s), '9000', 'are not returned');
		is(sql("$rows <= (5, 50)", $s), '10800', 'in neither direction');
	};
}

run_scenarios();
