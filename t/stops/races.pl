# Every reader against every writer, every writer against every other one: one of them stopped between two of its steps, the
# other one passing by.
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

my %readers = (
	'forward scan' => [ 'enable_indexonlyscan', 'SELECT md5(string_agg(concat(k, n), chr(44))) FROM (SELECT k, n FROM t WHERE k > 0 ORDER BY k) x' ],
	'backward scan' => [ 'enable_indexonlyscan', 'SELECT md5(string_agg(concat(k, n), chr(44))) FROM (SELECT k, n FROM t WHERE k > 0 ORDER BY k DESC) x' ],
	'index-only scan' => [ 'enable_indexscan', 'SELECT md5(string_agg(concat(k, s), chr(44))) FROM (SELECT k, s FROM t WHERE k > 0 ORDER BY k) x' ],
	'backward index-only scan' => [ 'enable_indexscan', 'SELECT md5(string_agg(concat(k, s), chr(44))) FROM (SELECT k, s FROM t WHERE k > 0 ORDER BY k DESC) x' ],
	'bitmap scan' => [ 'enable_indexscan', 'SELECT count(*), sum(n), sum(hashtext(s)) FROM t WHERE k > 100 AND k < 290000 AND s > \'0\'' ],
	'comparator scan' => [ 'enable_indexonlyscan', 'SELECT count(*), sum(k), sum(n) FROM t WHERE ARRAY[n] > ARRAY[500::numeric]' ]);

my %passers = (
	'inserts and a merge' => sub { sql(inserts()); return start($merge) },
	'VACUUM' => sub { return start($vacuum) },
	'VACUUM, then new rows at its TIDs, then a merge' => sub { return start("$vacuum;\n" . inserts() . ";\n$merge") },
	'a frozen generation' => sub { arm('frozen', 'error'); error_of($merge); release('frozen'); sql(inserts()); return undef });

for my $kind (sort keys %readers)
{
	my ($without, $query) = @{ $readers{$kind} };

	scenario "$kind beside writers", [], sub {
		for my $passer (sort keys %passers)
		{
			my @wrong;

			prepare();
			for my $point ([ 'metapage read', 0 ], [ 'metapage read', 1 ], [ 'between stages', 0 ], [ 'between stages', 1 ], [ 'leaf chosen', 1 ], [ 'gate chosen', 0 ])
			{
				my ($name, $skip) = @$point;
				my $s = session();
				my $want = sql("BEGIN; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off; $query; COMMIT");

				next if $name eq 'gate chosen' && $kind !~ /only/;
				sql("SET enable_seqscan = off; SET $without = off; SET enable_sort = off" . ($kind =~ /bitmap/ ? '; SET enable_indexonlyscan = off' : '; SET enable_bitmapscan = off'), $s);
				arm($name, 'wait', $skip);
				start($query, $s);
				come_by($name, $s) or push @wrong, "$name $skip: nobody came by";
				my $other = $passers{$passer}->();
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

# ------------------------------------------------------------------------------------------ writers

my %writers = (
	insert => [ sub { inserts() }, 'append', 'log page allocated', 'extended', 'unique checked' ],
	merge => [ sub { sql(inserts()); $merge }, 'frozen', 'merge lock', 'swap', 'unlinked', 'group swapped', 'group merged', 'drop generation', 'generation dropped', 'extended' ],
	VACUUM => [ sub { sql("DELETE FROM t WHERE k % 7 = $n % 7"); $vacuum }, 'log flagged', 'stage vacuumed', 'tree vacuumed', 'gate flipped', 'vacuum cleanup', 'swap', 'merge lock' ]);

my %others = (
	inserts => sub { start(inserts()) },
	'a merge' => sub { start($merge) },
	VACUUM => sub { start($vacuum) },
	'a check' => sub { start("SELECT surfidx_check('t_k', true)") },
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
				come_by($point, $w);
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

run_scenarios();
