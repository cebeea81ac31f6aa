# What the write path writes, by count: bytes of WAL for an insert, fill of leaves after merges, pages that a merge leaves alone, and those that need not move.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('log_gap', <<'END');
autovacuum = off
surfidx.auto_merge = off
full_page_writes = on
checkpoint_timeout = 1h
max_wal_size = 4GB
END
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE g AS SELECT md5(i::text)::uuid AS k FROM generate_series(1, 300000) i;
CREATE INDEX g_k ON g USING surfidx (k);
END

sub ask
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

sub blocks
{
	return ask("SELECT pg_relation_size('g_k') / 8192");
}

sub more
{
	my ($from, $n) = @_;

	return ask("INSERT INTO g SELECT md5(i::text)::uuid FROM generate_series($from, $from + $n - 1) i");
}

# ---- the record of an insert: at most 60 bytes beyond the key

ask('CREATE TABLE w (n int8, u uuid, t text COLLATE "C")');
ask('CREATE INDEX w_n ON w USING surfidx (n); CREATE INDEX w_u ON w USING surfidx (u); CREATE INDEX w_t ON w USING surfidx (t)');
ask("INSERT INTO w SELECT i, md5(i::text)::uuid, md5(i::text) FROM generate_series(1, 200) i");
my $from = ask('SELECT pg_current_wal_insert_lsn()');
ask('DO $$ BEGIN FOR i IN 201 .. 300 LOOP
	INSERT INTO w VALUES (i, md5(i::text)::uuid, md5(i::text)); END LOOP; END $$');
my $to = ask('SELECT pg_current_wal_flush_lsn()');
my ($waldump) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal', '-s', $from, '-e', $to, '--rmgr=custom183' ]);
my @tot = sort { $a <=> $b } map { m{len \(rec/tot\):\s*(\d+)/\s*(\d+)} ? $2 : () } grep { !/FPW/ } split /\n/, $waldump;
# a third of them each: 8, 16 and 32 bytes of key (and its marker and end)
cmp_ok(scalar(@tot), '>=', 290, 'records of inserts');
my @key = (8, 16, 32);
cmp_ok($tot[ $_ * 97 + 90 ], '<=', $key[$_] + 60, "key of $key[$_] bytes: $tot[$_ * 97 + 90]") for 0 .. 2;
# of many rows of a statement a few bytes beyond it, and a part of a record (D7)
$from = ask('SELECT pg_current_wal_insert_lsn()');
ask("INSERT INTO w SELECT i, md5(i::text)::uuid, md5(i::text) FROM generate_series(301, 1300) i");
$to = ask('SELECT pg_current_wal_flush_lsn()');
($waldump) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal', '-s', $from, '-e', $to,
	'--rmgr=custom183' ]);
my $bytes = 0;
$bytes += m{len \(rec/tot\):\s*\d+/\s*(\d+)} ? $1 : 0 for grep { !/FPW/ } split /\n/, $waldump;
cmp_ok($bytes / 1000, '<=', 8 + 16 + 32 + 3 * 9,
	'three entries of a row of a long statement: ' . $bytes / 1000);
ask('DROP TABLE w');

# ---- merges: leaves stay full, and those to which nothing comes are neither read nor written

