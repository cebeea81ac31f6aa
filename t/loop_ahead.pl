# Nested loops that read ahead of their inner side (R13): the same rows in the same order as without,
# and how many pages are asked for.  shared_buffers is so small that lookups have to read.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', <<'END');
surfidx.auto_merge = off
max_parallel_workers_per_gather = 0
enable_seqscan = off
enable_hashjoin = off
enable_mergejoin = off
enable_memoize = off
enable_bitmapscan = off
enable_material = off
effective_io_concurrency = 1
autovacuum = off
shared_buffers = 1MB
END
$node->start;

# a row of t on each page; o leads to them in no order, with gaps, repetitions and NULLs
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (k int, g int, s text, v int, pad text);
ALTER TABLE t ALTER pad SET STORAGE plain;
INSERT INTO t SELECT i, i % 10, 'key ' || i, i, repeat('x', 4500) FROM
	(SELECT i FROM generate_series(1, 2000) i ORDER BY hashint4(i)) s;
CREATE UNIQUE INDEX t_k ON t USING surfidx (k);
CREATE INDEX t_gk ON t USING surfidx (g, k);
CREATE INDEX t_s ON t USING surfidx (s);
CREATE TABLE o (n int, k int, g int, s text, wide text);
INSERT INTO o SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 7 = 0 THEN 5000 + i
		ELSE 1 + (i * 7919) % 2000 END, (1 + (i * 7919) % 2000) % 10, 'key ' || 1 + (i * 7919) % 2000, ''
	FROM generate_series(1, 600) i;
VACUUM ANALYZE t, o;
CREATE TABLE log (n int);
CREATE FUNCTION noted(n int) RETURNS int VOLATILE LANGUAGE sql AS
	'INSERT INTO log VALUES (n) RETURNING n';
