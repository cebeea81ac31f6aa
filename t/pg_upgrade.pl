# pg_upgrade, and a dump that the new server restores: constraints of every kind, indexes with a
# delta, merged and cut, btrees that stay what they are or become ours by surfidx.in_place_of_btree.
# OLD_PG_CONFIG names an older server's pg_config, in which surfidx is installed; else the old server
# is of this version, too.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SurfidxTest;
use Test::More;

my $old_config = $ENV{OLD_PG_CONFIG} || $ENV{PG_CONFIG};

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
# from 18 on there are checksums unless one says otherwise: as the old one has it
my ($old_sums, $new_sums) = map { scalar(`$_/initdb --help` =~ /no-data-checksums/) }
	$old_bin, $new_bin;
my @sums = $new_sums && !$old_sums ? (extra => ['--no-data-checksums']) : ();

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
CREATE TABLE cut (id bigint PRIMARY KEY WITH (access_method = surfidx, keys = cut), u uuid UNIQUE
	WITH (access_method = surfidx, keys = cut) DEFERRABLE, r bigint REFERENCES account);
CREATE INDEX cut_r ON cut USING surfidx (r) WITH (keys = cut);
CREATE TABLE cut_ref (id bigint REFERENCES cut ON UPDATE CASCADE, u uuid);
CREATE TABLE plain (id int PRIMARY KEY, account int UNIQUE DEFERRABLE, CONSTRAINT x EXCLUDE USING surfidx (account WITH =));
CREATE INDEX plain_account ON plain (account);
CREATE TABLE child (plain int REFERENCES plain);
CREATE TABLE ours (account bigint CONSTRAINT ours_fk REFERENCES account ON DELETE CASCADE);
CREATE TABLE part (k int PRIMARY KEY, v int) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (10000);
CREATE INDEX part_v ON part USING surfidx (v);
CREATE UNLOGGED TABLE un (id int PRIMARY KEY WITH (access_method = surfidx));
CREATE TABLE converted (id int);
SET surfidx.in_place_of_btree = 'all';
CREATE INDEX converted_id ON converted (id);
INSERT INTO account SELECT g, 'e' || g, g, 'note ' || g % 100, g FROM generate_series(1, 20000) g;
INSERT INTO cut SELECT g * 1000003::bigint, md5(g::text)::uuid, g + 10000 FROM generate_series(1, 10000) g;
SELECT surfidx_merge(i.oid) FROM pg_class i JOIN pg_am a ON a.oid = relam WHERE amname = 'surfidx' AND relkind = 'i';
INSERT INTO account SELECT g, 'e' || g, g, 'note ' || g % 100, g FROM generate_series(20001, 22000) g;
INSERT INTO plain SELECT g, g FROM generate_series(1, 1000) g;
INSERT INTO cut SELECT g * 1000003::bigint, md5(g::text)::uuid, NULL FROM generate_series(10001, 10500) g;
DELETE FROM cut WHERE r % 7 = 0;
DELETE FROM account WHERE id % 7 = 0;
INSERT INTO cut_ref VALUES (2000006, NULL);
INSERT INTO ours VALUES (8), (9);
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
my $rows = "SELECT count(*), sum(id), sum(number), md5(string_agg(email, ',' ORDER BY id)) FROM account
	UNION ALL SELECT count(*), sum(id), sum(r), md5(string_agg(u::text, ',' ORDER BY id)) FROM cut";
my $want = $old->safe_psql('app', $indexes);
my $want_rows = $old->safe_psql('app', $rows);
my $dump = $old->basedir . '/dump.sql';
command_ok(["$new_bin/pg_dump", '-f', $dump, '-d', $old->connstr('app')], 'pg_dump');
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
my $ours = "FROM pg_class i JOIN pg_am a ON a.oid = relam WHERE amname = 'surfidx' AND relkind = 'i'";
my $sound = 'SELECT * FROM surfidx_check_all(true, true) WHERE problem IS NOT NULL';
is($new->safe_psql('app', "SELECT count(*) $ours"), 13, 'indexes are there');
is($new->safe_psql('app', $sound), '', '... and sound');
is($new->safe_psql('app', 'SET enable_seqscan = off; SELECT email FROM account WHERE id = 21998'), 'e21998', 'what was in a delta is found');
like(($new->psql('app', "INSERT INTO account VALUES (21998)"))[2], qr/duplicate key value violates unique constraint "account_pkey"/, 'primary keys hold');
like(($new->psql('app', "BEGIN; INSERT INTO account VALUES (50000, 'e5', 50000); COMMIT"))[2], qr/duplicate key value violates unique constraint "account_email_key"/, 'deferred ones, too');
like(($new->psql('app', "INSERT INTO cut VALUES (2000006)"))[2],
	qr/duplicate key value violates unique constraint "cut_pkey"/, 'cut ones, too');
