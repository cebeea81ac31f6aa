# A delta to which nobody appends any more is merged when somebody reads it (surfidx.idle_flush).
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('idle', "surfidx.idle_flush = 0\nenable_seqscan = off\nautovacuum = off");
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE a (n int);
CREATE TABLE b (n int);
INSERT INTO a SELECT generate_series(1, 1000);
CREATE INDEX a_n ON a USING surfidx (n);
CREATE INDEX b_n ON b USING surfidx (n) WITH (delta_size = 64);
INSERT INTO a SELECT generate_series(1001, 1010);
END
my $entries = "SELECT delta_entries FROM surfidx_meta('a_n')";
is($node->safe_psql('postgres', $entries), 10, 'a delta that nobody reads stays');

# With 0 the first statement asks that finds the entries.
my $read = 'SELECT n FROM a WHERE n = 1005';
is($node->safe_psql('postgres', $read), 1005, 'a reader');
is($node->safe_psql('postgres', $read), 1005, 'another one');
ok($node->poll_query_until('postgres', "SELECT delta_entries = 0 FROM surfidx_meta('a_n')"), 'its question for a merge is heard');
is($node->safe_psql('postgres', $read), 1005, 'the entry is there');
is($node->safe_psql('postgres', "SELECT surfidx_check('a_n', true)"), '', 'check');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'surfidx%'"), 'the worker has gone');

# Switched off: what is asked for later, because of its size, is served, and this delta is still there.
$node->append_conf('postgresql.conf', 'surfidx.idle_flush = -1');
$node->reload;
ok($node->poll_query_until('postgres', "SELECT setting = '-1' FROM pg_settings WHERE name = 'surfidx.idle_flush'"), 'switched off');
$node->safe_psql('postgres', 'INSERT INTO a SELECT generate_series(1011, 1020)');
$node->safe_psql('postgres', $read) for 1 .. 3;
$node->safe_psql('postgres', 'INSERT INTO b SELECT generate_series(1, 20000)');
ok($node->poll_query_until('postgres', "SELECT merges > 0 FROM surfidx_meta('b_n')"), 'another index is merged');
is($node->safe_psql('postgres', $entries), 10, 'this one is not');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|ERROR/, 'nothing wrong in the log');
$node->stop;
done_testing();
