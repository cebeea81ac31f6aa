# A build uses parallel workers where the planner grants them; one that fails or is cancelled leaves nothing behind.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('build', "wal_consistency_checking = 'all'\nlog_min_messages = debug1\nmax_parallel_maintenance_workers = 2\nmaintenance_work_mem = 128MB\nmin_parallel_table_scan_size = 0");
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
SET surfidx.unique_notice = off;
CREATE TABLE p AS SELECT i, i % 1000 AS few, md5(i::text) AS t FROM generate_series(1, 20000) i;
ALTER TABLE p SET (parallel_workers = 2);
ANALYZE p;
END

my $from = -s $node->logfile;
my $error;

$node->safe_psql('postgres', "CREATE INDEX p_i ON p USING surfidx (i); SELECT surfidx_check('p_i', true)");
like(slurp_file($node->logfile, $from), qr/building index "p_i" with [12] parallel workers/, 'workers are used');
$node->psql('postgres', 'CREATE UNIQUE INDEX p_few ON p USING surfidx (few)', stderr => \$error);
like($error, qr/could not create unique index "p_few"/, 'duplicates are found across workers');
$node->psql('postgres', 'CREATE INDEX p_fail ON p USING surfidx ((1 / (i - 15000)))', stderr => \$error);
like($error, qr/division by zero/, 'an error of a worker is reported');
$node->safe_psql('postgres', "REINDEX TABLE p; SELECT surfidx_check('p_i', true)");
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname IN ('p_few', 'p_fail')"), '0', 'failed builds leave nothing');
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*), sum(i) FROM p WHERE i > 0'), '20000|200010000', 'the index has all rows');

# As it comes: default settings but for the log, a table of 8 MB and more, nobody waits for anybody.
$node->append_conf('postgresql.conf',
	"maintenance_work_mem = 64MB\nmin_parallel_table_scan_size = 8MB");
$node->reload;
$node->safe_psql('postgres', <<'END');
CREATE TABLE vf (id int8, t text, a int8[]);
INSERT INTO vf SELECT g, repeat('x', 40), ARRAY[g] FROM generate_series(1, 200000) g;
CREATE UNIQUE INDEX vf_u ON vf USING surfidx (id);
CREATE UNIQUE INDEX vf_a ON vf USING surfidx (a);
CREATE INDEX vf_b ON vf (id);
CLUSTER vf USING vf_b;
DROP INDEX vf_b;
END
foreach my $what ('CLUSTER vf', 'VACUUM FULL vf', 'ALTER TABLE vf SET UNLOGGED', 'REINDEX TABLE vf')
{
	my ($rc, $out, $message);

	$node->safe_psql('postgres', 'CREATE INDEX vf_b ON vf (id); ALTER TABLE vf CLUSTER ON vf_b')
		if $what =~ /CLUSTER/;
	$from = -s $node->logfile;
	$node->safe_psql('postgres', $what);
	like(slurp_file($node->logfile, $from), qr/building index "vf_u" with [12] parallel workers/,
		"$what with workers");
	foreach my $index (qw(vf_u vf_a))
	{
		($rc, $out, $message) =
		  $node->psql('postgres', "SELECT surfidx_check('$index', true, true)");
		is($rc, 0, "$what keeps $index sound") or diag($message);
	}
	is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*)
		FROM generate_series(1, 200000, 100) g WHERE EXISTS (SELECT FROM vf WHERE id = g)'),
		'2000', 'each key is found');
	is($node->safe_psql('postgres', "WITH i AS (INSERT INTO vf SELECT g, 'twice', ARRAY[-g]
		FROM generate_series(1, 200000, 100) g ON CONFLICT (id) DO NOTHING RETURNING 1)
		SELECT count(*) FROM i"), '0', 'none gets in twice');
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS vf_b');
}
$node->stop;
done_testing();
