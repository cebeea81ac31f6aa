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

# A standby has nothing of an unlogged index: each function that reads one says so, and calls
# nothing damage.
my $primary = new_node('primary', 'surfidx.auto_merge = off', allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE UNLOGGED TABLE u (n int);
INSERT INTO u SELECT generate_series(1, 1000);
CREATE INDEX u_n ON u USING surfidx (n);
CREATE INDEX u_b ON u (n);
CREATE TYPE r AS (a int);
END
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
my %reads = (
	surfidx_meta => "('u_n')",
	surfidx_runs => "('u_n')",
	surfidx_dictionaries => "('u_n')",
	surfidx_filters => "('u_n')",
	surfidx_stats => "('u_n')",
	surfidx_leaf_keys => "('u_n')",
	surfidx_page_stats => "('u_n', 0)",
	surfidx_page_items => "('u_n', 1)",
	surfidx_count => "('u_n', 1, 2)",
	surfidx_rank => "('u_n', 1)",
	surfidx_nth => "('u_n', 1)",
	surfidx_sample => "('u_n', 1)",
	surfidx_ntiles => "('u_n', 2)",
	surfidx_may_contain => "('u_n', 1)",
	surfidx_may_contain_range => "('u_n', 1, 2)",
	surfidx_estimate => "('u_b')",
	surfidx_estimate_cut => "('u_b')");
# the check finds the next function
my $all = $standby->safe_psql('postgres', <<'END');
SELECT p.proname FROM pg_proc p
	JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'surfidx'
WHERE p.proargtypes[0] = 'regclass'::regtype
	AND p.proname NOT IN ('surfidx_check', 'surfidx_merge', 'surfidx_convert',
		'surfidx_convert_swap', 'surfidx_statement')
ORDER BY 1
END
is($all, join("\n", sort keys %reads), 'functions of an index');
foreach my $function (sort keys %reads)
{
	my (undef, undef, $err) = $standby->psql('postgres',
		"\\set VERBOSITY verbose\nSELECT $function$reads{$function}");
	like($err, qr/^.*ERROR:  55000: index "u_.*" is unlogged: a standby has nothing of it$/m,
		"$function() of an unlogged index on a standby");
	like($err, qr/HINT:  Ask the primary\.$/m, "$function(): where to ask");
}
my (undef, undef, $refused) =
	$standby->psql('postgres', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM u');
like($refused, qr/cannot access temporary or unlogged relations during recovery/,
	'a percentile of an unlogged table on a standby');
my (undef, undef, $notice) = $standby->psql('postgres', "SELECT surfidx_check('u_n')");
like($notice, qr/NOTICE:  index "u_n" is unlogged: a standby has nothing of it to check/,
	'surfidx_check()');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM surfidx_stat_indexes'), '0',
	'the view leaves it out');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM surfidx_advise(0)'), '0',
	'advice has nothing of it');
# Nor does it lock anything for a statement that core refuses.
foreach my $ddl ('ALTER TABLE u ALTER n TYPE bigint', 'ALTER INDEX u_n RESET (access_method)',
	'ALTER TABLE u ADD UNIQUE USING INDEX u_n',
	'ALTER TYPE r ALTER ATTRIBUTE a TYPE bigint CASCADE')
{
	my (undef, undef, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\n$ddl");
	like($err, qr/ERROR:  25006: cannot execute ALTER \w+ in a read-only transaction/, $ddl);
}
$standby->stop;
$primary->stop;
done_testing();
