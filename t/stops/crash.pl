# The server crashes at each stop point before a write (readers and replay stop elsewhere: races.pl, replicas.pl), in turn, pages torn in half in every other case; what it has committed is there, and the indexes are sound.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';
my $merge = "SELECT surfidx_merge('t_k'), surfidx_merge('t_s'), surfidx_merge('t_n')";
my @indexes = ('t_k', 't_s', 't_n');
my $rows = 0;
my $turn = 0;
my $torn = 0;
my $crashes = 0;

sub prepare
{
	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text COLLATE "C", n numeric) WITH (autovacuum_enabled = off);
		CREATE UNIQUE INDEX t_k ON t USING surfidx (k); CREATE INDEX t_s ON t USING surfidx (s); CREATE UNIQUE INDEX t_n ON t USING surfidx (n)');
	sql(more() . "; $merge");
	return;
}

sub more
{
	my $from = 2000 * $turn++ + 1;

	return "INSERT INTO t SELECT g, repeat(md5(g::text), 8), g::int8 * 7919 % 100003 FROM generate_series($from, $from + 1999) g";
}

# 5,000 rows with text of some 960 bytes: inner pages with few children.
sub long_keys
{
	my $from = 25 * $turn++;

	return "INSERT INTO t SELECT 10000000 + g * 1000 + j, p || to_char(j, 'FM000') || md5(j::text) || md5((-j)::text), 10000000 + g * 1000 + j FROM generate_series(1, 200) j,
		(SELECT g, (SELECT string_agg(md5((g * 100 + i)::text), '') FROM generate_series(1, 28) i) p FROM generate_series($from, $from + 24) g OFFSET 0) x";
}

# No rows, and a t_s that will have a dictionary.
sub dictionary
{
	sql('TRUNCATE t; DROP INDEX t_s; ALTER TABLE t SET (vacuum_truncate = off); CREATE INDEX t_s ON t USING surfidx (s) WITH (hope = single)');
	return;
}

# A worker comes.
sub ask
{
	sql('ALTER INDEX t_s SET (delta_size = 64)');
	return ('SET surfidx.auto_merge = on; ' . more() . '; SELECT pg_sleep(30)');
}

# What leads to the points that the statements below do not pass: prepares, and returns statements that go before them.
my %way = (
	'run dropped' => sub { sql("ALTER INDEX t_s SET (delta_size = 64, run_ratio = 10, merge_ratio = 10)"); return (more(), $vacuum) },
	'parent split' => sub { sql(long_keys()); sql($merge); return (long_keys(), $merge) },
	'epoch raised' => sub { sql(more() . "; $merge; DELETE FROM t WHERE k < " . (2000 * $turn - 500)); return },
	'unique wait' => sub { sql("BEGIN; INSERT INTO t VALUES (-1); PREPARE TRANSACTION 'other'"); return ('INSERT INTO t VALUES (-1)') },
	'dead entries found' => sub { sql('DELETE FROM t WHERE k % 3 = 0'); return ('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SELECT count(n) FROM t WHERE k > 0') },
	'request served' => sub { return ask() },
	'request taken' => sub { return ask() },
	'index served' => sub { return ask() },
	'nothing left' => sub { return ask() },
	'dictionary made' => sub { dictionary(); return },
	# at the end of the file, with free blocks in front of it
	'dictionary page moved' => sub {
		dictionary();
		sql("INSERT INTO t SELECT g, repeat(md5(g::text), 10), 1000000 + g FROM generate_series(1, 600) g; $vacuum");
		sql("INSERT INTO t SELECT g, repeat(md5(g::text), 10), 1000000 + g FROM generate_series(601, 700) g; $vacuum");
		return ($merge);
	});

# Statements until the server is gone; true if it went.
sub work
{
	for my $sql (@_, more(), $merge, more(), 'DELETE FROM t WHERE k % 3 = 1', $vacuum, more(), $vacuum, $merge)
	{
		my $e = error_of($sql);

		return 1 if $e eq 'lost';
		die "$sql: $e\n" if $e;
	}
	return 0;
}

sub sound
{
	my ($what) = @_;
	my @wrong;
	my $want = sql('BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; SELECT count(*), sum(k) FROM t; COMMIT');

	for my $index (@indexes)
	{
		my $e = eval { sql("SELECT surfidx_check('$index', true, true)") } // $@;
		push @wrong, $e if $e;
	}
	for my $where ('k > 0', "s > ''", 'n >= 0')
	{
		my $got = eval { sql("BEGIN; SET LOCAL enable_seqscan = off; SELECT count(*), sum(k) FROM t WHERE $where; COMMIT") } // $@;
		push @wrong, "$where: $got instead of $want" if $got ne $want;
	}
	is(join('; ', @wrong), '', $what);
	return;
}

for my $point ('append', 'log page allocated', 'extended', 'unique checked', 'frozen', 'merge lock', 'swap', 'unlinked', 'group swapped',
	'group merged', 'drop generation', 'generation dropped', 'page given back', 'generations merged', 'log flagged', 'stage vacuumed', 'tree vacuumed', 'gate flipped', 'vacuum cleanup',
	'stubs collected', 'blocks owned', sort keys %way)
{
	scenario "crash at \"$point\"", [], sub {
		if (sql('SHOW server_version_num') >= 160000 && $point eq 'extended')
		{
			# the server locks new blocks as it adds them
			pass('nobody comes by');
			return;
		}
		my $way = $way{$point};

		prepare() if $way || !sql("SELECT count(*) FROM pg_class WHERE relname = 't'");
		my @first = $way ? $way->() : ();
		arm($point, 'crash', $point =~ /append|unique checked/ ? 2500 : $point =~ /swap|merged/ ? int(rand 5) : 0);
		if (!work(@first))
		{
			release($point);
			fail("nobody came to \"$point\"");
			return;
		}
		restart('gone', sub { $torn += server()->tear(0.3) if $crashes++ % 2 == 0 });
		sql("ROLLBACK PREPARED 'other'") if $point eq 'unique wait';
		sound("after a crash at \"$point\"");
		is(error_of("DELETE FROM t WHERE k % 5 = 2;\n$vacuum;\n" . more() . ";\n$merge"), '', 'life goes on');
		sound('and is sound');
		sql('DELETE FROM t WHERE k < ' . (2000 * $turn - 8000));
	};
}

scenario 'pages were torn', [], sub { cmp_ok($torn, '>', 10, "$torn pages") };

srand($ENV{SURFIDX_TORTURE_SEED} || 1);
# few buffers, so that pages are written before the crash
run_scenarios(conf => [ "shared_buffers = 1MB\nmax_prepared_transactions = 1" ]);
