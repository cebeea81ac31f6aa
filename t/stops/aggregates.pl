# Counts by block beside writers and VACUUM: rules Y1, Y2 and Y4 of src/README.md.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';
my $count = 'SELECT count(*) FROM t WHERE k > 0';

# A session that counts by the index, and by the index alone.
sub counter
{
	my $s = session();

	sql('SET enable_seqscan = off; SET enable_bitmapscan = off', $s);
	like(sql("EXPLAIN (COSTS OFF) $count", $s), qr/SurfidxAggregate/, 'it counts by the index');
	return $s;
}

# 2,000 rows on pages that are all-visible, with room for one more.
sub table
{
	build(2000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	sql('DELETE FROM t WHERE k IN (700, 1500)');
	sql("$vacuum; ANALYZE t");
	return;
}

scenario 'a row inserted behind the beginning of a count', ['map before entries'], sub {
	table();
	my $s = counter();
	sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1", $s);
	arm('count begun', 'wait');
	start($count, $s);
	wait_at('count begun');
	sql('INSERT INTO t VALUES (2001)');
	is(sql("SELECT ctid < '(20,0)' FROM t WHERE k = 2001"), 't',
		'it stands on a page that was all-visible');
	release('count begun');
	is(finish($s), '1998', 'is not counted');
	sql('COMMIT', $s);
	is(sql($count), '1999', 'but by the next snapshot');
};

scenario 'a dead row whose page becomes all-visible while its entry is in hand',
	['count without a gate'], sub {
	table();
	sql('DELETE FROM t WHERE k = 1000');
	my $s = counter();
	arm('count has TIDs', 'wait', 1);
	start($count, $s);
	wait_at('count has TIDs');
	my $v = start($vacuum);
	ok(wait_blocked($v), 'VACUUM waits for the count');
	release('count has TIDs');
	is(finish($s), '1997', 'it is not counted');
	is(finish($v), '', 'VACUUM ends');
};

scenario 'a page becomes all-visible while its bit is looked at', ['bit read twice'], sub {
	table();
	sql('INSERT INTO t VALUES (2001)');
	my $s = counter();
	arm('bits read once', 'wait', 1);
	start($count, $s);
	# the stop stands between two looks: there is one only
	if (come_by('bits read once', $s))
	{
		sql('VACUUM (INDEX_CLEANUP OFF) t');
		release('bits read once');
	}
	is(finish($s), '1999', 'its row is counted once');
};

run_scenarios();