is($new->safe_psql('app', 'BEGIN; UPDATE cut SET id = 3 WHERE id = 2000006; '
	. 'SELECT id FROM cut_ref; ROLLBACK'), 3, '... and rows that refer to them follow');
is($new->safe_psql('app', "INSERT INTO account VALUES (5) ON CONFLICT (id) DO UPDATE SET note = 'again' RETURNING note"), 'again', 'ON CONFLICT finds them');
like(($new->psql('app', 'INSERT INTO ours VALUES (7)'))[2],
	qr/violates foreign key constraint "ours_fk"/, 'foreign keys to them hold');
is($new->safe_psql('app', 'BEGIN; DELETE FROM account WHERE id = 8; SELECT count(*) FROM ours; '
	. 'ROLLBACK'), 1, '... and do what they do');
is(($new->psql('app', 'CREATE TABLE ref (a bigint REFERENCES account); CREATE TABLE late (id int '
	. 'PRIMARY KEY); INSERT INTO ref VALUES (5)'))[0], 0, '... and new ones can be made');
$new->safe_psql('app', 'REINDEX TABLE account; REINDEX TABLE cut; VACUUM account');
is($new->safe_psql('app', $rows), $want_rows, 'and they can be made again');

# a dump of the old server: as it was without the setting, and all that may be ours with it
for my $mode ('off', 'all')
{
	$new->safe_psql('postgres', "CREATE DATABASE of_$mode");
	$new->safe_psql('postgres', "ALTER DATABASE of_$mode SET surfidx.in_place_of_btree = '$mode'");
	# what the dump says of the database itself is not in it
	command_ok(['psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $new->connstr("of_$mode")],
		"restore with $mode");
	is($new->safe_psql("of_$mode", $rows), $want_rows, '... rows');
	is($new->safe_psql("of_$mode", $sound), '', '... sound indexes');
}
is($new->safe_psql('of_off', $indexes), $want, 'a restore brings indexes and constraints back');
my $version = $new->safe_psql('postgres', 'SHOW server_version_num') / 10000;
# before 18 what is unique stays btree
my $stay = $version < 18 ? 'part1_pkey,part_pkey,plain_account_key,plain_pkey' : '';
is($new->safe_psql('of_all', "SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class JOIN
	pg_am a ON a.oid = relam WHERE amname = 'btree' AND relnamespace = 'public'::regnamespace"),
	$stay, 'with in_place_of_btree = all what may be ours is');
my $keys = "SELECT conrelid::regclass, conname, conindid::regclass, pg_get_constraintdef(oid)
	FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2";
is($new->safe_psql('of_all', $keys), $new->safe_psql('of_off', $keys), '... by the same constraints');

# what the new server's btree has and the old one's had not
my $members = <<'END';
WITH own AS (SELECT oid FROM pg_opfamily WHERE opfmethod = (SELECT oid FROM pg_am
	WHERE amname = 'surfidx'))
SELECT pg_describe_object('pg_amop'::regclass, a.oid, 0) FROM pg_amop a
	JOIN own ON amopfamily = own.oid
UNION ALL
SELECT pg_describe_object('pg_amproc'::regclass, a.oid, 0) FROM pg_amproc a
	JOIN own ON amprocfamily = own.oid
UNION ALL
SELECT pg_describe_object(classid, objid, 0) FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'surfidx')
ORDER BY 1
END
$new->safe_psql('postgres', 'CREATE DATABASE fresh');
$new->safe_psql('fresh', 'CREATE EXTENSION surfidx');
my $added = $new->safe_psql('app', 'SELECT * FROM surfidx_mirror_btree()');
note("added: $added");
my ($upgraded, $fresh) =
  map { { map { $_ => 1 } split /\n/, $new->safe_psql($_, $members) } } 'app', 'fresh';
is(join("\n", grep { !$upgraded->{$_} } sort keys %$fresh), '',
	'surfidx_mirror_btree() adds what is missing, as members of the extension');
# function 4, which nobody asks of surfidx's classes, is gone from three of 19's
is(join("\n", grep { !$fresh->{$_} && !/^function 4 / } sort keys %$upgraded), '',
	'... and nothing else');
is($new->safe_psql('app', 'SELECT * FROM surfidx_mirror_btree()'), '', '... once');
if ($new->safe_psql('app', q{SELECT to_regtype('oid8') IS NOT NULL}) eq 't')
{
	$new->safe_psql('app', 'CREATE TABLE o8 (v oid8); INSERT INTO o8 SELECT g::text::oid8
		FROM generate_series(1, 1000) g; CREATE INDEX o8_v ON o8 USING surfidx (v)');
	is($new->safe_psql('app', q{SET enable_seqscan = off; SELECT surfidx_check('o8_v', true, true),
		(SELECT count(*) FROM o8 WHERE v < '11')}), '|10', 'oid8 of 19');
}

done_testing();
