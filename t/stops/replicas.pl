# Replay against scans on a standby: a reader is stopped between two of its steps while replay goes on, and replay is stopped before
# each kind of record while readers run.
#
# Every pair of reader and writer is tried at one of the reader's points, in turn; SURFIDX_ALL=1: at all of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfServer;
use SurfStops;
use Test::More;
use Time::HiRes qw(sleep time);

my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';
my $merge = "SELECT surfidx_merge('t_k'), surfidx_merge('t_a'), surfidx_merge('t_s')";
my @indexes = ('t_k', 't_a', 't_s');
my ($standby, $watch, $n, $turn);

sub watch
{
	$watch = $standby->session if !$watch || $watch->{dead};
	return $watch;
}

# One for all scenarios.
sub stand_by
{
	return if $standby && $standby->postmaster_alive;
	$standby = SurfServer->new(name => 'replica', base => server()->{base}, primary => server(), conf => [ 'hot_standby = on', 'max_standby_streaming_delay = -1',
			"primary_conninfo = 'host=" . server()->{base} . ' port=' . server()->{port} . " user=postgres'" ]);
	$standby->start;
	$watch = undef;
	return;
}

# Has the standby replayed all that the primary has written by now, within so many seconds?
sub follows
{
	my ($seconds) = @_;
	my $lsn = sql('SELECT pg_current_wal_flush_lsn() FROM (SELECT pg_switch_wal()) x');
	my $end = time + $seconds;

	until (sql("SELECT pg_last_wal_replay_lsn() >= '$lsn'", watch()) eq 't')
	{
		return 0 if time > $end;
		sleep 0.01;
	}
	return 1;
}

sub catch_up
{
	follows(patience()) or die "the standby does not follow\n";
	return;
}

# Leaves, filters, a dictionary, a delta, and dead rows that VACUUM may remove although a reader on the standby has its snapshot.
sub prepare
{
	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text COLLATE "C", n numeric) WITH (autovacuum_enabled = off);
		INSERT INTO t SELECT g * 100, \'path/\' || md5(g::text), g * 100 FROM generate_series(1, 3000) g;
		CREATE INDEX t_k ON t USING surfidx (k) INCLUDE (s);
		CREATE INDEX t_a ON t USING surfidx ((ARRAY[n])) WITH (filter = bloom);
		CREATE INDEX t_s ON t USING surfidx (s, k) WITH (filter = surf, hope = single)');
	sql($vacuum);
	sql('INSERT INTO t SELECT g * 100 + 50, \'path/\' || md5((-g)::text), g * 100 + 50 FROM generate_series(1, 3000, 7) g');
	sql('DELETE FROM t WHERE k % 3 = 0');
	$n = 0;
	catch_up();
	return;
}

sub inserts
{
	$n++;
	return "INSERT INTO t SELECT g * 100 + $n, upper(md5(g::text)) || '$n', 1000000 + g * 100 + $n FROM generate_series(1, 3000, 5) g";
}

my %writers = (
	'a merge' => sub { sql(inserts()); sql($merge) },
	'VACUUM' => sub { sql($vacuum) },
	'VACUUM, then new rows at its TIDs, then a merge' => sub { sql($vacuum); sql(inserts()); sql($merge) },
	'runs that come and go' => sub {
		sql("ALTER INDEX $_ SET (delta_size = 64, run_ratio = 10, merge_ratio = 10)") for @indexes;
		for (1, 2) { sql(inserts()); sql($vacuum) }
		sql($merge);
	},
	'new filters and dictionaries' => sub {
		sql("ALTER INDEX t_s SET (filter = bloom, hope = alm_improved); ALTER INDEX t_a SET (filter = none)");
		for (1, 2) { sql(inserts()); sql($merge) }
		sql("DELETE FROM t WHERE s > 'path/'; $vacuum; $merge");
	});

# settings, query, points
my %readers = (
	'forward scan' => [ 'enable_indexonlyscan', 'SELECT md5(string_agg(concat(k, n), chr(44))) FROM (SELECT k, n FROM t WHERE k > 0 ORDER BY k) x' ],
	'backward scan' => [ 'enable_indexonlyscan', 'SELECT md5(string_agg(concat(k, n), chr(44))) FROM (SELECT k, n FROM t WHERE k > 0 ORDER BY k DESC) x' ],
	'index-only scan' => [ 'enable_indexscan', 'SELECT md5(string_agg(concat(k, s), chr(44))) FROM (SELECT k, s FROM t WHERE k > 0 ORDER BY k) x', 'gate chosen' ],
	'bitmap scan' => [ 'enable_indexscan', 'SELECT count(*), sum(n), sum(hashtext(s)) FROM t WHERE k > 100 AND k < 290000 AND s > \'0\'' ],
	'comparator scan' => [ 'enable_indexonlyscan', 'SELECT count(*), sum(k), sum(n) FROM t WHERE ARRAY[n] > ARRAY[500::numeric]' ],
	'scan of coded text' => [ 'enable_indexscan', "SELECT md5(string_agg(concat(k, s), chr(44))) FROM (SELECT s, k FROM t WHERE s > 'A' ORDER BY s DESC, k DESC) x", 'dictionary found' ],
	'lookups with filters' => [ 'enable_bitmapscan', "SELECT sum((SELECT count(*) FROM t WHERE s = 'path/' || md5(g::text))) FROM generate_series(1, 4000, 37) g", 'filter chosen' ]);
