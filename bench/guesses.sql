-- Helpers of bench/guesses.sh: words of made-up syllables, by alphabet and collation.
CREATE TABLE bench.words (name text PRIMARY KEY, coll text, syllables text[]);
INSERT INTO bench.words
	SELECT name || CASE coll WHEN 'en_US.utf8' THEN '-libc' WHEN 'el-x-icu' THEN '-el' ELSE '' END, coll, string_to_array(syllables, ' ')
	FROM (VALUES
		('cyrillic', ARRAY['en-x-icu', 'en_US.utf8'],
			'ба ве го ди жу зе ки ла мо ну пе ри са то фу хи це чо шу ще эн юр яс ов ий'),
		('ukrainian', ARRAY['uk-x-icu'],
			'бі ве ґо ди жу зє ки ла мо ну пе рі са то фу хи це чо шу ще їв юр яс ов ко'),
		('greek', ARRAY['en-x-icu', 'el-x-icu', 'en_US.utf8'],
			'αν βέ γο δη ζώ θε ιο κα λί μο νυ ξα πό ρη σα τέ υς φω χά ψι ωρ δης που ος ας'),
		('german', ARRAY['en-x-icu'],
			'ber mül hof schä ner lin grü wald stein bach öt mann feld kel vogt rich au ei ter lo re ni sa du ha'),
		('czech', ARRAY['cs-x-icu'],
			'cho ná ček ov ra ko vá lí če mi ro du ří pa ve ho bu sta ky la ne tu zi sy jo'),
		('latin', ARRAY['en-x-icu', 'en_US.utf8'],
			'ber mul hof scha ner lin gru wald stein bach ot mann feld kel vogt rich au ei ter lo re ni sa du ha')
	) v (name, colls, syllables), unnest(colls) coll
	WHERE coll IN (SELECT collname FROM pg_collation);
INSERT INTO bench.words SELECT 'chinese', 'en-x-icu', array_agg(chr(19968 + i * 37)) FROM generate_series(1, 480) i;

-- A word of four to six syllables, with a capital.
CREATE FUNCTION bench.word(s text[]) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT initcap(string_agg(s[1 + floor(random() * cardinality(s))::int], '') COLLATE "en-x-icu")
	FROM generate_series(1, 4 + floor(random() * 3)::int)
$$;

-- Rows of r (base), those that come later, and what is looked up.
CREATE PROCEDURE bench.load_words(set_name text, n int)
LANGUAGE plpgsql AS $$
DECLARE
	w bench.words;
BEGIN
	SELECT * INTO STRICT w FROM bench.words WHERE name = set_name;
	PERFORM setseed(0.37);
	DROP TABLE IF EXISTS r, base, more, hit;
	EXECUTE format('CREATE TABLE base (k text COLLATE %I)', w.coll);
	INSERT INTO base SELECT bench.word(w.syllables) FROM generate_series(1, n);
	CREATE TABLE more (LIKE base);
	INSERT INTO more SELECT bench.word(w.syllables) FROM generate_series(1, n / 10);
	CREATE TABLE hit AS SELECT k FROM base ORDER BY random() LIMIT n / 5;
	DELETE FROM bench.loaded;
	INSERT INTO bench.loaded VALUES (n, n / 10);
END
$$;

-- One turn of one library, in a backend that has looked nothing up.
CREATE PROCEDURE bench.guess(set_name text, library text)
LANGUAGE plpgsql
SET surfidx.auto_merge = off SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET enable_memoize = off SET enable_material = off AS $$
DECLARE
	c0 bigint;
	pieces int := 20;
	extra float8 := (SELECT l.extra FROM bench.loaded l);
	hits float8 := (SELECT count(*) FROM hit);
	pages int := pg_relation_size('more') / 8192 / pieces + 1;
BEGIN
	c0 := bench.cpu();
	PERFORM FROM r WHERE k = (SELECT k FROM hit LIMIT 1);
	CALL bench.note(set_name, 'first lookup, us', library, (bench.cpu() - c0) / 1000.0);
	FOR i IN 1..2 LOOP
		c0 := bench.cpu();
		PERFORM count(r.k) FROM hit JOIN r USING (k);
	END LOOP;
	CALL bench.note(set_name, 'hit, ns', library, (bench.cpu() - c0) / hits);
	FOR i IN 0..pieces - 1 LOOP
		INSERT INTO r SELECT * FROM more
			WHERE ctid >= format('(%s,0)', i * pages)::tid AND ctid < format('(%s,0)', (i + 1) * pages)::tid;
	END LOOP;
	c0 := bench.cpu();
	PERFORM count(r.k) FROM hit JOIN r USING (k);
	CALL bench.note(set_name, 'hit beside what is not merged, ns', library, (bench.cpu() - c0) / hits);
	c0 := bench.cpu();
	SET LOCAL client_min_messages = debug1;
	PERFORM surfidx_merge('r_index');
	SET LOCAL client_min_messages = warning;
	CALL bench.note(set_name, 'merge, ns per new row', library, (bench.cpu() - c0) / extra);
END
$$;

-- Medians of each metric, libraries as in the list "name=file ...", the first of which is 1.
CREATE FUNCTION bench.guesses(set_name text, libraries text)
RETURNS TABLE (keys text, metric text, library text, median text, low text, high text, to_first numeric)
LANGUAGE sql STABLE AS $$
	SELECT key_set, s.metric, am, bench.number(s.median), bench.number(min), bench.number(max),
		(s.median / first_value(s.median) OVER (PARTITION BY s.metric ORDER BY n))::numeric(10, 2)
	FROM (SELECT *, position(' ' || am || '=' IN ' ' || libraries) AS n FROM bench.summary) s
	WHERE key_set = set_name ORDER BY s.metric, n
$$;
