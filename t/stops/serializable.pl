# SERIALIZABLE (S1 to S3): each rule, and random schedules that notice most of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfSerial;
use SurfStops;
use Test::More;

my $begin = 'BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL enable_seqscan = off; '
  . 'SET LOCAL enable_bitmapscan = off';
my $between = 'SELECT count(*) FROM t WHERE k BETWEEN 51 AND 59';

# Two transactions over a table of 100 rows, 10 to 1000.
sub two
{
	my ($index) = @_;
	my ($x, $y) = (session(), session());

	build(0, $index || 'CREATE INDEX t_k ON t USING surfidx (k)');
	sql('INSERT INTO t SELECT 10 * g FROM generate_series(1, 100) g');
	for my $s ($x, $y)
	{
		sql($begin, $s);
		# its snapshot
		sql('SELECT 1 FROM pg_class LIMIT 1', $s);
	}
	return ($x, $y);
}

# The SQLSTATE of the first statement that fails.
sub first_error
{
	my ($s, @statements) = @_;
	my $error = '';

	$error ||= error_of($_, $s) for @statements;
	error_of('ROLLBACK', $s);
	return $error;
}

scenario 'what was read is locked, what is written is held against it',
  [ 'reads without locks', 'writes without a look' ], sub {
	for my $merged (0, 1)
	{
		my ($x, $y) = two();
		sql("SELECT surfidx_merge('t_k')") if $merged;
		sql($between, $x);
		sql('SELECT count(*) FROM t WHERE k = 555', $y);
		sql('INSERT INTO t VALUES (555)', $x);
		sql('COMMIT', $x);
		is(first_error($y, 'INSERT INTO t VALUES (55)', 'COMMIT'), '40001',
			'one of two that each read what the other one writes fails');
	}
};

scenario 'an insert looks for readers behind its append', ['look before append'], sub {
	for my $unique ('', 'UNIQUE')
	{
		my ($x, $y) = two("CREATE $unique INDEX t_k ON t USING surfidx (k)");
		sql('SELECT count(*) FROM t WHERE k = 555', $y);
		arm('append', 'wait');
		start('INSERT INTO t VALUES (55)', $y);
		wait_at('append');
		is(sql($between, $x), '0', 'read before the entry is there');
		release('append');
		is(finish($y), '', 'inserted');
		is(sql('COMMIT', $y), '', 'and committed');
		is(first_error($x, 'INSERT INTO t VALUES (555)', 'COMMIT'), '40001',
			'a reader that was before cannot have been later as well');
	}
};

scenario 'a range is locked before anything of it is read', ['lock behind the read'], sub {
	my ($x, $y) = two();
	sql('SELECT count(*) FROM t WHERE k = 555', $y);
	arm('between stages', 'wait');
	start($between, $x);
	wait_at('between stages');
	is(first_error($y, 'INSERT INTO t VALUES (55)', 'COMMIT'), '',
		'the other one inserts and commits');
	release('between stages');
	is(finish($x), '0', 'which is not seen');
	is(first_error($x, 'INSERT INTO t VALUES (555)', 'COMMIT'), '40001', 'and counts');
};

scenario 'what a cursor gives back another scan may have read', ['covered by an open range'], sub {
	my ($x, $y) = two();
	sql('DECLARE c CURSOR FOR SELECT k FROM t WHERE k > 0 ORDER BY k; FETCH 2 FROM c', $x);
	sql("$between; CLOSE c", $x);
	sql('SELECT count(*) FROM t WHERE k = 555', $y);
	sql('INSERT INTO t VALUES (555); COMMIT', $x);
	is(first_error($y, 'INSERT INTO t VALUES (55)', 'COMMIT'), '40001', 'is locked');
};

scenario 'a cursor that turned round has been further on', ['read straight on'], sub {
	my ($x, $y) = two();
	sql('DECLARE c SCROLL CURSOR FOR SELECT k FROM t WHERE k > 0 ORDER BY k', $x);
	sql('FETCH 8 FROM c; FETCH BACKWARD 6 FROM c; CLOSE c', $x);
	sql('SELECT count(*) FROM t WHERE k = 555', $y);
	sql('INSERT INTO t VALUES (555); COMMIT', $x);
	is(first_error($y, 'INSERT INTO t VALUES (55)', 'COMMIT'), '40001',
		'what it saw there is locked');
};

scenario 'of a row comparison each piece is locked', ['reads without locks'], sub {
	for my $row ([ '5, 200', 'in the first piece' ], [ '8, NULL', 'in the second' ])
	{
		my ($values, $where) = @$row;
		my ($x, $y) = map { session() } 1, 2;

		build(0, 'CREATE INDEX t_k ON t USING surfidx (k)');
		sql('DROP TABLE IF EXISTS r; CREATE TABLE r (a int, b int);
			CREATE INDEX r_ab ON r USING surfidx (a, b);
			INSERT INTO r SELECT g % 10, g FROM generate_series(1, 100) g');
		sql("$begin; SELECT count(*) FROM r WHERE a = 1 AND b = 1000", $y);
		sql("$begin; SELECT count(*) FROM r WHERE (a, b) > (5, 50)", $x);
		sql('INSERT INTO r VALUES (1, 1000); COMMIT', $x);
		is(first_error($y, "INSERT INTO r VALUES ($values)", 'COMMIT'), '40001', $where);
	}
};

scenario 'a conflict is reported before a duplicate', ['duplicate before conflict'], sub {
	my ($x, $y) = two('CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	sql('SELECT count(*) FROM t WHERE k = 55', $_) for $x, $y;
	sql('INSERT INTO t VALUES (55); COMMIT', $x);
	is(first_error($y, 'INSERT INTO t VALUES (55)'), '40001', 'the transaction may be repeated');
};

scenario 'what a prepared transaction has read outlives the server', ['prepared as it is'], sub {
	my ($x, $y) = two();
	sql("$between; INSERT INTO t VALUES (555)", $x);
	sql("PREPARE TRANSACTION 'p'", $x);
	server()->kill_all;
	restart('gone');
	# p before z, which writes what p has read; z before w, of which z sees nothing; w was first.
	# (Core takes it that p is in conflict with others, whatever p has read.)
	my ($z, $w) = (session(), session());
	sql("$begin; SELECT count(*) FROM t WHERE k = 777", $z);
	sql("$begin; INSERT INTO t VALUES (777); COMMIT", $w);
	is(first_error($z, 'INSERT INTO t VALUES (55)', 'COMMIT'), '40001', 'and counts');
	sql("COMMIT PREPARED 'p'");
};

scenario 'random schedules have a serial order',
  [ 'reads without locks', 'writes without a look' ], sub {
	for my $kind ('bytes', 'comparator')
	{
		my $serial = SurfSerial->new(server => server(), seed => 4711);
		my $good = 1;
		my $n = 0;

		$serial->table($kind);
		while ($good && $n++ < 150)
		{
			$serial->table($kind) if $n % 40 == 0;
			$good = $serial->one;
		}
		ok($good, "keys of kind $kind: committed transactions have a serial order");
		diag($serial->{found}) unless $good;
		$_->end for @{ $serial->{s} }, $serial->{control};
	}
};

run_scenarios(conf => [ 'max_prepared_transactions = 4', 'deadlock_timeout = 10ms' ]);
