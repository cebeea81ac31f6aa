-- Are index and table the same rows?  Leaves one line per comparison in demo.proofs.
CREATE TABLE demo.proofs (what text, by_index bigint, by_table bigint, missing bigint, extra bigint, disorder bigint, used boolean);

/*
 * Reads the columns by the index (index-only where it has them all), in its order, and by a sequential scan, in
 * one snapshot, and compares both ways.  The btree indexes are dropped for the time of
 * it, so that none of them can answer instead; "used" says that the plan was the one wanted.
 */
CREATE PROCEDURE demo.prove(what text, scan text, name text, columns text, sort text)
LANGUAGE plpgsql
SET work_mem = '256MB' SET max_parallel_workers_per_gather = 0 SET enable_bitmapscan = off AS $$
DECLARE
	read text := format('SELECT %s FROM file ORDER BY %s', columns, sort);
	plan text;
	p demo.proofs;
BEGIN
	BEGIN
		CALL demo.only('surfidx');
		SET LOCAL enable_seqscan = off;
		EXECUTE 'EXPLAIN (FORMAT json) ' || read INTO plan;
		p.used := plan LIKE '%"Node Type": "' || scan || '"%' AND plan LIKE '%"' || name || '_surfidx"%'
			AND plan NOT LIKE '%"Sort"%';
		EXECUTE 'CREATE TEMP TABLE by_index AS ' || read;
		SET LOCAL enable_seqscan = on;
		SET LOCAL enable_indexscan = off;
		SET LOCAL enable_indexonlyscan = off;
		EXECUTE format('CREATE TEMP TABLE by_table AS SELECT %s FROM file', columns);
		SELECT count(*) INTO p.by_index FROM by_index;
		SELECT count(*) INTO p.by_table FROM by_table;
		SELECT count(*) INTO p.missing FROM (TABLE by_table EXCEPT ALL TABLE by_index) x;
		SELECT count(*) INTO p.extra FROM (TABLE by_index EXCEPT ALL TABLE by_table) x;
		-- by_index lies in the order in which the index gave its rows
		EXECUTE format('SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY %1$s) <> row_number() OVER () AND
				(%2$s) IS DISTINCT FROM lag(%2$s) OVER () AS wrong FROM by_index) o WHERE wrong', sort, 'hashtext') INTO p.disorder;
		RAISE EXCEPTION USING ERRCODE = 'P0099', MESSAGE = to_json(p)::text;
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
		INSERT INTO demo.proofs SELECT * FROM json_populate_record(NULL::demo.proofs, SQLERRM::json);
	END;
END
$$;
