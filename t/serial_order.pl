# SERIALIZABLE: random schedules have a serial order; what was read stays locked through PREPARE and
# a crash, REINDEX and a full table of ranges, and is no more than what was read.  Each way to read
# and each order of two transactions: specs/serializable-unique.spec, specs/serializable-paths.spec.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SurfSerial;
use SurfServer;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{SURFIDX_SERIAL_SECONDS} || 8;
my $seed = $ENV{SURFIDX_SERIAL_SEED} || $ENV{SURFIDX_DIFF_SEED} || 1 + int(rand(1e8));
my $server = SurfServer->new(
	name => 'serial',
	conf => [
		'deadlock_timeout = 10ms', 'autovacuum = off', 'surfidx.auto_merge = off',
		'max_prepared_transactions = 4', 'max_connections = 40',
		'max_pred_locks_per_transaction = 20'
	]);
my ($one, $two);

$server->start;
$server->query_once('CREATE EXTENSION surfidx');

# ---- random schedules ----

for my $kind (sort keys %SurfSerial::KINDS)
{
	my $serial = SurfSerial->new(server => $server, seed => $seed);
	my $end = time + $seconds;
	my $good = 1;

	$serial->table($kind);
	while ($good && time < $end)
	{
		# most of the keys may have gone
		$serial->table($kind) if $serial->{cases} % 40 == 39;
		$good = $serial->one;
	}
	ok($good, "keys of kind $kind: committed transactions have a serial order");
	diag("SURFIDX_SERIAL_SEED=$seed:\n$serial->{found}") unless $good;
	is($serial->sound, '', 'and the indexes are sound');
	note("$kind: $serial->{cases} schedules, $serial->{committed} committed, "
		  . "$serial->{failed} failed");
	$_->end for @{ $serial->{s} }, $serial->{control};
}

# ---- single cases ----

sub sql
{
	my ($s, $text) = @_;
	my $r = $s->query($text, 60);

	return $r->{lost} ? 'lost' : $r->{error} ? $r->{error} : join(',', @{ $r->{rows} });
}

