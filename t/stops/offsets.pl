# Rows of OFFSET that are passed over, beside writers, merges and VACUUM: rules Y2, Y8 and R9 of
# src/README.md; and nodes of core's between the rows and OFFSET.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';

my $late = '(k BETWEEN 1010 AND 1014 OR k BETWEEN 20980 AND 20984)';

# Keys 1,000 to 20,999 in random order, in several leaves, all visible, and a few in the delta.
sub table
{
	sql("DROP TABLE IF EXISTS t; CREATE TABLE t (k int) WITH (autovacuum_enabled = off);
		INSERT INTO t SELECT k FROM (SELECT 1000 + g * 7919::int8 % 20000 AS k
			FROM generate_series(0, 19999) g) x WHERE NOT $late;
		CREATE INDEX t_k ON t USING surfidx (k);
		INSERT INTO t SELECT k FROM generate_series(1000, 20999) k WHERE $late");
	sql('VACUUM (INDEX_CLEANUP OFF) t; ANALYZE t');
	is(sql("SELECT leaves >= 4 AND delta_entries = 10 FROM surfidx_meta('t_k')"),
		't', 'there are several leaves, and a delta');
	return;
}

# A session, and a query that passes over the first rows by the index, or the last ones.
sub pager
{
	my ($backward, $offset) = @_;
	my $s = session();

	sql('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off', $s);
	return ($s, 'SELECT k FROM t ORDER BY k ' . ($backward ? 'DESC ' : '') .
			"LIMIT 2 OFFSET $offset");
}

# (12,500 keys from either end)
for ([ 'forward', 0, "13500,13501" ], [ 'backward', 1, "8499,8498" ])
{
	my ($way, $backward, $page) = @$_;

	for ([ 'offset begun', [] ], [ 'ranks begun', ['map before ranks'] ])
	{
		my ($stop, $mutants) = @$_;

		scenario "rows inserted, $way, at $stop", $mutants, sub {
			table();
			my ($s, $query) = pager($backward, 12500);
			arm($stop, 'wait');
			start($query, $s);
			wait_at($stop);
			sql('INSERT INTO t SELECT g FROM generate_series(1, 5) g;
				INSERT INTO t SELECT 30000 + g FROM generate_series(1, 5) g');
			release($stop);
			is(finish($s), $page, 'are not passed over');
		};
	}

	scenario "entries move between two stages, $way", ['stages overlap'], sub {
		table();
		my ($s, $query) = pager($backward, 12500);
		arm('ranks of the delta', 'wait');
		start($query, $s);
		wait_at('ranks of the delta');
		sql("SELECT surfidx_merge('t_k')");
		release('ranks of the delta');
		is(finish($s), $page, 'each is passed over once');
	};

	scenario "a row is deleted when it was passed over, $way", [], sub {
		table();
		my ($s, $query) = pager($backward, 12500);
		arm('ranks of the delta', 'wait');
		start($query, $s);
		wait_at('ranks of the delta');
		sql('DELETE FROM t WHERE k IN (1005, 20000)');
		my $v = start($vacuum);
		release('ranks of the delta');
		is(finish($s), $page, 'it counts for this query');
		is(finish($v), '', 'VACUUM ends');
	};

	scenario "a dead row whose page becomes all-visible while its entry is in hand, $way",
		['rows without a gate'], sub {
		table();
		sql('DELETE FROM t WHERE k IN (1005, 20994)');
		my ($s, $query) = pager($backward, 12499);
		arm('entries in hand', 'wait', 1);
		start($query, $s);
		wait_at('entries in hand');
		my $v = start($vacuum);
		ok(wait_blocked($v), 'VACUUM waits');
		release('entries in hand');
		is(finish($s), $page, 'it is not passed over');
		is(finish($v), '', 'VACUUM ends');
	};
}

scenario 'the last plan below an Append is read without an index',
	['nodes at their end are asked again'], sub {
	table();
	my ($s) = pager(0, 0);
	sql('DROP TABLE IF EXISTS last; CREATE TABLE last AS SELECT g FROM generate_series(1, 100) g');
	is(sql('SELECT k FROM t WHERE k > 0 UNION ALL SELECT g FROM last LIMIT 2 OFFSET 20150', $s),
		'', 'there are no rows after its rows');
};

run_scenarios(conf => []);
