# A reader or appender is outrun by others again and again: every bounded number of tries runs out,
# and what follows is progress, or on a standby an error that says what happened; never the claim
# that the index is damaged (T4, D6, H3).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfServer;
use SurfStops;
use Test::More;
use Time::HiRes qw(sleep time);

my $row_scans = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
	SET enable_indexonlyscan = off';
my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';

sub sound
{
	my ($index, $on) = @_;

	is(eval { sql("SELECT surfidx_check('$index', true, true)", $on) } // $@, '', 'check');
	return;
}

# As come_by, on any server.
sub comes_by
{
	my ($point, $s, $on) = @_;
	my $end = time + patience();

	while (time < $end)
	{
		my $bits = '';

		return 1 if sql("SELECT stop_waiting('$point')", $on) > 0;
		vec($bits, fileno($s->{out}), 1) = 1;
		return 0 if length $s->{buffer} || select($bits, undef, undef, 0.002) > 0;
	}
	die "neither at \"$point\" nor done\n";
}

# Each time that the session comes by the point something happens, and the next try begins.  How
# often it came before it had its answer or there was enough.
sub outrun
{
	my ($point, $s, $happens, $enough, $on) = @_;
	my $n = 0;

	while (comes_by($point, $s, $on))
	{
		last if $enough->(++$n);
		$happens->($n);
		arm($point, 'wait', 0, $on);
	}
	return $n;
}

# Does that session hold the merge lock?
sub has_merge_lock
{
	my ($s) = @_;

	return sql("SELECT count(*) FROM pg_locks WHERE pid = $s->{backend} AND locktype = 'object'
		AND objsubid = 1 AND granted") > 0;
}

# ---------------------------------------------------------------------------- inserters (D6)

# Not a race: the tail that a session knows is of long ago.
scenario 'a session that inserts one row before and after a bulk load', [], sub {
	my $text = "(SELECT string_agg(md5((g * 10000 + h)::text), '') FROM generate_series(1, 30) g)";
	my $rows = sub { "INSERT INTO t SELECT h, $text FROM generate_series($_[0], $_[1]) h" };

	build(0, 'CREATE INDEX t_k ON t USING surfidx (s)');
	my $s = session();
	sql($rows->(1, 1), $s);
	# eight entries fill a page
	sql($rows->(2, 9000));
	cmp_ok(sql("SELECT log_pages FROM surfidx_meta('t_k')"), '>', 1001, 'a thousand pages of log');
	is(error_of($rows->(9001, 9001), $s), '', 'the row is inserted');
	is(sql("$row_scans; SELECT count(*) FROM t WHERE s > ''", session()), 9001, 'every row');
	sound('t_k');
};

my %outruns = (
	'fill the page' =>
	  sub { sql("INSERT INTO t SELECT g, repeat('x', 2600) || g FROM generate_series(1, 7) g") },
	'freeze and merge the log' =>
	  sub { sql("INSERT INTO t SELECT 1000, 'x'; SELECT surfidx_merge('t_k')") });

for my $what (sort keys %outruns)
{
	scenario "an inserter beside others who $what whenever he comes", [], sub {
		build(0, 'CREATE INDEX t_k ON t USING surfidx (s)');
		sql('ALTER TABLE t ALTER s SET STORAGE EXTERNAL');
		my $s = session();
		sql("INSERT INTO t VALUES (1, 'a')", $s);
		arm('append', 'wait');
		start("INSERT INTO t VALUES (2, repeat('b', 2600))", $s);
		my $n = outrun('append', $s, $outruns{$what}, sub { $_[0] == 40 });
		release('append');
		is(finish($s), '', 'the row is inserted');
		is($n, 10, 'after ten tries');
		is(sql("$row_scans; SELECT count(*) FROM t WHERE s < 'c'", session()), 2, 'and found');
		sound('t_k');
	};
}

# ---------------------------------------------------------------------------- readers (T4)

# What the reader has found in the metapage is gone when it gets there, and its page is reused.
sub next_generation
{
	return sql("SELECT surfidx_merge('t_k'); INSERT INTO t VALUES (1000 + $_[0])");
}

scenario 'a reader whose generations vanish whenever he looks', [], sub {
	build(0, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql('INSERT INTO t VALUES (1)');
	my $s = session();
	sql($row_scans, $s);
	arm('metapage read', 'wait');
	start('SELECT count(*) FROM t WHERE k < 1000', $s);
	my $enough = sub { $_[0] == 60 || has_merge_lock($s) };
	my $n = outrun('metapage read', $s, \&next_generation, $enough);
	ok(has_merge_lock($s), "after $n tries it holds the merge lock");
	my $merge = start("SELECT surfidx_merge('t_k')");
	ok(wait_blocked($merge), 'and merges wait');
	release('metapage read');
	is(finish($s), '1', 'its row');
	is(finish($merge), '1', 'the merge goes on');
	sound('t_k');
};

# Keys come and go around one that stays, until the leaf that it was in is free, or one of greater
# keys.  Nobody has seen them, so that VACUUM takes them away although there is a reader.
my $full;

sub come_and_go
{
	my ($below, $above) = @_;
	my $key = 'md5(g::text) || md5((-g)::text)';

	sql($full ? $vacuum : "BEGIN; INSERT INTO t SELECT g, $key FROM generate_series(1, $below) g;
		INSERT INTO t SELECT g, 'z' || $key FROM generate_series(1, $above) g;
		SELECT surfidx_merge('t_k'); ROLLBACK");
	$full = !$full;
	return;
}

sub move_key
{
	my ($n) = @_;
	my $leaves = "SELECT b, low FROM generate_series(3, pg_relation_size('t_k') / 8192 - 1) b,
		surfidx_page_stats('t_k', b) WHERE kind = 'leaf' AND NOT free OFFSET 0";
	my $find = "SELECT b, low FROM ($leaves) x
		WHERE EXISTS (SELECT FROM surfidx_page_items('t_k', b) WHERE data LIKE '%last%')";
	my ($from) = split /\|/, sql($find);

	for my $i (1 .. 20)
	{
		come_and_go(($n * 17 + $i) * 7919 % 3000, ($n * 5 + $i) * 5167 % 3000);
		# (a leaf that others stay in would stay)
		return if sql("SELECT (p.kind <> 'leaf' OR p.free OR p.low > y.low) AND y.low > '\\x0130'
			FROM surfidx_page_stats('t_k', $from) p, ($find) y") eq 't';
	}
	die "round $n: the key stays in block $from\n";
}

scenario 'a reader whose leaf goes whenever he is on the way to it', [], sub {
	build(0, 'ALTER TABLE t SET (vacuum_truncate = off);
		CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = off)');
	# others on both sides, which stay as well
	sql("INSERT INTO t SELECT 0, x || md5(g::text) || md5((-g)::text)
		FROM generate_series(1, 2000) g, unnest(ARRAY['#', '~']) x;
		INSERT INTO t VALUES (0, 'last')");
	$full = 0;
	come_and_go(1500, 0);
	# a session that uses the index keeps the file from being truncated
	my $holder = session();
	sql("$row_scans; BEGIN; SELECT count(*) FROM t WHERE s = 'last'", $holder);
	my $s = session();
	sql($row_scans, $s);
	arm('leaf chosen', 'wait');
	start("SELECT count(*) FROM t WHERE s = 'last'", $s);
	my $n = outrun('leaf chosen', $s, \&move_key, sub { $_[0] == 60 || has_merge_lock($s) });
	ok(has_merge_lock($s), "after $n tries it holds the merge lock");
	release('leaf chosen');
	is(finish($s), '1', 'its row');
	sql('COMMIT', $holder);
	sound('t_k');
};

# ---------------------------------------------------------------------------- standbys (T4)

my $number = 0;

# A standby that has replayed all, and a session for control there.
sub stand_by
{
	my $primary = 'host=' . server()->{base} . ' port=' . server()->{port} . ' user=postgres';
	my $standby = SurfServer->new(
		name => 'standby' . ++$number,
		base => server()->{base},
		primary => server(),
		conf => [
			'hot_standby = on', 'max_standby_streaming_delay = -1',
			"primary_conninfo = '$primary'"
		]);

	$standby->start;
	my $watch = session($standby);
	follow($watch);
	return ($standby, $watch);
}

sub follow
{
	my ($watch) = @_;
	# (a commit flushes what VACUUM and rollbacks have left)
	sql("SELECT pg_logical_emit_message(true, 'outrun', '')");
	my $lsn = sql('SELECT pg_current_wal_flush_lsn()');
	my $end = time + patience();

	until (sql("SELECT pg_last_wal_replay_lsn() >= '$lsn'", $watch) eq 't')
	{
		die "the standby does not follow\n" if time > $end;
		sleep 0.002;
	}
	return;
}

sub gone
{
	my ($standby, $watch) = @_;

	$watch->end;
	$standby->stop('immediate');
	return;
}

# Replay stops for nobody: there is no lock that a reader could take.
scenario 'a reader on a standby whose generations vanish whenever he looks', [], sub {
	build(0, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql('INSERT INTO t VALUES (1)');
	my ($standby, $watch) = stand_by();
	my $query = 'SELECT count(*) FROM t WHERE k < 1000';
	my $happens = sub { next_generation(@_); follow($watch) };

	for my $rounds (90, 1000)
	{
		my $s = session($standby);
		sql($row_scans, $s);
		arm('metapage read', 'wait', 0, $watch);
		start($query, $s);
		my $n = outrun('metapage read', $s, $happens, sub { $_[0] == $rounds }, $watch);
		release('metapage read', $watch);
		is(finish($s), $rounds == 90 ? '1' : 'error 40001', "tries that failed: $n");
		cmp_ok($n, '<', 200, 'there is an end of trying') if $rounds > 90;
		is(sql($query, $s), '1', 'the next time');
	}
	sound('t_k', $watch);
	gone($standby, $watch);
};

# It finds the same twice, and all the same it is no damage: the leaves were other ones both times
# that the verifier came there, but not when it read their parent.
scenario 'a check on a standby that replay outruns, and finds the same each time', [], sub {
	my $rows = "INSERT INTO t SELECT g, md5(g::text) || md5((-g)::text)
		FROM generate_series(1, 1500) g";

	build(0, 'ALTER TABLE t SET (vacuum_truncate = off);
		CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = off)');
	my ($standby, $watch) = stand_by();
	my $s = session($standby);
	# another leaf at each end, so that the root stays
	sql("INSERT INTO t SELECT 0, x || md5(g::text) || md5((-g)::text)
		FROM generate_series(1, 300) g, unnest(ARRAY['#', '~']) x; SELECT surfidx_merge('t_k')");
	my $fill = sub { sql("BEGIN; $rows; SELECT surfidx_merge('t_k'); ROLLBACK"); follow($watch) };
	my $empty = sub { sql($vacuum); follow($watch) };
	my $tries = 0;

	# a session that uses the index keeps the file from being truncated, for which replay would wait
	my $holder = session();
	sql("$row_scans; BEGIN; SELECT count(*) FROM t WHERE s = '#'", $holder);

	arm('check begins', 'wait', 0, $watch);
	start("SELECT surfidx_check('t_k')", $s);
	while ($tries < 40 && comes_by('check begins', $s, $watch))
	{
		$tries++;
		$fill->();
		arm('parents read', 'wait', 0, $watch);
		release('check begins', $watch);
		last unless comes_by('parents read', $s, $watch);
		arm('check begins', 'wait', 0, $watch);
		$empty->();
		release('parents read', $watch);
	}
	release($_, $watch) for 'check begins', 'parents read';
	is(finish($s), 'error 55006', "an error after $tries tries that says so");
	sql('COMMIT', $holder);
	sound('t_k', $watch);
	gone($standby, $watch);
};

# ---------------------------------------------------------------------------- dictionaries (H3)

scenario 'a dictionary whose pages move one by one whenever it is read', [], sub {
	build(0, 'ALTER TABLE t SET (vacuum_truncate = off);
		CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = fsst)');
	my $more = sub {
		sql("INSERT INTO t SELECT g, '/usr/share/' || md5((g % 997)::text) || '/' || md5(g::text)
			FROM generate_series($_[0], $_[1]) g");
	};

	# VACUUM's first merge places the dictionary after all else, the second one finds room before it
	$more->(1, 20000);
	sql($vacuum);
	$more->(20001, 20100);
	sql($vacuum);
	my $pages = sql("SELECT count(*) FROM generate_series(3, pg_relation_size('t_k') / 8192 - 1) b,
		surfidx_page_stats('t_k', b) WHERE kind = 'dictionary' AND NOT free");
	cmp_ok($pages, '>', 1, "a dictionary of $pages pages");
	my $s = session();
	sql($row_scans, $s);
	arm('dictionary link followed', 'wait', $pages - 1);
	start("SELECT count(*) FROM t WHERE s > '/' AND s < '0'", $s);
	wait_at('dictionary link followed');
	arm('dictionary page moved', 'wait');
	my $merge = start("SELECT surfidx_merge('t_k')");
	my $moved = 0;
	# from the last page on
	while (comes_by('dictionary page moved', $merge))
	{
		$moved++;
		last if $moved == $pages;
		# the next try comes as far as the page before
		arm('dictionary link followed', 'wait', $pages - 1 - $moved);
		last unless comes_by('dictionary link followed', $s);
		arm('dictionary page moved', 'wait');
	}
	release($_) for 'dictionary link followed', 'dictionary page moved';
	is(finish($s), '20100', 'every row');
	is(finish($merge), '0', 'the merge ends');
	is($moved, $pages, 'all of them have moved, each after a look at the link to it');
	sound('t_k');
};

run_scenarios();
