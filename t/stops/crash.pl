# The server crashes at each stop point in turn, pages torn in half in every other case; what it has committed is there, and the indexes are sound.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';
my @indexes = ('t_k', 't_s', 't_n');
my $rows = 0;
my $turn = 0;
my $torn = 0;
my $crashes = 0;

sub prepare
{
	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text COLLATE "C", n numeric) WITH (autovacuum_enabled = off);
		CREATE UNIQUE INDEX t_k ON t USING surfidx (k); CREATE INDEX t_s ON t USING surfidx (s); CREATE UNIQUE INDEX t_n ON t USING surfidx (n)');
	sql(more() . "; SELECT surfidx_merge('t_k'), surfidx_merge('t_s'), surfidx_merge('t_n')");
	return;
}

sub more
{
	my $from = 2000 * $turn++ + 1;

	return "INSERT INTO t SELECT g, repeat(md5(g::text), 8), g * 7919 % 100003 FROM generate_series($from, $from + 1999) g";
}

# Statements until the server is gone; true if it went.
sub work
{
	for my $sql (more(), "SELECT surfidx_merge('t_k'), surfidx_merge('t_s'), surfidx_merge('t_n')", more(), 'DELETE FROM t WHERE k % 3 = 1', $vacuum, more(), $vacuum)
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
	'group merged', 'drop generation', 'generation dropped', 'run dropped', 'log flagged', 'stage vacuumed', 'tree vacuumed', 'gate flipped', 'vacuum cleanup', 'dictionary made', 'dictionary page moved')
{
	scenario "crash at \"$point\"", [], sub {
		sql('SELECT 1');
		prepare() if !sql("SELECT count(*) FROM pg_class WHERE relname = 't'");
		arm($point, 'crash', $point =~ /append|unique/ ? 2500 : $point =~ /swap|merged/ ? int(rand 5) : 0);
		if (!work())
		{
			release($point);
			sound("nobody came to \"$point\"");
			return;
		}
		restart('gone', sub { $torn += server()->tear(0.3) if $crashes++ % 2 == 0 });
		sound("after a crash at \"$point\"");
		is(error_of("DELETE FROM t WHERE k % 5 = 2;\n$vacuum;\n" . more() . ";\nSELECT surfidx_merge('t_k'), surfidx_merge('t_s'), surfidx_merge('t_n')"), '', 'life goes on');
		sound('and is sound');
		sql('DELETE FROM t WHERE k < ' . (2000 * $turn - 8000));
	};
}

scenario 'pages were torn', [], sub { cmp_ok($torn, '>', 10, "$torn pages") };

srand($ENV{SURFIDX_TORTURE_SEED} || 1);
# few buffers, so that pages are written before the crash
run_scenarios(conf => [ "shared_buffers = 1MB" ]);
