-- Order entry, in the manner of TPC-C (its tables, its mix, its distribution of customers and items; no think times, no rollbacks, prices
-- and addresses left out): what bench/load.sh calls "orders".  All keys are unique indexes of one access method, but the customers' names.
CREATE SCHEMA orders;
SET search_path = orders;

CREATE TABLE warehouse (w_id int, ytd numeric NOT NULL DEFAULT 0);
CREATE TABLE district (w_id int, d_id int, ytd numeric NOT NULL DEFAULT 0, next_o_id int NOT NULL) WITH (fillfactor = 50);
CREATE TABLE customer (w_id int, d_id int, c_id int, last text COLLATE "C", first text COLLATE "C", balance numeric NOT NULL DEFAULT 0,
	payments int NOT NULL DEFAULT 0, data text);
CREATE TABLE history (w_id int, d_id int, c_id int, at timestamptz, amount numeric);
CREATE TABLE item (i_id int, price numeric, name text);
CREATE TABLE stock (w_id int, i_id int, quantity int, ytd int NOT NULL DEFAULT 0, data text);
CREATE TABLE orders (w_id int, d_id int, o_id int, c_id int, entered timestamptz, carrier int, lines int);
CREATE TABLE new_order (w_id int, d_id int, o_id int);
CREATE TABLE order_line (w_id int, d_id int, o_id int, line int, i_id int, quantity int, amount numeric, delivered timestamptz);

-- A last name is three of ten syllables.
CREATE FUNCTION last_name(n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT s[1 + n / 100] || s[1 + n / 10 % 10] || s[1 + n % 10]
	FROM (SELECT ARRAY['BAR', 'OUGHT', 'ABLE', 'PRI', 'PRES', 'ESE', 'ANTI', 'CALLY', 'ATION', 'EING'] AS s) x
$$;
-- A number from x to y, some of them much more often than others.
CREATE FUNCTION often(a int, x int, y int) RETURNS int LANGUAGE sql VOLATILE AS $$
	SELECT (((random() * a)::int | (x + floor(random() * (y - x + 1))::int)) + 259) % (y - x + 1) + x
$$;

-- 3,000 customers and orders in each of ten districts, 100,000 items in stock; the last 900 orders of a district are not delivered.
-- From a later warehouse on: after those that are there.
CREATE PROCEDURE fill(warehouses int, from_warehouse int DEFAULT 1) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setseed(0.5);
	IF from_warehouse = 1 THEN
		TRUNCATE warehouse, district, customer, history, item, stock, orders, new_order, order_line;
		INSERT INTO item SELECT i, (100 + floor(random() * 9900)) / 100, 'item ' || i
		FROM generate_series(1, 100000) i;
	END IF;
	INSERT INTO warehouse SELECT generate_series(from_warehouse, warehouses);
	INSERT INTO district SELECT w, d, 0, 3001
	FROM generate_series(from_warehouse, warehouses) w, generate_series(1, 10) d;
	INSERT INTO customer SELECT w, d, c, orders.last_name(CASE WHEN c <= 1000 THEN c - 1 ELSE orders.often(255, 0, 999) END),
		substr(md5(random()::text), 1, 8 + c % 8), 0, 0, repeat('c', 300)
		FROM generate_series(from_warehouse, warehouses) w, generate_series(1, 10) d, generate_series(1, 3000) c;
	INSERT INTO stock SELECT w, i, 10 + floor(random() * 91), 0, repeat('s', 200) FROM generate_series(from_warehouse, warehouses) w, generate_series(1, 100000) i;
	INSERT INTO orders SELECT w, d, o, (o * 1009 + d) % 3000 + 1, now(), CASE WHEN o <= 2100 THEN 1 + o % 10 END, 5 + floor(random() * 11)
		FROM generate_series(from_warehouse, warehouses) w, generate_series(1, 3000) o, generate_series(1, 10) d;
	INSERT INTO new_order SELECT w_id, d_id, o_id FROM orders WHERE carrier IS NULL AND w_id >= from_warehouse;
	INSERT INTO order_line SELECT w_id, d_id, o_id, l, 1 + floor(random() * 100000), 5, 10, CASE WHEN carrier IS NOT NULL THEN entered END
		FROM orders, generate_series(1, lines) l WHERE w_id >= from_warehouse;
END $$;

CREATE PROCEDURE make_indexes(am text) LANGUAGE plpgsql AS $$
DECLARE
	i text;
BEGIN
	FOREACH i IN ARRAY ARRAY['warehouse_key ON warehouse (w_id)', 'district_key ON district (w_id, d_id)', 'customer_key ON customer (w_id, d_id, c_id)',
			'item_key ON item (i_id)', 'stock_key ON stock (w_id, i_id)', 'orders_key ON orders (w_id, d_id, o_id)',
			'orders_customer ON orders (w_id, d_id, c_id, o_id)', 'new_order_key ON new_order (w_id, d_id, o_id)',
			'order_line_key ON order_line (w_id, d_id, o_id, line)'] LOOP
		EXECUTE 'DROP INDEX IF EXISTS ' || split_part(i, ' ', 1);
		EXECUTE 'CREATE UNIQUE INDEX ' || replace(i, ' (', format(' USING %I (', am));
	END LOOP;
	DROP INDEX IF EXISTS customer_name;
	EXECUTE format('CREATE INDEX customer_name ON customer USING %I (w_id, d_id, last, first)', am);
END $$;

-- The same as primary keys, and foreign keys between the tables.
CREATE PROCEDURE drop_keys() LANGUAGE plpgsql AS $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint
			WHERE connamespace = 'orders'::regnamespace AND contype IN ('f', 'p') ORDER BY contype LOOP
		EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.t, c.conname);
	END LOOP;
