-- One column of each type; values repeat and leave gaps.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/verdict.sql'
\set ECHO none
\i :helpers
\set ECHO all
CREATE TABLE src AS
SELECT i AS id,
	((i * 7919) % 401 - 200)::int2 AS i2,
	((i * 7919) % 1009 - 500) * 3 AS i4,
	((i::int8 * 104729) % 1201 - 600) * 5000000000 AS i8,
	('k' || ((i * 7919) % 701) || CASE WHEN i % 3 = 0 THEN 'tail' ELSE '' END) COLLATE "C" AS tx,
	decode(lpad(to_hex((i * 7919) % 65536), 4, '0') || CASE WHEN i % 5 = 0 THEN '0001ff' ELSE '' END, 'hex') AS ba,
	md5((i % 900)::text)::uuid AS uu,
	date '2000-01-01' + (i * 7919) % 1500 - 700 AS da,
	timestamp '2000-01-01' + ((i * 7919) % 1500 - 700) * interval '6 hours' AS ts,
	timestamptz '2000-01-01' + ((i * 7919) % 1500 - 700) * interval '5 hours' AS tz,
	((i::int8 * 104729) % 1201 * 3500000)::oid AS od,
	i % 7 < 3 AS bo
FROM generate_series(1, 1500) i;

-- Four states: everything in the delta, half of it merged, all merged, built over existing rows.
CREATE TABLE t_delta (LIKE src);
CREATE TABLE t_half (LIKE src);
CREATE TABLE t_merged (LIKE src);
CREATE TABLE t_built (LIKE src);
INSERT INTO t_built SELECT * FROM src;

CREATE VIEW tabs AS SELECT unnest(ARRAY['t_delta', 't_half', 't_merged', 't_built']) AS tab;
CREATE VIEW cols AS SELECT attname::text AS col FROM pg_attribute WHERE attrelid = 'src'::regclass AND attnum > 1;

SELECT format('CREATE INDEX %I ON %I USING surfidx (%I)', tab || '_' || col, tab, col)
FROM tabs, cols ORDER BY 1 \gexec
INSERT INTO t_delta SELECT * FROM src;
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 0;
INSERT INTO t_merged SELECT * FROM src;
SELECT count(surfidx_merge((tab || '_' || col)::regclass)) FROM tabs, cols WHERE tab IN ('t_half', 't_merged');
INSERT INTO t_half SELECT * FROM src WHERE id % 2 = 1;
ANALYZE t_delta, t_half, t_merged, t_built;

-- Constants of each type, of the other types of its family, between values and beyond all of them
CREATE TABLE consts (col text, const text);
INSERT INTO consts VALUES
	('i2', '0::int2'), ('i2', '-200::int2'), ('i2', '200::int2'), ('i2', '17::int4'), ('i2', '100000::int4'), ('i2', '-100000::int8'),
	('i4', '0'), ('i4', '1'), ('i4', '-1500'), ('i4', '1524'), ('i4', '300::int2'), ('i4', '299::int8'), ('i4', '10000000000::int8'), ('i4', '-10000000000::int8'),
	('i8', '0::int8'), ('i8', '1::int8'), ('i8', '-3000000000000'), ('i8', '7::int2'), ('i8', '2000000000::int4'), ('i8', '9223372036854775807'), ('i8', '-9223372036854775808'),
	('tx', quote_literal('k350')), ('tx', quote_literal('k350tail')), ('tx', quote_literal('')), ('tx', quote_literal('k')), ('tx', quote_literal('l')), ('tx', quote_literal('k35')),
	('ba', $$'\x1eef'$$), ('ba', $$'\x1eef00'$$), ('ba', $$''$$), ('ba', $$'\xffff'$$), ('ba', $$'\x00'$$), ('ba', $$'\x7b0b0001ff'$$),
	('uu', $$'c4ca4238-a0b9-2382-0dcc-509a6f75849b'$$), ('uu', $$'00000000-0000-0000-0000-000000000000'$$), ('uu', $$'80000000-0000-0000-0000-000000000000'$$),
	('da', $$date '2000-01-01'$$), ('da', $$date '-infinity'$$), ('da', $$timestamp '2000-05-05'$$), ('da', $$timestamp '2000-05-05 12:00'$$), ('da', $$timestamp 'infinity'$$), ('da', $$timestamptz '1999-03-03 00:00'$$), ('da', $$timestamptz '1999-03-03 00:01'$$),
	('ts', $$timestamp '2000-01-01 06:00'$$), ('ts', $$timestamp '2000-01-01 06:01'$$), ('ts', $$timestamp '-infinity'$$), ('ts', $$date '2000-01-03'$$), ('ts', $$date 'infinity'$$), ('ts', $$timestamptz '2000-01-02 06:00'$$),
	('tz', $$timestamptz '2000-01-01 05:00'$$), ('tz', $$timestamptz '2000-01-01 06:01'$$), ('tz', $$timestamptz 'infinity'$$), ('tz', $$date '2000-01-06'$$), ('tz', $$timestamp '2000-01-06 00:00'$$),
	('od', '0::oid'), ('od', '3500000::oid'), ('od', '4000000000::oid'), ('od', '4294967295::oid'),
	('bo', 'true'), ('bo', 'false');
CREATE TABLE ops (op text, word text);
INSERT INTO ops VALUES ('<', 'ASC'), ('<=', 'DESC'), ('=', 'ASC'), ('>=', 'ASC'), ('>', 'DESC');

CREATE VIEW queries AS
SELECT col, format('SELECT %1$s FROM %%t WHERE %1$s %2$s %3$s ORDER BY %1$s %4$s', col, op, const, word) AS q
FROM consts, ops
WHERE NOT (col = 'bo' AND op = '=');	-- core makes another clause of that, which 15 takes to btree indexes only

