# Tables of a fixed size, in shared memory and a backend's own: an owner's death gives its place
# back, and where all are taken the one goes that nobody has used for long.
# SURFIDX_FULL=1: 10,000 indexes that come and go, and 2,000 partitions, at default settings.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $full = $ENV{SURFIDX_FULL};
my $memory = $full ? '' : "surfidx.delta_memory = '1MB'";
my $node = new_node('tables',
	"$memory\nsurfidx.auto_merge = off\nmax_locks_per_transaction = 2000");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx');

sub shared
{
	my ($table, $column) = @_;

	return $node->safe_psql('postgres', "SELECT $column FROM surfidx_shared_memory() WHERE name =
		'$table'");
}

my $places = shared('images', 'places');
my $many = $full ? 10000 : 5 * $places;
note("$places places");
is($places, $full ? 4096 : 64, 'as many places as the setting makes');

# ---- images: how a file dies ----

my $make = 'CREATE TABLE g (k int); CREATE UNIQUE INDEX g_k ON g USING surfidx (k); INSERT INTO g
	VALUES (1), (2)';
my %death = (
	'dropped' => "$make; DROP TABLE g",
	'truncated' => "$make; TRUNCATE g; DROP TABLE g",
	'rebuilt' => "$make; REINDEX INDEX g_k; DROP TABLE g",
	'rewritten' => "$make; VACUUM FULL g; DROP TABLE g",
	'of an index that is dropped' => "$make; DROP INDEX g_k; DROP TABLE g",
	'of a transaction that is rolled back' => "BEGIN; $make; ROLLBACK",
	'of a transaction that fails' => "BEGIN; $make; SELECT 1 / 0; COMMIT",
	'of a savepoint that is rolled back' => "BEGIN; SAVEPOINT s; $make; ROLLBACK TO s; COMMIT",
	'truncated, rolled back' => "$make; BEGIN; TRUNCATE g; INSERT INTO g VALUES (3), (4);
		ROLLBACK; DROP TABLE g",
	'truncated where it was made' => "BEGIN; $make; TRUNCATE g; INSERT INTO g VALUES (3), (4);
		COMMIT; DROP TABLE g",
	'of a partition that goes' => "CREATE TABLE p (k int) PARTITION BY LIST (k); CREATE TABLE g
		PARTITION OF p DEFAULT; "
	  . 'CREATE UNIQUE INDEX ON g USING surfidx (k); INSERT INTO p VALUES (1), (2); DROP TABLE p');
foreach my $how (sort keys %death)
{
	my $before = shared('images', 'taken');

	my $script = join("\n", map { "$_;" } split /; /, $death{$how});
	my ($rc, $out, $err) = $node->psql('postgres', $script, on_error_stop => 0);
	cmp_ok(shared('images', 'taken'), '>', $before, "$how: there was an image");
	is(shared('images', 'used') . ' ' . shared('image nodes', 'used'), '0 0',
		"$how: nothing is left");
}
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', "CREATE EXTENSION surfidx; $make; INSERT INTO g VALUES (3)");
is(shared('images', 'used'), '1', 'an image of another database');
$node->safe_psql('postgres', 'DROP DATABASE other');
is(shared('images', 'used'), '0', '... goes with it');

# ---- images: many that come and go, and whom they leave alone ----

sub each_of
{
	my ($n, $statements, $db) = @_;

	return $node->safe_psql($db // 'postgres', "DO \$do\$ BEGIN FOR i IN 1 .. $n LOOP EXECUTE
		replace(\$x\$$statements\$x\$, '#', i::text); COMMIT; END LOOP; END \$do\$");
}

my $hot = $full ? 60 : 20;
each_of($hot, 'CREATE TABLE hot# (k int); CREATE UNIQUE INDEX ON hot# USING surfidx (k); INSERT
	INTO hot# SELECT generate_series(1, 500)');
my $look = "DO \$\$ DECLARE n int; BEGIN FOR i IN 1 .. $hot LOOP EXECUTE 'SELECT count(*) FROM
	hot' || i || ' WHERE k = 77' INTO n; IF n <> 1 THEN RAISE 'wrong'; END IF; END LOOP; END \$\$";
$node->safe_psql('postgres', "$look; $look");
my $taken = shared('images', 'taken');
each_of($many, 'CREATE TABLE gone# (k int); CREATE UNIQUE INDEX ON gone# USING surfidx (k); INSERT
	INTO gone# VALUES (1), (2); DROP TABLE gone#');
is(shared('images', 'taken') - $taken, $many,
	"$many indexes that come and go have had an image each");
is(shared('images', 'used'), $hot, '... and none has it still');
is(shared('images', 'evicted'), '0', '... nor has any other one gone for them');
$node->safe_psql('postgres', $look);
is(shared('images', 'taken') - $taken, $many, 'those that are looked into have theirs');

# More that stay than there are places, looked into once; the others all the time.
my $cold = int($places * 1.5);
each_of($cold, 'CREATE TABLE cold# (k int); CREATE UNIQUE INDEX ON cold# USING surfidx (k); INSERT
	INTO cold# VALUES (1), (2)');
$node->safe_psql('postgres', $look);
$taken = shared('images', 'taken');
foreach my $part (0 .. 9)
{
	my $from = int($part * $cold / 10) + 1;
	my $to = int(($part + 1) * $cold / 10);

	$node->safe_psql('postgres', "DO \$\$ BEGIN FOR i IN $from .. $to LOOP EXECUTE 'INSERT INTO
		cold' || i || ' VALUES (3)'; END LOOP; END \$\$; $look");
}
my $made = shared('images', 'taken') - $taken;
cmp_ok($made, '<=', $cold + $hot,
	"images that are used again and again stay while $cold others pass: $made made");
$node->safe_psql('postgres', "SELECT surfidx_check(indexrelid, true, true) FROM pg_index JOIN
	pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE amname = 'surfidx'");
pass('all indexes are sound');
each_of($cold, 'DROP TABLE cold#');
each_of($hot, 'DROP TABLE hot#');
is(shared('images', 'used') . ' ' . shared('image nodes', 'used'), '0 0', 'nothing is left');

# ---- a backend's own images ----

my $session = open_session($node);
sub each_temp
{
	my ($statement) = @_;

	return ask($session, "DO \$\$ BEGIN FOR i IN 1 .. 40 LOOP EXECUTE replace('$statement', '#',
		i::text); END LOOP; END \$\$;");
}
each_temp('CREATE TEMP TABLE t# (k int); CREATE UNIQUE INDEX ON t# USING surfidx (k)');
each_temp('INSERT INTO t# SELECT generate_series(1, 500)');
my $own = "SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'surfidx image';";
is(ask($session, $own), '40', 'temporary indexes have an image each');
each_temp('DROP TABLE t#');
is(ask($session, $own), '0', '... as long as they last');
is($session->{err}, '', 'no error');

# ---- counts of filters ----

my $ask = 'CREATE TABLE f# (t text COLLATE "C"); INSERT INTO f# SELECT md5(g::text) FROM
	generate_series(1, 600) g; '
  . "CREATE INDEX f#_t ON f# USING surfidx (t) WITH (filter = bloom); SET enable_seqscan = off;
	SELECT FROM f# WHERE t = 'none'";
my $filters = $full ? 5000 : 2 * $places;
$taken = shared('counters', 'taken');
each_of($filters, "$ask; DROP TABLE f#");
is(shared('counters', 'taken') - $taken, $filters,
	"filters of $filters indexes were counted");
is(shared('counters', 'used'), '0', '... as long as there was an index');
is(shared('counters', 'evicted'), '0', '... in nobody else\'s place');
each_of(2 * $places, $ask);
is($node->safe_psql('postgres', "SELECT filters_asked FROM surfidx_stats('f" . 2 * $places .
	"_t')"), '1', 'where too many are counted, the latest are');
cmp_ok(shared('counters', 'evicted'), '>', 0, '... in the place of others');
each_of(2 * $places, 'DROP TABLE f#');
is(shared('counters', 'used'), '0', 'nothing is left');

# ---- memory of one statement ----

my $parts = $full ? 2000 : 200;
$node->safe_psql('postgres', "CREATE TABLE p (k int, n int) PARTITION BY RANGE (k); CREATE TABLE
	noted (bytes bigint)");
each_of($parts, 'CREATE TABLE p# PARTITION OF p FOR VALUES FROM (#0) TO (#9); CREATE UNIQUE INDEX
	ON p# USING surfidx (k)');
$node->safe_psql('postgres', <<"END");
CREATE FUNCTION note() RETURNS int LANGUAGE sql VOLATILE AS \$\$
	INSERT INTO noted SELECT sum(total_bytes) FROM pg_backend_memory_contexts
	WHERE name = 'TopMemoryContext' RETURNING 1 \$\$;
INSERT INTO p SELECT i * 10 + 1 FROM generate_series(1, $parts) i;
INSERT INTO p SELECT i * 10 + 2, CASE WHEN i = $parts THEN note() END FROM generate_series(1,
	$parts) i;
END
my $bytes = $node->safe_psql('postgres', 'SELECT bytes FROM noted');
cmp_ok($bytes, '<', 10 * 1024 * 1024,
	"a statement that inserts into $parts partitions has readers for some: $bytes bytes");
my ($rc, $out, $err) = $node->psql('postgres', "INSERT INTO p SELECT i * 10 + 1 FROM
	generate_series($parts, 1, -1) i");
like($err, qr/duplicate key/, '... and finds what is there');

# ---- workers that nobody needs ----

$node->safe_psql('postgres', 'ALTER SYSTEM SET surfidx.auto_merge = on');
$node->safe_psql('postgres', "ALTER SYSTEM SET surfidx.delta_size = '64kB'");
$node->reload;
$node->safe_psql('postgres', 'CREATE TABLE w (k int, t text); CREATE UNIQUE INDEX w_k ON w USING
	surfidx (k); INSERT INTO w VALUES (1, 2)');
$node->poll_query_until('postgres', q(SELECT used = 0 FROM surfidx_shared_memory() WHERE name =
	'merge workers'));
my $starts = shared('merge workers', 'taken');
my $load = 'INSERT INTO w SELECT generate_series(10, 20000)';
$node->safe_psql('postgres', "BEGIN; TRUNCATE w; $load; COMMIT");
is(shared('merge workers', 'taken') - $starts, 0,
	'TRUNCATE and load in one transaction start no worker');
cmp_ok($node->safe_psql('postgres', "SELECT log_pages FROM surfidx_meta('w_k')"), '<', 40,
	'... but merge');
$node->safe_psql('postgres', "BEGIN; ALTER INDEX w_k SET (merge_ratio = 0.2); DELETE FROM w;
	INSERT INTO w SELECT generate_series(20001, 40000); COMMIT");
is(shared('merge workers', 'taken') - $starts, 0,
	'nor does a transaction that has locked the index');

# One that is not valid yet: its build waits for a transaction that has written to the table.
$node->safe_psql('postgres', 'TRUNCATE w; DROP INDEX w_k');
my $old = open_session($node);
ask($old, 'BEGIN; INSERT INTO w VALUES (-1);');
my $build = start_script($node, 'build', "CREATE UNIQUE INDEX CONCURRENTLY w_k ON w USING surfidx
	(k);\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE
	wait_event_type = 'Lock' AND query LIKE 'CREATE UNIQUE%'");
my $reader = open_session($node);
ask($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM w;');
ask($old, 'COMMIT;');
ok($node->poll_query_until('postgres', "SELECT coalesce(bool_or(indisready AND NOT indisvalid),
	false) FROM pg_index WHERE indexrelid = to_regclass('w_k')"),
	'an index is ready and not valid');
$starts = shared('merge workers', 'taken');
$node->safe_psql('postgres', $load);
ask($reader, 'COMMIT;');
ok($build->finish, 'it is built')
  or diag(slurp_file("${PostgreSQL::Test::Utils::tmp_check}/build.log"));
is(shared('merge workers', 'taken') - $starts, 0, 'nobody has started a worker for it');

# Locked by another session: once, and again when a second has gone.
$node->safe_psql('postgres', "SELECT surfidx_merge('w_k')");
$node->poll_query_until('postgres', q(SELECT used = 0 FROM surfidx_shared_memory() WHERE name =
	'merge workers'));
ask($old, 'BEGIN; ALTER INDEX w_k SET (merge_ratio = 0.3);');
$starts = shared('merge workers', 'taken');
my $began = time;
$node->safe_psql('postgres', "INSERT INTO w SELECT generate_series($_ * 10000 + 100001, $_ * 10000
	+ 110000)") for 1 .. 6;
my $vain = shared('merge workers', 'taken') - $starts;
cmp_ok($vain, '<=', 2 + int(time - $began),
	"an index that another session has locked: $vain workers");
ask($old, 'COMMIT;');
$node->safe_psql('postgres', "INSERT INTO w SELECT generate_series(500001, 510000)");
is($node->safe_psql('postgres', "SELECT surfidx_check('w_k', true, true)"), '', 'it is sound');

# Requests of a database end with it.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', "CREATE EXTENSION surfidx; $make; INSERT INTO g SELECT
	generate_series(3, 20000)");
$node->safe_psql('postgres', 'DROP DATABASE other');
ok($node->poll_query_until('postgres', q(SELECT used = 0 FROM surfidx_shared_memory() WHERE name =
	'merge workers')), 'no worker stays');
$node->stop;
done_testing();
