# A table with many partitions, each with indexes of ours, beside the same with btrees: created,
# filled, asked, changed across partitions, attached, detached, vacuumed, dropped, by one session
# that remembers all of it.  200 partitions here; SURFIDX_PARTITIONS=2000 for as many as you ask.
use strict;
use warnings;

use SurfidxTest;
use Test::More;

my $n = $ENV{SURFIDX_PARTITIONS} || 200;
my $each = 20;
my $rows = $n * $each;
my $node = new_node('partitions', <<'END');
max_locks_per_transaction = 1000
max_pred_locks_per_transaction = 1000
autovacuum = off
enable_seqscan = off
surfidx.unique_notice = off
END
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx');

my $s = open_session($node);
my @tables = ([ 'b', 'btree' ], [ 's', 'surfidx' ]);

# On both tables, "%t" and "%m" in the statement are theirs; the same answer, which is returned.
sub both
{
	my ($what, $sql, $expected) = @_;
	my @answers;

	for my $t (@tables)
	{
		my $text = $sql;

		$text =~ s/%t/$t->[0]/g;
		$text =~ s/%m/$t->[1]/g;
		push @answers, ask($s, "$text;");
	}
	is($answers[1], $expected // $answers[0], $what);
	return $answers[1];
}

# ask() wants an answer
sub run
{
	my ($what, $sql) = @_;

	both($what, "DO \$\$ BEGIN $sql; END \$\$; SELECT 'done'", 'done');
	return;
}

sub look
{
	my ($when) = @_;

	both("$when: $_->[0]", $_->[1]) for
	  [ 'all rows', 'SELECT count(*), sum(k), min(k), max(k), count(DISTINCT v) FROM %t' ],
	  [ 'one partition', "SELECT v FROM %t WHERE k = $each * 7 + 3" ],
	  [ 'a range across partitions', "SELECT string_agg(k::text, ' ' ORDER BY k) FROM %t
		WHERE k BETWEEN $rows / 2 - 25 AND $rows / 2 + 25" ],
	  [ 'each partition', "SELECT count(*), sum(k) FROM %t WHERE v = 'v7'" ],
	  [ 'in order', "SELECT string_agg(k::text, ' ') FROM
		(SELECT k FROM %t ORDER BY k OFFSET $rows / 3 LIMIT 30) x" ],
	  [ 'a list', "SELECT count(*) FROM %t WHERE k = ANY (ARRAY(SELECT g * $each / 2 FROM
		generate_series(1, $n) g))" ],
	  [ 'groups', "SELECT string_agg(v || c, ' ' ORDER BY v) FROM
		(SELECT v, count(*) c FROM %t GROUP BY v) x" ];
	return;
}

# Memory of the session, in kB.
sub memory
{
	return ask($s, 'SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts;');
}

run('a table', "EXECUTE 'CREATE TABLE %t (k int, v text) PARTITION BY RANGE (k)';
	EXECUTE 'CREATE INDEX %t_k ON %t USING %m (k)'; EXECUTE 'CREATE INDEX %t_v ON %t USING %m (v, k)'");
run("$n partitions", "FOR i IN 0 .. $n - 1 LOOP
	EXECUTE format('CREATE TABLE %t%s PARTITION OF %t FOR VALUES FROM (%s) TO (%s)',
		i, i * $each, (i + 1) * $each); END LOOP");
both('as many indexes', "SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
	WHERE a.amname = '%m' AND c.relkind = 'i' AND c.relname ~ '^%t[0-9]'", 2 * $n);
run('rows', "INSERT INTO %t SELECT g, 'v' || g % 13 FROM generate_series(0, $rows - 1) g");
look('in the logs');
run('updates across partitions',
	"UPDATE %t SET k = (k + $each * 3) % $rows WHERE k % 5 = 0; DELETE FROM %t WHERE k % 11 = 0");
look('changed');
ask($s, "SELECT count(*) FROM (SELECT surfidx_merge(c.oid) FROM pg_class c JOIN pg_am a
	ON a.oid = c.relam WHERE a.amname = 'surfidx' AND c.relkind = 'i') x;");
look('merged');
$node->safe_psql('postgres', 'VACUUM ANALYZE b; VACUUM ANALYZE s');
look('vacuumed');
run('detached and attached', "FOR i IN 0 .. $n / 10 - 1 LOOP
	EXECUTE format('ALTER TABLE %t DETACH PARTITION %t%s', i, i); END LOOP;
	UPDATE %t SET v = 'other' WHERE k % 7 = 0;
	FOR i IN 0 .. $n / 10 - 1 LOOP
	EXECUTE format('INSERT INTO %t%s VALUES (%s, ''attached'')', i, i * $each);
	EXECUTE format('ALTER TABLE %t ATTACH PARTITION %t%s FOR VALUES FROM (%s) TO (%s)',
		i, i, i * $each, (i + 1) * $each); END LOOP");
look('attached');
is($node->safe_psql('postgres', 'SELECT count(*) FROM surfidx_check_all(true, true) WHERE problem IS NOT NULL'),
	'0', 'each index is sound');
run('half of them dropped', "FOR i IN 0 .. $n / 2 - 1 LOOP
	EXECUTE format('DROP TABLE %t%s', i); END LOOP");
look('dropped');
my $kept = memory();
run('all dropped', 'DROP TABLE %t');
diag(sprintf("%d partitions: the session's memory is %d kB before the drop, %d after it", $n, $kept, memory()));
both('none is left', "SELECT count(*) FROM pg_class WHERE relname ~ '^%t[0-9]*\$'", 0);
end_session($s);
$node->stop;
done_testing();
