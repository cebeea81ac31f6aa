-- The shop of bench/footprint.sh; indexes by :am
CREATE TABLE customers (id int, email text COLLATE "C", created timestamp, name text);
CREATE TABLE orders (id int, customer_id int, created timestamp, status text COLLATE "C",
	total numeric, note text);
CREATE TABLE items (order_id int, line int, sku int, qty int);
INSERT INTO customers SELECT g, md5(g::text) || '@example.com',
	'2020-01-01'::timestamp + g * interval '1 hour', 'name ' || g
FROM generate_series(1, 20000) g;
INSERT INTO orders SELECT g, 1 + g::int8 * 7919 % 20000,
	'2024-01-01'::timestamp + g * interval '1 minute',
	(ARRAY['open', 'paid', 'sent', 'done', 'done', 'done', 'done', 'done'])[1 + g % 8],
	g % 1000, repeat('x', 50)
FROM generate_series(1, 200000) g;
INSERT INTO items SELECT g / 2, g % 2, g % 1000, 1 FROM generate_series(2, 400000) g;
CREATE UNIQUE INDEX ON customers USING :am (id);
CREATE UNIQUE INDEX ON customers USING :am (email);
CREATE UNIQUE INDEX ON orders USING :am (id);
CREATE INDEX ON orders USING :am (customer_id, created);
CREATE INDEX ON orders USING :am (created);
CREATE INDEX ON orders USING :am (status, created);
CREATE UNIQUE INDEX ON items USING :am (order_id, line);
CREATE INDEX ON items USING :am (sku);
-- else statistics look stale
SELECT pg_stat_force_next_flush();
