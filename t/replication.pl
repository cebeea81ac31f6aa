# Copies of a server made in the ways there are: base backups under load, a cascade, a restore to the middle of a merge, a rewind
# after a promotion, a logical subscriber.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $merges = "SELECT surfidx_merge(i::regclass) FROM unnest('{t_n,t_s,t_u,t_ns,t_c}'::text[]) i";
my $primary = new_node('primary', <<'END', allows_streaming => 'logical', has_archiving => 1);
wal_consistency_checking = 'surfidx'
wal_log_hints = on
surfidx.delta_size = '128kB'
surfidx.auto_merge = off
wal_keep_size = '1GB'
END
$primary->start;
create_table($primary);
change_rows($primary, 5000, 1);
$primary->safe_psql('postgres', $merges);

# Backups while sessions insert and merge; a standby of each, the second one below the first.
my @load = (start_script($primary, 'load', "INSERT INTO t (n, s, v) SELECT (random() * 20000)::int, md5(random()::text), g FROM generate_series(1, 200) g;\n" x 150),
	start_script($primary, 'care', "$merges;\nDELETE FROM t WHERE u % 17 = 3;\nVACUUM t;\n" x 80));
ok($primary->poll_query_until('postgres', 'SELECT count(*) > 8000 FROM t'), 'load is running');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$standby->backup('cascade');
my $second = PostgreSQL::Test::Cluster->new('second');
$second->init_from_backup($standby, 'cascade', has_streaming => 1);
$second->start;

# Replay held back, then let go.  Not where it holds a lock, for the end of a file that is cut off: the checks would wait for that.
for (;;)
{
	$second->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
	$second->poll_query_until('postgres', "SELECT pg_get_wal_replay_pause_state() = 'paused'") or die 'replay does not pause';
	last if $second->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock'") == 0;
	$second->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
}
check_indexes($second, 'cascaded standby under load, paused');
compare_plans($second, 'cascaded standby under load, paused');
stop_script($_) foreach @load;
$primary->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state = 'active'");
$second->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');

sub catch_up
{
	my $lsn = $primary->lsn('insert');

	$primary->wait_for_catchup($standby, 'replay', $lsn);
	$standby->wait_for_catchup($second, 'replay', $lsn);
	return;
}

catch_up();
foreach my $node ($standby, $second)
{
	check_indexes($node, $node->name);
	compare_plans($node, $node->name);
}

# A restore to the middle of a merge: some place in its WAL.
change_rows($primary, 10000, 2);
$primary->backup('before');
my $from = $primary->lsn('insert');
$primary->safe_psql('postgres', $merges);
my $to = $primary->lsn('insert');
my $middle = $primary->safe_psql('postgres', "SELECT '$from'::pg_lsn + ('$to'::pg_lsn - '$from'::pg_lsn) * 0.4");
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($primary, 'before', has_restoring => 1, standby => 0);
$restored->append_conf('postgresql.conf', "recovery_target_lsn = '$middle'\nrecovery_target_action = 'promote'\narchive_mode = off");
$restored->start;
ok($restored->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'), "restored to $middle, between $from and $to");
check_indexes($restored, 'restored');
compare_plans($restored, 'restored');
change_rows($restored, 2000, 3);
$restored->safe_psql('postgres', $merges);
$restored->safe_psql('postgres', 'VACUUM t');
check_indexes($restored, 'restored, merged');
compare_plans($restored, 'restored, merged');
$restored->stop;

# Promoted; the old primary goes on alone, and is wound back.
catch_up();
$second->stop;
$standby->promote;
change_rows($primary, 3000, 4);
$primary->safe_psql('postgres', "$merges; ");
change_rows($standby, 3000, 5);
$standby->safe_psql('postgres', 'VACUUM t');
$standby->safe_psql('postgres', $merges);
$standby->safe_psql('postgres', 'CHECKPOINT');
$primary->stop;
command_ok([ 'pg_rewind', '--no-sync', '-D', $primary->data_dir, '--source-server', $standby->connstr('postgres') ], 'pg_rewind');
$primary->append_conf('postgresql.conf', 'port = ' . $primary->port . "\nunix_socket_directories = '" . $primary->host . "'\nprimary_conninfo = '" . $standby->connstr . "'\nsurfidx.auto_merge = off\narchive_mode = off");
PostgreSQL::Test::Utils::append_to_file($primary->data_dir . '/standby.signal', '');
$primary->start;
change_rows($standby, 1000, 6);
my $lsn = $standby->lsn('insert');
ok($primary->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn'"), 'the old primary follows');
check_indexes($primary, 'wound back');
compare_plans($primary, 'wound back');
$primary->stop;

# A subscriber with indexes of its own kind.
my $subscriber = new_node('subscriber');
$subscriber->start;
$standby->safe_psql('postgres', 'ALTER TABLE t ADD PRIMARY KEY (u); CREATE PUBLICATION p FOR TABLE t');
create_table($subscriber);
$subscriber->safe_psql('postgres', 'ALTER TABLE t ADD PRIMARY KEY (u)');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '" . $standby->connstr . " dbname=postgres' PUBLICATION p");
$subscriber->wait_for_subscription_sync($standby, 's');
change_rows($standby, 2000, 7);
$standby->wait_for_catchup('s');
is($subscriber->safe_psql('postgres', 'SELECT count(*), sum(n), sum(u), sum(v) FROM t'), $standby->safe_psql('postgres', 'SELECT count(*), sum(n), sum(u), sum(v) FROM t'), 'the subscriber has the rows');
check_indexes($subscriber, 'subscriber');
compare_plans($subscriber, 'subscriber');

foreach my $node ($primary, $standby, $second, $restored, $subscriber)
{
	unlike(slurp_file($node->logfile), qr/PANIC|inconsistent page|TRAP|terminated by signal/, 'nothing bad in the log of ' . $node->name);
}
$subscriber->stop;
$standby->stop('immediate');
done_testing();
