# surfidx.in_place_of_btree: a database's and a role's setting, a restore of btrees that makes surfidx of them and dumps as such
# (rule Q5); a database without the extension, a server without the library.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SurfidxTest;
use Test::More;

my $node = new_node('in_place', <<'END', allows_streaming => 'logical');
surfidx.auto_merge = off
surfidx.in_place_notice = off
END
$node->start;
my $version = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
my $unique = $version < 18 ? 'btree' : 'surfidx';

my $indexes = <<'END';
	SELECT string_agg(format('%s %s %s', amname, replace(pg_get_indexdef(i.oid), 'USING ' || amname, ''), pg_get_constraintdef(c.oid)), E'\n' ORDER BY relname)
	FROM pg_class i JOIN pg_am ON pg_am.oid = relam LEFT JOIN pg_constraint c ON conindid = i.oid AND contype IN ('p', 'u', 'x')
	WHERE relkind IN ('i', 'I') AND relnamespace = 'public'::regnamespace
END

sub tried
{
	my ($db, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($db, $sql);

	return $rc ? $err : "done$err";
}

sub restore
{
	my ($from, $to) = @_;
	my $dump = $node->basedir . "/$from.sql";

	$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr($from) ], "dump of $from");
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr($to) ], "restored to $to");
	return slurp_file($dump);
}

# ---- whose setting it is ----

$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(old new again bare);
$node->safe_psql('bare', 'CREATE TABLE before (id int PRIMARY KEY)');
$node->safe_psql('postgres', "CREATE ROLE app LOGIN; ALTER DATABASE new SET surfidx.in_place_of_btree = 'all'; ALTER DATABASE bare SET surfidx.in_place_of_btree = 'all'");
is(tried('bare', 'CREATE TABLE z (id int PRIMARY KEY, a int); CREATE INDEX z_a ON z (a); ALTER TABLE z ADD UNIQUE (a)'), 'done', 'nothing happens where the extension is not');
unlike($node->safe_psql('bare', $indexes), qr/surfidx/, '... and all is btree');
$node->safe_psql('old', 'CREATE EXTENSION surfidx; GRANT CREATE ON SCHEMA public TO app');
$node->safe_psql('postgres', "ALTER ROLE app SET surfidx.in_place_of_btree = 'indexes'");
is($node->safe_psql('old', 'CREATE TABLE mine (id int); CREATE INDEX mine_id ON mine (id); SELECT amname FROM pg_class i JOIN pg_am a ON a.oid = relam WHERE relname = \'mine_id\'',
		extra_params => [ '-U', 'app' ]), 'surfidx', 'a role that is no superuser has it');
$node->safe_psql('old', 'DROP TABLE mine');
is(tried('new', 'CREATE EXTENSION surfidx'), 'done', 'CREATE EXTENSION while it is set');

# ---- what stays btree is told ----

# Before 18 that is what is unique: once for a statement, with the way to have it converted.
my $said = tried('new', 'SET surfidx.in_place_notice = on; CREATE TABLE told (id int PRIMARY KEY, '
	. 'a int UNIQUE, b int UNIQUE)');
my @told = $said =~ /NOTICE:  (.*)\n.*?HINT:  (.*)/g;

is_deeply(\@told, $version >= 18 ? [] :
	[ 'an index of table "told" stays btree: before version 18 others may need a unique index to '
		. 'be a btree', 'surfidx_convert() makes it surfidx later, if nothing needs a btree. '
		. 'Set surfidx.in_place_notice to off to silence this notice.' ],
	'a statement of three constraints says what stays btree, once');
$node->safe_psql('new', 'DROP TABLE told');

# ---- a restore of btrees ----

