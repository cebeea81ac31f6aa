-- surfidx_check finds a key that is twice in a unique index.  Nothing lets such a key in: so
-- the indexes are made without UNIQUE, and called unique afterwards.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
\set VERBOSITY default
CREATE FUNCTION call_unique(i regclass, nulls_equal bool DEFAULT false) RETURNS void LANGUAGE sql AS
	$$ UPDATE pg_index SET indisunique = true, indnullsnotdistinct = nulls_equal WHERE indexrelid = i $$;

CREATE TABLE twice (k int8, n numeric, a int[], s text COLLATE "C", v int) WITH (autovacuum_enabled = off);
INSERT INTO twice SELECT g, g, ARRAY[g, -g], 'value ' || g, g FROM generate_series(1, 3000) g;
CREATE INDEX twice_k ON twice USING surfidx (k);
CREATE INDEX twice_n ON twice USING surfidx (n DESC);
CREATE INDEX twice_a ON twice USING surfidx (a);
CREATE INDEX twice_ks ON twice USING surfidx (k, s) INCLUDE (v);
CREATE INDEX twice_part ON twice USING surfidx (v) WHERE v > 100;
CREATE INDEX twice_expr ON twice USING surfidx (lower(s));

-- versions of one row, and rows that are dead: each key is seen once
UPDATE twice SET v = v;
UPDATE twice SET k = k + 1, n = n + 1, a = ARRAY[k + 1, -k], s = 'x' || s, v = v + 1 WHERE k = 3000;
UPDATE twice SET k = k - 1, n = n - 1, a = ARRAY[k - 1, 1 - k], s = substr(s, 2), v = v - 1 WHERE k = 3001;
INSERT INTO twice SELECT * FROM twice WHERE k % 500 = 7;
DELETE FROM twice WHERE ctid IN (SELECT max(ctid) FROM twice GROUP BY k HAVING count(*) > 1);
SELECT call_unique(i::regclass) FROM unnest('{twice_k, twice_n, twice_a, twice_ks, twice_part, twice_expr}'::text[]) i;
SELECT indexrelname, problem FROM surfidx_check_all(true, true) WHERE indexrelname LIKE 'twice%' ORDER BY indexrelname;
SELECT surfidx_merge(i::regclass) IS NOT NULL FROM unnest('{twice_k, twice_n, twice_a, twice_ks, twice_part, twice_expr}'::text[]) i;
SELECT indexrelname, problem FROM surfidx_check_all(true, true) WHERE indexrelname LIKE 'twice%' ORDER BY indexrelname;

-- one row twice, first in the delta, then in the tree
BEGIN;
UPDATE pg_index SET indisunique = false WHERE indrelid = 'twice'::regclass;
INSERT INTO twice SELECT k, n + 0.00, a, s, v FROM twice WHERE k = 1234;
SELECT call_unique(i::regclass) FROM unnest('{twice_k, twice_n, twice_a, twice_ks, twice_part, twice_expr}'::text[]) i;
COMMIT;
CREATE FUNCTION problems() RETURNS TABLE (i text, problem text) LANGUAGE sql AS $$
	SELECT indexrelname, regexp_replace(problem, '\(\d+,\d+\)', '(_,_)', 'g') FROM surfidx_check_all(true, false) WHERE indexrelname LIKE 'twice%' ORDER BY indexrelname $$;
SELECT * FROM problems();
SELECT surfidx_merge(i::regclass) IS NOT NULL FROM unnest('{twice_k, twice_n, twice_a, twice_ks, twice_part, twice_expr}'::text[]) i;
SELECT * FROM problems();
-- without a look at the table nothing is said
SELECT problem FROM surfidx_check_all() WHERE indexrelname LIKE 'twice%';
\set VERBOSITY terse
DELETE FROM twice WHERE ctid = (SELECT max(ctid) FROM twice WHERE k = 1234);
SELECT i FROM problems() WHERE problem IS NOT NULL;

-- NULLs are distinct, or they are not
CREATE TABLE twice_null (k int, s text COLLATE "C") WITH (autovacuum_enabled = off);
INSERT INTO twice_null SELECT nullif(g, 5), nullif(g, 5)::text FROM generate_series(1, 100) g;
INSERT INTO twice_null VALUES (NULL, 'a'), (NULL, 'a'), (1000, NULL), (1000, NULL);
CREATE INDEX twice_null_1 ON twice_null USING surfidx (k, s);
CREATE INDEX twice_null_2 ON twice_null USING surfidx (k NULLS FIRST, s);
SELECT call_unique('twice_null_1'), call_unique('twice_null_2', true);
SELECT * FROM problems();
DELETE FROM twice_null WHERE ctid IN (SELECT max(ctid) FROM twice_null GROUP BY k, s HAVING count(*) > 1);
SELECT * FROM problems() WHERE problem IS NOT NULL;
DROP TABLE twice, twice_null;
DROP FUNCTION call_unique, problems;
