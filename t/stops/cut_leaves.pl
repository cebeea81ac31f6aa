# Leaves with cut keys: rows that a reader asks for stay valid until it has the answer (W2, W3).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

# 5,000 keys far from one another, whose index is cut.
sub table
{
	sql(<<'END');
DROP TABLE IF EXISTS t;
CREATE TABLE t (k int8, v int) WITH (autovacuum_enabled = off, fillfactor = 50);
INSERT INTO t SELECT g * 1000003::int8, g FROM generate_series(1, 5000) g;
CREATE INDEX t_k ON t USING surfidx (k) WITH (keys = cut);
END
	sql('VACUUM ANALYZE t');
	return;
}

sub reader
{
	my ($off) = @_;
	my $s = session();

	sql("SET enable_seqscan = off; SET enable_bitmapscan = off; SET $off = off", $s);
	return $s;
}

# The least key of the range is one that the leaf cannot tell from the bound; its row is dead.
my $query = 'SELECT v FROM t WHERE k > 2000006000 AND k < 2004006013 ORDER BY k';

# Other rows get the TIDs that VACUUM gives away.
sub vacuum_and_insert
{
	sql('VACUUM t');
	sql('INSERT INTO t SELECT -g, -g FROM generate_series(1, 200) g');
	return;
}

scenario 'a plain scan that meets a cut leaf', ['keys without a gate'], sub {
	table();
	sql('DELETE FROM t WHERE v BETWEEN 1990 AND 2001');
	my $s = reader('enable_indexonlyscan');
	arm('cut leaf copied', 'wait');
	start($query, $s);
	wait_at('cut leaf copied');
	vacuum_and_insert();
	release('cut leaf copied');
	is(finish($s), '2002,2003,2004', 'begins again under the gate');
};

scenario 'VACUUM beside who asks for keys', [], sub {
	table();
	sql('DELETE FROM t WHERE v BETWEEN 1990 AND 2001');
	my $s = reader('enable_indexscan');
	arm('cut leaf copied', 'wait');
	start('SELECT k FROM t WHERE k > 1980006000 AND k < 2004006013 ORDER BY k', $s);
	wait_at('cut leaf copied');
	my $v = start('VACUUM t');
	ok(wait_blocked($v), 'waits for the reader');
	release('cut leaf copied');
	is(finish($s), join(',', map { $_ * 1000003 } 1981 .. 1989, 2002 .. 2004), 'which gets them');
	is(finish($v), '', 'and ends');
};

