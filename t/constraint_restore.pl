# Constraints WITH (access_method = surfidx) come back from a dump as they were; and on each version
# foreign keys, partitioned tables and logical replication take them, or refuse them clearly.
use strict;
use warnings;

use SurfidxTest;
use Test::More;

my $node = new_node('cmethod', <<'END', allows_streaming => 'logical');
surfidx.auto_merge = off
surfidx.unique_notice = off
END
$node->start;
my $version = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
my $with = 'WITH (access_method = surfidx)';

sub refused
{
	my ($db, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($db, $sql);

	return $rc ? $err : 'done';
}

# ---- dump and restore ----

my $methods = <<'END';
	SELECT string_agg(format('%s %s %s %s %s', conrelid::regclass, conname, amname, pg_get_constraintdef(c.oid), reloptions), E'\n' ORDER BY conname)
	FROM pg_constraint c JOIN pg_class i ON i.oid = conindid JOIN pg_am ON pg_am.oid = relam WHERE contype IN ('p', 'u')
END

$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(one two);
$node->safe_psql('one', <<"END");
CREATE EXTENSION surfidx;
CREATE TABLE a (id int8 PRIMARY KEY $with, e text COLLATE "C" UNIQUE $with, f int, d int UNIQUE);
ALTER TABLE a ADD CONSTRAINT late UNIQUE (f) INCLUDE (d) WITH (delta_size = 128, access_method = surfidx) DEFERRABLE INITIALLY DEFERRED;
CREATE TABLE b (LIKE a INCLUDING ALL);
CREATE TABLE c (id int, x int);
CREATE UNIQUE INDEX c_i ON c USING surfidx (id);
ALTER TABLE c ADD PRIMARY KEY USING INDEX c_i;
CREATE TABLE fk (id int8 CONSTRAINT to_a REFERENCES a ON DELETE CASCADE,
	x int REFERENCES c DEFERRABLE);
INSERT INTO a SELECT g, 'e' || g, g, g FROM generate_series(1, 5000) g;
ALTER TABLE a ALTER f TYPE int8;
INSERT INTO fk SELECT g FROM generate_series(1, 5000, 7) g;
END
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('one') ], 'pg_dump');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('two') ], 'restore');
my $want = $node->safe_psql('one', $methods);
like($want, qr/a_pkey surfidx .*access_method=surfidx/, 'there are methods');
is($node->safe_psql('two', $methods), $want, 'the same constraints with the same methods');
is($node->safe_psql('two', "SELECT surfidx_check(i::regclass, true, true), id FROM a, unnest('{a_pkey,a_e_key,late}'::text[]) i WHERE id = 77"),
	"|77\n|77\n|77", 'whose indexes are sound');
like(refused('two', "INSERT INTO a VALUES (77, 'x', 9999, 9999)"), qr/duplicate key value violates unique constraint "a_pkey"/, 'and unique');

my $referring = <<'END';
	SELECT string_agg(format('%s %s %s %s', conname, pg_get_constraintdef(oid), conindid::regclass,
		conpfeqop::oid[]::regoperator[]), E'\n' ORDER BY conname)
	FROM pg_constraint WHERE contype = 'f'
END
is($node->safe_psql('two', $referring), $node->safe_psql('one', $referring),
	'foreign keys come back, too');
like(refused('two', "INSERT INTO fk VALUES (5001)"),
	qr/violates foreign key constraint "to_a"/, '... and hold');

# ---- where the extension is not ----

$node->safe_psql('postgres', 'CREATE DATABASE bare');
like(refused('bare', "CREATE TABLE z (k int PRIMARY KEY $with)"),
	qr/invalid value for parameter "access_method": "surfidx"\nHINT: .*CREATE EXTENSION surfidx/, 'a database without the extension');

# ---- foreign keys, partitions ----

$node->safe_psql('one', "CREATE TABLE ref (k int PRIMARY KEY $with); INSERT INTO ref SELECT generate_series(1, 100)");
my $foreign = refused('one', 'CREATE TABLE child (k int CONSTRAINT child_fk REFERENCES ref)');
my $partitioned = refused('one', "CREATE TABLE p (k int PRIMARY KEY $with, v int) PARTITION BY RANGE (k)");

