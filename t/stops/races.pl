# Every reader against every writer, every writer against every other one: one is stopped between two of its steps while the
# other one runs.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $vacuum = 'VACUUM (INDEX_CLEANUP ON) t';
my $merge = "SELECT surfidx_merge('t_k'), surfidx_merge('t_u')";
my $n = 0;

# Leaves, a delta, and dead rows in both that VACUUM may remove although a reader has its snapshot.
sub prepare
{
	sql('DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text, n numeric) WITH (autovacuum_enabled = off);
		INSERT INTO t SELECT g * 100, md5(g::text), g * 100 FROM generate_series(1, 3000) g;
		CREATE INDEX t_k ON t USING surfidx (k) INCLUDE (s);
		CREATE UNIQUE INDEX t_u ON t USING surfidx ((ARRAY[n]))');
	sql($vacuum);
	sql('INSERT INTO t SELECT g * 100 + 50, md5(g::text), g * 100 + 50 FROM generate_series(1, 3000, 7) g');
	sql('DELETE FROM t WHERE k % 3 = 0');
	$n = 0;
	return;
}

sub inserts
{
	$n++;
	return "INSERT INTO t SELECT g * 100 + $n, 'x', 1000000 + g * 100 + $n FROM generate_series(1, 3000, 11) g";
}

# The pool of images is so small that these leave no room for another one (surfidx.delta_memory below).
sub evict
{
	my ($s) = @_;

	sql('CREATE TABLE IF NOT EXISTS other (k int) WITH (autovacuum_enabled = off); TRUNCATE other; CREATE INDEX IF NOT EXISTS other_k ON other USING surfidx (k) WITH (merge_ratio = 10);
		INSERT INTO other SELECT generate_series(1, 40000); SET enable_seqscan = off; SELECT count(*) FROM other WHERE k > 39000; RESET enable_seqscan', $s);
	return;
}

my %readers = (
	'forward scan' => [ 'enable_indexonlyscan', 'SELECT md5(string_agg(concat(k, n), chr(44))) FROM (SELECT k, n FROM t WHERE k > 0 ORDER BY k) x' ],
	'backward scan' => [ 'enable_indexonlyscan', 'SELECT md5(string_agg(concat(k, n), chr(44))) FROM (SELECT k, n FROM t WHERE k > 0 ORDER BY k DESC) x' ],
	'index-only scan' => [ 'enable_indexscan', 'SELECT md5(string_agg(concat(k, s), chr(44))) FROM (SELECT k, s FROM t WHERE k > 0 ORDER BY k) x' ],
	'backward index-only scan' => [ 'enable_indexscan', 'SELECT md5(string_agg(concat(k, s), chr(44))) FROM (SELECT k, s FROM t WHERE k > 0 ORDER BY k DESC) x' ],
	'bitmap scan' => [ 'enable_indexscan', 'SELECT count(*), sum(n), sum(hashtext(s)) FROM t WHERE k > 100 AND k < 290000 AND s > \'0\'' ],
	'groups' => [ 'enable_hashagg',
		'SELECT md5(string_agg(concat(k, n), chr(44)))
		FROM (SELECT k, count(*) AS n FROM t WHERE k > 0 GROUP BY k ORDER BY k) x' ],
	'unique check' => [ 'enable_indexonlyscan', "INSERT INTO t VALUES (-1, 'x', 850)" ],
	'comparator scan' => [ 'enable_indexonlyscan', 'SELECT count(*), sum(k), sum(n) FROM t WHERE ARRAY[n] > ARRAY[500::numeric]' ]);

my %passers = (
	# a session in a unique check lets no other one check a key of that index
	'inserts and a merge' => sub { return start(inserts() . ";\n$merge") if ($_[0] // '') =~ /unique/; sql(inserts()); return start($merge) },
	'VACUUM' => sub { return start($vacuum) },
	'VACUUM, then new rows at its TIDs, then a merge' => sub { return start("$vacuum;\n" . inserts() . ";\n$merge") },
	'an eviction' => sub { evict(); return undef },
	'a frozen generation' => sub { arm('frozen', 'error'); error_of($merge); release('frozen'); return start(inserts()) });

for my $kind (sort keys %readers)
{
	my ($without, $query) = @{ $readers{$kind} };

	scenario "$kind beside writers", [], sub {
		for my $passer (sort keys %passers)
		{
			my @wrong;

			prepare();
			for my $point ([ 'metapage read', 0 ], [ 'metapage read', 1 ], [ 'between stages', 0 ], [ 'between stages', 1 ], [ 'leaf chosen', $kind eq 'unique check' ? 0 : 1 ], [ 'gate chosen', 0 ])
			{
				my ($name, $skip) = @$point;
				my $s = session();
				my $want = $kind eq 'unique check' ? 'error 23505' : sql("BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; $query; COMMIT");

				next if $name eq 'gate chosen' && $kind !~ /only|groups/ || $kind eq 'unique check' && $skip;
				sql("SET enable_seqscan = off; SET $without = off; SET enable_sort = off" . ($kind =~ /bitmap/ ? '; SET enable_indexonlyscan = off' : '; SET enable_bitmapscan = off'), $s);
				if ($kind eq 'groups')
				{
					sql('SET surfidx.aggregates = on', $s);
					like(sql("EXPLAIN $query", $s), qr/SurfidxAggregate/, 'by the index');
				}
				arm($name, 'wait', $skip);
				start($query, $s);
				come_by($name, $s) or push @wrong, "$name $skip: nobody came by";
				my $other = $passers{$passer}->($kind);
				settle(0.1) if $other;
				release($name);
				my $got = finish($s);
				push @wrong, "$name $skip: $got instead of $want" if $got ne $want;
				my $end = $other ? finish($other) : '';
				push @wrong, "$name $skip: $end" if $end =~ /error|lost/;
				for my $index ('t_k', 't_u')
				{
					my $check = error_of("SELECT surfidx_check('$index', true, true)");
					push @wrong, "$name $skip: check of $index: $check" if $check;
				}
				$s->end;
			}
			is(join('; ', @wrong), '', "$kind beside $passer");
		}
	};
}

# A cursor with entries in hand while others pass by.
for my $kind (sort grep { !/bitmap|unique|comparator|groups/ } keys %readers)
{
	my ($without, $query) = @{ $readers{$kind} };
	my ($select) = $query =~ /FROM \((.*)\) x/;

	scenario "a cursor left open: $kind", [], sub {
		for my $passer (sort keys %passers)
		{
			prepare();
			my $s = session();
			my @want = split /,/, sql("BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; $select; COMMIT");
			sql("SET enable_seqscan = off; SET $without = off; SET enable_sort = off; SET enable_bitmapscan = off; BEGIN", $s);
			my @got = split /,/, sql("DECLARE c SCROLL CURSOR FOR $select; FETCH 300 FROM c", $s);
			my $other = $passers{$passer}->();
			settle(0.1) if $other;
			push @got, split /,/, sql('FETCH 200 FROM c', $s);
			my @back = split /,/, sql('FETCH BACKWARD 350 FROM c', $s);
			my @again = split /,/, sql('FETCH 350 FROM c', $s);
			push @got, split /,/, sql('FETCH ALL FROM c', $s);
			sql('COMMIT', $s);
			my $end = $other ? finish($other) : '';
			is(join(',', @got), join(',', @want), "$kind, $passer: every row");
			# from the row before the last one that was fetched
			is(join(',', reverse @back), join(',', @want[ 149 .. 498 ]), "$kind, $passer: and back");
			is(join(',', @again), join(',', @want[ 150 .. 499 ]), "$kind, $passer: and forward again");
			unlike($end, qr/error|lost/, "$passer ends");
			is(error_of("SELECT surfidx_check('t_k', true, true), surfidx_check('t_u', true, true)"), '', 'check');
			$s->end;
		}
	};
}

# ------------------------------------------------------------------------------------------ inner pages that split

# Groups of 200 keys that differ only after their 900th byte and fill some leaves: separators are long, inner pages have few children.
# (Values of more than 1,024 bytes would be compressed, which takes the assert-enabled server long.)
sub long_rows
{
	my ($from, $to) = @_;

	return "INSERT INTO w SELECT g * 1000 + j, p || to_char(j, 'FM000') || md5(j::text) || md5((-j)::text) FROM generate_series(1, 200) j,
		(SELECT g, (SELECT string_agg(md5((g * 100 + i)::text), '') FROM generate_series(1, 28) i) p FROM generate_series($from, $to) g OFFSET 0) x";
}

scenario 'readers beside the split of inner pages', [], sub {
	my %ways = (
		'forward scan' => [ 'enable_indexonlyscan', 'SELECT md5(string_agg(concat(k, s), chr(44))) FROM (SELECT k, s FROM w WHERE s > \'\' ORDER BY s) x' ],
		'backward scan' => [ 'enable_indexonlyscan', 'SELECT md5(string_agg(concat(k, s), chr(44))) FROM (SELECT k, s FROM w WHERE s > \'\' ORDER BY s DESC) x' ],
		'index-only scan' => [ 'enable_indexscan', 'SELECT md5(string_agg(s, chr(44))) FROM (SELECT s FROM w WHERE s > \'\' ORDER BY s) x' ],
		'bitmap scan' => [ 'enable_indexscan', 'SELECT count(*), sum(k) FROM w WHERE s > \'0\' AND s < \'f\'' ],
		'unique check' => [ 'enable_indexscan', 'INSERT INTO w SELECT * FROM w ORDER BY k LIMIT 1 OFFSET 777' ]);
	my $at = 1;
	my $splits = 0;
	my @wrong;
	my $without_index = 'BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off';
	my $ask = sub {
		my ($way, $s) = @_;

		sql("RESET ALL; SET enable_seqscan = off; SET $ways{$way}[0] = off; " . ($way =~ /bitmap/ ? 'SET enable_indexonlyscan = off' : 'SET enable_bitmapscan = off; SET enable_sort = off'), $s);
		start($ways{$way}[1], $s);
	};

	sql('CREATE TABLE w (k int, s text COLLATE "C") WITH (autovacuum_enabled = off); CREATE UNIQUE INDEX w_s ON w USING surfidx (s)');
	sql(long_rows(1, 12) . "; SELECT surfidx_merge('w_s')");
	my $level = sql("SELECT level FROM surfidx_meta('w_s')");
	cmp_ok($level, '>', 1, 'inner pages have parents');
	for my $way (sort keys %ways)
	{
		# the reader on its way to a leaf while the pages above it split
		my $s = session();
		my $want = $way eq 'unique check' ? 'error 23505' : sql("$without_index; $ways{$way}[1]; COMMIT");
		arm('leaf chosen', 'wait', $way eq 'unique check' ? 0 : 5);
		$ask->($way, $s);
		come_by('leaf chosen', $s) or push @wrong, "$way: nobody came by";
		$at += 20;
		sql(long_rows($at, $at + 4) . "; SELECT surfidx_merge('w_s')");
		release('leaf chosen');
		my $got = finish($s);
		push @wrong, "$way before: $got instead of $want" if $got ne $want;

		# readers and writers while a page has no downlink
		$at += 20;
		arm('parent split', 'wait');
		my $m = start(long_rows($at, $at + 9) . "; SELECT surfidx_merge('w_s')");
		come_by('parent split', $m) ? $splits++ : release('parent split');
		$want = $way eq 'unique check' ? 'error 23505' : sql("$without_index; $ways{$way}[1]; COMMIT");
		$ask->($way, $s);
		$got = finish($s);
		push @wrong, "$way amid: $got instead of $want" if $got ne $want;
		my $v = start("DELETE FROM w WHERE k % 1000 = 7;\nVACUUM (INDEX_CLEANUP ON) w");
		my $i = start('INSERT INTO w SELECT k, s || \'x' . $at . '\' FROM w WHERE k % 1000 = 11');
		settle(0.1);
		release('parent split');
		push @wrong, "$way: $_" for grep { /error|lost/ } map { finish($_) } $m, $v, $i;
		my $check = error_of("SELECT surfidx_check('w_s', true, true)");
		push @wrong, "$way: check: $check" if $check;
		$s->end;
	}
	is(join('; ', @wrong), '', 'every reader');
	cmp_ok($splits, '>', 2, "$splits splits");
	sql('DROP TABLE w');
};

# ------------------------------------------------------------------------------------------ writers

my %writers = (
	insert => [ sub { inserts() }, 'append', 'log page allocated', 'extended', 'unique checked' ],
	merge => [ sub { sql(inserts()); $merge }, 'frozen', 'stubs collected', 'merge lock', 'swap', 'unlinked', 'group swapped', 'group merged', 'drop generation', 'generation dropped', 'run dropped',
		'page given back', 'extended' ],
	VACUUM => [ sub { sql("DELETE FROM t WHERE k % 7 = $n % 7"); $vacuum }, 'log flagged', 'stage vacuumed', 'tree vacuumed', 'gate flipped', 'vacuum cleanup', 'blocks owned', 'swap', 'merge lock' ]);

my %others = (
	inserts => sub { start(inserts()) },
	'a merge' => sub { start($merge) },
	VACUUM => sub { start($vacuum) },
	'a check' => sub { start("SELECT surfidx_check('t_k', true)") },
	'an eviction' => sub { my $s = session(); evict($s); return start('SELECT 1', $s) },
	'a scan' => sub { start("SET enable_seqscan = off; SELECT count(*) FROM t WHERE k > 0") },
	'a REINDEX' => sub { start('REINDEX INDEX CONCURRENTLY t_k') });

for my $writer (sort keys %writers)
{
	my ($make, @points) = @{ $writers{$writer} };

	scenario "$writer beside others", [], sub {
		for my $point (@points)
		{
			my @wrong;

			prepare();
			for my $other (sort keys %others)
			{
				my $statement = $make->();

				arm($point, 'wait');
				my $w = start($statement);
				# not every writer comes by every point every time: no free page was missing, nobody had anything to merge
				come_by($point, $w) or release($point);
				my $o = $others{$other}->();
				settle(0.05);
				release($point);
				for my $r (finish($w), finish($o))
				{
					push @wrong, "$point, $other: $r" if $r =~ /error|lost/;
				}
				$_->end for $w, $o;
				my $counts = sql("SET enable_seqscan = off; SET enable_sort = off; SELECT count(*) FROM t WHERE k > 0; SELECT count(*) FROM t WHERE ARRAY[n] > ARRAY[0::numeric];
					RESET enable_seqscan; SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM t; RESET ALL");
				push @wrong, "$point, $other: rows $counts" if $counts !~ /^(\d+),\1,\1$/;
				my $check = error_of("SELECT surfidx_check('t_k', true, true), surfidx_check('t_u', true, true)");
				push @wrong, "$point, $other: check: $check" if $check;
			}
			is(join('; ', @wrong), '', "$writer at \"$point\"");
		}
	};
}

# Leaves are counted by their parent's copy; VACUUM then packs what follows into fewer blocks, each
# of which begins later than before, and counts no group.
scenario 'a count beside a VACUUM that writes the next leaf', [ 'any leaf is the child' ], sub {
	my $range = "'t_k', '50', '56', high_inclusive => false";

	# a leaf has the keys of a fortieth; those that go make room in leaves before the range, and
	# have all leaves of the range written
	sql("DROP TABLE IF EXISTS t; CREATE TABLE t WITH (autovacuum_enabled = off) AS
		SELECT md5(g::text) COLLATE \"C\" AS k FROM generate_series(1, 50000) g;
		CREATE INDEX t_k ON t USING surfidx (k);
		DELETE FROM t WHERE k >= '38' AND k < '50' AND k NOT LIKE '%f'
			OR k >= '50' AND k < '70' AND k LIKE '%0f'");
	my $live = sql("SELECT count(*) FROM t WHERE k >= '50' AND k < '56'");
	arm('leaves counted', 'wait');
	my $count = start("SELECT surfidx_count($range)");
	wait_at('leaves counted');
	my $vacuum = start('VACUUM (INDEX_CLEANUP ON) t');
	wait_blocked($vacuum);
	release('leaves counted');
	cmp_ok(finish($count), '>=', $live, 'all rows of the range');
	is(finish($vacuum), '', 'VACUUM ends');
};

run_scenarios(conf => [ "surfidx.delta_memory = '1MB'" ]);
