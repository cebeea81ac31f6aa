# Plans without surfidx indexes do not change: tables with btree, hash, gin, gist, spgist and brin indexes only get the same plans, costs and all, on a server without
# the library, with it, and with surfidx indexes on other tables.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('others', "shared_preload_libraries = ''\ncompute_query_id = off\n");
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE TABLE t (id int PRIMARY KEY, k int8, f bool, ip inet, p text, c text COLLATE "C", d date, n numeric, bp char(8), e text);
INSERT INTO t SELECT i, i % 1000, i % 500 = 0, '10.0.0.0'::inet + i * 7, 'p' || i, 'c' || i, date '2020-01-01' + i % 700, i / 7.0, 'b' || i, 'E' || i % 90 FROM generate_series(1, 20000) i;
CREATE INDEX t_kd ON t (k, d);
CREATE INDEX t_fk ON t (f, k);
CREATE INDEX t_ip ON t (ip);
CREATE INDEX t_p ON t (p text_pattern_ops);
CREATE INDEX t_c ON t (c) INCLUDE (d);
CREATE INDEX t_n ON t (n DESC NULLS LAST);
CREATE INDEX t_bp ON t (bp bpchar_pattern_ops);
CREATE INDEX t_part ON t (d) WHERE f;
CREATE UNIQUE INDEX t_expr ON t ((id + 1), k);
CREATE INDEX t_lower ON t (lower(e));
CREATE STATISTICS t_stat (dependencies, mcv) ON k, f FROM t;
-- a table for each other access method, and one without any index
CREATE TABLE hashed AS SELECT i AS k, i % 100 AS v FROM generate_series(1, 20000) i;
CREATE INDEX ON hashed USING hash (k);
CREATE TABLE ginned AS SELECT i AS k, ARRAY[i % 100, i % 7] AS a, jsonb_build_object('a', i % 50) AS j FROM generate_series(1, 20000) i;
CREATE INDEX ON ginned USING gin (a);
CREATE INDEX ON ginned USING gin (j);
CREATE TABLE gisted AS SELECT i AS k, point(i, i) AS g, int4range(i, i + 10) AS r FROM generate_series(1, 20000) i;
CREATE INDEX ON gisted USING gist (g);
CREATE INDEX ON gisted USING gist (r);
CREATE TABLE spgisted AS SELECT i AS k, 's' || i AS s, point(i, i) AS g FROM generate_series(1, 20000) i;
CREATE INDEX ON spgisted USING spgist (s);
CREATE INDEX ON spgisted USING spgist (g);
CREATE TABLE brinned AS SELECT i AS k, date '2020-01-01' + i / 100 AS d FROM generate_series(1, 50000) i;
CREATE INDEX ON brinned USING brin (k) WITH (pages_per_range = 8);
CREATE INDEX ON brinned USING brin (d date_minmax_ops) WITH (pages_per_range = 8);
CREATE TABLE bare AS SELECT i AS k, i % 100 AS v FROM generate_series(1, 20000) i;
CREATE TABLE part (k int, v int, PRIMARY KEY (k)) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
CREATE TABLE part2 PARTITION OF part FOR VALUES FROM (1000) TO (2000);
INSERT INTO part SELECT i, i FROM generate_series(0, 1999) i;
CREATE TABLE child (id int REFERENCES t, v int);
CREATE INDEX ON child (id);
INSERT INTO child SELECT i % 20000 + 1, i FROM generate_series(1, 5000) i;
-- those that will get surfidx indexes
CREATE TABLE mine (id int, v int, s text COLLATE "C");
INSERT INTO mine SELECT i, i, 'm' || i FROM generate_series(1, 5000) i;
VACUUM ANALYZE;
END

