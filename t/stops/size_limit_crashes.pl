# Leaves are cut and become whole again for size_limit: crashes on the way, parameters that change,
# what merges make of both kinds.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $ordered = join(';', map { "SET enable_$_ = off" } qw(seqscan bitmapscan sort indexscan));
my $unordered = join(';', map { "SET enable_$_ = off" } qw(indexonlyscan indexscan bitmapscan));
my $sum = "SELECT count(*), md5(string_agg(u::text, '' ORDER BY u))";

# 60,000 keys far from one another: a hundred leaves.
sub table
{
	my ($options) = @_;

	sql(<<"END");
DROP TABLE IF EXISTS t;
CREATE TABLE t (u uuid, v int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT md5(g::text)::uuid, g FROM generate_series(1, 60000) g;
CREATE INDEX t_u ON t USING surfidx (u) WITH ($options);
END
	sql('VACUUM ANALYZE t');
	return;
}

sub keys_below
{
	my ($digit) = @_;
	my $s = session();

	sql($ordered, $s);
	return sql("$sum FROM (SELECT u FROM t
		WHERE u < '${digit}0000000-0000-0000-0000-000000000000' ORDER BY u OFFSET 0) x", $s);
}

sub of_keys
{
	my ($what) = @_;

	return sql("SELECT $what FROM surfidx_leaf_keys('t_u')");
}

sub sound
{
	my ($what) = @_;
	my $s = session();
	my $want = sql("$unordered; $sum FROM t", $s);

	is(sql("SELECT surfidx_check('t_u', true, true)"), '', $what);
	sql("RESET ALL; $ordered", $s);
	is(sql("$sum FROM (SELECT u FROM t ORDER BY u OFFSET 0) x", $s), $want, '... with all rows');
	return;
}

# The way to each: a statement that cuts, and one that has keys whole again.
my %way = (
	cut => sub {
		table('size_limit = 100000');
		keys_below('4');
		sql('ALTER INDEX t_u SET (size_limit = 600)');
		return;
	},
	whole => sub {
		table('keys = cut');
		sql('ALTER INDEX t_u RESET (keys); ALTER INDEX t_u SET (size_limit = 4000)');
		keys_below('8');
		return;
	});

for my $way (sort keys %way)
{
	for my $point ('swap', 'unlinked', 'leaf keys changed')
	{
		scenario "crash at \"$point\" on the way to $way", [], sub {
			$way{$way}->();
			my $before = of_keys('cut_leaves');
			arm($point, 'crash', $point eq 'unlinked' ? 0 : 2);
			is(error_of("SELECT surfidx_merge('t_u')"), 'lost', 'the server is gone');
			restart('gone', sub { server()->tear(0.5) });
			isnt(of_keys('cut_leaves'), $before, 'leaves have changed, and are counted');
			isnt(of_keys('cut_leaves'), of_keys('leaves'), '... not all of them');
			sound('sound');
			keys_below('8');
			sql("SELECT surfidx_merge('t_u')");
			is(of_keys('size < 0.9 * size_limit'), 't', 'goes on');
			sound('and is sound');
		};
	}
}

scenario 'the limit goes meanwhile', [], sub {
	$way{cut}->();
	arm('leaf keys changed', 'wait', 0);
	my $s = start("SELECT surfidx_merge('t_u')");
	wait_at('leaf keys changed');
	sql('ALTER INDEX t_u SET (size_limit = 100000)');
	my $made = of_keys('cut_leaves');
	is(sql("SELECT phase, entries_done BETWEEN 1 AND entries_total, leaves_written > 0
		FROM surfidx_stat_progress_merge WHERE indexrelname = 't_u'"),
		'cutting keys|t|t', 'progress tells of it');
	release('leaf keys changed');
	finish($s);
	is(of_keys('cut_leaves'), $made, 'and no more leaves are cut');
	sound('sound');
};

scenario 'rows that come to both kinds', ['groups of both kinds'], sub {
	$way{cut}->();
	sql("SELECT surfidx_merge('t_u')");
	my $cut = of_keys('cut_leaves');
	cmp_ok($cut, '>', 0, 'some are cut');
	keys_below('3');
	is(of_keys('recovered_by_readers'), 0, 'not those that were read');
	my $whole = of_keys('leaves - cut_leaves');
	sql('ALTER INDEX t_u SET (size_limit = 100000)');
	sql("INSERT INTO t SELECT md5((-g)::text)::uuid, g FROM generate_series(1, 500) g");
	sql("SELECT surfidx_merge('t_u')");
	keys_below('3');
	is(of_keys('recovered_by_readers'), 0, 'a merge leaves both as they are');
	cmp_ok(of_keys('leaves - cut_leaves'), '>=', $whole, '... at the border, too');
	sound('sound');
};

scenario 'somebody has the table', [], sub {
	$way{whole}->();
	my $s = session();
	sql('BEGIN; LOCK t IN ACCESS EXCLUSIVE MODE', $s);
	is(error_of("SELECT surfidx_merge('t_u')"), '', 'no keys, and no error');
	sql('ROLLBACK', $s);
	is(of_keys('leaves = cut_leaves'), 't', 'they stay cut');
	sql("SELECT surfidx_merge('t_u')");
	is(of_keys('leaves > cut_leaves'), 't', 'until it is free');
};

run_scenarios();
