-- date, timestamp and timestamptz compared with one another: by the session's time zone, where clocks are set, and by bounds
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
-- days around two changes of the clock in New York (2021-03-14, 2021-11-07), and a day that Samoa left out (2011-12-30)
CREATE TABLE clock AS SELECT row_number() OVER () AS id, s.*, s.t AT TIME ZONE 'UTC' AS z, s.t::date AS d FROM (
	SELECT '2021-03-12'::timestamp + i * '47 min'::interval AS t FROM generate_series(0, 150) i
	UNION ALL SELECT '2021-11-05'::timestamp + i * '47 min'::interval FROM generate_series(0, 150) i
	UNION ALL SELECT '2011-12-28'::timestamp + i * '97 min'::interval FROM generate_series(0, 90) i
	UNION ALL SELECT '2021-07-01'::timestamp + i * '6 h'::interval FROM generate_series(0, 20) i
	UNION ALL SELECT unnest('{-infinity,infinity,2021-07-02,4714-11-24 BC,294276-12-31 23:59:59.999999}'::timestamp[])) s;
CREATE FUNCTION crossed(col text, other text) RETURNS TABLE (def text, state text, mode text, query text, complaint text) LANGUAGE sql
	SET search_path FROM CURRENT AS $$
	SELECT (compare('clock', format('(%s, id)', col), ARRAY(
		SELECT format('SELECT id, %s FROM %%t WHERE %s %s %L::%s', col, col, op, c, other)
		FROM unnest('{<,<=,=,>=,>}'::text[]) op, unnest('{2021-03-14 02:00,2021-03-14 03:07,2021-03-14 07:29,2021-03-15,2021-11-07 01:12,2021-11-07 06:00,2021-11-08,2011-12-30,2011-12-31 10:00,2021-07-02,2021-07-02 13:00,-infinity,infinity,4714-11-25 BC,294276-12-31}'::text[]) c)
		|| format('SELECT id FROM %%t WHERE %1$s = ANY (''{2021-03-15,2021-07-02,infinity}''::%2$s[]) ORDER BY %1$s, id', col, other)
		|| format('SELECT id FROM %%t WHERE %1$s < ANY (''{2021-03-14 03:07,2021-03-15}''::%2$s[])', col, other)
		|| format('SELECT id FROM %%t WHERE %1$s >= ''2021-11-07 01:12''::%2$s AND %1$s < ''2021-11-07 06:00''::%2$s ORDER BY %1$s DESC, id DESC', col, other), '{only}')).*;
$$;
SET timezone = 'America/New_York';
SELECT * FROM crossed('t', 'timestamptz');
SELECT * FROM crossed('d', 'timestamptz');
SELECT * FROM crossed('z', 'timestamp');
SELECT * FROM crossed('z', 'date');
SELECT * FROM crossed('t', 'date');
SELECT * FROM crossed('d', 'timestamp');
SET timezone = 'Pacific/Apia';
SELECT * FROM crossed('t', 'timestamptz');
SELECT * FROM crossed('d', 'timestamptz');
SELECT * FROM crossed('z', 'timestamp');
SELECT * FROM crossed('z', 'date');

-- such a condition reads its part of the index, not all of it
SET timezone = 'America/New_York';
CREATE TABLE many AS SELECT '2020-01-01'::timestamp + i * '30 min'::interval AS t, ('2020-01-01'::timestamp + i * '30 min'::interval) AT TIME ZONE 'UTC' AS z,
	'2020-01-01'::date + i AS d, i / 7.0::float4 AS r, md5(i::text) COLLATE "en-x-icu" AS x FROM generate_series(1, 20000) i;
CREATE INDEX many_t ON many USING surfidx (t) INCLUDE (x);
CREATE INDEX many_z ON many USING surfidx (z) INCLUDE (x);
CREATE INDEX many_d ON many USING surfidx (d) INCLUDE (x);
CREATE INDEX many_r ON many USING surfidx (r) INCLUDE (x);
CREATE INDEX many_x ON many USING surfidx (x);
VACUUM ANALYZE many;
CREATE FUNCTION read_share(query text, idx regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	pages numeric := pg_relation_size(idx) / current_setting('block_size')::int;
	hit numeric;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	hit := (plan ->> 'Shared Hit Blocks')::numeric + (plan ->> 'Shared Read Blocks')::numeric;
	RETURN CASE WHEN plan ->> 'Node Type' <> 'Index Only Scan' THEN plan ->> 'Node Type' WHEN hit < pages / 2 THEN 'part' ELSE format('%s of %s pages', hit, pages) END;
END $$;
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT read_share('SELECT t FROM many WHERE t >= ''2020-03-08 06:00''::timestamptz AND t < ''2020-03-08 08:00''::timestamptz', 'many_t'),
	read_share('SELECT t FROM many WHERE t = ''2020-11-01 06:30''::timestamptz', 'many_t'),
	read_share('SELECT t FROM many WHERE t = ''2020-07-01 06:30''::timestamptz', 'many_t'),
	read_share('SELECT z FROM many WHERE z < ''2020-01-02''::date', 'many_z'), read_share('SELECT z FROM many WHERE z BETWEEN ''2020-03-08 02:30''::timestamp AND ''2020-03-09 02:30''::timestamp', 'many_z'),
	read_share('SELECT d FROM many WHERE d BETWEEN ''2030-03-08''::timestamptz AND ''2030-03-18''::timestamptz', 'many_d'),
	read_share('SELECT r FROM many WHERE r BETWEEN 0.3::float8 AND 0.5::float8', 'many_r'),
	read_share('SELECT x FROM many WHERE x = ''abc''::name COLLATE "en-x-icu"', 'many_x'), read_share('SELECT x FROM many WHERE x > ''fff''::name COLLATE "en-x-icu"', 'many_x');
DROP TABLE clock, many;