$node->safe_psql('old', <<'END');
CREATE TABLE customer (id bigint PRIMARY KEY, email text UNIQUE, code text COLLATE "C", tags text[], doc json);
CREATE INDEX customer_code ON customer (code text_pattern_ops) INCLUDE (email) WHERE code IS NOT NULL;
CREATE INDEX customer_lower ON customer (lower(email), id DESC) WITH (fillfactor = 70);
ALTER TABLE customer ADD UNIQUE (code, email) DEFERRABLE INITIALLY DEFERRED;
CREATE TABLE purchase (id int PRIMARY KEY, customer bigint REFERENCES customer ON DELETE CASCADE, CONSTRAINT purchase_x EXCLUDE USING btree (customer WITH =, id WITH =));
CREATE TABLE measure (sensor int, at timestamptz, v float8, PRIMARY KEY (sensor, at)) PARTITION BY RANGE (at);
CREATE TABLE m1 PARTITION OF measure FOR VALUES FROM ('2026-01-01') TO ('2026-07-01');
CREATE TABLE m2 PARTITION OF measure FOR VALUES FROM ('2026-07-01') TO ('2027-01-01');
CREATE INDEX measure_v ON measure (v);
CREATE TABLE alarm (sensor int, at timestamptz, FOREIGN KEY (sensor, at) REFERENCES measure);
CREATE MATERIALIZED VIEW latest AS SELECT sensor, max(at) AS at FROM measure GROUP BY sensor;
CREATE UNIQUE INDEX latest_sensor ON latest (sensor);
ALTER TABLE customer CLUSTER ON customer_pkey, REPLICA IDENTITY USING INDEX customer_pkey;
INSERT INTO customer SELECT g, 'e' || g, 'c' || g FROM generate_series(1, 3000) g;
INSERT INTO purchase SELECT g, g % 3000 + 1 FROM generate_series(1, 5000) g;
INSERT INTO measure SELECT g, '2026-01-01'::timestamptz + g * interval '1 hour', g FROM generate_series(1, 8000) g;
INSERT INTO alarm SELECT sensor, at FROM measure WHERE sensor % 100 = 0;
REFRESH MATERIALIZED VIEW latest;
END
$node->safe_psql('old', 'CREATE INDEX customer_tags ON customer (tags)');
restore('old', 'new');
my $btrees = $node->safe_psql('old', $indexes);
my $made = $node->safe_psql('new', $indexes);
my $want = join "\n", map { s/^btree (CREATE UNIQUE)/$unique $1/ || /EXCLUDE/ || s/^btree/surfidx/; $_ } split /\n/, $btrees;

(my $plain = $made) =~ s/access_method='?surfidx'?(, )?//g;
$plain =~ s/ WITH \(\)//g;
is($plain, $want, "a restore makes surfidx of them ($unique where they are unique), with the same definitions");
my $sums = 'SELECT (SELECT count(*) FROM customer), (SELECT sum(customer) FROM purchase), (SELECT sum(v) FROM measure), (SELECT count(*) FROM alarm), (SELECT count(*) FROM latest)';
is($node->safe_psql('new', $sums), $node->safe_psql('old', $sums), '... with all rows');
is($node->safe_psql('new', "SELECT count(surfidx_check(i.oid, true, true)) FROM pg_class i JOIN pg_am a ON a.oid = relam WHERE amname = 'surfidx' AND relkind = 'i'"),
	scalar(grep { /^surfidx/ } split /\n/, $made) - ($made =~ /^surfidx CREATE INDEX measure_v /m) - ($made =~ /^surfidx CREATE UNIQUE INDEX measure_pkey /m), '... and sound');
like(tried('new', 'INSERT INTO purchase VALUES (9999, 9999)'), qr/violates foreign key constraint/, 'foreign keys hold');
like(tried('new', "INSERT INTO measure VALUES (5, '2026-01-01 05:00'::timestamptz)"), qr/duplicate key value/, 'primary keys of partitions hold');
is(tried('new', "INSERT INTO measure VALUES (5, '2026-01-01 05:00', 0) ON CONFLICT (sensor, at) DO UPDATE SET v = 0; REFRESH MATERIALIZED VIEW CONCURRENTLY latest; DELETE FROM customer WHERE id < 10; CLUSTER customer"),
	'done', 'upserts, REFRESH CONCURRENTLY, cascades and CLUSTER work');
