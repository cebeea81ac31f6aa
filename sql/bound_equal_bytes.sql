-- A constant that is equal to the stored key but has other bytes, then a bound on a column with NULLs: the marker of a
-- NULL and the end of the range used to tie, and the bytes of the first column decided.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

CREATE TABLE equal_bytes (a numeric, b int);
INSERT INTO equal_bytes VALUES (1.0, NULL), (1.00, 1), (1, 2), (1.000, NULL), (2, 2), (NULL, NULL), (NULL, 1);
CREATE INDEX equal_bytes_last ON equal_bytes USING surfidx (a, b);
SELECT a, b FROM equal_bytes WHERE a = 1.00 AND b >= 1 ORDER BY a, b;
SELECT count(*) FROM equal_bytes WHERE a = 1 AND b IS NULL;
SELECT count(*) FROM equal_bytes WHERE a = 1.00 AND b IS NULL;
SELECT count(*) FROM equal_bytes WHERE a = 1.0000 AND b IS NULL;
SELECT count(*) FROM equal_bytes WHERE a = 1.0000 AND b IS NOT NULL;
SELECT count(*) FROM equal_bytes WHERE a = ANY ('{1.0000, 2.0, 3}') AND b < 10;
DROP INDEX equal_bytes_last;
CREATE INDEX equal_bytes_first ON equal_bytes USING surfidx (a DESC, b NULLS FIRST);
SELECT a, b FROM equal_bytes WHERE a = 1.00 AND b >= 1 ORDER BY a DESC, b NULLS FIRST;
SELECT count(*) FROM equal_bytes WHERE a = 1 AND b IS NULL;
SELECT count(*) FROM equal_bytes WHERE a = 1.00 AND b IS NULL;
SELECT count(*) FROM equal_bytes WHERE a = 1.0000 AND b IS NULL;
SELECT count(*) FROM equal_bytes WHERE a = 1.0000 AND b IS NOT NULL;
SELECT count(*) FROM equal_bytes WHERE a = ANY ('{1.0000, 2.0, 3}') AND b < 10;
SELECT count(*) FROM equal_bytes WHERE a IS NULL AND b IS NULL;
DROP TABLE equal_bytes;
