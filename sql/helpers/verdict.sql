-- Read by the tests of scans with \i: one query of a table, by index and without.  Their tables are made from one named src.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET surfidx.auto_merge = off;

-- Run a query with the index and without; 'ok' if the index was used and the answers are the same.
-- %t in the query stands for the table. An answer with ORDER BY must come in order, without a sort
-- (except by bitmap).
CREATE FUNCTION verdict(tab text, query text, how text DEFAULT 'index') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	q		text := replace(query, '%t', tab);
	ordered	bool := query ~ 'ORDER BY';
	agg		text := 'SELECT array_agg(r::text' || CASE WHEN ordered THEN '' ELSE ' ORDER BY r::text' END || ') FROM (' || q || ') r';
	node	text := CASE how WHEN 'index' THEN 'Index Scan' WHEN 'only' THEN 'Index Only Scan' ELSE 'Bitmap Index Scan' END;
	plan	text := '';
	line	text;
	want	text[];
	got		text[];
BEGIN
	PERFORM set_config('enable_seqscan', 'on', false), set_config('enable_sort', 'on', false),
		set_config('enable_indexscan', 'off', false), set_config('enable_indexonlyscan', 'off', false),
		set_config('enable_bitmapscan', 'off', false);
	EXECUTE agg INTO want;
	PERFORM set_config('enable_seqscan', 'off', false),
		set_config('enable_sort', CASE WHEN how = 'bitmap' THEN 'on' ELSE 'off' END, false),
		set_config('enable_indexscan', CASE WHEN how = 'bitmap' THEN 'off' ELSE 'on' END, false),
		set_config('enable_indexonlyscan', CASE WHEN how = 'only' THEN 'on' ELSE 'off' END, false),
		set_config('enable_bitmapscan', CASE WHEN how = 'bitmap' THEN 'on' ELSE 'off' END, false);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP
		plan := plan || line || E'\n';
	END LOOP;
	EXECUTE agg INTO got;
	PERFORM set_config('enable_seqscan', 'on', false), set_config('enable_sort', 'on', false),
		set_config('enable_indexscan', 'on', false), set_config('enable_indexonlyscan', 'on', false),
		set_config('enable_bitmapscan', 'on', false);
	IF got IS DISTINCT FROM want THEN
		RETURN format('WRONG: %s rows, should be %s', coalesce(cardinality(got), 0), coalesce(cardinality(want), 0));
	ELSIF how = 'bitmap' AND cardinality(want) = (SELECT count(*) FROM src) THEN
		RETURN 'ok';			-- core makes no bitmap of a whole index where it sees that it would be one
	ELSIF plan ~ 'One-Time Filter: false\n$' THEN
		RETURN 'ok';			-- 17 sees contradictions for itself
	ELSIF position(node IN plan) = 0 THEN
		RETURN 'no ' || node;
	ELSIF position('Sort' IN plan) > 0 AND how <> 'bitmap' THEN
		RETURN 'sorted';
	ELSIF query ~ 'WHERE' AND position('Index Cond' IN plan) = 0 AND query !~ 'nocond' THEN
		RETURN 'no index condition';
	END IF;
	RETURN 'ok';
END $$;
