# Counts and groups by block beside writers, merges and VACUUM: rules Y1, Y2, Y8, Y9, R9 of
# src/README.md.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';

# Stage by stage (R9); and in order, since filters are asked for ranges that have two ends.  After
# the first entry in order those that follow come together.
my @ways = (
	{ name => 'by stages', index => '', where => 'k > 0', skip => 0 },
	{
		name => 'in order',
		index => "WITH (filter = 'bloom')",
		where => 'k BETWEEN 1 AND 1000000',
		skip => 1
	});

# A session that counts by the index, and by the index alone; and how.
sub counter
{
	my ($way) = @_;
	my $s = session();
	my $count = "SELECT count(*) FROM t WHERE $way->{where}";

	sql('SET enable_seqscan = off; SET enable_bitmapscan = off', $s);
	like(sql("EXPLAIN (COSTS OFF) $count", $s), qr/SurfidxAggregate/, 'it counts by the index');
	return ($s, $count);
}

# 2,000 rows on pages that are all-visible, with room for one more.
sub table
{
	my ($way) = @_;

	build(2000, "CREATE INDEX t_k ON t USING surfidx (k) $way->{index}");
	sql("SELECT surfidx_merge('t_k')");
	sql('DELETE FROM t WHERE k IN (700, 1500)');
	sql("$vacuum; ANALYZE t");
	return;
}

# All but the map's order: a scenario for each way.
sub both_ways
{
	my ($name, $mutants, $code) = @_;

	for my $way (@ways)
	{
		scenario "$name, $way->{name}", $mutants, sub { $code->($way) };
	}
	return;
}

