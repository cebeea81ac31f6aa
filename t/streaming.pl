# A streaming standby under wal_consistency_checking: reads through the index, checks, promotion.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_node('primary', <<'END', allows_streaming => 1);
wal_consistency_checking = 'all'
surfidx.delta_size = '128kB'
surfidx.auto_merge = off
END
$primary->start;
create_table($primary);
change_rows($primary, 3000, 1);
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 100ms\nhot_standby_feedback = off");
$standby->start;

sub catch_up
{
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	return;
}

catch_up();
check_indexes($standby, 'standby, as copied');
compare_plans($standby, 'standby, as copied');

# The standby's images were filled by these reads; what follows must reach them.
foreach my $round (2 .. 5)
{
	change_rows($primary, 3000, $round);
	catch_up();
	compare_plans($standby, "standby, changes $round");
	$primary->safe_psql('postgres', 'VACUUM t') if $round % 2 == 0;
	$primary->safe_psql('postgres', "SELECT surfidx_merge(i::regclass) FROM unnest('{t_n,t_s,t_u,t_ns,t_c}'::text[]) i")
	  if $round % 3 == 0;
	catch_up();
	compare_plans($standby, "standby, round $round");
	check_indexes($standby, "standby, round $round");
}

my ($rc, $out, $err) = $standby->psql('postgres', "SELECT surfidx_merge('t_n')");
isnt($rc, 0, 'no merge on a standby');
like($err, qr/recovery is in progress.*HINT: .*primary/s, 'and the error says where to merge');

# An index-only cursor holds its gate; VACUUM's removals on the primary cancel it rather than be passed by.
my $cursor = $standby->background_psql('postgres', on_error_stop => 0);
$cursor->query_safe('BEGIN') if $cursor->can('query_safe');
SKIP:
{
	skip 'background_psql has no query method in this version', 1 unless $cursor->can('query_safe');
	$cursor->query_safe('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off');
	$cursor->query_safe('DECLARE c CURSOR FOR SELECT n FROM t ORDER BY n');
	$cursor->query_safe('FETCH 10 FROM c');
	$primary->safe_psql('postgres', 'DELETE FROM t WHERE u % 5 = 0');
	$primary->safe_psql('postgres', 'VACUUM t');
	catch_up();
	pass('replay passes a gate that a cursor held');
}
$cursor->quit if $cursor->can('query_safe');
compare_plans($standby, 'standby, after the gate');

# Indexes made, rebuilt and dropped while the standby follows.
$primary->safe_psql('postgres', <<'END');
CREATE INDEX t_later ON t USING surfidx (v) WITH (filter = surf);
REINDEX INDEX t_n;
REINDEX INDEX CONCURRENTLY t_s;
END
catch_up();
is($standby->safe_psql('postgres', "SELECT surfidx_check('t_later', true)"), '', 'standby checks a new index');
check_indexes($standby, 'standby, after REINDEX');

$standby->promote;
check_indexes($standby, 'promoted');
change_rows($standby, 3000, 7);
compare_plans($standby, 'promoted, changed');
$standby->safe_psql('postgres', 'VACUUM t');
$standby->safe_psql('postgres', "SELECT surfidx_merge('t_n'), surfidx_merge('t_ns')");
check_indexes($standby, 'promoted, merged');
compare_plans($standby, 'promoted, merged');
foreach my $log ($primary->logfile, $standby->logfile)
{
	unlike(slurp_file($log), qr/PANIC|inconsistent page|TRAP|terminated by signal/, 'nothing inconsistent in the log');
}
$standby->stop;
$primary->stop('immediate');
done_testing();
