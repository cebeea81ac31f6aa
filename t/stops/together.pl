# Entries of one statement that wait for each other: rule D7 of src/README.md.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

# Table t (k, u) with a surfidx index on k, and a function that waits for advisory lock 1 when it is
# called for that number.
sub table
{
	my ($rows, $index) = @_;

	$index ||= 'CREATE INDEX t_k ON t USING surfidx (k)';
	sql("DROP TABLE IF EXISTS t; CREATE TABLE t (k int, u int) WITH (autovacuum_enabled = off);
		$index;
		INSERT INTO t SELECT g, g FROM generate_series(1, $rows) g");
	sql('CREATE OR REPLACE FUNCTION pass(n int, at int) RETURNS int LANGUAGE plpgsql AS $$
		BEGIN
			IF n = at THEN PERFORM pg_advisory_xact_lock_shared(1); END IF;
			RETURN n;
		END $$');
	return;
}

# The session that holds the lock.
sub keeper
{
	my $s = session();

	sql('SELECT pg_advisory_lock(1)', $s);
	return $s;
}

sub reader
{
	my $s = session();

	sql('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off', $s);
	return $s;
}

# A statement that comes to row $at of 40, from $from on, and waits there.
sub half_inserted
{
	my ($s, $from, $at) = @_;

	start("INSERT INTO t SELECT pass(g, $at), g FROM generate_series($from, $from + 39) g", $s);
	ok(wait_blocked($s), 'half of the rows are inserted');
	return;
}

sub sound
{
	is(error_of("SELECT surfidx_check('t_k', true, true)"), '', 'the index is sound');
	return;
}

scenario 'an exclusion constraint meets rows of a statement that is not over',
  [ 'wait below a constraint' ], sub {
	table(0, 'ALTER TABLE t ADD CONSTRAINT t_k EXCLUDE USING surfidx (k WITH =)');
	my $keeper = keeper();
	my ($x, $y) = (session(), session());

	half_inserted($x, 100, 130);
	start('INSERT INTO t VALUES (120, 0)', $y);
	ok(wait_blocked($y), 'an insert of the same key waits for its end');
	sql('SELECT pg_advisory_unlock(1)', $keeper);
	is(finish($x), '', 'which comes');
	is(finish($y), 'error 23P01', 'and finds the row');
};

scenario 'keys that an UPDATE leaves unchanged, and those that only seem to be', ['hints are believed'],
  sub {
	table(60, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	my $keeper = keeper();
	my ($x, $y) = (session(), session());

	# new versions wait for the statement's end, and the old ones stand for them
	sql('BEGIN', $x);
	start('UPDATE t SET u = pass(k, 30) WHERE k > 0', $x);
	ok(wait_blocked($x), 'half of the rows are updated');
	start('INSERT INTO t VALUES (20, 0)', $y);
	ok(wait_blocked($y), 'an insert of such a key waits');
	sql('SELECT pg_advisory_unlock(1)', $keeper);
	is(finish($x), '', 'the statement ends');
	ok(wait_blocked($y), 'it waits for the transaction');
	sql('COMMIT', $x);
	is(finish($y), 'error 23505', 'and finds the new version');
	sql('BEGIN; UPDATE t SET u = 1 WHERE k = 20', $x);
	start('INSERT INTO t VALUES (20, 0)', $y);
	ok(wait_blocked($y), 'the same, of one row');
	sql('ROLLBACK', $x);
	is(finish($y), 'error 23505', 'rolled back');

	sql('CREATE FUNCTION moves() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN NEW.k := NEW.u; RETURN NEW; END $$;
		CREATE TRIGGER moves BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION moves()');
	is(error_of('UPDATE t SET u = 21 WHERE k = 20'), '23505', 'a trigger changes the key');
	sound();
};

scenario 'a serializable transaction looks for readers behind its append',
  ['wait while serializable'], sub {
	table(10);
	my $keeper = keeper();
	my ($x, $y) = (reader(), reader());

	for my $s ($x, $y)
	{
		sql('BEGIN ISOLATION LEVEL SERIALIZABLE', $s);
		sql('SELECT count(*) FROM pg_class', $s);
	}
	sql('SELECT count(*) FROM t WHERE k = 5', $y);
	half_inserted($y, 100, 130);
	is(sql('SELECT count(*) FROM t WHERE k BETWEEN 110 AND 120', $x), '0', 'read meanwhile');
	sql('SELECT pg_advisory_unlock(1)', $keeper);
	is(finish($y), '', 'inserted');
	my @errors = (error_of('INSERT INTO t VALUES (5, 0)', $x),
		error_of('COMMIT', $x), error_of('COMMIT', $y));
	is((grep { $_ eq '40001' } @errors) > 0 ? 'one' : 'none', 'one', 'of the two fails');
};

scenario 'ON CONFLICT: a row that another one was faster than takes its entry along',
  ['everybody waits'], sub {
	table(0);
	sql('CREATE OR REPLACE FUNCTION stop_at_50(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
		BEGIN
			IF n = 50 AND current_setting($s$application_name$s$) = $s$x$s$ THEN
				PERFORM pg_advisory_xact_lock_shared(1);
			END IF;
			RETURN n;
		END $$');
	sql('CREATE INDEX t_wait ON t (stop_at_50(k)); CREATE UNIQUE INDEX t_u ON t (u)');
	my $keeper = keeper();
	my ($late, $x) = (session(), session());

	sql("SET application_name = 'x'", $x);
	sql('SELECT pg_advisory_lock(2)', $late);
	start('INSERT INTO t SELECT CASE WHEN g = 70
		THEN (SELECT 70 FROM pg_advisory_xact_lock_shared(2) OFFSET 0) ELSE g END, g
		FROM generate_series(1, 80) g ON CONFLICT (u) DO NOTHING', $x);
	ok(wait_blocked($x), 'a row is there, and its entry in the index of k');
	sql('INSERT INTO t VALUES (1050, 50)');
	sql('SELECT pg_advisory_unlock(1)', $keeper);
	settle(0.3);
	ok(wait_blocked($x), 'it was taken back, and others have come');
	sql('VACUUM t');
	sql('INSERT INTO t SELECT 2000 + g, 2000 + g FROM generate_series(1, 20) g');
	sql('SELECT pg_advisory_unlock(2)', $late);
	is(finish($x), '', 'the statement ends');
	is(sql('SELECT count(*) FROM t WHERE k = 50', reader()), '0', 'it has not come in');
	sound();
};

scenario 'what is rolled back is not appended later', ['what waits outlives its rollback'], sub {
	table(0);
	my $x = session();

	sql('BEGIN', $x);
	sql('SELECT pg_current_xact_id()', $x);
	sql('DO $$ BEGIN
			INSERT INTO t SELECT 1 / (40 - g), g FROM generate_series(1, 40) g;
		EXCEPTION WHEN division_by_zero THEN NULL; END $$', $x);
	sql('VACUUM t') for 1, 2;
	sql('INSERT INTO t SELECT 2000 + g, 0 FROM generate_series(1, 40) g');
	sql('COMMIT', $x);
	sound();
	is(sql('SELECT count(*) FROM t WHERE k < 1000', reader()), '0', 'no row with such a key');
};

scenario 'a log that grew below what is rolled back', ['grown logs outlive a rollback'], sub {
	my $x = reader();

	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k text); CREATE INDEX t_k ON t USING surfidx (k)');
	# a reader appends what waits, on a new page; then the statement fails
	sql('CREATE OR REPLACE FUNCTION fails(n int) RETURNS text LANGUAGE plpgsql AS $$
		BEGIN
			IF n = 14 THEN
				PERFORM 1 / (SELECT count(*) FROM t WHERE k < $s$0$s$);
			END IF;
			RETURN repeat(md5(n::text), 20);
		END $$; BEGIN; SAVEPOINT a', $x);
	is(error_of('INSERT INTO t SELECT fails(g) FROM generate_series(1, 2000) g', $x),
		'22012', 'the statement fails');
	sql('ROLLBACK TO a', $x);
	is(sql("SELECT pages > 1 FROM surfidx_meta('t_k') m, LATERAL (SELECT m.log_pages AS pages) p"),
		't', 'after a page more in the log');
	sql('DROP INDEX t_k', $x);
	is(error_of('SELECT 1', $x), '', 'others do not look for the index');
	sql('ROLLBACK; BEGIN; SAVEPOINT a; CREATE INDEX t_k2 ON t USING surfidx (k)', $x);
	sql('SAVEPOINT b', $x);
	is(error_of('INSERT INTO t SELECT fails(g) FROM generate_series(1, 2000) g', $x),
		'22012', 'nor for one that was made');
	sql('ROLLBACK TO a', $x);
	is(error_of('SELECT 1', $x), '', 'and is gone');
	sql('COMMIT', $x);
	sound();
};

scenario 'who looks from inside of the statement sees its rows',
  [ 'own scans miss what waits', 'check misses what waits', 'looks miss what waits' ], sub {
	table(0);
	my $x = reader();

	sql('CREATE OR REPLACE FUNCTION looks(n int) RETURNS int LANGUAGE plpgsql AS $$
		DECLARE c refcursor := $s$seen$s$; x int; found_rows int := 0;
		BEGIN
			IF n = 20 THEN
				OPEN c FOR SELECT k FROM t WHERE k > 0 ORDER BY k;
			ELSIF n = 30 THEN
				LOOP
					FETCH c INTO x;
					EXIT WHEN NOT FOUND;
					found_rows := found_rows + 1;
				END LOOP;
				INSERT INTO seen VALUES (found_rows);
			ELSIF n = 33 THEN
				INSERT INTO seen VALUES (surfidx_count($s$t_k$s$, null::int, null::int));
			ELSIF n = 35 THEN
				found_rows := length(surfidx_check($s$t_k$s$, true, true)::text);
			END IF;
			RETURN n;
		END $$; DROP TABLE IF EXISTS seen; CREATE TABLE seen (n int)', $x);
	is(error_of('INSERT INTO t SELECT looks(g), g FROM generate_series(1, 40) g', $x),
		'', 'inserted');
	is(sql('SELECT min(n) FROM seen', $x), '29', 'a cursor gives all rows that are there');
	is(sql('SELECT max(n) FROM seen', $x), '32', 'a count of entries has them, too');
};

scenario 'parallel workers see rows of the statement around them',
  ['workers miss what waits'], sub {
	table(2000);
	my $x = reader();

	sql('ANALYZE t; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
		SET min_parallel_index_scan_size = 0; SET min_parallel_table_scan_size = 0;
		SET parallel_leader_participation = off;
		SET max_parallel_workers_per_gather = 2', $x);
	sql('CREATE OR REPLACE FUNCTION those() RETURNS SETOF bigint LANGUAGE plpgsql AS $$
		BEGIN
			RETURN QUERY SELECT count(u) FROM t WHERE k > 0;
		END $$;
		CREATE OR REPLACE FUNCTION how(n int) RETURNS int LANGUAGE plpgsql AS $$
		DECLARE r bigint;
		BEGIN
			IF n = 5030 THEN
				SELECT * INTO r FROM those();
				INSERT INTO seen VALUES (r);
			END IF;
			RETURN n;
		END $$; DROP TABLE IF EXISTS seen; CREATE TABLE seen (n int)', $x);
	like(sql('EXPLAIN SELECT count(u) FROM t WHERE k > 0', $x), qr/Parallel Index.*t_k/,
		'the plan');
	sql('INSERT INTO t SELECT how(g), g FROM generate_series(5001, 5040) g', $x);
	is(sql('SELECT n FROM seen', $x), '2029', 'workers count all');
};

scenario 'a crash, or an error, while they are appended', [], sub {
	for my $skip (0, 1)
	{
		table(0);
		arm('pending flushed', 'error', $skip);
		is(error_of('INSERT INTO t SELECT g, g FROM generate_series(1, 400) g'),
			'22000', 'an error');
		release('pending flushed');
		sql('INSERT INTO t SELECT g, g FROM generate_series(1, 400) g');
		sound();
		arm('pending flushed', 'crash', $skip);
		is(error_of('INSERT INTO t SELECT g, g FROM generate_series(1001, 1400) g'),
			'lost', 'a crash');
		restart('gone');
		sound();
		is(sql('SELECT count(*), max(k) FROM t WHERE k > 0', reader()),
			'400|400', 'one statement of two');
	}
};

run_scenarios();