ask('CREATE TABLE f AS SELECT hashint8extended(i, 1) AS r FROM generate_series(1, 200000) i');
ask('CREATE INDEX f_r ON f USING surfidx (r)');
# ascending, and so large that a hundredth of the leaves is some leaves
my $ascends = "SELECT to_char(i, 'FM0000000000') || md5(i::text) COLLATE \"C\" AS t FROM generate_series";
ask("CREATE TABLE a AS $ascends(1, 200000) i");
ask('CREATE INDEX a_t ON a USING surfidx (t)');
for my $round (0 .. 4)
{
	ask("INSERT INTO f SELECT hashint8extended(i, 1) FROM generate_series(200001 + $round * 10000, 210000 + $round * 10000) i");
	ask("INSERT INTO a $ascends(200001 + $round * 10000, 210000 + $round * 10000) i");
	ask("SELECT surfidx_merge('f_r'), surfidx_merge('a_t')");
}
cmp_ok(ask("SELECT leaf_fill FROM surfidx_stats('f_r', 100000)"), '>', 0.9, 'random keys: leaves are more than 90 % full');
my $ascending = ask("SELECT leaves FROM surfidx_meta('a_t')");
ask('REINDEX INDEX a_t');
my $fresh = ask("SELECT leaves FROM surfidx_meta('a_t')");
cmp_ok($fresh, '>=', 300, 'a tree of some leaves');
cmp_ok($ascending * 0.99, '<=', $fresh, "ascending keys: 99 % as full as in a fresh index, $ascending leaves for $fresh");

# ---- an insert looks at the log's last page, and at nothing of the tree

my ($fetched, $log_pages) = split /\n/, ask(<<'END');
BEGIN;
INSERT INTO a SELECT to_char(abs(hashint8extended(i, 1) % 250000), 'FM0000000000') || i FROM generate_series(1, 10000) i;
SELECT pg_stat_get_xact_blocks_fetched('a_t'::regclass);
SELECT log_pages FROM surfidx_meta('a_t');
COMMIT
END
cmp_ok($log_pages, '>', 20, "10,000 keys fill $log_pages log pages");
cmp_ok($fetched, '<=', 10000 + 30 * $log_pages, "a visit to a page for each key, and some for each log page: $fetched");
ask('DROP TABLE a');

# ---- U3: so does a unique one whose keys ascend, and a session may go round many tables

my $tables = 120;
my $turn = "DO \$\$ BEGIN FOR k IN %d .. %d LOOP FOR i IN 1 .. $tables LOOP
	EXECUTE format('INSERT INTO u%%s VALUES (%%s)', i, k); END LOOP; END LOOP; END \$\$;";
