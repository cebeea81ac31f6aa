# A conversion that a crash ends, in each state that an index goes through (rule Q6): what stands
# there then, and that the next run goes on, in both directions.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SurfidxTest;
use Test::More;

my $node = new_node('convert_crash', 'surfidx.auto_merge = off');
$node->start;
my $work = "FROM pg_stat_activity WHERE backend_type = 'surfidx conversion'";
my %args = (t => "'t', method => '%s'", p => "'p', method => '%s'");
my ($args, $method);

sub sql { return $node->safe_psql('postgres', $_[0]) }
sub seen { return $node->poll_query_until('postgres', $_[0]) }

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (id int PRIMARY KEY, k int);
INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g;
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (500);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (500) TO (1001);
CREATE INDEX p_key ON p (v, k);
INSERT INTO p SELECT g, -g FROM generate_series(1, 1000) g;
END

# The statements that remain, run by hand up to the first that matches.
sub by_hand
{
	my ($until) = @_;

	foreach my $statement (split /\n/,
		sql("SELECT statement FROM surfidx_convert($args) WHERE statement IS NOT NULL"))
	{
		sql($statement);
		return if $statement =~ $until;
	}
	return;
}

sub start_worker { return sql("SELECT count(*) FROM surfidx_convert($args, dry_run => false)") }

# Whatever dies takes the server along.
sub kill_worker
{
	my $pid = sql("SELECT pid $work");

	kill 'KILL', $pid;
	return;
}

# A session that keeps the worker waiting: by its snapshot, or by its lock on the tables.
sub keeper
{
	my ($begin) = @_;
	my $session = open_session($node);

	ask($session, $begin);
	return $session;
}

my $snapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1';
my $lock = 'BEGIN; LOCK TABLE t, p IN ACCESS SHARE MODE';
my $there = "FROM pg_class i JOIN pg_index ON indexrelid = oid WHERE relname ~ '^surfidx_%s_'";

# Each brings an index into a state, and kills the server.
my @states = (
	[ 'a twin being built', sub {
		my $keeper = keeper($snapshot);

		start_worker();
		ok(seen("SELECT EXISTS (SELECT " . sprintf($there, 'new')
			. ' AND NOT indisvalid AND indisready)'), 'it waits for a snapshot');
		kill_worker();
		return $keeper;
	} ],
	[ 'a twin', sub { by_hand(qr/CREATE/) } ],
	[ 'an exchange that was not committed', sub {
		by_hand(qr/CREATE INDEX .* ON public.p2|CREATE UNIQUE/);
		my $keeper = keeper('BEGIN');

		ask($keeper, "SELECT surfidx_convert_swap('" . ($args =~ /^'t'/ ? 't_pkey' : 'p_key') . "')");
		is($keeper->{err}, '', 'it is done');
		return $keeper;
	} ],
	[ 'an exchange', sub { by_hand(qr/swap/) } ],
	[ 'a drop that waits', sub {
		my $keeper = keeper($lock);

		start_worker();
		ok(seen("SELECT EXISTS (SELECT " . sprintf($there, 'old')
			. " AND NOT indisvalid) AND EXISTS (SELECT $work AND query ~ 'DROP' AND wait_event_type = "
			. "'Lock')"),
			'it waits for a lock');
		kill_worker();
		return $keeper;
	} ],
	[ 'a drop, half way', sub {
		my $first = keeper($lock);

		start_worker();
		ok(seen("SELECT EXISTS (SELECT $work AND query ~ 'DROP' AND wait_event_type = 'Lock')"),
			'it waits for a lock');
		my $second = keeper($lock);

		ask($first, 'COMMIT');
		ok(seen("SELECT EXISTS (SELECT " . sprintf($there, 'old') . ' AND NOT indislive)'),
			'... and for another one');
		kill_worker();
		return ($first, $second);
	} ]);

my $stands = "SELECT relname, indisvalid, amname = '%s', (SELECT count(*) FROM pg_constraint "
	. "WHERE conindid = i.oid) FROM pg_class i
	JOIN pg_index ON indexrelid = i.oid JOIN pg_am a ON a.oid = relam WHERE relname IN ('t_pkey',
		'p_key', 'p1_v_k_idx', 'p2_v_k_idx') ORDER BY 1";

foreach my $what (qw(t p))
{
	foreach $method (qw(surfidx btree))
	{
		$args = sprintf($args{$what}, $method);
		foreach my $state (@states)
		{
			my ($name, $reach) = @$state;
			my $title = "$what to $method, $name";
			my $other = $method eq 'btree' ? 'surfidx' : 'btree';
			my $swapped = $name =~ /^an exchange$|drop/ ? 't' : 'f';
			my @sessions = $reach->();

			$node->stop('immediate', fail_ok => 1);
			ok(start_again($node), "$title: a crash");
			eval { end_session($_) } foreach grep { ref } @sessions;
			my @lines = split /\n/, sql(sprintf($stands, $method));

			is(scalar(grep { /^\w+\|t\|/ } @lines), 4, '... all names are there, and valid');
			is(scalar(grep { ($what eq 't') == /^t_/ && /\|$swapped\|/ } @lines), $what eq 't' ? 1 : 3,
				'... of the method that was committed');
			like($lines[-1], qr/^t_pkey.*\|1$/, '... with its constraint');
			like(scalar(($node->psql('postgres', 'INSERT INTO t VALUES (5)'))[2]), qr/"t_pkey"|_(old|new)_/,
				'... which holds');
			is(sql('SET enable_seqscan = off; SELECT count(*) FROM t WHERE id > 0; SELECT count(*) FROM '
				. 'p WHERE v < 0'), "1000\n1000", '... and all rows');
			# as long as both are there rows are kept by both
			sql('INSERT INTO t VALUES (2000); INSERT INTO p VALUES (400, -1); DELETE FROM t WHERE id = '
				. '2000; DELETE FROM p WHERE v = -1 AND k = 400');
			start_worker();
			ok(seen("SELECT count(statement) = 0 FROM surfidx_convert($args)")
				&& seen("SELECT NOT EXISTS (SELECT $work)"), '... the next run goes on');
			is(sql("SELECT count(*), string_agg(DISTINCT amname, ' ') FROM pg_class i JOIN pg_am a ON "
				. "a.oid = relam JOIN pg_index ON indexrelid = i.oid WHERE indrelid::regclass::text ~ "
				. "'^${what}[12]?\$'"),
				($what eq 't' ? 1 : 3) . "|$method", '... to the end');
			# for the next state
			next if $state == $states[-1];
			sql("SELECT count(*) FROM surfidx_convert('$what', method => '$other', dry_run => false)");
			ok(seen("SELECT count(statement) = 0 FROM surfidx_convert('$what', method => '$other')")
				&& seen("SELECT NOT EXISTS (SELECT $work)"), '... and back');
		}
	}
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal (?!9)/, 'nothing else fell');
$node->stop;
done_testing();
