# A log that has got long goes on behind a gap for the leaves of its entries: what a merge then leaves free is the end of the file.
use strict;
use warnings;

use SurfidxTest;
use Test::More;

my $node = new_node('log_gap', "autovacuum = off\nsurfidx.auto_merge = off\nfull_page_writes = on");
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

$node->stop;
done_testing();
