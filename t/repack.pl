# REPACK (CONCURRENTLY) of PostgreSQL 19: rows that change while a table is written anew are found in
# the new one by its identity, which is a surfidx index.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('repack', '', allows_streaming => 1);
$node->start;
plan skip_all => 'REPACK came with PostgreSQL 19'
  if $node->safe_psql('postgres', 'SHOW server_version_num') < 190000;

create_table($node);
change_rows($node, 5000, 1);
# an index whose build waits in the session that repacks, and nowhere else
$node->safe_psql('postgres', <<'END');
CREATE FUNCTION waits(k int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF pg_catalog.current_setting('application_name') = 'repacker' THEN
		PERFORM pg_catalog.pg_advisory_lock_shared(7);
		PERFORM pg_catalog.pg_advisory_unlock_shared(7);
	END IF;
	RETURN k;
END $$;
CREATE INDEX t_waits ON t USING surfidx (waits(v));
END

my $round = 1;
my $place = q{SELECT pg_relation_filenode('t')};
my $rows = 'SELECT count(*), md5(string_agg(t::text, chr(10) ORDER BY u)) FROM t';

# Repack, and change rows once the copy is made.
sub repack_beside
{
	my ($command) = @_;
	my ($keeper, $repacker) = (open_session($node), open_session($node));
	my $file = $node->safe_psql('postgres', $place);
	my $want;

	$round++;
	ask($keeper, 'SELECT pg_advisory_lock(7)');
	ask($repacker, q{SET application_name = 'repacker'});
	$repacker->send("$command;");
	ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
		WHERE application_name = 'repacker' AND wait_event = 'advisory'}),
		"$command: waits after the copy");
	change_rows($node, 1000, $round);
	# rows that come and go, and keys that change, meanwhile
	$node->safe_psql('postgres', <<'END');
UPDATE t SET u = u + 1000000 WHERE u % 13 = 5;
DELETE FROM t WHERE u % 13 = 6;
INSERT INTO t (n, s, v) SELECT 1, 'gone', 1 FROM generate_series(1, 100);
DELETE FROM t WHERE s = 'gone';
END
	$want = $node->safe_psql('postgres', $rows);
	ask($keeper, 'SELECT pg_advisory_unlock(7)');
	is($repacker->receive(300)->{error} // '', '', "$command: done");
	isnt($node->safe_psql('postgres', $place), $file, "$command: the table is a new one");
	is($node->safe_psql('postgres', $rows), $want, "$command: with the same rows");
	check_indexes($node, $command);
	compare_plans($node, $command);
	end_session($_) foreach ($keeper, $repacker);
	return;
}

$node->safe_psql('postgres', 'ALTER TABLE t REPLICA IDENTITY USING INDEX t_u');
repack_beside('REPACK (CONCURRENTLY) t');
$node->safe_psql('postgres', 'ALTER TABLE t REPLICA IDENTITY DEFAULT,
	ADD PRIMARY KEY (u) WITH (access_method = surfidx)');
repack_beside('REPACK (CONCURRENTLY) t USING INDEX t_ns');
done_testing();
