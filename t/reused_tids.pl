# Few rows that come and go, so that TIDs are reused at once, mostly by rows of the same keys, while
# entries are flagged as dead in images (X1) and remembered by backends that stay (X8).  A session
# sees through surfidx what it sees through btree, in one snapshot, also by cursors that stop while
# VACUUM goes on; and a key that btree refuses was refused by surfidx before.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('reused_tids', <<'END');
surfidx.delta_size = '64kB'
surfidx.delta_memory = 16MB
surfidx.auto_merge = off
autovacuum = off
fsync = off
END
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE differences (what text);
CREATE TABLE t (k int, v int, s text COLLATE "C", bk int, bv int, bs text COLLATE "C", pad text);
-- checked in this order
CREATE UNIQUE INDEX t_k ON t USING surfidx (k) INCLUDE (v);
CREATE INDEX t_v ON t USING surfidx (v DESC, k) WITH (run_ratio = 0);
CREATE INDEX t_s ON t USING surfidx (s) WITH (run_ratio = 10);
CREATE INDEX t_c ON t USING surfidx ((ARRAY[v, k]));	-- in comparator order
CREATE UNIQUE INDEX t_bk ON t (bk) INCLUDE (bv);
CREATE INDEX t_bv ON t (bv);
CREATE INDEX t_bs ON t (bs);
CREATE INDEX t_bc ON t ((ARRAY[bv, bk]));
-- A page of rows that go and come again, each with its TID.  141 more entries of the delta are of
-- so many leaves that VACUUM merges none (V6): so entries stay flagged in an image.
CREATE TABLE h (k int, v text, bk int, bv text);
CREATE FUNCTION fill(first int, step int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO h SELECT g, x, g, x
		FROM (SELECT g, md5(g::text) || md5((-g)::text) AS x
			FROM generate_series(first, 14100, step) g) y $$;
SELECT fill(300, 300);
SELECT fill(g, 300) FROM generate_series(1, 299) g;
CREATE INDEX h_k ON h USING surfidx (k) INCLUDE (v)
	WITH (delta_size = '1MB', merge_ratio = 10, hope = off);
CREATE INDEX h_bk ON h (bk);
SELECT fill(50, 100);
ALTER DATABASE postgres SET enable_seqscan = off;
ALTER DATABASE postgres SET enable_bitmapscan = off;

CREATE PROCEDURE put(key int, val int) LANGUAGE plpgsql AS $$
DECLARE
	refuser text;
BEGIN
	INSERT INTO t VALUES (key, val, 's' || val, key, val, 's' || val, repeat('p', val));
EXCEPTION WHEN unique_violation THEN
	GET STACKED DIAGNOSTICS refuser = CONSTRAINT_NAME;
	IF refuser <> 't_k' THEN
		INSERT INTO differences VALUES ('only btree refuses key ' || key);
	END IF;
END $$;

-- One condition by both: a step, what others do, and the rest.  (Columns b... are btree's.)
CREATE PROCEDURE compare(tab text, cond text, wait float8) LANGUAGE plpgsql AS $$
DECLARE
	bcond text := regexp_replace(cond, '\m([kvs])\M', 'b\1', 'g');
	c refcursor;
	x text;
	got text[] := '{}';
	want text[];
BEGIN
	OPEN c NO SCROLL FOR EXECUTE format('SELECT concat(k, ''.'', v) FROM %I WHERE %s', tab, cond);
	LOOP
		FETCH c INTO x;
		EXIT WHEN NOT FOUND;
		got := got || x;
		IF wait > 0 AND cardinality(got) IN (1, 3, 9) THEN
			PERFORM pg_sleep(wait);
		END IF;
	END LOOP;
	CLOSE c;
	EXECUTE format('SELECT array_agg(concat(bk, ''.'', bv)) FROM %I WHERE %s', tab, bcond) INTO want;
	SELECT array_agg(g ORDER BY g) INTO got FROM unnest(got) g;
	SELECT array_agg(g ORDER BY g) INTO want FROM unnest(want) g;
	IF got IS DISTINCT FROM want THEN
		INSERT INTO differences VALUES (format('%s, %s: %s rows, %s instead of %s', tab,
			cond, cardinality(got), left(got::text, 300), left(want::text, 300)));
	END IF;
END $$;

CREATE PROCEDURE play(until timestamptz, seed float8, slow bool) LANGUAGE plpgsql AS $$
DECLARE
	a int;
	b int;
	refuser text;
BEGIN
	PERFORM setseed(seed);
	WHILE clock_timestamp() < until LOOP
		FOR i IN 1 .. CASE WHEN slow THEN 0 ELSE 1 + random() * 3 END LOOP
			a := 1 + random() * 20;
			b := random() * 6;
			BEGIN
			CASE (random() * 8)::int
			WHEN 0, 1, 2 THEN CALL put(a, b);
			WHEN 3 THEN DELETE FROM t WHERE k = a;
			WHEN 4 THEN DELETE FROM t WHERE k BETWEEN a AND a + b;
			WHEN 5 THEN
				UPDATE t SET v = b, bv = b WHERE k = a;
				UPDATE t SET v = b + 1, bv = b + 1 WHERE k = a;
				UPDATE t SET v = b, bv = b WHERE k = a;
			WHEN 6 THEN UPDATE t SET pad = repeat('q', b) WHERE k = a;
			WHEN 7 THEN
				INSERT INTO t VALUES (a, b, 's', a, b, 's')
					ON CONFLICT (k) DO UPDATE SET s = 's' || b, bs = 's' || b;
			ELSE
				BEGIN
					DELETE FROM t WHERE k = a;
					CALL put(a, b);
					CALL put(a + 1, b);
					RAISE division_by_zero;
				EXCEPTION WHEN division_by_zero THEN
					PERFORM 1 FROM t WHERE k BETWEEN a AND a + 1;
				END;
			END CASE;
			EXCEPTION WHEN deadlock_detected THEN NULL;
				-- of ON CONFLICT (k) core asks t_bk last, where another session may have been faster
				WHEN unique_violation THEN
					GET STACKED DIAGNOSTICS refuser = CONSTRAINT_NAME;
					IF refuser <> 't_bk' THEN
						INSERT INTO differences VALUES ('a conflict is no error');
					END IF;
			END;
		END LOOP;
		IF random() < 0.2 THEN ROLLBACK; ELSE COMMIT; END IF;
		SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
		a := 1 + random() * 20;
		b := random() * 6;
		-- (who meets dead entries first flags them: that is for the slow one)
		IF slow OR (random() < 0.4 AND pg_try_advisory_xact_lock_shared(1)) THEN
			a := 300 * (1 + floor(random() * 47));
			CALL compare('h', CASE WHEN slow THEN format('k BETWEEN %s AND %s', a, a + 30)
				ELSE 'k = ANY (ARRAY(SELECT generate_series(300, 14100, 300)))' END,
				CASE WHEN slow THEN 0.03 ELSE 0 END);
		ELSE
			CALL compare('t', format((ARRAY['k = %1$s', 'k >= %1$s', 'k BETWEEN %1$s AND %1$s + 9',
				'v = %2$s', 'v BETWEEN %2$s AND %2$s + 1', 's = ''s%2$s''', 's >= ''s%2$s''',
				'k IN (%1$s, %1$s + 1, %1$s + 5)', 'ARRAY[v, k] >= ARRAY[%2$s, %1$s]',
				'k > 0'])[1 + floor(random() * 10)], a, b),
				CASE WHEN random() < 0.1 THEN 0.005 ELSE 0 END);
		END IF;
		COMMIT;
	END LOOP;
END $$;
END

# (VACUUM would wait for index-only cursors of the slow one)
my $play = "CALL play(clock_timestamp() + '20 s'";
my @players = map { start_script($node, "player$_", "$play, 0.$_, false);\n") } 1 .. 3;
push @players,
  start_script($node, 'player4', "SET enable_indexonlyscan = off;\n$play, 0.4, true);\n");
my $merges = join '', map { "SELECT surfidx_merge('$_');\n" } qw(t_k t_v t_s t_c);
my $vacuum = "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF)";
my $again = <<"END";
SELECT pg_advisory_lock(1);
DELETE FROM h WHERE bk % 300 = 0;
SELECT pg_sleep(0.04);
$vacuum h, t;
SELECT fill(300, 300);
SELECT pg_advisory_unlock(1);
SELECT pg_sleep(0.1);
$vacuum t, differences;
END
my $turn = $again x 4 . $merges;
my $keeper = start_script($node, 'keeper', $turn x 1000);
$_->finish for @players;
stop_script($keeper);
is($node->safe_psql('postgres', 'SELECT what FROM differences LIMIT 3'), '', 'no difference');
is(slurp_file("${PostgreSQL::Test::Utils::tmp_check}/player$_.log"), '', "player $_ had no error")
  for 1 .. 4;
my $kept = slurp_file("${PostgreSQL::Test::Utils::tmp_check}/keeper.log");
unlike($kept, qr/error/i, 'VACUUM and merges had no error');
like($kept, qr/^[1-9]\d*$/m, '... and were there');
is( $node->safe_psql('postgres',
		'SELECT * FROM surfidx_check_all(true, true) WHERE problem IS NOT NULL'),
	'', 'check');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing wrong in the log');
$node->stop;
done_testing();
