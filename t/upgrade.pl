# pg_upgrade from an older server: constraints of every kind, indexes with a delta and merged, btrees that stay what they are.
# OLD_PG_CONFIG names the older server's pg_config; surfidx has to be installed there.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SurfidxTest;
use Test::More;

my $old_config = $ENV{OLD_PG_CONFIG};

plan skip_all => 'OLD_PG_CONFIG names no older server' unless $old_config;
chomp(my $old_bin = `$old_config --bindir`);
chomp(my $new_bin = `$ENV{PG_CONFIG} --bindir`);
(my $old_path = $old_bin) =~ s{/bin$}{};

my $conf = <<'END';
shared_preload_libraries = 'surfidx'
autovacuum = off
surfidx.auto_merge = off
surfidx.unique_notice = off
END
my $old = PostgreSQL::Test::Cluster->new('upgrade_old', install_path => $old_path);
my $new = PostgreSQL::Test::Cluster->new('upgrade_new');
my @sums = `$new_bin/initdb --help` =~ /no-data-checksums/ ? (extra => ['--no-data-checksums']) : ();

$old->init;
$old->append_conf('postgresql.conf', $conf);
$old->start;
$old->safe_psql('postgres', 'CREATE DATABASE app');
$old->safe_psql('app', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE account (id bigint PRIMARY KEY WITH (access_method = surfidx), email text COLLATE "C", number int, note text, v numeric,
	UNIQUE (email) WITH (access_method = surfidx) DEFERRABLE INITIALLY DEFERRED,
	CONSTRAINT numbers UNIQUE NULLS NOT DISTINCT (number) INCLUDE (note) WITH (access_method = surfidx, delta_size = 128));
CREATE UNIQUE INDEX account_v ON account USING surfidx (v);
ALTER TABLE account ADD UNIQUE USING INDEX account_v;
ALTER TABLE account REPLICA IDENTITY USING INDEX account_pkey, CLUSTER ON account_pkey;
COMMENT ON CONSTRAINT numbers ON account IS 'a comment';
CREATE INDEX account_note ON account USING surfidx (lower(note), id DESC) WHERE number > 5;
CREATE INDEX account_pattern ON account USING surfidx (note text_pattern_ops) WITH (hope = fsst);
CREATE TABLE plain (id int PRIMARY KEY, account int UNIQUE DEFERRABLE, CONSTRAINT x EXCLUDE USING surfidx (account WITH =));
CREATE INDEX plain_account ON plain (account);
CREATE TABLE child (plain int REFERENCES plain);
CREATE TABLE part (k int PRIMARY KEY, v int) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (10000);
CREATE INDEX part_v ON part USING surfidx (v);
CREATE UNLOGGED TABLE un (id int PRIMARY KEY WITH (access_method = surfidx));
CREATE TABLE converted (id int);
SET surfidx.in_place_of_btree = 'all';
CREATE INDEX converted_id ON converted (id);
INSERT INTO account SELECT g, 'e' || g, g, 'note ' || g % 100, g FROM generate_series(1, 20000) g;
SELECT surfidx_merge(i.oid) FROM pg_class i JOIN pg_am a ON a.oid = relam WHERE amname = 'surfidx' AND relkind = 'i';
INSERT INTO account SELECT g, 'e' || g, g, 'note ' || g % 100, g FROM generate_series(20001, 22000) g;
DELETE FROM account WHERE id % 7 = 0;
INSERT INTO plain SELECT g, g FROM generate_series(1, 1000) g;
INSERT INTO child SELECT g FROM generate_series(1, 1000) g;
INSERT INTO part SELECT g, g FROM generate_series(1, 5000) g;
INSERT INTO converted SELECT g FROM generate_series(1, 3000) g;
INSERT INTO un SELECT g FROM generate_series(1, 3000) g;
END
# a binary upgrade has the old files: nothing is converted while it makes their catalogs
$old->safe_psql('postgres', "ALTER DATABASE app SET surfidx.in_place_of_btree = 'all'");
my $indexes = <<'END';
	SELECT string_agg(format('%s %s %s %s %s %s %s %s', i.relname, amname, i.reloptions, pg_get_indexdef(i.oid), pg_get_constraintdef(c.oid), obj_description(c.oid, 'pg_constraint'),
		indisreplident, indisclustered), E'\n' ORDER BY i.relname)
	FROM pg_class i JOIN pg_am ON pg_am.oid = relam JOIN pg_index x ON indexrelid = i.oid LEFT JOIN pg_constraint c ON conindid = i.oid AND contype IN ('p', 'u', 'x')
	WHERE i.relkind IN ('i', 'I') AND i.relnamespace = 'public'::regnamespace
END
my $rows = "SELECT count(*), sum(id), sum(number), md5(string_agg(email, ',' ORDER BY id)) FROM account";
my $want = $old->safe_psql('app', $indexes);
my $want_rows = $old->safe_psql('app', $rows);
$old->stop;

$new->init(@sums);
$new->append_conf('postgresql.conf', $conf);
chdir $new->basedir or die;
command_ok([ 'pg_upgrade', '--no-sync', '-b', $old_bin, '-B', $new_bin, '-d', $old->data_dir, '-D', $new->data_dir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port ], 'pg_upgrade');
$new->start;
is($new->safe_psql('app', $indexes), $want, 'indexes and constraints are what they were');
like($want, qr/^numbers surfidx .*access_method=surfidx.* a comment/m, '... of which some are ours');
like($want, qr/^plain_pkey btree/m, '... and some btree');
is($new->safe_psql('app', $rows), $want_rows, 'rows, too');
is($new->safe_psql('app', "SELECT count(surfidx_check(i.oid, true, true)) FROM pg_class i JOIN pg_am a ON a.oid = relam WHERE amname = 'surfidx' AND relkind = 'i'"), 10, 'indexes are sound');
is($new->safe_psql('app', 'SET enable_seqscan = off; SELECT email FROM account WHERE id = 21998'), 'e21998', 'what was in a delta is found');
like(($new->psql('app', "INSERT INTO account VALUES (21998)"))[2], qr/duplicate key value violates unique constraint "account_pkey"/, 'primary keys hold');
like(($new->psql('app', "BEGIN; INSERT INTO account VALUES (50000, 'e5', 50000); COMMIT"))[2], qr/duplicate key value violates unique constraint "account_email_key"/, 'deferred ones, too');
is($new->safe_psql('app', "INSERT INTO account VALUES (5) ON CONFLICT (id) DO UPDATE SET note = 'again' RETURNING note"), 'again', 'ON CONFLICT finds them');
is(($new->psql('app', 'CREATE TABLE ref (a bigint REFERENCES account); CREATE TABLE late (id int PRIMARY KEY); INSERT INTO ref VALUES (5)'))[0],
	$new->safe_psql('postgres', 'SHOW server_version_num') >= 180000 ? 0 : 3, 'from 18 on foreign keys can refer to them');
$new->safe_psql('app', 'REINDEX TABLE account; VACUUM account');
is($new->safe_psql('app', $rows), $want_rows, 'and they can be made again');

done_testing();