unlike(restore('new', 'again'), qr/USING btree (?!\(customer)/, $version < 18 ? 'the dump' : 'the dump names no btree') if $version >= 18;
restore('new', 'again') if $version < 18;
is($node->safe_psql('again', $indexes), $node->safe_psql('new', $indexes), 'a dump of them restores to the same without the setting');

# ---- a table that is made for a partitioned one of btrees ----

is(tried('old', <<'END'), 'done', 'copies of a table keep its methods, so that they can be attached');
SET surfidx.in_place_of_btree = 'all';
CREATE TABLE m3 (LIKE measure INCLUDING ALL);
ALTER TABLE measure ATTACH PARTITION m3 FOR VALUES FROM ('2027-01-01') TO ('2028-01-01');
CREATE TABLE m4 PARTITION OF measure FOR VALUES FROM ('2028-01-01') TO ('2029-01-01');
END
is($node->safe_psql('old', "SELECT count(*) FROM pg_indexes WHERE tablename IN ('m3', 'm4') AND indexdef ~ 'btree'"), 4, '... without double indexes');

# One that has its own primary key, and foreign keys to it: it becomes what the parent's is, both ways (18).
my $attach = <<'END';
CREATE TABLE %1$s (sensor int, at timestamptz, v float8, CONSTRAINT %1$s_key PRIMARY KEY (sensor, at));
CREATE TABLE %1$s_alarm (sensor int, at timestamptz, CONSTRAINT %1$s_fk FOREIGN KEY (sensor, at) REFERENCES %1$s ON DELETE CASCADE);
COMMENT ON CONSTRAINT %1$s_key ON %1$s IS 'kept';
INSERT INTO %1$s SELECT g, '%2$s-01-01'::timestamptz + g * interval '1 hour', g FROM generate_series(1, 100) g;
INSERT INTO %1$s_alarm SELECT sensor, at FROM %1$s WHERE sensor < 10;
END
my $attached = "SELECT amname, obj_description(c.oid, 'pg_constraint'), conparentid <> 0, array_to_string(reloptions, ',') FROM pg_constraint c JOIN pg_class i ON i.oid = conindid JOIN pg_am a ON a.oid = relam WHERE conname = '%s_key'";
$node->safe_psql('old', "SET surfidx.in_place_of_btree = 'all';" . sprintf($attach, 'm5', 2029));
like(tried('old', "SET surfidx.in_place_of_btree = 'all'; ALTER TABLE measure ATTACH PARTITION m5 FOR VALUES FROM ('2029-01-01') TO ('2030-01-01')"),
	$version < 18 ? qr/^done$/ : qr/^done.*NOTICE:  primary key "m5_key" is built again as btree, as that of table "measure" is$/, 'a primary key becomes btree where the parent has one');
is($node->safe_psql('old', sprintf($attached, 'm5')), 'btree|kept|t|', '... with what belongs to it');
$node->safe_psql('new', 'SET surfidx.in_place_of_btree = off;' . sprintf($attach, 'm5', 2029));
like(tried('new', "ALTER TABLE measure ATTACH PARTITION m5 FOR VALUES FROM ('2029-01-01') TO ('2030-01-01')"),
	$version < 18 ? qr/^done$/ : qr/^done.*NOTICE:  primary key "m5_key" is built again as surfidx, as that of table "measure" is$/, '... and surfidx where the parent has that');
is($node->safe_psql('new', sprintf($attached, 'm5')), $version < 18 ? 'btree|kept|t|' : 'surfidx|kept|t|access_method=surfidx', '... as well');
for my $db (qw(old new))
{
	like(tried($db, "INSERT INTO m5_alarm VALUES (5, '2035-01-01')"), qr/violates foreign key constraint "m5_fk"/, "foreign keys to it hold ($db)");
	is($node->safe_psql($db, 'DELETE FROM measure WHERE sensor = 5; SELECT count(*) FROM m5_alarm'), 8, '... and cascade');
	like(tried($db, "ALTER TABLE measure ATTACH PARTITION nothing DEFAULT"), qr/relation "nothing" does not exist/, 'no such partition');
	like(tried($db, "ALTER TABLE measure ATTACH PARTITION m5 DEFAULT"), qr/"m5" is already a partition/, 'nor twice');
}

# a parent's new primary key, beside partitions that have theirs, of either method
for my $mode (qw(indexes constraints all))
{
	my $said = tried('old', <<"END");
SET surfidx.in_place_of_btree = '$mode';
SET surfidx.unique_notice = off;
CREATE TABLE mix (k int NOT NULL, v int) PARTITION BY RANGE (k);
CREATE TABLE mix1 PARTITION OF mix FOR VALUES FROM (0) TO (10);
CREATE TABLE mix2 PARTITION OF mix FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (k);
CREATE TABLE mix3 PARTITION OF mix2 FOR VALUES FROM (10) TO (20);
CREATE UNIQUE INDEX mix1_i ON mix1 USING surfidx (k);
ALTER TABLE mix1 ADD CONSTRAINT mix1_key PRIMARY KEY USING INDEX mix1_i;
CREATE TABLE mix_to (k int REFERENCES mix1);
SET surfidx.in_place_of_btree = 'off';
ALTER TABLE mix3 ADD CONSTRAINT mix3_key PRIMARY KEY (k);
SET surfidx.in_place_of_btree = '$mode';
ALTER TABLE mix ADD PRIMARY KEY (k);
END
	like($said, qr/^done.*"mix1_key" is built again as btree, as that of table "mix" is/s,
		"a parent gets a primary key ($mode)");
	is($node->safe_psql('old', "SELECT string_agg(conname || ' ' || amname, ', ' ORDER BY conname) "
			. "FROM pg_constraint c JOIN pg_class i ON i.oid = conindid JOIN pg_am a ON a.oid = relam "
			. "WHERE conname ~ '^mix' AND contype = 'p'"),
		'mix1_key btree, mix2_pkey btree, mix3_key btree, mix_pkey btree',
		'... and partitions have one each');
	like(tried('old', 'INSERT INTO mix_to VALUES (1)'), qr/violates foreign key/,
		'... that is referred to');
	$node->safe_psql('old', 'DROP TABLE mix, mix_to');
}

# ---- what prepared statements, and the scripts of extensions, make ----

my $pgbench = $node->basedir . '/ddl.sql';
append_to_file($pgbench, "CREATE TABLE pq (id int PRIMARY KEY, a int UNIQUE);\nCREATE INDEX pi ON pq (a);\nALTER TABLE pq ADD UNIQUE (a, id);\nDROP TABLE pq;\n");
$node->command_ok([ 'pgbench', '-n', '-M', 'prepared', '-t', 5, '-f', $pgbench, $node->connstr('new') ], 'prepared statements');

SKIP:
{
	# since 18 an extension's files may be anywhere
	skip 'before 18', 1 if $version < 18;
	my $share = $node->basedir . '/share';

	mkdir $_ or die for $share, "$share/extension";
	append_to_file("$share/extension/authors.control", "default_version = '1'\n");
	append_to_file("$share/extension/authors--1.sql",
		'CREATE TABLE authors (id int PRIMARY KEY, a int); CREATE INDEX authors_a ON authors (a)');
	is($node->safe_psql('new', <<"END"), 'btree', "an extension's script makes what its author says");
SET extension_control_path = '\$system:$share';
CREATE EXTENSION authors;
SELECT DISTINCT amname FROM pg_index JOIN pg_class c ON c.oid = indexrelid
	JOIN pg_am a ON a.oid = relam WHERE indrelid = 'authors'::regclass;
DROP EXTENSION authors;
END
}

# ---- without the library ----

$node->safe_psql('new', 'SELECT surfidx_merge(i.oid) FROM pg_class i JOIN pg_am a ON a.oid = relam WHERE amname = \'surfidx\' AND relkind = \'i\'');
$node->stop;
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->start;
is(tried('new', 'CREATE TABLE late (id int PRIMARY KEY, a int); CREATE INDEX late_a ON late (a)'), 'done', 'a server without the library makes btrees');
like($node->safe_psql('new', $indexes), qr/^btree CREATE INDEX late_a .*^btree CREATE UNIQUE INDEX late_pkey/ms, '... of both kinds');
$node->stop;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'surfidx'");
$node->start;

done_testing();
