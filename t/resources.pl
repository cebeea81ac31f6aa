# What runs out: disk, worker slots, time, locks; and what thousands of failed statements leave behind in a session: nothing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SurfServer;
use Test::More;

my $server = SurfServer->new(name => 'resources', conf => [ 'autovacuum = off', 'surfidx.auto_merge = off', 'max_worker_processes = 0', 'max_locks_per_transaction = 10', 'max_connections = 10', 'max_parallel_workers = 0', 'wal_level = minimal', 'max_wal_senders = 0', 'min_wal_size = 32MB', 'wal_keep_size = 0' ]);
my $s;

sub sound
{
	my ($what, @indexes) = @_;
	my $wrong = '';

	for my $index (@indexes)
	{
		my $r = $s->query("SELECT surfidx_check('$index', true, true)");

		$wrong .= "$index: $r->{error} " if $r->{lost} || $r->{error};
	}
	is($wrong, '', "$what: check");
	return;
}

# ------------------------------------------------------------------------------------------ disk

# A limit for the size of files makes writes fail as a full disk does.  The index's entries are large and the table's rows small.
$server->{file_limit} = 20000;
$server->start;
$s = $server->session;
$s->value('CREATE EXTENSION surfidx; SELECT 1');
$s->value("CREATE TABLE d (k int); CREATE INDEX d_k ON d USING surfidx ((repeat(md5(k::text) || md5((k + 1)::text), 15))) WITH (delta_size = 65536, merge_ratio = 10); SELECT 1");
my ($inserted, $failed, $state) = (0, 0, '');
for my $n (1 .. 60)
{
	my $from = 500 * $n;
	my $r = $s->query("INSERT INTO d SELECT g FROM generate_series($from, $from + 499) g");

	$r->{error} ? $failed++ : $inserted++;
	$state = $r->{error} if $r->{error};
	last if $failed > 4;
}
cmp_ok($failed, '>', 3, "inserts fail when the disk is full, with $state");
cmp_ok($inserted, '>', 10, 'after some that did not');
is($s->value('SELECT count(*) FROM d'), 500 * $inserted, 'what was inserted is there');
sound('disk full', 'd_k');
for my $sql ("SELECT surfidx_merge('d_k')", 'VACUUM d', 'DELETE FROM d WHERE k % 3 = 0', 'VACUUM d', "SELECT surfidx_merge('d_k')", 'INSERT INTO d SELECT generate_series(1, 200)', 'REINDEX INDEX d_k')
{
	my $r = $s->query($sql);

	ok(!$r->{lost}, "$sql: " . ($r->{error} || 'done'));
	sound($sql, 'd_k');
}
$s->end;
$server->stop('immediate');
$server->{file_limit} = undef;
$server->start;
$s = $server->session;
sound('after a crash', 'd_k');
$s->value("INSERT INTO d SELECT generate_series(1, 10000); SELECT 1");
$s->value("SELECT surfidx_merge('d_k')");
sound('with room again', 'd_k');
is(join('', $server->crashes), '', 'no crash');

# ------------------------------------------------------------------------------------------ time

$s->value("CREATE TABLE e (k int, s text COLLATE \"C\", a int[]); SELECT 1");
$s->value("CREATE INDEX e_k ON e USING surfidx (k); CREATE INDEX e_s ON e USING surfidx (s); CREATE UNIQUE INDEX e_a ON e USING surfidx (a); SELECT 1");
my $next = 0;
sub more { $next += 1000; return "INSERT INTO e SELECT g, md5(g::text), ARRAY[g % 100, g] FROM generate_series($next - 999, $next) g" }

srand(42);
my %cancelled;
for my $round (1 .. 60)
{
	for my $sql (more(), "SELECT surfidx_merge('e_k')", "SELECT surfidx_merge('e_a')", 'DELETE FROM e WHERE k % 50 = ' . $round % 50, 'VACUUM (INDEX_CLEANUP ON) e',
		"SELECT surfidx_check('e_a', true)", 'SELECT count(*) FROM (SELECT a FROM e ORDER BY a OFFSET 0) x', 'REINDEX INDEX e_s')
	{
		# now and then all the time they need, or on a slow machine there would be nothing to do
		my $ms = $round % 4 ? 1 + int(rand(12)) : 0;
		my $r = $s->query("SET statement_timeout = $ms;\n$sql;\nRESET statement_timeout");

		$cancelled{ (split ' ', $sql)[0] }++ if $r->{error} eq '57014';
		ok(0, "$sql: $r->{error}") if $r->{lost} || ($r->{error} && $r->{error} !~ /57014/);
	}
}
note('cancelled: ' . join(', ', map { "$_ $cancelled{$_}" } sort keys %cancelled));
cmp_ok(scalar keys %cancelled, '>=', 3, 'statements of several kinds were cancelled');
sound('after timeouts', 'e_k', 'e_s', 'e_a');

# ------------------------------------------------------------------------------------------ locks

