# One scenario for each rule of src/README.md that closes a hole; scripts/mutants.sh proves that each fails where its rule is broken.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops qw(:DEFAULT sound first_rows);
use Test::More;

my $index_scans = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off';
my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';

sub reader
{
	my $s = session();

	sql($index_scans, $s);
	return $s;
}

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

# What VACUUM would merge before it cleans leaves (V6) it leaves, or does not.
sub merge_before_leaves
{
	my ($yes) = @_;

	set_system('surfidx.mutants', join ',', grep { length } $ENV{SURFIDX_MUTANT} // '',
		$yes ? () : 'leaves before the merge');
	return;
}

# VACUUM that frees the table's TIDs and merges nothing.
sub vacuum_only
{
	merge_before_leaves(0);
	arm('vacuum cleanup', 'error');
	is(error_of($vacuum), '22000', 'VACUUM stops before its merge');
	release('vacuum cleanup');
	merge_before_leaves(1);
	return;
}

# ------------------------------------------------------------------------------------------ gates (V3, R1)

scenario 'VACUUM waits for an index-only cursor', ['no gate'], sub {
	build(2000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	sql($vacuum);
	sql('DELETE FROM t WHERE k = 1500');
	my $cursor = reader();
	is(sql('BEGIN; DECLARE c CURSOR FOR SELECT k FROM t ORDER BY k; FETCH 1 FROM c', $cursor), '1', 'the cursor stands');
	my $v = start($vacuum);
	ok(wait_blocked($v), 'VACUUM waits');
	my @rows = split /,/, sql('FETCH 1999 FROM c', $cursor);
	is(scalar(@rows), 1998, 'every live row');
	ok(!(grep { $_ == 1500 } @rows), 'and no deleted one');
	sql('COMMIT', $cursor);
	is(finish($v), '', 'VACUUM ends');
	sound('t_k');
};

scenario 'a VACUUM that failed behind its flip', ['one gate'], sub {
	build(2000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	sql($vacuum);
	sql('DELETE FROM t WHERE k = 1500');
	my $cursor = reader();
	sql('BEGIN; DECLARE c CURSOR FOR SELECT k FROM t ORDER BY k; FETCH 1 FROM c', $cursor);
	arm('gate flipped', 'error');
	is(error_of($vacuum), '22000', 'VACUUM fails after its flip');
	release('gate flipped');
	my $v = start($vacuum);
	ok(wait_blocked($v), 'the next one waits all the same');
	my @rows = split /,/, sql('FETCH 1999 FROM c', $cursor);
	is(scalar(@rows), 1998, 'every live row, and no deleted one');
	sql('COMMIT', $cursor);
	is(finish($v), '', 'VACUUM ends');
};

scenario 'a scan between choosing and pinning its gate', ['gate not read again'], sub {
	build(500, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql($vacuum);
	sql('INSERT INTO t SELECT g FROM generate_series(501, 600) g');
	my $s = reader();
	is(sql('SELECT count(*) FROM t WHERE k > 500', $s), '100', 'the image is filled');
	# in its first batch, which is a small one
	sql('DELETE FROM t WHERE k = 502');
	arm('gate chosen', 'wait');
	start('SELECT count(*) FROM t WHERE k > 500', $s);
	wait_at('gate chosen');
	vacuum_only();
	release('gate chosen');
	is(finish($s), '99', 'no row from the dead');
	sound('t_k');
};

scenario 'VACUUM holds no merge lock while it waits for a gate', ['gate under merge lock'], sub {
	build(2000, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	sql('DELETE FROM t WHERE k = 1500');
	my $cursor = reader();
	sql('BEGIN; DECLARE c CURSOR FOR SELECT k FROM t ORDER BY k; FETCH 1 FROM c', $cursor);
	my $v = start($vacuum);
	ok(wait_blocked($v), 'VACUUM waits');
	is(sql("INSERT INTO t VALUES (3000)", $cursor), '', 'the session with the cursor inserts, with a check that needs a gate');
	is(sql("SELECT surfidx_merge('t_k')", $cursor), '1', 'and merges');
	sql('COMMIT', $cursor);
	is(finish($v), '', 'VACUUM ends');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ removals (V1, V2, M2)

scenario 'an image from before VACUUM is not used after it', ['no removal counter'], sub {
	build(500, 'CREATE INDEX t_k ON t USING surfidx (k)');
	my $s = reader();
	is(sql('SELECT count(*) FROM t WHERE k > 0', $s), '500', 'the image is filled');
	sql('DELETE FROM t WHERE k = 250');
	vacuum_only();
	is(sql('SELECT count(*) FROM t WHERE k > 0', $s), '499', 'the deleted row is gone');
	is(sql("INSERT INTO t VALUES (9999); SELECT count(*) FROM t WHERE k = 250", $s), '0', 'also when its TID has a new row');
	sound('t_k');
};

scenario 'flags that an interrupted VACUUM left', ['only own flags count'], sub {
	build(500, 'CREATE INDEX t_k ON t USING surfidx (k)');
	my $s = reader();
	is(sql('SELECT count(*) FROM t WHERE k > 0', $s), '500', 'the image is filled');
	sql('DELETE FROM t WHERE k = 250');
	arm('log flagged', 'error');
	is(error_of($vacuum), '22000', 'VACUUM stops between flags and counter');
	release('log flagged');
	vacuum_only();
	is(sql('SELECT count(*) FROM t WHERE k > 0', $s), '499', 'the deleted row is gone');
};

scenario 'a cancelled VACUUM loses no row', [], sub {
	build(500, 'CREATE INDEX t_k ON t USING surfidx (k)');
	my $s = reader();
	sql('SELECT count(*) FROM t WHERE k > 0', $s);
	for my $point ('log flagged', 'stage vacuumed', 'tree vacuumed', 'gate flipped')
	{
		sql("DELETE FROM t WHERE k % 10 = " . length($point) % 10);
		arm($point, 'wait');
		my $v = start($vacuum);
		wait_at($point);
		sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'VACUUM%' AND pid <> pg_backend_pid()");
		is(finish($v), 'error 57014', "cancelled at \"$point\"");
		release($point);
		is(sql('SELECT count(*) FROM t WHERE k > 0', $s), sql('SET enable_indexonlyscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM t'), 'nothing lost');
		sound('t_k');
	}
};

# What it has done is counted with each group: what was counted at its end never was, if it had none.
for my $action ('wait', 'crash')
{
	scenario "the counts of a VACUUM that ends half-way, by $action", ['counts at the end'], sub {
		my $left = "SELECT entries FROM surfidx_meta('t_s')";

		build(6003, 'CREATE INDEX t_s ON t USING surfidx (s)', 64);
		sql("SELECT surfidx_merge('t_s')");
		sql('DELETE FROM t WHERE k > 6000');
		sql($vacuum);
		is(sql($left), '6000', 'one that ends in peace counts what it has done');
		sql('DELETE FROM t WHERE k % 3 = 0');
		arm('swap', $action, 2);
		my $v = start($vacuum);
		if ($action eq 'wait')
		{
			wait_at('swap');
			sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'VACUUM%' AND pid <> pg_backend_pid()");
			is(finish($v), 'error 57014', 'cancelled in the midst of the leaves');
			release('swap');
		}
		else
		{
			restart('gone');
		}
		cmp_ok(sql($left), '>', 4000, 'there is something left to do');
		cmp_ok(sql($left), '<', 6000, 'and something was done');
		sql($vacuum);
		is(sql($left), '4000', 'the next one counts what there is');
		sound('t_s');
	};
}

scenario 'a page pruned behind VACUUM\'s first pass', [], sub {
	my $entries = "SELECT array[(surfidx_meta('t_k')).entries, (surfidx_meta('t_n')).entries]";
	my $s = reader();

	build(3000, 'CREATE INDEX t_k ON t USING surfidx (k); CREATE INDEX t_n ON t USING surfidx (n)');
	sql("SELECT surfidx_merge('t_k'), surfidx_merge('t_n')");
	sql($vacuum);
	sql('DELETE FROM t WHERE k = 250');
	arm('stage vacuumed', 'wait');
	my $v = start($vacuum);
	wait_at('stage vacuumed');
	sql('DELETE FROM t WHERE k BETWEEN 1000 AND 1009');
	is(sql('SELECT count(s) FROM t'), '2989', 'rows that VACUUM has not seen dead');
	release('stage vacuumed');
	is(finish($v), '', 'VACUUM ends');
	is(sql($entries), '{2999,2989}', 'the second index has not got them any more');
	is(sql("SELECT count(*) FROM t WHERE $_ > 0", $s), '2989', "rows by $_") for 'k', 'n';
	sound($_) for 't_k', 't_n';
	sql('INSERT INTO t SELECT g, md5(g::text), g FROM generate_series(3001, 3020) g');
	is(sql("SELECT count(*) FROM t WHERE $_ > 0", $s), '3009', 'and others') for 'k', 'n';
	sql($vacuum);
	sql('INSERT INTO t SELECT g, md5(g::text), g FROM generate_series(3021, 3040) g');
	is(sql("SELECT count(*) FROM t WHERE $_ > 0", $s), '3029', 'and more') for 'k', 'n';
	sound($_) for 't_k', 't_n';
};

scenario 'VACUUM goes the way that entries go', ['tree before log'], sub {
	build(500, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql('DELETE FROM t WHERE k = 250');
	arm('stage vacuumed', 'wait');
	my $v = start($vacuum);
	wait_at('stage vacuumed');
	sql("SELECT surfidx_merge('t_k')");
	release('stage vacuumed');
	is(finish($v), '', 'VACUUM ends');
	is(sql('SELECT count(*) FROM t WHERE k > 0', reader()), '499', 'the deleted row is gone');
	sql('INSERT INTO t VALUES (250), (251)');
	sound('t_k');
};

scenario 'a leaf with new and dead entries is written once', ['leaves before the merge'], sub {
	build(60000, 'CREATE INDEX t_s ON t USING surfidx (s) WITH (hope = off, run_ratio = 0)');
	sql("SELECT surfidx_merge('t_s')");
	is(sql("SELECT leaves > 130 FROM surfidx_meta('t_s')"), 't',
		'more leaves than VACUUM would write in vain');
	sql('INSERT INTO t SELECT g, md5(g::text), g FROM generate_series(60001, 62000) g;
		DELETE FROM t WHERE k % 20 = 0');
	sql($vacuum);
	is(sql("SELECT delta_entries FROM surfidx_meta('t_s')"), '0',
		'the delta went with the dead entries');
	sound('t_s');
};

scenario 'a merge that waited for its lock while VACUUM went by', ['metapage before merge lock'], sub {
	build(500, 'CREATE INDEX t_k ON t USING surfidx (k)');
	my $s = reader();
	is(sql('SELECT count(*) FROM t WHERE k > 0', $s), '500', 'the image is filled');
	# before the merge's snapshot, or VACUUM could not remove it
	sql('DELETE FROM t WHERE k = 250');
	arm('merge lock', 'wait');
	my $m = start("SELECT surfidx_merge('t_k')");
	wait_at('merge lock');
	vacuum_only();
	release('merge lock');
	is(finish($m), '499', 'the merge ends');
	is(sql('SELECT count(*) FROM t WHERE k > 0', $s), '499', 'the deleted row is gone');
	sound('t_k');
};

# Rows from 1 to $n with long texts, each of which comes up to $off places too late; index t_s,
# nothing merged.
sub nearly_in_order
{
	my ($n, $off) = @_;

	build(0, 'CREATE INDEX t_s ON t USING surfidx (s) WITH (hope = off, merge_ratio = 10)');
	sql("INSERT INTO t SELECT g, concat(to_char(g, 'FM0000000'), md5(g::text), md5((-g)::text),
			md5((g * 7)::text)), g
		FROM generate_series(1, $n) g ORDER BY g + g * 7919 % ($off + 1)");
	return;
}

scenario 'a log in order, and VACUUM between two groups', ['pieces outlive the merge lock'], sub {
	nearly_in_order(6000, 0);
	# before the merge's snapshot, or VACUUM could not remove them
	sql('DELETE FROM t WHERE k % 2 = 0');
	arm('group merged', 'wait');
	my $m = start("SELECT surfidx_merge('t_s')");
	wait_at('group merged');
	vacuum_only();
	release('group merged');
	finish($m);
	is(sql("SELECT surfidx_count('t_s')"), 3000, 'no entry of a row that is gone');
	sound('t_s');
};

scenario 'a log nearly in order', ['logs unsorted'], sub {
	nearly_in_order(20000, 300);
	is(sql("SELECT surfidx_merge('t_s')"), 20000, 'all entries are merged');
	is(sql("SELECT count(*) FROM t WHERE s > ''", reader()), 20000, 'every row');
	sound('t_s');
};

for my $off (0, 300)
{
	scenario "a crash in the merge of a log $off places out of order", [], sub {
		nearly_in_order(12000, $off);
		for my $time (1, 2)
		{
			arm('group merged', 'crash');
			is(error_of("SELECT surfidx_merge('t_s')"), 'lost', 'the server goes down');
			restart('gone');
			sound('t_s');
			is(sql("SELECT count(*) FROM t WHERE s > ''", reader()), 12000, 'every row');
		}
		sql("INSERT INTO t SELECT g, md5(g::text), g FROM generate_series(12001, 12500) g");
		sql("SELECT surfidx_merge('t_s')");
		is(sql("SELECT surfidx_count('t_s')"), 12500, 'each entry is counted once');
		sound('t_s');
	};
}

scenario 'a log in order of which readers have found much dead', ['logs bring back the dead'], sub {
	nearly_in_order(2000, 0);
	sql('DELETE FROM t WHERE k % 2 = 0');
	sql("SELECT count(*) FROM t WHERE s > ''", reader()) for 1 .. 3;
	cmp_ok(sql("SELECT surfidx_merge('t_s')"), '<', 1500, 'the merge leaves them out');
	sound('t_s');
};

scenario 'a parent that VACUUM changes between two groups of a merge', ['parent kept unseen'], sub {
	build(20000, 'CREATE INDEX t_s ON t USING surfidx (s) WITH (hope = off)');
	sql("SELECT surfidx_merge('t_s'); ALTER INDEX t_s SET (merge_ratio = 10)");
	sql("INSERT INTO t SELECT g, md5(g::text), g FROM generate_series(20001, 24000) g; DELETE FROM t WHERE s > 'b'");
	arm('group merged', 'wait');
	my $m = start("SELECT surfidx_merge('t_s')");
	wait_at('group merged');
	vacuum_only();
	release('group merged');
	like(finish($m), qr{^\d+$}, 'the merge goes on');
	is(sql("SELECT surfidx_count('t_s')"), sql('SELECT count(*) FROM t'), 'each entry is counted once');
	sound('t_s');
};

scenario 'the same key at the same TID again', ['flag means pair'], sub {
	build(0, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql('INSERT INTO t VALUES (5)');
	my $tid = sql('SELECT ctid FROM t');
	sql('DELETE FROM t');
	vacuum_only();
	sql('INSERT INTO t VALUES (5)');
	is(sql('SELECT ctid FROM t'), $tid, 'the TID has a new row');
	my $s = reader();
	is(sql('SELECT k FROM t WHERE k = 5', $s), '5', 'found in the log');
	sql("SELECT surfidx_merge('t_k')");
	is(sql('SELECT k FROM t WHERE k = 5', $s), '5', 'found in the tree');
	sql('DELETE FROM t; INSERT INTO t VALUES (6)');
	vacuum_only();
	sql('INSERT INTO t VALUES (5)');
	is(sql('SELECT k FROM t WHERE k = 5', $s), '5', 'found when the tree had it before');
	sound('t_k');
};

scenario 'keys that come into an image after its filter (I4)', ['filter is not told'], sub {
	build(0, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k) WITH (delta_size = 65536, merge_ratio = 10)');
	# each looks for its key: that is what a filter is made for
	sql('INSERT INTO t SELECT 2 * g FROM generate_series(1, 3000) g');
	my $s = reader();
	my $lookups = 'SELECT count(*) FROM generate_series(1, 8000) g JOIN t ON k = g';
	sql('SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off', $s);
	is(sql($lookups, $s), '3000', 'what came before the lookups');
	sql('INSERT INTO t SELECT 2 * g + 1 FROM generate_series(1, 100) g');
	is(sql($lookups, $s), '3100', 'what came after them');
	# many at once, sorted
	sql('INSERT INTO t SELECT 10000 + g FROM generate_series(1, 3000) g');
	is(sql('SELECT count(*) FROM generate_series(10001, 13000) g JOIN t ON k = g', $s), '3000', 'and some pages of them');
	is(error_of('INSERT INTO t VALUES (10003)'), '23505', 'a duplicate is one');
	is(error_of('INSERT INTO t VALUES (204, NULL, 1)'), '23505', 'another one');
	is(error_of('INSERT INTO t VALUES (205)'), '', 'what is new is new');
	sound('t_k');
};

scenario 'a few entries of the log that no image has (I9)', ['end of the log unread'], sub {
	build(100, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)
		WITH (delta_size = 65536, merge_ratio = 10)');
	my $s = reader();
	sql('INSERT INTO t SELECT 1000 + 10 * g FROM generate_series(1, 500) g');
	is(sql('SELECT k FROM t WHERE k = 1010', $s), '1010', 'an image of the log');
	sql("INSERT INTO t VALUES ($_)") for 1015, 1005, 1025;
	is(sql("SELECT k FROM t WHERE k = $_", $s), $_, "$_ is found") for 1005, 1015, 1025, 1020;
	is(sql('SELECT k FROM t WHERE k = 1006', $s), '', 'what is not there is not');
	my $range = 'SELECT k FROM t WHERE k BETWEEN 1003 AND 1027 ORDER BY k';
	is(sql($range, $s), join(",", 1005, 1010, 1015, 1020, 1025), 'in order');
	is(sql("$range DESC", $s), join(",", 1025, 1020, 1015, 1010, 1005), 'and backward');
	is(sql("$range DESC LIMIT 1 OFFSET 4", $s), '1005', 'the last of them');
	is(error_of('INSERT INTO t VALUES (1015)'), '23505', 'a duplicate is one');
	sql('DELETE FROM t WHERE k = 1015');
	vacuum_only();
	is(error_of('INSERT INTO t VALUES (1015)'), '', 'not of what VACUUM has flagged');
	is(sql('SELECT k FROM t WHERE k = 1015', $s), '1015', 'the new row');
	for my $n (1 .. 60) {
		sql("INSERT INTO t VALUES (1000000 + $n)");
		my $found = sql("SELECT count(*) FROM t WHERE k = 1000000 + $n", $s);
		is($found, '1', "row $n of many") if $found ne '1' || $n == 60;
	}
	is(sql('SELECT count(k) FROM t WHERE k > 1000000', $s), '60', 'all of them');
	sound('t_k');
};

scenario 'a long end of the log, which one reader goes to apply (I9)', [], sub {
	build(100, 'CREATE INDEX t_k ON t USING surfidx (k)
		WITH (delta_size = 65536, merge_ratio = 10)');
	my $s = reader();
	sql('INSERT INTO t SELECT 1000 + g FROM generate_series(1, 100) g');
	is(sql('SELECT k FROM t WHERE k = 1001', $s), '1001', 'an image of the log');
	sql('INSERT INTO t SELECT 2000 + g FROM generate_series(1, 25) g');
	arm('log to apply', 'wait');
	start('SELECT k FROM t WHERE k = 2025', $s);
	wait_at('log to apply');
	my $other = reader();
	is(sql("SELECT k FROM t WHERE k = $_", $other), $_, "$_ is found by another one")
	  for 2001, 2025, 1050;
	sql('INSERT INTO t VALUES (3000)');
	is(sql('SELECT k FROM t WHERE k = 3000', $other), '3000', 'with what came since');
	release('log to apply');
	is(finish($s), '2025', 'and by the one');
	is(sql('SELECT count(*) FROM t WHERE k > 1000', $s), '126', 'all');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ stages and the tree (R2, R3, R4, T1)

scenario 'an entry that is merged between the two looks of a step', ['leaf before delta,no restart'], sub {
	build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	my $s = reader();
	arm('between stages', 'wait');
	start('SELECT count(*), sum(k) FROM t WHERE k > 0', $s);
	wait_at('between stages');
	sql("SELECT surfidx_merge('t_k')");
	# the generation's pages get a new life
	sql('CREATE INDEX t_2 ON t USING surfidx (n); INSERT INTO t SELECT -1 FROM generate_series(1, 4000)');
	release('between stages');
	is(finish($s), '3000|4501500', 'every row once');
	sound('t_k');
};

scenario 'a generation that becomes a run before a reader comes to it', ['no restart'], sub {
	build(20000, 'CREATE INDEX t_k ON t USING surfidx (s)');
	sql("SELECT surfidx_merge('t_k')");
	sql('ALTER INDEX t_k SET (delta_size = 64, run_ratio = 10, merge_ratio = 10)');
	sql('INSERT INTO t SELECT g, md5(g::text) FROM generate_series(20001, 30000) g');
	my $s = reader();
	arm('between generations', 'wait');
	start("SELECT count(*), sum(k) FROM t WHERE s > ''", $s);
	wait_at('between generations');
	sql($vacuum);
	is(sql("SELECT count(*) FROM surfidx_runs('t_k')"), 2, 'a run that the reader does not know');
	# the generation's pages get a new life
	sql('INSERT INTO t SELECT g, md5(g::text) FROM generate_series(30001, 50000) g');
	release('between generations');
	is(finish($s), '30000|450015000', 'every row once');
	sound('t_k');
};

scenario 'an entry in two stages of a step whose keys nobody needs', ['twice in two stages'], sub {
	sql(q{DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text COLLATE "C") WITH (autovacuum_enabled = off);
		INSERT INTO t SELECT g, 'department ' || g * 7919 % 20011 || ' of the office at ' || g % 7 || '.example.org' FROM generate_series(1, 20000) g; CREATE INDEX t_k ON t USING surfidx (s)});
	is(sql("SELECT count(*) FROM surfidx_dictionaries('t_k')"), '1', 'words that take time to decode');
	sql(q{INSERT INTO t SELECT 0, 'department ' || g * 50 || 'b' FROM generate_series(1, 400) g});
	for my $dir (qw(ASC DESC)) {
		my $s = reader();
		arm('between stages', 'wait');
		start("SELECT count(*) FROM (SELECT 1 FROM t ORDER BY s $dir OFFSET 0) x", $s);
		wait_at('between stages');
		sql("SELECT surfidx_merge('t_k')");
		release('between stages');
		is(finish($s), $dir eq 'ASC' ? '20400' : '20800', "every row counted once, $dir");
		sound('t_k');
		sql(q{INSERT INTO t SELECT 0, 'department ' || g * 50 || 'c' FROM generate_series(1, 400) g});
	}
};

scenario 'a leaf that was split on the way to it', ['no fences'], sub {
	build(4000, 'CREATE INDEX t_k ON t USING surfidx (s)', 300);
	sql("SELECT surfidx_merge('t_k')");
	my $s = reader();
	my @sought = split /,/, sql('SELECT s FROM t ORDER BY s COLLATE "C" OFFSET 700 LIMIT 20');
	for my $want (@sought[ 0, 19 ])
	{
		arm('leaf chosen', 'wait');
		start("SELECT count(*) FROM t WHERE s = '$want'", $s);
		wait_at('leaf chosen');
		# many entries below each key push it to the right
		sql("INSERT INTO t SELECT g, left(s, 40) || g FROM t, generate_series(1, 40) g WHERE s <= '$want' AND s > (SELECT max(x) FROM (SELECT s x FROM t WHERE s < '$want' ORDER BY s LIMIT 1) y) AND k % 20 = 1");
		sql("SELECT surfidx_merge('t_k')");
		release('leaf chosen');
		is(finish($s), '1', 'found after the split');
	}
	sound('t_k');
};

scenario 'leaves that go and get a new life while a scan is on the way to them', [], sub {
	build(6000, 'CREATE INDEX t_k ON t USING surfidx (s)', 300);
	sql("SELECT surfidx_merge('t_k')");
	for my $order ('ASC', 'DESC')
	{
		my $s = session();
		my $want = sql('SELECT md5(string_agg(s, \',\' ORDER BY s)) FROM t WHERE k % 5 = 0');
		sql("$index_scans; SET enable_indexonlyscan = off", $s);
		sql('DELETE FROM t WHERE k % 5 <> 0');
		arm('leaf chosen', 'wait', 3);
		start("SELECT md5(string_agg(s, ',' ORDER BY s)) FROM (SELECT s FROM t ORDER BY s $order) x", $s);
		wait_at('leaf chosen');
		sql($vacuum);
		sql("INSERT INTO t SELECT 10 * g + 1, repeat(md5((10 * g + 1)::text), 10) FROM generate_series(1, 3000) g; SELECT surfidx_merge('t_k')");
		release('leaf chosen');
		is(finish($s), $want, "every row of the snapshot: $order");
		sound('t_k');
	}
};

# ------------------------------------------------------------------------------------------ copies of roots, and the file's end

scenario 'a copy of the root whose links lead beyond the end of the file', ['old copies of roots,memories outlive files'], sub {
	build(9000, 'CREATE INDEX t_k ON t USING surfidx (s)', 300);
	sql("SELECT surfidx_merge('t_k')");
	my $s = reader();
	my @sought = split /,/, sql('SELECT s FROM t WHERE k % 300 = 1 ORDER BY s');
	# a copy is made after some hundred descents
	for (1 .. 9) { is(sql(join('; ', map { "SELECT count(*) FROM t WHERE s = '$_'" } @sought), $s), join(',', map { 1 } @sought), 'every one found') }
	my $blocks = sql("SELECT pg_relation_size('t_k') / 8192");
	sql('DELETE FROM t WHERE k % 300 <> 1');
	sql($vacuum) for 1 .. 2;
	cmp_ok(sql("SELECT pg_relation_size('t_k') / 8192"), '<', $blocks / 2, 'the file was cut off');
	is(eval { sql(join('; ', map { "SELECT count(*) FROM t WHERE s = '$_'" } @sought), $s) } // $@, join(',', map { 1 } @sought), 'and again');
	sound('t_k');
};

scenario 'guesses that are wrong (B5)', ['guesses believed'], sub {
	# in Czech ch is a letter between h and i, which single characters do not tell
	build(0, 'CREATE INDEX t_k ON t USING surfidx (s COLLATE "cs-x-icu")');
	sql(q{INSERT INTO t SELECT i, CASE WHEN i % 25 = 0 THEN 'ch'
			ELSE translate(left(md5('a' || i), 2), '0123456789', 'ghijklmnop') END || md5(i::text)
		FROM generate_series(1, 20000) i});
	sql("SELECT surfidx_merge('t_k')");
	my $s = reader();
	my $all = 'SELECT count(x.s) FROM sought,
		LATERAL (SELECT s FROM t WHERE s COLLATE "cs-x-icu" = sought.s) x';
	sql('DROP TABLE IF EXISTS sought;
		CREATE TABLE sought AS SELECT s FROM t WHERE k % 15 = 10 ORDER BY md5(s)');
	sql('SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off', $s);
	is(sql($all, $s), sql('SELECT count(*) FROM sought'), 'all found') for 1 .. 2;
	sound('t_k');
};

scenario 'guesses in images that are wrong (B5)', ['guesses of images unproved'], sub {
	# in Danish aa is a letter after z; nothing is merged
	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text COLLATE "da-x-icu")
		WITH (autovacuum_enabled = off); CREATE INDEX t_k ON t USING surfidx (s)');
	my $s = reader();
	sql("INSERT INTO t SELECT i, translate(md5(i::text), '0123', 'aaAz')
		FROM generate_series(1, 3000) i", $s);
	sql('SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off', $s);
	is(sql('SELECT count(x.s) FROM (SELECT s FROM t ORDER BY k OFFSET 0) w,
		LATERAL (SELECT s FROM t WHERE s = w.s) x', $s), '3000', 'all found');
	my $words = "SELECT md5(string_agg(s, ',')) FROM";
	is(sql("$words (SELECT s FROM t ORDER BY s) x", $s),
		sql("SET enable_indexonlyscan = off; SET enable_indexscan = off;
			SET enable_bitmapscan = off; SET enable_seqscan = on; $words (SELECT s FROM t ORDER BY s) x"), 'in order');
	sound('t_k');
};

scenario 'a copy of several levels whose links lead beyond the end of the file',
  ['old copies of roots,memories outlive files'], sub {
	# groups of rows share nearly all of their keys, so that separators are long, and few fit on a page
	build(0, 'CREATE INDEX t_k ON t USING surfidx (s)');
	sql("INSERT INTO t SELECT g * 200 + i, g.s || to_char(i, 'FM000') FROM
		(SELECT g, (SELECT string_agg(md5(g || ':' || j), '') FROM generate_series(1, 31) j) s FROM generate_series(1, 150) g) g, generate_series(1, 120) i");
	sql("SELECT surfidx_merge('t_k')");
	cmp_ok(sql("SELECT level FROM surfidx_meta('t_k')"), '>=', 2, 'levels of inner pages');
	my $s = reader();
	my $all = 'SELECT count(x.s) FROM sought, LATERAL (SELECT s FROM t WHERE s = sought.s) x';
	# each in another leaf than the one before, so that all are looked up from the root
	sql('DROP TABLE IF EXISTS sought; CREATE TABLE sought AS SELECT s FROM t WHERE k % 20 = 7 ORDER BY md5(s)');
	sql('SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off', $s);
	my $count = sql('SELECT count(*) FROM sought');
	is(sql($all, $s), $count, 'all found') for 1 .. 1 + 5000 / $count;
	my $blocks = sql("SELECT pg_relation_size('t_k') / 8192");
	sql('DELETE FROM t WHERE k % 20 <> 7');
	sql($vacuum) for 1 .. 2;
	cmp_ok(sql("SELECT pg_relation_size('t_k') / 8192"), '<', $blocks / 2, 'the file was cut off');
	is(eval { sql($all, $s) } // $@, $count, 'and again');
	sound('t_k');
	sql('DROP TABLE sought');
};

# A copy of the root leads to leaves that have moved: what is there must not pass for the leaf, and what is on its left must lead on.
scenario 'leaves that move to other blocks (G1)', [ 'moved pages stay', 'left neighbours keep their links' ], sub {
	build(9000, 'ALTER TABLE t SET (vacuum_truncate = off); CREATE INDEX t_k ON t USING surfidx (s)', 300);
	sql("SELECT surfidx_merge('t_k')");
	my $s = reader();
	my @sought = split /,/, sql('SELECT s FROM t WHERE k % 300 = 1 ORDER BY s');
	my $find = sub { sql(join('; ', map { "SELECT count(*) FROM t WHERE s = '$_'" } @sought), $s) };
	# VACUUM leaves the file as it is, with free blocks in it
	sql('DELETE FROM t WHERE k % 300 <> 1');
	sql($vacuum) for 1 .. 2;
	for (1 .. 9) { is($find->(), join(',', map { 1 } @sought), 'every one found') }
	# the file keeps its length, so the copy stays good, as long as somebody reads
	my $other = reader();
	sql('BEGIN; DECLARE c CURSOR FOR SELECT s FROM t ORDER BY s; FETCH 1 FROM c', $other);
	sql("INSERT INTO t SELECT k + 1, s FROM t; SELECT surfidx_merge('t_k')");
	is($find->(), join(',', map { 2 } @sought), 'every one found twice');
	sql('COMMIT', $other);
	sound('t_k');
};

scenario 'the end of the file is not cut off while somebody is on the way there (G3)', ['cut off what is read'], sub {
	build(9000, 'ALTER TABLE t SET (vacuum_truncate = off); CREATE INDEX t_k ON t USING surfidx (s)', 300);
	sql("SELECT surfidx_merge('t_k')");
	sql('DELETE FROM t WHERE k % 300 <> 1');
	sql($vacuum) for 1 .. 2;
	my $s = reader();
	my $blocks = sql("SELECT pg_relation_size('t_k') / 8192");
	arm('leaf chosen', 'wait', 1);
	start('SELECT count(*) FROM (SELECT s FROM t ORDER BY s DESC) x', $s);
	wait_at('leaf chosen');
	sql("SELECT surfidx_merge('t_k')");
	is(sql("SELECT pg_relation_size('t_k') / 8192"), $blocks, 'the file keeps its length');
	release('leaf chosen');
	is(finish($s), '30', 'every row');
	sql("SELECT surfidx_merge('t_k')");
	cmp_ok(sql("SELECT pg_relation_size('t_k') / 8192"), '<', $blocks / 2, 'then it is cut off');
	sound('t_k');
};

scenario 'images go with their files (I8)', ['images outlive their files'], sub {
	my $images = q(SELECT used FROM surfidx_shared_memory() WHERE name = 'images');
	my $before = sql($images);

	for (1 .. 3)
	{
		sql('DROP TABLE IF EXISTS g; CREATE TABLE g (k int); CREATE UNIQUE INDEX g_k ON g USING
			surfidx (k)');
		sql('INSERT INTO g VALUES (1), (2)');
		is(sql($images), $before + 1, 'there is one');
		sql($_ == 1 ? 'DROP TABLE g' : $_ == 2 ? 'TRUNCATE g' : 'REINDEX INDEX g_k');
		is(sql($images), $before, 'there is none');
	}
	sql('DROP TABLE g');
};

scenario 'a merge whose session is terminated leaves its place', [], sub {
	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int); CREATE INDEX t_k ON t USING surfidx (k);
		INSERT INTO t SELECT generate_series(1, 2000)');
	my $merges = q(SELECT used FROM surfidx_shared_memory() WHERE name = 'merges');
	my $s = session();
	arm('generations merged', 'wait');
	start("SELECT surfidx_merge('t_k')", $s);
	wait_at('generations merged');
	is(sql($merges), '1', 'it is seen');
	sql("SELECT pg_terminate_backend($s->{backend}, 60000)");
	is(sql($merges), '0', 'and is gone with its session');
	release('generations merged');
};

scenario 'an inserter whose place in the log is beyond the end of the file (G3)', ['believe old tails'], sub {
	build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	my $s = reader();
	sql('INSERT INTO t SELECT g FROM generate_series(10001, 50000) g', $s);
	my $blocks = sql("SELECT pg_relation_size('t_k') / 8192");
	# no VACUUM: it changes pg_class, and sessions then forget all that they know of the index
	sql("SELECT surfidx_merge('t_k')");
	cmp_ok(sql("SELECT pg_relation_size('t_k') / 8192"), '<', $blocks - 16, 'the log is gone, and its place as well');
	is(eval { sql('INSERT INTO t VALUES (60000)', $s) } // $@, '', 'the inserter finds another one');
	is(sql('SELECT count(*) FROM t WHERE k = 60000', reader()), '1', 'and the row is found');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ where trees end

scenario 'keys beyond the last one, which come after all', ['old ends of trees'], sub {
	build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	my $s = reader();
	my $beyond = sub { sql("SELECT count(*) FROM generate_series($_[0], $_[0] + 99) g, LATERAL (SELECT k FROM t WHERE k = g OFFSET 0) x", $s) };
	is($beyond->(9000), '0', 'nothing yet');
	sql("INSERT INTO t SELECT g, md5(g::text) FROM generate_series(9000, 9049) g");
	is($beyond->(9000), '50', 'in the delta');
	sql("SELECT surfidx_merge('t_k')");
	is($beyond->(9000), '50', 'in the tree');
	is($beyond->(9050), '0', 'nothing again');
	is(sql('SELECT k FROM t WHERE k > 9020 ORDER BY k DESC LIMIT 1', $s), '9049', 'backward');
	sql("INSERT INTO t SELECT g, md5(g::text) FROM generate_series(9050, 9059) g");
	arm('metapage read', 'wait');
	start('SELECT count(*) FROM t WHERE k >= 9050', $s);
	wait_at('metapage read');
	sql("SELECT surfidx_merge('t_k')");
	release('metapage read');
	is(finish($s), '10', 'merged between the metapage and the tree');
	sql('DELETE FROM t WHERE k >= 9000');
	sql($vacuum);
	is($beyond->(8990), '0', 'gone');
	sql("INSERT INTO t SELECT g, md5(g::text) FROM generate_series(8990, 9010) g; SELECT surfidx_merge('t_k')");
	is($beyond->(8990), '21', 'and there again, below what the tree ended with');
	sound('t_k');
};

# ---- what was passed ----

# A session that asks the table about each row.
sub queue_reader
{
	my $s = reader();

	sql('SET enable_indexonlyscan = off', $s);
	return $s;
}

scenario 'rows that come where others were passed', ['passed for good'], sub {
	build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	my $s = queue_reader();
	sql('DELETE FROM t WHERE k <= 25');
	is(first_rows(1, $s), '26', 'all dead ones are passed') for 1 .. 2;
	sql('INSERT INTO t VALUES (7)');
	is(first_rows(2, $s), '7,26', 'one comes to the delta');
	arm('metapage read', 'wait');
	start('SELECT k FROM t ORDER BY k LIMIT 2', $s);
	wait_at('metapage read');
	sql("SELECT surfidx_merge('t_k')");
	release('metapage read');
	is(finish($s), '7,26', 'merged between the metapage and the tree');
	is(first_rows(2, $s), '7,26', 'and in the tree');
	is(first_rows(2, $s, 'WHERE k > 3'), '7,26', 'from the midst');
	sql('DELETE FROM t WHERE k < 28');
	is(first_rows(1, $s), '28', 'gone again') for 1 .. 2;
	sql($vacuum);
	sql("INSERT INTO t SELECT g FROM generate_series(1, 27) g");
	is(first_rows(2, $s), '1,2', 'others have their TIDs');
	sql("SELECT surfidx_merge('t_k')");
	is(first_rows(2, $s), '1,2', 'in the tree, too');
	sound('t_k');
};

scenario 'rows among those that were passed', ['gaps are passed'], sub {
	build(3000, 'CREATE INDEX t_k ON t USING surfidx (k, n)');
	sql("SELECT surfidx_merge('t_k')");
	my $s = queue_reader();
	sql('DELETE FROM t WHERE k <= 25 AND k <> 5 AND k <> 12');
	is(first_rows(4, $s), '5,12,26,27', 'dead ones between') for 1 .. 2;
	is(first_rows(2, $s, 'WHERE k > 5'), '12,26', 'begins in the midst') for 1 .. 2;
	is(first_rows(1, $s, 'WHERE n > 12'), '26', 'does not ask about all') for 1 .. 2;
	is(first_rows(3, $s), '5,12,26', 'all are there');
	sql('BEGIN; DECLARE c SCROLL CURSOR FOR SELECT k FROM t ORDER BY k', $s);
	is(sql('FETCH 3 FROM c; FETCH BACKWARD 2 FROM c; FETCH 2 FROM c; COMMIT', $s),
		'5,12,26,12,5,12,26', 'forward and backward');
	sound('t_k');
};

# The rows of a range, and how many entries the index has ever returned.
sub visit
{
	my ($s) = @_;
	my $query = 'SELECT n FROM t WHERE k BETWEEN 4 AND 201 ORDER BY k OFFSET 0';
	my $rows = sql("SELECT count(n) FROM ($query) x", $s);

	sql('SELECT pg_stat_force_next_flush()', $s);
	return ($rows, sql("SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 't_k'"));
}

# Rows among others that go, and come again with their keys and TIDs.
my @gone = map { $_ * 10 } 1 .. 20;

sub come_again
{
	my $gone = join ',', @gone;
	my $s = queue_reader();
	my $tids = sql("SELECT array_agg(ctid) FROM t WHERE k IN ($gone)");

	sql("DELETE FROM t WHERE k IN ($gone)");
	my ($rows, $before) = visit($s);
	is($rows, 178, 'without the dead ones');
	($rows, my $after) = visit($s);
	is($rows, 178, 'again');
	is($after - $before, 178, 'and the dead ones are not asked about any more');
	# (it invalidates nothing)
	vacuum_only();
	sql("INSERT INTO t SELECT g, repeat(md5(g::text), 4), g FROM unnest('{$gone}'::int[]) g");
	my $old = sql("SELECT count(*) FROM t WHERE k IN ($gone) AND ctid = ANY ('$tids'::tid[])");
	cmp_ok($old, '>=', 5, 'some have TIDs of theirs');
	is((visit($s))[0], 198, 'they are here again');
	return $s;
}

scenario 'rows that come where dead ones stood among others', ['passed for good'], sub {
	build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)', 100);
	sql("SELECT surfidx_merge('t_k')");
	my $s = come_again();
	sql("SELECT surfidx_merge('t_k')");
	is((visit($s))[0], 198, 'in the tree, too');
	sound('t_k');
};

scenario 'rows that come where dead ones were flagged in an image', [], sub {
	build(10, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("INSERT INTO t SELECT g, repeat(md5(g::text), 4), g FROM generate_series(11, 300) g");
	come_again();
	sound('t_k');
};

scenario 'a queue of several leaves', [], sub {
	build(30000, 'CREATE INDEX t_k ON t USING surfidx (k, s)', 100);
	sql("SELECT surfidx_merge('t_k')");
	my $s = queue_reader();
	my $old = reader();
	is(sql('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT k FROM t ORDER BY k LIMIT 1', $old), '1',
		'a snapshot that sees all');
	for my $i (1 .. 12)
	{
		my $upto = $i * 2000;
		my $first = $upto + 1;

		sql("DELETE FROM t WHERE k <= $upto");
		is(first_rows(1, $s), $first, "first is $first") for 1 .. 2;
		is(first_rows(1, $old), '1', '... and 1 to the older snapshot') if $i < 4;
		sql('ROLLBACK', $old) if $i == 4;
		sql($vacuum) if $i == 8;
	}
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ ranges that share a leaf

scenario 'entries that come into a leaf which a list of keys is read from', ['old copy of a leaf'], sub {
	for my $dir (qw(ASC DESC)) {
		build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)');
		sql("SELECT surfidx_merge('t_k'); INSERT INTO t SELECT g, 'again' FROM generate_series(1, 100) g");
		my $s = reader();
		sql("BEGIN; DECLARE c SCROLL CURSOR FOR SELECT k FROM t WHERE k = ANY (ARRAY(SELECT generate_series(1, 100))) ORDER BY k $dir", $s);
		my @got = split /,/, sql('FETCH 100 FROM c', $s);
		sql("SELECT surfidx_merge('t_k')");
		push @got, split /,/, sql('FETCH ALL FROM c', $s);
		my @want = map { ($_, $_) } 1 .. 100;
		@want = reverse @want if $dir eq 'DESC';
		is("@got", "@want", "each key twice, $dir");
		my @back = split /,/, sql('FETCH BACKWARD ALL FROM c', $s);
		is("@back", join(' ', reverse @want), 'and the way back');
		sql('COMMIT', $s);
		sound('t_k');
	}
};

scenario 'VACUUM ends between two ranges that are read from one leaf', ['copy outlives its gate'], sub {
	for my $dir (qw(ASC DESC)) {
		build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)');
		sql("SELECT surfidx_merge('t_k')");
		sql($vacuum);
		sql('DELETE FROM t WHERE k = 50');
		my $cursor = reader();
		sql("BEGIN; DECLARE c CURSOR FOR SELECT k FROM t WHERE k = ANY (ARRAY(SELECT generate_series(1, 100))) ORDER BY k $dir", $cursor);
		my @got = split /,/, sql('FETCH 10 FROM c', $cursor);
		my $v = start($vacuum);
		ok(wait_blocked($v), "VACUUM waits, $dir");
		# this one lets go of the gate that VACUUM waits for
		push @got, split /,/, sql('FETCH 1 FROM c', $cursor);
		is(finish($v), '', 'VACUUM ends while the cursor stands');
		push @got, split /,/, sql('FETCH ALL FROM c', $cursor);
		my @want = grep { $_ != 50 } 1 .. 100;
		@want = reverse @want if $dir eq 'DESC';
		is("@got", "@want", 'every live row, and no deleted one');
		sql('COMMIT', $cursor);
		sound('t_k');
	}
};

# ------------------------------------------------------------------------------------------ merges that others go on with (M5)

# of such keys the metapage remembers what all have in common: the merge begins anew
my $long_keys = q{SELECT g, repeat('p', 60) || lpad(g::text, 8, '0') || md5(g::text) || md5('and ' || g), g FROM generate_series};

sub half_merged
{
	my ($options) = @_;

	build(0, 'CREATE INDEX t_s ON t USING surfidx (s) WITH (run_ratio = 0)');
	sql("INSERT INTO t $long_keys(1, 40000, 2) g; SELECT surfidx_merge('t_s'); ALTER INDEX t_s SET (merge_ratio = 10, $options)");
	return;
}

sub each_once
{
	is(sql("SELECT surfidx_count('t_s')"), sql('SELECT count(*) FROM t'), 'each entry is counted once');
	sound('t_s');
	return;
}

scenario 'the rest of a delta follows the first part', ['resume into any run'], sub {
	half_merged('run_ratio = 0');
	sql("INSERT INTO t $long_keys(2, 40000, 10) g");
	arm('group merged', 'error', 2);
	is(error_of("SELECT surfidx_merge('t_s')"), '22000', 'a merge into the main tree fails between two groups');
	release('group merged');
	sql('ALTER INDEX t_s SET (run_ratio = 10)');
	sql('VACUUM t');
	is(sql("SELECT count(*) FROM surfidx_runs('t_s')"), '1', 'the next one goes on there, not into a run');
	each_once();
};

scenario 'a run waits for the rest of a delta', ['resume into any run'], sub {
	half_merged('run_ratio = 10');
	# a delta of which there is an image is due: nobody adds to it
	my $fill = "$index_scans; SELECT count(*) FROM t WHERE s > ''";
	set_system('surfidx.idle_flush', 0);
	sql("INSERT INTO t $long_keys(2, 40000, 10) g; $fill; VACUUM t");
	is(sql("SELECT count(*) FROM surfidx_runs('t_s')"), '2', 'there is a run');
	sql("INSERT INTO t $long_keys(4, 40000, 10) g");
	# everything there was goes into the main tree; meanwhile somebody merges half of what came later into the run
	my $all = session();
	arm('generations merged', 'wait');
	start("SELECT surfidx_merge('t_s')", $all);
	wait_at('generations merged');
	sql("INSERT INTO t $long_keys(6, 40000, 10) g; $fill");
	arm('group merged', 'error', 1);
	is(error_of('VACUUM t'), '22000', 'a merge into the run fails between two groups');
	release('group merged');
	release('generations merged');
	is(finish($all) =~ /^\d+$/, 1, 'the other one ends');
	sql('VACUUM t');
	is(sql("SELECT count(*) FROM surfidx_runs('t_s')"), '1', 'all in the main tree');
	set_system('surfidx.idle_flush', 300);
	each_once();
};

# ------------------------------------------------------------------------------------------ dead entries in the delta (X1)

# Rows that were updated and deleted, all in the delta; no snapshot is older.
sub dead_delta
{
	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int, p int) WITH (autovacuum_enabled = off);
		CREATE INDEX t_k ON t USING surfidx (k); CREATE INDEX t_p ON t (p);
		INSERT INTO t SELECT g % 4, g FROM generate_series(1, 40) g');
	sql('UPDATE t SET p = p + 1') for 1, 2;
	sql('DELETE FROM t');
	return;
}

scenario 'readers empty the source of a group that is packed again (X1)', [], sub {
	dead_delta();
	my ($m, $s) = (session(), reader());
	arm('packed again', 'wait');
	start("SELECT surfidx_merge('t_k')", $m);
	wait_at('packed again');
	is(sql('SET enable_indexonlyscan = off; SELECT count(p) FROM t WHERE k >= 0', $s), '0',
		'a scan finds dead rows');
	release('packed again');
	is(finish($m), '0', 'the merge ends, and has moved none');
	is(sql("SELECT surfidx_count('t_k', null::int, null::int)"), '0', 'nothing is left');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ filters (F2, F3) and counts (R9)

scenario 'leaves that change below a filter', ['filters stay'], sub {
	# keys out of order, lest a leaf has more than a filter has room for
	my $key = 'g * 7919 % 100003 * 10';

	for my $filter ('bloom', 'surf')
	{
		build(0, "CREATE INDEX t_k ON t USING surfidx (k) WITH (filter = $filter, run_ratio = 0)");
		sql("INSERT INTO t SELECT $key FROM generate_series(1, 20000) g; REINDEX INDEX t_k");
		sql("INSERT INTO t SELECT $key + 5 FROM generate_series(1, 20000, 97) g; SELECT surfidx_merge('t_k')");
		my $s = reader();
		for my $where ("k = $key + 5", "k BETWEEN $key + 3 AND $key + 7")
		{
			my $asked = sql('SELECT filters FROM surfidx_page_counts()', $s);

			is(sql("SELECT sum((SELECT count(*) FROM t WHERE $where)) FROM generate_series(1, 20000, 97) g", $s), 207, "$filter: $where");
			cmp_ok(sql('SELECT filters FROM surfidx_page_counts()', $s), '>=', $asked + 207, 'filters are asked') if $filter eq 'surf' || $where !~ /BETWEEN/;
		}
		# leaves that only lose entries, and leaves that go
		sql('DELETE FROM t WHERE k % 30 = 0 OR k BETWEEN 300000 AND 700000');
		sql($vacuum);
		is(sql("SELECT sum((SELECT count(*) FROM t WHERE k = $key + 5)) FROM generate_series(1, 20000, 97) g", $s),
			sql("SELECT count(*) FROM t WHERE k % 10 = 5"), "$filter: after VACUUM");
		sound('t_k');
	}
};

scenario 'a filter that was replaced on the way to it', ['no fences of filters'], sub {
	for my $case ([ 'bloom', 'k = 50001', 1 ], [ 'surf', 'k = 100001', 1 ], [ 'surf', 'k BETWEEN 80000 AND 80003', 2 ], [ 'surf', 'k BETWEEN 120003 AND 120010', 0 ])
	{
		my ($filter, $where, $want) = @$case;

		build(0, "CREATE INDEX t_k ON t USING surfidx (k) WITH (filter = $filter, run_ratio = 0)");
		sql('INSERT INTO t SELECT g * 10 + x FROM generate_series(0, 20000) g, generate_series(1, 2) x; REINDEX INDEX t_k');
		for my $order ('ASC', 'DESC')
		{
			my $s = reader();
			my $filters = sql("SELECT filters FROM surfidx_filters('t_k')");

			arm('filter chosen', 'wait');
			start("SELECT count(*) FROM (SELECT k FROM t WHERE $where ORDER BY k $order) x", $s);
			wait_at('filter chosen');
			# several filters come in the place of the one: its page has the first of them
			sql("INSERT INTO t SELECT g * 10 + x FROM generate_series(3000, 14000) g, generate_series(4, 8) x ORDER BY random(); SELECT surfidx_merge('t_k')");
			cmp_ok(sql("SELECT filters FROM surfidx_filters('t_k')"), '>', $filters, 'there are more filters');
			release('filter chosen');
			is(finish($s), $want, "$filter, $where, $order");
			sound('t_k');
			sql("DELETE FROM t WHERE k % 10 > 3; REINDEX INDEX t_k");
		}
	}
};

scenario 'counting while entries move', ['count what moves'], sub {
	build(9000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	sql('INSERT INTO t SELECT g FROM generate_series(1, 9000, 9) g');
	my %count = map { ("surfidx_count('t_k', $_)" => sql('SELECT count(*) FROM t WHERE k BETWEEN ' . s/,/ AND /r)) } '1, 9000', '3000, 3100', '8000, 9000';
	my $all = sub { join(', ', map { my $n = sql("SELECT $_"); $n == $count{$_} ? () : "$_: $n, not $count{$_}" } sort keys %count) };
	# a merge passes by
	arm('delta counted', 'wait');
	my $s = start("SELECT surfidx_count('t_k', 1, 9000)");
	wait_at('delta counted');
	sql("SELECT surfidx_merge('t_k')");
	release('delta counted');
	is(finish($s), 10000, 'while all was merged');
	is($all->(), '', 'and after that');
	# a generation is frozen, and then half of it stands in the tree, too
	sql("INSERT INTO t SELECT g FROM generate_series(2, 9000, 9) g");
	%count = map { ($_ => sql('SELECT count(*) FROM t WHERE k BETWEEN ' . (/, (\d+, \d+)/ ? $1 =~ s/,/ AND /r : die))) } keys %count;
	for my $point ('frozen', 'group swapped')
	{
		arm($point, 'error');
		is(error_of("SELECT surfidx_merge('t_k')"), '22000', "the merge stops: $point");
		release($point);
		cmp_ok(sql("SELECT generations FROM surfidx_meta('t_k')"), '>', 1, 'a frozen generation is left');
		is($all->(), '', "counts: $point");
		is(sql("SELECT abs(surfidx_count('t_k', 3000, 6000, approximate => true) - (SELECT count(*) FROM t WHERE k BETWEEN 3000 AND 6000)) < 600"), 't', 'about as many');
	}
	sql("SELECT surfidx_merge('t_k')");
	is($all->(), '', 'and when it is merged');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ dictionaries (H3)

scenario 'a dictionary that moves before it is read', ['dictionaries stand still'], sub {
	my $more = sub { my ($from, $to) = @_; sql("INSERT INTO t SELECT g, repeat(md5(g::text), 10) FROM generate_series($from, $to) g") };

	# VACUUM's first merge places the dictionary after all else, the second one uses it and finds room before it
	build(0, 'ALTER TABLE t SET (vacuum_truncate = off); CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = single)');
	$more->(1, 600);
	sql($vacuum);
	my $blocks = sql("SELECT pg_relation_size('t_k') / 8192");
	$more->(601, 700);
	sql($vacuum);
	is(sql("SELECT count(*) FROM surfidx_dictionaries('t_k') WHERE bytes < 8000"), '1', 'a dictionary of one page');
	is(sql("SELECT pg_relation_size('t_k') / 8192"), $blocks, 'at the end of the file');
	my $s = reader();
	arm('dictionary found', 'wait');
	start("SELECT count(*) FROM t WHERE s > '0' AND s < 'g'", $s);
	wait_at('dictionary found');
	arm('dictionary page moved', 'wait');
	my $v = start("SELECT surfidx_merge('t_k')");
	wait_at('dictionary page moved');
	release('dictionary found');
	is(finish($s), '700', 'every row');
	release('dictionary page moved');
	is(finish($v), '0', 'the merge ends');
	cmp_ok(sql("SELECT pg_relation_size('t_k') / 8192"), '<', $blocks, 'the file was cut off');
	sound('t_k');
};

scenario 'leaves that move while VACUUM looks which dictionaries they name (H2)', ['leaves by ascending blocks'], sub {
	my $fill = sub {
		my ($from, $to, $what) = @_;
		sql("INSERT INTO t SELECT g, $what FROM generate_series($from, $to) g; SELECT surfidx_merge('t_k')");
	};

	# from the file's start on: leaves of keys that go, leaves of paths, of codes; the latter two with a dictionary each
	build(0, 'ALTER TABLE t SET (vacuum_truncate = off); CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = single)');
	$fill->($_, $_ + 4999, "'#' || repeat(md5(g::text), 2)") for 1, 5001;
	$fill->($_, $_ + 9999, "'/usr/share/package-' || g % 211 || (ARRAY['/changelog', '/copyright', '/README'])[1 + g % 3] || '-' || g") for 10001, 20001;
	$fill->($_, $_ + 2499, 'upper(md5(g::text))') for 30001, 32501;
	sql("DELETE FROM t WHERE s < '/'");
	sql($vacuum);
	cmp_ok(sql("SELECT count(*) FROM surfidx_dictionaries('t_k')"), '>=', 2, 'dictionaries');
	sql("DELETE FROM t WHERE s = upper(md5('30001'))");
	arm('leaf looked at', 'wait', int(sql("SELECT pg_relation_size('t_k') / 8192 / 2")));
	my $v = start($vacuum);
	wait_at('leaf looked at');
	sql("SELECT surfidx_merge('t_k')");
	release('leaf looked at');
	is(finish($v), '', 'VACUUM ends');
	is(eval { sql("SELECT count(*) FROM t WHERE s > '/' AND s < '0'", reader()) } // $@, '20000', 'every path');
	sound('t_k');
};

scenario 'leaves that are written with an older dictionary while VACUUM looks (H1)',
  ['dictionaries written unnoted'], sub {
	my $fill = sub {
		my ($from, $to, $what) = @_;
		sql("INSERT INTO t SELECT g, $what FROM generate_series($from, $to) g");
		sql("SELECT surfidx_merge('t_k')");
	};
	my $path = "'~/' || substr(md5(g::text), 1, 4) || chr(192 + g % 60) || '/package-' || g % 211"
	  . " || (ARRAY['/changelog', '/copyright', '/README'])[1 + g % 3]";
	my $words = "(SELECT string_agg((ARRAY['ein', 'zwei', 'drei', 'vier', 'fuenf', 'sechs',"
	  . " 'sieben', 'acht'])"
	  . "[1 + (hashint4(g) >> 3 * i & 7)], ' ') FROM generate_series(0, 6) i) || chr(192 + g % 60)";
	my $dicts = "SELECT string_agg(dictionary::text, ',') FROM surfidx_dictionaries('t_k')";

	# paths, and before them in the index, from its first block on, words; then the paths go
	build(0, "ALTER TABLE t SET (vacuum_truncate = off);"
		  . " INSERT INTO t SELECT g, $path FROM generate_series(1, 20000) g;"
		  . ' CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = single)');
	sql('ALTER INDEX t_k SET (hope = double)');
	$fill->($_, $_ + 19999, $words) for 20001, 40001;
	like(sql($dicts), qr/^1,/, 'a dictionary of paths and one of words');
	sql("DELETE FROM t WHERE s > '~'");
	arm('leaf looked at', 'wait', int(sql("SELECT pg_relation_size('t_k') / 8192 - 4")));
	my $v = start($vacuum);
	wait_at('leaf looked at');
	# only the first block is still to be looked at
	sql('ALTER INDEX t_k SET (hope = single)');
	$fill->(60001, 70000, $path);
	release('leaf looked at');
	is(finish($v), '', 'VACUUM ends');
	is(eval { sql("SELECT count(*) FROM t WHERE s > '~'", reader()) } // $@, '10000', 'every path');
	like(sql($dicts), qr/^1,/, 'the dictionary of paths is there');
	sound('t_k');
	sql("ALTER INDEX t_k SET (hope = double); DELETE FROM t WHERE s > '~'");
	sql($vacuum);
	unlike(sql($dicts), qr/^1,/, 'until no leaf names it');
};

# ------------------------------------------------------------------------------------------ the log (D2) and allocation (P3)

scenario 'an append that was on its way when the log was frozen', ['append behind seal'], sub {
	build(500, 'CREATE INDEX t_k ON t USING surfidx (k)');
	my $s = session();
	sql('INSERT INTO t VALUES (1000)', $s);
	for my $round (1, 2)
	{
		arm('append', 'wait');
		start("INSERT INTO t VALUES (2000 + $round)", $s);
		wait_at('append');
		# frozen only, then merged as well
		arm('frozen', 'error') if $round == 1;
		error_of("SELECT surfidx_merge('t_k')");
		release('frozen') if $round == 1;
		release('append');
		is(finish($s), '', 'the row is in');
		is(sql("SELECT count(*) FROM t WHERE k = 2000 + $round", reader()), '1', 'and found');
		sound('t_k');
	}
	sql("SELECT surfidx_merge('t_k')");
	sound('t_k');
};

scenario 'two that find the log full at once', [], sub {
	build(0, 'CREATE INDEX t_k ON t USING surfidx (k)');
	arm('log page allocated', 'wait');
	my $s = start('INSERT INTO t SELECT generate_series(1, 2000)');
	wait_at('log page allocated');
	my $block = sql('SELECT stop_waiting(\'log page allocated\')');
	my $s2 = start('INSERT INTO t SELECT generate_series(2001, 4000)');
	settle();
	release('log page allocated');
	is(finish($s) . finish($s2), '', 'both end');
	is(sql('SELECT count(*) FROM t WHERE k > 0', reader()), '4000', 'every row');
	sound('t_k');
};

scenario 'a free space map that lies', ['believe free space map'], sub {
	build(6000, 'CREATE INDEX t_k ON t USING surfidx (s)', 300);
	sql("SELECT surfidx_merge('t_k')");
	sql('DELETE FROM t WHERE k > 1000');
	# a session that uses the index keeps the file from being truncated
	my $holder = reader();
	sql("BEGIN; SELECT count(*) FROM t WHERE s > ''", $holder);
	sql($vacuum);
	my $file = server()->{data} . '/' . sql("SELECT pg_relation_filepath('t_k')") . '_fsm';
	restart('fast', sub { system('cp', $file, "$file.old") });
	$holder = reader();
	sql("BEGIN; SELECT count(*) FROM t WHERE s > ''", $holder);
	# in small steps, so that leaves take the free pages and not the log
	for my $n (1 .. 10)
	{
		sql("INSERT INTO t SELECT g, repeat(md5(g::text), 10) FROM generate_series(501 + 500 * $n, 1000 + 500 * $n) g");
		sql("SELECT surfidx_merge('t_k')");
	}
	restart('fast', sub { rename "$file.old", $file });
	sql('INSERT INTO t SELECT g, repeat(md5(g::text), 10) FROM generate_series(6001, 11000) g');
	sql("SELECT surfidx_merge('t_k')");
	is(sql("SELECT count(*) FROM t WHERE s > ''", reader()), '11000', 'every row');
	sound('t_k');
};

scenario 'a block that VACUUM finds while it is being added', ['count without lock,extend blindly'], sub {
	if (sql('SHOW server_version_num') >= 160000)
	{
		plan_skip('the server locks new blocks as it adds them');
		return;
	}
	build(500, 'CREATE INDEX t_k ON t USING surfidx (s)', 300);
	sql("DELETE FROM t WHERE k = 5");
	merge_before_leaves(0);
	arm('vacuum cleanup', 'wait');
	my $v = start($vacuum);
	wait_at('vacuum cleanup');
	merge_before_leaves(1);
	arm('extended', 'wait', 0);
	my $m = start("SELECT surfidx_merge('t_k')");
	wait_at('extended');
	release('vacuum cleanup');
	my $blocked = wait_blocked($v);
	my $c = start('INSERT INTO t SELECT g, repeat(md5(g::text), 10) FROM generate_series(1001, 1300) g');
	settle(0.5);
	release('extended');
	is(finish($c) . finish($v), '', 'inserts and VACUUM end');
	like(finish($m), qr/^\d+$/, 'the merge ends');
	is(sql("SELECT count(*) FROM t WHERE s > ''", reader()), '799', 'every row');
	sound('t_k');
};

sub plan_skip
{
	my ($why) = @_;

	pass("skipped: $why");
	return;
}

# ---------------------------------------------------------------------- unique checks (U1 to U3)

# t with keys 1 to 10, and a session that has found the index's end: its keys so far ascend to
# $_[0].
sub at_edge
{
	my ($upto) = @_;
	my $a = session();

	build(10, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	sql("INSERT INTO t VALUES ($_)", $a) for 11 .. $upto;
	return $a;
}

scenario 'two inserts of one key', ['appends see nothing new'], sub {
	build(10, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	arm('unique checked', 'wait');
	my $a = start('INSERT INTO t VALUES (77)');
	wait_at('unique checked');
	is(error_of('INSERT INTO t VALUES (77)'), '', 'the second one is first');
	release('unique checked');
	is(finish($a), 'error 23505', 'and the first one fails');
	sound('t_k');
};

scenario 'two inserts of one key, one in a transaction', ['appends see nothing new'], sub {
	build(10, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	arm('unique checked', 'wait');
	my $a = start('INSERT INTO t VALUES (77)');
	wait_at('unique checked');
	my $b = session();
	sql('BEGIN; INSERT INTO t VALUES (77)', $b);
	release('unique checked');
	ok(wait_blocked($a), 'the first one waits for the second');
	sql('ROLLBACK', $b);
	is(finish($a), '', 'and is in when that is rolled back');
	sound('t_k');
};

for my $merged (0, 1)
{
	my $name = 'two inserts of one key, ' . ($merged ? 'merged' : 'pages apart');
	scenario $name, [ $merged ? () : 'appends see nothing new' ], sub {
		build(10, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
		arm('unique checked', 'wait');
		my $a = start('INSERT INTO t VALUES (77)');
		wait_at('unique checked');
		sql('INSERT INTO t VALUES (77); INSERT INTO t SELECT generate_series(1001, 3000)');
		sql("SELECT surfidx_merge('t_k')") if $merged;
		release('unique checked');
		is(finish($a), 'error 23505', 'the first one fails');
		sound('t_k');
	};
}

# Each time that the check is over the log has gone on by more pages than are followed.
scenario 'a check that is outrun again and again', ['checks are outrun for ever'], sub {
	build(10, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	arm('unique checked', 'wait');
	my $a = start('INSERT INTO t VALUES (77)');
	for my $n (1 .. 4)
	{
		wait_at('unique checked');
		sql("INSERT INTO t SELECT generate_series($n * 10000, $n * 10000 + 9999)");
		# which releases the session that waits there
		arm('unique checked', $n < 4 ? 'wait' : 'error');
	}
	is(finish($a), '', 'is not made a fifth time');
	release('unique checked');
	is(error_of('INSERT INTO t VALUES (77)'), '23505', 'and the key is there');
	sound('t_k');
};

scenario 'a key beyond all that a session knows',
  [ 'appends see nothing new', 'own entries raise no bound' ], sub {
	my $a = at_edge(40);
	sql('INSERT INTO t VALUES (41), (43)');
	is(error_of('INSERT INTO t VALUES (41)', $a), '23505', 'another session has the next key');
	is(error_of('INSERT INTO t VALUES (42)', $a), '', 'between its keys');
	is(error_of('INSERT INTO t VALUES (43)', $a), '23505', 'and the one after it');
	is(error_of('INSERT INTO t VALUES (44)', $a), '', 'beyond all');
	is(error_of('INSERT INTO t VALUES (44)', $a), '23505', 'its own last one');
	arm('unique checked', 'wait');
	my $s = start('INSERT INTO t VALUES (45)', $a);
	wait_at('unique checked');
	sql('INSERT INTO t VALUES (45)');
	release('unique checked');
	is(finish($s), 'error 23505', 'another session comes first');
	sql('INSERT INTO t SELECT generate_series(46, 3000)');
	is(error_of('INSERT INTO t VALUES (2900)', $a), '23505', 'pages on');
	is(error_of('INSERT INTO t VALUES (3001)', $a), '', 'beyond them');
	sound('t_k');
};

scenario 'a key beyond all, and a merge', ['places skip a frozen end'], sub {
	my $a = at_edge(40);
	sql('INSERT INTO t VALUES (41)');
	arm('frozen', 'wait');
	my $m = start("SELECT surfidx_merge('t_k')");
	wait_at('frozen');
	is(error_of('INSERT INTO t VALUES (41)', $a), '23505', 'in the frozen generation');
	sql('INSERT INTO t VALUES (60)');
	is(error_of('INSERT INTO t VALUES (60)', $a), '23505', 'in the new one');
	is(error_of('INSERT INTO t VALUES (61)', $a), '', 'beyond both');
	release('frozen');
	finish($m);
	is(error_of('INSERT INTO t VALUES (61)', $a), '23505', 'its own last one');
	sql("INSERT INTO t VALUES (70); SELECT surfidx_merge('t_k')");
	is(error_of('INSERT INTO t VALUES (70)', $a), '23505', 'merged');
	is(error_of("INSERT INTO t VALUES ($_)", $a), '', "$_") for 71 .. 90;
	sql("SELECT surfidx_merge('t_k'); SELECT surfidx_merge('t_k')");
	is(error_of('INSERT INTO t VALUES (90)', $a), '23505', 'merged, and nothing new');
	is(error_of('INSERT INTO t VALUES (91)', $a), '', 'beyond');
	sound('t_k');
};

# A key that was rolled back may come again, from anybody.
scenario 'a key beyond all that is rolled back', [], sub {
	my $a = at_edge(40);
	sql('BEGIN; INSERT INTO t VALUES (41); ROLLBACK', $a);
	is(error_of('INSERT INTO t VALUES (41)', $a), '', 'again');
	sql('BEGIN; INSERT INTO t VALUES (42)', $a);
	my $b = start('INSERT INTO t VALUES (42)');
	ok(wait_blocked($b), 'another session waits for it');
	sql('COMMIT', $a);
	is(finish($b), 'error 23505', 'and fails');
	sql('TRUNCATE t');
	is(error_of("INSERT INTO t VALUES ($_)", $a), '', "$_, the table being empty") for 1 .. 20;
	is(error_of('INSERT INTO t VALUES (20)'), '23505', 'twice');
	sql("BEGIN; TRUNCATE t; INSERT INTO t SELECT generate_series(101, 120); TRUNCATE t;
		INSERT INTO t VALUES (130); COMMIT", $a);
	is(error_of('INSERT INTO t VALUES (130)', $a), '23505', 'in a file that was begun anew');
	sound('t_k');
};

scenario 'two inserts of equal keys with unequal bytes', [ 'unique by bytes', 'no unique lock' ], sub {
	build(10, 'CREATE UNIQUE INDEX t_k ON t USING surfidx ((ARRAY[n]))');
	arm('unique checked', 'wait');
	my $a = start('INSERT INTO t (n) VALUES (77.0)');
	wait_at('unique checked');
	my $b = start('INSERT INTO t (n) VALUES (77.00)');
	ok(wait_blocked($b), 'the second one waits for the first');
	release('unique checked');
	is(join(' ', sort(finish($a), finish($b))), ' error 23505', 'one of them fails');
};

scenario 'an UPDATE of other columns beside a check of keys with unequal bytes',
	['hints are believed beside the lock'], sub {
	sql('DROP TABLE IF EXISTS u; CREATE TABLE u (n numeric[], v int) WITH (autovacuum_enabled = off);
		CREATE UNIQUE INDEX u_n ON u USING surfidx (n); CREATE INDEX u_v ON u (v);
		INSERT INTO u VALUES (NULL, 0), (NULL, 0), (ARRAY[77.0], 0);
		DELETE FROM u WHERE n IS NULL');
	sql('VACUUM (INDEX_CLEANUP ON) u');
	arm('unique row found', 'wait');
	my $a = start('INSERT INTO u VALUES (ARRAY[77.00], 1)');
	wait_at('unique row found');
	# into the place of a deleted row, whose entry the check has passed
	my $b = start('UPDATE u SET v = 2');
	ok(wait_blocked($b), 'the UPDATE waits for the check');
	release('unique row found');
	is(finish($a), 'error 23505', 'the check meets the row');
	is(finish($b), '', 'which is updated');
	sql('DROP TABLE u');
};

scenario 'a wait for a transaction holds no lock of ours', ['wait with unique lock'], sub {
	build(10, 'CREATE UNIQUE INDEX t_k ON t USING surfidx ((ARRAY[n]))');
	my $a = session();
	sql('BEGIN; INSERT INTO t (n) VALUES (77.0)', $a);
	my $b = start('INSERT INTO t (n) VALUES (77.00)');
	ok(wait_blocked($b), 'the second one waits');
	is(error_of('INSERT INTO t (n) VALUES (78.0)', $a), '', 'the first one may go on');
	sql('COMMIT', $a);
	is(finish($b), 'error 23505', 'and the second one fails');
};

# ------------------------------------------------------------------------------------------ errors in comparisons

scenario 'an error inside a comparison', ['seen before applied'], sub {
	build(0, 'CREATE INDEX t_k ON t USING surfidx ((ARRAY[n]))');
	sql('INSERT INTO t (n) SELECT g * 7919 % 400 FROM generate_series(1, 400) g');
	my $s = reader();
	my ($errors, $skip) = (0, 0);
	# each comparison in turn, ever further apart
	while ($skip < 3000)
	{
		arm('compare', 'error', $skip);
		$errors++ if error_of('SELECT count(*) FROM t WHERE ARRAY[n] >= ARRAY[0::numeric]', $s);
		release('compare');
		$skip += 1 + int($skip / 10);
	}
	cmp_ok($errors, '>', 5, "$errors errors");
	is(sql('SELECT count(*), sum(n) FROM t WHERE ARRAY[n] >= ARRAY[0::numeric]', $s), '400|79800', 'every row');
	sound('t_k');
	$skip = 0;
	while ($skip < 30000)
	{
		arm('compare', 'error', $skip);
		error_of("SELECT surfidx_merge('t_k')");
		release('compare');
		$skip += 7 + int($skip / 3);
	}
	sound('t_k', 'after errors in merges');
	is(sql('SELECT count(*), sum(n) FROM t WHERE ARRAY[n] >= ARRAY[0::numeric]', $s), '400|79800', 'every row');
};

# ------------------------------------------------------------------------------------------ crashes (T3)

# Groups of 200 keys that differ only after their 900th byte and fill some leaves: separators are long, inner pages have few children.
# (Values of more than 1,024 bytes would be compressed, which takes the assert-enabled server long.)
sub long_keys
{
	my ($from, $to) = @_;

	return "INSERT INTO t SELECT g * 1000 + j, p || to_char(j, 'FM000') || md5(j::text) || md5((-j)::text) FROM generate_series(1, 200) j,
		(SELECT g, (SELECT string_agg(md5((g * 100 + i)::text), '') FROM generate_series(1, 28) i) p FROM generate_series($from, $to) g OFFSET 0) x";
}

scenario 'a crash between the split of an inner page and its posting', ['no healing'], sub {
	# (coded, there would be fewer leaves)
	build(0, 'CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = off)');
	sql(long_keys(1, 20) . "; SELECT surfidx_merge('t_k')");
	my ($crashes, $waits, $rows) = (0, 0, 4000);
	for my $round (1 .. 3)
	{
		sql(long_keys(100 * $round, 100 * $round + 24));
		arm('parent split', 'crash', $round - 1);
		if (error_of("SELECT surfidx_merge('t_k')"))
		{
			$crashes++;
			restart('gone');
			sound('t_k', "round $round: check");
			# none does where the root was split, too
			$waits++ if waiting('pages', 't_k') > 0;
		}
		else
		{
			release('parent split');
		}
		$rows += 5000;
		is(sql("SELECT count(*) FROM t WHERE s > ''", reader()), $rows, 'every row');
		# the merge starts over; a write below a page without a downlink heals it
		sql("INSERT INTO t SELECT k, s || 'x' FROM t WHERE k % 1000 % 40 = 0; SELECT surfidx_merge('t_k')");
		is(waiting('pages', 't_k'), 0, 'no page waits for its downlink');
		sql("DELETE FROM t WHERE k % 1000 BETWEEN 20 AND 160");
		$rows = sql("SELECT count(*) FROM t");
		sql($vacuum);
		is(sql("SELECT count(*) FROM t WHERE s > ''", reader()), $rows, 'every row that is left');
		sound('t_k', "round $round: check after unlinking");
	}
	cmp_ok($crashes, '>', 1, "$crashes crashes");
	cmp_ok($waits, '>', 0, 'a page waited for its downlink');
};

scenario 'a run that is being emptied takes no entries', ['sources take entries'], sub {
	build(20000, 'CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = single)');
	sql("SELECT surfidx_merge('t_k'); ALTER INDEX t_k SET (delta_size = 4096, run_ratio = 10, merge_ratio = 10)");
	sql('INSERT INTO t SELECT g, md5(g::text) FROM generate_series(20001, 30000) g');
	sql('ALTER INDEX t_k SET (delta_size = 64)');
	sql($vacuum);
	is(sql("SELECT count(*) FROM surfidx_runs('t_k')"), 2, 'a run in front of the tree');
	arm('group merged', 'error', 3);
	is(error_of("SELECT surfidx_merge('t_k')"), '22000', 'its merge stops in the middle');
	release('group merged');
	is(sql("SELECT string_agg(merging::text, ' ') FROM surfidx_runs('t_k')"), 'true false', 'it has been begun');
	# as many as would go into that run, half of them in front of the place where its merge goes on
	sql('ALTER INDEX t_k SET (merge_ratio = 0.01)');
	sql('INSERT INTO t SELECT g, md5(g::text) FROM generate_series(30001, 31000) g');
	sql($vacuum);
	sql("SELECT surfidx_merge('t_k')");
	is(sql("SELECT count(*) FROM t WHERE s > ''", reader()), 31000, 'every row');
	sound('t_k');
};

scenario 'who gives back what is merged keeps nobody from merging',
  ['given back under the lock'], sub {
	for my $what ('log', 'run')
	{
		build(20000, 'CREATE INDEX t_k ON t USING surfidx (s) WITH (hope = single)');
		sql("SELECT surfidx_merge('t_k'); ALTER INDEX t_k SET (delta_size = 4096, run_ratio = 10,
			merge_ratio = 10);
		INSERT INTO t SELECT g, md5(g::text) FROM generate_series(20001, 30000) g");
		if ($what eq 'run')
		{
			sql('ALTER INDEX t_k SET (delta_size = 64)');
			sql($vacuum);
		}
		is(sql("SELECT count(*) FROM surfidx_runs('t_k')"), $what eq 'run' ? '2' : '1', "a $what");
		arm('page given back', 'wait', 1);
		my $merge = start("SELECT surfidx_merge('t_k')");
		ok(come_by('page given back', $merge), "half of the $what is given back");
		# another session finds the rest, and uses it
		my $other = session();
		sql('DELETE FROM t WHERE k % 3 = 0');
		for my $sql ($vacuum, 'INSERT INTO t SELECT g, md5(g::text) FROM generate_series(30001, 35000) g',
			"SELECT surfidx_merge('t_k')")
		{
			ok(!wait_blocked(start($sql, $other)), 'another one is not kept waiting: ' . substr($sql, 0, 6));
			unlike(finish($other), qr/error/, 'nor fails');
		}
		release('page given back');
		finish($merge);
		is(sql("SELECT surfidx_check('t_k', true, true)"), '', 'check');
		is(sql("SELECT count(*) FROM surfidx_runs('t_k')"), '1', 'all is merged');
	}
	sql('DROP TABLE t');
};

# (the second merge kept the metapage locked)
scenario 'a run whose merge somebody else has begun', [], sub {
	build(20000, 'CREATE INDEX t_k ON t USING surfidx (s)');
	sql("SELECT surfidx_merge('t_k');
		ALTER INDEX t_k SET (delta_size = 4096, run_ratio = 10, merge_ratio = 10)");
	sql('INSERT INTO t SELECT g, md5(g::text) FROM generate_series(20001, 30000) g');
	sql('ALTER INDEX t_k SET (delta_size = 64)');
	sql($vacuum);
	is(sql("SELECT count(*) FROM surfidx_runs('t_k')"), 2, 'a run in front of the tree');
	my ($late, $first) = (session(), session());
	arm('run due', 'wait');
	start("SELECT surfidx_merge('t_k')", $late);
	wait_at('run due');
	arm('group merged', 'wait');
	start("SELECT surfidx_merge('t_k')", $first);
	wait_at('group merged');
	release('run due');
	like(finish($late), qr/^[1-9]/, 'the late one goes on with it');
	release('group merged');
	like(finish($first), qr/^[1-9]/, 'the first one merges, too');
	is(sql("SELECT count(*) FROM surfidx_runs('t_k')"), 1, 'one tree is left');
	is(sql("SELECT count(*) FROM t WHERE s > ''", reader()), 30000, 'every row');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ dead entries (X1, X3)

for my $where ('the delta', 'a leaf')
{
	scenario "a dead entry of $where whose TID is in other hands by now",
	  ['dead without asking', $where eq 'the delta' ? 'flags on what came later' : ()], sub {
		# a hole that rows are put into again and again, in the same order
		my $again = "DELETE FROM t WHERE k BETWEEN 1 AND 90; $vacuum; INSERT INTO t SELECT g, repeat(md5(g::text), 1), g FROM generate_series(1, 90) g";

		build(400, 'CREATE INDEX t_k ON t USING surfidx (k)');
		sql($again);
		sql("SELECT surfidx_merge('t_k')") if $where eq 'a leaf';
		my $tids = sql('SELECT array_agg(ctid ORDER BY k) FROM t WHERE k < 91');
		sql('DELETE FROM t WHERE k BETWEEN 1 AND 90');
		my $s = session();
		sql("$index_scans; SET enable_indexonlyscan = off", $s);
		arm('dead entries found', 'wait');
		start('SELECT count(n) FROM t WHERE k > 0', $s);
		ok(come_by('dead entries found', $s), 'somebody finds dead entries');
		vacuum_only();
		sql('INSERT INTO t SELECT g, repeat(md5(g::text), 1), g FROM generate_series(1, 90) g');
		is(sql('SELECT array_agg(ctid ORDER BY k) FROM t WHERE k < 91'), $tids, 'the same TIDs');
		sql("SELECT surfidx_merge('t_k')") if $where eq 'a leaf';
		is(sql('SELECT count(*) FROM t WHERE k > 0', reader()), 400, 'readers have met them');
		release('dead entries found');
		finish($s);
		is(sql('SELECT count(*) FROM t WHERE k > 0', reader()), 400, 'every row');
		sound('t_k');
	};
}

scenario 'a stub whose TID is in other hands when the next generation is merged', ['stubs for the next generation'], sub {
	build(400, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	sql($vacuum);
	my $tids = sql('SELECT array_agg(ctid) FROM t WHERE k < 91');
	sql("DELETE FROM t WHERE k BETWEEN 1 AND 90");
	sql("INSERT INTO t SELECT g, repeat(md5(g::text), 1), g FROM generate_series(401, 450) g; SELECT pg_stat_force_next_flush()");
	arm('frozen', 'error');
	is(error_of("SELECT surfidx_merge('t_k')"), '22000', 'a generation is frozen');
	release('frozen');
	my $s = session();
	arm('group merged', 'wait');
	start("SELECT surfidx_merge('t_k')", $s);
	wait_at('group merged');
	is(sql("SELECT entries FROM surfidx_meta('t_k')"), 360, 'its merge leaves out what is dead');
	vacuum_only();
	sql('INSERT INTO t SELECT g, repeat(md5(g::text), 1), g FROM generate_series(1001, 1300) g');
	is(sql("SELECT count(*) FROM t WHERE ctid = ANY ('$tids'::tid[]) AND k > 1000"), 90, 'the same TIDs');
	release('group merged');
	finish($s);
	is(sql("SELECT entries FROM surfidx_meta('t_k')"), 660, 'what is inserted meanwhile is merged, too');
	is(sql('SELECT count(*) FROM t WHERE k > 0', reader()), 660, 'every row');
	sound('t_k');
};

# The delta becomes due, and a worker comes for it.
sub become_due
{
	sql('SET surfidx.auto_merge = on; INSERT INTO t SELECT g FROM generate_series(7001, 8500) g; RESET surfidx.auto_merge');
	return;
}

# A merge becomes due, and a worker comes to that point.  One that has just found nothing to do is
# not started again at once: rows that fill a page of the log repeat the request.
sub worker_at
{
	my ($point) = @_;
	my $end = time + patience();
	my $again = time + 2;

	become_due();
	until (sql("SELECT stop_waiting('$point')") > 0)
	{
		die "no worker comes to \"$point\"\n" if time > $end;
		settle(0.02);
		next if time < $again;
		sql('SET surfidx.auto_merge = on');
		sql('INSERT INTO t SELECT g FROM generate_series(8501, 9500) g');
		sql('RESET surfidx.auto_merge');
		$again = time + 2;
	}
	return;
}

sub wait_merged
{
	my $end = time + patience();

	settle(0.05) until sql("SELECT merges > 0 AND generations = 1 FROM surfidx_meta('t_k')") eq 't' || time > $end;
	return;
}

scenario 'a merge that notes stubs gives way', ['all stubs first'], sub {
	build(4500, 'CREATE INDEX t_k ON t USING surfidx (k) WITH (delta_size = 64, merge_ratio = 10)', 640);
	sql('UPDATE t SET k = k + 10000; SELECT pg_stat_force_next_flush()');
	arm('stubs noted', 'wait');
	worker_at('stubs noted');
	my $s = session();
	start('REINDEX INDEX t_k', $s);
	ok(wait_blocked($s), 'somebody wants the index');
	# the session that waits there goes on, the next one waits
	arm('stubs noted', 'wait');
	settle(0.5);
	ok(!come_by('stubs noted', $s), 'no more pages are looked at');
	release('stubs noted');
	is(finish($s), '', 'REINDEX has it');
	sound('t_k');
};

scenario 'a merge into a run looks for no stubs', ['stubs for nothing'], sub {
	build(20000, 'CREATE INDEX t_k ON t USING surfidx (s) WITH (delta_size = 320, run_ratio = 10, merge_ratio = 10)');
	sql("SELECT surfidx_merge('t_k')");
	sql('UPDATE t SET s = md5(s) WHERE k % 2 = 0; SELECT pg_stat_force_next_flush()');
	arm('stubs noted', 'error');
	become_due();
	my $end = time + patience() / 4;
	settle(0.05) until sql("SELECT merges > 1 AND generations = 1 FROM surfidx_meta('t_k')") eq 't' || time > $end;
	is(sql("SELECT merges FROM surfidx_meta('t_k')"), 2, 'merged without a look at the table');
	is(sql("SELECT count(*) FROM surfidx_runs('t_k')"), 2, 'into a run');
	release('stubs noted');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ the worker's settings

scenario 'the worker in a database of repeatable reads holds back nobody', ['settings of sessions'], sub {
	sql("ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'");
	# of a unique index a merge asks the table about each group; after the first one nothing is looked up in catalogs any more
	build(20000, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (s) WITH (delta_size = 320, run_ratio = 0, merge_ratio = 10)');
	sql("SELECT surfidx_merge('t_k')");
	arm('group merged', 'wait', 1);
	sql('UPDATE t SET s = md5(s) WHERE k % 2 = 0');
	worker_at('group merged');
	is(sql("SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'"), 't', 'no snapshot is left');
	release('group merged');
	wait_merged();
	sql('ALTER DATABASE postgres RESET default_transaction_isolation');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ pages that the free space map does not know

for my $what ('generation', 'run')
{
	for my $action ('error', 'crash')
	{
		scenario "a VACUUM without dead rows after a drop of a $what that ended in " . ($action eq 'error' ? 'an error' : 'a crash'), ['lost pages are not looked for'], sub {
			build(20000, 'CREATE INDEX t_k ON t USING surfidx (s)');
			sql("SELECT surfidx_merge('t_k')");
			sql('ALTER INDEX t_k SET (delta_size = 4096, run_ratio = 10, merge_ratio = 10)');
			sql('INSERT INTO t SELECT g, md5(g::text) FROM generate_series(20001, 30000) g');
			if ($what eq 'run')
			{
				sql('ALTER INDEX t_k SET (delta_size = 64)');
				sql($vacuum);
				is(sql("SELECT count(*) FROM surfidx_runs('t_k')"), 2, 'a run in front of the tree');
			}
			arm("$what dropped", $action);
			is(error_of("SELECT surfidx_merge('t_k')"), $action eq 'error' ? '22000' : 'lost', 'interrupted');
			$action eq 'error' ? release("$what dropped") : restart('gone');
			my $size = sql("SELECT pg_relation_size('t_k')");
			cmp_ok(waiting('blocks', 't_k'), '>', 10, 'blocks that the map lacks');
			sql($vacuum);
			cmp_ok(sql("SELECT pg_relation_size('t_k')"), '<', $size - 10 * 8192, 'VACUUM gives its pages back');
			is(waiting('blocks', 't_k'), 0, 'no block is lost');
			sound('t_k');
		};
	}
}

# What was freed since the last checkpoint the map may have forgotten after a crash, though nothing was interrupted.
scenario 'a VACUUM without dead rows after the free space map was lost', ['lost pages are not looked for'], sub {
	build(20000, 'CREATE INDEX t_k ON t USING surfidx (s)');
	sql("SELECT surfidx_merge('t_k')");
	sql('ALTER INDEX t_k SET (delta_size = 4096)');
	sql('INSERT INTO t SELECT g, md5(g::text) FROM generate_series(20001, 30000) g; CHECKPOINT');
	# while somebody reads nothing is cut off
	my $cursor = reader();
	sql('BEGIN; DECLARE c CURSOR FOR SELECT s FROM t ORDER BY s; FETCH 1 FROM c', $cursor);
	sql("SELECT surfidx_merge('t_k')");
	my $size = sql("SELECT pg_relation_size('t_k')");
	restart('immediate');
	sql($vacuum);
	cmp_ok(sql("SELECT pg_relation_size('t_k')"), '<', $size - 10 * 8192, 'VACUUM gives free pages back');
	is(waiting('blocks', 't_k'), 0, 'no block is lost');
	sound('t_k');
};

scenario 'blocks that were emptied for a truncation that failed (G4)', ['lost pages are not looked for'], sub {
	build(20000, 'ALTER TABLE t SET (vacuum_truncate = off); CREATE INDEX t_k ON t USING surfidx (s)');
	sql("SELECT surfidx_merge('t_k'); ALTER INDEX t_k SET (delta_size = 4096)");
	sql('INSERT INTO t SELECT g, md5(g::text) FROM generate_series(20001, 30000) g');
	arm('epoch raised', 'error');
	is(error_of("SELECT surfidx_merge('t_k')"), '22000', 'interrupted');
	release('epoch raised');
	cmp_ok(waiting('blocks', 't_k'), '>', 5, 'blocks that the map lacks');
	sql($vacuum);
	is(waiting('blocks', 't_k'), 0, 'no block is lost');
	sound('t_k');
};

# ------------------------------------------------------------------------------------------ what plans keep of an index (E6)

my @kept = ('metapages change unseen', 'positions outlive groups');

# How wrong the planner is about a skewed part of the table, as a share of its rows.
sub misjudged
{
	my ($s) = @_;
	my $plan = sql('EXPLAIN SELECT FROM t WHERE k > 9000', $s);

	return $plan =~ /rows=(\d+)/ ? abs($1 / sql('SELECT count(*) FROM t WHERE k > 9000') - 1) : $plan;
}

# A session that has planned so often that it keeps positions.
sub planner
{
	my ($s) = @_;

	sql("SET surfidx.range_estimates = on; DO \$\$ BEGIN FOR i IN 1..60 LOOP EXECUTE 'EXPLAIN SELECT FROM t WHERE k > ' || 9000 + i; END LOOP; END \$\$", $s);
	cmp_ok(misjudged($s), '<', 0.02, 'it plans with few rows');
	return $s;
}

sub grow
{
	my ($n) = @_;

	sql("INSERT INTO t SELECT g, repeat(md5(g::text), 1), g FROM generate_series(10000 + 1, 10000 + $n) g; SELECT surfidx_merge('t_k')");
	return;
}

scenario 'one session plans while another one inserts and merges', \@kept, sub {
	build(10000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	sql('VACUUM ANALYZE t');
	my $s = planner(session());
	for (1 .. 3)
	{
		grow(10000);
		cmp_ok(misjudged($s), '<', 0.02, 'it sees what has come');
	}
};

scenario 'a metapage that changes behind the look at it', ['changes counted behind the page'], sub {
	build(10000, 'CREATE INDEX t_k ON t USING surfidx (k); CREATE INDEX t_n ON t USING surfidx (n)');
	sql("SELECT surfidx_merge('t_k'), surfidx_merge('t_n')");
	sql('VACUUM ANALYZE t');
	my $s = planner(session());
	# another index's metapage changes, so that it looks at this one's again, and finds what it has kept to be good
	sql("INSERT INTO t VALUES (1, '', 1); SELECT surfidx_merge('t_n')");
	arm('metapage glanced at', 'wait');
	start('EXPLAIN SELECT FROM t WHERE k > 9000', $s);
	wait_at('metapage glanced at');
	# twice: the first time goes to the generation that it has seen, whose image tells of it still
	grow(10000) for 1, 2;
	release('metapage glanced at');
	finish($s);
	cmp_ok(misjudged($s), '<', 0.02, 'the next plan sees it');
};

# ------------------------------------------------------------------------------------------ damage (P2)

# Each lies between two prices, as near to one as a double can: the next above and the next below.
scenario 'what lies beside a decimal',
  ['what lies near a decimal is found', 'decimals are sought below'], sub {
	sql('CREATE TABLE p AS SELECT i / 100::float8 AS v FROM generate_series(1001, 1400) i;
		CREATE INDEX p_v ON p USING surfidx (v); VACUUM (FREEZE, ANALYZE) p');
	my $s = reader();
	my $count = 'SELECT count(*) FROM (SELECT v FROM p WHERE v %s ORDER BY v OFFSET 0) x';

	is(sql(q{SELECT (s.codecs -> 'keys') ? 'decimals' FROM surfidx_page_stats('p_v', 3) s}), 't',
		'prices are decimals');
	for (['12.34', 1, 233], ['12.340000000000002', 0, 234], ['12.339999999999998', 0, 233])
	{
		my ($v, $equal, $below) = @$_;

		is(eval { sql(sprintf($count, "= $v"), $s) } // $@, $equal, "$v is found, or not");
		is(eval { sql(sprintf($count, "< $v"), $s) } // $@, $below, '... and what is below it');
	}
	sql('DROP TABLE p');
};

scenario 'a length inside an array that runs beyond it', ['believe raw values'], sub {
	build(1, 'CREATE TABLE a (x text[]); CREATE INDEX a_x ON a USING surfidx (x)');
	sql("INSERT INTO a SELECT ARRAY['needle', g::text] FROM generate_series(1, 20) g; CHECKPOINT");
	my $path = server()->{data} . '/' . sql("SELECT pg_relation_filepath('a_x')");
	restart('fast', sub {
		open(my $f, '+<:raw', $path) or die "$path: $!";
		local $/;
		my $bytes = <$f>;
		# a varlena's header counts itself
		is($bytes =~ s/\x28\0\0\0needle/pack('L', 0x3ffffffc << 2 & 0xfffffffc) . 'needle'/ge, 20, 'elements found');
		seek($f, 0, 0);
		print $f $bytes;
		close $f;
	});
	like(error_of('SELECT count(x::text) FROM (SELECT x FROM a ORDER BY x) s', reader()), qr/^XX00[12]$/, 'an error, not a wild read');	# the former by a checksum
	is(sql("REINDEX INDEX a_x; SELECT surfidx_check('a_x', true, true)"), '', 'REINDEX heals');
	sql('DROP TABLE a');
};

# A delta of 150,000 entries that has no log in order, and is larger than what is not looked at
sub delta_out_of_order
{
	build(20000, 'CREATE INDEX t_k ON t USING surfidx (k)
		WITH (delta_size = 1000000, merge_ratio = 10, run_ratio = 0)');
	sql("SELECT surfidx_merge('t_k')");
	sql('INSERT INTO t (k) SELECT hashint4(g) FROM generate_series(1, 150000) g');
}

# M2: VACUUM makes an image, and somebody else merges so many entries meanwhile
sub looks_without_the_lock
{
	my ($merged) = @_;
	my $s = session();

	arm('delta to be put in order', 'wait');
	start($vacuum, $s);
	ok(come_by('delta to be put in order', $s), 'VACUUM makes an image');
	my $other = start("SELECT surfidx_merge('t_k')");
	ok(!wait_blocked($other), 'and keeps nobody from merging');
	release('delta to be put in order');
	is(finish($other), $merged, 'which merges all of it');
	is(finish($s), '', 'VACUUM ends');
	sound('t_k');
}

scenario 'a look whether a merge is worth it, at a delta without an image',
	['images under the merge lock'], sub {
	delta_out_of_order();
	looks_without_the_lock('150000');
};

# I1: VACUUM flags a row of the delta, so the image that is there will not do
scenario 'a look whether a merge is worth it, at a delta whose image lacks flags',
	['images under the merge lock'], sub {
	delta_out_of_order();
	sql('SET enable_seqscan = off');
	is(sql('SELECT count(*) FROM t WHERE k = hashint4(7)'), '1', 'a reader makes an image');
	sql('DELETE FROM t WHERE k = hashint4(7)');
	looks_without_the_lock('149999');
};

# Inner pages without a downlink, or free blocks that the map lacks, as the check says at DEBUG1.
sub waiting
{
	my ($what, $index) = @_;
	my $r = control()->query("\\set VERBOSITY terse\nSET client_min_messages = debug1;\nSELECT surfidx_check('$index', false);\nRESET client_min_messages;\n\\set VERBOSITY sqlstate", 30);

	return join(' ', @{ $r->{rows} }) =~ /(\d+) inner pages wait for their downlinks, (\d+) free blocks/ ? ($what eq 'pages' ? $1 : $2) : 'unknown';
}

run_scenarios();
