# Aggregates of partitioned tables, whose states come from their partitions' indexes: rules Y13 to
# Y13 of src/README.md.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

# So many partitions, 10,000 rows.
sub tree
{
	my $n = shift || 5;

	sql("DROP TABLE IF EXISTS t;
		CREATE TABLE t (k int, n int8) PARTITION BY LIST (k);
		SELECT format('CREATE TABLE t%s PARTITION OF t FOR VALUES IN (%s)', g, g)
			FROM generate_series(1, $n) g \\gexec
		INSERT INTO t SELECT 1 + g % $n, g * 922337203685477::int8 FROM generate_series(1, 10000) g;
		CREATE INDEX t_k ON t USING surfidx (k, n)");
	sql($_) for 'VACUUM t', 'ANALYZE t';
	return;
}

# A session in which the indexes compute the query.
sub computer
{
	my ($query) = @_;
	my $s = session();

	sql('SET enable_seqscan = off; SET enable_bitmapscan = off', $s);
	like(sql("EXPLAIN (COSTS OFF) $query", $s), qr/Append.*(?:SurfidxAggregate.*){5}/,
		'five indexes compute it');
	return $s;
}

scenario 'states of sums', ['sums of means'], sub {
	my $query = 'SELECT sum(n), avg(n), count(n), sum(k), avg(k) FROM t';
	tree();
	my $s = computer($query);
	my $core = session();
	sql('SET surfidx.aggregates = off', $core);
	is(sql($query, $s), sql($query, $core), 'the same as row by row');
};

scenario 'tables that are done hold no pages of the map', ['pins of tables before'], sub {
	tree();
	my $query = 'SELECT DISTINCT k FROM t';
	my $pinned = 'SELECT count(*) FROM pg_buffercache
		WHERE relforknumber = 2 AND pinning_backends > 0';
	my $s = computer($query);
	sql('CREATE EXTENSION IF NOT EXISTS pg_buffercache');
	sql('SET cursor_tuple_fraction = 1', $s);
	sql("BEGIN; DECLARE c CURSOR FOR $query", $s);
	like(sql('FETCH 1 FROM c', $s), qr/^[1-5]$/, 'a group of some table');
	is(sql($pinned), '0', 'the map of none is pinned');
	sql('COMMIT', $s);
};

# (of so few buffers a table may pin eight)
scenario 'tables that are read side by side', ['pins side by side'], sub {
	my $query = 'SELECT n, count(*) FROM t GROUP BY n ORDER BY n LIMIT 3';

	for (5, 12)
	{
		tree($_);
		sql('CREATE INDEX t_n ON t USING surfidx (n)');
		my $s = session();
		sql('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off', $s);
		# few rows are a group: that is to be cheap all the same
		sql('SET cpu_index_tuple_cost = 1', $s);
		my $plan = sql("EXPLAIN (COSTS OFF) $query", $s);
		my $core = session();
		sql('SET surfidx.aggregates = off', $core);
		is(sql($query, $s), sql($query, $core), 'the same as row by row');
		($_ == 5 ? \&like : \&unlike)->($plan, qr/Merge Append.*SurfidxAggregate/, "$_ tables");
	}
};

scenario 'a position is in one portion', ['portions overlap'], sub {
	my $query = 'SELECT count(v), sum(v), max(k) FROM s';
	sql('DROP TABLE IF EXISTS s;
		CREATE TABLE s (k int, v int) WITH (parallel_workers = 2);
		INSERT INTO s SELECT g, g * 7919 % 100003 FROM generate_series(1, 50000) g;
		CREATE INDEX s_k ON s USING surfidx (k) INCLUDE (v)');
	sql($_) for 'VACUUM s', 'ANALYZE s';
	my $s = session();
	sql('SET enable_seqscan = off; SET max_parallel_workers_per_gather = 2;
		SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0', $s);
	like(sql("EXPLAIN (COSTS OFF) $query", $s), qr/Parallel Custom Scan .SurfidxAggregate/, 'participants share the index');
	my $core = session();
	sql('SET surfidx.aggregates = off', $core);
	is(sql($query, $s), sql($query, $core), 'the same as row by row');
};

scenario 'what workers must not compute', ['workers take all'], sub {
	tree();
	my $s = session();
	sql('CREATE OR REPLACE FUNCTION restricted(int8) RETURNS int8 LANGUAGE plpgsql
		PARALLEL RESTRICTED AS $$ BEGIN RETURN $1; END $$', $s);
	sql("SET enable_seqscan = off; SELECT set_config(name, 'on', false) FROM pg_settings
		WHERE name IN ('force_parallel_mode', 'debug_parallel_query')", $s);
	like(sql('EXPLAIN (COSTS OFF) SELECT count(*) FROM t1', $s), qr/^Gather.*SurfidxAggregate/,
		'workers take a count');
	like(sql('EXPLAIN (COSTS OFF) SELECT count(*) FROM t1 HAVING restricted(count(*)) >= 0', $s),
		qr/^Custom Scan \(SurfidxAggregate/, 'but not beside what is the leader\'s');
};

run_scenarios(conf => [ 'surfidx.aggregates = on', 'shared_buffers = 1MB' ]);
