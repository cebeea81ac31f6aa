# The order of an index changes while the server runs (K4, R12).  A composite type that loses its first
# attribute does that: from then on its values are compared by the second one.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

# n rows that are in memory only, in an order that is not that of now.
sub in_memory
{
	my ($n, $a, $b) = @_;

	$a ||= '(i * 7927) % 10007';
	$b ||= '(i * 104729) % 10009';

	sql(<<'END');
SET surfidx.auto_merge = off;
DROP TABLE IF EXISTS t;
DROP TYPE IF EXISTS changing;
CREATE TYPE changing AS (a int, b int);
CREATE TABLE t (i int, v changing) WITH (autovacuum_enabled = off);
CREATE INDEX t_v ON t USING surfidx (v);
END
	sql("INSERT INTO t SELECT i, ROW($a, $b)::changing
		FROM generate_series(1, $n) i");
	is(in_order(), $n < 10000 ? $n : 10000, 'all rows');
	sql('ANALYZE t');
	sql('ALTER TYPE changing DROP ATTRIBUTE a');
	return;
}

# The rows that the index gives, or an error.
sub in_order
{
	return finish(start('SET enable_seqscan = off; SET enable_sort = off;
		SELECT count(*) FROM (SELECT v FROM t ORDER BY v LIMIT 10000) x'));
}

scenario 'a scan of what is in another order', ['steps go back,batches in any order'], sub {
	my $said = 0;

	for my $n (map { $_ * 120 } 1 .. 8)
	{
		in_memory($n);
		my $found = in_order();

		# nobody is promised all rows of an index that is out of order
		ok($found eq 'error XX002' || $found <= $n, "$found of $n, no round in circles");
		next if $found ne 'error XX002';
		$said++;
		is(in_order(), $n, 'it is put in the order of now after that');
	}
	cmp_ok($said, '>', 0, 'says so');
	sql('DROP TABLE t');
};

# Text's order is not looked at so closely, and that of comparisons that are none says nothing.
scenario 'a scan that is led round', ['steps without an end'], sub {
	my $mutants = join ',', grep { length } $ENV{SURFIDX_MUTANT} // '', 'steps go back',
	  'batches in any order';
	my $ended = 0;

	sql("ALTER SYSTEM SET surfidx.mutants = '$mutants'; SELECT pg_reload_conf()");
	sql('SELECT 1') until sql('SHOW surfidx.mutants') eq $mutants;
	for my $n (map { $_ * 120 } 1 .. 8)
	{
		in_memory($n);
		my $said = finish(start("SET statement_timeout = '10s'; SET enable_seqscan = off;
			SET enable_sort = off; SELECT count(*) FROM (SELECT v FROM t ORDER BY v OFFSET 0) x"));

		isnt($said, 'error 57014', "$n rows: ends");
		$ended++ if $said eq 'error XX002';
	}
	cmp_ok($ended, '>', 0, 'says so');
	sql('ALTER SYSTEM RESET surfidx.mutants; SELECT pg_reload_conf()');
	my $own = $ENV{SURFIDX_MUTANT} // '';
	sql('SELECT 1') until sql('SHOW surfidx.mutants') eq $own;
	sql('DROP TABLE t');
};

scenario 'walks through what is in another order', ['walks go back'], sub {
	my $rows = 5000;

	# (the limit ends what goes round in circles)
	for my $walk ("SELECT count(*) FROM t WHERE v > '(0)'::changing",
		"SELECT count(v) FROM t WHERE v > '(0)'::changing",
		"SELECT surfidx_count('t_v', '(0)'::changing, NULL)", 'VACUUM t',
		"SELECT surfidx_merge('t_v')")
	{
		in_memory($rows, '(i * 6151::int8) % 100003', '(i * 7919::int8) % 100000');
		my $s = session();
		$s->query("SET statement_timeout = '10s'; SET enable_seqscan = off;
			SET enable_bitmapscan = off; SET surfidx.aggregates = on");
		my $said = finish(start($walk, $s));

		# (a count may have an entry twice)
		like($said, qr/^(error XX002|\d*)$/, "$walk ends");
		like(in_order(), qr/^(error XX002|$rows)$/, 'and what follows');
	}
	sql('DROP TABLE t');
};

scenario 'entries in another order beside a leaf', ['batches in any order'], sub {
	sql(<<'END');
DROP TYPE IF EXISTS changing;
CREATE TYPE changing AS (a int, b int, c int);
CREATE TABLE t (i int, v changing) WITH (autovacuum_enabled = off);
CREATE INDEX t_v ON t USING surfidx (v) WITH (delta_size = 64, run_ratio = 0);
INSERT INTO t
SELECT i, ROW(i * 6151 % 100003, i * 7919 % CASE WHEN i > 20 THEN 20 ELSE 100000 END, i)::changing
FROM generate_series(1, 3020) i;
END
	sql("SELECT surfidx_merge('t_v')");
	sql('INSERT INTO t SELECT i, ROW(i * 6151 % 100003, i * 7919 % 20, i)::changing
		FROM generate_series(3021, 3040) i');
	is(in_order(), 3040, 'all rows');
	sql('ALTER TYPE changing DROP ATTRIBUTE a');
	my $s = session();
	$s->query('SET enable_seqscan = off; SET enable_bitmapscan = off');
	my $of = q{FROM (SELECT i FROM t WHERE v < '(44760,0)'::changing OFFSET 0) x};
	my $said = finish(start("SELECT count(*) - count(DISTINCT i) $of", $s));

	like($said, qr/^(error XX002|0)$/, 'come once, or not at all');
	is(finish(start("SELECT count(*) - count(DISTINCT i) $of", $s)), 0, 'and then once');
	sql('DROP TABLE t');
};

scenario 'CLUSTER by what is in another order', ['images of before the order'], sub {
	in_memory(480);
	is(error_of('CLUSTER t USING t_v'), '', 'goes on');
	is(sql('SELECT count(DISTINCT i) FROM (SELECT i, ctid FROM t OFFSET 0) x'), 480, 'with all rows');
};

scenario 'a merge of what is in another order', ['chunks in any order'], sub {
	in_memory(5000);
	is(sql("SELECT surfidx_merge('t_v')"), 5000, 'takes each entry');
	is(sql("SELECT entries FROM surfidx_stats('t_v')"), 5000, 'once');
	is(error_of("SELECT surfidx_check('t_v', true, true)"), '', 'in the order of now');
};

# A tree of three inner levels, of which neighbours have changed places.
sub deep
{
	sql(<<'END');
SET surfidx.auto_merge = off;
DROP TABLE IF EXISTS t;
DROP TYPE IF EXISTS changing;
CREATE TYPE changing AS (a int, b text COLLATE "C");
CREATE TABLE t (i int, v changing) WITH (autovacuum_enabled = off);
END
	sql(q{INSERT INTO t SELECT i, ROW(i, lpad((i * 10 + hashint4(i)::int8 % 1500 + 2000)::text, 8, '0')
		|| repeat('x', 600))::changing FROM generate_series(1, 5000) i});
	sql('CREATE INDEX t_v ON t USING surfidx (v)');
	sql('ALTER TYPE changing DROP ATTRIBUTE a');
	return;
}

# Entries that lead to no row.
sub too_many
{
	return sql("SELECT entries - (SELECT count(*) FROM (SELECT ctid FROM t OFFSET 0) x)
		FROM surfidx_stats('t_v')");
}

# Pages of the tree whose right link leads to another place than where they end.
sub wrong_links
{
	return sql(q{SELECT count(*) FROM
		generate_series(3, pg_relation_size('t_v') / 8192 - 1) b, surfidx_page_stats('t_v', b) p,
		surfidx_page_stats('t_v', p.right_link) r
		WHERE p.right_link IS NOT NULL AND p.kind IN ('leaf', 'inner') AND
		(r.level, r.low) IS DISTINCT FROM (p.level, p.high)});
}

scenario 'a file out of order is made shorter', ['any left neighbour'], sub {
	deep();
	sql('DELETE FROM t WHERE i BETWEEN 500 AND 2500');
	is(error_of('VACUUM t'), '', "VACUUM $_ calls nothing damage") foreach 1 .. 3;
	is(too_many(), 0, 'leaves no dead entry');
	is(wrong_links(), 0, 'and no wrong link');
	sql('DROP TABLE t');
};

scenario 'VACUUM out of order beside a merge', [], sub {
	deep();
	sql('DELETE FROM t WHERE i % 3 = 1');
	for my $skip (2, 4, 7)
	{
		sql(qq{INSERT INTO t SELECT i, ROW(lpad((i * 10)::text, 8, '0') || repeat('y', 600))::changing
			FROM generate_series($skip, 5000, 3) i});
		sql("DELETE FROM t WHERE i % 7 = $skip % 7");
		arm('vacuum group', 'wait', $skip);
		my $v = start('VACUUM t');
		wait_at('vacuum group');
		sql("SELECT surfidx_merge('t_v')");
		release('vacuum group');
		like(finish($v), qr/^(error XX002)?$/, 'ends, or says why it cannot');
	}
	sql('VACUUM t');
	is(too_many(), 0, 'no dead entry is left');
	sql('DROP TABLE t');
};

run_scenarios();
