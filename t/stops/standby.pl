# A standby at stop points: gates and groups in redo, restarts and promotions in the middle of a merge or a VACUUM.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfServer;
use SurfSession;
use SurfStops;
use Test::More;
use Time::HiRes qw(sleep time);

my $index_scans = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off';
my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';
my $number = 0;
my ($standby, $watch);

# Session for control on the standby.
sub watch
{
	$watch = $standby->session if !$watch || $watch->{dead};
	return $watch;
}

sub stand_by
{
	my ($primary, @conf) = @_;

	$number++;
	$standby = SurfServer->new(name => "standby$number", base => server()->{base}, primary => $primary || server(), conf => [ 'hot_standby = on',
			'max_standby_streaming_delay = -1', "primary_conninfo = 'host=" . server()->{base} . ' port=' . ($primary || server())->{port} . " user=postgres'", @conf ]);
	$standby->start;
	$watch = undef;
	return;
}

# Has the standby replayed what the primary has written?  Not waiting for it: whether it has.
sub caught_up
{
	my $lsn = sql('SELECT pg_current_wal_insert_lsn()');

	return sql("SELECT pg_last_wal_replay_lsn() >= '$lsn'", watch()) eq 't';
}

sub catch_up
{
	my ($s) = @_;
	my $lsn = sql('SELECT pg_current_wal_flush_lsn() FROM (SELECT pg_switch_wal()) x');
	my $end = time + patience();

	until (sql("SELECT pg_last_wal_replay_lsn() >= '$lsn'", $s || watch()) eq 't')
	{
		die "the standby does not follow\n" if time > $end;
		sleep 0.02;
	}
	return;
}

sub sound
{
	my ($s, $what) = @_;
	my @wrong;
	my $want = sql('BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; SELECT count(*), sum(k) FROM t; COMMIT', $s);

	for my $index ('t_k', 't_s')
	{
		my $e = eval { sql("SELECT surfidx_check('$index', true, true)", $s) } // $@;
		push @wrong, $e if $e;
	}
	for my $where ('k > 0', "s > ''")
	{
		my $got = eval { sql("BEGIN; SET LOCAL enable_seqscan = off; SELECT count(*), sum(k) FROM t WHERE $where; COMMIT", $s) } // $@;
		push @wrong, "$where: $got instead of $want" if $got ne $want;
	}
	is(join('; ', @wrong), '', $what);
	return;
}

sub gone
{
	$watch->end if $watch;
	$watch = undef;
	$standby->stop('immediate');
	return;
}

my $tables = 'DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text COLLATE "C") WITH (autovacuum_enabled = off);
	CREATE INDEX t_k ON t USING surfidx (k); CREATE INDEX t_s ON t USING surfidx (s)';

sub rows
{
	my ($from, $to) = @_;

	return "INSERT INTO t SELECT g, repeat(md5(g::text), 8) FROM generate_series($from, $to) g";
}

scenario 'redo waits for an index-only cursor on the standby', ['no gate in redo'], sub {
	sql("$tables; " . rows(1, 2000) . "; SELECT surfidx_merge('t_k')");
	sql($vacuum);
	stand_by();
	sql('DELETE FROM t WHERE k = 1500');
	catch_up();
	my $cursor = session($standby);
	is(sql("$index_scans; BEGIN; DECLARE c CURSOR FOR SELECT k FROM t ORDER BY k; FETCH 1 FROM c", $cursor), '1', 'the cursor stands, and does not see the deleted row');
	sql($vacuum);
	settle(1);
	ok(!caught_up(), 'redo waits');
	my @rows = split /,/, sql('FETCH 1999 FROM c', $cursor);
	is(scalar(@rows), 1998, 'every live row, and no deleted one');
	sql('COMMIT', $cursor);
	catch_up();
	sound(watch(), 'standby');
	gone();
};

scenario 'redo of a merge waits for whoever may still see the rows of dead entries', ['no conflict in redo'], sub {
	sql("$tables; " . rows(1, 2000) . "; SELECT surfidx_merge('t_k')");
	sql($vacuum);
	sql(rows(3001, 3010));
	stand_by();
	catch_up();
	my $old = session($standby);
	is(sql("$index_scans; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t WHERE k > 3000", $old), 10, 'rows that the standby sees');
	sql('DELETE FROM t WHERE k > 3000');
	# (the page is not full, so that nobody prunes it: that replay would wait for, too)
	is(sql("$index_scans; SET enable_indexonlyscan = off; SELECT count(s) FROM t WHERE k > 3000; SELECT count(s) FROM t WHERE k > 3000"), '0,0', 'found dead, and out of the image');
	sql("RESET ALL; SELECT surfidx_merge('t_k')");
	settle(1);
	ok(!caught_up(), 'redo waits');
	is(sql('SELECT count(*) FROM t WHERE k > 3000', $old), 10, 'and they are still there');
	sql('COMMIT', $old);
	catch_up();
	sound(watch(), 'standby');
	gone();
};

