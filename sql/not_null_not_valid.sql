-- A column that is NOT NULL, NOT VALID (from 18 on) may have NULLs: its count is not that of all rows, and by a range
\getenv srcdir PG_ABS_SRCDIR
\set answers :srcdir '/sql/helpers/answers.sql'
\set ECHO none
\i :answers
\set ECHO all
CREATE TABLE nv (x int) WITH (autovacuum_enabled = off);
INSERT INTO nv SELECT nullif(i % 4, 0) FROM generate_series(1, 20000) i;
CREATE INDEX nv_x ON nv USING surfidx (x);
SELECT CASE WHEN current_setting('server_version_num')::int >= 180000
	THEN 'ALTER TABLE nv ADD CONSTRAINT nv_x_not_null NOT NULL x NOT VALID' ELSE 'SELECT' END AS constrain \gset
\set ECHO none
\o /dev/null
:constrain;
\o
\set ECHO all
VACUUM ANALYZE nv;
SELECT count(x), count(*) FROM nv;
SELECT plan_of('SELECT count(x) FROM nv') ~ 'x IS NOT NULL' AS bounded;
DROP TABLE nv, asked, declined;
DROP FUNCTION analyzed, plan_of, rows_of, differences, declined;
