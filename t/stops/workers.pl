# Merges that are requested, and the workers that serve them: requests, workers, their places, and databases that share
# them (M12 to M14, M17), and how fast they go.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops qw(:DEFAULT sound);
use Test::More;

# A setting of the whole server, known to the control session.
sub set_system
{
	my ($name, $value) = @_;
	my $end = time + patience();

	sql("ALTER SYSTEM SET $name = '$value'");
	sql('SELECT pg_reload_conf()');
	settle(0.02) until time > $end
	  || sql("SELECT setting FROM pg_settings WHERE name = '$name'") eq $value;
	return;
}

# Tables with an index whose delta is due after 320 rows, of two hundred bytes each, and presses
# after 560.
sub small_deltas
{
	my ($n, $s) = @_;

	no_worker();
	sql("DO \$\$ BEGIN FOR i IN 1 .. $n LOOP EXECUTE format('CREATE TABLE u%s (k int, v text);
		CREATE INDEX u%s_k ON u%s USING surfidx (k) INCLUDE (v)
		WITH (delta_size = 64, merge_ratio = 10, run_ratio = 0)', i, i, i); END LOOP; END \$\$", $s);
	return;
}

sub fill_deltas
{
	my ($from, $to, $rows, $s) = @_;

	sql('SET surfidx.auto_merge = on', $s);
	sql("INSERT INTO u$_ SELECT g, repeat(md5(g::text), 6) FROM generate_series(1, $rows) g", $s)
		for $from .. $to;
	sql('RESET surfidx.auto_merge', $s);
	return;
}

sub unmerged
{
	return sql("SELECT count(*) FROM pg_class c, surfidx_meta(c.oid::regclass) WHERE relkind = 'i'
		AND relname ~ '^u\\d+_k\$' AND merges = 0", $_[0]);
}

sub all_merged
{
	my ($what, $s) = @_;
	my $end = time + patience();

	settle(0.05) until unmerged($s) == 0 || time > $end;
	is(unmerged($s), '0', $what);
	return;
}

sub drop_deltas
{
	my ($n) = @_;

	no_worker();
	sql("SELECT count(surfidx_check('u${_}_k'::regclass, true, true))") for 1 .. $n;
	sql("DROP TABLE u$_") for 1 .. $n;
	return;
}

# Workers that were started since the server was.
sub starts
{
	return sql(q(SELECT taken FROM surfidx_shared_memory() WHERE name = 'merge workers'));
}

# Those that stand in the table.
sub requests
{
	return sql(q(SELECT used FROM surfidx_shared_memory() WHERE name = 'merge requests'));
}

sub no_worker
{
	my $end = time + patience();

	settle(0.02) until time > $end || sql(q(SELECT used FROM surfidx_shared_memory()
		WHERE name = 'merge workers')) == 0;
	return;
}

# The one that merges nothing.
sub terminate_idle
{
	is(sql("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE backend_type LIKE
		'surfidx%' AND query NOT LIKE '%merging%'"), 't', 'a worker is ended');
	return;
}

scenario 'no worker is started that could do nothing (M9)', ['workers in vain'], sub {
	sql('DROP TABLE IF EXISTS g; CREATE TABLE g (k int); CREATE INDEX g_k ON g USING surfidx (k)
		WITH (delta_size = 64)');
	my $starts = q(SELECT taken FROM surfidx_shared_memory() WHERE name = 'merge workers');
	my $before = sql($starts);

	sql('SET surfidx.auto_merge = on; BEGIN; TRUNCATE g; INSERT INTO g SELECT generate_series(1,
		20000); COMMIT; RESET surfidx.auto_merge');
	is(sql($starts), $before, 'a table that is truncated and loaded');
	sql('DROP TABLE g');
};

scenario 'a request that comes while its index is being served', ['request while served is lost'], sub {
	build(0, 'CREATE INDEX t_k ON t USING surfidx (k) WITH (delta_size = 64, merge_ratio = 10, run_ratio = 0)');
	arm('request served', 'wait', 1);
	sql('SET surfidx.auto_merge = on; INSERT INTO t SELECT g FROM generate_series(1, 8000) g');
	wait_at('request served');
	my $merges = sql("SELECT merges FROM surfidx_meta('t_k')");
	# due again; inserters do not help yet
	sql('INSERT INTO t SELECT g FROM generate_series(8001, 16000) g; RESET surfidx.auto_merge');
	is(sql("SELECT merges FROM surfidx_meta('t_k')"), $merges, 'the worker has not seen them');
	release('request served');
	my $end = time + patience();
	settle(0.05) until sql("SELECT merges FROM surfidx_meta('t_k')") > $merges || time > $end;
	cmp_ok(sql("SELECT merges FROM surfidx_meta('t_k')"), '>', $merges, 'the worker comes back for it');
	sound('t_k');
};

scenario 'more requests than there are places for', ['missed requests are lost'], sub {
	set_system('surfidx.max_merge_workers', 1);
	small_deltas(80);
	# the worker has come for one, and stands still
	arm('request served', 'wait');
	fill_deltas(1, 1, 420);
	wait_at('request served');
	fill_deltas(2, 80, 420);
	is(unmerged(), '80', 'more deltas are due than there are places for requests');
	release('request served');
	all_merged('all are merged, though nobody asks again');
	drop_deltas(80);
	set_system('surfidx.max_merge_workers', 3);
};

scenario 'a run makes way for another index', ['runs before others'], sub {
	set_system('surfidx.max_merge_workers', 1);
	small_deltas(1);
	sql("DROP TABLE IF EXISTS wide; CREATE TABLE wide AS SELECT g::int8 * 1000 AS k,
		(SELECT string_agg(md5((g * 100 + i)::text), '') FROM generate_series(1, 30) i) AS v
		FROM generate_series(1, 6000) g;
		CREATE INDEX wide_k ON wide USING surfidx (k) INCLUDE (v) WITH (delta_size = 64,
		merge_ratio = 0.001, run_ratio = 1)");
	arm('run due', 'wait');
	sql("SET surfidx.auto_merge = on; INSERT INTO wide SELECT (g * 14::int8 + 1) * 1000 + 1,
		repeat(md5(g::text), 6) FROM generate_series(1, 420) g; RESET surfidx.auto_merge");
	wait_at('run due');
	arm('drop generation', 'wait');
	fill_deltas(1, 1, 420);
	release('run due');
	wait_at('drop generation');
	is(sql("SELECT count(*) FROM surfidx_runs('wide_k') WHERE merging"), '1',
		'the other index is merged while the run is');
	release('drop generation');
	my $end = time + patience();
	settle(0.05) until sql("SELECT count(*) FROM surfidx_runs('wide_k')") == 1 || time > $end;
	is(sql("SELECT count(*) FROM surfidx_runs('wide_k')"), '1', 'then the rest of the run');
	is(unmerged(), '0', 'both are done');
	sound('wide_k');
	sql('DROP TABLE wide');
	drop_deltas(1);
	set_system('surfidx.max_merge_workers', 3);
};

# ------------------------------------------------------------------------------------------ several workers (M14, M12)

scenario 'a delta that grows on gets a worker of its own', ['one worker for all'], sub {
	small_deltas(2);
	arm('request taken', 'wait');
	fill_deltas(1, 1, 420);
	wait_at('request taken');
	fill_deltas(2, 2, 580);
	my $end = time + patience();
	settle(0.05) until unmerged() == 1 || time > $end;
	is(unmerged(), '1', 'it is merged while the other worker stands still');
	release('request taken');
	all_merged('then the other one');
	drop_deltas(2);
};

scenario 'no more workers than there may be', ['workers without end'], sub {
	set_system('surfidx.max_merge_workers', 1);
	small_deltas(2);
	arm('request taken', 'wait');
	fill_deltas(1, 1, 420);
	wait_at('request taken');
	my $before = starts();
	fill_deltas(2, 2, 580);
	is(starts(), $before, 'no other is started');
	release('request taken');
	all_merged('one worker merges both');
	drop_deltas(2);
	set_system('surfidx.max_merge_workers', 3);
};

# Nobody ends before its time, and no place is handed on as long as there are too many.
scenario 'the setting allows fewer workers than there are',
  ['places outlive the setting', 'settings of its start'], sub {
	set_system('surfidx.max_merge_workers', 2);
	sql('CREATE DATABASE other');
	my $other = server()->session(db => 'other');
	sql('CREATE EXTENSION surfidx', $other);
	small_deltas(1, $other);
	small_deltas(2);
	arm('request taken', 'wait');
	fill_deltas(1, 1, 420);
	wait_at('request taken');
	arm('index served', 'wait');
	fill_deltas(2, 2, 580);
	wait_at('index served');
	fill_deltas(1, 1, 420, $other);
	my $before = starts();
	set_system('surfidx.max_merge_workers', 1);
	is(processes(), '2', 'there are two workers, and there may be one');
	release('request taken');
	my $end = time + patience();
	settle(0.05) until processes() < 2 || starts() > $before || time > $end;
	is(starts(), $before, 'the first one that ends hands its place to nobody');
	is(unmerged($other), '1', 'so another database waits on');
	release('index served');
	all_merged('the second one hands its own on', $other);
	is(starts(), $before + 1, 'to one worker');
	is(unmerged(), '0', 'nothing is left');
	one_database($other, 2);
};

scenario 'what is asked for while a worker is there is not taken by another', ['two at one index'], sub {
	small_deltas(2);
	arm('index served', 'wait');
	fill_deltas(1, 1, 340);
	wait_at('index served');
	# the worker will not look again
	fill_deltas(1, 1, 420);
	fill_deltas(2, 2, 580);
	all_merged('another one merges the other index');
	settle(0.05) until sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE
		'surfidx%'") == 1;
	release('index served');
	my $end = time + patience();
	my $merges = "SELECT merges FROM surfidx_meta('u1_k')";
	settle(0.05) until sql($merges) == 2 || time > $end;
	is(sql($merges), '2', 'the first one comes back for its own');
	drop_deltas(2);
};

# The note of what is missed is at the first worker, the index at the second.
scenario 'a look at all passes an index that another worker is at', ['passed by'], sub {
	set_system('surfidx.max_merge_workers', 2);
	small_deltas(80);
	arm('request taken', 'wait');
	fill_deltas(2, 2, 340);
	wait_at('request taken');
	arm('index served', 'wait');
	fill_deltas(1, 1, 580);
	wait_at('index served');
	my $merges = "SELECT merges FROM surfidx_meta('u1_k')";
	is(sql($merges), '1', 'the second worker is done, and will not look again');
	fill_deltas(3, 80, 340);
	fill_deltas(1, 1, 340);
	release('request taken');
	my $end = time + patience();
	settle(0.05) until time > $end || sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type
		LIKE 'surfidx%'") == 1;
	is(unmerged(), '0', 'the first one merges all the others');
	release('index served');
	settle(0.05) until sql($merges) == 2 || time > $end;
	is(sql($merges), '2', 'the second one comes back for its own');
	drop_deltas(80);
	set_system('surfidx.max_merge_workers', 3);
};

scenario 'a worker that ends with a request in hand', ['what the dead had taken is lost'], sub {
	# no third one that comes, finds nothing, and is idle for a moment, too
	set_system('surfidx.max_merge_workers', 2);
	small_deltas(2);
	arm('request taken', 'wait');
	# due with its last page, and asked for once
	fill_deltas(1, 1, 300);
	wait_at('request taken');
	is(requests(), '0', 'nobody has asked again since it was taken');
	arm('index served', 'wait');
	fill_deltas(2, 2, 580);
	wait_at('index served');
	terminate_idle();
	release('request taken');
	release('index served');
	all_merged('another one takes it');
	drop_deltas(2);
	set_system('surfidx.max_merge_workers', 3);
};

# The database has no other worker: the next request is for all.
scenario 'the only worker ends', ['orphans stay'], sub {
	set_system('surfidx.max_merge_workers', 1);
	small_deltas(3);
	arm('request taken', 'wait');
	fill_deltas(1, 3, 340);
	wait_at('request taken');
	terminate_idle();
	release('request taken');
	is(unmerged(), '3', 'nothing is merged');
	# (what is asked for in vain is not asked for again for a second)
	settle(1.1);
	fill_deltas(1, 1, 80);
	all_merged('all that waited is merged');
	drop_deltas(3);
	set_system('surfidx.max_merge_workers', 3);
};

# For some of these there was no place.
scenario 'the only worker ends, and more wait than there are places for',
  ['what is missed dies with its worker'], sub {
	set_system('surfidx.max_merge_workers', 1);
	small_deltas(80);
	arm('request served', 'wait');
	fill_deltas(1, 1, 420);
	wait_at('request served');
	fill_deltas(2, 80, 420);
	terminate_idle();
	release('request served');
	# (what is asked for in vain is not asked for again for a second)
	settle(1.1);
	fill_deltas(1, 1, 80);
	all_merged('all that waited is merged');
	drop_deltas(80);
	set_system('surfidx.max_merge_workers', 3);
};

scenario 'a request that comes when the worker has found nothing', ['leaves behind its look'], sub {
	small_deltas(2);
	arm('nothing left', 'wait');
	fill_deltas(1, 1, 340);
	wait_at('nothing left');
	fill_deltas(2, 2, 340);
	release('nothing left');
	all_merged('another worker comes');
	drop_deltas(2);
};

# One worker may run: it stands still with the first of our deltas; others of another database wait.
sub two_databases
{
	my ($n, $others) = @_;

	set_system('surfidx.max_merge_workers', 1);
	sql('CREATE DATABASE other');
	my $other = server()->session(db => 'other');
	sql('CREATE EXTENSION surfidx', $other);
	small_deltas($others, $other);
	small_deltas($n);
	arm('request taken', 'wait');
	fill_deltas(1, $n, 420);
	wait_at('request taken');
	my $before = starts();
	fill_deltas(1, $others, 420, $other);
	is(starts(), $before, 'there is one worker');
	return $other;
}

sub one_database
{
	my ($other, $n) = @_;

	no_worker();
	is(sql("SELECT surfidx_check('u1_k', true, true)", $other), '', 'check');
	$other->end;
	sql('DROP DATABASE other');
	drop_deltas($n);
	set_system('surfidx.max_merge_workers', 3);
	return;
}

scenario 'a database waits for a worker', ['databases in a row', 'places are kept'], sub {
	my $other = two_databases(12, 1);

	arm('index served', 'wait', 8);
	release('request taken');
	wait_at('index served');
	is(unmerged($other), '0', 'the worker hands its place on after eight indexes');
	is(unmerged(), '4', 'before the others of its database');
	release('index served');
	all_merged('and gets it back');
	one_database($other, 12);
};

for my $others (1, 80)
{
	scenario "a database waits for a worker, with $others requests, and more than there are places for",
	  ['missed requests are not handed on'], sub {
		my $other = two_databases(80, $others);

		release('request taken');
		all_merged('it gets one', $other);
		all_merged('and nothing is missed');
		one_database($other, 80);
	};
}

# ------------------------------------------------------------------------------------------ how fast they go

# Does a worker with that limit sleep while it merges u2, whose delta presses, beside so many others?
sub sleeps
{
	my ($limit, $others) = @_;
	my $end = time + patience();

	set_system('surfidx.merge_cost_limit', int($limit));
	sql('DROP TABLE IF EXISTS u2; CREATE TABLE u2 (k int, v text); CREATE INDEX u2_k ON u2
		USING surfidx (k) INCLUDE (v) WITH (delta_size = 64, merge_ratio = 10, run_ratio = 0)');
	sql('INSERT INTO u2 SELECT g, repeat(md5(g::text), 6) FROM generate_series(1, 530) g');
	arm('worker sleeps', 'wait');
	# one page more
	fill_deltas(2, 2, 50);
	my ($asleep, $gone) = (0, 0);
	until ($asleep || $gone || time > $end)
	{
		settle(0.02);
		$asleep = sql("SELECT stop_waiting('worker sleeps')");
		$gone = sql("SELECT merges FROM surfidx_meta('u2_k')") > 0 && processes() == $others;
	}
	release('worker sleeps');
	settle(0.02) until sql("SELECT merges FROM surfidx_meta('u2_k')") > 0 || time > $end;
	return $asleep;
}

scenario 'workers share merge_cost_limit', ['each worker pays for itself'], sub {
	my ($least, $most) = (1, 10000);

	linger_for(0);
	set_system('surfidx.merge_cost_delay', 1);
	small_deltas(1);
	# what this merge costs
	while ($most > $least * 1.1)
	{
		my $limit = sqrt($least * $most);

		no_worker();
		(sleeps($limit, 0) ? $least : $most) = $limit;
	}
	note("the merge costs $least");
	no_worker();
	is(sleeps(1.5 * $most, 0), '0', 'alone it does not sleep with one and a half times that');
	no_worker();
	arm('request taken', 'wait');
	fill_deltas(1, 1, 340);
	wait_at('request taken');
	is(sleeps(1.5 * $most, 1), '1', 'beside another worker it does');
	release('request taken');
	all_merged('both are merged');
	sql('ALTER SYSTEM RESET surfidx.merge_cost_limit');
	set_system('surfidx.merge_cost_delay', 0);
	linger_for(500);
	drop_deltas(2);
};

# ------------------------------------------------------------------------------------------ lingering workers (M17)

sub linger_for
{
	set_system('surfidx.merge_worker_idle', $_[0]);
	return;
}

# Until every worker waits for its next request, one at least.
sub all_linger
{
	my $end = time + patience();

	settle(0.02) until time > $end || sql("SELECT count(*) > 0 AND bool_and(state = 'idle')
		FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'") eq 't';
	return;
}

sub processes
{
	return sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'");
}

scenario 'a worker lingers, and serves who asks next', ['ends at once'], sub {
	linger_for('3600000');
	small_deltas(2);
	my $before = starts();
	fill_deltas(1, 1, 420);
	all_linger();
	is(sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%' AND
		(backend_xmin IS NOT NULL OR backend_xid IS NOT NULL OR xact_start IS NOT NULL)"), '0',
		'a lingering worker holds back nothing');
	fill_deltas(2, 2, 420);
	all_merged('then the other');
	is(starts() - $before, 1, 'by one worker');
	linger_for(0);
	no_worker();
	is(processes(), '0', 'which ends when the setting says so');
	linger_for(500);
	drop_deltas(2);
};

# A look at all serves as many indexes as there are, due or not.
scenario 'who has served many indexes does not linger', ['lingers for ever'], sub {
	linger_for('3600000');
	set_system('surfidx.max_merge_workers', 1);
	small_deltas(500);
	my $before = starts();
	arm('request served', 'wait');
	fill_deltas(1, 1, 420);
	wait_at('request served');
	fill_deltas(2, 80, 420);
	release('request served');
	no_worker();
	is(processes(), '0', 'it ends');
	is(starts() - $before, 1, 'and was one');
	is(unmerged(), '420', 'all that were due are merged');
	linger_for(500);
	drop_deltas(500);
	set_system('surfidx.max_merge_workers', 3);
};

scenario 'of a database one lingers at most', ['all linger'], sub {
	linger_for('3600000');
	small_deltas(2);
	arm('request taken', 'wait');
	fill_deltas(1, 1, 420);
	wait_at('request taken');
	fill_deltas(2, 2, 580);
	my $end = time + patience();
	settle(0.05) until unmerged() == 1 || time > $end;
	release('request taken');
	all_merged('both are merged');
	settle(0.05) until processes() == 1 || time > $end;
	is(processes(), '1', 'one of the workers stays');
	linger_for(500);
	drop_deltas(2);
};

scenario 'who lingers is not in the way of who wants the database', ['lingers in the way'], sub {
	linger_for('3600000');
	sql('CREATE DATABASE other');
	my $other = server()->session(db => 'other');
	sql('CREATE EXTENSION surfidx', $other);
	small_deltas(1, $other);
	for my $want ('CREATE DATABASE copy TEMPLATE other', 'DROP DATABASE other')
	{
		fill_deltas(1, 1, 420, $other);
		all_merged('merged', $other);
		all_linger();
		$other->end;
		is(error_of($want), '', $want);
		$other = server()->session(db => 'other') if $want =~ /CREATE/;
	}
	sql('DROP DATABASE copy');
	linger_for(500);
	no_worker();
};

scenario 'who lingers gives its place to another database', ['places of those who linger'], sub {
	linger_for('3600000');
	set_system('surfidx.max_merge_workers', 1);
	sql('CREATE DATABASE other');
	my $other = server()->session(db => 'other');
	sql('CREATE EXTENSION surfidx', $other);
	small_deltas(1);
	small_deltas(1, $other);
	fill_deltas(1, 1, 420, $other);
	all_merged('one database', $other);
	all_linger();
	fill_deltas(1, 1, 420);
	all_merged('the other one');
	linger_for(500);
	one_database($other, 1);
};

# Every page that they fill asks.
sub fill_until_merged
{
	my ($s) = @_;
	my $end = time + patience();

	until (unmerged($s) == 0 || time > $end)
	{
		fill_deltas(1, 1, 40, $s);
		settle(0.05);
	}
	is(unmerged($s), '0', 'it gets a worker when there is a process');
	return;
}

scenario 'a database waits, and no process is to be had', ['asks until there is a process'], sub {
	for my $idle (0, 3600000)
	{
		# one is the launcher's of logical replication
		sql('ALTER SYSTEM SET max_worker_processes = 2');
		restart('fast');
		linger_for($idle);
		sql('CREATE DATABASE other');
		my $other = server()->session(db => 'other');
		sql('CREATE EXTENSION surfidx', $other);
		small_deltas(1);
		small_deltas(1, $other);
		arm('request taken', 'wait');
		fill_deltas(1, 1, 420);
		wait_at('request taken');
		fill_deltas(1, 1, 420, $other);
		release('request taken');
		all_merged('the worker does its own');
		my $end = time + patience();
		settle(0.05) until processes() == 0 || time > $end;
		is(processes(), '0', 'and ends');
		fill_until_merged($other);
		linger_for(500);
		one_database($other, 1);
		sql('ALTER SYSTEM RESET max_worker_processes');
		restart('fast');
	}
};

run_scenarios();
