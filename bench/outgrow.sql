-- The tables and transactions of bench/outgrow.sh, one database for each access method:
--
--	make_LOAD(am, options)	tables and empty indexes
--	grow_LOAD(n)			rows up to number n, 10,000 in a transaction
--	and the functions that its clients call
--
-- Order entry is in bench/orders.sql.

-- index_of name, table (columns), am, options, unique
CREATE PROCEDURE index_of(name text, of_table text, am text, options text, uniq text DEFAULT '')
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE %s INDEX %I ON %s %s', uniq, name,
		replace(of_table, ' (', format(' USING %I (', am)), options);
END $$;

-- ---- voter: a call comes in with a phone number and a vote ----

CREATE PROCEDURE make_voter(am text, options text) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE vote (id int8 NOT NULL, phone int8 NOT NULL, at timestamptz NOT NULL,
		contestant int2 NOT NULL, state char(2) NOT NULL);
	CREATE TABLE tally (contestant int2, state char(2), votes int8) WITH (fillfactor = 10);
	CREATE TABLE area (code int, state char(2));
	CREATE SEQUENCE vote_n;
	INSERT INTO area SELECT 200 + g, chr(65 + g % 25) || chr(65 + g / 25)
	FROM generate_series(1, 300) g;
	INSERT INTO tally SELECT c, s.state, 0
	FROM generate_series(1, 6) c, (SELECT DISTINCT state FROM area) s;
	CREATE INDEX area_code ON area (code);
	CREATE UNIQUE INDEX tally_key ON tally (contestant, state);
	CALL index_of('vote_id', 'vote (id)', am, options, 'UNIQUE');
	CALL index_of('vote_phone', 'vote (phone)', am, options);
END $$;

-- an area and seven digits
CREATE FUNCTION phone_of(area float8, number float8) RETURNS int8 LANGUAGE sql IMMUTABLE
RETURN (201 + floor(area * 300)::int8) * 10000000 + floor(number * 10000000)::int8;

CREATE PROCEDURE grow_voter(n int8) LANGUAGE plpgsql AS $$
DECLARE
	have int8;
BEGIN
	LOOP
		SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM vote_n INTO have;
		EXIT WHEN have >= n;
		INSERT INTO vote
		SELECT nextval('vote_n'), phone_of(random(), random()), now(), 1 + g % 6,
			chr((65 + g % 25)::int) || 'A'
		FROM generate_series(1, least(10000, n - have)) g;
		COMMIT;
	END LOOP;
END $$;

