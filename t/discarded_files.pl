# What a session (or shared memory) remembers of an index whose file is discarded: each memory is
# made of a file that a transaction does not keep, and asked again once the index is back in the old
# file, or in another one with the same numbers.  t/README.md names the memories, and the ways in
# which files go.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('discarded', <<'END');
surfidx.auto_merge = off
surfidx.unique_notice = off
max_prepared_transactions = 2
enable_seqscan = off
enable_bitmapscan = off
END
my ($place) = PostgreSQL::Test::Utils::tempdir();

$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx');
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$place'");

my $rows = 20000;

sub say_to { return ask($_[0], "$_[1];") }

my $merge = "SELECT surfidx_merge('d_k'), surfidx_merge('d_s')";

sub rows
{
	my ($from, $to) = @_;

	return "INSERT INTO d (k, s) SELECT g, visitor(g) FROM generate_series($from, $to) g";
}

# Table d with a unique index on numbers, one on text with a dictionary, and a tree of two levels.
sub make
{
	my ($persistence) = @_;

	$node->safe_psql('postgres', <<"END");
DROP TABLE IF EXISTS d;
CREATE $persistence TABLE d (k int8, s text COLLATE "C", c int DEFAULT random() * 100)
	WITH (autovacuum_enabled = off);
INSERT INTO d (k, s) SELECT g, visitor(g) FROM generate_series(1, $rows) g;
CREATE UNIQUE INDEX d_k ON d USING surfidx (k);
CREATE INDEX d_s ON d USING surfidx (s) WITH (hope = fsst);
CREATE INDEX d_b ON d USING btree (c);
END
	return;
}

