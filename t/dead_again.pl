# What one session finds dead helps the next: after a bulk delete, before VACUUM, a query touches at
# most twice the buffers that it touches with btree, from its second run on, each run in a session
# of its own (X1, X3).  Counted, not timed.
use strict;
use warnings;

use SurfidxTest;
use Test::More;

my $node = new_node('dead_again', <<'END');
surfidx.delta_size = '64kB'
surfidx.run_ratio = 10
surfidx.merge_ratio = 10
surfidx.auto_merge = off
autovacuum = off
END
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx');

my $rows = 30000;

# The rows' keys.  Rows follow one another in the table as the numbers i do.
my %keys = (
	'ascending keys' => 'i',
	'keys at random' => 'hashint4(i)',
	'equal keys' => "i / ($rows / 10)",
	'equal keys at random' => 'abs(hashint4(i)) % 10');

# Columns and parameters of the indexes that are held against btree's.
my %kinds = (
	'whole keys' => { def => '(k)' },
	'cut keys' => { def => '(k) WITH (keys = cut)' },
	'text' => { def => '(k)', key => q{lpad((%s::int8 + 3000000000)::text, 12, '0') COLLATE "C"} },
	'INCLUDE' => { def => '(k) INCLUDE (v)' });

# Each has the first half of the keys dead, or the last one.
my %queries = (
	'min' => 'SELECT min(k) FROM t',
	'max' => 'SELECT max(k) FROM t',
	'first row' => 'SELECT v FROM t WHERE k IS NOT NULL ORDER BY k LIMIT 1',
	'one of equal keys' => 'SELECT v FROM t WHERE k = (SELECT k FROM middle) LIMIT 1',
	'range' => 'SELECT v FROM t WHERE k < (SELECT k FROM middle)');

sub fill
{
	my ($method, $def, $key, $runs) = @_;
	my $merge = $method eq 'btree' ? '' : "SELECT surfidx_merge('t_k');";
	my $sql = "DROP TABLE IF EXISTS t, middle;
		CREATE TABLE t AS SELECT $key AS k, i AS v FROM generate_series(1, 0) i;
		CREATE INDEX t_k ON t USING $method $def;
		INSERT INTO t SELECT $key, i FROM generate_series(1, $rows / 2) i; $merge";

	# smaller deltas go into runs
	for my $part (1 .. 5)
	{
		$sql .= "INSERT INTO t SELECT $key, i FROM generate_series($rows / 10 * ($part + 4) + 1,
				$rows / 10 * ($part + 5)) i;";
		$sql .= 'VACUUM t;' if $runs;
	}
	$sql .= "$merge VACUUM t;" unless $runs;
	$node->safe_psql('postgres', "$sql VACUUM ANALYZE t;
		CREATE TABLE middle AS SELECT k FROM t ORDER BY k OFFSET $rows / 2 LIMIT 1");
	return;
}

# Buffers that each run of the query touches.
sub buffers
{
	my ($query, $n) = @_;
	my @buffers;

	for (1 .. $n)
	{
		my $plan = $node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_sort = off;
			SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0;
			EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");

		# the first line is of the whole plan
		my ($line) = $plan =~ /Buffers: shared ([^\n]*)/;
		my $sum = 0;

		$sum += $1 while $line =~ /(?:hit|read)=(\d+)/g;
		push @buffers, $sum;
	}
	return @buffers;
}

sub delete_half
{
	my ($query) = @_;

	$node->safe_psql('postgres', 'DELETE FROM t WHERE k ' . ($query eq 'max' ? '>=' : '<=') .
		' (SELECT k FROM middle)' . ($query eq 'one of equal keys' ? ' AND v > 10' : ''));
	return;
}

# What the key and the kind lead to, with btree and with surfidx.
sub compare
{
	my ($key, $kind, $query, $runs) = @_;
	my $k = $kinds{$kind};
	my $expression = $k->{key} ? sprintf($k->{key}, $keys{$key}) : $keys{$key};
	my %touched;

	for my $method ('btree', 'surfidx')
	{
		my $def = $k->{def};

		$def =~ s/ WITH.*// if $method eq 'btree';
		fill($method, $def, $expression, $runs);
		if ($runs && $method eq 'surfidx')
		{
			cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM surfidx_runs('t_k')"), '>', 2,
				"$key, $kind: there are runs");
		}
		delete_half($query);
		$touched{$method} = [ buffers($queries{$query}, 3) ];
	}

	# the metapage, the gate, the log's tail, and a descent for each run
	my $most = 2 * $touched{btree}[1] + ($runs ? 20 : 10);
	my $what = "$key, $kind" . ($runs ? ', runs' : '') . ": $query";

	cmp_ok($touched{surfidx}[$_], '<=', $most,
		"$what, run " . ($_ + 1) . " (@{$touched{surfidx}}; btree @{$touched{btree}})") for 1, 2;
	return;
}

