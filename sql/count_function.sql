SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET surfidx.auto_merge = off;

-- surfidx_count, surfidx_may_contain, surfidx_may_contain_range: against the same question asked of the table
CREATE TABLE cnt (i int8, d date, t text COLLATE "C", n numeric);
INSERT INTO cnt SELECT g * 3, date '2000-01-01' + g % 1000, 'k' || g % 777, g / 10.0 FROM generate_series(1, 30000) g;
CREATE INDEX cnt_i ON cnt USING surfidx (i);
CREATE INDEX cnt_dt ON cnt USING surfidx (d, t, i);
CREATE INDEX cnt_desc ON cnt USING surfidx (i DESC);
CREATE INDEX cnt_n ON cnt USING surfidx (n) INCLUDE (t);
CREATE INDEX cnt_mixed ON cnt USING surfidx (d, i DESC);

CREATE FUNCTION cnt_differ(index regclass, col text, lo int8, hi int8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q int8;
	c int8;
	bad text := '';
BEGIN
	FOR li IN 0..1 LOOP
		FOR hi_i IN 0..1 LOOP
			EXECUTE format('SELECT count(*) FROM cnt WHERE %1$s %2$s $1 AND %1$s %3$s $2', col,
				CASE li WHEN 1 THEN '>=' ELSE '>' END, CASE hi_i WHEN 1 THEN '<=' ELSE '<' END) INTO q USING lo, hi;
			c := surfidx_count(index, lo, hi, li = 1, hi_i = 1);
			IF c IS DISTINCT FROM q THEN
				bad := bad || format(' %s %s: %s, not %s;', li, hi_i, c, q);
			END IF;
			IF q > 0 AND NOT surfidx_may_contain_range(index, lo, hi, li = 1, hi_i = 1) THEN
				bad := bad || ' lost;';
			END IF;
		END LOOP;
	END LOOP;
	RETURN nullif(bad, '');
END $$;

CREATE VIEW cnt_bounds AS SELECT lo, lo + len AS hi
	FROM (VALUES (-10), (0), (1), (3), (4), (299), (300), (45000), (89997), (90000), (90001)) l (lo),
		(VALUES (-1), (0), (1), (2), (3), (900), (30000), (100000)) n (len);
SELECT lo, hi, x FROM cnt_bounds, unnest(ARRAY[cnt_differ('cnt_i', 'i', lo, hi), cnt_differ('cnt_desc', 'i', lo, hi),
	cnt_differ('cnt_n', 'n', lo, hi)]) x WHERE x IS NOT NULL;

-- open ends, other types of the family, constants without a type
SELECT surfidx_count('cnt_i'), surfidx_count('cnt_i', 45001), surfidx_count('cnt_i', NULL, 45000),
	surfidx_count('cnt_i', '15001', 30000::int2), surfidx_count('cnt_i', low => 300::int2, high => 600::int8);
SELECT surfidx_count('cnt_desc'), surfidx_count('cnt_desc', 45001), surfidx_count('cnt_desc', NULL, 45000);
SELECT surfidx_count('cnt_dt', '2000-02-01', timestamp '2000-02-02 12:00'),
	(SELECT count(*) FROM cnt WHERE d >= '2000-02-01' AND d <= timestamp '2000-02-02 12:00');

-- rows: several columns
SELECT surfidx_count('cnt_dt', ROW(date '2000-02-01', 'k3'), ROW(date '2000-02-05', 'k6')),
	(SELECT count(*) FROM cnt WHERE (d, t) >= (date '2000-02-01', 'k3') AND (d, t) <= (date '2000-02-05', 'k6'));
SELECT surfidx_count('cnt_dt', ROW(date '2000-02-01', 'k3', 5), ROW(date '2000-02-05'), false, false),
	(SELECT count(*) FROM cnt WHERE (d, t, i) > (date '2000-02-01', 'k3', 5) AND d < date '2000-02-05');

-- may_contain: leading columns
SELECT surfidx_may_contain('cnt_i', 300), surfidx_may_contain('cnt_i', '301'), surfidx_may_contain('cnt_i', NULL);
SELECT surfidx_may_contain('cnt_dt', date '2000-02-01'), surfidx_may_contain('cnt_dt', '1999-02-01'),
	surfidx_may_contain('cnt_dt', '2000-01-02', 'k1'), surfidx_may_contain('cnt_dt', '2000-01-02', 'k1', 3),
	surfidx_may_contain('cnt_dt', '2000-01-02', 'k1', 4);
SELECT surfidx_may_contain('cnt_n', 0.1), surfidx_may_contain('cnt_n', 0.10), surfidx_may_contain('cnt_n', 0.11);
SELECT surfidx_may_contain_range('cnt_i', 301, 302), surfidx_may_contain_range('cnt_i', 301, 303),
	surfidx_may_contain_range('cnt_i', 301, 303, high_inclusive => false), surfidx_may_contain_range('cnt_i', NULL, 2),
	surfidx_may_contain_range('cnt_i', 90001, NULL);

-- approximately: from the pages above the leaves
SELECT count(*), max(abs(surfidx_count('cnt_n', lo, hi, approximate => true) - surfidx_count('cnt_n', lo, hi))) < 3000 AS near
	FROM cnt_bounds;
SELECT surfidx_count('cnt_i', 300, 900, approximate => true);

-- what is read: two leaves at most by exact counts, none by approximate ones, which visit the metapage and for either bound the way down to level 1
-- (for each level from the root on), and are off by less than the entries of two leaves
CREATE FUNCTION cnt_reads(index regclass, lo text, hi text, approximate bool, OUT n int8, OUT leaves int8, OUT pages int8) LANGUAGE plpgsql AS $$
DECLARE
	leaves0 int8;
	pages0 int8;
BEGIN
	SELECT p.leaves INTO leaves0 FROM surfidx_page_counts() p;
	pages0 := pg_stat_get_xact_blocks_fetched(index);
	EXECUTE format('SELECT surfidx_count(%L, %L, %L, approximate => %L)', index, lo, hi, approximate) INTO n;
	pages := pg_stat_get_xact_blocks_fetched(index) - pages0;
	SELECT p.leaves - leaves0 INTO leaves FROM surfidx_page_counts() p;
END $$;
CREATE TABLE cnt_big (i int8, t text COLLATE "C", u text COLLATE "und-x-icu");
INSERT INTO cnt_big SELECT n, lpad(n::text, 300, '0'), CASE WHEN n < 30000 THEN 'u' || n || repeat(md5(n::text), 7) END FROM (SELECT g * 7919::int8 % 300007 AS n FROM generate_series(1, 60000) g) x;
CREATE INDEX cnt_big_i ON cnt_big USING surfidx (i) WITH (delta_size = 64, run_ratio = 10, merge_ratio = 10);
CREATE INDEX cnt_big_t ON cnt_big USING surfidx (t);
CREATE INDEX cnt_big_u ON cnt_big USING surfidx (u);
CREATE TABLE cnt_ends AS SELECT x.* FROM (VALUES (10000, 90000), (20000, 25000), (500, 299000), (50000, 52000), (2, 4000), (290000, 299000)) y (a, b),
	LATERAL (VALUES ('cnt_big_i'::regclass, a::text, b::text), ('cnt_big_t', lpad(a::text, 300, '0'), lpad(b::text, 300, '0')), ('cnt_big_u', 'u' || least(a, b), 'u' || greatest(a, b))) x (index, lo, hi);
CREATE VIEW cnt_looks AS SELECT index, (SELECT level FROM surfidx_meta(index)) AS level, max(e.leaves) AS exact_leaves, max(a.leaves) AS leaves,
		max(a.pages - 1) BETWEEN 1 AND (SELECT level * (level + 1) FROM surfidx_meta(index)) AS ways_down, max(abs(a.n - e.n)) < 2.0 * (SELECT entries / leaves FROM surfidx_meta(index)) AS near
	FROM cnt_ends, cnt_reads(index, lo, hi, false) e, cnt_reads(index, lo, hi, true) a GROUP BY 1;
SELECT * FROM cnt_looks ORDER BY 1;
-- of numbers that are spread evenly hardly anything is wrong: fences tell where in a leaf a bound falls
SELECT max(abs(a.n - e.n)) < 60 AS even FROM cnt_ends, cnt_reads(index, lo, hi, false) e, cnt_reads(index, lo, hi, true) a WHERE index = 'cnt_big_i'::regclass;
-- with a run of one leaf, a run of several, and a delta
INSERT INTO cnt_big (i) SELECT g * 131 % 300007 FROM generate_series(1, 500) g;
VACUUM cnt_big;
SELECT level, leaves, entries FROM surfidx_runs('cnt_big_i') WHERE level = 0;
SELECT exact_leaves > 2 AS more_exact, leaves, near FROM cnt_looks WHERE index = 'cnt_big_i'::regclass;
INSERT INTO cnt_big (i) SELECT g * 37 % 300007 FROM generate_series(1, 8000) g;
VACUUM cnt_big;
INSERT INTO cnt_big (i) SELECT g * 41 % 300007 FROM generate_series(1, 900) g;
SELECT count(*), min(level) FROM surfidx_runs('cnt_big_i');
SELECT exact_leaves > 2 AS more_exact, leaves, near FROM cnt_looks WHERE index = 'cnt_big_i'::regclass;
DROP VIEW cnt_looks;
DROP TABLE cnt_big, cnt_ends;
DROP FUNCTION cnt_reads;

-- the delta counts
INSERT INTO cnt SELECT g * 3 + 1, NULL, NULL, g FROM generate_series(1, 5000) g;
SELECT lo, hi, x FROM cnt_bounds, unnest(ARRAY[cnt_differ('cnt_i', 'i', lo, hi), cnt_differ('cnt_desc', 'i', lo, hi),
	cnt_differ('cnt_n', 'n', lo, hi)]) x WHERE x IS NOT NULL;
SELECT surfidx_count('cnt_dt'), surfidx_count('cnt_dt', '1900-01-01'), surfidx_may_contain('cnt_dt', NULL, NULL);
SELECT surfidx_merge('cnt_i') >= 0 AS merged;
SELECT surfidx_merge('cnt_desc') >= 0 AS merged;
SELECT lo, hi, x FROM cnt_bounds, unnest(ARRAY[cnt_differ('cnt_i', 'i', lo, hi), cnt_differ('cnt_desc', 'i', lo, hi)]) x
	WHERE x IS NOT NULL;

-- dead entries count until VACUUM
DELETE FROM cnt WHERE i BETWEEN 300 AND 599;
SELECT surfidx_count('cnt_i', 300, 599) > 0 AS dead_ones;
VACUUM cnt;
SELECT surfidx_count('cnt_i', 300, 599), surfidx_may_contain_range('cnt_i', 300, 599);

-- what cannot be
SELECT surfidx_count('cnt');
SELECT surfidx_count('cnt_i', now());
SELECT surfidx_count('cnt_i', 'abc');
SELECT surfidx_count('cnt_i', ROW(1, 2));
SELECT surfidx_count('cnt_dt', ROW(date '2000-01-01', NULL));
SELECT surfidx_count('cnt_mixed', ROW(date '2000-01-01', 2));
SELECT surfidx_may_contain('cnt_i', 1, 2);

-- bounds beyond which nothing can be
CREATE TABLE cnt_end (t timestamptz);
CREATE INDEX cnt_end_t ON cnt_end USING surfidx (t);
CREATE INDEX cnt_end_d ON cnt_end USING surfidx (t DESC);
INSERT INTO cnt_end VALUES ('-infinity'), ('2000-01-01'), ('infinity'), (NULL);
SELECT i, surfidx_count(i, 'infinity', NULL, low_inclusive => false) AS above, surfidx_count(i, NULL, '-infinity', high_inclusive => false) AS below,
	surfidx_count(i, 'infinity', '-infinity', false, false) AS both, surfidx_count(i, 'infinity'::timestamp, NULL, approximate => true) AS at_end,
	surfidx_may_contain_range(i, 'infinity', NULL, low_inclusive => false) AS may
	FROM unnest(ARRAY['cnt_end_t', 'cnt_end_d']::regclass[]) i;
DROP TABLE cnt_end;

-- any indexed type: in bytes, and compared by functions; from the tree, and with half of it in the delta
CREATE FUNCTION cnt_type(expr text, merged bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wrong text;
BEGIN
	EXECUTE format('CREATE TEMP TABLE cnt_any AS SELECT %s AS v FROM generate_series(1, 400) g', expr);
	CREATE INDEX cnt_any_v ON cnt_any USING surfidx (v) WITH (filter = surf);
	EXECUTE format('INSERT INTO cnt_any SELECT %s FROM generate_series(401, 900) g', expr);
	IF merged THEN
		PERFORM surfidx_merge('cnt_any_v');
	END IF;
	EXECUTE $q$SELECT string_agg(a::text || ' .. ' || b::text, ', ') FROM (SELECT v AS a, lead(v, 40) OVER w AS b, lead(v, 41) OVER w AS c, row_number() OVER w AS n FROM cnt_any WINDOW w AS (ORDER BY v)) x
		WHERE n % 97 = 0 AND b IS NOT NULL AND c IS NOT NULL AND (surfidx_count('cnt_any_v', a, b) <> (SELECT count(*) FROM cnt_any WHERE v BETWEEN a AND b) OR
			surfidx_count('cnt_any_v', a, c, false, false) <> (SELECT count(*) FROM cnt_any WHERE v > a AND v < c) OR
			NOT surfidx_may_contain('cnt_any_v', a) OR NOT surfidx_may_contain_range('cnt_any_v', a, b) OR
			(c > a AND surfidx_may_contain_range('cnt_any_v', c, a)))$q$ INTO wrong;
	DROP TABLE cnt_any;
	RETURN coalesce(wrong, 'as the table says');
END $$;
SET client_min_messages = warning;
SELECT answers, count(*), min(expr) FILTER (WHERE answers <> 'as the table says') AS wrong FROM (SELECT expr, cnt_type(expr, merged) AS answers FROM unnest(ARRAY['g::int2', '(g * 7.5)::float8', '(g % 300)::numeric / 8', 'md5(g::text)::uuid', 'decode(md5(g::text), ''hex'')', '(g % 200)::bit(12)',
	'timestamptz ''2000-01-01'' + g * interval ''7 hours''', 'g * interval ''7 hours''', '(time ''00:00'' + g * interval ''61 s'')::timetz', '(''10.0.'' || g % 250 || ''.'' || g % 7 || ''/28'')::inet', 'g::text::"char"',
	'(''k'' || g % 333)::name', '(''Ä'' || g * 7919 % 1000) COLLATE "und-x-icu"', 'ARRAY[g % 50, g]', 'int4range(g % 90, g % 90 + g)', 'jsonb_build_object(''a'', g % 60, ''b'', g)', '(g * 7919)::text::xid8', 'g % 3 = 0'])
	expr, unnest(ARRAY[false, true]) merged) x GROUP BY 1;
RESET client_min_messages;
DROP FUNCTION cnt_type;

-- rights: SELECT on the columns, no row-level security
CREATE ROLE regress_surfidx_count;
SET ROLE regress_surfidx_count;
SELECT surfidx_count('cnt_i');
RESET ROLE;
GRANT SELECT (i) ON cnt TO regress_surfidx_count;
SET ROLE regress_surfidx_count;
SELECT surfidx_count('cnt_i', 1000000), surfidx_may_contain('cnt_i', 1000000);
SELECT surfidx_may_contain('cnt_dt', '2000-01-01');
RESET ROLE;
GRANT SELECT ON cnt TO regress_surfidx_count;
ALTER TABLE cnt ENABLE ROW LEVEL SECURITY;
SET ROLE regress_surfidx_count;
SELECT surfidx_may_contain_range('cnt_i', 1, 2);
RESET ROLE;

DROP VIEW cnt_bounds;
DROP FUNCTION cnt_differ;
DROP TABLE cnt;
DROP ROLE regress_surfidx_count;
