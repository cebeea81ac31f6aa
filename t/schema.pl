# The extension in a schema of its own: its functions find each other, its classes and statements
# are found, whatever the search path is.  In a schema full of other people's objects it takes none
# of them for PostgreSQL's.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SurfidxTest;
use Test::More;

my $node = new_node('schema', "surfidx.unique_notice = off\nautovacuum = off");

$node->start;

# Statements, one session: none may fail.
sub works
{
	my ($db, $what, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($db, $sql, on_error_stop => 1);

	is($err =~ s/^.*?(?:WARNING|NOTICE):.*\n//mgr, '', $what);
	return $out;
}

# ---- a schema of its own, and nobody's search path names it ----

$node->safe_psql('postgres', $_) for 'CREATE DATABASE app',
	q{ALTER DATABASE app SET search_path = ''};
works('app', 'created in a schema', 'CREATE SCHEMA surfidx;
	CREATE EXTENSION surfidx SCHEMA surfidx');
works('app', 'indexes and constraints', <<'END');
CREATE SCHEMA s;
CREATE TABLE s.t (id int, n name, v varchar, p text COLLATE "C", a int[],
	CONSTRAINT t_pkey PRIMARY KEY (id) WITH (access_method = surfidx));
CREATE UNIQUE INDEX ON s.t USING surfidx (p) WITH (hope = fsst);
CREATE INDEX ON s.t USING surfidx (v surfidx.text_pattern_ops);
CREATE INDEX ON s.t USING surfidx (n, a) WHERE id > 0;
CREATE INDEX ON s.t USING surfidx (lower(p));
INSERT INTO s.t SELECT g, 'n' || g, 'v' || g, md5(g::text), ARRAY[g % 7, g] FROM
	generate_series(1, 3000) g;
INSERT INTO s.t VALUES (5) ON CONFLICT (id) DO NOTHING;
ALTER TABLE s.t ALTER id TYPE bigint;
CREATE TABLE s.b (id int PRIMARY KEY, v text UNIQUE DEFERRABLE, w text);
CREATE INDEX b_w ON s.b (w text_pattern_ops) WHERE id > 1;
CREATE TABLE s.ref (id int REFERENCES s.b);
INSERT INTO s.b SELECT g, 'v' || g, 'w' || g FROM generate_series(1, 2000) g;
SET surfidx.in_place_of_btree = 'all';
CREATE INDEX b_in_place ON s.b (w text_pattern_ops DESC, v);
END
is($node->safe_psql('app', q{SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam
	WHERE relname = 'b_in_place'}), 'surfidx', 'in place of btree');
is($node->safe_psql('app', q{SET enable_seqscan = off; SELECT count(*) FROM s.t
	WHERE v LIKE 'v12%'}), '111', 'a pattern is found');
works('app', 'each function', <<'END');
SELECT surfidx.surfidx_merge(indexrelid) FROM surfidx.surfidx_stat_indexes;
SELECT surfidx.surfidx_count('s.t_pkey', 5, 7), surfidx.surfidx_may_contain('s.t_pkey', 5),
	surfidx.surfidx_may_contain_range('s.t_pkey', 5, 6);
SELECT surfidx.surfidx_check(i.indexrelid, true, true), surfidx.surfidx_stats(i.indexrelid),
	surfidx.surfidx_meta(i.indexrelid),
	surfidx.surfidx_filters(i.indexrelid), surfidx.surfidx_page_stats(i.indexrelid, 3)
		FROM surfidx.surfidx_stat_indexes i;
SELECT * FROM surfidx.surfidx_stat_indexes i, surfidx.surfidx_runs(i.indexrelid),
	surfidx.surfidx_dictionaries(i.indexrelid), surfidx.surfidx_page_items(i.indexrelid, 3);
SELECT * FROM surfidx.surfidx_stat_progress_merge, surfidx.surfidx_shared_memory(),
	surfidx.surfidx_page_counts();
SELECT * FROM surfidx.surfidx_estimate('s.b_pkey');
SELECT * FROM surfidx.surfidx_mirror_btree();
SELECT * FROM surfidx.surfidx_health(), surfidx.surfidx_budget();
SELECT * FROM surfidx.surfidx_tune(0);
END
is($node->safe_psql('app', 'SELECT string_agg(DISTINCT coalesce(problem, chr(45)), chr(10))
	FROM surfidx.surfidx_check_all(true, true)'), '-', 'all indexes are sound');
my @advice = split /\n/, $node->safe_psql('app', q{SELECT statement FROM surfidx.surfidx_advise(0)
	WHERE statement IS NOT NULL});
ok(scalar(grep { /USING surfidx \(w surfidx\.text_pattern_ops\) WHERE/ } @advice),
	'advice names classes with their schema');
$node->safe_psql('app', $_) for @advice;
$node->safe_psql('app', 'DROP INDEX ' . join(', ', map { /CONCURRENTLY (\S+) / ? "s.$1" : () }
	@advice));
my ($hint) = $node->safe_psql('app', q{SELECT remark FROM surfidx.surfidx_advise(0)
	WHERE indexrelid = 's.b_v_key'::regclass}) =~ /(SELECT statement FROM .*?\)) /;
is($hint // '', q{SELECT statement FROM surfidx.surfidx_convert('s.b')},
	'... and the conversion of constraints');
works('app', '... which can be asked', $hint);
$node->safe_psql('app', q{SELECT count(*) FROM surfidx.surfidx_convert('s.b', dry_run => false)});
$node->poll_query_until('app', q{SELECT count(statement) = 0
	FROM surfidx.surfidx_convert('s.b')}) or die 'no conversion';
is($node->safe_psql('app', q{SELECT string_agg(format('%s %s', i.relname, amname), ', '
	ORDER BY i.relname) FROM pg_class i JOIN pg_am a ON a.oid = i.relam
	JOIN pg_index ON indexrelid = i.oid WHERE indrelid = 's.b'::regclass}),
	'b_in_place surfidx, b_pkey surfidx, b_v_key surfidx, b_w surfidx', 'converted by the worker');
$node->poll_query_until('app', q{SELECT count(statement) = 0 FROM surfidx.surfidx_convert('s.b',
	method => 'btree')}) or die 'no conversion'
	if $node->safe_psql('app', q{SELECT count(*) FROM surfidx.surfidx_convert('s.b',
		method => 'btree', dry_run => false)});

# a worker that the log asks for merges a delta
works('app', 'a delta that is due', q{CREATE TABLE s.due (id int);
	CREATE INDEX due_id ON s.due USING surfidx (id) WITH (delta_size = 64); INSERT INTO s.due
	SELECT g * 7919 % 100003 FROM generate_series(1, 30000) g});
ok($node->poll_query_until('app', q{SELECT merges > 0 FROM surfidx.surfidx_meta('s.due_id')}),
	'... is merged by the worker');

# dump, restore, another schema
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('app') ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump,
	$node->connstr('copy') ], 'restored');
my $list = q{SELECT string_agg(pg_get_indexdef(indexrelid), chr(10)
	ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid::regclass::text LIKE 's.%'};
is($node->safe_psql('copy', $list), $node->safe_psql('app', $list), '... the same indexes');
works('copy', 'moved to another schema', q{CREATE SCHEMA other;
	ALTER EXTENSION surfidx SET SCHEMA other; SET search_path = '';
	SELECT * FROM other.surfidx_advise(0), other.surfidx_stat_indexes; SELECT *
		FROM other.surfidx_mirror_btree(); SELECT * FROM other.surfidx_convert('s.b');
	CREATE INDEX ON s.b USING surfidx (w other.text_pattern_ops)});

# ---- other people's objects ----

# Functions and operators that fit better than PostgreSQL's where an argument is of another type
# than theirs, and fail when they are called.
my $hostile = <<'END';
CREATE SCHEMA hostile;
DO $$
DECLARE
	f record;
BEGIN
	FOR f IN
		SELECT DISTINCT proname, args FROM (
			SELECT proname, string_agg(CASE t WHEN 'text'::regtype THEN kind
				WHEN 'regclass'::regtype THEN 'oid' WHEN 'int8'::regtype THEN 'int4'
				WHEN 'numeric'::regtype THEN 'int8'
					WHEN '"any"'::regtype THEN 'name' ELSE t::regtype::text END, ', '
						ORDER BY n) AS args
			FROM pg_proc p, unnest(proargtypes) WITH ORDINALITY a(t, n), (VALUES ('name'),
				('text')) k(kind)
			WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('f', 'a')
				AND pronargs <= 5 GROUP BY p.oid, proname, kind) x
		WHERE args !~ 'any|internal|cstring|_handler|trigger|ddl'
	LOOP
		BEGIN
			EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS text LANGUAGE plpgsql AS %L',
				f.proname, f.args, format('BEGIN RAISE ''hostile %I''; END', f.proname));
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
	END LOOP;
END $$;
END
my $operators = <<'END';
DO $$
DECLARE
	f record;
BEGIN
	FOR f IN SELECT op, l, r, row_number() OVER () AS n FROM unnest(ARRAY['=', '<>', '<', '<=', '>',
		'>=', '||', '-', '/', '+']) op,
			unnest(ARRAY['name', 'text', 'int8', 'int4', 'int2', 'numeric', 'oid', 'regclass',
				'"char"', 'int2vector', 'oidvector']) l,
			unnest(ARRAY['name', 'text', 'int8', 'int4', 'int2', 'numeric', 'oid', 'regclass',
				'"char"', 'int2vector', 'oidvector']) r
		WHERE to_regoperator(format('pg_catalog.%s (%s, %s)', op, l, r)) IS NULL
	LOOP
		EXECUTE format('CREATE FUNCTION hostile.op%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS %L',
			f.n, f.l, f.r, CASE WHEN f.op ~ '[<=>]' THEN 'bool' WHEN f.op = '||' THEN 'text'
			ELSE f.l END, 'BEGIN RAISE ''hostile operator''; END');
		EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s,
			FUNCTION = hostile.op%s)', f.op, f.l, f.r, f.n);
	END LOOP;
END $$;
END
my $taken = <<'END';
SET search_path = pg_catalog;
SELECT count(*) FROM pg_depend WHERE classid IN ('pg_proc'::regclass, 'pg_rewrite'::regclass,
	'pg_amop'::regclass, 'pg_amproc'::regclass) AND (
	refclassid = 'pg_proc'::regclass AND refobjid IN (SELECT oid FROM pg_proc
		WHERE pronamespace = 'hostile'::regnamespace AND prosrc ~ 'hostile')
	OR refclassid = 'pg_operator'::regclass AND refobjid IN (SELECT oid FROM pg_operator
		WHERE oprnamespace = 'hostile'::regnamespace))
END
my $db = 'new';

$node->safe_psql('postgres', "CREATE DATABASE $db");
works($db, 'hostile objects',
	"$hostile$operators ALTER DATABASE $db SET search_path = hostile, public");
works($db, 'created among them', 'CREATE EXTENSION surfidx SCHEMA hostile');
is($node->safe_psql($db, $taken), '0', 'none of them is taken');
works($db, 'a view that takes one', <<'END');
SET search_path = pg_catalog;
DO $$ BEGIN EXECUTE (SELECT format('CREATE VIEW public.taker AS SELECT hostile.%I(%s) AS x', proname,
	(SELECT string_agg(format('NULL::%s', t::regtype), ', ') FROM unnest(proargtypes) t))
	FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace AND prosrc ~ 'hostile' LIMIT 1); END $$;
END
cmp_ok($node->safe_psql($db, $taken), '>', 0, '... would be noticed');
works($db, '... and goes', 'DROP VIEW public.taker');
works($db, 'functions call none of them', <<'END');
CREATE TABLE t (id int PRIMARY KEY, n name, v text);
INSERT INTO t SELECT g, 'n', 'v' FROM pg_catalog.generate_series(1, 100) g;
CREATE INDEX t_n ON t USING surfidx (n, v);
CREATE INDEX t_v ON t (v text_pattern_ops);
SELECT * FROM surfidx_advise(0);
SELECT * FROM surfidx_health(), surfidx_budget(), surfidx_tune(0);
SELECT * FROM surfidx_stat_indexes, surfidx_stat_progress_merge;
SELECT * FROM surfidx_check_all(true, true);
SELECT * FROM surfidx_mirror_btree();
SELECT surfidx_count('t_n', 'n'::name), surfidx_merge('t_n');
SELECT count(*) FROM surfidx_convert('t', dry_run => false);
END
ok($node->poll_query_until($db, q{SELECT pg_catalog.count(statement) OPERATOR(pg_catalog.=) 0
	FROM surfidx_convert('t')}), '... nor does the worker');

# the ending asks in this database, too
$node->safe_psql('postgres', 'ALTER DATABASE new RESET search_path');
done_testing();
