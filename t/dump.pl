# pg_dump and restore: what a dump contains of surfidx indexes, in plain format and from a directory by two jobs, makes the same indexes again.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('dump', "allow_in_place_tablespaces = on\n");
$node->start;
$node->safe_psql('postgres', "CREATE TABLESPACE ts LOCATION ''; ");
$node->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'") for qw(source plain dir jobs parts);
$node->safe_psql('source', <<'END');
CREATE SCHEMA ext;
CREATE EXTENSION surfidx SCHEMA ext;
CREATE SCHEMA "Odd ""name";
SET search_path = public, ext;
SET surfidx.unique_notice = off;
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
-- a class of the user's, in a family of its own
CREATE OPERATOR CLASS numeric_raw FOR TYPE numeric USING surfidx AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 numeric_cmp(numeric, numeric), FUNCTION 2 numeric_sortsupport(internal);
COMMENT ON OPERATOR CLASS numeric_raw USING surfidx IS 'numbers as they stand';
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');

CREATE TABLE t (id int NOT NULL, n numeric, s text, c text COLLATE "C", m mood, r int4range, d date, v varchar(20), a int[]);
CREATE UNIQUE INDEX t_id ON t USING surfidx (id) INCLUDE (n, r);
CREATE UNIQUE INDEX t_nnd ON t USING surfidx (id, a) NULLS NOT DISTINCT;
CREATE INDEX t_opts ON t USING surfidx (n) WITH (delta_size = 128, merge_ratio = 0.25, run_ratio = 0.125, filter = surf, surf_real_bits = 6, surf_hash_bits = 2, hope = 'off', codec = 'for', fillfactor = 70, deduplicate_items = off);
CREATE INDEX t_desc ON t USING surfidx (d DESC NULLS LAST, m, s DESC, n NULLS FIRST);
CREATE INDEX t_class ON t USING surfidx (c text_pattern_ops, v varchar_pattern_ops, n numeric_raw DESC);
CREATE INDEX t_coll ON t USING surfidx (s COLLATE ci, c COLLATE "en-x-icu", v COLLATE "POSIX");
CREATE INDEX t_expr ON t USING surfidx (lower(s), (id % 10), (coalesce(n, 0)) DESC) WHERE id > 100 AND m <> 'sad';
ALTER INDEX t_expr ALTER COLUMN 1 SET STATISTICS 77;
CREATE INDEX t_ts ON t USING surfidx (r, a) TABLESPACE ts;
CREATE INDEX t_hope ON t USING surfidx (c) WITH (hope = alm_improved);
ALTER TABLE t CLUSTER ON t_id;
ALTER TABLE t REPLICA IDENTITY USING INDEX t_id;
ALTER TABLE t ADD CONSTRAINT t_excl EXCLUDE USING surfidx (c WITH =, id WITH =) INCLUDE (n) WITH (delta_size = 64) WHERE (id > 5) DEFERRABLE INITIALLY DEFERRED;
COMMENT ON INDEX t_opts IS 'all the parameters';
COMMENT ON CONSTRAINT t_excl ON t IS 'a constraint';
INSERT INTO t SELECT i, CASE i % 3 WHEN 0 THEN NULL ELSE i::numeric / 10 END, 'S' || i % 500, 'c' || i * 7919 % 3001,
	(ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood, int4range(i, i + 5), date '2026-01-01' + i % 400, 'v' || i, ARRAY[i, NULL]
	FROM generate_series(1, 3000) i;

CREATE TABLE "Odd ""name"."Ta ble" ("C ol" text COLLATE "C", k int);
CREATE INDEX "In ""dex" ON "Odd ""name"."Ta ble" USING surfidx ("C ol", k DESC);
COMMENT ON INDEX "Odd ""name"."In ""dex" IS 'it''s odd';
INSERT INTO "Odd ""name"."Ta ble" SELECT 'x' || i, i FROM generate_series(1, 500) i;

CREATE TABLE p (k int, s text COLLATE "C") PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (2000);
CREATE INDEX p_ks ON p USING surfidx (k, s) WITH (delta_size = 256);
CREATE INDEX p_only ON ONLY p USING surfidx (s);
CREATE INDEX p1_own ON p1 USING surfidx (s);
ALTER INDEX p_only ATTACH PARTITION p1_own;
COMMENT ON INDEX p_ks IS 'of all partitions';
INSERT INTO p SELECT i, 'p' || i FROM generate_series(0, 1999) i;

CREATE MATERIALIZED VIEW mv AS SELECT k % 10 AS k, count(*) AS n FROM p GROUP BY 1;
CREATE INDEX mv_n ON mv USING surfidx (n, k);
CREATE UNLOGGED TABLE u (k float8);
CREATE INDEX u_k ON u USING surfidx (k);
INSERT INTO u SELECT i / 10.0 FROM generate_series(1, 500) i;
CREATE TABLE kid (extra int) INHERITS (t);
CREATE INDEX kid_extra ON kid USING surfidx (extra, id);
END
# with entries in trees, in deltas, and dead ones
$node->safe_psql('source', q(SET search_path = public, ext; SELECT surfidx_merge('t_desc'), surfidx_merge('t_excl'), surfidx_merge('p1_k_s_idx');
UPDATE t SET n = n + 1 WHERE id % 11 = 0; DELETE FROM t WHERE id % 13 = 0));

# All that the catalogs say of the indexes.
my $catalog = q(SELECT c.oid::regclass, pg_get_indexdef(c.oid), c.reloptions, obj_description(c.oid, 'pg_class'), spcname, indisunique, indisclustered, indisreplident, indisvalid, c.relkind, c.relpersistence,
	pg_get_constraintdef(k.oid), k.conname, k.condeferrable, k.condeferred, obj_description(k.oid, 'pg_constraint'),
	(SELECT array_agg(nullif(attstattarget, -1) ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid),
	(SELECT array_agg(opcname ORDER BY n) FROM unnest(indclass) WITH ORDINALITY u (o, n) JOIN pg_opclass ON pg_opclass.oid = o),
	(SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = c.oid)
FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam AND amname = 'surfidx' LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace LEFT JOIN pg_constraint k ON conindid = c.oid
ORDER BY c.oid::regclass::text COLLATE "C");
# The indexes against their tables, and against what the source answers.
my $check = q(SELECT count(*) FILTER (WHERE problem IS NULL), array_agg(problem) FILTER (WHERE problem IS NOT NULL) FROM ext.surfidx_check_all(true, true));
my $answers = q(SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
SELECT md5(string_agg(id || coalesce(n::text, '-'), ',')) FROM (SELECT id, n FROM t ORDER BY id) q;
SELECT md5(string_agg(concat(d, m, s, n), ',')) FROM (SELECT d, m, s, n FROM t WHERE d > '2026-06-01' ORDER BY d DESC NULLS LAST, m, s DESC, n NULLS FIRST) q;
SELECT md5(string_agg(concat(k, s), ',')) FROM (SELECT k, s FROM p WHERE k BETWEEN 900 AND 1100 ORDER BY k, s) q;
SELECT count(*) FROM t WHERE s = 's77' COLLATE ci;
SELECT count(*) FROM t WHERE c LIKE 'c12%');

my $want = $node->safe_psql('source', $catalog);
my $indexes = () = $want =~ /\n/g;
is($indexes + 1, 19, 'indexes to dump') or diag($want);
my $answer = $node->safe_psql('source', $answers);
my $entries = $node->safe_psql('source', $check);
like($entries, qr/^\d+\|$/, 'the source is sound');
my $dir = PostgreSQL::Test::Utils::tempdir;

# A dump's text, without what differs each time.
sub dump_text
{
	my ($db) = @_;

	$node->command_ok([ 'pg_dump', '-f', "$dir/$db.sql", '-d', $node->connstr($db) ], "pg_dump of $db");
	return slurp_file("$dir/$db.sql") =~ s/^\\(un)?restrict .*$//mgr;
}

sub is_restored
{
	my ($db) = @_;

	is($node->safe_psql($db, $catalog), $want, "$db: the same definitions");
	is($node->safe_psql($db, $check), $entries, "$db: surfidx_check of all");
	is($node->safe_psql($db, $answers), $answer, "$db: the same answers");
	return;
}

my $text = dump_text('source');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/source.sql", '-d', $node->connstr('plain') ], 'restored by psql');
is_restored('plain');
is(dump_text('plain'), $text, 'a dump of what was restored is the same');

$node->command_ok([ 'pg_dump', '-Fd', '-j', '2', '-f', "$dir/d", '-d', $node->connstr('source') ], 'pg_dump into a directory by two jobs');
$node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr('dir'), "$dir/d" ], 'pg_restore');
is_restored('dir');
$node->command_ok([ 'pg_restore', '-e', '-j', '2', '-d', $node->connstr('jobs'), "$dir/d" ], 'pg_restore by two jobs');
is_restored('jobs');
is(dump_text('jobs'), $text, 'a dump of what two jobs restored is the same');

# The definitions first, then the rows through the indexes; and a second time over what is there.
$node->command_ok([ 'pg_restore', '-e', '-s', '-d', $node->connstr('parts'), "$dir/d" ], 'schema only');
$node->command_ok([ 'pg_restore', '-e', '-a', '-j', '2', '--disable-triggers', '-d', $node->connstr('parts'), "$dir/d" ], 'data only, into the indexes');
$node->safe_psql('parts', 'REFRESH MATERIALIZED VIEW mv');
is_restored('parts');
$node->command_ok([ 'pg_restore', '-e', '--clean', '--if-exists', '-d', $node->connstr('parts'), "$dir/d" ], 'restored over what is there');
is_restored('parts');

# A dump reads tables only: it works without the library, and in another database it can be restored once the library is there.
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
$node->command_ok([ 'pg_dump', '-f', "$dir/without.sql", '-d', $node->connstr('source') ], 'pg_dump without the library');
is(slurp_file("$dir/without.sql") =~ s/^\\(un)?restrict .*$//mgr, $text, 'the same dump');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing bad in the log');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'surfidx'");
$node->restart;
$node->stop('fast');
done_testing();
