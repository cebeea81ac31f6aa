# A worker's failure with one index or database does not harm the others.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('faults', "surfidx.delta_size = '64kB'\nfsync = off");
$node->start;

sub merged
{
	my ($db, $index) = @_;

	return $node->poll_query_until($db, "SELECT merges > 0 FROM surfidx_meta('$index')");
}

# A worker that cannot connect leaves its requests; when the database is gone, they must not fill the queue for ever.
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx; CREATE DATABASE closed');
my $starts = q(SELECT taken FROM surfidx_shared_memory() WHERE name = 'merge workers');
my $before = $node->safe_psql('postgres', $starts);
my $began = time;
$node->safe_psql('closed', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE c (n int);
SELECT format('CREATE INDEX c_%s ON c USING surfidx (n)', g) FROM generate_series(1, 64) g
\gexec
UPDATE pg_database SET datallowconn = false WHERE datname = 'closed';
INSERT INTO c SELECT generate_series(1, 9000);
END
my $vain = $node->safe_psql('postgres', $starts) - $before;
cmp_ok($vain, '<=', 2 + int(time - $began), "a database to which nobody connects: $vain workers");
ok( $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'closed'"), 'everybody has left');
$node->safe_psql('postgres', 'DROP DATABASE closed');
$node->safe_psql('postgres', <<'END');
CREATE TABLE p (n int);
CREATE INDEX p_n ON p USING surfidx (n);
INSERT INTO p SELECT generate_series(1, 9000);
END
ok(merged('postgres', 'p_n'), 'an index of another database is merged');

# A damaged index ends neither the worker nor the turn of those after it.
$node->safe_psql('postgres', 'CREATE DATABASE damaged');
$node->safe_psql('damaged', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE q (n int);
INSERT INTO q SELECT generate_series(1, 10);
CREATE INDEX q_damaged ON q USING surfidx (n);
CREATE INDEX q_sound ON q USING surfidx (n);
END
my $file = $node->data_dir . '/' . $node->safe_psql('damaged', "SELECT pg_relation_filepath('q_damaged')");

$node->stop;
open(my $fh, '+<', $file) or die "$file: $!";
binmode $fh;
sysseek($fh, 3 * 8192 + 24, 0);
syswrite($fh, "\xff" x 200);
close $fh;
$node->start;
# both leave their requests while no worker can come; then, a second later, one page more fills
$node->safe_psql('damaged', <<'END');
UPDATE pg_database SET datallowconn = false WHERE datname = 'damaged';
INSERT INTO q SELECT generate_series(1, 9000);
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%') LOOP
		PERFORM pg_sleep(0.01);
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
END;
$$;
UPDATE pg_database SET datallowconn = true WHERE datname = 'damaged';
SELECT pg_sleep(1.1);
INSERT INTO q SELECT generate_series(9001, 10300);
END
ok(merged('damaged', 'q_sound'), 'an index after a damaged one is merged');
like(slurp_file($node->logfile), qr/index "q_damaged" is damaged|invalid page in block \d+/, 'the damaged one is reported');
$node->safe_psql('damaged', 'REINDEX INDEX q_damaged');
is($node->safe_psql('damaged', "SELECT surfidx_check('q_damaged', true, true), surfidx_check('q_sound', true, true)"), '|', 'check');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing wrong in the log');
$node->stop;
done_testing();