END $$;

CREATE PROCEDURE make_keys(am text) LANGUAGE plpgsql AS $$
DECLARE
	method text := CASE am WHEN 'btree' THEN '' ELSE format('WITH (access_method = %s)', am) END;
	k text;
BEGIN
	FOREACH k IN ARRAY ARRAY['warehouse w_id', 'district w_id, d_id', 'customer w_id, d_id, c_id',
			'item i_id', 'stock w_id, i_id', 'orders w_id, d_id, o_id', 'new_order w_id, d_id, o_id',
			'order_line w_id, d_id, o_id, line'] LOOP
		EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (%s) %s', split_part(k, ' ', 1),
			substr(k, strpos(k, ' ')), method);
	END LOOP;
	ALTER TABLE district ADD FOREIGN KEY (w_id) REFERENCES warehouse;
	ALTER TABLE customer ADD FOREIGN KEY (w_id, d_id) REFERENCES district;
	ALTER TABLE history ADD FOREIGN KEY (w_id, d_id, c_id) REFERENCES customer;
	ALTER TABLE stock ADD FOREIGN KEY (w_id) REFERENCES warehouse, ADD FOREIGN KEY (i_id) REFERENCES item;
	ALTER TABLE orders ADD FOREIGN KEY (w_id, d_id, c_id) REFERENCES customer;
	ALTER TABLE new_order ADD FOREIGN KEY (w_id, d_id, o_id) REFERENCES orders;
	ALTER TABLE order_line ADD FOREIGN KEY (w_id, d_id, o_id) REFERENCES orders,
		ADD FOREIGN KEY (w_id, i_id) REFERENCES stock;
	DROP INDEX IF EXISTS orders_customer, customer_name;
	EXECUTE format('CREATE UNIQUE INDEX orders_customer ON orders USING %I (w_id, d_id, c_id, o_id)', am);
	EXECUTE format('CREATE INDEX customer_name ON customer USING %I (w_id, d_id, last, first)', am);
END $$;

-- ---- the transactions ----

