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
$node->stop;
done_testing();