sub fresh
{
	my ($rows) = @_;

	$_ && $_->end for $one, $two;
	($one, $two) = ($server->session, $server->session);
	sql($one, "DROP TABLE IF EXISTS t; CREATE TABLE t (k int) WITH (autovacuum_enabled = off);
		CREATE INDEX t_k ON t USING surfidx (k);
		INSERT INTO t SELECT 10 * g FROM generate_series(1, $rows) g; SELECT surfidx_merge('t_k')");
	for my $s ($one, $two)
	{
		sql($s, 'SET enable_seqscan = off; SET enable_bitmapscan = off');
	}
	return;
}

sub begin
{
	sql($_, 'BEGIN ISOLATION LEVEL SERIALIZABLE') for @_;
	return;
}

# What the second of two transactions comes to that both have read what the other one inserts.
sub outcome
{
	my (@statements) = @_;

	for my $s (@statements)
	{
		my $r = sql(@$s);
		return $r if $r =~ /^\w{5}$/ && $r =~ /\D|^[24]/ && length $r == 5;
	}
	return '';
}

# both read; the first inserts and commits; the second inserts $key
sub skew
{
	my ($read, $key, $meanwhile) = @_;

	begin($one, $two);
	sql($one, $read);
	sql($two, 'SELECT k FROM t WHERE k = 5555555');
	$meanwhile->() if $meanwhile;
	sql($one, 'INSERT INTO t VALUES (5555555)');
	return outcome([ $one, 'COMMIT' ], [ $two, "INSERT INTO t VALUES ($key)" ], [ $two, 'COMMIT' ]);
}

# (locktype, how many) of the index's predicate locks
sub locks
{
	return sql($two, q{SELECT string_agg(locktype || ' ' || n, ' ' ORDER BY locktype)
		FROM (SELECT locktype, count(*) AS n FROM pg_locks
			WHERE mode = 'SIReadLock' AND relation = 't_k'::regclass GROUP BY 1) l});
}

fresh(1000);
begin($one);
sql($one, "SELECT count(*) FROM t WHERE k = $_") for map { 5 + 10 * $_ } 1 .. 200;
is(locks(), 'page 1', 'however much a transaction reads of an index, it has one lock');
is(sql($one, 'COMMIT'), '', '');

fresh(1000);
my $near = join('; ', map { "SELECT count(*) FROM t WHERE k = $_" } 1001 .. 1100);
is(skew($near, 1050), '40001', 'a hundred neighbouring keys: one of them');
fresh(1000);
is(skew($near, 1000), '', '... the one before them');
fresh(1000);
is(skew($near, 1101), '', '... the one after them');
fresh(1000);
my $far = join('; ', map { 'SELECT count(*) FROM t WHERE k = ' . 100 * $_ } 1 .. 70);
is(skew($far, 7000), '40001', 'seventy keys far from one another: one of them');
fresh(1000);
is(skew($far, 7001), '', '... another one');

# REINDEX and others give the locks to the table
for my $ddl ('REINDEX INDEX t_k', 'VACUUM FULL t', 'CLUSTER t USING t_k')
{
	fresh(1000);
	begin($one, $two);
	sql($one, 'SELECT count(*) FROM t WHERE k BETWEEN 51 AND 59');
	sql($two, 'SELECT count(*) FROM t WHERE k = 5555555');
	sql($one, 'INSERT INTO t VALUES (5555555)');
	sql($one, 'COMMIT');
	# t is ours to lock, but for two's read
	my $three = $server->session;
	$three->send("SET lock_timeout = '60s'; $ddl");
	my $r = sql($two, 'INSERT INTO t VALUES (55)');
	$r = sql($two, 'COMMIT') if $r eq '';
	is($r, '40001', "$ddl waits, and the reader is known");
	$three->receive(60);
	$three->end;
}
# a prepared transaction, whose ranges no restart brings back
for my $crash (0, 1)
{
	for my $key (55, 85)
	{
		fresh(1000);
		begin($one);
		sql($one, 'SELECT count(*) FROM t WHERE k BETWEEN 51 AND 59');
		sql($one, 'INSERT INTO t VALUES (5555555)');
		is(locks() =~ /page 1/, 1, 'a range');
		sql($one, "PREPARE TRANSACTION 'p'");
		is(locks(), 'relation 1', 'prepared: the whole index');
		if ($crash)
		{
			$server->kill_all;
			$server->start;
			($one, $two) = ($server->session, $server->session);
			sql($two, 'SET enable_seqscan = off; SET enable_bitmapscan = off');
			is(locks(), 'relation 1', '... and after a crash');
		}
		begin($two);
		my $outcome = outcome(
			[ $two, 'SELECT count(*) FROM t WHERE k = 5555555' ],
			[ $two, "INSERT INTO t VALUES ($key)" ],
			[ $two, 'COMMIT' ]);
		is($outcome, '40001', "an insert of $key is in conflict");
		sql($two, 'ROLLBACK');
		is(sql($one, "COMMIT PREPARED 'p'"), '', 'the prepared one commits');
	}
}

# (locktypes) of the locks on these indexes
sub locktypes
{
	return sql($two, q{SELECT string_agg(DISTINCT locktype, ' ')
		FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
		WHERE mode = 'SIReadLock' AND relname LIKE 'm%k' AND pid = pg_backend_pid()});
}

# More indexes than there are places for readers, one old transaction that keeps them: whole indexes
# are locked then, and places come back.
{
	fresh(10);
	my $old = $server->session;
	begin($old);
	sql($old, 'SELECT 1 FROM pg_class; SELECT count(*) FROM t WHERE k = 1');
	sql($one, "CREATE TABLE m$_ (k int); CREATE INDEX m${_}_k ON m$_ USING surfidx (k)")
	  for 1 .. 60;
	my (%seen, $failed);
	for my $round (1 .. 20)
	{
		begin($two);
		sql($two, "SELECT count(*) FROM m$_ WHERE k = $round") for 1 .. 20;
		$seen{$_}++ for split / /, locktypes();
		$failed = sql($two, 'COMMIT') || $failed;
	}
	is(join(' ', sort keys %seen), 'page relation', 'no place is left: the whole index then');
	is($failed // '', '', 'and nothing fails');
	$old->end;
	my $left = "SELECT count(*) FROM pg_locks WHERE mode = 'SIReadLock'";
	sql($one, 'SELECT pg_sleep(0.01)') until sql($one, $left) eq '0';
	begin($two);
	sql($two, "SELECT count(*) FROM m$_ WHERE k = 1") for 1 .. 60;
	is(locktypes(), 'page', 'all places are there again');
	sql($two, 'COMMIT');
}

is(join('', $server->crashes), '', 'no crash in the server log');
$server->stop('immediate');
done_testing();