-- 45 %: 5 to 15 items, in the order of their numbers, so that sessions wait for each other in one order
CREATE FUNCTION enter_order(w int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	d int := 1 + floor(random() * 10);
	c int := orders.often(1023, 1, 3000);
	items int[] := ARRAY(SELECT DISTINCT orders.often(8191, 1, 100000) FROM generate_series(1, 5 + floor(random() * 11)::int) ORDER BY 1);
	o int;
	i int;
	p numeric;
BEGIN
	PERFORM ytd FROM warehouse WHERE w_id = w;
	PERFORM last, balance FROM customer WHERE w_id = w AND d_id = d AND c_id = c;
	UPDATE district SET next_o_id = next_o_id + 1 WHERE w_id = w AND d_id = d RETURNING next_o_id - 1 INTO o;
	INSERT INTO orders VALUES (w, d, o, c, clock_timestamp(), NULL, cardinality(items));
	INSERT INTO new_order VALUES (w, d, o);
	FOR n IN 1 .. cardinality(items) LOOP
		i := items[n];
		SELECT price FROM item WHERE i_id = i INTO p;
		UPDATE stock SET quantity = CASE WHEN quantity >= 15 THEN quantity - 5 ELSE quantity + 86 END, ytd = ytd + 5 WHERE w_id = w AND i_id = i;
		INSERT INTO order_line VALUES (w, d, o, n, i, 5, 5 * p, NULL);
	END LOOP;
END $$;

-- The customer, of 100 ones 60 by name: the one in the middle of those of that name.
CREATE FUNCTION find_customer(w int, d int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	ids int[];
BEGIN
	IF random() >= 0.6 THEN
		RETURN orders.often(1023, 1, 3000);
	END IF;
	ids := ARRAY(SELECT c_id FROM customer WHERE w_id = w AND d_id = d AND last = orders.last_name(orders.often(255, 0, 999)) ORDER BY first);
	RETURN ids[(cardinality(ids) + 1) / 2];
END $$;

-- 43 %
CREATE FUNCTION pay(w int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	d int := 1 + floor(random() * 10);
	c int := orders.find_customer(w, d);
	sum numeric := (1 + floor(random() * 5000));
BEGIN
	UPDATE warehouse SET ytd = ytd + sum WHERE w_id = w;
	UPDATE district SET ytd = ytd + sum WHERE w_id = w AND d_id = d;
	UPDATE customer SET balance = balance - sum, payments = payments + 1 WHERE w_id = w AND d_id = d AND c_id = c;
	INSERT INTO history VALUES (w, d, c, clock_timestamp(), sum);
END $$;

-- 4 %: a customer's last order
CREATE FUNCTION order_status(w int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	d int := 1 + floor(random() * 10);
	c int := orders.find_customer(w, d);
	o int;
BEGIN
	SELECT o_id FROM orders WHERE w_id = w AND d_id = d AND c_id = c ORDER BY o_id DESC LIMIT 1 INTO o;
	RETURN (SELECT sum(quantity) FROM order_line WHERE w_id = w AND d_id = d AND o_id = o);
END $$;

-- 4 %: the oldest order of each district goes out
CREATE FUNCTION deliver(w int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	o int;
	c int;
	sum numeric;
BEGIN
	FOR d IN 1 .. 10 LOOP
		DELETE FROM new_order n WHERE n.ctid = (SELECT m.ctid FROM new_order m WHERE w_id = w AND d_id = d ORDER BY o_id LIMIT 1 FOR UPDATE SKIP LOCKED)
			RETURNING o_id INTO o;
		CONTINUE WHEN o IS NULL;
		UPDATE orders SET carrier = 1 WHERE w_id = w AND d_id = d AND o_id = o RETURNING c_id INTO c;
		WITH l AS (UPDATE order_line SET delivered = clock_timestamp() WHERE w_id = w AND d_id = d AND o_id = o RETURNING amount)
			SELECT sum(l.amount) FROM l INTO sum;
		UPDATE customer SET balance = balance + coalesce(sum, 0) WHERE w_id = w AND d_id = d AND c_id = c;
	END LOOP;
END $$;

-- 4 %: items of a district's last 20 orders of which little is left
CREATE FUNCTION stock_level(w int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	d int := 1 + floor(random() * 10);
	o int := (SELECT next_o_id FROM district WHERE w_id = w AND d_id = d);
BEGIN
	RETURN (SELECT count(DISTINCT s.i_id) FROM order_line l JOIN stock s ON s.w_id = w AND s.i_id = l.i_id
		WHERE l.w_id = w AND l.d_id = d AND l.o_id >= o - 20 AND l.o_id < o AND s.quantity < 15);
END $$;
