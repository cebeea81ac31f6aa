# Unlogged indexes start empty after a crash; temporary ones merge in their own session.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('unlogged', "surfidx.delta_size = '128kB'\nsurfidx.auto_merge = off");
$node->start;
create_table($node, 'UNLOGGED');
change_rows($node, 5000, 1);
$node->safe_psql('postgres', "SELECT surfidx_merge('t_n')");
change_rows($node, 2000, 2);
check_indexes($node, 'unlogged');
compare_plans($node, 'unlogged');

# A clean restart keeps them.
$node->restart;
is($node->safe_psql('postgres', 'SELECT count(*) > 0 FROM t'), 't', 'rows survive a restart');
check_indexes($node, 'restarted');

foreach my $round (1 .. 2)
{
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '0', "crash $round: the table is empty");
	check_indexes($node, "crash $round, empty");
	is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE n > 0'), '0',
		"crash $round: nothing through the index");
	change_rows($node, 3000, 2 + $round);
	$node->safe_psql('postgres', "SELECT surfidx_merge('t_s'), surfidx_merge('t_u')") if $round == 1;
	check_indexes($node, "crash $round, filled again");
	compare_plans($node, "crash $round, filled again");
}

# SET LOGGED rebuilds the file: from here on it survives.
my $rows = $node->safe_psql('postgres', 'ALTER TABLE t SET LOGGED; SELECT count(*) FROM t');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), $rows, 'logged rows survive a crash');
check_indexes($node, 'after SET LOGGED and a crash');
compare_plans($node, 'after SET LOGGED and a crash');

# Temporary: local buffers, private images, merges in the foreground (delta_size and then on demand).
my $out = $node->safe_psql('postgres', <<'END');
CREATE TEMP TABLE x (n int, s text COLLATE "C");
CREATE INDEX x_n ON x USING surfidx (n) WITH (delta_size = 64);
CREATE UNIQUE INDEX x_s ON x USING surfidx (s) WITH (delta_size = 64, filter = bloom);
INSERT INTO x SELECT g % 5000, 's' || g FROM generate_series(1, 20000) g;
SELECT merges > 0 FROM surfidx_meta('x_n');
SELECT surfidx_check('x_n', true), surfidx_check('x_s', true);
DELETE FROM x WHERE n % 3 = 0;
VACUUM x;
SELECT surfidx_check('x_n', true), surfidx_check('x_s', true);
INSERT INTO x SELECT g % 5000, 't' || g FROM generate_series(1, 5000) g;
SELECT surfidx_merge('x_n') > 0;
SELECT surfidx_check('x_n', true), surfidx_check('x_s', true);
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT count(*) FROM x WHERE n >= 0;
SELECT count(*) FROM x WHERE s >= 's';
TRUNCATE x;
SELECT surfidx_check('x_n', true), surfidx_check('x_s', true);
BEGIN; INSERT INTO x SELECT g, g FROM generate_series(1, 100) g; TRUNCATE x; INSERT INTO x VALUES (1, 'a'); ROLLBACK;
SELECT surfidx_check('x_n', true), surfidx_check('x_s', true);
SELECT count(*) FROM x WHERE n >= 0;
END
is($out, join("\n", 't', '|', '|', 't', '|', '18332', '18332', '|', '|', '0'), 'temporary table');
$node->stop;
done_testing();
