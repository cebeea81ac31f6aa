# Merges that leave behind in the delta what lookups ask for (merge_cold): what stays, beside VACUUM, crashes and a standby.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @names = qw(t_k t_s t_u t_n);
my $rows = 0;
my $node = new_node('cold', <<'END', allows_streaming => 1);
wal_consistency_checking = 'all'
log_min_messages = debug1
surfidx.run_ratio = 0
END
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (k int8, s text COLLATE "C", n numeric, v int) WITH (autovacuum_enabled = off);
CREATE INDEX t_k ON t USING surfidx (k) INCLUDE (v) WITH (merge_cold = on, delta_size = 64, merge_ratio = 10);
CREATE INDEX t_s ON t USING surfidx (s, k) WITH (merge_cold = on, delta_size = 64, merge_ratio = 10);
CREATE UNIQUE INDEX t_u ON t USING surfidx ((ARRAY[k])) WITH (merge_cold = on, delta_size = 64, merge_ratio = 10);	-- in comparator order
CREATE INDEX t_n ON t USING surfidx (n) WITH (delta_size = 64, merge_ratio = 10);	-- without
END
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

sub insert
{
	my ($n) = @_;
	my $from = $rows + 1;

	$rows += $n;
	sql("INSERT INTO t SELECT g, md5(g::text), g * 7919 % 1000003, g % 100 FROM generate_series($from, $rows) g");
	return;
}

# Lookups of every so many of the newest rows, by each index.
sub look_up
{
	my ($newest, $every) = @_;
	my $from = $rows - $newest + 1;

	return sql(<<"END");
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(x.k) + count(y.k) + count(z.k) + count(w.k) FROM generate_series($from, $rows, $every) g,
	LATERAL (SELECT k FROM t WHERE k = g OFFSET 0) x, LATERAL (SELECT k FROM t WHERE s = md5(g::text) AND k = g OFFSET 0) y,
	LATERAL (SELECT k FROM t WHERE ARRAY[k] = ARRAY[g::int8] OFFSET 0) z, LATERAL (SELECT k FROM t WHERE n = g * 7919 % 1000003 OFFSET 0) w
END
}

# Until each index was merged so many times, and nobody merges.
sub wait_merged
{
	my ($merges) = @_;

	return $node->poll_query_until('postgres', 'SELECT count(*) = ' . @names . " FROM unnest('{" . join(',', @names) . "}'::text[]) i, surfidx_meta(i::regclass) m WHERE m.merges >= $merges AND m.generations = 1");
}

sub merges { return sql("SELECT min(merges) FROM unnest('{" . join(',', @names) . "}'::text[]) i, surfidx_meta(i::regclass) m") }

sub in_delta { return sql("SELECT delta_entries FROM surfidx_meta('$_[0]')") }

# How many stayed of a generation, by the log: a list for each index.
sub stayed
{
	my ($index) = @_;

	return slurp_file($node->logfile) =~ /index "$index": (\d+) of \d+ entries of generation \d+ stay/g;
}

sub sound
{
	my ($on, $what) = @_;
	my $wrong = '';
	my %how = (k => 'k > 0', s => "s >= ''", u => "ARRAY[k] > ARRAY[0::int8]", n => 'n >= 0');
	my $want = $on->safe_psql('postgres', 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off; SELECT count(*), sum(k), sum(v) FROM t');

	for my $index (@names)
	{
		my ($rc, $out, $err) = $on->psql('postgres', "SELECT surfidx_check('$index', true, true)");
		my $where = $how{ substr($index, 2) };

		$wrong .= "$index: $err\n" if $rc != 0;
		for my $without ('enable_bitmapscan', 'enable_indexscan')
		{
			my $got = $on->safe_psql('postgres', "SET enable_seqscan = off; SET $without = off; SELECT count(*), sum(k), sum(v) FROM t WHERE $where");

			$wrong .= "$index: $got instead of $want\n" if $got ne $want;
		}
	}
	is($wrong, '', $what);
	return;
}

# Each round: a delta that is not full yet, lookups of some of it, dead rows among them, the rest of the delta.
for my $round (1 .. 5)
{
	my $merges = merges();

	insert(1000);
	is(look_up(1000, 5), 800, "round $round: lookups");
	sql("DELETE FROM t WHERE k > $rows - 900 AND k % 15 = 0");
	sql("UPDATE t SET v = v + 1, n = n + 1 WHERE k > $rows - 900 AND k % 25 = 0");
	sql('VACUUM (INDEX_CLEANUP ON) t') if $round == 2;
	sql('CHECKPOINT') if $round == 3;
	insert(12000);
	ok(wait_merged($merges + 1), 'merged');
	if ($round == 4)
	{
		$node->stop('immediate');
		$node->start;
	}
	sound($node, 'sound');
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	sound($standby, 'and on the standby');
}
for my $index (@names)
{
	my @stayed = stayed($index);
	my $most = (sort { $b <=> $a } @stayed)[0] // 0;

	if ($index eq 't_n')
	{
		is(scalar @stayed, 0, 'without the storage parameter nothing stays');
		next;
	}
	cmp_ok($most, '>=', 100, "$index: what was asked for stays");
	cmp_ok($most, '<', 400, 'and nothing else');
}

# Everything is asked for: at most a quarter stays.
my $merges = merges();
insert(2000);
look_up(2000, 1);
insert(12000);
ok(wait_merged($merges + 1), 'merged');
for my $index ('t_k', 't_s', 't_u')
{
	my @much = grep { my ($some, $all) = split / of /; 4 * $some > $all } slurp_file($node->logfile) =~ /index "$index": (\d+ of \d+) entries/g;

	is(join(', ', @much), '', "$index: at most a quarter");
}

# All is merged when it is asked for.
look_up(3000, 10);
insert(500);
is(sql("SELECT surfidx_merge('t_k') > 0"), 't', 'surfidx_merge()');
is(in_delta('t_k'), '0', 'leaves nothing');
sql("SELECT surfidx_merge('$_')") for @names;
is(join(',', map { in_delta($_) } @names), '0,0,0,0', 'nor in the others');

# Switched off while entries are in the delta that stayed there.
insert(1000);
look_up(1000, 5);
insert(12000);
sql("ALTER INDEX $_ SET (merge_cold = off)") for @names;
$merges = merges();
insert(12000);
ok(wait_merged($merges + 1), 'merged');
sound($node, 'switched off');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
$standby->promote;
$standby->safe_psql('postgres', "SELECT surfidx_merge(i::regclass) FROM unnest('{t_k,t_s,t_u,t_n}'::text[]) i");
sound($standby, 'the standby as a primary');
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|terminated by signal [^9]|inconsistent page|ERROR/, 'nothing wrong in the log') for $node, $standby;
$standby->stop;
$node->stop;
done_testing();
