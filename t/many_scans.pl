# Many scans open at once: the memory of a session that has them, beside that of one with btrees.
# Joins of 2 to 12 tables, 1,000 arms, 200 cursors, 500 partitions (SURFIDX_FULL: 2,000): read,
# written, prepared.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use SurfidxTest;
use Test::More;

my $partitions = $ENV{SURFIDX_FULL} ? 2000 : 500;
my $node = new_node('many_scans', <<'END');
max_locks_per_transaction = 2000
surfidx.auto_merge = off
fsync = off
END
$node->start;
$node->safe_psql('postgres', <<"END");
CREATE EXTENSION surfidx;
-- what the session holds, but for caches of catalogs
CREATE FUNCTION held() RETURNS bigint LANGUAGE sql VOLATILE AS \$\$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts
	WHERE name <> 'CacheMemoryContext' AND parent IS DISTINCT FROM 'CacheMemoryContext' \$\$;
END
for my $am (qw(btree surfidx))
{
	$node->safe_psql('postgres', <<"END");
DO \$\$ DECLARE am text = '$am'; BEGIN
FOR i IN 1 .. 12 LOOP
	EXECUTE format('CREATE TABLE %s%s AS SELECT g AS k, (g * 7919 + %2\$s) %% 5000 + 1 AS next
		FROM generate_series(1, 5000) g', am, i);
	EXECUTE format('CREATE UNIQUE INDEX ON %s%s USING %1\$s (k)', am, i);
	EXECUTE format('ANALYZE %s%s', am, i);
END LOOP;
EXECUTE format('CREATE TABLE %s_s AS SELECT g AS k, md5(g::text) AS s
	FROM generate_series(1, 5000) g', am);
EXECUTE format('CREATE INDEX ON %s_s USING %1\$s (s)', am);
EXECUTE format('CREATE TABLE %s_p (part int, k int) PARTITION BY LIST (part)', am);
FOR i IN 1 .. $partitions LOOP
	EXECUTE format('CREATE TABLE %s_p%s PARTITION OF %1\$s_p FOR VALUES IN (%2\$s)', am, i);
	-- (before 18 only btree has unique indexes of partitioned tables)
	EXECUTE format('CREATE UNIQUE INDEX ON %s_p%s USING %1\$s (k)', am, i);
END LOOP;
EXECUTE format('INSERT INTO %s_p SELECT p, g * 10000 + p FROM generate_series(1, $partitions) p,
	generate_series(1, 3) g', am);
END \$\$;
END
}

my $settings = join('; ', map { "SET $_" } 'enable_seqscan = off', 'enable_hashjoin = off',
	'enable_mergejoin = off', 'enable_memoize = off', 'enable_material = off', 'enable_sort = off',
	'join_collapse_limit = 1', 'max_parallel_workers_per_gather = 0');

# The last value that the statements return, in a session of its own, which has run them before.
sub held
{
	my ($am, $sql) = @_;

	$sql =~ s/AM/$am/g;
	my @lines = split /\n/, $node->safe_psql('postgres', "$settings;\n$sql;\n$sql;");
	return (grep { /^\d+$/ } @lines)[-1];
}

sub little
{
	my ($what, $sql) = @_;
	my $btree = held('btree', $sql);
	my $surfidx = held('surfidx', $sql);

	note(sprintf('%s: btree %d kB, surfidx %d kB', $what, $btree / 1024, $surfidx / 1024));
	cmp_ok($surfidx, '<=', 1.3 * $btree + 256 * 1024, "$what: as little memory as with a btree");
	return;
}

for my $n (2, 4, 6, 8, 10, 12)
{
	my $from = 'AM1 t1';

	$from .= " JOIN AM$_ t$_ ON t$_.k = t@{[ $_ - 1 ]}.next" for 2 .. $n;
	little("a join of $n tables", "SELECT held() FROM $from WHERE t1.k = 77");
}

my @keys = map { $_ * 5 } 1 .. 1000;
my $list = join(', ', @keys);
my %arms = (
	'1,000 arms' => 'AM1 WHERE ' . join(' OR ', map { "k = $_" } @keys),
	'1,000 arms of text' => 'AM_s WHERE ' . join(' OR ', map { "s = md5('$_')" } @keys),
	'1,000 ranges' => 'AM1 WHERE ' . join(' OR ', map { "k BETWEEN $_ AND $_ + 2" } @keys),
	'a list of 1,000 keys, by a bitmap' => "AM1 WHERE k = ANY ('{$list}')");
my $bitmap = 'SET enable_indexscan = off; SET enable_indexonlyscan = off';

little($_, "$bitmap; SELECT held() FROM $arms{$_} LIMIT 1") for sort keys %arms;
little('a list of 1,000 keys', "SELECT held() FROM AM1 WHERE k = ANY ('{$list}') OFFSET 999");

# 200 cursors open at once, each that many rows on
sub cursors
{
	my ($query, $rows) = @_;
	my $open = join('; ', map { "DECLARE c$_ CURSOR FOR $query; MOVE $rows c$_" } 1 .. 200);

	return "BEGIN; $open; SELECT held(); COMMIT";
}

little('200 cursors', cursors('SELECT k FROM AM1 WHERE k > 100', 2));
little('200 cursors, backward in text', cursors('SELECT s FROM AM_s ORDER BY s DESC', 50));

my $last = "CASE WHEN part = $partitions THEN held() END AS h";

little('one row of all partitions', "SELECT held() FROM AM_p WHERE k = 20000 + $partitions");
little('the first row of all', 'SELECT held() FROM (SELECT k FROM AM_p ORDER BY k LIMIT 1) x');
little('all rows', "SELECT max(h) FROM (SELECT $last FROM AM_p WHERE k > 0) x");
little('rows for all', "WITH i AS (INSERT INTO AM_p
	SELECT p, (SELECT max(k) FROM AM_p) + p FROM generate_series(1, $partitions) p
	RETURNING $last) SELECT max(h) FROM i");
little('a prepared statement', 'PREPARE q(int) AS SELECT count(*) FROM AM_p WHERE k = $1; ' .
	  join('; ', map { "EXECUTE q(-$_)" } 1 .. 7) . '; SELECT held(); DEALLOCATE q');

done_testing();
