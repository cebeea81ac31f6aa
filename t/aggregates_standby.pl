# Aggregates by the index, and rows of OFFSET that are passed over, on a hot standby while the
# primary writes, merges and vacuums: the same as core's, in one snapshot.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# replay waits for readers, whatever they hold
my $primary = new_node('primary', <<'END', allows_streaming => 1);
surfidx.delta_size = '64kB'
hot_standby_feedback = on
max_standby_streaming_delay = -1
END
$primary->start;
$primary->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE t (k int NOT NULL, g int, v int8, s text COLLATE "C") WITH (autovacuum_enabled = off);
CREATE TABLE p (LIKE t) PARTITION BY RANGE (k);
SELECT format('CREATE TABLE p%s PARTITION OF p FOR VALUES FROM (%s) TO (%s)',
	n, n * 5000, n * 5000 + 5000) FROM generate_series(0, 3) n \gexec
SELECT format('CREATE INDEX %1$s_k ON %1$s USING surfidx (k) INCLUDE (v);
	CREATE INDEX %1$s_g ON %1$s USING surfidx (g, v);
	CREATE INDEX %1$s_s ON %1$s USING surfidx (s, k)', r)
	FROM unnest('{t,p}'::text[]) r \gexec
SELECT format($i$INSERT INTO %s SELECT n, nullif(n %% 100, 7), n * 1000000007::int8,
	'key ' || n %% 1000 FROM generate_series(1, 19999) n$i$, r) FROM unnest('{t,p}'::text[]) r \gexec
VACUUM ANALYZE t, p;
END
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

# of the table, and of partitions
sub both
{
	return map { my $q = $_; map { $q =~ s/\bT\b/$_/r } 't', 'p' } @_;
}

my @queries = both(
	'SELECT count(*) FROM T',
	'SELECT count(*), sum(v), avg(v), min(v), max(v) FROM T WHERE k BETWEEN 3000 AND 17000',
	'SELECT sum(v), avg(k), max(k) FROM T WHERE k > 100',
	'SELECT count(*), sum(n), sum(x) FROM'
		. ' (SELECT g, count(*) AS n, max(v) AS x FROM T GROUP BY g) y',
	'SELECT count(*), sum(n), min(s) FROM'
		. " (SELECT s, count(*) AS n FROM T WHERE s > 'key 2' GROUP BY s) y",
	'SELECT count(*), sum(g) FROM (SELECT DISTINCT g FROM T) y');
my $settings = 'SET enable_seqscan = off; SET enable_bitmapscan = off;
	SET max_parallel_workers_per_gather = 0';
my $reader = open_session($standby);

ask($reader, $settings);
my @declined = grep { ask($reader, "EXPLAIN (COSTS OFF) $_") !~ /SurfidxAggregate/ } @queries;
is(join("\n", @declined), '', 'the indexes compute all of it on the standby');
push @queries, both(map { "SELECT array_agg(k) FROM (SELECT k FROM T $_) y" }
		'ORDER BY k LIMIT 5 OFFSET 9000',
	'ORDER BY k DESC LIMIT 5 OFFSET 12345',
	'WHERE k > 500 ORDER BY k LIMIT 5 OFFSET 17000'),
	'SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY k) FROM t';

# What the primary does meanwhile, the same each time.
sub change
{
	my ($n) = @_;
	my @sql;

	for my $r ('t', 'p')
	{
		my $rows = 'FROM generate_series(1, 400) x';
		push @sql, "INSERT INTO $r
			SELECT 1 + x * $n * 37 % 19999, x % 120, x * $n, 'new ' || x $rows";
		push @sql, "UPDATE $r SET v = v + 1 WHERE k % 97 = $n", "DELETE FROM $r WHERE k % 89 = $n";
		push @sql, "BEGIN; INSERT INTO $r SELECT x, x, x, 'never' $rows; ROLLBACK" if $n % 3 == 0;
		push @sql, "VACUUM (INDEX_CLEANUP ON) $r" if $n % 4 == 0;
	}
	push @sql, "SELECT surfidx_merge(i::regclass) FROM unnest('{t_k,t_g,t_s}'::text[]) i" if $n % 2;
	return join('', map {"$_;\n"} @sql);
}

my $writer = start_script($primary, 'writer', join('', map { change($_) } 1 .. 40));
my ($rounds, $compared, $cancelled, $wrong) = (0, 0, 0, '');

do
{
	my (%first, $error);

	$reader->{err} = '';
	ask($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ');
	for my $how ($rounds % 2 ? ('on', 'off') : ('off', 'on'))
	{
		ask($reader, "SET LOCAL surfidx.$_ = $how") for 'aggregates', 'offset_by_rank';
		for my $q (@queries)
		{
			my $answer = ask($reader, $q);

			next if $reader->{err};
			$first{$q} //= $answer;
			$compared++;
			$wrong .= "$how: $q: $answer, before $first{$q}\n" if $answer ne $first{$q};
		}
	}
	ask($reader, 'COMMIT');
	$cancelled++ if $reader->{err} =~ /40001/;
	$wrong .= $reader->{err} if $reader->{err} =~ /^(?!40001|25P02)./m;
	$rounds++;
	$writer->pump_nb if $writer->pumpable;
} while (!$wrong && ($rounds < 10 || $writer->pumpable));
finish $writer;
is($wrong, '', 'they are the same');
cmp_ok($compared, '>=', 100,
	"$compared answers in $rounds snapshots, of which $cancelled ended early");
like($standby->safe_psql('postgres', 'SELECT count(*) FROM t'), qr/^\d+$/, 'the standby lives');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
is($standby->safe_psql('postgres', "$settings; " . join(';', @queries)),
	$primary->safe_psql('postgres', join(';', 'SET surfidx.aggregates = off',
			'SET surfidx.offset_by_rank = off', @queries)),
	'and at rest those of the primary');
end_session($reader);
done_testing();
