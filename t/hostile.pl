# Hostile bytes, in pages of every kind that an index has, many indexes at once: an error that names index and block, other indexes
# fine, the server up, and REINDEX heals.  SURFIDX_HOSTILE_SEED=n repeats a run, SURFIDX_HOSTILE_TABLES=n makes it longer.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SurfServer;
use Test::More;

my $BLCKSZ = 8192;
my $tables = $ENV{SURFIDX_HOSTILE_TABLES} || 48;
my $seed = $ENV{SURFIDX_HOSTILE_SEED} || 1 + int(rand(1e6));
my $server = SurfServer->new(name => 'hostile', conf => [ 'autovacuum = off', 'surfidx.auto_merge = off', "statement_timeout = '30s'", 'max_wal_size = 4GB' ]);

diag("again with SURFIDX_HOSTILE_SEED=$seed");
srand($seed);
$server->start;
my $s = $server->session;
$s->value('CREATE EXTENSION surfidx; SELECT 1');
# what a user sees: the message and its context (a value's decoder knows the type only; its caller adds the index)
$s->query("CREATE FUNCTION message_of(sql text) RETURNS text LANGUAGE plpgsql AS 'DECLARE c text; BEGIN EXECUTE sql; RETURN ''''; EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS c = PG_EXCEPTION_CONTEXT; RETURN replace(sqlerrm || '' ('' || split_part(c, ''SQL statement'', 1) || '')'', chr(10), '' ''); END'");

# Indexes of several kinds of keys, with runs of pages of all kinds; log pages last.
my @keys = ('(k)', '(s) WITH (filter = surf, hope = alm_improved)', '(s, k) INCLUDE (v) WITH (hope = double, filter = bloom)', '(n)', '((k % 50), s) WITH (hope = single)',
	'(s COLLATE "en-x-icu") WITH (hope = "4grams")', '(k, s) WITH (filter = bloom)', '(k, n) WITH (filter = surf)', '(s, k) INCLUDE (v)');
