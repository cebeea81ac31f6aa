# surfidx_convert() by its worker (rule Q6): a schema and back, with equal dumps; writers beside
# it; callers that wait, fail, are cancelled or lack rights.  Crashes: convert_crash.pl; what is
# printed and refused: sql/convert.sql.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SurfidxTest;
use Test::More;

my $node = new_node('convert', <<'END');
surfidx.auto_merge = off
log_statement = none
max_prepared_transactions = 2
END
$node->start;
my $version = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
$node->safe_psql('postgres', 'CREATE DATABASE work');
my $work = "SELECT FROM pg_stat_activity WHERE backend_type = 'surfidx conversion'";

sub ask_work { return $node->safe_psql('work', $_[0]) }

sub tried
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('work', $sql);

	return $rc ? $err : 'done';
}

sub idle { return $node->poll_query_until('work', "SELECT NOT EXISTS ($work)") }

# Hands it to the worker, and waits until nothing remains to be done.
sub converted
{
	my ($what) = @_;

	ask_work("SELECT count(*) FROM surfidx_convert($what, dry_run => false)");
	return $node->poll_query_until('work', "SELECT count(statement) = 0 FROM surfidx_convert($what)")
		&& idle();
}

sub methods
{
	my ($where) = @_;

	return ask_work(<<"END");
SELECT string_agg(DISTINCT amname, ' ' ORDER BY amname) FROM pg_class i JOIN pg_am a ON a.oid =
	relam JOIN pg_index ON indexrelid = i.oid
WHERE relnamespace = 'public'::regnamespace AND $where
END
}

# What a dump says, but for methods and what comes with them.
sub dumped
{
	my ($db) = @_;
	my $file = $node->basedir . "/$db.sql";

	$node->command_ok([ 'pg_dump', '-f', $file, $node->connstr($db) ], "dump of $db");
	my $dump = slurp_file($file);
	(my $plain = $dump) =~ s/^\\(un)?restrict .*\n//mg;
	$plain =~ s/USING surfidx/USING btree/g;
	$plain =~ s/ WITH \((access_method='?surfidx'?|fillfactor='70')\)//g;
	$plain =~ s/public\.(\w+_ops)/$1/g;
	return ($plain, $dump);
}

# ---- a schema, and back ----

$node->safe_psql('work', <<'END');
CREATE EXTENSION surfidx;
CREATE EXTENSION amcheck;
CREATE TABLE customer (id bigint PRIMARY KEY, email text UNIQUE, code text COLLATE "C", tags
	text[], n name);
CREATE INDEX customer_code ON customer (code text_pattern_ops) INCLUDE (email) WHERE code IS NOT
	NULL AND length(code) > 1;
CREATE INDEX customer_lower ON customer (lower(email), id DESC) WITH (fillfactor = 70);
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE elsewhere LOCATION '';
CREATE INDEX customer_tags ON customer (tags) TABLESPACE elsewhere;
CREATE INDEX customer_n ON customer (n);
CREATE INDEX customer_hash ON customer USING hash (id);
ALTER INDEX customer_lower ALTER COLUMN 1 SET STATISTICS 77;
ALTER TABLE customer ADD UNIQUE NULLS NOT DISTINCT (code, email) DEFERRABLE INITIALLY DEFERRED;
COMMENT ON INDEX customer_lower IS 'in small letters';
COMMENT ON CONSTRAINT customer_pkey ON customer IS 'the key';
ALTER TABLE customer CLUSTER ON customer_email_key, REPLICA IDENTITY USING INDEX customer_pkey;
CREATE VIEW by_key AS SELECT id, email, code FROM customer GROUP BY id;
CREATE TABLE purchase (id int PRIMARY KEY, customer bigint CONSTRAINT purchase_fk REFERENCES
	customer ON DELETE CASCADE, CONSTRAINT purchase_x EXCLUDE USING btree (customer WITH =, id WITH
	=));