# Lookups one by one, by a function, so that each is planned once and goes down the tree by itself.
$node->safe_psql('postgres', q{
CREATE FUNCTION visitor(k int8) RETURNS text IMMUTABLE LANGUAGE sql AS
	$$ SELECT 'visitor' || k || '@' || md5((k % 100)::text) || '.example.org' $$;
CREATE FUNCTION found(lo int8, hi int8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint := 0; m bigint;
BEGIN
	FOR i IN lo .. hi LOOP
		SELECT count(*) INTO m FROM d WHERE k = i;
		n := n + m;
		SELECT count(*) INTO m FROM d WHERE s = visitor(i);
		n := n + m;
	END LOOP;
	RETURN n;
END $$;
-- as many plans as a session makes before it keeps what it knows of an index
CREATE FUNCTION estimate(lo int8, hi int8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint;
BEGIN
	FOR i IN 1 .. 60 LOOP
		FOR line IN EXECUTE format('EXPLAIN SELECT k FROM d WHERE k >= %s AND k < %s', lo, hi) LOOP
			n := coalesce(n, substring(line FROM 'rows=(\d+)')::bigint);
		END LOOP;
	END LOOP;
	RETURN n;
END $$;
});

# Every memory there is, of the keys lo to hi and what lies beyond them.
sub remember
{
	my ($s, $lo, $hi) = @_;

	return say_to($s, "SELECT found($hi + 1, $hi + 80); SELECT found($hi - 300, $hi);
		SELECT found($lo, $lo + 300); SELECT estimate($hi - 100, $hi + 100) IS NOT NULL");
}

my $remembered = "0\n602\n602\nt";

# Rows that another session brings meanwhile, and what session s finds of them.
sub go_on
{
	my ($s, $what, $end, @more) = @_;
	my $other = open_session($node);

	for my $n (@more)
	{
		my $from = $end + 1;

		$end += $n;
		say_to($other, rows($from, $end));
		# the first look comes when all are merged: a look before would be remembered
		for my $merged ($n == $more[0] ? 'merged' : ('in the delta', 'merged'))
		{
			my $last = $end - 99;

			say_to($other, $merge) if $merged eq 'merged';
			is(say_to($s, "SELECT found($last, $end); SELECT found(1, 100)"), "200\n200",
				"$what: $n more keys, $merged");
			is(say_to($s, "INSERT INTO d (k, s) VALUES ($end, 'twice') ON CONFLICT (k) DO NOTHING;
				SELECT count(*) FROM d WHERE s = 'twice'"), 0, "$what: no key of them twice");
		}
		is(remember($s, 1, $end), $remembered, "$what: nothing beyond them");
	}
	is(say_to($s, 'SET enable_seqscan = on; SET enable_indexscan = off;
		SET enable_indexonlyscan = off; SELECT count(*), count(DISTINCT k) FROM d; RESET ALL'),
		"$end|$end", "$what: as many rows as keys");
	is($s->{err}, '', "$what: no errors");
	is($node->psql('postgres', "SELECT surfidx_check('$_', true, true)"), 0, "$what: $_ is sound")
		for qw(d_k d_s);
	end_session($other);
	return $end;
}

sub higher { return rows(@_) . "; $merge" }

# How a transaction gives the indexes other files.
my %ways = (
	'SET TABLESPACE' => join('; ', map { "ALTER INDEX $_ SET TABLESPACE elsewhere" } qw(d_k d_s)),
	'ALL IN TABLESPACE' => 'ALTER INDEX ALL IN TABLESPACE pg_default SET TABLESPACE elsewhere',
	'REINDEX' => 'REINDEX INDEX d_k; REINDEX INDEX d_s',
	'REINDEX TABLESPACE' => 'REINDEX (TABLESPACE elsewhere) TABLE d',
	'TRUNCATE' => 'CREATE TEMP TABLE IF NOT EXISTS old ON COMMIT DROP AS TABLE d; TRUNCATE d;
		INSERT INTO d TABLE old',
	'CLUSTER' => 'CLUSTER d USING d_b',
	'SET UNLOGGED' => 'ALTER TABLE d SET UNLOGGED',
	'SET LOGGED' => 'ALTER TABLE d SET LOGGED',
	'ALTER TYPE' => 'ALTER TABLE d ALTER k TYPE int8 USING k + 0',
	'DROP and CREATE' => 'DROP INDEX d_k, d_s; CREATE UNIQUE INDEX d_k ON d USING surfidx (k);
		CREATE INDEX d_s ON d USING surfidx (s) WITH (hope = fsst)');

# ---- rolled back: the session that has seen the other file, and what it made of it ----

for my $way (sort keys %ways)
{
	for my $back ('ROLLBACK', 'ROLLBACK TO', 'ROLLBACK PREPARED')
	{
		# a temporary table cannot be prepared; of the others only those that copy differ from what
		# is built again
		next if $back eq 'ROLLBACK PREPARED' && $way !~ /TABLESPACE|REINDEX/;
		make($way eq 'SET LOGGED' ? 'UNLOGGED' : '');

		my $s = open_session($node);
		my $end = $rows;

		# few rows in the file that goes, then more in the one that stays, so that as many groups
		# are counted in both; of copied files then the other way round, so that the one that
		# goes is the longer one
		for my $size ([ 1000, 3000, 500 ], $way =~ /TABLESPACE/ ? [ 20000, 500 ] : ())
		{
			my ($gone, @more) = @$size;
			my $what = "$way, $back of $gone rows";

			is(remember($s, 1, $end), $remembered, "$what: before");
			say_to($s, $back eq 'ROLLBACK TO' ? 'BEGIN; SAVEPOINT a' : 'BEGIN');
			say_to($s, $ways{$way});
			is(remember($s, 1, $end), $remembered, "$what: in the other file");
			say_to($s, higher($end + 1, $end + $gone));
			is(remember($s, 1, $end + $gone), $remembered, "$what: in what became of it");
			say_to($s, { 'ROLLBACK' => 'ROLLBACK', 'ROLLBACK TO' => 'ROLLBACK TO a; COMMIT',
				'ROLLBACK PREPARED' => "PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p'" }->{$back});
			$end = go_on($s, $what, $end, @more);
		}
		end_session($s);
	}
}

# ---- committed, or failed after it: a session that has seen the old file ----

my %others = (
	(map { $_ => $ways{$_} } grep { $_ ne 'TRUNCATE' } keys %ways),
	'TRUNCATE' => 'BEGIN; ' . $ways{'TRUNCATE'} . '; COMMIT',
	'VACUUM FULL' => 'VACUUM FULL d',
	'REINDEX CONCURRENTLY' => 'REINDEX INDEX CONCURRENTLY d_k; REINDEX INDEX CONCURRENTLY d_s',
	'VACUUM FULL that fails' => 'SET t.fail = on; VACUUM FULL d; RESET t.fail',
	'CLUSTER that fails' => 'SET t.fail = on; CLUSTER d USING d_b; RESET t.fail');

# An index that the last one can fail in.
$node->safe_psql('postgres', q{CREATE FUNCTION fails(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
	$$ BEGIN
		IF current_setting('t.fail', true) = 'on' THEN RAISE 'failed'; END IF;
		RETURN $1;
	END $$});

for my $way (sort keys %others)
{
	make($way eq 'SET LOGGED' ? 'UNLOGGED' : '');
	$node->safe_psql('postgres', 'CREATE INDEX d_z ON d (fails(c))') if $way =~ /fails/;

	my ($s, $other) = map { open_session($node) } 1 .. 2;
	my $what = "$way by another session";

	is(remember($s, 1, $rows), $remembered, "$what: before");
	say_to($s, higher($rows + 1, $rows + 1000));
	is(remember($s, 1, $rows + 1000), $remembered, "$what: before, later");
	say_to($other, $others{$way});
	is($other->{err}, $way =~ /fails/ ? "P0001\n" : '', "$what: it happened");
	go_on($s, $what, $rows + 1000, 3000, 500);
	end_session($_) for $s, $other;
}

# ---- in place: a table of the same transaction, and one that is emptied at each commit ----

{
	my $s = open_session($node);
	my $fill = "INSERT INTO p SELECT g FROM generate_series(%d, %d) g; SELECT surfidx_merge('p_k')";
	my $look = 'SELECT count(x.k) FROM generate_series(%d, %d) g, '
	  . 'LATERAL (SELECT k FROM p WHERE k = g OFFSET 0) x';
	my $index = 'CREATE UNIQUE INDEX p_k ON p USING surfidx (k)';

	for my $temp ('', 'TEMP')
	{
		say_to($s, $temp ? "CREATE TEMP TABLE p (k int8) ON COMMIT DELETE ROWS; $index; BEGIN" :
			"BEGIN; CREATE TABLE p (k int8); $index");
		for my $n (1000, 3000, 500)
		{
			say_to($s, sprintf($fill, 1, $n));
			my $what = "emptied in place, $n rows $temp";
			is(say_to($s, join('; ', sprintf($look, 1, $n), sprintf($look, $n + 1, $n + 80))),
				"$n\n0", $what);
			is(say_to($s, "SELECT surfidx_check('p_k', true, true)"), '', "$what: sound");
			say_to($s, $temp ? 'COMMIT; BEGIN' : 'TRUNCATE p');
		}
		say_to($s, 'COMMIT; DROP TABLE p');
	}
	is($s->{err}, '', 'emptied in place: no errors');
	end_session($s);
}

$node->stop;
done_testing();
