# What the TAP tests share: a server that preloads surfidx, a table with indexes of several
# kinds, a random load on it, and the proof that indexes and table agree.
package SurfidxTest;

use strict;
use warnings;

use Exporter 'import';
use File::Basename;
use lib dirname(__FILE__) . '/lib';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SurfEnding;
use SurfServer;
use Test::More;

SurfEnding::wrap('PostgreSQL::Test::Cluster');

our @EXPORT = qw(new_node create_table change_rows check_indexes compare_plans open_session ask end_session
  start_script stop_script start_again @INDEXES);

our @INDEXES = qw(t_n t_s t_u t_ns t_c);

# An initialised server, not started: UTF-8 in the C locale, whatever the environment says.  More
# lines of configuration and options of init may follow.
sub new_node
{
	my ($name, $conf, %init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	push @{ $init{extra} }, '-E', 'UTF8', '--no-locale';
	$node->init(%init);
	$node->append_conf('postgresql.conf', <<"END");
shared_preload_libraries = 'surfidx'
lc_messages = 'C'
jit = off
autovacuum = off
@{[ $conf // '' ]}
END
	return $node;
}

# Table t, in the persistence asked for ('', 'UNLOGGED'), with its indexes.
sub create_table
{
	my ($node, $persistence) = @_;

	$persistence //= '';
	$node->safe_psql('postgres', <<"END");
CREATE EXTENSION IF NOT EXISTS surfidx;
CREATE $persistence TABLE t (u bigserial, n int, s text COLLATE "C", v int);
CREATE INDEX t_n ON t USING surfidx (n);
CREATE INDEX t_s ON t USING surfidx (s);
CREATE UNIQUE INDEX t_u ON t USING surfidx (u);
CREATE INDEX t_ns ON t USING surfidx (n DESC NULLS LAST, s) INCLUDE (v);
CREATE INDEX t_c ON t USING surfidx ((ARRAY[n % 50, v]));	-- in comparator order
END
	return;
}

# A round of random changes: rows inserted, updated and deleted.  The same seed, the same rows.
sub change_rows
{
	my ($node, $rows, $seed) = @_;

	$node->safe_psql('postgres', <<"END");
SELECT setseed(1.0 / $seed);
INSERT INTO t (n, s, v)
	SELECT CASE WHEN random() < 0.02 THEN NULL ELSE (random() * 20000)::int END,
		CASE WHEN random() < 0.02 THEN NULL ELSE repeat('p', (random() * 5)::int) || md5((random() * 30000)::int::text) END, g
	FROM generate_series(1, $rows) g;
UPDATE t SET n = n + 1, s = s || 'u' WHERE u % 11 = $seed % 11;
DELETE FROM t WHERE u % 7 = $seed % 7;
END
	return;
}

# Every invariant, and every row.
sub check_indexes
{
	my ($node, $what) = @_;
	my ($ok, $all) = (0, scalar @INDEXES);
	my $message = '';

	foreach my $index (@INDEXES)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "SELECT surfidx_check('$index', true, true)");

		$ok++ if $rc == 0;
		$message .= "$index: $err\n" if $rc != 0;
	}
	is($ok, $all, "$what: surfidx_check") or diag($message);
	return;
}

my %plans = (
	seq => 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off',
	index => 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET enable_indexonlyscan = off',
	only => 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET enable_indexscan = off',
	bitmap => 'SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off');

# What is asked, and the plans that can answer it through an index.
my @questions = (
	[ 'SELECT count(*), sum(u), sum(v) FROM t WHERE n >= 0', qw(index bitmap) ],
	[ 'SELECT count(*), sum(n) FROM t WHERE n BETWEEN 500 AND 900', qw(index only bitmap) ],
	[ 'SELECT count(*) FROM t WHERE n IS NULL', qw(index only bitmap) ],
	[ "SELECT md5(string_agg(coalesce(s, '-'), ',')) FROM (SELECT s FROM t ORDER BY s) x", qw(index only) ],
	[ "SELECT md5(string_agg(coalesce(s, '-'), ',')) FROM (SELECT s FROM t ORDER BY s DESC) x", qw(index only) ],
	[ 'SELECT md5(string_agg(u::text, chr(44))) FROM (SELECT u FROM t ORDER BY u DESC) x', qw(index only) ],
	[ "SELECT md5(string_agg(concat(n, s, v), ',')) FROM (SELECT n, s, v FROM t WHERE n < 3000 AND s > 'p' "
		  . 'ORDER BY n DESC NULLS LAST, s, v) x', qw(bitmap) ],
	[ "SELECT md5(string_agg(a::text, ',')) FROM (SELECT ARRAY[n % 50, v] a FROM t ORDER BY ARRAY[n % 50, v]) x", qw(index) ],
	[ 'SELECT count(*), sum(u) FROM t WHERE ARRAY[n % 50, v] BETWEEN ARRAY[3, 500] AND ARRAY[7, NULL]', qw(index bitmap) ],
	[ 'SELECT count(*), sum(v) FROM t WHERE n = 77 OR n = 4711', qw(bitmap) ],
	[ "SELECT count(*), sum(v) FROM t WHERE n < 5000 AND s LIKE 'pp%'", qw(index only bitmap) ]);

# Each question gets the answer of a sequential scan through every plan, and all in one snapshot.
sub compare_plans
{
	my ($node, $what) = @_;
	my ($sql, @asked) = ("BEGIN ISOLATION LEVEL REPEATABLE READ;\n");
	my (@answers, $wrong);

	foreach my $q (@questions)
	{
		my ($question, @with) = @$q;

		foreach my $plan ('seq', @with)
		{
			$sql .= "SAVEPOINT a; $plans{$plan};\n$question;\nROLLBACK TO a;\n";
			push @asked, [ $question, $plan ];
		}
	}
	@answers = split /\n/, $node->safe_psql('postgres', $sql . 'COMMIT');
	is(scalar @answers, scalar @asked, "$what: all questions answered");
	my $right;
	foreach my $i (0 .. $#asked)
	{
		my ($question, $plan) = @{ $asked[$i] };

		$right = $answers[$i] if $plan eq 'seq';
		next if $answers[$i] eq $right;
		$wrong .= "$plan: $question: $answers[$i] instead of $right\n";
	}
	ok(!$wrong, "$what: indexes answer as the table does") or diag($wrong);
	return;
}

# A psql that stays, with a cursor or a transaction perhaps: ask it, and at last end it.  The SQLSTATEs of
# errors go to $s->{err}.
sub open_session
{
	my ($node) = @_;
	my $s = SurfSession->new(null => '', user => scalar getpwuid($>),
		server => { base => $node->host, port => $node->port, bin => SurfServer::bindir() });

	$s->{err} = '';
	return $s;
}

# What statements print, without the last newline.
sub ask
{
	my ($s, $sql) = @_;
	my $r = $s->query($sql, 5 * $PostgreSQL::Test::Utils::timeout_default);

	$s->{err} .= ($r->{lost} ? 'lost' : $r->{error}) . "\n" if $r->{lost} || $r->{error};
	return join "\n", @{ $r->{rows} };
}

sub end_session
{
	my ($s) = @_;

	$s->end;
	return;
}

# Run SQL commands, one string, in a session in the background.  What it prints goes to NAME.log,
# and nobody else looks for errors there.
sub start_script
{
	die "start_script: more than a string of SQL and a database" if @_ > 4;
	my ($node, $name, $sql, $db) = @_;
	my $file = "${PostgreSQL::Test::Utils::tmp_check}/$name.sql";
	my $log = "${PostgreSQL::Test::Utils::tmp_check}/$name.log";

	unlink $file;
	PostgreSQL::Test::Utils::append_to_file($file, $sql);
	my $to = $node->connstr($db || 'postgres');

	return IPC::Run::start([ 'psql', '-XqAt', '-d', $to, '-f', $file ],
		'<', '/dev/null', '>', $log, '2>&1');
}

# End it, whatever it is doing.
sub stop_script
{
	my ($session) = @_;

	$session->kill_kill(grace => 0);
	return;
}

# A killed postmaster is there for some moments more: its memory has to go.
sub wait_for_death
{
	my ($node) = @_;
	my $pid = eval { slurp_file($node->data_dir . '/postmaster.pid') } // '';

	return unless $pid =~ s/^(\d+).*/$1/s;
	foreach my $i (1 .. 100 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if !kill(0, $pid);
		select(undef, undef, undef, 0.01);
	}
	return;
}

# Start after the postmaster was killed: its children may take a moment to notice.
sub start_again
{
	my ($node) = @_;

	wait_for_death($node);
	foreach my $i (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 if $node->start(fail_ok => 1);
		select(undef, undef, undef, 0.1);
		# a stale PID file counts as a running server for the next start
		$node->stop('fast', fail_ok => 1);
	}
	return 0;
}

1;