CREATE INDEX purchase_customer ON purchase (customer);
CREATE TABLE measure (sensor int, at timestamptz, v float8, PRIMARY KEY (sensor, at)) PARTITION BY
	RANGE (at);
CREATE TABLE m1 PARTITION OF measure FOR VALUES FROM ('2026-01-01') TO ('2026-07-01');
CREATE TABLE m2 PARTITION OF measure FOR VALUES FROM ('2026-07-01') TO ('2027-01-01') PARTITION BY
	LIST (sensor);
CREATE TABLE m2a PARTITION OF m2 DEFAULT;
CREATE INDEX measure_v ON measure (v);
CREATE TABLE alarm (sensor int, at timestamptz, CONSTRAINT alarm_fk FOREIGN KEY (sensor, at)
	REFERENCES measure ON DELETE CASCADE);
CREATE UNLOGGED TABLE cache (k int PRIMARY KEY);
CREATE MATERIALIZED VIEW latest AS SELECT sensor, max(at) AS at FROM measure GROUP BY sensor;
CREATE UNIQUE INDEX latest_sensor ON latest (sensor);
CREATE PUBLICATION pub FOR TABLE customer;
INSERT INTO customer SELECT g, 'e' || g, 'c' || g, ARRAY['t' || g], 'n' || g FROM
	generate_series(1, 3000) g;
INSERT INTO purchase SELECT g, g % 3000 + 1 FROM generate_series(1, 5000) g;
INSERT INTO measure SELECT g, '2026-01-01'::timestamptz + g * interval '1 hour', g FROM
	generate_series(1, 8000) g;
INSERT INTO alarm SELECT sensor, at FROM measure WHERE sensor % 100 = 0;
REFRESH MATERIALIZED VIEW latest;
END
my ($before) = dumped('work');
ok(converted("schema => 'public'"), 'a schema is converted');
my ($after, $dump) = dumped('work');
is($after, $before, 'a dump says the same but for the methods');
is(methods("indrelid = 'customer'::regclass AND relname <> 'customer_hash'"), 'surfidx',
	'... of which a table is');
is(methods("indrelid::regclass::text ~ '^(measure|m[12]a?)\$' AND NOT indisprimary"), 'surfidx',
	'... and a partitioned one');
is(methods("indrelid::regclass::text ~ '^(measure|m[12]a?)\$' AND indisprimary"), $version < 18
	? 'btree' : 'surfidx', '... whose key');
is(ask_work("SELECT string_agg(indexrelname, ' ' ORDER BY indexrelname) FROM "
	. "surfidx_convert(schema => 'public')"),
	$version < 18 ? 'latest_sensor measure_pkey purchase_x' : 'purchase_x',
		'what stays is told');
is(tried('DELETE FROM customer WHERE id = 7; DELETE FROM measure WHERE sensor = 100; SELECT * '
	. 'FROM by_key WHERE id = 8'), 'done', 'foreign keys cascade, the view works');
is(ask_work('SELECT (SELECT count(*) FROM purchase WHERE customer = 7), (SELECT count(*) FROM '
	. 'alarm WHERE sensor = 100)'), '0|0', '... to what refers');
like(tried("INSERT INTO purchase VALUES (9999, 9999)"), qr/purchase_fk/, 'a foreign key holds');
like(tried("INSERT INTO customer VALUES (8, 'x')"), qr/customer_pkey/, 'a primary key holds');
is(tried("BEGIN; UPDATE customer SET (code, email) = ('c9', 'e9') WHERE id = 8; UPDATE customer "
	. "SET email = 'e0' WHERE id = 9; COMMIT") =~ s/\n.*//sr,
	'psql:<stdin>:1: ERROR:  duplicate key value violates unique constraint "customer_email_key"',
		'a constraint that is not deferrable does not defer');
$node->safe_psql('postgres', 'CREATE DATABASE again');
(my $restore = $node->basedir . '/restore.sql');
append_to_file($restore, (dumped('work'))[1]);
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $restore,
	$node->connstr('again') ], 'it is restored');