for my $i (1 .. $tables)
{
	my $keys = $keys[ $i % @keys ];
	my $r = $s->query("CREATE TABLE h$i (k int, s text COLLATE \"C\", v int, n numeric);
		INSERT INTO h$i SELECT g * 7919 % 100003, CASE WHEN g % 40 < 30 THEN 'path/' || md5((g / 5)::text) ELSE repeat(md5(g::text), 30) || g END, g, g / 7.0 FROM generate_series(1, 1500) g;
		CREATE INDEX h${i}_i ON h$i USING surfidx $keys;
		INSERT INTO h$i SELECT g, repeat('x', g % 50) || g, g, g FROM generate_series(1, 400) g");

	die "h$i: $r->{error}\n" if $r->{error};
}
my %file = map { split /\|/ } @{ $s->query("SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relname LIKE 'h%\\_i'")->{rows} };
$s->end;
$server->stop('fast');

sub slurp { open(my $f, '<:raw', "$server->{data}/$_[0]") or die "$_[0]: $!"; local $/; return <$f> }
sub rnd { return int(rand($_[0])) }
sub page_of { return substr($_[0], $_[1] * $BLCKSZ, $BLCKSZ) }
sub put { substr($_[0], $_[1] * $BLCKSZ + $_[2], length $_[3]) = $_[3] }

my %ways = (
	'zeros' => sub { put($_[0], $_[1], 0, "\0" x $BLCKSZ) },
	'half zeros' => sub { put($_[0], $_[1], rnd(2) * 4096, "\0" x 4096) },
	'one bit' => sub { my $at = $_[1] * $BLCKSZ + rnd($BLCKSZ); substr($_[0], $at, 1) ^= chr(1 << rnd(8)) },
	'one bit near the start' => sub { my $at = $_[1] * $BLCKSZ + 24 + rnd(200); substr($_[0], $at, 1) ^= chr(1 << rnd(8)) },
	'many bits' => sub { for my $n (1 .. 40) { my $at = $_[1] * $BLCKSZ + 24 + rnd($BLCKSZ - 48); substr($_[0], $at, 1) ^= chr(1 << rnd(8)) } },
	'random body' => sub { put($_[0], $_[1], 24, join('', map { chr(rnd(256)) } 1 .. $BLCKSZ - 48)) },
	'bytes FF' => sub { put($_[0], $_[1], 24 + rnd(4000), "\xff" x (1 + rnd(300))) },
	'another page of the file' => sub { put($_[0], $_[1], 0, page_of($_[0], rnd(length($_[0]) / $BLCKSZ))) },
	'swapped with another page' => sub { my $o = rnd(length($_[0]) / $BLCKSZ); my $p = page_of($_[0], $o); put($_[0], $o, 0, page_of($_[0], $_[1])); put($_[0], $_[1], 0, $p) },
	'page of another index' => sub { my $x = slurp($_[2]); put($_[0], $_[1], 0, page_of($x, $_[1] % (length($x) / $BLCKSZ))) },
	'link to itself' => sub { put($_[0], $_[1], $BLCKSZ - 16, pack('L', $_[1])) },
	'link to anywhere' => sub { put($_[0], $_[1], $BLCKSZ - 16, pack('L', rnd(200))) },
	'tail' => sub { my $at = ($_[1] + 1) * $BLCKSZ - 1 - rnd(24); substr($_[0], $at, 1) ^= chr(1 + rnd(255)) },
	'header' => sub { my $at = $_[1] * $BLCKSZ + 8 + rnd(16); substr($_[0], $at, 1) ^= chr(1 + rnd(255)) },
	'cut off' => sub { $_[0] = substr($_[0], 0, $_[1] * $BLCKSZ) });
my @ways = sort keys %ways;
my (%done, %kinds);

for my $i (1 .. $tables)
{
	my $bytes = slurp($file{"h${i}_i"});
	my %of_kind;

	push @{ $of_kind{ ord(substr($bytes, ($_ + 1) * $BLCKSZ - 8, 1)) } }, $_ for 0 .. length($bytes) / $BLCKSZ - 1;
	my @kinds = sort { $a <=> $b } keys %of_kind;
	# leaves and inner pages more often: there is more to them
	my $kind = $kinds[ $i % 3 == 0 ? rnd(scalar @kinds) : int(@kinds / 2) + rnd(@kinds - int(@kinds / 2)) ];
	my $way = $ways[ $i % @ways ];
	my @pages = @{ $of_kind{$kind} };

	$kinds{$kind}++;
	$ways{$way}->($bytes, $pages[ rnd(scalar @pages) ], $file{ 'h' . ($i % $tables + 1) . '_i' });
	open(my $f, '>:raw', "$server->{data}/" . $file{"h${i}_i"}) or die;
	print $f $bytes;
	close $f;
	$done{$i} = "h${i}_i $keys[ $i % @keys ], $way in a page of kind $kind";
}

$server->start;
my ($found, $unnamed, $down, $healed) = (0, '', '', 0);
for my $i (1 .. $tables)
{
	$s = $server->session;
	# the message must name the index (or, from the server itself, the file's block)
	my $r = $s->query("SELECT message_of(\$q\$SELECT surfidx_check('h${i}_i', true, true)\$q\$)");
	my $text = join(' ', @{ $r->{rows} });

	$found++ if $text ne '';
	$unnamed .= "$done{$i}: $text\n" if $text ne '' && $text !~ /"h${i}_i"|block \d+|could not (?:read|open)/;
	# each page for itself, and all of them
	$r = $s->query("SELECT DISTINCT message_of(format(\$q\$SELECT surfidx_page_%s('h${i}_i', %s)\$q\$, f, b)) FROM unnest(ARRAY['stats', 'items']) f, generate_series(0, pg_relation_size('h${i}_i') / 8192 - 1) b
		UNION SELECT message_of('SELECT surfidx_stats(''h${i}_i'', 0)')");
	$down .= "$done{$i}: page functions\n" if $r->{lost};
	$unnamed .= join('', map { "$done{$i}: $_\n" } grep { $_ ne '' && !/"h${i}_i"|block \d+|could not (?:read|open)/ } @{ $r->{rows} || [] });
	for my $sql ('SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off', "SELECT count(*) FROM (SELECT s FROM h$i ORDER BY s) x",
		"SELECT count(*) FROM (SELECT k FROM h$i ORDER BY k DESC) x", "SELECT count(*) FROM (SELECT n FROM h$i ORDER BY n) x", "SELECT count(*) FROM h$i WHERE s BETWEEN 'path/3' AND 'path/7'",
		"SELECT count(*) FROM h$i, generate_series(1, 500, 3) g WHERE k = g AND s = 'path/' || g", "SELECT count(*) FROM generate_series(1, 500, 3) g WHERE EXISTS (SELECT FROM h$i WHERE s BETWEEN 'path/' || md5(g::text) AND 'path/' || md5(g::text) || 'x')",
		"SELECT count(*) FROM generate_series(1, 500, 3) g WHERE EXISTS (SELECT FROM h$i WHERE k BETWEEN g AND g + 1)",
		"SELECT count(*) FROM (SELECT s FROM h$i ORDER BY s COLLATE \"en-x-icu\" DESC) x", "SELECT count(*) FROM (SELECT s, v FROM h$i ORDER BY s DESC, k DESC) x", "SELECT count(*) FROM (SELECT s FROM h$i ORDER BY k % 50, s) x",
		"SELECT surfidx_count('h${i}_i')", "INSERT INTO h$i SELECT g, 'path/' || g, g, g FROM generate_series(1, 300) g", "SELECT surfidx_merge('h${i}_i')", "DELETE FROM h$i WHERE v % 3 = 0", "VACUUM h$i", "SELECT * FROM surfidx_meta('h${i}_i')")
	{
		$r = $s->query($sql, 60);
		next if !$r->{lost};
		$down .= "$done{$i}: $sql\n";
		last;
	}
	if ($r->{lost})
	{
		$s->end;
		$server->wait_gone(10);
		last if !$server->postmaster_alive && !eval { $server->start; 1 };
		next;
	}
	$r = $s->query("SET enable_seqscan = on; REINDEX INDEX h${i}_i;\nSELECT surfidx_check('h${i}_i', true, true)");
	$healed++ if !$r->{error} && !$r->{lost};
	diag("$done{$i}: $r->{error}") if $r->{error};
	$s->end;
}
is($down, '', 'the server stays up');
is($unnamed, '', 'errors name the index or the block');
cmp_ok($found, '>=', $tables * 0.6, "$found of $tables found (a bit in the free space of a page harms nobody)");
is($healed, $tables, 'REINDEX heals');
note('kinds: ' . join(', ', map { "$_: $kinds{$_}" } sort keys %kinds));
is(join('', $server->crashes), '', 'no crash in the log');
$server->stop('immediate');
done_testing();