is($foreign, 'done', 'a foreign key refers to it');
like(refused('one', 'INSERT INTO child VALUES (101)'), qr/violates foreign key/, 'which holds');
# what ALTER COLUMN TYPE has to take down with it
$node->safe_psql('one', "COMMENT ON CONSTRAINT child_fk ON child IS 'kept'; ALTER TABLE ref ADD up int REFERENCES ref DEFERRABLE INITIALLY DEFERRED;
	ALTER TABLE ref ADD CONSTRAINT pair UNIQUE (k, up) $with;
	CREATE TABLE lately (k int, up int, FOREIGN KEY (k, up) REFERENCES ref (k, up) MATCH FULL ON UPDATE CASCADE ON DELETE SET NULL NOT VALID);
	CREATE TABLE parts (k int REFERENCES ref ON DELETE CASCADE) PARTITION BY RANGE (k); CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
	INSERT INTO child SELECT generate_series(1, 100); INSERT INTO parts SELECT generate_series(1, 100); UPDATE ref SET up = 101 - k");
my $foreign_keys = "SELECT string_agg(format('%s %s %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated, obj_description(oid, 'pg_constraint')), E'\n' ORDER BY conrelid::regclass::text, conname)
	FROM pg_constraint WHERE contype = 'f' AND confrelid = 'ref'::regclass";
my $before = $node->safe_psql('one', $foreign_keys);
like($before, qr/^child child_fk .* t kept$/m, 'foreign keys refer to a table');
is(refused('one', 'ALTER TABLE ref ALTER k TYPE int8, ALTER up TYPE int8'), 'done', 'with foreign keys the type changes');
is($node->safe_psql('one', $foreign_keys), $before, '... and they come back as they were');
is($node->safe_psql('one', "SELECT string_agg(amname, ' ') FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname IN ('ref_pkey', 'pair')"), 'surfidx surfidx', '... on the same methods');
like(refused('one', 'INSERT INTO parts VALUES (101)'), qr/violates foreign key/, '... which hold');
like(refused('one', 'INSERT INTO lately VALUES (1, 1)'), qr/violates foreign key/, '... also for those that were not valid');
is($node->safe_psql('one', 'BEGIN; DELETE FROM child WHERE k = 7; UPDATE ref SET up = NULL WHERE up = 7; DELETE FROM ref WHERE k = 7; SELECT count(*) FROM parts WHERE k = 7; ROLLBACK'), '0', '... and do what they do');
like(refused('one', "ALTER TABLE ref ALTER k TYPE text"), qr/foreign key constraint "\w+" cannot be implemented/, 'a type that they cannot refer to is an error');
like(refused('one', 'ALTER TABLE ref ALTER k TYPE int4, DROP COLUMN up'), qr/because a foreign key refers to it.*does more with constraints or columns.*HINT/s, 'what may concern one itself is refused');
like(refused('one', 'BEGIN; SET CONSTRAINTS ALL DEFERRED; UPDATE ref SET up = 5 WHERE k = 6; ALTER TABLE ref ALTER k TYPE int4; COMMIT'), qr/has pending trigger events/, 'checks that wait are an error');
is(refused('one', "CREATE FUNCTION ev() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM count(*) FROM pg_event_trigger_ddl_commands(); END'; CREATE EVENT TRIGGER ev ON ddl_command_end EXECUTE FUNCTION ev();
	ALTER TABLE ref ALTER k TYPE int4; DROP EVENT TRIGGER ev"), 'done', 'beside an event trigger');
$node->safe_psql('one', 'CREATE ROLE owner; GRANT ALL ON SCHEMA public TO owner; ALTER TABLE ref OWNER TO owner');
like(refused('one', 'SET ROLE owner; ALTER TABLE ref ALTER k TYPE int8'), qr/because a foreign key refers to it.*somebody else's/s, "somebody else's is refused");
is($node->safe_psql('one', $foreign_keys), $before, '... and stays');
$node->safe_psql('one', 'DROP TABLE lately, parts; ALTER TABLE ref DROP COLUMN up; ALTER TABLE ref OWNER TO postgres; DROP OWNED BY owner; DROP ROLE owner');

SKIP:
{
	if ($version < 18)
	{
		like($partitioned, qr/cannot match partition key .*"p" here.*HINT: .*on each of its parti/s,
			'partitioned tables have none, and are told so');
		skip 'before 18', 3;
	}
	is($partitioned, 'done', 'a partitioned table has one');
	$node->safe_psql('one', 'CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200);
		INSERT INTO p SELECT g, g FROM generate_series(0, 199) g; ALTER TABLE p ADD UNIQUE (k, v) WITH (access_method = surfidx); ALTER TABLE p ALTER v TYPE int8');
	is($node->safe_psql('one', "SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname ~ '^p[12]?_' AND amname = 'surfidx' AND reloptions = '{access_method=surfidx}'"),
		6, 'partitions have it');
	like(refused('one', 'INSERT INTO p VALUES (150, 150)'), qr/duplicate key value/, 'and hold it');
	is(refused('one', 'INSERT INTO p VALUES (150, 150) ON CONFLICT (k) DO NOTHING'), 'done', 'ON CONFLICT finds it');
}

# ---- what logical replication knows rows by ----

$node->safe_psql('postgres', 'CREATE DATABASE sub');
$node->safe_psql($_, "CREATE TABLE l (k int8 PRIMARY KEY $with, v int)") for 'one';
$node->safe_psql('sub', "CREATE EXTENSION surfidx; CREATE TABLE l (k int8 PRIMARY KEY $with, v int)");
$node->safe_psql('one', "CREATE PUBLICATION pub FOR TABLE l; SELECT pg_create_logical_replication_slot('s', 'pgoutput')");
$node->safe_psql('sub', "CREATE SUBSCRIPTION s CONNECTION 'port=" . $node->port . ' host=' . $node->host
	  . " dbname=one' PUBLICATION pub WITH (create_slot = false, slot_name = 's', copy_data = false)");
$node->safe_psql('one', 'INSERT INTO l SELECT g, 0 FROM generate_series(1, 1000) g; UPDATE l SET v = k WHERE k % 3 = 0; DELETE FROM l WHERE k % 5 = 0');
if ($version == 17)
{
	$node->wait_for_log(qr/missing operator/);
	pass('17 cannot search by it (docs/unique.md)');
}
else
{
	my $sums = 'SELECT count(*), sum(k), sum(v) FROM l';

	ok($node->poll_query_until('sub', $sums, $node->safe_psql('one', $sums)), 'a subscriber finds rows by it');
}
$node->safe_psql('sub', 'ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s');
$node->stop('fast');

done_testing();
