# Prepared transactions beside what sessions remember, and beside what they look at without a lock:
# their rows are in progress in each session until COMMIT PREPARED or ROLLBACK PREPARED, which
# another session runs, also after a crash.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops qw(:DEFAULT sound first_rows);
use Test::More;

my $vacuum = 'VACUUM (INDEX_CLEANUP on) t';

# A session that asks the table about each row.
sub reader
{
	my $s = session();

	sql("SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
		SET enable_indexonlyscan = off", $s);
	return $s;
}

# A session prepares these statements and is gone.
sub prepare
{
	my ($statements) = @_;
	my $s = session();

	sql("BEGIN; $statements; PREPARE TRANSACTION 'p'", $s);
	$s->end;
	return;
}

scenario 'prepared rows that come where others were passed (X8)', ['passed for good'], sub {
	build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql("SELECT surfidx_merge('t_k')");
	my $s = reader();
	sql('DELETE FROM t WHERE k <= 25');
	is(first_rows(1, $s), '26', 'all dead ones are passed') for 1 .. 2;
	prepare('INSERT INTO t VALUES (7)');
	is(first_rows(2, $s), '26,27', 'one is prepared');
	sql("SELECT surfidx_merge('t_k')");
	is(first_rows(2, $s), '26,27', 'and merged') for 1 .. 2;
	sql("COMMIT PREPARED 'p'");
	is(first_rows(2, $s), '7,26', 'and committed') for 1 .. 2;
	prepare('INSERT INTO t VALUES (5)');
	sql("SELECT surfidx_merge('t_k')");
	sql('DELETE FROM t WHERE k = 7');
	is(first_rows(1, $s), '26', 'another one is in progress') for 1 .. 2;
	sql("ROLLBACK PREPARED 'p'");
	is(first_rows(1, $s), '26', 'and rolled back') for 1 .. 2;
	sql($vacuum);
	prepare('INSERT INTO t SELECT g FROM generate_series(1, 27) g');
	is(first_rows(2, $s), '26,27', 'a prepared transaction has the TIDs of dead rows');
	sql("SELECT surfidx_merge('t_k')");
	is(first_rows(2, $s), '26,27', 'and its entries are merged');
	sql("COMMIT PREPARED 'p'");
	is(first_rows(2, $s), '1,2', 'all of them are seen');
	sound('t_k');
};

# With enough of them for X3.
scenario 'rows that a prepared transaction has deleted are neither passed nor removed (X3, X8)', [], sub {
	for my $n (20, 1000)
	{
		my $next = $n + 1;

		build(3000, 'CREATE INDEX t_k ON t USING surfidx (k)');
		sql("SELECT surfidx_merge('t_k')");
		my $s = reader();
		prepare("DELETE FROM t WHERE k <= $n");
		is(first_rows(1, $s), '1', "$n rows: the first one is there") for 1 .. 2;
		sql("ROLLBACK PREPARED 'p'");
		is(first_rows(1, $s), '1', 'it stays') for 1 .. 2;
		prepare("DELETE FROM t WHERE k <= $n");
		restart('immediate');
		$s = reader();
		is(first_rows(1, $s), '1', 'after a crash it is there') for 1 .. 2;
		sql($vacuum);
		is(first_rows(1, $s), '1', 'and VACUUM leaves it alone');
		sql("COMMIT PREPARED 'p'");
		is(first_rows(1, $s), $next, 'now they are gone') for 1 .. 2;
		is(sql("SELECT count(*) FROM t WHERE k > 0", $s), 3000 - $n, 'and no others');
		sound('t_k');
	}
};

scenario 'a prepared key at the end of the log that no image has (I9)', ['end of the log unread'], sub {
	build(100, 'CREATE UNIQUE INDEX t_k ON t USING surfidx (k)
		WITH (delta_size = 65536, merge_ratio = 10)');
	my $s = reader();
	sql('INSERT INTO t SELECT 1000 + 10 * g FROM generate_series(1, 500) g');
	is(sql('SELECT k FROM t WHERE k = 1010', $s), '1010', 'an image of the log');
	prepare('INSERT INTO t VALUES (1015)');
	is(sql('SELECT k FROM t WHERE k = 1015', $s), '', 'nobody sees what is prepared');
	for my $end (['ROLLBACK', '', '1015'], ['COMMIT', '23505', '1025'])
	{
		my ($how, $error, $key) = @$end;
		my $other = session();

		start("INSERT INTO t VALUES ($key)", $other);
		ok(wait_blocked($other), "$how: an insert of its key waits");
		sql("$how PREPARED 'p'");
		is(finish($other) =~ /(23505)/ ? $1 : '', $error, 'and then knows');
		is(sql("SELECT k FROM t WHERE k = $key", $s), $key, 'one row');
		prepare('INSERT INTO t VALUES (1025)') if $how eq 'ROLLBACK';
	}
	sound('t_k');
};

scenario 'a look whether a merge is worth it, at prepared rows (M2)', ['images under the merge lock'], sub {
	build(20000, 'CREATE INDEX t_k ON t USING surfidx (k)
		WITH (delta_size = 1000000, merge_ratio = 10, run_ratio = 0)');
	sql("SELECT surfidx_merge('t_k')");
	prepare('INSERT INTO t (k) SELECT hashint4(g) FROM generate_series(1, 150000) g');
	my $s = session();
	arm('delta to be put in order', 'wait');
	start($vacuum, $s);
	ok(come_by('delta to be put in order', $s), 'VACUUM makes an image');
	sql("ROLLBACK PREPARED 'p'");
	my $other = start("SELECT surfidx_merge('t_k')");
	ok(!wait_blocked($other), 'and keeps nobody from merging');
	release('delta to be put in order');
	is(finish($other), '150000', 'which merges what was rolled back');
	is(finish($s), '', 'VACUUM ends');
	sql($vacuum);
	is(sql("SELECT entries FROM surfidx_meta('t_k')"), '20000', 'the next one removes it');
	is(sql('SELECT count(*) FROM t WHERE k > 0', reader()), 20000, 'every row');
	sound('t_k');
};

run_scenarios(conf => [ 'max_prepared_transactions = 2' ]);