CREATE FUNCTION late(n int, nth int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
	$$BEGIN IF n = nth THEN RAISE 'outer row %', n; END IF; RETURN n; END$$;
END

sub asked
{
	return $node->safe_psql('postgres', 'SELECT sum(pages_read_ahead) FROM surfidx_stat_indexes');
}

# The statement gives the same with and without reading ahead, and with it asks for at least, and at
# most, so many pages.
sub asks
{
	my ($what, $sql, $least, $most) = @_;
	my $plain = $sql =~ s/surfidx\.read_ahead = \K\d+/0/r;
	my $want = $node->safe_psql('postgres', "SET surfidx.read_ahead = 0; $plain");
	my $before = asked();
	my $got = $node->safe_psql('postgres', $sql);
	my $n = asked() - $before;

	is($got, $want, "$what: rows");
	ok($n >= $least && $n <= $most, "$what: pages") or diag("$n pages");
	return $got;
}

my $JOIN = 'SELECT o.n, t.v FROM o JOIN t USING (k)';

asks('an inner join', $JOIN, 400, 600);
asks('a left join', 'SELECT o.n, t.v FROM o LEFT JOIN t USING (k)', 400, 600);
asks('a semijoin', 'SELECT n FROM o WHERE EXISTS (SELECT 1 FROM t WHERE t.k = o.k AND t.v % 2 = 0)',
	400, 600);
asks('an antijoin', 'SELECT n FROM o WHERE NOT EXISTS
	(SELECT 1 FROM t WHERE t.k = o.k AND t.v % 2 = 0)', 400, 600);
asks('text keys', 'SELECT o.n, t.v FROM o JOIN t USING (s)', 400, 600);
asks('two columns', 'SELECT o.n, t.v FROM o JOIN t ON t.g = o.g AND t.k BETWEEN o.k AND o.k', 400, 600);
asks('keys that find nothing', 'SELECT o.n, t.v FROM o JOIN t ON t.g = o.n AND t.k BETWEEN o.k AND o.k',
	0, 20);
# (from 18 on an array or row comparison is one scan key, which is left alone)
asks('a row comparison', 'SELECT o.n, l.v FROM o, LATERAL
	(SELECT v FROM t WHERE (g, k) > (o.g, o.k) ORDER BY g, k LIMIT 1) l', 0, 1500);
asks('a range', 'SELECT o.n, t.v FROM o JOIN t ON t.k BETWEEN o.k AND o.k + 0 WHERE o.n < 100',
	0, 100);
asks('open ranges below a LIMIT', 'SELECT o.n, l.v FROM o, LATERAL
	(SELECT v FROM t WHERE t.k > o.k ORDER BY k LIMIT 1) l', 400, 1500);
asks('a bitmap', "SET enable_indexscan = off; SET enable_bitmapscan = on; $JOIN", 400, 600);
asks('Memoize', "SET enable_memoize = on; $JOIN", 100, 600);
asks('a chain of loops', 'SELECT o.n, t3.v FROM o JOIN t USING (k) JOIN t t2 ON t2.k = 2001 - t.v
	JOIN t t3 ON t3.k = t2.v', 400, 2000);
asks('a sorted outer side', 'SELECT o.n, t.v FROM (SELECT * FROM o ORDER BY n DESC OFFSET 0) o
	JOIN t USING (k)', 400, 600);
asks('an outer index-only scan', 'SET enable_seqscan = off; SELECT a.k, b.v FROM
	(SELECT (k * 7919) % 2000 AS k FROM t WHERE k < 300 OFFSET 0) a JOIN t b USING (k)', 100, 400);
asks('VALUES', 'SELECT t.v FROM (VALUES ' . join(', ', map { '(' . $_ * 37 . ')' } 1 .. 50) .
	') o (k) JOIN t USING (k)', 30, 50);
asks('a function', 'SELECT t.v FROM generate_series(1, 2000, 31) k JOIN t USING (k)', 40, 65);
asks('a union', 'SELECT t.v FROM (SELECT k FROM o UNION ALL SELECT k + 1 FROM o) o JOIN t USING (k)',
	700, 1200);
asks('a queue that is full', 'SET surfidx.read_ahead = 256;
	SELECT o.k, t.v FROM
	(SELECT 1 + (k * 7919) % 2000 AS k FROM generate_series(1, 4000) k OFFSET 0) o JOIN t USING (k)',
	1000, 4000);
asks('recursion', 'WITH RECURSIVE r AS (SELECT k, 0 AS depth FROM o WHERE n < 60 UNION ALL
	SELECT 1 + (t.v * 31) % 2000, depth + 1 FROM r JOIN t USING (k) WHERE depth < 5)
	SELECT * FROM r', 100, 400);
asks('a loop that is rescanned', 'SELECT x, (SELECT sum(t.v) FROM o JOIN t USING (k)
	WHERE o.n % 30 = x) FROM generate_series(0, 9) x', 60, 250);
asks('an update', "BEGIN; UPDATE t SET v = t.v + o.n FROM o WHERE o.k = t.k;
	SELECT k, v FROM t ORDER BY k; ROLLBACK", 400, 4000);
asks('a serializable transaction', "BEGIN ISOLATION LEVEL SERIALIZABLE; $JOIN; COMMIT", 400, 800);
asks('prepared', "SET plan_cache_mode = force_generic_plan;
	PREPARE q (int) AS SELECT o.n, t.v FROM o JOIN t USING (k) WHERE o.n > \$1;
	EXECUTE q (100); EXECUTE q (500)", 400, 700);
asks('a hash join as the outer side', 'SET enable_hashjoin = on;
	SELECT a.n, t.v FROM (SELECT o.n, o.k FROM o JOIN o o2 USING (n) OFFSET 0) a,
	LATERAL (SELECT v FROM t WHERE t.k = a.k OFFSET 0) t', 400, 600);
asks('in parallel', "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SELECT count(*), sum(o.n), sum(t.v) FROM o JOIN t USING (k)", 200, 700);

# what a LIMIT does not want is not asked for
asks('LIMIT 1', "$JOIN LIMIT 1", 0, 0);
asks('LIMIT 20', "$JOIN LIMIT 20", 10, 24);
asks('LIMIT 20 OFFSET 20', "$JOIN LIMIT 20 OFFSET 20", 30, 44);
asks('LIMIT 20 in a union', "SELECT * FROM ($JOIN) a UNION ALL $JOIN LIMIT 20", 10, 24);
asks('LIMIT and OFFSET beyond what an int8 holds',
	"$JOIN LIMIT 9223372036854775807 OFFSET 2147483648", 400, 600);
# ... in none of many rescans, either
my $AGAIN = 'FROM (SELECT 1 + (g * 7) % 100 AS g FROM generate_series(1, 200) g) x';
my $OF_X = 'FROM o JOIN t USING (k) WHERE o.n >= 6 * x.g AND o.n < 6 * x.g + 6';
asks('EXISTS', "SELECT g, EXISTS (SELECT 1 $OF_X OFFSET 0) $AGAIN", 1, 20);
asks('a lateral LIMIT', "SELECT g, l.v $AGAIN, LATERAL (SELECT t.v $OF_X LIMIT 1) l", 0, 0);
asks('a cursor', "BEGIN; DECLARE c NO SCROLL CURSOR FOR $JOIN; FETCH 30 FROM c; FETCH 100 FROM c;
	COMMIT", 100, 200);

# where the outer side must not run ahead
asks('a scrollable cursor', "BEGIN; DECLARE c SCROLL CURSOR FOR $JOIN; FETCH 100 FROM c;
	FETCH BACKWARD 50 FROM c; FETCH 50 FROM c; COMMIT", 0, 0);
asks('row locks below', 'SELECT o.n, t.v FROM (SELECT * FROM o FOR UPDATE OFFSET 0) o
	JOIN t USING (k)', 0, 0);
asks('a volatile function below', 'SELECT o.n, t.v FROM
	(SELECT noted(n) AS n, k FROM o OFFSET 0) o JOIN t USING (k) LIMIT 100', 0, 0);
is($node->safe_psql('postgres', 'SELECT count(*) FROM log'),
	2 * $node->safe_psql('postgres', "SELECT max(n) FROM ($JOIN LIMIT 100) s"),
	'... which was called for each row that was wanted');
$node->safe_psql('postgres', 'TRUNCATE log');
asks('a volatile subquery below', 'SELECT o.n, t.v FROM o JOIN t USING (k)
	WHERE o.n < 150 OR o.n = (SELECT noted(10))', 0, 0);
asks('a volatile subquery that is not reached', 'BEGIN; DECLARE c NO SCROLL CURSOR FOR
	SELECT o.n, t.v FROM o JOIN t USING (k) WHERE o.n < 60 OR o.n = (SELECT noted(11));
	FETCH 40 FROM c; COMMIT', 0, 0);
is($node->safe_psql('postgres', "SELECT string_agg(n::text, ' ' ORDER BY n) FROM log"), '10 10',
	'... which ran where it was needed');
$node->safe_psql('postgres', 'TRUNCATE log');
asks('a volatile subquery that has run, and would again after a rescan',
	'SET surfidx.read_ahead = 4; SELECT x, EXISTS (SELECT 1 FROM o JOIN t USING (k)
	WHERE ((x = 2 AND o.n < 2) OR o.n <> (SELECT noted(x))) AND t.v >= CASE x WHEN 1 THEN 1990 ELSE 0 END) FROM generate_series(1, 2) x', 1, 600);
is($node->safe_psql('postgres', "SELECT string_agg(n::text, ' ' ORDER BY n) FROM log"), '1 1',
	'... where it is not reached');
asks('a CTE that modifies', 'WITH m AS (UPDATE o SET s = s RETURNING n, k)
	SELECT m.n, t.v FROM m JOIN t USING (k)', 0, 0);
asks('off', "SET surfidx.read_ahead = 0; $JOIN", 0, 0);
asks('row locks above', "BEGIN; $JOIN FOR UPDATE; ROLLBACK", 400, 700);

# an error of an outer row that is fetched ahead, and what the transaction does after it
like(($node->psql('postgres', "SELECT o.n, t.v FROM
	(SELECT late(n, 300) AS n, k FROM o OFFSET 0) o JOIN t USING (k)"))[2], qr/outer row 300/,
	'an error of the outer side');
is($node->safe_psql('postgres', "BEGIN; SAVEPOINT a;
	DO \$\$BEGIN PERFORM o.n FROM (SELECT late(n, 300) AS n, k FROM o OFFSET 0) o JOIN t USING (k);
	EXCEPTION WHEN OTHERS THEN NULL; END\$\$;
	SELECT count(*) FROM ($JOIN) s; COMMIT"),
	$node->safe_psql('postgres', "SELECT count(*) FROM ($JOIN) s"), '... and a join after it');

# wide rows do not fill more than work_mem
$node->safe_psql('postgres', "ALTER TABLE o ALTER wide SET STORAGE external;
	UPDATE o SET wide = repeat('w', 100000); VACUUM o");
asks('wide rows', "SET work_mem = '1MB'; SET surfidx.read_ahead = 256; SELECT n, v, md5(wide) FROM
	(SELECT n, k, wide || '' AS wide FROM o OFFSET 0) o JOIN t USING (k)", 100, 700);
$node->safe_psql('postgres', <<'END2');
CREATE FUNCTION held(n int) RETURNS bigint VOLATILE LANGUAGE sql AS
	$$SELECT total_bytes FROM pg_backend_memory_contexts WHERE name = 'surfidx rows ahead' AND n > 0$$;
END2
my $held = $node->safe_psql('postgres', "SET work_mem = '1MB'; SET surfidx.read_ahead = 256;
	SELECT max(held(n + length(wide))) FROM (SELECT n, k, wide || '' AS wide FROM o OFFSET 0) o
	JOIN t USING (k)");
ok($held > 500_000 && $held < 2_000_000, '... and their memory') or diag($held);

# ... and what rows leave behind when they are returned has room for others
asks('rows of some bytes', "SET work_mem = '64kB'; SET surfidx.read_ahead = 256; SELECT n, v, md5(wide)
	FROM (SELECT n, k, repeat('w', 1000) || n AS wide FROM o OFFSET 0) o JOIN t USING (k)", 400, 600);

# ... nor do long keys, once they are decompressed
$node->safe_psql('postgres', <<'END3');
CREATE TABLE l (n int, s text);
INSERT INTO l SELECT i, CASE WHEN i % 2 = 0 THEN 'key ' || i ELSE repeat('x', 1000000) || i END
	FROM generate_series(1, 700) i;
CREATE FUNCTION peak() RETURNS int VOLATILE LANGUAGE sql AS $$SELECT substring(
	pg_read_file('/proc/' || pg_backend_pid() || '/status') FROM 'VmHWM:\s*(\d+)')::int$$;
END3
my $LONG = 'SELECT l.n, t.v FROM l JOIN t USING (s)';
asks('long keys', "SET surfidx.read_ahead = 256; $LONG", 200, 350);
my ($without, $with) = map {
	$node->safe_psql('postgres', "SET surfidx.read_ahead = $_;
		SELECT count(*) FROM ($LONG) s \\g /dev/null\nSELECT peak()")
} 0, 256;
ok($with < $without + 40_000, '... and their memory') or diag("$without kB, $with kB");

# an index whose leaves have cut keys, one with a delta, and a temporary table
$node->safe_psql('postgres', 'DROP INDEX t_k;
	CREATE INDEX t_k ON t USING surfidx (k) WITH (keys = cut)');
asks('cut keys', $JOIN, 400, 700);
$node->safe_psql('postgres', 'DROP INDEX t_k; CREATE INDEX t_k ON t USING surfidx (k);
	UPDATE t SET v = v + 1 WHERE k % 2 = 0');
asks('a delta, and versions of rows', $JOIN, 400, 1200);
asks('a temporary table', "SET temp_buffers = '800kB'; CREATE TEMP TABLE p (LIKE t INCLUDING STORAGE);
	INSERT INTO p SELECT * FROM t; CREATE INDEX p_k ON p USING surfidx (k); ANALYZE p;
	SELECT o.n, p.v FROM o JOIN p USING (k)", 0, 10000);

# rows that others change while a cursor has fetched outer rows ahead
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ");
my $want = $session->query_safe("SELECT md5(string_agg(s::text, ',')) FROM ($JOIN) s");
$session->query_safe("DECLARE c NO SCROLL CURSOR FOR $JOIN");
my $rows = $session->query_safe('FETCH 100 FROM c');
$node->safe_psql('postgres', 'DELETE FROM o WHERE n % 3 = 0; DELETE FROM t WHERE k % 3 = 0;
	UPDATE t SET v = -v; VACUUM t; VACUUM o; INSERT INTO t SELECT i, 0, \'\', -7, repeat(\'x\', 4500)
	FROM generate_series(3, 2000, 3) i');
$rows .= "\n" . $session->query_safe('FETCH ALL FROM c');
is($node->safe_psql('postgres', "SELECT md5(string_agg('(' || replace(r, '|', ',') || ')', ',')) FROM
	unnest(string_to_array('$rows', E'\\n')) r"), $want, 'a cursor beside writers and VACUUM');
$session->quit;

# a row that was changed meanwhile is checked again
my $other = $node->background_psql('postgres');
$other->query_safe('BEGIN; UPDATE t SET v = 100000 + k WHERE k BETWEEN 900 AND 1000');
my $update = $node->background_psql('postgres');
$update->query_until(qr/go/, "\\echo go\nUPDATE t SET v = t.v + 1 FROM o
	WHERE o.k = t.k AND t.v <> 0;\n");
$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity
	WHERE wait_event_type = 'Lock'") or die;
$other->query_safe('COMMIT');
$other->quit;
$update->quit;
is($node->safe_psql('postgres', 'SELECT count(*) > 0 AND bool_and(v = 100001 + k) FROM t
	WHERE k BETWEEN 900 AND 1000 AND k IN (SELECT k FROM o)'), 't', 'EvalPlanQual');

done_testing();
