-- ranges and multiranges: empty, infinite, bounds that are equal and print differently
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('ir', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 31 = 0 THEN 'empty' WHEN i % 29 = 0 THEN '(,)'
	WHEN i % 23 = 0 THEN format('(,%s]', i % 9) WHEN i % 19 = 0 THEN format('[%s,)', i % 9)
	ELSE format('[%s,%s)', i * 7 % 40, i * 7 % 40 + i % 6 + 1) END::int4range FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('ir', '{empty,"(,)","(,5]","[3,9)","[20,)"}');
SELECT make_source('nr', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL
	ELSE numrange(round((i % 9)::numeric / 2, 1 + i % 4), round((i % 9 + i % 3)::numeric, i % 3), CASE WHEN i % 2 = 0 THEN '[]' ELSE '(]' END) END
	FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('nr', '{empty,"[1,2]","[1.0,2.0]","(1.50,3]","(,)"}');
SELECT make_source('mr', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 31 = 0 THEN '{}'
	ELSE format('{[%s,%s),[%s,%s)}', i % 9, i % 9 + 2, i % 9 + 5, i % 9 + 6 + i % 4) END::int4multirange FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('mr', '{"{}","{[3,5)}","{[3,5),[8,10)}","{(,)}"}');
-- of a type with a cast without a function: the value keeps the name of the type that it came from.
-- An index on such values was called damaged.
CREATE TYPE cast_from AS RANGE (subtype = int4, multirange_type_name = cast_from_many);
CREATE TYPE cast_to AS RANGE (subtype = int4, multirange_type_name = cast_to_many);
-- CREATE CAST ... WITHOUT FUNCTION refuses ranges in newer minor releases, but databases have such casts
SET allow_system_table_mods = on;
INSERT INTO pg_cast SELECT 99990 + n, ('cast_from' || m)::regtype, ('cast_to' || m)::regtype, 0, 'e', 'b'
	FROM (VALUES (0, ''), (1, '_many')) v (n, m);
CREATE TYPE cast_row AS (r cast_to, a cast_to[]);
CREATE TABLE casted (k int, r cast_to, m cast_to_many, c cast_row);
INSERT INTO casted SELECT g, r::cast_to, cast_from_many(r)::cast_to_many, ROW(r::cast_to, ARRAY[r::cast_to])::cast_row
	FROM (SELECT g, CASE WHEN g % 9 > 0 THEN cast_from(g % 7, g % 7 + g % 5) END AS r FROM generate_series(1, 300) g) x;
CREATE INDEX casted_r ON casted USING surfidx (r) INCLUDE (m);
CREATE INDEX casted_m ON casted USING surfidx (m);
CREATE INDEX casted_c ON casted USING surfidx (c);
INSERT INTO casted SELECT k + 300, r, m, c FROM casted;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*), (array_agg(m ORDER BY r, m))[1] FROM casted WHERE r > cast_from(2, 3)::cast_to;
SELECT count(*), (array_agg(c ORDER BY c))[1] FROM casted WHERE m < cast_from_many(cast_from(3, 5))::cast_to_many;
SELECT count(*) FROM casted WHERE c = ROW(cast_from(2, 3)::cast_to, ARRAY[cast_from(2, 3)::cast_to])::cast_row;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT count(*), (array_agg(m ORDER BY r, m))[1] FROM casted WHERE r > cast_from(2, 3)::cast_to;
SELECT count(*), (array_agg(c ORDER BY c))[1] FROM casted WHERE m < cast_from_many(cast_from(3, 5))::cast_to_many;
SELECT count(*) FROM casted WHERE c = ROW(cast_from(2, 3)::cast_to, ARRAY[cast_from(2, 3)::cast_to])::cast_row;
SELECT surfidx_check(i, true, true) FROM unnest('{casted_r,casted_m,casted_c}'::regclass[]) i;
DROP TABLE ir, nr, mr, casted;
DROP TYPE cast_row;
DELETE FROM pg_cast WHERE oid IN (99990, 99991);
RESET allow_system_table_mods;
DROP TYPE cast_from, cast_to;