my @queries = (
	'SELECT * FROM t WHERE id = 5', 'SELECT * FROM t WHERE id = 5::int8 OR k = 7', 'SELECT * FROM t WHERE id BETWEEN 5 AND 500', 'SELECT * FROM t WHERE id > 19000 AND k < 50',
	"SELECT * FROM t WHERE (k, d) > (990, date '2021-01-01') ORDER BY k, d", 'SELECT * FROM t WHERE f', 'SELECT * FROM t WHERE NOT f AND k = 5', 'SELECT * FROM t WHERE f AND k < 10',
	"SELECT * FROM t WHERE ip << '10.0.4.0/24'", "SELECT * FROM t WHERE p LIKE 'p12%'", "SELECT * FROM t WHERE c LIKE 'c12%'", "SELECT * FROM t WHERE c >= 'c5' AND c < 'c6'",
	"SELECT * FROM t WHERE bp LIKE 'b12%'", 'SELECT * FROM t WHERE n > 2800', 'SELECT n FROM t ORDER BY n DESC NULLS LAST LIMIT 5', "SELECT * FROM t WHERE lower(e) = 'e5'",
	"SELECT * FROM t WHERE d = '2020-02-02' AND f", "SELECT * FROM t WHERE d > '2021-11-01'", "SELECT * FROM t WHERE d < '2020-02-01'::timestamptz", 'SELECT min(k), max(id) FROM t', 'SELECT max(id) FROM t WHERE k > 5',
	'SELECT k, d FROM t WHERE k IN (1, 2, 3) ORDER BY k DESC, d DESC', 'SELECT * FROM t WHERE k = 5 AND d IN (\'2020-01-06\', \'2020-02-02\') ORDER BY k, d', 'SELECT x.k FROM t x LEFT JOIN t y ON x.k = y.id', 'SELECT x.* FROM t x JOIN t y ON x.k = y.id',
	'SELECT x.* FROM t x JOIN t y ON x.k = y.id AND x.id + 1 = y.k', 'SELECT x.* FROM t x JOIN t y ON x.id = y.id ORDER BY x.id', 'SELECT * FROM t WHERE id IN (SELECT k FROM t)', 'SELECT k, count(*) FROM t GROUP BY k ORDER BY k',
	'SELECT DISTINCT ON (k) k, d FROM t ORDER BY k, d', 'SELECT k, d, sum(id) OVER (PARTITION BY k ORDER BY d) FROM t', 'SELECT * FROM t WHERE id < ANY (ARRAY[5, 7])', 'SELECT * FROM t WHERE d = \'2020-02-02\'', 'SELECT * FROM t WHERE k = 1 OR k = 2 OR k = 3',
	'SELECT * FROM hashed WHERE k = 77', 'SELECT * FROM hashed WHERE k > 19900', 'SELECT * FROM hashed x JOIN hashed y USING (k)',
	'SELECT * FROM ginned WHERE a @> ARRAY[3]', "SELECT * FROM ginned WHERE j @> '{\"a\": 1}'", 'SELECT * FROM ginned WHERE k < 100',
	"SELECT * FROM gisted WHERE g <@ box '(0,0),(5,5)'", 'SELECT * FROM gisted ORDER BY g <-> point(3, 3) LIMIT 5', 'SELECT * FROM gisted WHERE r @> 77', 'SELECT * FROM gisted WHERE k BETWEEN 7 AND 9',
	"SELECT * FROM spgisted WHERE s ^@ 's12'", "SELECT * FROM spgisted WHERE s > 's9'", 'SELECT * FROM spgisted ORDER BY g <-> point(3, 3) LIMIT 5',
	'SELECT * FROM brinned WHERE k BETWEEN 500 AND 700', "SELECT * FROM brinned WHERE d > '2021-05-01'", 'SELECT * FROM brinned WHERE k = 77', 'SELECT * FROM brinned x JOIN bare y USING (k) WHERE x.k < 1000',
	'SELECT * FROM bare WHERE k < 10', 'SELECT * FROM bare WHERE v > 50 AND k > 19000', 'SELECT * FROM bare ORDER BY k LIMIT 3',
	'SELECT * FROM part WHERE k < 1500 ORDER BY k DESC', 'SELECT * FROM part WHERE k = 77', 'SELECT p.v FROM part p LEFT JOIN part q ON p.v = q.k', 'SELECT min(k) FROM part',
	'SELECT * FROM t JOIN child USING (id) WHERE v < 50', 'SELECT c.v FROM child c LEFT JOIN t USING (id)', 'SELECT * FROM t WHERE EXISTS (SELECT FROM child c WHERE c.id = t.id)',
	'INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING', 'INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET k = 1', 'INSERT INTO part VALUES (1) ON CONFLICT (k) DO UPDATE SET v = 1',
	'UPDATE t SET k = 1 WHERE id = 5', 'DELETE FROM t WHERE k = 77 AND d > \'2020-05-01\'');

# Plans with all their numbers, with and without settings that bring out other kinds of plans.
sub plans
{
	my ($settings) = @_;
	my $sql = "$settings;\n";
	my @plans;

	for my $set ('SELECT', 'SET enable_seqscan = off', 'SET enable_hashjoin = off; SET enable_sort = off', 'SET enable_indexscan = off; SET enable_mergejoin = off', 'SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 4; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0; SET parallel_setup_cost = 0')
	{
		$sql .= "$set;\n" . join('', map { "\\echo $set: $_\nEXPLAIN (VERBOSE) $_;\n" } @queries);
	}
	return $node->safe_psql('postgres', $sql);
}

# The first lines that differ, if any.
sub is_same
{
	my ($got, $want, $what) = @_;
	my @got = split /\n/, $got;
	my @want = split /\n/, $want;
	my ($query, $differs) = ('', '');

	for my $i (0 .. $#want)
	{
		$query = $want[$i] if $want[$i] =~ /^(?:SELECT|SET)[^:]*: /;
		next if ($got[$i] // '') eq $want[$i];
		$differs = "$query\n$want[$i]\nnow: " . ($got[$i] // 'nothing');
		last;
	}
	is($differs, '', $what);
	is(@got + 0, @want + 0, "$what: all plans");
	return;
}

my $without = plans('SELECT');
my $n = () = $without =~ /cost=/g;
cmp_ok($n, '>', 5 * @queries, 'plans without the library');
is_same(plans('SELECT'), $without, 'the same plans when asked again');

$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'surfidx'");
$node->restart;
is_same(plans('SELECT'), $without, 'with the library');
my $all_on = 'SET surfidx.range_estimates = on; SET surfidx.planner_lift = on; SET surfidx.onconflict_lift = on';
is_same(plans($all_on), $without, 'with the library and all that it does for plans');

$node->safe_psql('postgres', 'CREATE EXTENSION surfidx');
is_same(plans($all_on), $without, 'with the extension');
$node->safe_psql('postgres', <<'END');
SET surfidx.unique_notice = off;
CREATE UNIQUE INDEX mine_id ON mine USING surfidx (id);
CREATE INDEX mine_vs ON mine USING surfidx (v, s);
INSERT INTO mine SELECT i, i, 'm' || i FROM generate_series(5001, 6000) i;
END
is_same(plans($all_on), $without, 'with surfidx indexes on another table');
is_same(plans('DO $$ BEGIN PERFORM count(*) FROM mine WHERE v BETWEEN 5 AND 700; END $$'), $without, 'in a session that has used one');
# the hooks do act
like($node->safe_psql('postgres', "SET enable_seqscan = off; EXPLAIN SELECT * FROM mine WHERE id < 50"), qr/mine_id.*rows=4[89] /, 'the index is used and counted');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing bad in the log');
$node->stop('fast');
done_testing();