# Of keys that new ones begin with, rows are asked for; all of these are dead.
scenario 'redo of a merge waits for whoever may still see the rows of cut keys',
	['cut keys go without a horizon'], sub {
	sql('DROP TABLE IF EXISTS c; CREATE TABLE c (k int8, v int) WITH (autovacuum_enabled = off);
		INSERT INTO c SELECT g * 1000003::int8, g FROM generate_series(1, 2000) g;
		CREATE INDEX c_k ON c USING surfidx (k) WITH (keys = cut)');
	stand_by();
	catch_up();
	my $old = session($standby);
	my $count = 'SELECT count(*) FROM c WHERE k > 1990006000';
	is(sql("$index_scans; BEGIN ISOLATION LEVEL REPEATABLE READ; $count", $old),
		10, 'rows that the standby sees');
	sql('DELETE FROM c WHERE v > 1990');
	sql('INSERT INTO c SELECT g * 1000003::int8 - 1, -g FROM generate_series(1991, 2000) g');
	sql("SELECT surfidx_merge('c_k')");
	settle(1);
	ok(!caught_up(), 'redo waits');
	is(sql($count, $old), 10, 'and they are still there');
	sql('COMMIT', $old);
	catch_up();
	is(error_of("SELECT surfidx_check('c_k', true, true)", watch()), '', 'the standby is sound');
	gone();
	sql('DROP TABLE c');
};

scenario 'a group is redone under all its locks', ['redo page by page'], sub {
	sql("$tables; " . rows(1, 3000) . "; SELECT surfidx_merge('t_k'), surfidx_merge('t_s')");
	stand_by();
	catch_up();
	functions(session());
	my $s = session($standby);
	sql("$index_scans; SELECT count(*) FROM t WHERE s > ''", $s);
	for my $skip (1, 2, 3, 5)
	{
		my $from = 10000 * $skip;

		catch_up();
		arm('page of group redone', 'wait', $skip, watch());
		sql(rows($from, $from + 400) . "; SELECT surfidx_merge('t_s')");
		wait_at('page of group redone', watch());
		my $want = sql('BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; SELECT count(*) FROM t; COMMIT', watch());
		start("SELECT count(*) FROM t WHERE s > ''", $s);
		settle(0.3);
		release('page of group redone', watch());
		is(finish($s), $want, "a scan beside redo, $skip pages into a group");
	}
	catch_up();
	sound(watch(), 'standby');
	gone();
};

scenario 'a copy of the root on a standby whose links lead beyond the end of the file', ['old copies of roots,memories outlive files'], sub {
	sql("$tables; " . rows(1, 6000) . "; SELECT surfidx_merge('t_s')");
	stand_by();
	catch_up();
	my $s = session($standby);
	my @sought = split /,/, sql('SELECT s FROM t WHERE k % 200 = 1 ORDER BY s');
	my $find = sub { eval { sql("$index_scans; " . join('; ', map { "SELECT count(*) FROM t WHERE s = '$_'" } @sought), $s) } // $@ };
	for (1 .. 9) { is($find->(), join(',', map { 1 } @sought), 'every one found') }
	my $blocks = sql("SELECT pg_relation_size('t_s') / 8192", watch());
	sql('DELETE FROM t WHERE k % 200 <> 1');
	sql($vacuum) for 1 .. 2;
	catch_up();
	cmp_ok(sql("SELECT pg_relation_size('t_s') / 8192", watch()), '<', $blocks / 2, 'the file was cut off');
	is($find->(), join(',', map { 1 } @sought), 'and again');
	sound(watch(), 'standby');
	gone();
};

scenario 'a database that is made again with the same OID (N3)', ['databases are their OIDs'], sub {
	my $in = sub { SurfSession->new(server => $_[0], db => $_[1]) };
	sql('DROP DATABASE IF EXISTS pattern');
	sql('CREATE DATABASE pattern');
	my $s = $in->(server(), 'pattern');
	sql('CREATE EXTENSION surfidx; CREATE TABLE d (k int8);
		CREATE INDEX d_k ON d USING surfidx (k); INSERT INTO d SELECT generate_series(1, 100)', $s);
	$s->end;
	stand_by();
	for my $round (1 .. 4)
	{
		my $strategy = $round % 2 ? 'wal_log' : 'file_copy';
		my ($from, $to) = (1000 * $round, 1000 * $round + 400 * $round);

		sql("CREATE DATABASE again OID 90000 TEMPLATE pattern STRATEGY $strategy");
		$s = $in->(server(), 'again');
		sql("INSERT INTO d SELECT generate_series($from, $to)", $s);
		catch_up();
		my $t = $in->($standby, 'again');
		for ([ $s, 'primary' ], [ $t, 'standby' ])
		{
			my ($session, $where) = @$_;
			sql($index_scans, $session);
			my $got = eval { sql('SELECT count(*), min(k), max(k) FROM d WHERE k > 100',
				$session) };
			is($got // $@, $to - $from + 1 . "|$from|$to", "round $round: $where");
		}
		$_->end for $s, $t;
		sql('DROP DATABASE again');
	}
	sql('DROP DATABASE pattern');
	catch_up();
	gone();
};

scenario "a standby reads while VACUUM, which has cut off an index, is busy with the next one (G3)",
	['standbys keep the lock'], sub {
	# the larger one is the first in turn
	sql("$tables; " . rows(1, 6000) . "; DROP INDEX t_k; CREATE INDEX t_k ON t USING surfidx (k);
		SELECT surfidx_merge('t_s')");
	stand_by();
	catch_up();
	my $s = session($standby);
	my $blocks = sql("SELECT pg_relation_size('t_s') / 8192", watch());
	sql('DELETE FROM t WHERE k % 200 <> 1');
	my $v = session();
	arm('vacuum cleanup', 'wait', 1);
	start($vacuum, $v);
	wait_at('vacuum cleanup');
	is(sql("SELECT phase FROM pg_stat_progress_vacuum"), 'cleaning up indexes',
		'VACUUM still tells how far it is');
	catch_up();
	cmp_ok(sql("SELECT pg_relation_size('t_s') / 8192", watch()), '<', $blocks / 2,
		'the first index was cut off');
	is(sql("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock'", watch()), '0',
		'nothing is locked');
	is(sql("$index_scans; SET lock_timeout = '5s'; SELECT count(*) FROM t WHERE k = 201", $s),
		'1', 'lookups go on');
	release('vacuum cleanup');
	is(finish($v), '', 'VACUUM ends well');
	catch_up();
	sound(watch(), 'standby');
	gone();
};

scenario 'plans on a standby while the primary inserts and merges (E6)', ['metapages change unseen'], sub {
	sql("$tables; " . rows(1, 10000) . "; SELECT surfidx_merge('t_k')");
	sql('VACUUM ANALYZE t');
	stand_by();
	catch_up();
	my $s = session($standby);
	my $off = sub {
		my ($n) = @_;

		return sql('EXPLAIN SELECT FROM t WHERE k > 9000', $s) =~ /rows=(\d+)/ ? abs($1 / $n - 1) : 'no plan';
	};
	sql("SET surfidx.range_estimates = on; DO \$\$ BEGIN FOR i IN 1..60 LOOP EXECUTE 'EXPLAIN SELECT FROM t WHERE k > ' || 9000 + i; END LOOP; END \$\$", $s);
	cmp_ok($off->(1000), '<', 0.02, 'few rows');
	for (1 .. 2)
	{
		# the metapage in full, and as a change
		sql('CHECKPOINT') if $_ == 1;
		sql(rows($_ * 10000 + 1, $_ * 10000 + 10000) . "; SELECT surfidx_merge('t_k')");
		catch_up();
		cmp_ok($off->(1000 + $_ * 10000), '<', 0.02, 'what has come');
	}
	gone();
};

scenario 'a standby that is restarted in the middle of a merge', [], sub {
	sql("$tables; " . rows(1, 2000) . "; SELECT surfidx_merge('t_k'), surfidx_merge('t_s')");
	stand_by();
	for my $round (1 .. 3)
	{
		arm('group merged', 'wait', $round);
		my $m = start(rows(1000 * $round + 5000, 1000 * $round + 5900) . "; SELECT surfidx_merge('t_s')");
		come_by('group merged', $m);
		catch_up();
		sound(watch(), "round $round: in the middle");
		$watch->end;
		$standby->stop($round == 2 ? 'fast' : 'immediate');
		release('group merged');
		like(finish($m), qr/^\d+$/, 'the merge ends');
		sql('DELETE FROM t WHERE k % 7 = ' . $round);
		sql($vacuum);
		$standby->start;
		$watch = undef;
		catch_up();
		sound(watch(), "round $round: restarted");
	}
	gone();
};

# Promoted with the merge (the VACUUM) half-way: then it starts over there.
for my $point ('frozen', 'group merged', 'drop generation', 'log flagged', 'stage vacuumed', 'gate flipped', 'parent split')
{
	scenario "a standby that is promoted at \"$point\"", [], sub {
		sql("$tables; " . rows(1, 3000) . "; SELECT surfidx_merge('t_k'), surfidx_merge('t_s')");
		stand_by();
		sql(rows(5001, 6000) . '; DELETE FROM t WHERE k % 5 = 1');
		arm($point, 'wait', $point eq 'group merged' ? 1 : 0);
		my $m = start($point =~ /flagged|vacuumed|flipped/ ? $vacuum : "SELECT surfidx_merge('t_k'), surfidx_merge('t_s')");
		come_by($point, $m);
		catch_up();
		$standby->command('pg_ctl', '-D', $standby->{data}, '-w', 'promote');
		my $s = session($standby);
		sound($s, 'promoted');
		is(error_of(rows(8001, 9000) . '; DELETE FROM t WHERE k % 5 = 2', $s), '', 'written to');
		is(error_of($vacuum, $s), '', 'VACUUM');
		is(error_of("SELECT surfidx_merge('t_k'), surfidx_merge('t_s')", $s), '', 'merge');
		sound($s, 'and sound');
		release($point);
		unlike(finish($m), qr/error|lost/, 'the old primary goes on');
		gone();
	};
}

run_scenarios(conf => [ "wal_consistency_checking = 'all'", 'wal_keep_size = 1GB' ]);
