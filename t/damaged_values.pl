# Damage inside of values: arrays, records, ranges and their like, whose functions believe the counts that stand in them.  Bytes of log pages
# and leaves are overwritten; whatever is read then is an answer or an error that names the index, and REINDEX heals.
# SURFIDX_HOSTILE_SEED=n repeats a run, SURFIDX_HOSTILE_ROUNDS=n makes it longer.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SurfServer;
use Test::More;

my $BLCKSZ = 8192;
my ($LOG, $LEAF) = (3, 4);
my $rounds = $ENV{SURFIDX_HOSTILE_ROUNDS} || 3;
my $seed = $ENV{SURFIDX_HOSTILE_SEED} || 1 + int(rand(1e6));
# checksums, where the cluster has them, would find the damage before anybody sees the values
my $server = SurfServer->new(name => 'values', conf => [ 'autovacuum = off', 'surfidx.auto_merge = off', 'ignore_checksum_failure = on', "statement_timeout = '30s'", 'max_wal_size = 4GB',
	$ENV{SURFIDX_MUTANT} ? "surfidx.mutants = '$ENV{SURFIDX_MUTANT}'" : () ]);

diag("again with SURFIDX_HOSTILE_SEED=$seed");
srand($seed);
$server->start;
my $s = $server->session;

# type => [value of g, rest of the index's definition]
my @types = (
	[ 'int4[]', 'ARRAY[g % 9, g, NULL, g]' ],
	# keys that are out of order then
	[ 'text COLLATE "C"', "'http://host' || g % 40 || '.example.org/' || left(md5(g::text), 9)" ],
	[ 'int8[]', 'ARRAY[[g, 7], [g / 3, 9]]' ],
	[ 'text[]', "ARRAY['value ' || g % 9, NULL, repeat('x', g % 20), md5(g::text)]" ],
	[ 'numeric[]', 'ARRAY[g / 7.0, g, 1e30]' ],
	[ 'pairs[]', "ARRAY[(g, 'text', ARRAY[g])::pairs, (g % 9, NULL, ARRAY[NULL, 1])::pairs]" ],
	[ 'pairs', "(g % 9, repeat('t', g % 30), ARRAY[g, 1])::pairs" ],
	[ 'shorts', "ARRAY[g::text, md5(g::text)]" ],
	[ 'textrange', "textrange('a' || g % 9, 'b' || g)" ],
	[ 'pairrange[]',
		"ARRAY[pairrange((g, 'a', ARRAY[g])::pairs, (g + 2, NULL, NULL)::pairs), NULL]" ],
	[ 'nummultirange', 'nummultirange(numrange(g % 9, 10), numrange(20 + g, NULL))' ],
	[ 'int8multirange', 'int8multirange(int8range(g % 9, 10), int8range(20 + g, 30 + g), int8range(100 + 2 * g, NULL))' ],
	[ 'jsonb', q(jsonb_build_object('a', g % 9, 'list', jsonb_build_array(g, 'text', NULL, jsonb_build_object('n', g / 7.0))) ) ],
	[ 'tsvector', "to_tsvector('simple', 'word ' || g % 9 || ' and ' || md5(g::text))" ],
	[ 'tsquery', "to_tsquery('simple', 'word' || g % 9 || ' & (x' || g || ' | !y <-> z)')" ],
	[ 'varbit[]', "ARRAY[(g % 9)::bit(7), g::bit(30)]::varbit[]" ],
	[ 'inet[]', "ARRAY['10.0.0.0'::inet + g, '::1'::inet + g % 9]" ],
	[ 'text[]', "ARRAY[g % 9 || repeat(md5(g::text), 200)]" ],
	[ 'int4', 'g', 'INCLUDE (y)', 'text[]', 'ARRAY[g::text, md5(g::text)]' ],
	[ 'int4', 'g', 'INCLUDE (y)', 'jsonb', "jsonb_build_array(g, 'text', g / 7.0)" ],
	[ 'int4', 'g', 'INCLUDE (y)', 'pairs', "(g, repeat('t', g % 30), ARRAY[g, 1])::pairs" ]);