# More indexes in one transaction than the lock table has room for: whichever lock is the one too many, the statement fails and no more.
$s->value("CREATE TABLE l (k int, p int) PARTITION BY LIST (p); SELECT 1");
for my $n (0 .. 9) { $s->value(join('', map { "CREATE TABLE l$_ PARTITION OF l FOR VALUES IN ($_); CREATE UNIQUE INDEX l${_}_k ON l$_ USING surfidx (k);" } 60 * $n .. 60 * $n + 59) . ' SELECT 1') }
my %ended;
for my $n (map { 600 - 37 * $_ } 0 .. 15)
{
	my $r = $s->query("INSERT INTO l SELECT g * 1000 + $n, g % $n FROM generate_series(1, 600) g");

	$ended{ $r->{error} }++;
	$r = $s->query("BEGIN; SELECT count(*) FROM (SELECT surfidx_merge(i::regclass) FROM (SELECT format('l%s_k', g) i FROM generate_series(0, $n - 1) g) x OFFSET 0) y; ROLLBACK");
	$ended{ $r->{error} }++;
}
is(join(' ', sort keys %ended), ' 53200', 'statements that lock many indexes end well or are out of shared memory: ' . join(', ', map { ($_ || 'done') . " $ended{$_}" } sort keys %ended));
sound('after lack of locks', map { 'l' . 31 * $_ . '_k' } 0 .. 19);
is($s->value("SELECT count(*) FROM pg_locks WHERE locktype = 'object'"), 0, 'no lock is left');

# ------------------------------------------------------------------------------------------ leaks

$s->value("CREATE TABLE f (k int PRIMARY KEY, u int, j int, t text); CREATE UNIQUE INDEX f_u ON f USING surfidx (u); CREATE INDEX f_j ON f USING surfidx ((1000 / j)); CREATE INDEX f_t ON f USING surfidx (t COLLATE \"C\") WITH (hope = alm_improved); CREATE INDEX f_a ON f USING surfidx ((ARRAY[t, 'x'])); SELECT 1");
$s->value("INSERT INTO f SELECT g, g, g, 'path/' || g FROM generate_series(1, 500) g; SELECT surfidx_merge('f_t'), surfidx_merge('f_a')");
is($s->value("SELECT count(*) FROM surfidx_dictionaries('f_t')"), 1, 'a dictionary');

# Failing statements of each kind: in the unique check, in an expression, for a large key, with an open scan, also of coded keys and of arrays.
sub fail_often
{
	my ($n) = @_;

	return "DO \$\$ BEGIN FOR i IN 1 .. $n LOOP
		BEGIN INSERT INTO f VALUES (1000, 1 + i % 500, 1, 'x'); RAISE 'no error'; EXCEPTION WHEN unique_violation THEN END;
		BEGIN INSERT INTO f VALUES (1000, 1000, 0, 'x'); RAISE 'no error'; EXCEPTION WHEN division_by_zero THEN END;
		BEGIN INSERT INTO f SELECT 1000, 1000, 1, string_agg(md5(g::text), '') FROM generate_series(1, 200) g; RAISE 'no error'; EXCEPTION WHEN program_limit_exceeded THEN END;
		BEGIN PERFORM 1 / (k - 250) FROM f WHERE u > 0 ORDER BY u; RAISE 'no error'; EXCEPTION WHEN division_by_zero THEN END;
		BEGIN PERFORM 1 / (length(t) - 7) FROM f WHERE t COLLATE \"C\" > 'path/12' ORDER BY t COLLATE \"C\"; RAISE 'no error'; EXCEPTION WHEN division_by_zero THEN END;
		BEGIN PERFORM 1 / (k - 130) FROM f WHERE ARRAY[t, 'x'] > ARRAY['path/12'] ORDER BY ARRAY[t, 'x']; RAISE 'no error'; EXCEPTION WHEN division_by_zero THEN END;
	END LOOP; END \$\$";
}

my $memory = 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts';
$s->query('SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off');
is($s->query(fail_often(100))->{error}, '', 'statements fail as they should');
my $before = $s->value($memory);
for (1 .. 5) { is($s->query(fail_often(350))->{error}, '', 'and again') }
my $after = $s->value($memory);
cmp_ok($after, '<', $before + 300000, "10,500 failed statements: $before, then $after bytes");
# dictionaries that a failed scan had in use are given up, too: beyond 32 MB of those that nobody uses
my $once = fail_often(1);
$s->query("REINDEX INDEX f_t;\n$once") for 1 .. 120;
$after = $s->value($memory);
cmp_ok($after, '<', $before + 40000000, "120 dictionaries, each used by a scan that failed: $before, then $after bytes");
is($s->value("SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype IN ('object', 'relation') AND relation IS DISTINCT FROM 'pg_locks'::regclass AND locktype = 'object'"), 0, 'no lock is left');
# a pin on a gate page would keep VACUUM waiting
my $other = $server->session;
is($other->query('DELETE FROM f WHERE k > 400; VACUUM (INDEX_CLEANUP ON) f', 60)->{lost}, 0, 'VACUUM passes');
$other->end;
sound('at the end', 'f_u', 'f_j', 'f_t', 'f_a');
is(join('', $server->crashes), '', 'no crash');
$s->end;
$server->stop('immediate');
done_testing();