for my $key (sort keys %keys)
{
	for my $kind ($key =~ /random/ ? ('whole keys', 'cut keys') : sort keys %kinds)
	{
		compare($key, $kind, $_, 0) for $key =~ /equal/ ? ('min', 'one of equal keys') : ('min', 'max');
	}
}
compare('ascending keys', $_, 'first row', 0) for 'whole keys', 'cut keys';
compare('equal keys', $_, 'range', 0) for 'whole keys', 'cut keys';

# A few dead rows of each key, and many keys: what is found for one key after the other is in the
# same leaves, and is removed with what is found for the next ones.
sub few_of_each
{
	my ($kind, $what, $query) = @_;
	my %touched;

	for my $method ('btree', 'surfidx')
	{
		my $def = $kinds{$kind}{def};

		$def =~ s/ WITH.*// if $method eq 'btree';
		fill($method, $def, "i % 300", 0);
		$node->safe_psql('postgres', "DELETE FROM t WHERE v % 6000 > 300; VACUUM ANALYZE t;
			INSERT INTO t SELECT i % 300, -i FROM generate_series(1, 6000) i;
			" . ($method eq 'btree' ? '' : "SELECT surfidx_merge('t_k');") . "
			CREATE TABLE IF NOT EXISTS asked AS SELECT generate_series(0, 299, 3) k; ANALYZE asked;
			DELETE FROM t WHERE v < 0");
		$touched{$method} = [ buffers($query, 3) ];
	}

	cmp_ok($touched{surfidx}[$_], '<=', 2 * $touched{btree}[1],
		"$kind, $what, run " . ($_ + 1) . " (@{$touched{surfidx}}; btree @{$touched{btree}})") for 1, 2;
	return;
}

for my $kind ('whole keys', 'cut keys', 'INCLUDE')
{
	few_of_each($kind, 'list of keys', 'SELECT v FROM t WHERE k = ANY (ARRAY(SELECT k FROM asked))');
	few_of_each($kind, 'nested loop',
		'SELECT v FROM asked, LATERAL (SELECT v FROM t WHERE t.k = asked.k OFFSET 0) t');
}

# Keys at random whose rows are dead but for one, asked for one after another and again and again:
# each leaf is written a few times, not for each of its keys.
sub one_of_each_lives
{
	my ($what, $query) = @_;

	fill('surfidx', $kinds{'whole keys'}{def}, 'hashint4(i % 1500)', 0);
	$node->safe_psql('postgres', 'DELETE FROM t WHERE v > 1500; SELECT count(*) FROM t;
		CREATE TABLE IF NOT EXISTS random AS SELECT hashint4(i % 1500) k FROM generate_series(1, 3000) i;
		ANALYZE random');

	my $size = $node->safe_psql('postgres', q{SELECT pg_relation_size('t_k')});
	my $plan = $node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_sort = off; SET enable_hashjoin = off;
		SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0; SET enable_material = off; SET enable_memoize = off;
		EXPLAIN (ANALYZE, WAL, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
	my ($bytes) = $plan =~ /WAL: .*bytes=(\d+)/;

	cmp_ok($bytes // 0, '>', 1000, "one of each key lives, $what: leaves are written");
	cmp_ok($bytes // 0, '<', 4 * $size, "... and not too often ($bytes bytes, $size in the index)");
	return;
}

one_of_each_lives('nested loop',
	'SELECT v FROM random, LATERAL (SELECT v FROM t WHERE t.k = random.k OFFSET 0) t');
one_of_each_lives('list', 'SELECT v FROM t WHERE k = ANY (ARRAY(SELECT k FROM random))');
one_of_each_lives('range', 'SELECT v FROM t WHERE k > -3000000000');

# Those found in runs that stand in front of the main tree.
compare('ascending keys', 'text', $_, 1) for 'min', 'max', 'first row', 'range';
is($node->safe_psql('postgres', "SELECT surfidx_check('t_k', true)"), '', 'check');
$node->stop;
done_testing();