-- One vote: false if that phone has voted ten times.
CREATE FUNCTION cast_vote(p int8, c int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	s char(2);
BEGIN
	IF (SELECT count(*) FROM vote WHERE phone = p) >= 10 THEN
		RETURN false;
	END IF;
	SELECT state INTO s FROM area WHERE code = p / 10000000;
	INSERT INTO vote VALUES (nextval('vote_n'), p, now(), c, s);
	UPDATE tally SET votes = votes + 1 WHERE contestant = c AND state = s;
	RETURN true;
END $$;

-- ---- articles: users write articles, and comments on them ----

CREATE PROCEDURE make_articles(am text, options text) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE users (id int, name text COLLATE "C", comments int, about text)
		WITH (fillfactor = 80);
	CREATE TABLE article (id int8, author int, at timestamptz, title text, body text);
	CREATE TABLE comment (id int8, article int8, author int, at timestamptz, body text);
	CREATE SEQUENCE article_n;
	CREATE SEQUENCE comment_n;
	CALL index_of('users_id', 'users (id)', am, options, 'UNIQUE');
	CALL index_of('users_name', 'users (name)', am, options, 'UNIQUE');
	CALL index_of('article_id', 'article (id)', am, options, 'UNIQUE');
	CALL index_of('article_author', 'article (author, at)', am, options);
	CALL index_of('comment_id', 'comment (id)', am, options, 'UNIQUE');
	CALL index_of('comment_article', 'comment (article, id)', am, options);
	CALL index_of('comment_author', 'comment (author, at)', am, options);
	INSERT INTO users SELECT g, name_of(g), 0, repeat('u', 40) FROM generate_series(1, 100) g;
END $$;

CREATE FUNCTION name_of(n int8) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'user_' || to_hex(hashint8extended(n, 2) & 1099511627775);

-- n comments, for ten of which there is an article, and for twenty a user
CREATE PROCEDURE grow_articles(n int8) LANGUAGE plpgsql AS $$
DECLARE
	have int8;
	articles int8;
	top int;
BEGIN
	LOOP
		SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM comment_n INTO have;
		EXIT WHEN have >= n;
		INSERT INTO users SELECT g, name_of(g), 0, repeat('u', 40)
		FROM generate_series((SELECT max(id) FROM users) + 1, have / 20 + 500) g;
		SELECT max(id) FROM users INTO top;
		INSERT INTO article
		SELECT nextval('article_n'), 1 + random() * (top - 1), clock_timestamp(),
			'About ' || g, repeat('a', 250)
		FROM generate_series(1, 1000) g;
		SELECT last_value FROM article_n INTO articles;
		-- most are about what is new
		INSERT INTO comment
		SELECT nextval('comment_n'), 1 + floor(articles * (1 - random() ^ 3)),
			1 + random() * (top - 1), clock_timestamp(), repeat('c', (60 + g % 80)::int)
		FROM generate_series(1, least(10000, n - have)) g;
		COMMIT;
	END LOOP;
END $$;

-- age: that of the newest is 1
CREATE FUNCTION read_article(age int8) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	a record;
	n int8;
BEGIN
	SELECT r.id, r.body, u.name INTO a FROM article r JOIN users u ON u.id = r.author
	WHERE r.id = (SELECT last_value FROM article_n) + 1 - age;
	SELECT sum(length(s.body) + length(u.name)) INTO n
	FROM (SELECT body, author FROM comment c WHERE c.article = a.id ORDER BY id LIMIT 20) s
		JOIN users u ON u.id = s.author;
	RETURN n;
END $$;

CREATE FUNCTION read_user(n int8) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	u int := (SELECT id FROM users WHERE name = name_of(n));
BEGIN
	RETURN (SELECT sum(length(body)) FROM (SELECT body FROM comment c WHERE c.author = u
		ORDER BY at DESC LIMIT 10) s);
END $$;

CREATE FUNCTION write_comment(age int8, n int8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO comment VALUES (nextval('comment_n'),
		(SELECT last_value FROM article_n) + 1 - age, n, clock_timestamp(), repeat('c', 100));
	UPDATE users SET comments = comments + 1 WHERE id = n;
END $$;

CREATE FUNCTION write_article(n int8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO article VALUES (nextval('article_n'), n, clock_timestamp(), 'About ' || n,
		repeat('a', 250));
END $$;

-- ---- YCSB: rows of 100 bytes and a key in no order of the rows ----

CREATE PROCEDURE make_ycsb(am text, options text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE usertable (k %s, v text) WITH (fillfactor = 90)',
		CASE current_setting('bench.keys') WHEN 'email' THEN 'text COLLATE "C"'
			ELSE current_setting('bench.keys') END);
	CREATE SEQUENCE usertable_n;
	CALL index_of('usertable_k', 'usertable (k)', am, options, 'UNIQUE');
END $$;

CREATE FUNCTION email_of(n int8) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'user' || (hashint8extended(n, 1) & 1099511627775) || '@' ||
	(ARRAY['example.org', 'mail.example.com', 'example.net'])[(1 + n % 3)::int];
CREATE FUNCTION int8_of(n int8) RETURNS int8 LANGUAGE sql IMMUTABLE
RETURN hashint8extended(n, 1);
CREATE FUNCTION uuid_of(n int8) RETURNS uuid LANGUAGE sql IMMUTABLE
RETURN md5(n::text)::uuid;

CREATE PROCEDURE grow_ycsb(n int8) LANGUAGE plpgsql AS $$
DECLARE
	have int8;
BEGIN
	LOOP
		SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM usertable_n INTO have;
		EXIT WHEN have >= n;
		EXECUTE format('INSERT INTO usertable SELECT %s_of(nextval(''usertable_n'')),
			repeat(''x'', 100) FROM generate_series(1, $1)', current_setting('bench.keys'))
			USING least(10000, n - have);
		COMMIT;
	END LOOP;
END $$;

-- ---- order entry: the tables of bench/orders.sql, warehouse by warehouse ----

CREATE PROCEDURE make_orders(am text, options text) LANGUAGE plpgsql AS $$
DECLARE
	i regclass;
BEGIN
	CALL orders.make_indexes(am);
	IF options <> '' THEN
		FOR i IN SELECT indexrelid FROM pg_index WHERE indrelid IN
			(SELECT oid FROM pg_class WHERE relnamespace = 'orders'::regnamespace) LOOP
			EXECUTE format('ALTER INDEX %s SET %s', i, replace(options, 'WITH ', ''));
		END LOOP;
	END IF;
END $$;

CREATE PROCEDURE grow_orders(n int8) LANGUAGE plpgsql AS $$
BEGIN
	FOR w IN (SELECT count(*) + 1 FROM warehouse) .. n LOOP
		CALL orders.fill(w::int, w::int);
		COMMIT;
	END LOOP;
END $$;
