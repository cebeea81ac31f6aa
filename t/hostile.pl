# Hostile bytes, in pages of every kind that an index has, many indexes at once: an error that names index and block, other indexes
# fine, the server up, and REINDEX heals.  SURFIDX_HOSTILE_SEED=n repeats a run, SURFIDX_HOSTILE_TABLES=n makes it longer.
#
# Before that the sweep: one byte of one page of each index is another one; scans, merges, VACUUM
# and the worker come to an end, and what they say has the SQLSTATE of damage.  SURFIDX_SWEEP=n: so
# many bytes; =all: each of a page of each kind.  SURFIDX_SWEEP_SEED=n: other values.
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

# ---- the sweep ----

my $good = "$server->{base}/good";
my %pages = map { $_ => pages_of(slurp($file{"h${_}_i"})) } 1 .. $tables;
my @log_of_sweep;

sub pages_of
{
	my ($bytes) = @_;
	my %of_kind;

	push @{ $of_kind{ kind_of($bytes, $_) } }, $_ for 0 .. length($bytes) / $BLCKSZ - 1;
	return \%of_kind;
}

sub kind_of { return ord(substr($_[0], ($_[1] + 1) * $BLCKSZ - 8, 1)) }

# A byte that is read, by its number among those of the page: header, body, tail.
sub byte_of
{
	my ($bytes, $block, $n) = @_;
	my $lower = unpack('S', substr($bytes, $block * $BLCKSZ + 12, 2));

	return $n < $lower ? $n : $n < $lower + 24 ? $BLCKSZ - 24 + $n - $lower : undef;
}

sub system_ok { system(@_) == 0 or die "@_: $?\n"; return }

# Other than it was.
sub other_byte
{
	my ($old) = @_;
	my @any = ($old ^ (1 << rnd(8)), 0, 255, ($old + 1) % 256, rnd(256));
	my @new = grep { $_ != $old } @any;

	return $new[ rnd(scalar @new) ];
}

# The byte of index $i that is damaged in this round: block and place in it.  All: each byte that a
# page may have, for each kind, one index after the other; else any, of the metapage and near pages'
# starts and ends more often.
sub place_of
{
	my ($all, $bytes, $i, $round) = @_;
	my $of_kind = $pages{$i};
	my @kinds = grep { $of_kind->{$_} } 1 .. 8;

	if ($all)
	{
		my $case = $round * $tables + $i - 1;
		my $kind = $of_kind->{ 1 + $case % 8 } ? 1 + $case % 8 : 4;
		my $block = $of_kind->{$kind}[ int(rand(@{ $of_kind->{$kind} })) ];

		return ($block, byte_of($bytes, $block, int($case / 8)));
	}
	my $kind = rand() < 0.3 ? 1 : $kinds[ int(rand(@kinds)) ];
	my $block = $of_kind->{$kind}[ int(rand(@{ $of_kind->{$kind} })) ];
	my $lower = unpack('S', substr($bytes, $block * $BLCKSZ + 12, 2));

	my $n = rand() < 0.3 ? rnd(150) : rand() < 0.2 ? $lower + rnd(24) : rnd($lower + 24);

	return ($block, byte_of($bytes, $block, $n));
}

# Statements over an index, in another order each time; what workers do is waited for.
sub ask_all
{
	my ($i, $n, $by_worker) = @_;
	my @sql = ("SELECT surfidx_merge('h${i}_i')", "VACUUM (INDEX_CLEANUP ON) h$i",
		"INSERT INTO h$i SELECT g, 'path/' || g, g, g FROM generate_series(1, 30) g",
		"SELECT count(v) FROM h$i WHERE k BETWEEN 7 AND 90000;
			SELECT count(v) FROM h$i WHERE s > 'path/3';
			SELECT count(v) FROM h$i WHERE n > 5; SELECT count(v) FROM h$i WHERE k % 50 < 20",
		"SET enable_bitmapscan = off; SELECT count(v) FROM (SELECT v FROM h$i ORDER BY k, s) x;
			SELECT count(v) FROM h$i WHERE s > 'path/3'; SELECT count(v) FROM h$i WHERE n > 50;
			SELECT count(v) FROM h$i WHERE k > 0; RESET enable_bitmapscan",
		"SELECT surfidx_check('h${i}_i', true, true)");
	my $s = $server->session;
	my $lost = '';

	push @sql, splice(@sql, 0, $n % @sql);
	# a delta that is idle is the worker's, if somebody reads it
	@sql = ('SET surfidx.auto_merge = on; ' . $sql[ $n % @sql ],
		"SELECT count(v) FROM h$i WHERE k > 0", "SELECT count(v) FROM h$i WHERE s > 'path/3'")
	  if $by_worker;
	$s->query('SET enable_seqscan = off; SET enable_sort = off; SET jit = off');
	for my $sql (@sql)
	{
		next unless $s->query($sql, 60)->{lost};
		$lost = $sql;
		last;
	}
	$s->end;
	return $lost;
}