ask("DO \$\$ BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format('CREATE TABLE u%s (k int8);
	CREATE UNIQUE INDEX u%s_k ON u%s USING surfidx (k)', i, i, i); END LOOP; END \$\$");
my $fetched_so_far = "SELECT sum(pg_stat_get_xact_blocks_fetched(oid)) FROM pg_class
	WHERE relname ~ '^u\\d+_k\$';";
my ($first, $both) = split /\n/,
  ask(sprintf("BEGIN; $turn $fetched_so_far $turn $fetched_so_far COMMIT", 1, 20, 21, 40));
cmp_ok($both - $first, '<=', 20 * $tables * 1.05,
	"20 keys into each of $tables unique indexes: " . ($both - $first) . ' visits to pages');
ask("DROP TABLE u$_") for 1 .. $tables;

# keys that fall into a hundredth of the leaves
my $all = ask("SELECT leaves FROM surfidx_meta('f_r')");
my $touch = "SELECT heap.k FROM (SELECT -9223372036854775807 + i::int8 * 100000000000000 AS k FROM generate_series(1, 1000) i) heap";
ask("INSERT INTO f (r) $touch");
my $pages = "SELECT merge_leaves FROM surfidx_stats('f_r')";
my $before = ask($pages);
my (undef, $visits) = split /\n/, ask("BEGIN; SELECT surfidx_merge('f_r'); SELECT pg_stat_get_xact_blocks_fetched('f_r'::regclass); COMMIT");
# at the end surfidx_merge() asks the free space map about each block
my $asked = ask("SELECT pg_relation_size('f_r') / 8192");
cmp_ok($visits - $asked, '<', $all / 3, "$visits visits to pages, $asked of them to the map, others to the metapage and the log");
my $written = ask($pages) - $before;
cmp_ok($written, '<', $all / 8, "$written of $all leaves written");

# ---- a delta that was begun since the last checkpoint may have twice merge_ratio of the entries

ask('CREATE TABLE p AS SELECT hashint8extended(i, 1) AS k FROM generate_series(1, 200000) i');
ask('CREATE INDEX p_k ON p USING surfidx (k); CHECKPOINT');
my $waits = "SELECT delta_entries FROM surfidx_meta('p_k')";
ask('INSERT INTO p SELECT hashint8extended(i, 1) FROM generate_series(200001, 230000) i');
ask('VACUUM p');
is(ask($waits), 30000, '15 %: it waits');
ask('CHECKPOINT');
ask('VACUUM p');
is(ask($waits), 0, '... until the next checkpoint');
ask('INSERT INTO p SELECT hashint8extended(i, 1) FROM generate_series(230001, 280000) i');
ask('VACUUM p');
is(ask($waits), 0, '22 % do not');
ask('INSERT INTO p SELECT hashint8extended(i, 1) FROM generate_series(400001, 442000) i');
ask('DELETE FROM p WHERE k IN (SELECT hashint8extended(i, 1)
	FROM generate_series(400001, 400100) i)');
ask('CHECKPOINT');
ask('VACUUM (INDEX_CLEANUP ON) p');
is(ask($waits), 0, 'nor do 15 % which VACUUM has flagged a moment ago');
ask('ALTER TABLE p SET UNLOGGED');
ask('INSERT INTO p SELECT hashint8extended(i, 1) FROM generate_series(280001, 340000) i');
ask('VACUUM p');
is(ask($waits), 0, 'nor does a fifth without WAL');
ask('DROP TABLE p');

# ---- reading ahead: leaves are asked for before the merge comes to them, those to which something comes, and no others

# A merge from a cold start: leaves written, asked for, read because of that.
sub merge_after_restart
{
	my ($settings) = @_;

	$node->restart;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = debug1; $settings; SELECT surfidx_merge('f_r')");
	return $err =~ /"f_r": \d+ groups wrote (\d+) leaves, asked for (\d+) ahead and began to read (\d+) of them/ ? ($1, $2, $3) : (0, 0, 0);
}

SKIP:
{
	skip 'no reading ahead on this system', 6 if ask("SELECT max_val FROM pg_settings WHERE name = 'maintenance_io_concurrency'") == 0;
	ask('INSERT INTO f (r) SELECT hashint8extended(i, 1) FROM generate_series(300001, 305000) i');
	my ($wrote, $asked_for, $read) = merge_after_restart('SET maintenance_io_concurrency = 10');
	cmp_ok($asked_for, '>=', $wrote * 0.9, "random keys: $asked_for of $wrote leaves asked for");
	cmp_ok($asked_for, '<=', $wrote * 1.6, 'each once or twice');
	cmp_ok($read, '>=', $wrote * 0.9, "and $read of them read by that");
	ask("INSERT INTO f (r) SELECT i::int8 * 1000000000000000000 FROM generate_series(-9, 9) i");
	($wrote, $asked_for, $read) = merge_after_restart('SET maintenance_io_concurrency = 32');
	cmp_ok($asked_for, '>=', 15, "19 keys far apart: $asked_for leaves asked for");
	cmp_ok($asked_for, '<=', 19, 'and none to which nothing comes');
	ask('INSERT INTO f (r) SELECT hashint8extended(i, 1) FROM generate_series(305001, 310000) i');
	($wrote, $asked_for, $read) = merge_after_restart('SET maintenance_io_concurrency = 0');
	is($asked_for, 0, 'nor any if nobody wants it');
}
ask('DROP TABLE f');

# ---- the log's gap

# 10 % of the leaves is what a delta is expected to add to them
my $built = blocks();
my $room = int($built / 10);

more(300001, 1000);
cmp_ok(blocks(), '<=', $built + 4, 'a few rows take no gap');
more(301001, 29000);
my $log = ask("SELECT log_pages FROM surfidx_meta('g_k')");
cmp_ok(blocks(), '>=', $built + $log + $room - 8, 'many do');
cmp_ok(blocks(), '<=', $built + $log + $room + 8, 'once');

my $lsn = ask('SELECT pg_current_wal_insert_lsn()');
is(ask("SELECT surfidx_merge('g_k')"), 30000, 'merged');
my $wal = ask("SELECT pg_current_wal_insert_lsn() - '$lsn'::pg_lsn");
my $leaves = ask("SELECT leaves FROM surfidx_meta('g_k')");
cmp_ok(blocks(), '<=', $leaves + 16, 'the file ends with its leaves');
# each leaf once; without the gap those that were added came twice
cmp_ok($wal, '<', ($leaves + $room / 3) * 8192, "hardly any page had to move for that: $wal bytes for $leaves leaves");
is(ask("SELECT surfidx_check('g_k', true)"), '', 'sound');

# merges by the bound, the file not cut off in between: logs and leaves stay apart
for my $round (0 .. 5)
{
	more(330001 + $round * 20000, 20000);
	ask("SET vacuum_truncate = off; VACUUM g") if $node->pg_version >= 18;
	ask("ALTER TABLE g SET (vacuum_truncate = off)") if $round == 0;
	ask('VACUUM g');
}
$leaves = ask("SELECT leaves FROM surfidx_meta('g_k')");
cmp_ok(blocks(), '<=', $leaves * 1.35, 'after merges without an end cut off: ' . blocks() . " blocks for $leaves leaves");
$lsn = ask('SELECT pg_current_wal_insert_lsn()');
ask("ALTER TABLE g RESET (vacuum_truncate)");
ask("SELECT surfidx_merge('g_k')");
$wal = ask("SELECT pg_current_wal_insert_lsn() - '$lsn'::pg_lsn");
$leaves = ask("SELECT leaves FROM surfidx_meta('g_k')");
cmp_ok(blocks(), '<=', $leaves + 16, 'cut off');
note("$wal bytes for it");

# a crash forgets a gap's blocks in the map; VACUUM finds them
more(500001, 30000);
$node->stop('immediate');
$node->start;
is(ask("SELECT surfidx_check('g_k', true)"), '', 'sound after a crash');
ask('DELETE FROM g WHERE ctid < \'(100,0)\'');
ask('VACUUM g');
$leaves = ask("SELECT leaves FROM surfidx_meta('g_k')");
cmp_ok(blocks(), '<=', $leaves * 1.08 + 8, 'the gap of before is used or gone');
is(ask("SELECT surfidx_check('g_k', true)"), '', 'sound after VACUUM');

# ---- guesses by ranks (B5): a merge asks the collation as often for one alphabet as for another

SKIP:
{
	my $icu = '"en-x-icu"';
	skip 'the server has no ICU', 6
	  if ask(q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'}) eq '0';
	my $latin;
	foreach my $letters ('abdefghjklmnoprs', 'абвгдежзиклмнопр', 'αβγδεζηθικλμνξοπ')
	{
		my $word = "translate(left(md5(i::text), 12), '0123456789abcdef', '$letters')";
		my $words = "INSERT INTO h SELECT initcap($word COLLATE $icu) FROM generate_series";
		ask("DROP TABLE IF EXISTS h; CREATE TABLE h (s text COLLATE $icu); $words(1, 20000) i");
		ask("CREATE INDEX h_s ON h USING surfidx (s); $words(20001, 22000) i");
		my (undef, undef, $said) = $node->psql('postgres',
			"SET client_min_messages = debug1; SELECT surfidx_merge('h_s')");
		my ($compared) = $said =~ /"h_s": .* compared (\d+) times by collations/;
		$latin //= $compared;
		cmp_ok($compared, '<=', $latin * 1.1, "$letters: compared $compared times for 2,000 rows");
		is(ask("SELECT surfidx_check('h_s', true)"), '', 'and it is sound');
	}
}

$node->stop;
done_testing();