-- Every operator, forward or backward
SELECT tab, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, q, verdict(tab, q) AS v FROM tabs, queries) r GROUP BY tab ORDER BY tab;

-- The same, the other way, by bitmap and index-only
CREATE VIEW others AS
SELECT tab, how, q FROM tabs, queries, (VALUES ('bitmap'), ('only')) h (how)
WHERE hashtext(q || how) % 3 = 0 AND NOT (col = 'bo' AND how = 'bitmap');	-- core makes no bitmap of a whole index
SELECT tab, how, count(*) > 50 AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, how, q, verdict(tab, q, how) AS v FROM others) r GROUP BY tab, how ORDER BY tab, how;

-- The whole index, both ways
SELECT tab, count(*) AS asked, count(*) FILTER (WHERE v <> 'ok') AS wrong, min(q || ': ' || v) FILTER (WHERE v <> 'ok') AS example
FROM (SELECT tab, q, verdict(tab, q) AS v
	  FROM tabs, (SELECT format('SELECT %1$s FROM %%t ORDER BY %1$s %2$s', col, word) AS q
				  FROM cols, (VALUES ('ASC'), ('DESC')) w (word)) f) r GROUP BY tab ORDER BY tab;

-- Two bounds, bounds that contradict one another, redundant ones, a NULL constant, prefix search
CREATE TABLE more (q text);
INSERT INTO more VALUES
	('SELECT i4 FROM %t WHERE i4 > 10 AND i4 < 500 ORDER BY i4'),
	('SELECT i4 FROM %t WHERE i4 BETWEEN 30 AND 30 ORDER BY i4'),
	('SELECT i4 FROM %t WHERE i4 > 10 AND i4 > 100 AND i4 >= 100 AND i4 < 1000 AND i4 <= 900 ORDER BY i4 DESC'),
	('SELECT i4 FROM %t WHERE i4 > 100 AND i4 < 50 ORDER BY i4'),
	('SELECT i4 FROM %t WHERE i4 = 30 AND i4 > 20 ORDER BY i4'),
	('SELECT i4 FROM %t WHERE i4 = 30 AND i4 > 30 ORDER BY i4'),
	('SELECT i4 FROM %t WHERE i4 = 30::int8 AND i4 >= 30::int2 AND i4 IS NOT NULL ORDER BY i4'),
	('SELECT i4 FROM %t WHERE i4 >= 2000000000000 AND i4 > 5 ORDER BY i4'),
	('SELECT i4 FROM %t WHERE i4 < 2000000000000 AND i4 > 5 ORDER BY i4'),
	('SELECT da FROM %t WHERE da > timestamp ''2000-01-01 12:00'' AND da < timestamp ''2000-03-01 12:00'' ORDER BY da'),
	('SELECT tx FROM %t WHERE tx LIKE ''k35%'''),
	('SELECT tx FROM %t WHERE tx ~ ''^k1'''),
	('SELECT tx FROM %t WHERE tx > ''k35'' AND tx < ''k36'' ORDER BY tx DESC'),
	('SELECT tx FROM %t WHERE tx < repeat(''k'', 5000) ORDER BY tx'),
	('SELECT tx FROM %t WHERE tx = repeat(''k'', 5000) ORDER BY tx'),
	('SELECT tx FROM %t WHERE tx >= repeat(''k'', 5000) AND tx < ''k2'' ORDER BY tx'),
	('SELECT ba FROM %t WHERE ba >= ''\x20'' AND ba < ''\x21'' ORDER BY ba'),
	('SELECT max(i4) FROM %t WHERE i4 < 100'),
	('SELECT min(i4), max(i4) FROM %t WHERE i4 > 100'),
	('SELECT min(tx) FROM %t WHERE tx > ''k5''');
SELECT tab, q, v FROM (SELECT tab, q, verdict(tab, q) AS v FROM tabs, more) r WHERE v <> 'ok' ORDER BY tab, q;

-- What it looks like
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT i4 FROM t_half WHERE i4 > 10 AND i4 < 100::int8 ORDER BY i4 DESC LIMIT 3;
SELECT i4 FROM t_half WHERE i4 > 10 AND i4 < 100::int8 ORDER BY i4 DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT tx FROM t_half WHERE tx LIKE 'k35%' ORDER BY tx LIMIT 5;
SELECT tx FROM t_half WHERE tx LIKE 'k35%' ORDER BY tx LIMIT 5;
EXPLAIN (COSTS OFF) SELECT da FROM t_half ORDER BY da DESC LIMIT 1;
SELECT min(da), max(da) FROM t_half;

-- Nested loop: the same conditions again with other constants, among them NULLs and some out of range
PREPARE looped AS
SELECT o.x, count(t.id), min(t.i4), max(t.i4)
FROM (VALUES (0), (3), (NULL), (4), (1524), (100000), (-1500), (3)) o (x)
LEFT JOIN LATERAL (SELECT * FROM t_half WHERE i4 = o.x OFFSET 0) t ON true GROUP BY o.x ORDER BY o.x;
EXECUTE looped;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_seqscan = on;
DEALLOCATE looped;
PREPARE looped AS
SELECT o.x, count(t.id), min(t.i4), max(t.i4)
FROM (VALUES (0), (3), (NULL), (4), (1524), (100000), (-1500), (3)) o (x)
LEFT JOIN LATERAL (SELECT * FROM t_half WHERE i4 = o.x OFFSET 0) t ON true GROUP BY o.x ORDER BY o.x;
EXECUTE looped;
DEALLOCATE looped;
RESET ALL;

DROP VIEW others, queries, tabs, cols;
DROP TABLE src, t_delta, t_half, t_merged, t_built, consts, ops, more;
DROP FUNCTION verdict;
