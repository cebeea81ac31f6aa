# Dictionaries of keys: crashes around their making, a standby, keys that change their kind, damage.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# What is damaged here is to be found by us, not by checksums where the cluster has them.
my $primary = new_node('primary', <<'END', allows_streaming => 1);
ignore_checksum_failure = on
wal_consistency_checking = 'all'
surfidx.auto_merge = off
checkpoint_timeout = 1h
wal_keep_size = 1GB
END
$primary->start;
$primary->safe_psql('postgres', <<'END');
CREATE EXTENSION IF NOT EXISTS surfidx;
CREATE TABLE h (v text COLLATE "C");
-- of more different bytes than can be packed
CREATE FUNCTION tag(i int) RETURNS text LANGUAGE sql AS $$
	SELECT substr(encode(decode(md5(i::text), 'hex'), 'base64'), 1, 4) || chr(224 + i % 20) $$;
CREATE FUNCTION paths(a int, b int) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT '/usr/share/' || tag(i) || '/package-' || i % 211 || (ARRAY['/changelog', '/copyright', '/README'])[1 + i % 3] || '-' || i FROM generate_series(a, b) i $$;
CREATE FUNCTION codes(a int, b int) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT substr(upper(md5(i::text)), 1, 2) || tag(i) ||
		upper(substr('zwanzigdreissigvierzigfuenfzigsechzig', 1 + i % 30, 7)) || i % 1000 FROM generate_series(a, b) i $$;
CREATE INDEX h_v ON h USING surfidx (v);
END
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# Number of dictionaries; the index agrees with the table, read forward and backward.
sub look
{
	my ($node, $name, $dicts) = @_;
	my $sql = 'SET enable_seqscan = %s; SET enable_sort = %s; SET enable_bitmapscan = off; SET enable_indexonlyscan = %s;'
	  . " SELECT md5(string_agg(v, ' ')) FROM (SELECT v FROM h WHERE v > '/' ORDER BY v) s";

	is($node->safe_psql('postgres', sprintf($sql, 'off', 'off', 'on')), $node->safe_psql('postgres', sprintf($sql, 'on', 'on', 'off')),
		"$name: answers");
	is($node->safe_psql('postgres', "SELECT surfidx_check('h_v', true)"), '', "$name: check");
	is($node->safe_psql('postgres', "SELECT string_agg(dictionary::text, ',' ORDER BY dictionary) FROM surfidx_dictionaries('h_v')"), $dicts,
		"$name: dictionaries '$dicts'");
	return;
}

# Put bytes into a file; what stood there.
sub poke
{
	my ($path, $at, $bytes) = @_;
	my $old;

	open(my $f, '+<:raw', $path) or die "$path: $!";
	seek($f, $at, 0);
	read($f, $old, length $bytes);
	seek($f, $at, 0);
	print $f $bytes;
	close($f) or die "$path: $!";
	return $old;
}

sub catch_up
{
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	return;
}

# The first merge into an empty index makes a dictionary; a crash comes before a leaf uses it.
$primary->safe_psql('postgres', "INSERT INTO h SELECT * FROM paths(1, 20000); SELECT surfidx_merge('h_v')");
catch_up();
look($standby, 'standby, new dictionary', '1');
$primary->stop('immediate');
$primary->start;
look($primary, 'crash after a new dictionary', '1');
$primary->safe_psql('postgres', "INSERT INTO h SELECT * FROM paths(20001, 40000); SELECT surfidx_merge('h_v')");
catch_up();
look($standby, 'standby, first use', '1');

# Keys of another kind: a merge notices, and trains another one.  Both are in use.
$primary->safe_psql('postgres', "INSERT INTO h SELECT * FROM codes(1, 30000); SELECT surfidx_merge('h_v')");
$primary->safe_psql('postgres', "INSERT INTO h SELECT * FROM codes(30001, 50000); SELECT surfidx_merge('h_v')");
catch_up();
look($primary, 'drift', '1,2');
look($standby, 'standby, drift', '1,2');
$primary->stop('immediate');
$primary->start;
look($primary, 'crash after drift', '1,2');

# The old keys go, and with them the leaves that need the first dictionary.
$primary->safe_psql('postgres', "DELETE FROM h WHERE v LIKE '/%'");
$primary->safe_psql('postgres', 'VACUUM h');
catch_up();
look($primary, 'first one dropped', '2');
look($standby, 'standby, first one dropped', '2');

# Leaves whose dictionary the metapage does not list: opening one is an error that says so.
my $file = $primary->safe_psql('postgres', "SELECT pg_relation_filepath('h_v')");
my $size = $primary->safe_psql('postgres', "SELECT pg_relation_size('h_v')");
my $path = $primary->data_dir . "/$file";
my $ndicts = 24 + 584;	# SfxMeta.ndicts in block 0
$primary->safe_psql('postgres', "INSERT INTO h SELECT * FROM codes(100, 110); INSERT INTO h VALUES ('zzz')");
$primary->stop;
is(poke($path, $ndicts, pack('L', 0)), pack('L', 1), 'one dictionary in the metapage');
$primary->start;
for my $sql ("SELECT surfidx_check('h_v')", "SELECT count(*) FROM h WHERE v = (SELECT codes(74, 74))", "SELECT count(*) FROM (SELECT v FROM h ORDER BY v DESC) s",
	"SELECT surfidx_count('h_v', 'A'::text, 'B'::text)", "SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off; DELETE FROM h WHERE v = 'zzz'; VACUUM h", "SELECT surfidx_merge('h_v')")
{
	my ($rc, $out, $err) = $primary->psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; $sql");

	like($err, qr/index "h_v" is damaged at block \d+: the leaf needs dictionary 2, which the metapage does not list.*HINT:  Please REINDEX it/s, "no dictionary: $sql");
}
$primary->stop;
poke($path, $ndicts, pack('L', 1));

# Damage of a dictionary's page is found by name, and crashes nobody.
open(my $fh, '+<:raw', $path) or die "$path: $!";
for (my $block = 3; $block < $size / 8192; $block++)
{
	my ($tail, $byte);
	seek($fh, $block * 8192 + 8192 - 8, 0);
	read($fh, $tail, 8);
	next if unpack('C', $tail) != 8;	# SFX_PAGE_DICT
	seek($fh, $block * 8192 + 60, 0);
	read($fh, $byte, 1);
	seek($fh, $block * 8192 + 60, 0);
	print $fh chr(ord($byte) ^ 0x15);
}
close($fh);
$primary->start;
my ($rc, $out, $err) = $primary->psql('postgres', "SELECT surfidx_check('h_v')");
like($err, qr/index "h_v" is damaged at block \d+: dictionary 2 does not have the checksum/, 'the verifier finds a damaged dictionary');
($rc, $out, $err) = $primary->psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM h WHERE v = (SELECT codes(74, 74))");
like($err, qr/index "h_v" is damaged at block \d+.*HINT:  Please REINDEX it/s, 'a scan that needs it is an error');
$primary->safe_psql('postgres', 'REINDEX INDEX h_v');
look($primary, 'after REINDEX', $primary->safe_psql('postgres', "SELECT string_agg(dictionary::text, ',') FROM surfidx_dictionaries('h_v')"));
is($primary->safe_psql('postgres', "SELECT count(*) FROM surfidx_dictionaries('h_v')"), '1', 'REINDEX made a dictionary');

done_testing();