my $r = $s->query(<<'END');
CREATE EXTENSION surfidx;
CREATE TYPE pairs AS (a int, b text, c int4[]);
CREATE DOMAIN short AS text CHECK (length(value) < 99);
CREATE DOMAIN shorts AS short[];
CREATE TYPE textrange AS RANGE (subtype = text);
CREATE TYPE pairrange AS RANGE (subtype = pairs);
CREATE FUNCTION message_of(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE c text;
BEGIN
	EXECUTE sql;
	RETURN '';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS c = PG_EXCEPTION_CONTEXT;
	RETURN sqlerrm || ' (' || split_part(c, 'SQL statement', 1) || ')';
END $$
END
die $r->{error} if $r->{error};

my @made;
for my $round (1 .. $rounds)
{
	for my $t (0 .. $#types)
	{
		my ($type, $value, $more, $second, $other) = @{ $types[$t] };
		my $name = "v${round}_$t";
		my $merged = ($round + $t) % 3 == 0;

		$r = $s->query("CREATE TABLE $name (x $type, y " . ($second || 'int') . "); CREATE INDEX ${name}_i ON $name USING surfidx (x) " . ($more || '') . ";
			INSERT INTO $name SELECT $value, " . ($other || 'g') . " FROM generate_series(1, 120) g" . ($merged ? "; SELECT surfidx_merge('${name}_i')" : ''));
		die "$name: $r->{error}\n" if $r->{error};
		$r = $s->query("SELECT surfidx_check('${name}_i', true, true)");
		die "$name: $r->{error}\n" if $r->{error};
		push @made, { name => $name, what => "$name ($type)" . ($merged ? ', merged' : ''), column => $second ? 'y' : 'x', literal => '(' . ($value =~ s/\bg\b/5/gr) . ")::$type" =~ s/ COLLATE.*//r, kind => $merged ? $LEAF : $LOG };
	}
}
$_->{file} = $s->value("SELECT pg_relation_filepath('$_->{name}_i')") for @made;
$s->end;
$server->stop('fast');

sub rnd { return int(rand($_[0])) }

# A word or a byte of a body becomes something else: what a count could be.
my @words = (0, 1, 2, 0x7fffffff, 0xffffffff, 0x10000000, 0x00ffffff, 0x80000000, 1 << 20, 0x40000000);
for my $m (@made)
{
	my $path = "$server->{data}/$m->{file}";

	open(my $f, '+<:raw', $path) or die "$path: $!";
	local $/;
	my $bytes = <$f>;
	for my $block (0 .. length($bytes) / $BLCKSZ - 1)
	{
		next if ord(substr($bytes, ($block + 1) * $BLCKSZ - 8, 1)) != $m->{kind};
		my $lower = unpack('S', substr($bytes, $block * $BLCKSZ + 12, 2));
		for (1 .. 4)
		{
			my $at = $block * $BLCKSZ + 24 + 16 + rnd($lower - 24 - 16 - 4);

			if (rnd(2)) { substr($bytes, $at, 4) = pack('L', $words[ rnd(scalar @words) ]) }
			else { substr($bytes, $at, 1) = chr(rnd(256)) }
		}
	}
	seek($f, 0, 0);
	print $f $bytes;
	close $f;
}

$server->start;
my ($found, $unnamed, $down, $healed) = (0, '', '', 0);
for my $m (@made)
{
	my ($t, $i) = ($m->{name}, "$m->{name}_i");
	my $set = 'SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off';
	my $error = '';

	$s = $server->session;
	$s->query($set);
	for my $sql ("SELECT surfidx_check('$i', true, true)",
		"SELECT count(x::text) FROM (SELECT $m->{column} x FROM $t ORDER BY $t.x) x",
		"SELECT count(x::text) FROM (SELECT $m->{column} x FROM $t ORDER BY $t.x DESC) x",
		"SELECT count(*) FROM $t WHERE x = $m->{literal}", "SELECT surfidx_count('$i')", "SELECT count(*) FROM (SELECT x, count(*) FROM $t GROUP BY x) x",
		"INSERT INTO $t SELECT * FROM $t", "SELECT surfidx_merge('$i')", "DELETE FROM $t WHERE y IS NULL", "SELECT count(x::text) FROM (SELECT $m->{column} x FROM $t ORDER BY $t.x) x")
	{
		my $q = $s->query("SELECT message_of(\$q\$$sql\$q\$)", 60);

		$error = join(' ', @{ $q->{rows} || [] }) unless $q->{lost};
		$found++ if $sql =~ /surfidx_check/ && $error ne '';
		# the server's own words about a value that it was given: bytes that are no text, a row's version that it does not know
		$unnamed .= "$m->{what}: $error\n" if $error ne '' && $error !~ /"$i"|could not (?:read|open)|invalid byte sequence|outdated tuple descriptor|row type of datum tuple/;
		next unless $q->{lost};
		$down .= "$m->{what}: $sql\n";
		last;
	}
	$s->end;
	if (!$server->postmaster_alive || $down =~ /\Q$m->{what}\E:/)
	{
		$server->wait_gone(10);
		last if !$server->postmaster_alive && !eval { $server->start; 1 };
		next;
	}
	$s = $server->session;
	$r = $s->query("REINDEX INDEX $i;\nSELECT surfidx_check('$i', true, true)");
	$healed++ if !$r->{error} && !$r->{lost};
	diag("$m->{what}: $r->{error}") if $r->{error};
	$s->end;
}
is($down, '', 'the server stays up');
is($unnamed, '', 'errors name the index');
cmp_ok($found, '>=', @made * 0.8, "$found of " . scalar(@made) . ' found');
is($healed, scalar(@made), 'REINDEX heals');
is(join('', $server->crashes), '', 'no crash in the log');
$server->stop('immediate');
done_testing();
