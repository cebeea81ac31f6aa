-- Are index and table the same rows?  Each comparison leaves a line in demo.proofs.
CREATE TABLE demo.proofs (n serial, what text, by_index bigint, by_table bigint, missing bigint, extra bigint,
						  disorder bigint, used boolean);

/*
 * Read columns by the index, in its order, and by a sequential scan, and compare both ways.  The btree
 * indexes are dropped for the time of it, so that none of them can answer instead; "used" says that the
 * plan was the one wanted.  wrong_order: a condition that no row may fulfil, if the rows came in order.
 */
CREATE PROCEDURE demo.prove(what text, node text, name text, columns text, sort text, wrong_order text)
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
		p.used := plan LIKE '%"Node Type": "' || node || '"%' AND plan LIKE '%"' || name || '_surfidx"%'
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
		-- the rows of by_index lie as the index gave them
		EXECUTE format('SELECT count(*) FROM (SELECT %s AS wrong FROM by_index) o WHERE wrong', wrong_order) INTO p.disorder;
		RAISE EXCEPTION USING ERRCODE = 'P0099', MESSAGE = to_json(p)::text;
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
		p := json_populate_record(p, SQLERRM::json);
	END;
	INSERT INTO demo.proofs (what, by_index, by_table, missing, extra, disorder, used)
		VALUES (what, p.by_index, p.by_table, p.missing, p.extra, p.disorder, p.used);
END
$$;

CALL demo.prove('path', 'Index Only Scan', 'path', 'path', 'path', 'lag(path) OVER () > path');
CALL demo.prove('path, whole rows', 'Index Scan', 'path', 'ctid AS tid, file.*', 'path', 'lag(path) OVER () > path');
CALL demo.prove('id', 'Index Only Scan', 'id', 'id', 'id', 'lag(id) OVER () >= id');
CALL demo.prove('hash', 'Index Only Scan', 'hash', 'hash', 'hash', 'lag(hash) OVER () > hash');
CALL demo.prove('changed DESC', 'Index Only Scan', 'changed', 'changed', 'changed DESC', 'lag(changed) OVER () < changed');
CALL demo.prove('package, path, id', 'Index Only Scan', 'package', 'package, path, id', 'package, path',
				'(lag(package) OVER (), lag(path) OVER ()) > (package, path)');

-- and the verifier: every page and, with true, an entry for every row of the table; an error says what is wrong
SELECT surfidx_check((name || '_surfidx')::regclass, true) FROM demo.wanted;