both_ways 'a row inserted behind the beginning of a count', ['map before entries'], sub {
	my ($way) = @_;

	table($way);
	my ($s, $count) = counter($way);
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

both_ways 'a dead row whose page becomes all-visible while its entry is in hand',
	['rows without a gate'], sub {
	my ($way) = @_;

	table($way);
	sql('DELETE FROM t WHERE k = 1000');
	my ($s, $count) = counter($way);
	arm('count has TIDs', 'wait', $way->{skip});
	start($count, $s);
	wait_at('count has TIDs');
	my $v = start($vacuum);
	ok(wait_blocked($v), 'VACUUM waits for the count');
	release('count has TIDs');
	is(finish($s), '1997', 'it is not counted');
	is(finish($v), '', 'VACUUM ends');
};

both_ways 'a page becomes all-visible while its bit is looked at', ['bit read twice'], sub {
	my ($way) = @_;

	table($way);
	sql('INSERT INTO t VALUES (2001)');
	my ($s, $count) = counter($way);
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

scenario 'entries are moved between two stages of a count', ['stages overlap'], sub {
	table($ways[0]);
	sql('INSERT INTO t SELECT g FROM generate_series(2001, 2010) g');
	my ($s, $count) = counter($ways[0]);
	arm('delta counted for itself', 'wait');
	start($count, $s);
	wait_at('delta counted for itself');
	sql("SELECT surfidx_merge('t_k')");
	release('delta counted for itself');
	is(finish($s), '2008', 'they are counted once');
};

# 20,000 keys in random order, in several leaves, all visible.
sub large_table
{
	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int) WITH (autovacuum_enabled = off);
		INSERT INTO t SELECT 1 + g * 7919::int8 % 1000003 FROM generate_series(1, 20000) g;
		CREATE INDEX t_k ON t USING surfidx (k)');
	sql("$vacuum; ANALYZE t");
	is(sql("SELECT leaves >= 4 FROM surfidx_meta('t_k')"), 't', 'there are several leaves');
	return;
}

scenario 'rows that a merge brings behind the look at the map', ['stages overlap'], sub {
	large_table();
	my ($s, $count) = counter($ways[0]);
	arm('count above leaves', 'wait');
	start($count, $s);
	wait_at('count above leaves');
	sql('INSERT INTO t SELECT 999000 + g FROM generate_series(1, 5) g');
	sql("SELECT surfidx_merge('t_k')");
	release('count above leaves');
	is(finish($s), '20000', 'are not counted');
};

scenario 'rows that a merge brings behind the beginning of a count', ['table as it was'], sub {
	large_table();
	my ($s, $count) = counter($ways[0]);
	arm('count begun', 'wait');
	start($count, $s);
	wait_at('count begun');
	sql('INSERT INTO t SELECT 999000 + g FROM generate_series(1, 5) g');
	sql("SELECT surfidx_merge('t_k')");
	release('count begun');
	is(finish($s), '20000', 'are not counted');
};

scenario 'a row is deleted behind the look at the map', [], sub {
	large_table();
	my ($s, $count) = counter($ways[0]);
	arm('count above leaves', 'wait');
	start($count, $s);
	wait_at('count above leaves');
	sql('DELETE FROM t WHERE k > 900000');
	my $v = start($vacuum);
	release('count above leaves');
	is(finish($s), '20000', 'it is counted');
	is(finish($v), '', 'VACUUM ends');
};

# ---- the same where more is asked for than a number: values and groups ----

# A session that computes this by the index.
sub computer
{
	my ($query) = @_;
	my $s = session();

	sql('SET enable_seqscan = off; SET enable_bitmapscan = off', $s);
	like(sql("EXPLAIN (COSTS OFF) $query", $s), qr/SurfidxAggregate/, 'it computes by the index');
	return $s;
}

# Queries, and what they tell of rows 1 to 2,000 without 700 and 1,500.
my $groups = 'SELECT k, count(*) AS n FROM t WHERE k > 0 GROUP BY k';
my @queries = (
	['sum', 'SELECT sum(k), count(k), max(k) FROM t WHERE k > 0'],
	['groups', "SELECT sum(k), sum(n), max(k) FROM ($groups) x"],
	['distinct', 'SELECT sum(k), count(*), max(k) FROM (SELECT DISTINCT k FROM t WHERE k > 0) x']);
my $whole = 2001000 - 700 - 1500;

for (@queries)
{
	my ($name, $query) = @$_;

	scenario "a row inserted behind the beginning, by $name", ['map before entries'], sub {
		table($ways[0]);
		my $s = computer($query);
		sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1", $s);
		arm('groups begun', 'wait');
		start($query, $s);
		wait_at('groups begun');
		sql('INSERT INTO t VALUES (2001)');
		release('groups begun');
		is(finish($s), "$whole|1998|2000", 'has no part in it');
		sql('COMMIT', $s);
		is(sql($query), join('|', $whole + 2001, 1999, 2001), 'but by the next snapshot');
	};

	scenario "a dead row whose page becomes all-visible while its entry is in hand, by $name",
		['rows without a gate'], sub {
		table($ways[0]);
		sql('DELETE FROM t WHERE k = 1000');
		my $s = computer($query);
		arm('groups have entries', 'wait', 1);
		start($query, $s);
		wait_at('groups have entries');
		my $v = start($vacuum);
		ok(wait_blocked($v), 'VACUUM waits');
		release('groups have entries');
		is(finish($s), join('|', $whole - 1000, 1997, 2000), 'it has no part in it');
		is(finish($v), '', 'VACUUM ends');
	};
}

scenario 'rows that are put off keep their values',
	['values of the row before', 'hidden rows of a coded block'], sub {
	table($ways[0]);
	sql('DELETE FROM t WHERE k % 3 = 0; UPDATE t SET k = k + 5000 WHERE k % 50 = 1');
	my $query = 'SELECT sum(k), max(k), count(*) FROM t WHERE k > 0';
	my $s = computer($query);
	my $core = session();
	sql('SET surfidx.aggregates = off', $core);
	is(sql($query, $s), sql($query, $core), 'the same as row by row');
};

# Sums need no order, either (R9), and no TIDs where all of the table is all-visible (Y8).
my $sum = 'SELECT sum(k), count(k), max(k) FROM t WHERE k > 0';

scenario 'entries are moved between two stages of a sum', ['stages overlap'], sub {
	table($ways[0]);
	sql('INSERT INTO t SELECT g FROM generate_series(2001, 2010) g');
	my $s = computer($sum);
	arm('delta counted for itself', 'wait');
	start($sum, $s);
	wait_at('delta counted for itself');
	sql("SELECT surfidx_merge('t_k')");
	release('delta counted for itself');
	is(finish($s), join('|', $whole + 20055, 2008, 2010), 'each is added once');
};

for (['map looked at', 'stages overlap'], ['groups begun', 'table as it was'])
{
	my ($stop, $mutant) = @$_;

	scenario "rows that a merge brings into a sum, behind $stop", [$mutant], sub {
		large_table();
		my $s = computer($sum);
		my $before = sql($sum, $s);
		arm($stop, 'wait');
		start($sum, $s);
		wait_at($stop);
		sql('INSERT INTO t SELECT 1100000 + g FROM generate_series(1, 5) g');
		sql("SELECT surfidx_merge('t_k')");
		release($stop);
		is(finish($s), $before, 'have no part in it');
	};
}

# A session that waits after its look at the map, and what the query's answer is.
sub waiting_at_map
{
	my ($query) = @_;

	large_table();
	my $s = computer($query);
	my $before = sql($query, $s);
	arm('map looked at', 'wait');
	start($query, $s);
	wait_at('map looked at');
	return ($s, $before);
}

# Groups are read in order.  Where all of the table was all-visible, leaves are read without TIDs,
# step by step; the second step is the first one of which nobody looks at TIDs.
for my $name ('groups', 'distinct')
{
	my ($query) = map { $_->[1] } grep { $_->[0] eq $name } @queries;

	scenario "rows that a merge brings into a leaf behind the look at the map, by $name",
		['vouched for good'], sub {
		my ($s, $before) = waiting_at_map($query);
		arm('between stages', 'wait');
		release('map looked at');
		wait_at('between stages');
		sql('INSERT INTO t SELECT g * 10000 FROM generate_series(1, 100) g');
		sql("SELECT surfidx_merge('t_k')");
		release('between stages');
		is(finish($s), $before, 'have no part in it');
		is(sql('SELECT count(*) FROM t'), '20100', 'are there');
	};

	scenario "rows that a merge brings into a table whose map was looked at, by $name",
		['vouched for good'], sub {
		my ($s, $before) = waiting_at_map($query);
		sql('INSERT INTO t SELECT 1100000 + g FROM generate_series(1, 5) g');
		sql("SELECT surfidx_merge('t_k')");
		release('map looked at');
		is(finish($s), $before, 'have no part in it');
	};
}

scenario 'groups wait for their rows', ['groups before their rows'], sub {
	table($ways[0]);
	sql('DELETE FROM t WHERE k % 3 = 0; UPDATE t SET k = k + 5000 WHERE k % 50 = 1');
	my $query = "SELECT count(*), sum(k), sum(n) FROM ($groups) x";
	my $s = computer($query);
	my $core = session();
	sql('SET surfidx.aggregates = off', $core);
	is(sql($query, $s), sql($query, $core), 'the same as row by row');
};

# ---- what values and groups are made of: the same as row by row, without anybody beside it ----

sub same_as_core
{
	my @of = @_;
	my $core = session();

	sql('SET surfidx.aggregates = off', $core);
	for my $query (@of)
	{
		my $s = computer($query);
		is(sql($query, $s), sql($query, $core), $query);
	}
	return;
}

sub table_of
{
	my ($columns, $index, $rows) = @_;

	sql("DROP TABLE IF EXISTS t; CREATE TABLE t ($columns) WITH (autovacuum_enabled = off);
		INSERT INTO t $rows; CREATE INDEX t_k ON t USING surfidx ($index)");
	sql("$vacuum; ANALYZE t");
	return;
}

# The finest ones come first; some come twice; others fit nowhere.
scenario 'sums of numerics', ['scale of the last', 'repeated keys once', 'odd numbers once'], sub {
	table_of('k numeric', 'k', 'SELECT g / 1000.0 FROM generate_series(1, 500) g
		UNION ALL SELECT g FROM generate_series(1, 3000) g
		UNION ALL SELECT g * 10 FROM generate_series(1, 200) g
		UNION ALL SELECT 1e30 FROM generate_series(1, 3) g UNION ALL SELECT 2e30');
	same_as_core('SELECT sum(k) FROM t', 'SELECT avg(k) FROM t WHERE k > 0');
};

scenario 'sums of numerics, by groups within another', ['odd numbers stay behind'], sub {
	table_of('a int, k numeric', 'a, k',
		'SELECT g % 100, g * 1e20 FROM generate_series(1, 3000) g');
	same_as_core('SELECT count(DISTINCT a), sum(k) FROM t',
		'SELECT sum(s) FROM (SELECT a, sum(k) AS s FROM t GROUP BY a) x');
};

# A week's last day is another one's first; 2000-01-01 is PostgreSQL's zero; NULLs follow it.
scenario 'buckets', ['buckets without an end', 'buckets of any columns', 'NULLs in any bucket',
	'buckets too long'], sub {
	table_of('a int, k timestamp', 'a, k', "SELECT g / 1000,
			CASE WHEN g % 9 > 0 THEN timestamp '2000-01-01' - g % 500 * interval '1 hour' END
		FROM generate_series(1, 5000) g");
	same_as_core(map { "SELECT md5(string_agg(x::text, ',' ORDER BY x)), count(*)
		FROM (SELECT a, $_ AS b, count(*), count(k) FROM t GROUP BY a, $_) x" }
		"date_trunc('day', k)", "date_bin('3 days', k, '2000-01-01')", "date_trunc('year', k)");
};

# A day of 23 hours: the next one begins when the 24th would.
scenario 'clocks that are set within a bucket', ['clocks are never set'], sub {
	table_of('k timestamptz', 'k',
		"SELECT timestamptz '2024-03-01 00:00+00' + g * interval '10 minutes'
		FROM generate_series(1, 9000) g");
	same_as_core("SELECT md5(string_agg(x::text, ',' ORDER BY x)), count(*)
		FROM (SELECT date_trunc('day', k, 'Europe/Berlin') AS d, count(*) FROM t GROUP BY 1) x");
};

scenario 'a bucket of dead rows whose values its function refuses', ['dead rows throw'], sub {
	my $query = "SELECT count(*), sum(n) FROM
		(SELECT date_trunc('year', k), count(*) AS n FROM t GROUP BY 1) x";

	table_of('k timestamp', 'k', "SELECT timestamp '2000-01-01' + g * interval '1 hour'
		FROM generate_series(1, 5000) g");
	sql("INSERT INTO t VALUES ('4714-11-24 BC')");
	like(error_of($query), qr/22008/, 'it is refused');
	sql("DELETE FROM t WHERE k < '2000-01-01'");
	same_as_core($query);
};

# Of three groups of 5,000 rows the rest is left when their ends are known.
for (
	[ 'first', 'groups left unseen', 'k < 2000 OR k IN (5005, 10005)' ],
	[ 'last', 'last rows unseen', 'k % 5000 > 4995 OR k % 5000 = 0' ])
{
	my ($end, $mutant, $dead) = @$_;

	scenario "large groups whose $end rows are dead", [$mutant], sub {
		table_of('a int, k int', 'a, k',
			'SELECT (g - 1) / 5000, g FROM generate_series(1, 15000) g');
		sql("DELETE FROM t WHERE $dead; DELETE FROM t WHERE a = 1 AND k < 8000");
		same_as_core(map { "SELECT string_agg(x::text, ' ' ORDER BY x)
			FROM (SELECT a, $_ FROM t GROUP BY a) x" } 'min(k)', 'max(k)', 'min(k), max(k)');
	};
}

# The pages of the ends are not all-visible, those of most other rows are.
scenario "a group's first and last rows are looked at late", ['rows as they come'], sub {
	table_of('a int, k int', 'a, k',
		'SELECT g % 30, g FROM generate_series(1, 9000) g ORDER BY hashint4(g)');
	sql('BEGIN; DELETE FROM t WHERE k < 10 OR k > 8990; ROLLBACK');
	same_as_core(map { "SELECT string_agg(x::text, ' ' ORDER BY x)
		FROM (SELECT DISTINCT ON (a) a, k FROM t ORDER BY a, k $_) x" } '', 'DESC');
};

# Functions take rows in order, also those whose pages are not all-visible.
scenario 'aggregates that take rows in order', ['rows come late'], sub {
	table_of('a int, k int', 'a, k',
		'SELECT g % 30, g FROM generate_series(1, 9000) g ORDER BY hashint4(g)');
	sql('BEGIN; DELETE FROM t WHERE k % 500 = 7; ROLLBACK');
	same_as_core("SELECT md5(string_agg(k::text, ',' ORDER BY a, k)) FROM t",
		"SELECT string_agg(x::text, ' ' ORDER BY x)
		FROM (SELECT a, string_agg(k::text, ',' ORDER BY k) FROM t GROUP BY a) x");
};

# Of three groups of 10,000 rows the rest is counted by pages, when a leaf of it was read (Y19).
my $counts = "SELECT string_agg(x::text, ' ' ORDER BY x) FROM (SELECT a, count(*) FROM t GROUP BY a) x";

sub counted_groups
{
	table_of('a int, k int', 'a, k',
		'SELECT g % 3, g * 7919::int8 % 1000003 FROM generate_series(1, 30000) g');
	is(sql("SELECT leaves >= 6 FROM surfidx_meta('t_k')"), 't', 'each has several leaves');
	my $s = computer($counts);
	is(sql($counts, $s), '(0,10000) (1,10000) (2,10000)', 'all of them');
	return $s;
}

for (['group counted on', 'stages overlap'], ['map looked at', 'vouched for good'])
{
	my ($stop, $mutant) = @$_;

	scenario "rows that a merge brings into a group that is counted, behind $stop", [$mutant], sub {
		my $s = counted_groups();
		arm($stop, 'wait');
		start($counts, $s);
		wait_at($stop);
		sql('INSERT INTO t SELECT 0, 2000000 + g FROM generate_series(1, 5) g');
		sql("SELECT surfidx_merge('t_k')");
		release($stop);
		is(finish($s), '(0,10000) (1,10000) (2,10000)', 'have no part in it');
		is(sql('SELECT count(*) FROM t'), '30005', 'are there');
	};
}

scenario 'rows of a delta that are all-visible, in groups that are counted',
	['counted beside a delta'], sub {
	counted_groups();
	sql('INSERT INTO t SELECT g % 3, 2000000 + g FROM generate_series(1, 30) g');
	sql('VACUUM (INDEX_CLEANUP OFF) t');
	same_as_core($counts);
};

scenario 'a group that is counted by blocks, in a range that ends in a leaf',
	['blocks beyond the range'], sub {
	counted_groups();
	same_as_core(map { "SELECT a, count(*) FROM t WHERE a = 1 AND k < $_ GROUP BY a" }
		345_678, 500_000, 777_777);
};

# ---- a delta among the tree's entries, whose rows are looked at many at a time (R10) ----

# 20,000 rows in the tree, 3,000 in the delta with keys among theirs and of theirs; of either some
# are deleted.
sub large_delta
{
	large_table();
	sql('INSERT INTO t SELECT 1 + g * 7919::int8 % 1000003 FROM generate_series(19001, 22000) g;
		DELETE FROM t WHERE k % 3 = 0');
	return;
}

for (@queries)
{
	my ($name, $query) = @$_;
	my @mutants = $name eq 'sum' ? () : ('rows of batches unseen', 'batches without an end');

	scenario "rows of a large delta, by $name", \@mutants, sub {
		large_delta();
		my $s = computer($query);
		my $core = session();
		sql('SET surfidx.aggregates = off', $core);
		is(sql($query, $s), sql($query, $core), 'the same as row by row');
	};
}

# A merge stands beside the first batches that last, or beside later ones.
for my $skip (0, 1)
{
	scenario "a merge moves entries of batches in hand, $skip", ['twice in a block'], sub {
		my $query = "SELECT sum(k), sum(n), max(k) FROM ($groups) x";

		large_delta();
		my $s = computer($query);
		my $before = sql($query, $s);
		arm('batches last', 'wait', $skip);
		start($query, $s);
		wait_at('batches last');
		sql("SELECT surfidx_merge('t_k')");
		release('batches last');
		is(finish($s), $before, 'each is there once');
	};
}

scenario 'VACUUM beside batches whose rows are not looked at yet', ['rows without a gate'], sub {
	my $query = "SELECT sum(k), sum(n), max(k) FROM ($groups) x";

	large_delta();
	my $s = computer($query);
	my $before = sql($query, $s);
	arm('rows of batches', 'wait');
	start($query, $s);
	wait_at('rows of batches');
	my $v = start($vacuum);
	ok(wait_blocked($v), 'VACUUM waits');
	release('rows of batches');
	is(finish($s), $before, 'dead rows have no part in it');
	is(finish($v), '', 'VACUUM ends');
};

# What was looked at stays as it was, though others take rows away and give their TIDs to new ones.
scenario 'rows deleted, and TIDs of dead ones given away, beside batches in hand', [], sub {
	my $query = "SELECT sum(k), sum(n), max(k) FROM ($groups) x";

	large_delta();
	my $s = computer($query);
	my $before = sql($query, $s);
	arm('metapage read', 'wait', 3);
	start($query, $s);
	wait_at('metapage read');
	sql('DELETE FROM t WHERE k % 5 = 0');
	my $v = start("$vacuum; INSERT INTO t SELECT 1 + g * 17 FROM generate_series(1, 9000) g");
	release('metapage read');
	is(finish($s), $before, 'the same rows');
	is(finish($v), '', 'VACUUM ends');
};

# Each query, by the index as core computes it.
sub all_as_row_by_row
{
	my $core = session();

	sql('SET surfidx.aggregates = off', $core);
	for (@queries)
	{
		my $s = computer($_->[1]);
		is(sql($_->[1], $s), sql($_->[1], $core), "$_->[0]: the same as row by row");
	}
	return;
}

# A frozen generation beside the tree, and an active one: a merge has stopped in the midst.
scenario 'a merge that has frozen a large delta', [], sub {
	large_delta();
	arm('frozen', 'wait');
	my $m = start("SELECT surfidx_merge('t_k') > 0");
	if (come_by('frozen', $m))
	{
		sql('INSERT INTO t SELECT 1 + g * 7919::int8 % 1000003 FROM generate_series(21001, 24000) g;
			DELETE FROM t WHERE k % 7 = 0');
		all_as_row_by_row();
		release('frozen');
	}
	finish($m);
};

scenario 'a merge that has frozen its delta', [], sub {
	table($ways[0]);
	sql('INSERT INTO t SELECT generate_series(2001, 2400); DELETE FROM t WHERE k % 7 = 0');
	arm('frozen', 'wait');
	my $m = start("SELECT surfidx_merge('t_k') > 0");
	if (come_by('frozen', $m))
	{
		sql('INSERT INTO t SELECT generate_series(2401, 2500)');
		all_as_row_by_row();
		release('frozen');
	}
	finish($m);
};

run_scenarios(conf => ['surfidx.aggregates = on']);
