# What a statement does for the index's sake and could do without, merging and removing dead
# entries, may fail at each of its steps: the statement goes on.  What is the user's own, a cancel,
# ends it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $next = 0;

sub sound
{
	my ($what) = @_;

	is(eval { sql("SELECT surfidx_check('t_k', true, true)") } // $@, '', "$what: check");
	return;
}

# So many rows, of keys that fall everywhere.
sub rows
{
	my ($n) = @_;

	$next += $n;
	return "INSERT INTO t SELECT hashint4(g) FROM generate_series($next - $n + 1, $next) g";
}

# No worker can start, and a delta of 64 kB is due: inserters merge.
sub prepare
{
	$next = 0;
	build(0, 'CREATE INDEX t_k ON t USING surfidx (k) WITH (delta_size = 64)');
	sql(rows(20000));
	return;
}

my @points = (
	'merge lock', 'frozen', 'swap', 'unlinked', 'group swapped', 'group merged',
	'drop generation', 'generation dropped', 'generations merged');

for my $point (@points)
{
	scenario "an inserter whose helping merge fails at \"$point\"", [], sub {
		prepare();
		for my $skip (0, 1)
		{
			arm($point, 'error', $skip);
			my $s = start(rows(30000));
			is(finish($s), '', "rows are inserted, $skip");
			is(error_of("SELECT surfidx_merge('t_k')"), '22000', 'where an explicit merge fails');
			release($point);
			sound($skip);
		}
		is(sql('BEGIN; SET LOCAL enable_seqscan = off;
			SELECT count(*) FROM t WHERE k < 0 OR k >= 0; COMMIT'), $next, 'every row');
		sql("SELECT surfidx_merge('t_k')");
		is(sql("SELECT generations FROM surfidx_meta('t_k')"), '1', 'and the merge goes on later');
		sound('later');
	};
}

scenario 'an inserter who is cancelled while his merge goes on', [], sub {
	prepare();
	my $s = session();
	arm('group merged', 'wait');
	start(rows(30000), $s);
	wait_at('group merged');
	sql("SELECT pg_cancel_backend($s->{backend})");
	is(finish($s), 'error 57014', 'that ends the statement');
	release('group merged');
	sound('cancel');
};

scenario 'a reader, and a unique check, that fail to remove dead entries', [], sub {
	build(0, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	sql('INSERT INTO t SELECT g FROM generate_series(1, 3000) g; SELECT surfidx_merge(\'t_k\')');
	sql('DELETE FROM t WHERE k BETWEEN 1 AND 1500');
	arm('leaf to be cleaned', 'error');
	my $scan = 'SELECT count(s) FROM t WHERE k < 1600';
	is(error_of("SET enable_seqscan = off; SET enable_bitmapscan = off;
		SET enable_indexonlyscan = off; $scan; $scan; RESET ALL"), '', 'a scan goes on');
	is(error_of('INSERT INTO t SELECT g FROM generate_series(1, 1500) g'), '',
		'rows of the same keys are inserted');
	release('leaf to be cleaned');
	is(error_of('INSERT INTO t VALUES (100)'), '23505', 'and are there');
	is(sql('SELECT count(*) FROM t'), 3000, 'every row');
	sound('cleaning');

	# what a unique check finds is removed, too
	sql('SELECT surfidx_merge(\'t_k\'); DELETE FROM t WHERE k BETWEEN 1 AND 1500');
	arm('leaf to be cleaned', 'wait');
	my $check = start('INSERT INTO t SELECT g FROM generate_series(1, 1500) g');
	ok(come_by('leaf to be cleaned', $check), 'a unique check cleans a leaf');
	release('leaf to be cleaned');
	is(finish($check), '', 'and its statement ends');
	sound('cleaning');
};

# The setting's presence says that the library is there.
my $citus = 'SET citus.node_conninfo = $$x$$';

scenario 'M11: an inserter below Citus', ['attempts are told'], sub {
	prepare();
	my $merges = "SELECT merges FROM surfidx_meta('t_k')";
	my $before = sql($merges);
	sql("$citus; " . rows(30000));
	is(sql($merges), $before, 'no merge of what a worker may serve');
	sql("SET application_name = 'citus_internal gpid=1'; " . rows(3000));
	cmp_ok(sql($merges), '>', $before, 'but where Citus has connected');
	sql("RESET application_name");
	sound('inserter');

	sql('BEGIN; CREATE TABLE own (k int); CREATE INDEX own_k ON own USING surfidx (k)
		WITH (delta_size = 64)');
	my $own = 'INSERT INTO own SELECT hashint4(g) FROM generate_series(1, 50000) g';
	sql($own);
	is(sql("SELECT merges > 0 FROM surfidx_meta('own_k')"), 't', 'of what no worker can see');
	arm('merge lock', 'error');
	is(error_of($own), '22000', '... without a subtransaction');
	sql('ROLLBACK');
	release('merge lock');
	sql('RESET citus.node_conninfo');
};

scenario 'M11: a reader below Citus', ['attempts are told'], sub {
	build(0, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	sql('INSERT INTO t SELECT g FROM generate_series(1, 3000) g; SELECT surfidx_merge(\'t_k\')');
	sql('DELETE FROM t WHERE k BETWEEN 1 AND 500');
	my $scan = 'SELECT count(t.*) FROM t WHERE k < 600';
	# (not one after the other: since 18 RESET leaves the setting in a session, empty)
	my ($below, $elsewhere) = (session(), session());
	sql('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off', $_)
	  for $below, $elsewhere;
	sql($citus, $below);
	arm('leaf to be cleaned', 'wait');
	start($scan, $below);
	ok(!come_by('leaf to be cleaned', $below), 'dead entries stay');
	is(finish($below), '99', 'the answer');
	start($scan, $elsewhere);
	ok(come_by('leaf to be cleaned', $elsewhere), 'but elsewhere they go');
	release('leaf to be cleaned');
	is(finish($elsewhere), '99', 'with the same answer');
	sound('reader');
};

run_scenarios(
	conf => [ 'surfidx.auto_merge = on', 'max_worker_processes = 0', 'max_parallel_workers = 0' ]);