scenario 'a row that another one stands before', ['first of a chain'], sub {
	table();
	# for whom the old row is not dead yet
	my $old = session();
	sql('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1', $old);
	sql('DROP INDEX t_k');
	sql('BEGIN; UPDATE t SET k = 7 WHERE v = 3000;
		CREATE INDEX t_k ON t USING surfidx (k) WITH (keys = cut); COMMIT');
	is(sql('SELECT k FROM t WHERE k BETWEEN 0 AND 1000003 ORDER BY k', reader('enable_indexscan')),
		'7,1000003', 'the last of a chain has the key');
	sql('COMMIT', $old);
};

# A key less than each that is there, which begins with all that is stored of that, but for its
# loose bits.
sub beside
{
	table();
	sql('INSERT INTO t SELECT g * 1000003::int8 - 1, -g FROM generate_series(1, 5000) g');
	return;
}

scenario 'rows of the delta beside keys cut between bits',
	[ 'bytes tell readers', 'stages beside cut keys' ], sub {
	beside();
	is(sql('SELECT v FROM t WHERE k > 2000000000 AND k < 2010000000 ORDER BY k',
			reader('enable_indexonlyscan')), join(',', map { (-$_, $_) } 2000 .. 2009),
		'are in their order');
};

scenario 'a merge beside keys cut between bits', ['bytes tell'], sub {
	beside();
	is(error_of("SELECT surfidx_merge('t_k')"), '', 'asks for the rows');
	is(error_of("SELECT surfidx_check('t_k', true)"), '', 'whose keys are in their order');
};

# Keys that no stored one is the beginning of, but for one of 128
scenario 'a merge beside keys that are far away', ['merges ask for each row'], sub {
	table();
	sql('INSERT INTO t SELECT g * 1000003::int8 + 500000, -g FROM generate_series(1, 100) g');
	sql("SELECT surfidx_merge('t_k')");
	cmp_ok(sql("SELECT recovered_by_merges FROM surfidx_leaf_keys('t_k')"), '<', 10,
		'asks for hardly any row');
	is(error_of("SELECT surfidx_check('t_k', true, true)"), '', 'and keeps them in order');
};

# A session that has a lock on the table need not queue for another one.
scenario 'a merge whose own transaction has locked the table', ["own locks are others'"], sub {
	beside();
	my $s = session();
	sql('BEGIN; INSERT INTO t VALUES (5)', $s);
	my $other = start('BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE; COMMIT');
	ok(wait_blocked($other), 'another one waits for the table');
	is(error_of("SELECT surfidx_merge('t_k')", $s), '', 'recovers keys all the same');
	sql('COMMIT', $s);
	finish($other);
};

sub log_of_server
{
	open(my $f, '<', server()->{log}) or die server()->{log};
	local $/;
	return scalar <$f>;
}

# The server's log is for what goes wrong.
scenario 'a worker that needs rows of a table that somebody has locked',
	['locked tables are errors'], sub {
	table();
	sql('ALTER INDEX t_k SET (delta_size = 64, merge_ratio = 10, run_ratio = 0)');
	my $before = length log_of_server();
	arm('request taken', 'wait');
	sql('SET surfidx.auto_merge = on;
		INSERT INTO t SELECT g * 1000003::int8, -g FROM generate_series(1, 5000) g');
	wait_at('request taken');
	my $s = session();
	sql('BEGIN; LOCK t IN ACCESS EXCLUSIVE MODE', $s);
	arm('request served', 'wait');
	release('request taken');
	wait_at('request served');
	is(sql("SELECT merges FROM surfidx_meta('t_k')"), '0', 'merges nothing');
	unlike(substr(log_of_server(), $before), qr/ERROR/, 'and says nothing of it');
	release('request served');
	sql('ROLLBACK', $s);
	my $end = time + patience();
	# not asked for again at once (M12)
	until (sql("SELECT merges > 0 FROM surfidx_meta('t_k')") eq 't' || time > $end)
	{
		sql("INSERT INTO t SELECT g * 1000003::int8, -g FROM generate_series(1, 500) g");
		settle();
	}
	is(sql("SELECT merges > 0 FROM surfidx_meta('t_k')"), 't', 'until the lock is free');
	sql('RESET surfidx.auto_merge');
};

# Both ends of such a range are open beside the same stored key.
scenario 'a unique check beside a key cut between bits', [], sub {
	table();
	sql('DROP INDEX t_k; CREATE UNIQUE INDEX t_k ON t USING surfidx (k) WITH (keys = cut)');
	sql('INSERT INTO t SELECT g * 1000003::int8 - 1, -g FROM generate_series(1, 100) g');
	my $asked = sql("SELECT recovered_by_readers FROM surfidx_leaf_keys('t_k')");
	cmp_ok($asked, '>=', 100, 'asks for its row');
	cmp_ok($asked, '<', 150, 'not for each of them twice');
};

# Of an index that has grown twenty times, old keys are stored as its neighbours of then wanted them,
# and new ones as those of now do (W12).
scenario 'keys that come to an index that grows', ['blocks end at old keys'], sub {
	sql(<<'END');
DROP TABLE IF EXISTS t;
CREATE TABLE t (k int8, v int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT hashint8extended(g, 1), g FROM generate_series(1, 1000) g;
CREATE INDEX t_k ON t USING surfidx (k) WITH (keys = cut);
END
	for (my $n = 1000; $n < 20000; $n = int($n * 1.25))
	{
		sql(sprintf('INSERT INTO t SELECT hashint8extended(g, 1), g FROM generate_series(%d, %d) g',
			$n + 1, int($n * 1.25)));
		sql("SELECT surfidx_merge('t_k')");
	}
	my $rows = sql('SELECT count(*) FROM t');
	cmp_ok(sql("SELECT recovered_by_merges FROM surfidx_leaf_keys('t_k')"), '<', $rows / 30,
		"hardly any of $rows is looked up");
	is(error_of("SELECT surfidx_check('t_k', true, true)"), '', 'and all are in their order');
};

# Half of the rows have one key, whose entries fill several leaves.
scenario 'rows of one key on both sides of a fence', [], sub {
	table();
	sql('INSERT INTO t SELECT 3000009000, -g FROM generate_series(1, 20000) g; REINDEX INDEX t_k');
	sql('INSERT INTO t SELECT 3000009000, -g FROM generate_series(20001, 20100) g');
	is(error_of("SELECT surfidx_merge('t_k')"), '', 'a merge finds where more of them belong');
	is(error_of("SELECT surfidx_check('t_k', true, true)"), '', 'and the leaves are sound');
	is(sql('SELECT count(*) FROM (SELECT v FROM t WHERE k = 3000009000 OFFSET 0) x',
			reader('enable_indexonlyscan')), '20101', 'all are found');
};

# Where a scan turns round it looks again for the entry on which it stands.
scenario 'a cursor that turns round on cut keys', ['cut keys outlive a page'], sub {
	table();
	my $s = reader('enable_indexonlyscan');
	sql('BEGIN; DECLARE c SCROLL CURSOR FOR SELECT v FROM t WHERE k > 0 ORDER BY k', $s);
	sql('MOVE 1000 IN c', $s);
	for my $i (1 .. 20)
	{
		is(sql('FETCH PRIOR FROM c', $s) . ' ' . sql('FETCH PRIOR FROM c', $s),
			(999 + 3 * ($i - 1)) . ' ' . (998 + 3 * ($i - 1)), 'back');
		is(sql('FETCH 5 FROM c', $s), join(',', map { $_ + 3 * ($i - 1) } 999 .. 1003), 'forth');
	}
	sql('COMMIT', $s);
};

# The stored keys of this block are in runs that are equal but for further bits, and all have zeros
# after these, up to the last one.
scenario 'the verifier looks for keys', ['behind the first of a run'], sub {
	sql('CREATE TABLE u AS SELECT (2 * i::int8) << 32 AS k FROM generate_series(1, 200) i;
		INSERT INTO u VALUES ((200::int8 << 32) + 1);
		CREATE INDEX u_k ON u USING surfidx (k) WITH (keys = cut)');
	is(error_of("SELECT surfidx_check('u_k')"), '', 'and finds them where they are');
};

# VACUUM of a table's TOAST table alone takes the values of rows that horizons of before call undead
scenario 'a row whose long values are gone before it', ['horizons of before'], sub {
	sql(q{DROP TABLE IF EXISTS t; CREATE TABLE t (id int, k text COLLATE "C", f text)
		WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off, toast_tuple_target = 128);
		ALTER TABLE t ALTER k SET STORAGE EXTERNAL, ALTER f SET STORAGE EXTERNAL;
		INSERT INTO t SELECT g, lpad(g::text, 6, '0') || repeat(md5(g::text), 20),
			repeat(md5(g::text), 100) FROM generate_series(1, 600) g;
		CREATE INDEX t_k ON t USING surfidx (k) WITH (keys = cut); VACUUM (FREEZE) t});
	my $toast = sql("SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 't'");
	my ($reader, $older) = (session(), session());
	my $count = 'SELECT count(*) FROM (SELECT k FROM t %s ORDER BY k OFFSET 0) x';
	sql("SET enable_$_ = off", $reader) for qw(seqscan bitmapscan sort);
	sql('SET surfidx.aggregates = off', $reader);
	sql('BEGIN ISOLATION LEVEL REPEATABLE READ', $older);
	sql('SELECT count(*) FROM t WHERE id < 0', $older);
	sql('DELETE FROM t WHERE id % 3 = 0');
	is(sql(sprintf($count, "WHERE k < '000300'"), $reader), '200', 'undead by a snapshot');
	sql('COMMIT', $older);
	sql("VACUUM $toast");
	is(sql(sprintf($count, ''), $reader), '400', 'dead without it');
	is(error_of("SELECT surfidx_check('t_k', true, true)", $reader), '', 'the verifier, too');
};

# A fence of the run stands in the midst of a key's TIDs, and the entries on one side of it are
# gone: what the tree's cut leaf has of the key belongs to two steps.
scenario 'a run that parts a key of a cut leaf (W7)', ['points beyond their step'], sub {
	my $parted = "SELECT i.tid FROM
		(SELECT root FROM surfidx_runs('t_k') ORDER BY entries LIMIT 1) r,
		surfidx_page_items('t_k', r.root) i WHERE i.tid IS NOT NULL LIMIT 1";

	for my $side ('<', '>=')
	{
		# old rows follow free space, into which those of the run go
		sql('DROP TABLE IF EXISTS t');
		sql('CREATE TABLE t (k int8, p int) WITH (autovacuum_enabled = off)');
		sql('INSERT INTO t SELECT g, 0 FROM generate_series(1, 20000) g');
		sql('INSERT INTO t SELECT hashint8extended(g % 2000, 1), 1
			FROM generate_series(1, 40000) g');
		sql('DELETE FROM t WHERE p = 0');
		sql('VACUUM t');
		sql('CREATE INDEX t_k ON t USING surfidx (k)
			WITH (keys = cut, delta_size = 64, run_ratio = 10, merge_ratio = 10)');
		sql('INSERT INTO t SELECT hashint8extended(g % 500, 1), -1
			FROM generate_series(1, 12000) g');
		sql('VACUUM t');
		my $fence = sql($parted);
		isnt($fence, '', 'a fence parts a key');
		my $k = sql("SELECT k FROM t WHERE ctid = '$fence'");
		sql("DELETE FROM t WHERE k = $k AND p = -1 AND ctid $side '$fence'");
		sql('VACUUM (INDEX_CLEANUP on) t');
		my $rows = sql("SELECT count(*) FROM t WHERE k = $k AND p < 5");
		sql("SET enable_$_ = off") for qw(seqscan bitmapscan indexonlyscan);
		is(sql("SELECT count(*) FROM (SELECT p FROM t WHERE k = $k OFFSET 0) x"),
			$rows, "forward, gone: $side");
		sql("BEGIN; DECLARE c SCROLL CURSOR FOR SELECT p FROM t WHERE k = $k; MOVE ALL IN c");
		my @back = split /,/, sql('FETCH BACKWARD ALL FROM c');
		sql('COMMIT');
		is(scalar @back, $rows, "backward, gone: $side");
		sql('RESET ALL');
		is(error_of("SELECT surfidx_check('t_k', true)"), '', 'sound');
	}
};

run_scenarios();