my @points = ([ 'metapage read', 0 ], [ 'metapage read', 1 ], [ 'between stages', 0 ], [ 'between stages', 1 ], [ 'leaf chosen', 0 ], [ 'leaf chosen', 1 ]);

sub without_index
{
	my ($query) = @_;

	return sql("BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; $query; COMMIT", watch());
}

sub reader
{
	my ($kind) = @_;
	my $s = session($standby);

	sql("SET enable_seqscan = off; SET enable_sort = off; SET $readers{$kind}[0] = off; SET enable_" . ($kind =~ /bitmap/ ? 'indexonlyscan' : 'bitmapscan') . ' = off', $s);
	return $s;
}

# As come_by, on the standby.
sub comes_by
{
	my ($point, $s) = @_;

	for (;;)
	{
		my $bits = '';

		return 1 if sql("SELECT stop_waiting('$point')", watch()) > 0;
		vec($bits, fileno($s->{out}), 1) = 1;
		return 0 if length $s->{buffer} || select($bits, undef, undef, 0.005) > 0;
	}
}

sub wrong_indexes
{
	return map { my $e = error_of("SELECT surfidx_check('$_', true, true)", watch()); $e eq '' ? () : "check of $_: $e" } @indexes;
}

my ($passed, $waited) = (0, 0);

for my $kind (sort keys %readers)
{
	my ($without, $query, @own) = @{ $readers{$kind} };

	scenario "$kind on a standby beside replay", [], sub {
		stand_by();
		$turn //= 0;
		for my $writer (sort keys %writers)
		{
			my @at = (@points, map { [ $_, 0 ] } @own);
			my @wrong;

			@at = $at[ $turn % @at ] unless $ENV{SURFIDX_ALL};
			$turn++;
			prepare();
			for my $at (@at)
			{
				my ($point, $skip) = @$at;
				my $s = reader($kind);
				my $want = without_index($query);

				arm($point, 'wait', $skip, watch());
				start($query, $s);
				# without a filter or a delta nobody comes by some points
				my $came = comes_by($point, $s);
				$writers{$writer}->();
				# replay may have to wait for the reader: at a gate, or for its snapshot
				follows(0.5) ? $passed++ : $waited++ if $came;
				release($point, watch());
				my $got = finish($s);
				push @wrong, "$point $skip: $got instead of $want" if $got ne $want;
				$s->end;
				catch_up();
				push @wrong, map { "$point $skip: $_" } wrong_indexes();
			}
			is(join('; ', @wrong), '', "$kind beside $writer");
		}
	};
}

scenario 'replay did pass stopped readers', [], sub {
	cmp_ok($passed, '>', 10, "replay passed $passed of them, and waited for $waited");
};

# Each kind of record is about to be replayed: what stands there by then has to be an index.
for my $point ('redo append', 'redo extend', 'redo freeze', 'redo group', 'redo meta', 'redo flag', 'redo gate')
{
	scenario "readers on a standby in front of \"$point\"", [], sub {
		stand_by();
		for my $skip ($point =~ /append|group|meta/ ? (0, 3, 7) : (0))
		{
			my @wrong;

			prepare();
			arm($point, 'wait', $skip, watch());
			$writers{$_}->() for 'VACUUM, then new rows at its TIDs, then a merge', 'new filters and dictionaries';
			wait_at($point, watch());
			for my $kind (sort keys %readers)
			{
				my $s = reader($kind);
				my $want = without_index($readers{$kind}[1]);
				my $got = sql($readers{$kind}[1], $s);

				push @wrong, "$kind: $got instead of $want" if $got ne $want;
				$s->end;
			}
			push @wrong, wrong_indexes();
			release($point, watch());
			catch_up();
			push @wrong, map { "afterwards: $_" } wrong_indexes();
			is(join('; ', @wrong), '', "in front of \"$point\", $skip before it");
		}
	};
}

scenario 'the standby goes', [], sub {
	$watch->end if $watch;
	$standby->stop('immediate');
	ok(!$standby->crashes, 'no crash on the standby');
};

run_scenarios(conf => [ "wal_consistency_checking = 'all'", 'wal_keep_size = 1GB' ]);
