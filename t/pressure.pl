# Inserters outrun the merges: no worker can start, memory for images is tiny, a cursor stands in the middle of an
# index-only scan, VACUUM waits for it.  Everything goes on, and the delta stays within a multiple of its bound.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $tmp = ${PostgreSQL::Test::Utils::tmp_check};
my $node = new_node('pressure', <<'END');
surfidx.delta_size = '64kB'
surfidx.delta_memory = '1MB'
max_worker_processes = 0
max_connections = 30
END
$node->start;
create_table($node);
# two of the indexes put what they merge into runs first
$node->safe_psql('postgres', "ALTER INDEX $_ SET (run_ratio = 10, merge_ratio = 0.3)") foreach ('t_n', 't_ns');
change_rows($node, 5000, 1);

# Rows inserted by session number $i, in pieces.
sub writer
{
	my ($i, $pieces) = @_;

	return start_script($node, "writer$i", "SELECT setseed(0.$i);\n"
		  . ("INSERT INTO t (n, s, v) SELECT (random() * 20000)::int, md5(random()::text), g FROM generate_series(1, 500) g;\n" x $pieces));
}

# Pages of log in the index that has most of them.
sub log_pages
{
	return $node->safe_psql('postgres',
		'SELECT max((surfidx_meta(i)).log_pages) FROM unnest(ARRAY[' . join(', ', map { "'$_'" } @INDEXES) . ']::regclass[]) i');
}

my $sum = $node->safe_psql('postgres', 'SELECT count(*), sum(u) FROM t');
my $cursor = open_session($node);
ask($cursor, <<'END');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET enable_seqscan = off; SET enable_bitmapscan = off;
CREATE TEMP TABLE seen (u bigint);
DECLARE c CURSOR FOR SELECT u FROM t ORDER BY u;
END
my @seen = split /\n/, ask($cursor, 'FETCH 10 FROM c;');
is(scalar @seen, 10, 'a cursor stands in an index-only scan');

# There are rows that died before the cursor's snapshot, so VACUUM comes as far as the gate, which the cursor holds.
my $vacuum = start_script($node, 'vacuum', "VACUUM t;\n");
ok( $node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'VACUUM t%' AND wait_event IN ('BufferPin', 'BufferCleanup')"),
	'VACUUM waits for the cursor');

my @writers = map { writer($_, 8) } 1 .. 8;
$node->safe_psql('postgres', <<"END");
COPY (SELECT (random() * 20000)::int, md5(random()::text), g FROM generate_series(1, 30000) g) TO '$tmp/rows.copy';
COPY t (n, s, v) FROM '$tmp/rows.copy';
END
foreach my $i (1 .. 8)
{
	ok($writers[ $i - 1 ]->finish, "writer $i ends well") or diag(slurp_file("$tmp/writer$i.log"));
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE v IS NOT NULL'),
	(split /\|/, $sum)[0] + 8 * 8 * 500 + 30000, 'every row is there');
my $pages = log_pages();
note("$pages log pages");
cmp_ok($pages, '<', 8 * 8, 'without a worker, inserters have kept the delta small');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'VACUUM t%' AND wait_event IN ('BufferPin', 'BufferCleanup')"),
	'1', 'VACUUM still waits');

# It can be told to stop waiting.
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'VACUUM t%' AND pid <> pg_backend_pid()");
$vacuum->finish;
like(slurp_file("$tmp/vacuum.log"), qr/canceling statement due to user request/, 'VACUUM can be cancelled');

push @seen, split /\n/, ask($cursor, 'FETCH ALL FROM c;');
my $total = 0;
$total += $_ for @seen;
is(scalar(@seen) . "|$total", $sum, 'the cursor returns what its snapshot sees');
ask($cursor, 'COMMIT;');
end_session($cursor);

check_indexes($node, 'after the pressure');
compare_plans($node, 'after the pressure');
$node->safe_psql('postgres', 'VACUUM t');
check_indexes($node, 'after VACUUM');
cmp_ok(
	$node->safe_psql('postgres', <<'END'), '<', 32 * 1024 * 1024, 'a backend that reads all indexes takes little memory for it');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
INSERT INTO t (n, s, v) SELECT (random() * 20000)::int, md5(random()::text), g FROM generate_series(1, 500) g;
SELECT sum(total_bytes) FROM pg_backend_memory_contexts m, (SELECT count(n) FROM t WHERE n > 0) a, (SELECT count(s) FROM t WHERE s > '') b
	WHERE name LIKE 'surfidx%' OR to_jsonb(m) ->> 'parent' LIKE 'surfidx%'; -- 18 has no column parent
END

# Where there is no worker, runs do not wait for VACUUM either.
$node->safe_psql('postgres', <<'END');
CREATE TABLE r (k int8);
INSERT INTO r SELECT hashint8extended(i, 1) FROM generate_series(1, 30000) i;
CREATE INDEX r_k ON r USING surfidx (k) WITH (run_ratio = 10, merge_ratio = 0.3);
INSERT INTO r SELECT hashint8extended(i, 2) FROM generate_series(1, 80000) i;
END
my ($runs, $last) = split /\|/, $node->safe_psql('postgres', "SELECT count(*), max(run) FROM surfidx_runs('r_k')");
note("$runs runs, the last one made is $last");
cmp_ok($last, '>', 3, 'deltas went into runs');
cmp_ok($runs, '<', $last - 1, 'and inserters have merged runs');
is($node->safe_psql('postgres', "SELECT surfidx_check('r_k', true, true)"), '', 'and well');

# Neighbours proceed while the worker is merging for eight writers.
$node->adjust_conf('postgresql.conf', 'max_worker_processes', 8);
$node->restart;
@writers = map { writer($_, 8) } 1 .. 8;
foreach my $statement (
	'CREATE INDEX CONCURRENTLY t_new ON t USING surfidx (v)',
	'VACUUM t',
	'ALTER TABLE t ADD COLUMN more int',
	'REINDEX INDEX CONCURRENTLY t_new',
	"DO 'BEGIN PERFORM surfidx_merge(''t_n''); END'",
	'DROP INDEX t_new')
{
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '120s'; SET lock_timeout = '60s'", extra_params => [ '-c', $statement ]);

	is($rc, 0, "$statement while eight sessions insert") or diag($err);
}
foreach my $i (1 .. 8)
{
	ok($writers[ $i - 1 ]->finish, "writer $i ends well again") or diag(slurp_file("$tmp/writer$i.log"));
}
check_indexes($node, 'after the neighbours');
compare_plans($node, 'after the neighbours');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing wrong in the log');
$node->stop;
done_testing();