is((dumped('again'))[1] =~ s/^\\(un)?restrict .*\n//mgr,
	(dumped('work'))[1] =~ s/^\\(un)?restrict .*\n//mgr, '... as it was dumped');
($before) = dumped('work');
ok(converted("schema => 'public', method => 'btree'"), 'and back');
is((dumped('work'))[0], $before, 'a dump says the same again');
is(methods('true'), 'btree hash', 'nothing is left');
is(tried('BEGIN; DROP EXTENSION surfidx; ROLLBACK'), 'done', 'the extension can be dropped');

# ---- beside writers ----

$node->safe_psql('work', <<'END');
CREATE TABLE acc (id int PRIMARY KEY, k int, s text COLLATE "C", n int);
CREATE INDEX acc_s ON acc (s);
ALTER TABLE acc ADD CONSTRAINT acc_k UNIQUE (k) DEFERRABLE INITIALLY DEFERRED;
CREATE TABLE parts (id int, k int) PARTITION BY RANGE (k);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (500);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (500) TO (1000);
CREATE INDEX parts_k ON parts (k, id);
CREATE TABLE twice (id int);
END
my $script = $node->basedir . '/writers.sql';
append_to_file($script, <<'END');
\set me :client_id * 1000
\set i :me + random(1, 300)
\set j :me + random(1, 300)
\set d :me + random(1, 300)
\set k random(0, 999)
INSERT INTO acc VALUES (:i, :i, md5(:i::text), 1) ON CONFLICT (id) DO UPDATE SET n = acc.n + 1;
UPDATE acc SET s = md5(n::text) WHERE id = :j;
DELETE FROM acc WHERE id = :d;
BEGIN;
UPDATE acc SET k = k + 1 WHERE id BETWEEN :me AND :me + 50;
UPDATE acc SET k = k - 1 WHERE id BETWEEN :me AND :me + 50;
COMMIT;
INSERT INTO parts VALUES (:i, :k);
UPDATE parts SET k = (k + 1) % 1000 WHERE k = :k;
INSERT INTO twice SELECT id FROM acc WHERE id = :j GROUP BY id HAVING count(*) > 1;
END
my $log = $node->basedir . '/writers.log';
my $writers = IPC::Run::start([ 'pgbench', '-n', '-c', '3', '-T', '600', '-f', $script,
	$node->connstr('work') ], '<', '/dev/null', '>', $log, '2>&1');
ok($node->poll_query_until('work', 'SELECT count(*) > 50 FROM acc'), 'writers write');
foreach my $method (qw(surfidx btree surfidx))
{
	ok(converted("schema => 'public', method => '$method'"), "beside writers: to $method");
	is(methods("indrelid::regclass::text IN ('acc', 'parts', 'parts1', 'parts2')"), $method,
		'... all of it');
}
$writers->kill_kill(grace => 0);
unlike(slurp_file($log), qr/error|aborted/i, 'no writer met an error');
is(ask_work(<<'END'), '0|0|0', 'indexes and tables agree');
SELECT (SELECT count(*) FROM twice),
	(SELECT count(*) FROM (SELECT id FROM acc GROUP BY id HAVING count(*) > 1 UNION ALL SELECT k FROM
		acc GROUP BY k HAVING count(*) > 1) x),
	(SELECT count(surfidx_check(indexrelid, true, true)) FILTER (WHERE NOT indisvalid) FROM pg_index
		JOIN pg_class i ON i.oid = indexrelid JOIN pg_am a ON a.oid = relam
		WHERE amname = 'surfidx' AND relkind = 'i')
END
ok(converted("schema => 'public', method => 'btree'"), '... and back');
is(tried('SELECT bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class i ON i.oid = '
	. 'indexrelid WHERE indrelid::regclass::text ~ $$^(acc|parts)$$ AND relkind = $$i$$ AND relam '
	. '= 403'),
	'done', 'btrees that came of it are sound');

# ---- while it waits ----

$node->safe_psql('work', <<'END');
CREATE TABLE d (id int PRIMARY KEY, k int, CONSTRAINT d_k UNIQUE (k) DEFERRABLE);
INSERT INTO d SELECT g, g FROM generate_series(1, 100) g;
END
my $twin = "SELECT count(*) = 1 FROM pg_index WHERE indrelid = 'd'::regclass AND indisready AND "
	. "NOT indisvalid AND NOT indimmediate";

sub blocked
{
	my $session = open_session($node);

	ask($session, '\c work');
	ask($session, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	return $session;
}
ok(converted("'d'"), 'a table is converted');
ok(converted("'d', method => 'btree'"), '... and back');
$node->safe_psql('work', 'ALTER TABLE d DROP CONSTRAINT d_pkey');
my $session = blocked();
ask_work("SELECT count(*) FROM surfidx_convert('d', dry_run => false)");
ok($node->poll_query_until('work', $twin), 'a twin waits for an old snapshot');
is(tried('UPDATE d SET k = k + 1'), 'done', '... and checks no sooner than its constraint');
ask_work("SELECT count(*) FROM surfidx_convert('d', dry_run => false)");
ok($node->poll_query_until('work', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = "
	. "'surfidx conversion' AND query ~ '^waiting for another' AND backend_xmin IS NULL"),
	'a second one waits in turn, and keeps nobody waiting');
like(tried("SELECT surfidx_convert('d', dry_run => false) FROM generate_series(1, 3)"),
	qr/3 conversions go on or wait in turn already.*HINT/s, 'there may be three, of eight workers');
ok($node->poll_query_until('work', "SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = "
	. "'surfidx conversion'"), '... and those of a caller that fails go');
is(ask_work("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'surfidx conversion' "
	. "AND query ~ 'CREATE UNIQUE INDEX CONCURRENTLY'"), 1, 'its statement is shown');
ask_work("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'surfidx "
	. "conversion'");
ok(idle(), 'it is cancelled');
is(ask_work("SELECT count(*) FROM pg_index WHERE indrelid = 'd'::regclass"), 1,
	'... and leaves nothing');
ask_work("SELECT count(*) FROM surfidx_convert('d', dry_run => false)");
ok($node->poll_query_until('work', $twin), 'it waits again');
ask_work("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'surfidx "
	. "conversion'");
ok(idle(), 'it is terminated');
is(ask_work("SELECT count(*) FROM pg_index WHERE indrelid = 'd'::regclass"), 2,
	'... and leaves its twin');
ask($session, 'COMMIT');
ok(converted("'d'"), 'the next one goes on');
is(ask_work("SELECT count(*) FROM pg_index WHERE indrelid = 'd'::regclass"), 1,
	'... and clears up');

# an index of a partitioned table is locked for a moment, and not waited for at length
ask($session, "BEGIN; COMMENT ON INDEX parts_k IS 'mine'");
ask_work("SELECT count(*) FROM surfidx_convert('parts', dry_run => false)");
ok($node->poll_query_until('work',
	"SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'parts_k'::regclass AND NOT granted)"),
	'an exchange waits for a lock');
ok($node->poll_query_until('work',
	"SELECT NOT EXISTS (SELECT FROM pg_locks WHERE relation = 'parts_k'::regclass AND NOT granted)"),
	'... and lets others pass');
ask($session, 'COMMIT');
ok($node->poll_query_until('work', "SELECT count(statement) = 0 FROM surfidx_convert('parts')")
	&& idle(), '... until it gets it');
is(methods("indrelid::regclass::text ~ '^parts'"), 'surfidx', '... for all partitions');

# what the caller has done counts once it has committed
ask($session, "BEGIN; CREATE TABLE fresh (k int PRIMARY KEY); SELECT count(*) FROM "
	. "surfidx_convert('fresh', dry_run => false)");
ask($session, 'COMMIT');
ok($node->poll_query_until('work', "SELECT count(statement) = 0 FROM surfidx_convert('fresh')")
	&& idle(), 'the caller is waited for');
ask($session, "BEGIN; CREATE TABLE never (k int PRIMARY KEY); SELECT count(*) FROM "
	. "surfidx_convert('never', dry_run => false)");
ask($session, 'ROLLBACK');
ok(idle(), '... and what it has rolled back is not there');
ask_work('CREATE TABLE undone (k int PRIMARY KEY)');
my $undone = "SELECT count(*) FROM surfidx_convert('undone', dry_run => false)";

ask($session, "BEGIN; SAVEPOINT a; $undone; ROLLBACK TO a; COMMIT; BEGIN; $undone; ROLLBACK");
ok(idle(), 'a transaction is rolled back, or a part of it');
is(methods("indrelid = 'undone'::regclass"), 'btree', '... and nothing is converted');
end_session($session);

# or once it has prepared that, and another session commits it
ask_work("CREATE TABLE prepared (k int PRIMARY KEY)");
my $prepared = "SELECT count(*) FROM surfidx_convert('prepared', dry_run => false)";
ask_work("BEGIN; CREATE INDEX prepared_i ON prepared (k); $prepared; PREPARE TRANSACTION 'p'");
ok($node->poll_query_until('work', "SELECT count(*) = 1 FROM pg_locks WHERE locktype = "
	. "'transactionid' AND NOT granted"), 'a prepared transaction is waited for');
ask_work("COMMIT PREPARED 'p'");
ok($node->poll_query_until('work', "SELECT count(statement) = 0 FROM surfidx_convert('prepared')")
	&& idle(), '... and its tables are converted when it is committed');
is(methods("indrelid = 'prepared'::regclass"), 'surfidx', '... with what it has made');
ask_work("CREATE TABLE again (k int PRIMARY KEY)");
ask_work("BEGIN; SELECT count(*) FROM surfidx_convert('again', dry_run => false); PREPARE "
	. "TRANSACTION 'p'");
ask_work("ROLLBACK PREPARED 'p'");
ok(idle(), 'it is rolled back');
is(methods("indrelid = 'again'::regclass"), 'btree', '... and nothing is converted');
ask_work('DROP TABLE prepared, again');

# ---- several tables, event triggers that run SQL, settings of the database ----

$node->safe_psql('work', <<'END');
CREATE TABLE many1 (k int PRIMARY KEY);
CREATE TABLE many2 (k int PRIMARY KEY);
CREATE TABLE many3 (k int PRIMARY KEY);
CREATE TABLE noted (what text);
CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.noted VALUES (tg_tag);
END $$;
CREATE EVENT TRIGGER at_end ON ddl_command_end EXECUTE FUNCTION note();
CREATE EVENT TRIGGER at_drop ON sql_drop EXECUTE FUNCTION note();
SELECT count(*) FROM (VALUES ('many1'), ('many2'), ('many3')) v(t), LATERAL
	surfidx_convert(t::regclass, dry_run => false);
END
ok($node->poll_query_until('work', "SELECT count(*) = 3 FROM pg_index JOIN pg_class i ON i.oid = "
	. "indexrelid JOIN pg_am a ON a.oid = relam WHERE indrelid::regclass::text ~ '^many' AND "
	. "amname = 'surfidx' AND (SELECT count(*) FROM pg_index WHERE indrelid::regclass::text ~ '^many') = "
	. "3") && idle(), 'several tables of one query are converted in turn');
is(ask_work('SELECT what, count(*) FROM noted GROUP BY 1 ORDER BY 1'),
	"CREATE INDEX|3\nDROP INDEX|6", '... and event triggers can run SQL');
$node->safe_psql('work', <<'END');
DROP EVENT TRIGGER at_end;
DROP EVENT TRIGGER at_drop;
DROP TABLE many1, many2, many3, noted, undone;
CREATE TABLE exact (k int, at timestamptz, i interval, f float8, a text[]);
CREATE INDEX exact_at ON exact (k) WHERE at > '2026-02-03 04:05:06.789+00';
CREATE INDEX exact_i ON exact (k) WHERE i > '-1 years +2 days -03:04:05';
CREATE INDEX exact_f ON exact (k) WHERE f > '0.1234567890123456789';
CREATE INDEX exact_a ON exact (k) WHERE a <> '{NULL,a}';
END
my %set = (DateStyle => "'SQL, DMY'", TimeZone => "'Asia/Kolkata'", IntervalStyle => 'sql_standard',
	extra_float_digits => -15, array_nulls => 'off');

$node->safe_psql('work', "ALTER DATABASE work SET $_ = $set{$_}") foreach sort keys %set;
ok(converted("'exact'"), 'a database has settings for constants');
$node->safe_psql('work', "ALTER DATABASE work RESET $_") foreach sort keys %set;
is(ask_work("SET TimeZone = 'UTC'; SELECT pg_get_expr(indpred, indrelid) FROM pg_index JOIN "
	. "pg_class i ON i.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE indrelid = "
	. "'exact'::regclass AND amname = 'surfidx' ORDER BY relname"),
	<<'END' =~ s/\n$//r, '... that change none of them');
(a <> '{NULL,a}'::text[])
(at > '2026-02-03 04:05:06.789+00'::timestamp with time zone)
(f > '0.12345678901234568'::double precision)
(i > '-1 years +2 days -03:04:05'::interval)
END
ask_work('DROP TABLE exact');

# ---- what fails ----

$node->safe_psql('work', <<'END');
DROP TABLE d, fresh;
CREATE TABLE l (s int, k int);
CREATE FUNCTION breaks(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF to_regclass('public.broken') IS NOT NULL THEN RAISE 'it is broken'; END IF;
	RETURN $1;
END $$;
CREATE INDEX l_s ON l (breaks(s));
CREATE INDEX l_k ON l (k);
INSERT INTO l VALUES (1, 1);
CREATE TABLE broken ();
END
ask_work("SELECT count(*) FROM surfidx_convert('l', dry_run => false)");
ok($node->poll_query_until('work',
	"SELECT count(*) = 1 FROM pg_class i JOIN pg_am a ON a.oid = relam WHERE relname = 'l_k' AND "
	. "amname = 'surfidx'") && idle(), 'what cannot be built');
is(methods("indrelid = 'l'::regclass"), 'btree surfidx', '... stays, and others are converted');
is(ask_work("SELECT count(*) FROM pg_index WHERE indrelid = 'l'::regclass"), 2,
	'... without a twin');
like(slurp_file($node->logfile), qr/ERROR:  it is broken\n/, '... and the log says why');
ask_work('DROP TABLE broken');

# somebody's index that is called as a twin would be
my $taken = 'surfidx_new_' . ask_work("SELECT 'l_s'::regclass::oid");
ask_work("CREATE TABLE other (k int); CREATE INDEX $taken ON other (k)");
is(ask_work("SELECT remark FROM surfidx_convert('l', dry_run => false)"),
	"stays btree: something else is called \"$taken\": rename that", 'a name that is taken is told');
ok(idle(), '... and nothing begins');
is(ask_work("SELECT count(*) FROM pg_index WHERE indrelid = 'other'::regclass"), 1,
	'... and stays its owner\'s');
ask_work('DROP TABLE other');

# ---- whose rights ----

$node->safe_psql('work', <<'END');
CREATE ROLE owner NOLOGIN;
CREATE ROLE member LOGIN IN ROLE owner;
GRANT CREATE ON SCHEMA public TO owner;
CREATE FUNCTION leak(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('is_superuser') = 'on' OR current_user <> 'owner' THEN RAISE 'as %',
		current_user; END IF;
	RETURN $1;
END $$;
SET ROLE owner;
CREATE TABLE mine (k int);
INSERT INTO mine VALUES (1);
CREATE INDEX mine_k ON mine (leak(k));
RESET ROLE;
CREATE FUNCTION fold(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'owner' THEN RAISE 'folded as %', current_user; END IF;
	RETURN $1;
END $$;
SET ROLE owner;
CREATE TABLE folded (k int);
CREATE INDEX folded_k ON folded ((k + fold(1)));
END
is(ask_work("SELECT statement FROM surfidx_convert('folded') WHERE statement ~ "
	. "'CREATE'") =~ s/\d{2,}/N/r,
	'CREATE INDEX CONCURRENTLY surfidx_new_N ON public.folded USING surfidx (((k + public.fold(1))))',
		'constants are computed as the owner');
is((map { tried($_) } split /\n/, ask_work("SELECT statement FROM surfidx_convert('folded')"))[1],
	'done', '... and when it is exchanged');
ask_work('DROP TABLE folded');
my ($rc, $out, $err) = $node->psql('work',
	"SELECT count(*) FROM surfidx_convert('acc', dry_run => false)", extra_params => [ '-U',
	'member' ]);
like($err, qr/must be owner of table acc/, 'only an owner may convert a table');
$node->safe_psql('work', "SET ROLE owner; SELECT count(*) FROM surfidx_convert(schema => "
	. "'public', dry_run => false)", extra_params => [ '-U', 'member' ]);
ok($node->poll_query_until('work', "SELECT count(statement) = 0 FROM surfidx_convert('mine')")
	&& idle(), 'an owner may, with the rights of its role');
is(methods("indrelid = 'acc'::regclass"), 'btree', '... and what is of others stays');
like(tried("SET SESSION AUTHORIZATION owner; SELECT surfidx_convert('mine', method => 'BTREE', "
	. "dry_run => false)"), qr/role "owner" may not log in.*HINT:  Connect as a role/s,
	'a worker cannot be a role that may not log in');
ask_work('REVOKE CREATE ON SCHEMA public FROM owner, public');
is(ask_work("SET ROLE owner; SELECT remark FROM surfidx_convert('mine', method => 'btree')"),
	'stays surfidx: you may not create in the schema', 'without that right nothing is made');
ask_work('GRANT CREATE ON SCHEMA public TO owner');
$node->safe_psql('work', 'ALTER DATABASE work SET default_transaction_read_only = on; ALTER '
	. 'DATABASE work SET surfidx.in_place_of_btree = $$all$$; ALTER DATABASE work SET search_path '
	. '= nowhere; ALTER DATABASE work SET statement_timeout = 1');
my $how = "SELECT count(*) FROM surfidx_convert('mine', method => 'btree', dry_run => false)";
# what outranks a database's settings from the session's first statement on
my $outranks = '-c role=owner -c statement_timeout=0 -c default_transaction_read_only=off '
	. '-c search_path=public';
my $end = -s $node->logfile;

{
	local $ENV{PGOPTIONS} = $outranks;
	$node->safe_psql('work', $how, extra_params => [ '-U', 'member' ]);
}
ok($node->wait_for_log(qr/was converted: .*mine_k/, $end)
	&& $node->poll_query_until('postgres', "SELECT NOT EXISTS ($work)"), 'a database has settings');
$node->safe_psql('postgres', "ALTER DATABASE work RESET $_")
	foreach qw(default_transaction_read_only surfidx.in_place_of_btree search_path statement_timeout);
is(methods("indrelid = 'mine'::regclass"), 'btree', '... that are not meant for the worker');

ask_work('DROP TABLE mine');

# ---- no place for a worker ----

$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$node->restart;
like(tried("SELECT surfidx_convert('acc', dry_run => false)"), qr/could not start a worker/,
	'where no worker can start an error says so');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing fell');
$node->stop;
done_testing();
