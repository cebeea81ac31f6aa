# A queue: rows come at one end and go at the other, some come before the first, while VACUUM and
# merges go on.  Each session sees through surfidx what it sees through btree, in one snapshot,
# however much of the beginning it has found dead before (X8).
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('queue', "surfidx.delta_size = '64kB'\nautovacuum = off\nfsync = off");
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE q (k int8, k2 int8, pad text) WITH (fillfactor = 60);
CREATE SEQUENCE s;
INSERT INTO q SELECT n, n, repeat('x', 50)
	FROM (SELECT nextval('s') AS n FROM generate_series(1, 4000)) x;
CREATE INDEX q_btree ON q (k);
CREATE INDEX q_surfidx ON q USING surfidx (k2);
VACUUM ANALYZE q;
CREATE TABLE differences (what text);
ALTER DATABASE postgres SET enable_seqscan = off;
ALTER DATABASE postgres SET enable_bitmapscan = off;
ALTER DATABASE postgres SET enable_indexonlyscan = off;
ALTER DATABASE postgres SET enable_sort = off;
CREATE FUNCTION first_rows(many int, above int8, OUT btree text, OUT surfidx text)
	LANGUAGE sql STABLE AS $$
	SELECT (SELECT string_agg(k::text, ' ')
			FROM (SELECT k FROM q WHERE k > above ORDER BY k LIMIT many) x),
		(SELECT string_agg(k2::text, ' ')
			FROM (SELECT k2 FROM q WHERE k2 > above ORDER BY k2 LIMIT many) y) $$;
CREATE PROCEDURE play(n int, seed float8) LANGUAGE plpgsql AS $$
DECLARE
	a int8;
	r record;
BEGIN
	PERFORM setseed(seed);
	FOR i IN 1 .. n LOOP
		CASE WHEN random() < 0.1 THEN
			SELECT k2 + (random() * 40)::int - 20 INTO a FROM q ORDER BY k2 LIMIT 1;
			INSERT INTO q VALUES (a, a, repeat('x', 50));
		WHEN random() < 0.5 THEN
			a := nextval('s');
			INSERT INTO q VALUES (a, a, repeat('x', 50));
		ELSE
			DELETE FROM q WHERE ctid = (SELECT ctid FROM q ORDER BY k2 FOR UPDATE SKIP LOCKED
				OFFSET CASE WHEN random() < 0.2 THEN (random() * 30)::int ELSE 0 END LIMIT 1);
		END CASE;
		IF random() < 0.03 THEN ROLLBACK; ELSE COMMIT; END IF;
		IF i % 5 = 0 THEN
			SELECT coalesce(min(k), 0) + (random() * 60)::int - 10 INTO a FROM q;
			IF random() < 0.6 THEN a := -1000000; END IF;
			r := first_rows(1 + (random() * 40)::int, a);
			IF r.btree IS DISTINCT FROM r.surfidx THEN
				INSERT INTO differences VALUES (format('above %s: %s; %s', a, r.btree, r.surfidx));
			END IF;
			COMMIT;
		END IF;
	END LOOP;
END $$;
END
like($node->safe_psql('postgres', 'EXPLAIN SELECT k2 FROM q WHERE k2 > 1 ORDER BY k2 LIMIT 3'),
	qr/Index Scan using q_surfidx/, 'asked through surfidx');

my @players = map { start_script($node, "player$_", "CALL play(4000, 0.$_);\n") } 1 .. 3;
my $turn = "SELECT surfidx_merge('q_surfidx');\nSELECT pg_sleep(0.02);\n" x 25 . "VACUUM q;\n";
my $keeper = start_script($node, 'keeper', $turn x 100);
$_->finish for @players;
stop_script($keeper);
is($node->safe_psql('postgres', 'SELECT what FROM differences LIMIT 3'), '', 'no difference');
is(slurp_file("${PostgreSQL::Test::Utils::tmp_check}/player$_.log"), '', "player $_ had no error")
  for 1 .. 3;
my $kept = slurp_file("${PostgreSQL::Test::Utils::tmp_check}/keeper.log");
unlike($kept, qr/error/i, 'merges and VACUUM had no error');
like($kept, qr/^[1-9]\d*$/m, '... and were there');
is($node->safe_psql('postgres', "SELECT surfidx_check('q_surfidx', true, true)"), '', 'check');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing wrong in the log');
$node->stop;
done_testing();