# What the log says beside damage: line and statement.
sub odd_lines
{
	open(my $f, '<', $server->{log}) or die;
	my @lines = <$f>;
	my @odd;

	for my $l (0 .. $#lines)
	{
		next unless $lines[$l] =~ /(?:ERROR|WARNING|FATAL|PANIC):  (\w{5}): (.*)/;
		next if $1 =~ /^(?:XX00[12]|0A000|57P01|57P03)$/;
		push @odd, join('', @lines[ $l .. ($l + 4 < $#lines ? $l + 4 : $#lines) ]);
	}
	return @odd;
}

sub sweep_round
{
	my ($all, $round) = @_;
	my $by_worker = $round % 3 == 2;
	my $s;
	my @done;
	my $lost = '';

	system_ok('rm', '-rf', $server->{data});
	system_ok('cp', '-a', $good, $server->{data});
	unlink $server->{log};
	$server->configure('log_error_verbosity = verbose', 'log_min_messages = warning',
		"statement_timeout = '20s'", 'surfidx.idle_flush = 0', 'surfidx.merge_worker_idle = 0',
		'ignore_checksum_failure = on');
	for my $i (1 .. $tables)
	{
		my $bytes = slurp($file{"h${i}_i"});
		my ($block, $at) = place_of($all, $bytes, $i, $round);

		next unless defined $at;
		my $old = ord(substr($bytes, $block * $BLCKSZ + $at, 1));
		my $new = other_byte($old);

		put($bytes, $block, $at, chr($new));
		open(my $f, '>:raw', "$server->{data}/" . $file{"h${i}_i"}) or die;
		print $f $bytes;
		close $f;
		push @done, { i => $i, what => "h${i}_i, block $block of kind " . kind_of($bytes, $block)
			  . ", byte $at: $old is $new\n" };
	}
	$server->start;
	for my $d (@done)
	{
		$lost = ask_all($d->{i}, $round + $d->{i}, $by_worker);
		last if $lost;
	}
	if ($by_worker && !$lost)
	{
		$s = $server->session;
		my $end = time + 60;
		my $at_work = "SELECT count(*) FROM pg_stat_activity
			WHERE backend_type = 'surfidx merge worker'";

		sleep 1 while time < $end && ($s->query($at_work)->{rows}[0] // 0) > 0;
		$lost = 'the worker goes on' if time >= $end;
		$s->end;
	}
	my @odd = odd_lines();
	my @found = ($lost ? "no end: $lost\n" : (), @odd, $server->crashes);

	push @log_of_sweep, "round $round:\n", @found, map { $_->{what} } @done if @found;
	$server->stop('immediate');
	$server->wait_gone(10);
	return;
}

{
	my $how = $ENV{SURFIDX_SWEEP} // 3 * $tables;
	my $all = $how eq 'all' || $how =~ /%$/;
	my $rounds = $all ? 1 + int(8 * $BLCKSZ / $tables) : int($how / $tables + 0.5);
	my @round = 0 .. $rounds - 1;

	srand($ENV{SURFIDX_SWEEP_SEED} // 20251128);
	if ($how =~ /^([\d.]+)%$/)
	{
		# any of them, each once
		$rounds = int($rounds * $1 / 100 + 0.5);
		@round = map { splice(@round, rnd(scalar @round), 1) } 1 .. $rounds;
	}
	rename($server->{data}, $good) or die;
	for my $n (0 .. $rounds - 1)
	{
		sweep_round($all, $round[$n]);
		note("round $n of $rounds") if $n % 10 == 9;
		last if @log_of_sweep > 400;
	}
	is(join('', @log_of_sweep), '', "the sweep, $rounds bytes of each of $tables indexes");
	system_ok('rm', '-rf', $server->{data});
	rename($good, $server->{data}) or die;
	srand($seed);
}

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
