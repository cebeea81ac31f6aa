-- Storage parameter codec: with each codec the index gives the same answers
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS surfidx;
RESET client_min_messages;
CREATE TABLE codecs (id int, k int8, c int4, t timestamptz);
INSERT INTO codecs SELECT i, i::int8 * i * 7919 % 1000003, i / 7, timestamptz '2024-01-01 UTC' + i * interval '13 seconds' FROM generate_series(1, 8000) i;
VACUUM (FREEZE, ANALYZE) codecs;

CREATE FUNCTION by_codec(codec text, OUT keys text, OUT bound text, OUT size bigint, OUT used boolean) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
	EXECUTE format('CREATE INDEX codecs_k ON codecs USING surfidx (k) WITH (codec = %s)', codec);
	EXECUTE format('CREATE INDEX codecs_ct ON codecs USING surfidx (c, t) WITH (codec = %s)', codec);
	-- a merge writes leaves with it, too
	INSERT INTO codecs SELECT i, i::int8 * i * 7919 % 1000003, i / 7, timestamptz '2024-01-01 UTC' + i * interval '13 seconds' FROM generate_series(8001, 8500) i;
	PERFORM surfidx_merge('codecs_k'), surfidx_merge('codecs_ct');
	PERFORM surfidx_check('codecs_k', true), surfidx_check('codecs_ct', true);
	SELECT md5(string_agg(k::text, ' ')) INTO keys FROM (SELECT k FROM codecs ORDER BY k) s;
	SELECT md5(string_agg(t::text, ' ')) INTO bound FROM (SELECT t FROM codecs WHERE (c, t) >= (300, '2024-01-01 09:00 UTC') ORDER BY c, t) s;
	size := pg_relation_size('codecs_k') + pg_relation_size('codecs_ct');
	SELECT bool_or(codecs -> 'keys' ? codec) INTO used FROM (VALUES ('codecs_k'), ('codecs_ct')) i(name), surfidx_stats(i.name::regclass, 0);
	DROP INDEX codecs_k, codecs_ct;
	DELETE FROM codecs WHERE id > 8000;
END
$$;

CREATE TABLE codec_result AS
	SELECT codec, r.* FROM unnest('{auto,plain,for,lfor,ef,dbp,pdbp,vbyte,varintgb,streamvbyte,decimals}'::text[]) codec CROSS JOIN LATERAL by_codec(codec) r;
SELECT count(*), count(DISTINCT keys) AS keys, count(DISTINCT bound) AS bounds, count(DISTINCT size) > 1 AS sizes_differ FROM codec_result;
SELECT codec FROM codec_result WHERE size < (SELECT size FROM codec_result WHERE codec = 'auto');
-- (decimals are of doubles)
SELECT codec AS unused FROM codec_result WHERE NOT used AND codec <> 'auto';
SELECT count(*) AS none FROM codec_result WHERE keys IS DISTINCT FROM
	(SELECT md5(string_agg(k::text, ' ' ORDER BY k)) FROM (SELECT i::int8 * i * 7919 % 1000003 AS k FROM generate_series(1, 8500) i) s);
CREATE INDEX ON codecs USING surfidx (k) WITH (codec = zip);
DROP TABLE codecs, codec_result;
DROP FUNCTION by_codec;
