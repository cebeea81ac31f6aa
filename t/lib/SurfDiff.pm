# Random differential tests: what a surfidx index answers against what a sequential scan answers.
#
# A case is made from one number, its seed: a table, indexes on it, and rounds of changes, maintenance and queries.
# Cases with a UNIQUE index have a twin table with btree indexes, which tells which changes must fail.
# Every statement that matters for the table's state is logged, so that a failure can be replayed and shrunk.
#
# With two sessions both change the table at the same time, or one asks the same of one snapshot in several ways while the other one changes it.
#
#	my $diff = SurfDiff->new(server => $server, sessions => 1);
#	my $failure = $diff->run_case($seed, $scale);		undef, or { what, script }
package SurfDiff;

use strict;
use warnings;
use List::Util qw(max min shuffle uniq);
use Time::HiRes qw(time);
use SurfServer;

use constant SHRINK_SECONDS => 60;
# A failure that depends on timing is looked for so often in a replay.
use constant REPLAYS => 6;

# ------------------------------------------------------------------------------------------ random numbers

# perl's own generator, which is the same everywhere
sub rnd { return int(rand($_[0])) }

sub chance { return rand() < $_[0] }

sub pick { return $_[ rnd(scalar @_) ] }

sub hex_bytes
{
	my ($n) = @_;
	my @special = ('00', '01', 'ff', 'fe', '80', '7f');

	return join('', map { chance(0.4) ? pick(@special) : sprintf('%02x', rnd(256)) } 1 .. $n);
}

# ------------------------------------------------------------------------------------------ types

sub int_value
{
	my ($bits, $kind, $n) = @_;
	my $max = $bits == 16 ? '32767' : $bits == 32 ? '2147483647' : '9223372036854775807';
	my $min = $bits == 16 ? '-32768' : $bits == 32 ? '-2147483648' : '-9223372036854775808';
	my $small = $bits == 16 ? 30000 : 2000000000;

	return pick($min, $max, $max - 1, 0, -1, 1, 127, 128, 255, 256, -256, 32767, -32768) if $kind eq 'extreme';
	return $n % 32767 if $kind eq 'serial' && $bits == 16;
	return $n if $kind eq 'serial';
	return int(($bits == 64 ? 4e15 : $small) * (rand() ** 4)) if $kind eq 'skew';
	return ($bits == 64 ? chance(0.5) ? '' : '-' : '') . rnd($bits == 64 ? 9e17 : $small);
}

my @prefixes = ('', 'a', '/usr/share/', '/usr/share/doc/postgresql-common/', 'http://www.example.org/');
my @alphabet = ('a' .. 'f', 'A', 'Z', ' ', '~', '%', '_', '\\', "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\x98", "\x01", "\x7f", '0', '9');

sub text_value
{
	my ($kind, $n, $maxlen) = @_;
	my $s;

	if ($kind eq 'extreme')
	{
		my $c = pick('', ' ', 'a', 'b', "\x01", 'long', 'long', 'utf');

		return $c if length $c < 2;
		return ("\xf0\x9f\x98\x80" x rnd(20)) . pick('', 'x') if $c eq 'utf';
		return pick('a', 'x', 'ab') x pick(1, 100, 127, 128, 255, 256, int($maxlen / 2));
	}
	return sprintf('%s%08d', $prefixes[ $n % 3 ], $n) if $kind eq 'serial';
	$s = pick(@prefixes) . join('', map { pick(@alphabet) } 1 .. rnd(pick(4, 8, 30)));
	$s .= 'z' x rnd($maxlen - length $s) if chance(0.01) && $maxlen > 300;
	$s .= join('', map { pick('a' .. 'p') } 1 .. $maxlen / 2 + rnd($maxlen / 2 - 40)) if $kind eq 'long' && $maxlen >= 200;
	return substr($s, 0, $maxlen) =~ s/[\x80-\xff]+$//r;
}

sub time_value
{
	my ($type, $kind, $n) = @_;

	if ($kind eq 'extreme')
	{
		my @v = ('infinity', '-infinity', '2000-01-01', '1999-12-31', '4713-01-01 BC', '1970-01-01');

		push @v, '5874897-12-31' if $type eq 'date';
		push @v, '294276-12-31 23:59:59.999999', '2000-01-01 00:00:00.000001', '1999-12-31 23:59:59.999999'
		  if $type ne 'date';
		return pick(@v);
	}
	my $days = $kind eq 'serial' ? int($n / 5) : $kind eq 'skew' ? int(20000 * rand()**4) : rnd(20000);
	my $date = sprintf('%04d-%02d-%02d', 1990 + int($days / 336), 1 + int($days / 28) % 12, 1 + $days % 28);

	return $date if $type eq 'date' || chance(0.3);
	return sprintf('%s %02d:%02d:%02d.%06d', $date, rnd(24), rnd(60), rnd(60), pick(0, 1, rnd(1000000)));
}

my %plain = (
	oid => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick(0, 1, 4294967295, 2147483647, 2147483648) : $k eq 'serial' ? $n : rnd(4e9) },
	xid8 => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick(0, 1, '9223372036854775807', '9223372036854775808', '18446744073709551615') : $k eq 'serial' ? $n : rnd(4e15) },
	pg_lsn => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('0/0', 'FFFFFFFF/FFFFFFFF', '7FFFFFFF/FFFFFFFF', '80000000/0') : $k eq 'serial' ? sprintf('0/%X', $n) : sprintf('%X/%X', rnd(4e9), rnd(4e9)) },
	uuid => sub { my ($k, $n) = @_; $k eq 'extreme' ? ('0' x 31) . pick(0, 1, 2) : $k eq 'serial' ? sprintf('%032x', $n) : sprintf('%08x%08x%08x%08x', map { rnd(4294967296) } 1 .. 4) },
	macaddr => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('000000000000', 'ffffffffffff', '7fffffffffff', '800000000000') : $k eq 'serial' ? sprintf('%012x', $n) : sprintf('%04x%08x', rnd(65536), rnd(4e9)) },
	macaddr8 => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('0' x 16, 'f' x 16, '80000000ffffffff', 'ffffffff00000000') : $k eq 'serial' ? sprintf('%016x', $n) : sprintf('%08x%08x', rnd(4e9), rnd(4e9)) },
	time => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('00:00', '24:00', '23:59:59.999999', '12:00') : sprintf('%02d:%02d:%02d.%06d', rnd(24), rnd(60), rnd(60), pick(0, rnd(1000000))) },
	bool => sub { pick('t', 'f') },
	'"char"' => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('', '~', ' ') : pick('a' .. 'z', 0 .. 9) });

# bpchar's values with blanks at the end are equal to those without; btree takes equal ones for identical ones, and an assertion of its own
# (nbtutils.c, _bt_keep_natts) finds out, where the server has assertions.
my $blanks = 1;

# Types of the comparator key space, and those whose equal values can look different: show makes one text of them.
my %compared = (
	numeric => { show => 'trim_scale(%s)', value => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('NaN', 'Infinity', '-Infinity', '0', '0.00', '1.0', '1.00', '1', '-1e-30', '1e100', '9' x 60) : $k eq 'serial' ? $n . pick('', '.0', '.00') : pick('', '-') . rnd(1000) . pick('', '.' . rnd(1000), '0' x rnd(30)) } },
	float8 => { show => '(%s + 0)', value => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('NaN', 'Infinity', '-Infinity', '0', '-0', '1e-300', '-1e300', '1.5') : $k eq 'serial' ? $n : rand(1000) - 500 } },
	float4 => { show => '(%s + 0)', value => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('NaN', 'Infinity', '-Infinity', '0', '-0', '1e-30', '1.5') : $k eq 'serial' ? $n : rnd(100000) / 8 } },
	interval => { show => 'extract(epoch from %s)', value => sub { my ($k, $n) = @_; $k eq 'extreme' ? pick('0', '1 mon', '30 days', '720:00', '-1 mon', '-30 days', '24:00', '1 day') : $k eq 'serial' ? "$n minutes" : rnd(400) . pick(' hours', ' days') } },
	timetz => { value => sub { sprintf('%02d:%02d:00+%02d', rnd(24), rnd(60), rnd(12)) } },
	inet => { value => sub { my ($k) = @_; $k eq 'extreme' ? pick('0.0.0.0/0', '255.255.255.255', '::', '::1', 'ffff::/16', '10.0.0.0/8', '10.0.0.0/9', '10.0.0.0') : sprintf('10.%d.%d.%d/%d', rnd(3), rnd(256), rnd(256), pick(8, 16, 24, 32)) } },
	varbit => { value => sub { join('', map { rnd(2) } 1 .. rnd(20)) } },
	'int4[]' => { value => sub { my ($k, $n) = @_; '{' . join(',', $k eq 'serial' ? $n : map { chance(0.1) ? 'NULL' : rnd(10) } 1 .. rnd(5)) . '}' } },
	int4range => { value => sub { my ($k) = @_; return 'empty' if chance(0.05); my $a = rnd(100); '[' . ($k eq 'extreme' ? '' : $a) . ',' . ($a + rnd(50)) . ')' } },
	jsonb => { value => sub { my ($k, $n) = @_; pick($n, '"' . pick('a' .. 'z') . "$n\"", 'null', 'true', '[]', '{}', "{\"a\": $n}", "[$n, 1]") } },
	bpchar => { show => 'rtrim(%s)', value => sub { my ($k, $n) = @_; ($k eq 'serial' ? $n : join('', map { pick('a' .. 'c', 'B', '-') } 1 .. rnd(5))) . ' ' x ($blanks * rnd(3)) } },
	pair => {
		value => sub {
			my ($k, $n) = @_;

			return pick('(,)', '(0,)', '(,a)', '(-2147483648,z)', '(2147483647,~)')
			  if $k eq 'extreme';
			return '(' . ($k eq 'serial' ? $n : rnd(30)) . ',' . pick('', 'a' .. 'f') . ')';
		}
	},
	'text COLLATE "en-x-icu"' => { value => sub { my ($k, $n) = @_; text_value($k, $n, 60) } },
	'text COLLATE nocase' => { show => 'lower(%s COLLATE "C")', value => sub { my ($k, $n) = @_; ($k eq 'serial' ? $n : '') . join('', map { pick('a' .. 'd', 'A' .. 'D', 'z') } 1 .. rnd(5)) } });

# family: constants of these types may stand beside a column of this one
my %family = (
	(map { $_ => [ 'int2', 'int4', 'int8' ] } 'int2', 'int4', 'int8'),
	(map { $_ => [ 'date', 'timestamp', 'timestamptz' ] } 'date', 'timestamp', 'timestamptz'),
	text => [ 'text', 'name' ],
	name => [ 'text', 'name' ]);
my %has_minmax = map { $_ => 1 } qw(int2 int4 int8 text date timestamp timestamptz time oid pg_lsn);
my @types = (('int4') x 4, ('int8') x 4, ('int2') x 2, ('text') x 5, 'varchar', ('bytea') x 2, ('date') x 2, ('timestamp') x 2,
	('timestamptz') x 2, 'name', 'uuid', sort(keys %plain), sort(keys %compared));

sub base_type { return $_[0] eq 'varchar' ? 'text' : $_[0] =~ s/ COLLATE.*//r }

sub type_value
{
	my ($type, $kind, $n, $maxlen) = @_;

	return int_value(substr($type, 3) * 8, $kind, $n) if $type =~ /^int[248]\z/;
	return text_value($kind, $n, $maxlen) if $type eq 'text' || $type eq 'varchar';
	return text_value($kind, $n, 60) if $type eq 'name';
	return time_value($type, $kind, $n) if $type =~ /^(?:date|timestamp)/;
	if ($type eq 'bytea')
	{
		return '\\x' . sprintf('%08x', $n) if $kind eq 'serial';
		return '\\x' . pick('', '00', '01', 'ff', '0000', '0001', '00ff', 'ff00', 'ffff', 'ff' x int($maxlen / 2), '00' x int($maxlen / 3)) if $kind eq 'extreme';
		return '\\x' . hex_bytes($maxlen / 3 + rnd($maxlen / 6)) if $kind eq 'long' && $maxlen >= 200;
		return '\\x' . hex_bytes(rnd(pick(3, 6, 20)));
	}
	return $compared{$type}{value}->($kind, $n) if $compared{$type};
	return $plain{$type}->($kind, $n);
}

sub quote
{
	my ($v) = @_;

	return 'NULL' unless defined $v;
	return "'" . ($v =~ s/'/''/gr) . "'";
}

# ------------------------------------------------------------------------------------------ a case's table

sub make_column
{
	my ($i, $unique, $maxlen) = @_;
	my $type = pick(@types);
	my %c = (name => "c$i", type => $type, base => base_type($type), maxlen => $maxlen);

	$c{show} = ($compared{$type} || {})->{show};
	$c{fuzzy} = defined $c{show};
	$c{collated} = $type =~ /COLLATE/;

	$c{kind} = $unique ? pick('random', 'serial', 'pool') : pick('few', 'few', 'pool', 'pool', 'skew', 'serial', 'random', 'random', 'extreme', 'mixed', 'same');
	# few entries on a leaf, few separators on an inner page: deep trees from few rows
	$c{kind} = 'long' if $maxlen >= 200 && $type =~ /^(?:text|varchar|bytea)$/ && chance(0.4);
	$c{nulls} = pick(0, 0, 0.05, 0.3, 0.95);
	$c{pool} = [ map { type_value($type, pick('random', 'random', 'extreme'), $_, $maxlen) } 1 .. ($c{kind} eq 'few' ? 2 + rnd(5) : 20 + rnd(200)) ];
	return \%c;
}

sub column_value
{
	my ($c, $n) = @_;
	my $kind = $c->{kind};

	return undef if chance($c->{nulls});
	return $c->{pool}[0] if $kind eq 'same';
	return $c->{pool}[ rnd(scalar @{ $c->{pool} }) ] if $kind eq 'few' || $kind eq 'pool';
	return $c->{pool}[ int(@{ $c->{pool} } * rand()**5) ] if $kind eq 'skew' && chance(0.5);
	$kind = pick('serial', 'random', 'extreme') if $kind eq 'mixed';
	return type_value($c->{type}, $kind, $n, $c->{maxlen});
}

# A constant to compare the column with: near what is there, or far from it.
sub constant
{
	my ($c, $case) = @_;
	my $x = rand();
	my $n = $x < 0.1 ? rnd(3) : rnd($case->{next_id} + 2);

	return type_value($c->{type}, 'extreme', $n, $c->{maxlen}) if $x > 0.85;
	return pick(@{ $c->{pool} }) if $x > 0.5;
	local $c->{nulls} = 0;
	return column_value($c, $n);
}

sub typed_constant
{
	my ($c, $case) = @_;
	my $v = constant($c, $case);
	my $type = $c->{base};

	if ($family{$type} && !$c->{collated} && chance(0.35))
	{
		my %limit = (int2 => 32767, int4 => 2147483647);

		$type = pick(@{ $family{$type} });
		# a value of the constant's own type may lie beyond all of the column's
		$v = type_value($type, pick('extreme', 'random', 'serial'), rnd(1000), $c->{maxlen}) if chance(0.3);
		$v = type_value($type, 'extreme', 0, $c->{maxlen})
		  if $limit{$type} && abs($v) > $limit{$type} || $type =~ /^timestamp/ && $v =~ /^\d{6,}-/ || $type eq 'name' && length $v > 60;
	}
	return "NULL::$type" if chance(0.01);
	# as applications write it, which is of type record
	return 'ROW(' . (length $1 ? $1 : 'NULL::int4') . ', ' .
	  (length $2 ? quote($2) : 'NULL') . '::text)'
	  if $type eq 'pair' && chance(0.5) && $v =~ /^\((.*),(.*)\)$/;
	return quote($v) . "::$type";
}

sub key_expression
{
	my ($c) = @_;
	my @e = ([ "($c->{name} IS NULL)", 'bool' ], [ "coalesce($c->{name}, " . quote($c->{pool}[0]) . "::$c->{base})", $c->{base} ]);

	push @e, [ "($c->{name} % 7)", $c->{type} eq 'int8' ? 'int8' : 'int4' ] if $c->{type} =~ /^int[248]\z/;
	# coalesce would take the constant's collation for none
	@e = ($e[0]) if $c->{collated} || $c->{fuzzy};
	push @e, [ "md5($c->{name})", 'text' ], [ "length($c->{name})", 'int4' ] if $c->{base} eq 'text' && !$c->{collated};
	push @e, [ "length($c->{name})", 'int4' ] if $c->{type} eq 'bytea';
	my ($sql, $type) = @{ pick(@e) };

	return { name => "($sql)", type => $type, base => $type, pool => [ map { type_value($type, 'random', $_, 50) } 1 .. 5 ],
		kind => 'random', nulls => 0, maxlen => 50, expression => 1 };
}

sub make_index
{
	my ($case, $i) = @_;
	my @cols = shuffle(@{ $case->{columns} });
	my $nkeys = min(scalar @cols, pick(1, 1, 1, 2, 2, 3, 4));
	my %ix = (name => "t_ix$i", unique => $case->{unique} && $i == 0, keys => [], include => [], where => '');

	for my $c (@cols[ 0 .. $nkeys - 1 ])
	{
		my $k = chance($ix{unique} ? 0 : 0.12) ? key_expression($c) : $c;
		my $desc = chance(0.35);
		my $first = chance(0.3) ? chance(0.5) : $desc;

		push @{ $ix{keys} }, { col => $k, desc => $desc, first => $first };
	}
	$ix{include} = [ @cols[ $nkeys .. min($#cols, $nkeys + rnd(2)) ] ] if $nkeys < @cols && chance(0.35);
	if (chance(0.15))
	{
		my $c = pick(@cols);

		$ix{where} = pick("$c->{name} IS NOT NULL", 'id % 3 <> 0', "$c->{name} >= " . quote($c->{pool}[0]) . "::$c->{base}", 'id < 1000');
	}
	$ix{not_distinct} = $ix{unique} && chance(0.3);
	return \%ix;
}

# A column as it is put out where the order of rows counts.
sub shown
{
	my ($c) = @_;

	return $c->{show} ? sprintf($c->{show}, $c->{name}) : $c->{name};
}

sub key_order
{
	my ($k, $reverse) = @_;
	my $desc = ($k->{desc} xor $reverse);
	my $first = ($k->{first} xor $reverse);

	return $k->{col}{name} . ($desc ? ' DESC' : '') . ($first ? ' NULLS FIRST' : ' NULLS LAST');
}

sub index_sql
{
	my ($ix, $table, $am, $options) = @_;
	my $keys = join(', ', map { key_order($_, 0) } @{ $ix->{keys} });
	my $name = $table eq 't' ? $ix->{name} : "u_$ix->{name}";
	my $sql = 'CREATE ' . ($ix->{unique} ? 'UNIQUE ' : '') . "INDEX $name ON $table USING $am ($keys)";

	$sql .= ' INCLUDE (' . join(', ', map { $_->{name} } @{ $ix->{include} }) . ')' if @{ $ix->{include} };
	$sql .= ' NULLS NOT DISTINCT' if $ix->{not_distinct};
	$sql .= " WITH ($options)" if $options;
	$sql .= " WHERE $ix->{where}" if $ix->{where};
	return $sql;
}

# Rows as text of VALUES; they are kept apart in the log so that shrinking can drop single ones.
sub make_rows
{
	my ($case, $n) = @_;
	my @rows;

	for (1 .. $n)
	{
		my $id = $case->{next_id}++;

		push @rows, '(' . join(', ', $id, map { quote(column_value($_, $id)) } @{ $case->{columns} }) . ')';
	}
	return \@rows;
}

sub make_case
{
	my ($seed, $scale) = @_;
	my %case = (seed => $seed, scale => $scale, next_id => 0);

	srand($seed);
	$case{unique} = chance(0.2);
	my $ncols = 1 + rnd(5);
	my $maxlen = pick(20, 60, 300, $ncols > 2 ? 600 : 1000, $ncols == 1 ? 2600 : 1000);

	$case{columns} = [ map { make_column($_, $case{unique}, $maxlen) } 0 .. $ncols - 1 ];
	$case{indexes} = [ map { make_index(\%case, $_) } 0 .. pick(0, 0, 0, 1, 2) ];
	$case{rows} = int($scale * pick(0, 1, 10, 100, 300, 1000, 1000, 3000));
	$case{rows} = min($case{rows}, 300) if $case{unique};
	return \%case;
}

# ------------------------------------------------------------------------------------------ running statements

sub new
{
	my ($class, %opt) = @_;
	my $self = bless { server => $opt{server}, verbose => $opt{verbose}, sessions => $opt{sessions} || 1, counts => {}, plans => {} }, $class;

	spare_assertions($opt{server});
	return $self;
}

# If the server has assertions, tables made from now on leave out what fails in one of core's own.
sub spare_assertions
{
	my $s = shift->session;

	$blanks = $s->value('SHOW debug_assertions') eq 'on' ? 0 : 1;
	$s->end;
	return;
}

# Databases made so far, by whomever: another one begins when the server has crashed.
my $serial = 0;

sub open_sessions
{
	my ($self) = @_;

	$self->{db} = 'diff' . ++$serial . '_' . $$;
	my $s = $self->{server}->session;
	$s->value("CREATE DATABASE $self->{db} TEMPLATE template0");
	$s->end;
	$self->{a} = $self->{server}->session(db => $self->{db}, name => 'a');
	$self->{b} = $self->{server}->session(db => $self->{db}, name => 'b');
	# (every other seed has the extension in a schema that no search path has)
	my $place = $self->{ext} ? 'CREATE SCHEMA ext; CREATE EXTENSION surfidx SCHEMA ext'
		: 'CREATE EXTENSION surfidx';
	$self->{a}->value("$place; CREATE COLLATION nocase
		(provider = icu, locale = 'und-u-ks-level2', deterministic = false); CREATE TYPE pair AS (number int4, word text); SELECT 1");
	for ($self->{a}, $self->{b})
	{
		$_->query("SET statement_timeout = '120s'; SET timezone = 'UTC'; SET max_parallel_workers_per_gather = 0; SET jit = off;");
	}
}

sub close_sessions
{
	my ($self) = @_;

	$_->end for grep { defined } delete @{$self}{ 'a', 'b' };
	my $s = $self->{server}->session;
	$s->query("DROP DATABASE IF EXISTS $self->{db} WITH (FORCE)");
	$s->end;
}

sub fail
{
	my ($self, $what) = @_;

	die { what => $what };
}

sub lost
{
	my ($self, $sql) = @_;

	$self->fail("the server went away during: $sql");
}

sub statement_sql
{
	my ($st, $table) = @_;
	my $sql = $st->{sql};

	$sql =~ s/%ROWS%/join(",\n", @{ $st->{rows} })/e if $st->{rows};
	$sql =~ s/%T%/$table/g;
	return $sql unless $st->{beside};
	return join(";\n", (map { "-- session b: " . (statement_sql($_, $table) =~ s/\n/\n--            /gr) } @{ $st->{beside} }), "-- at the same time:\n$sql");
}

# Run one statement that changes things; both twins, where there are twins.  Errors are part of the game, but the twins' must agree.
sub change
{
	my ($self, $case, $st) = @_;
	my $r;

	push @{ $self->{log} }, $st;
	$self->{counts}{changes}++;
	$r = $self->{a}->query(statement_sql($st, 't'));
	$self->{errors}{ $r->{error} || 'none' }++;
	print STDERR "$r->{error}: " . substr(statement_sql($st, 't'), 0, 300) . "\n" if $r->{error} && $self->{verbose};
	$self->lost($st->{sql}) if $r->{lost};
	$self->fail("error $r->{error} from: $st->{sql}") if $r->{error} =~ /^XX/ || $r->{error} eq '57014';
	if ($case->{twins} && $st->{sql} =~ /%T%/ && !$st->{single})
	{
		my $u = $self->{a}->query(statement_sql($st, 'u'));

		$self->lost($st->{sql}) if $u->{lost};
		$self->fail("surfidx: error '$r->{error}', $r->{count} rows; btree: error '$u->{error}', $u->{count} rows; from: $st->{sql}")
		  if $r->{error} ne $u->{error} || $r->{count} ne $u->{count};
	}
	return $r;
}

# ------------------------------------------------------------------------------------------ set-up and changes

sub filter_option
{
	my $kind = pick('bloom', 'surf', 'surf');

	return "filter = $kind" . ($kind eq 'surf' && chance(0.5) ? ', surf_hash_bits = ' . rnd(5) . ', surf_real_bits = ' . rnd(9) : '');
}

# Small deltas, so that there are merges; and what no table of a few thousand rows would get unasked.
sub storage_parameters
{
	my @options;

	push @options, 'delta_size = ' . pick(64, 64, 128), 'merge_ratio = ' . pick('0.001', '0.1', '10') if chance(0.6);
	push @options, pick('keys = cut', 'size_limit = ' . pick(64, 100, 300)) if chance(0.6);
	push @options, filter_option() if chance(0.4);
	push @options, 'hope = ' . pick('single', 'double', '"3grams"', '"4grams"', 'alm', 'alm_improved', 'fsst') if chance(0.5);
	return join(', ', @options);
}

# size_limit counts where keys are not pinned
sub leaf_keys
{
	return pick(
		'SET (keys = full)',
		'SET (keys = cut)',
		'RESET (keys)',
		'RESET (keys, size_limit)',
		map { "SET (size_limit = $_)" } 64, 128, 400);
}

sub create_index
{
	my ($self, $case, $ix) = @_;
	my $options = storage_parameters();
	my $how = $case->{next_id} > 0 && chance(0.15) ? ' CONCURRENTLY' : '';
	my $sql = index_sql($ix, '%T%', 'surfidx', $options) =~ s/INDEX u_/INDEX /r;
	my $r;

	$sql =~ s/ INDEX / INDEX$how /;
	$r = $self->change($case, { sql => $sql, single => 1 });
	$ix->{exists} = $r->{error} eq '';
	if ($r->{error} =~ /^42/)
	{
		$self->fail("error $r->{error} from: $sql");
	}
	return unless $case->{twins};
	my $u = $self->change($case, { sql => index_sql($ix, 'u', 'btree', ''), single => 1 });
	$self->fail("index creation: surfidx '$r->{error}', btree '$u->{error}': $sql") if $u->{error} ne $r->{error};
}

sub set_up
{
	my ($self, $case) = @_;
	my $columns = join(', ', 'id int4', map { "$_->{name} $_->{type}" } @{ $case->{columns} });
	my $with = pick('', '', 'WITH (autovacuum_enabled = off)', 'WITH (fillfactor = 70)');
	my $kind = pick(('') x 8, 'UNLOGGED', $self->{sessions} > 1 ? '' : 'TEMP');
	my $early = chance(0.5);

	# twins do not agree where the order of two sessions' changes is open
	$case->{twins} = $case->{unique} && $self->{sessions} == 1;
	$case->{temp} = $kind eq 'TEMP';
	$self->change($case, { sql => "CREATE $kind TABLE %T% ($columns) $with", keep => 1 });
	# a primary key for ON CONFLICT, which a unique surfidx index beside it may not allow
	$self->change($case, { sql => 'CREATE UNIQUE INDEX t_id ON t (id)', single => 1 }) if $case->{has_id} = !$case->{unique} && chance(0.4);
	if ($early)
	{
		$self->create_index($case, $_) for @{ $case->{indexes} };
	}
	$self->load($case, $case->{rows});
	if (!$early)
	{
		$self->create_index($case, $_) for @{ $case->{indexes} };
	}
	$self->change($case, { sql => 'ANALYZE %T%' }) if chance(0.8);
}

sub load
{
	my ($self, $case, $n) = @_;

	while ($n > 0)
	{
		# with a UNIQUE index a statement of many rows would fail as a whole nearly always
		my $some = min($n, $case->{unique} ? pick(1, 1, 1, 2) : 1 + rnd(1500));

		$self->change($case, { sql => "INSERT INTO %T% VALUES\n%ROWS%", rows => make_rows($case, $some) });
		$n -= $some;
	}
}

sub set_list
{
	my ($case, $one) = @_;
	my @cols = shuffle(@{ $case->{columns} });

	@cols = @cols[ 0 .. rnd(scalar @cols) ];
	return join(', ', map { "$_->{name} = " . quote(column_value($_, $case->{next_id}++)) . "::$_->{base}" } @cols);
}

sub change_condition
{
	my ($self, $case) = @_;
	my $x = rand();
	my $id = rnd($case->{next_id} + 1);

	return 'id = ' . $id if $x < 0.2;
	return 'id BETWEEN ' . $id . ' AND ' . ($id + rnd(200)) if $x < 0.4;
	return 'id % ' . (2 + rnd(9)) . ' = ' . rnd(3) if $x < 0.5;
	return $self->conditions($case, pick(@{ $case->{indexes} }), 1);
}

# ON CONFLICT on the twins' unique indexes.
sub conflict
{
	my ($case) = @_;
	my $ix = $case->{indexes}[0];
	my %key = map { $_->{col}{name} => 1 } @{ $ix->{keys} };
	my @rest = grep { !$key{ $_->{name} } } @{ $case->{columns} };
	my $target = '(' . join(', ', sort keys %key) . ')' . ($ix->{where} ? " WHERE $ix->{where}" : '');
	my $action = chance(0.4) ? 'DO NOTHING' : "$target DO NOTHING";

	if (@rest && chance(0.6))
	{
		my $c = pick(@rest);

		$action = "$target DO UPDATE SET $c->{name} = " . quote(column_value($c, $case->{next_id})) . "::$c->{base}, id = %T%.id" . (chance(0.3) ? ' WHERE %T%.id % 2 = 0' : '');
	}
	return { sql => "INSERT INTO %T% VALUES\n%ROWS%\nON CONFLICT $action", rows => make_rows($case, pick(1, 2, 5, 30)) };
}

sub one_change
{
	my ($self, $case) = @_;
	my $x = rand();

	return conflict($case) if $case->{unique} && chance(0.2);
	if ($x < 0.35)
	{
		return { sql => "INSERT INTO %T% VALUES\n%ROWS%", rows => make_rows($case, $case->{unique} ? pick(1, 1, 2) : 1 + rnd(pick(3, 30, 400 * $case->{scale}))) };
	}
	return { sql => 'UPDATE %T% SET ' . set_list($case) . ' WHERE ' . $self->change_condition($case) } if $x < 0.6;
	return { sql => 'DELETE FROM %T% WHERE ' . $self->change_condition($case) } if $x < 0.8;
	if ($x < 0.9 && !$case->{unique})
	{
		my $id = rnd($case->{next_id} + 1);
		my $cols = join(', ', map { $_->{name} } @{ $case->{columns} });

		return { sql => "INSERT INTO %T% SELECT id + 1, $cols FROM %T% WHERE id BETWEEN $id AND " . ($id + rnd(300)) } unless $case->{has_id};
		return { sql => "INSERT INTO t VALUES\n%ROWS%\nON CONFLICT (id) DO UPDATE SET " . set_list($case), rows => do {
			local $case->{next_id} = $id;
			make_rows($case, 1 + rnd(50));
		} };
	}
	return { sql => 'UPDATE %T% SET id = id WHERE ' . $self->change_condition($case) };
}

# A transaction is one entry of the log.
sub transaction
{
	my ($self, $case) = @_;
	my @part = ('BEGIN');
	my $depth = 0;

	for (1 .. 1 + rnd(5))
	{
		my $x = rand();

		if ($x < 0.25)
		{
			push @part, 'SAVEPOINT s' . ++$depth;
		}
		elsif ($x < 0.4 && $depth > 0)
		{
			push @part, 'ROLLBACK TO s' . $depth--;
		}
		my $st = $self->one_change($case);
		push @part, statement_sql($st, '%T%');
	}
	push @part, chance(0.7) ? 'COMMIT' : 'ROLLBACK';
	return { sql => join(";\n", @part) };
}

sub maintenance
{
	my ($self, $case) = @_;
	my $ix = pick(@{ $case->{indexes} });
	my $x = rand();

	return { sql => 'SELECT ' . ($self->{ext} // '') . "surfidx_merge('$ix->{name}')", single => 1 } if $x < 0.4 && $ix->{exists};
	return { sql => 'VACUUM %T%' } if $x < 0.55;
	return { sql => 'VACUUM (INDEX_CLEANUP ON, FREEZE) %T%' } if $x < 0.75;
	return { sql => 'VACUUM (INDEX_CLEANUP ON, ANALYZE) %T%' } if $x < 0.8;
	return { sql => "ALTER INDEX $ix->{name} SET (" . (chance(0.3) ? 'filter = none' : filter_option()) . ')', single => 1 } if chance(0.06) && $ix->{exists};
	return { sql => "ALTER INDEX $ix->{name} " . leaf_keys(), single => 1 }
		if chance(0.08) && $ix->{exists};
	return { sql => "REINDEX INDEX $ix->{name}", single => 1 } if $x < 0.83 && $ix->{exists};
	return { sql => "REINDEX INDEX CONCURRENTLY $ix->{name}", single => 1 } if $x < 0.86 && $ix->{exists} && !$case->{temp};
	return { sql => 'TRUNCATE %T%' } if $x < 0.88;
	return { sql => 'VACUUM FULL %T%' } if $x < 0.89;
	return { sql => "BEGIN;\nTRUNCATE %T%;\nINSERT INTO %T% VALUES\n%ROWS%;\n" . pick('COMMIT', 'ROLLBACK'), rows => make_rows($case, 1 + rnd(20)) } if $x < 0.92 && !$case->{unique};
	return { sql => "CLUSTER t USING $ix->{name}", single => 1 } if $x < 0.93 && $ix->{exists} && !$ix->{where} && !grep { $_->{col}{expression} } @{ $ix->{keys} };
	return { sql => 'CHECKPOINT', single => 1 } if $x < 0.94;
	return { sql => "ALTER INDEX $ix->{name} SET (hope = " . pick('auto', 'off', 'single', 'double', 'alm_improved', 'fsst') . ')', single => 1 } if $x < 0.97 && $ix->{exists};
	return { sql => 'ANALYZE %T%' };
}

# ------------------------------------------------------------------------------------------ conditions

sub condition
{
	my ($self, $case, $c) = @_;
	my $n = $c->{name};
	my $x = rand();
	my $op = pick('=', '=', '=', '<', '<=', '>', '>=');

	return "$n IS NULL" if $x < 0.06;
	return "$n IS NOT NULL" if $x < 0.1;
	return "$n BETWEEN " . typed_constant($c, $case) . ' AND ' . typed_constant($c, $case) if $x < 0.2;
	if ($x < 0.35 && $c->{base} !~ /\[/)
	{
		my $count = pick(0, 1, 2, 3, 5, 20, 150);
		my $type = $c->{base};
		my @v = map { chance(0.03) ? 'NULL' : quote(constant($c, $case)) } 1 .. $count;

		$type = pick(@{ $family{$type} }) if $family{$type} && $type =~ /^(?:date|timestamp)/ && chance(0.3) && !grep { /\d{6}-/ } @v;
		return "$n = ANY (ARRAY[" . join(', ', @v) . "]::${type}[])" if chance(0.85);
		return "$n <> ALL (ARRAY[" . join(', ', @v) . "]::${type}[])" if chance(0.3);
		return "$n $op ANY (ARRAY[" . join(', ', @v) . "]::${type}[])";
	}
	return "($n = " . typed_constant($c, $case) . " OR $n $op " . typed_constant($c, $case) . ')' if $x < 0.4;
	return "$n <> " . typed_constant($c, $case) if $x < 0.42;
	return "$n $op (SELECT " . typed_constant($c, $case) . ')' if $x < 0.48;
	return "$n LIKE " . quote((substr(constant($c, $case), 0, rnd(6)) =~ s/[\\%_]|[\x80-\xff].*//gr) . '%') if $x < 0.55 && $c->{base} eq 'text' && !$c->{collated};
	return pick($n, "NOT $n", "$n IS TRUE", "$n IS NOT TRUE") if $x < 0.6 && $c->{base} eq 'bool';
	return "$n $op " . typed_constant($c, $case);
}

# A FILTER of its own: what is true, false or NULL for NULLs, of which a group may consist; empty
# lists, too.
sub filter
{
	my ($self, $case, $c) = @_;
	my $n = $c->{name};
	my $type = $c->{base};
	my $list = join(', ', map { quote(constant($c, $case)) } 1 .. pick(0, 0, 1, 3));
	my $one = typed_constant($c, $case);

	return "$n <> ALL (ARRAY[$list]::${type}[])" if $type !~ /\[/ && chance(0.4);
	return pick("$n IS DISTINCT FROM $one", "NOT ($n = $one)", "$n IS NULL OR $n > $one",
		"($n < $one) IS NOT TRUE", "($n <> $one) IS UNKNOWN");
}

# (a, b) > (1, 2), of columns as the index has them or in any other order
sub row_condition
{
	my ($case, @keys) = @_;
	my $from = rnd(@keys - 1);
	my @some = chance(0.7) ? @keys[ $from .. $from + 1 + rnd($#keys - $from) ]
	  : (shuffle(@keys))[ 0 .. 1 + rnd($#keys) ];
	my $op = pick('<', '<=', '>', '>=', '=');
	my @sides = ('(' . join(', ', map { $_->{col}{name} } @some) . ')',
		'(' . join(', ', map { $_ > 0 && chance(0.05) ? 'NULL' : typed_constant($some[$_]{col}, $case) }
		  0 .. $#some) . ')');

	@sides = reverse @sides if chance(0.15);
	return join(" $op ", @sides);
}

sub conditions
{
	my ($self, $case, $ix, $at_least) = @_;
	my @keys = @{ $ix->{keys} };
	my @part;

	for my $k (@keys)
	{
		last if @part && chance(0.35);
		next if chance(0.12);
		push @part, $self->condition($case, $k->{col});
		push @part, $self->condition($case, $k->{col}) if chance(0.2);
	}
	push @part, $self->condition($case, $keys[0]{col}) if !@part && $at_least;
	if (@keys > 1 && chance(0.12))
	{
		push @part, row_condition($case, @keys) for 1 .. pick(1, 1, 2);
	}
	push @part, $self->condition($case, pick(@{ $case->{columns} })) if chance(0.1);
	push @part, $ix->{where} if $ix->{where} && !chance(0.05);
	return join(' AND ', @part) || 'true';
}

# ------------------------------------------------------------------------------------------ queries

my %mode = (
	seq => 'enable_seqscan=on enable_indexscan=off enable_indexonlyscan=off enable_bitmapscan=off enable_sort=on enable_mergejoin=off enable_hashjoin=on enable_nestloop=on',
	index => 'enable_seqscan=off enable_indexscan=on enable_indexonlyscan=off enable_bitmapscan=off enable_sort=on enable_mergejoin=on enable_hashjoin=on enable_nestloop=on',
	only => 'enable_seqscan=off enable_indexscan=on enable_indexonlyscan=on enable_bitmapscan=off enable_sort=on enable_mergejoin=on enable_hashjoin=on enable_nestloop=on',
	nosort => 'enable_seqscan=off enable_indexscan=on enable_indexonlyscan=on enable_bitmapscan=off enable_sort=off enable_mergejoin=on enable_hashjoin=on enable_nestloop=on',
	bitmap => 'enable_seqscan=off enable_indexscan=off enable_indexonlyscan=off enable_bitmapscan=on enable_sort=on enable_mergejoin=on enable_hashjoin=on enable_nestloop=on',
	merge => 'enable_seqscan=off enable_indexscan=on enable_indexonlyscan=on enable_bitmapscan=off enable_sort=off enable_mergejoin=on enable_hashjoin=off enable_nestloop=off',
	loop => 'enable_seqscan=off enable_indexscan=on enable_indexonlyscan=on enable_bitmapscan=off enable_sort=on enable_mergejoin=off enable_hashjoin=off enable_nestloop=on',
	default => 'enable_seqscan=on enable_indexscan=on enable_indexonlyscan=on enable_bitmapscan=on enable_sort=on enable_mergejoin=on enable_hashjoin=on enable_nestloop=on');

sub mode_sql { return join('', map { my ($k, $v) = split /=/; "SET $k = $v;\n" } split / /, $mode{ $_[0] }) }

# A query: its text, whether the order of its rows is determined, in which modes to try it.
sub make_query
{
	my ($self, $case, $ix) = @_;
	my @keys = @{ $ix->{keys} };
	my $where = $self->conditions($case, $ix);
	my @names = map { shown($_->{col}) } @keys;
	my @covered = ((map { $_->{col}{name} } @keys), map { $_->{name} } @{ $ix->{include} });
	my $all = join(', ', @covered);
	my $x = rand();

	if ($x < 0.3)
	{
		my $n = 1 + rnd(scalar @keys);
		my $reverse = chance(0.5);
		my $order = join(', ', map { key_order($_, $reverse) } @keys[ 0 .. $n - 1 ]);
		# rows of OFFSET are passed over, in order or by ranks: some, most, all and more
		my $offset = pick(rnd(50), (rnd($case->{rows} + 50)) x 3);
		my $limit = pick('', '', ' LIMIT ' . rnd(5), " LIMIT 10 OFFSET $offset", " OFFSET $offset",
			" OFFSET (SELECT $offset) FETCH FIRST 3 ROWS ONLY",
			" OFFSET $offset FETCH FIRST 2 ROWS WITH TIES");

		return { sql => 'SELECT ' . join(', ', @names[ 0 .. $n - 1 ]) . " FROM t WHERE $where ORDER BY $order$limit", ordered => 1, modes => [ 'index', 'only', 'nosort' ] };
	}
	if ($x < 0.34 && !$keys[0]{col}{fuzzy})
	{
		# by places or by a sort
		my $k = pick(@keys);
		my $f = pick(0, 1, 0.5, sprintf('%.4f', rand()), "'{0.5,NULL,0,0.99}'::float8[]");

		return { sql => "SELECT percentile_disc($f) WITHIN GROUP (ORDER BY " . key_order($k, chance(0.5)) . ')' . pick('', ', count(*)') . " FROM t WHERE $where",
			modes => [ 'only', 'nosort', 'default' ] } if !$k->{col}{fuzzy};
	}
	# no column is read by these but in the conditions, one or all
	return { sql => "SELECT count(*) FROM t WHERE $where", modes => [ 'index', 'only', 'bitmap', 'default' ] } if $x < 0.36;
	return { sql => pick('SELECT 1', "SELECT count(*), count($keys[0]{col}{name})", "SELECT count(*) FILTER (WHERE $keys[-1]{col}{name} IS NULL)",
			"SELECT count(*) - count(row($all))") . " FROM t WHERE $where", modes => [ 'index', 'only', 'bitmap' ] } if $x < 0.4;
	return { sql => "SELECT EXISTS (SELECT FROM t WHERE $where)", modes => [ 'index', 'only' ] } if $x < 0.42;
	return { sql => "SELECT $all FROM t WHERE $where", modes => [ 'only', 'bitmap' ] } if $x < 0.54;
	return { sql => "SELECT DISTINCT $names[0] FROM t WHERE $where ORDER BY " . key_order($keys[0], 0), ordered => 1, modes => [ 'nosort', 'default' ] } if $x < 0.6 && !$keys[0]{col}{fuzzy};
	if ($x < 0.68)
	{
		my @c = grep { $has_minmax{ $_->{col}{type} } } @keys;

		return { sql => 'SELECT ' . join(', ', map { "min($_->{col}{name}), max($_->{col}{name})" } @c) . " FROM t WHERE $where", modes => [ 'index', 'only' ] } if @c;
	}
	return $self->make_join($case, $ix, $where) if $x < 0.8;
	return { sql => "SELECT id, ctid, $all FROM t WHERE $where", modes => [ 'index', 'bitmap', 'default' ] };
}

sub make_join
{
	my ($self, $case, $ix, $where) = @_;
	my $c = $ix->{keys}[0]{col};
	my $n = $c->{name};
	my $few = 'id < ' . pick(20, 60, 200);
	my $filter = $ix->{where} ? "WHERE $ix->{where}" : '';
	my $big = "(SELECT $n AS k FROM t $filter) b";
	my $small = "(SELECT id, $n AS k FROM t WHERE $few) a";
	my $tiny = "(SELECT id, $n AS k FROM t WHERE $few ORDER BY id LIMIT 15) a";
	my $x = rand();

	return { sql => "SELECT count(*), count(a.k), sum(a.id) FROM $small JOIN $big ON a.k = b.k", modes => [ 'merge', 'loop' ] } if $x < 0.25;
	return { sql => "SELECT count(*), count(a.k), count(b.k) FROM $small LEFT JOIN $big ON a.k = b.k", modes => [ 'merge', 'loop' ] } if $x < 0.4;
	# both sides in order from the index: marks and restores over duplicates
	return { sql => "SELECT count(*), count(a.k), count(b.k) FROM (SELECT $n AS k FROM t WHERE $where) a JOIN $big ON a.k = b.k", modes => ['merge'], heavy => 1 } if $x < 0.5;
	return { sql => "SELECT a.id, a.k FROM $small WHERE NOT EXISTS (SELECT FROM $big WHERE b.k = a.k)", modes => [ 'loop', 'merge' ] } if $x < 0.6;
	return { sql => "SELECT a.id, a.k FROM $small WHERE EXISTS (SELECT FROM $big WHERE b.k = a.k)", modes => [ 'loop', 'merge' ] } if $x < 0.7;
	return { sql => "SELECT a.id, (SELECT count(*) FROM $big WHERE b.k " . pick('<', '<=', '>', '>=', '=') . " a.k) FROM $tiny", modes => [ 'loop', 'nosort' ] } if $x < 0.85;
	return { sql => pick('SELECT count(*)', 'SELECT count(a.k)', 'SELECT count(*), count(b.k)') . " FROM $tiny, (SELECT $n AS k FROM t WHERE $where) b", modes => ['loop'] } if $x < 0.88;
	return { sql => "SELECT count(*) FROM $small", modes => ['loop'] } if $c->{fuzzy} && $x < 0.95;
	return { sql => "SELECT a.id, l.k FROM $tiny, LATERAL (SELECT b.k FROM $big WHERE b.k " . pick('<', '<=', '>', '>=') . " a.k ORDER BY b.k " . pick('', 'DESC') . " LIMIT 3) l", modes => [ 'nosort', 'loop' ] } if $x < 0.95;
	return { sql => "SELECT a.id, a.k FROM $tiny WHERE a.k NOT IN (SELECT k FROM $big WHERE k IS NOT NULL)", modes => ['loop'] };
}

sub answer
{
	my ($r, $ordered) = @_;

	return "error $r->{error}" if $r->{error};
	return join("\n", $ordered ? @{ $r->{rows} } : sort @{ $r->{rows} });
}

# Undef, or what is wrong with this query's answers.
sub try_query
{
	my ($self, $session, $q) = @_;
	my (@r, $want);
	my @modes = ('seq', @{ $q->{modes} });

	for my $m (@modes)
	{
		$session->send(mode_sql($m));
		$session->send($q->{sql});
	}
	# all are received, whatever the first ones say: what is left would be taken for a later answer
	my %answer = map { $_ => ($session->receive, $session->receive)[1] } @modes;

	for my $m (@modes)
	{
		my $r = $answer{$m};

		return { what => "the server went away (mode $m) during: $q->{sql}", mode => $m } if $r->{lost};
		my $got = answer($r, $q->{ordered});

		$self->{counts}{queries}++;
		$self->{answers}{ $got =~ /^error/ ? $got : $got eq '' ? 'empty' : 'rows' }++ unless defined $want;
		print STDERR "$got: $q->{sql}\n" if $got =~ /^error/ && $self->{verbose};
		$want //= $got;
		# what is too slow without an index proves nothing
		return undef if $want =~ /^error 57014/;
		next if $got eq $want;
		push @r, { what => sprintf("mode %s gives %d rows%s, sequential scan %d: %s", $m, scalar @{ $r->{rows} },
			$r->{error} ? " and error $r->{error}" : '', scalar(split /\n/, $want), $q->{sql}), mode => $m, want => $want, got => $got };
	}
	return $r[0];
}

sub note_plan
{
	my ($self, $q) = @_;
	my $m = pick(@{ $q->{modes} });
	my $r = $self->{a}->query(mode_sql($m) . "EXPLAIN (COSTS OFF) $q->{sql}");
	my $plan = join("\n", @{ $r->{rows} });

	$self->{plans}{'all'}++;
	while ($plan =~ /(Index Only Scan Backward|Index Scan Backward|Index Only Scan|Index Scan|Bitmap Index Scan|Merge Join|SurfidxAggregate) ?(?:using|on)? ?(t_ix)?/g)
	{
		$self->{plans}{$1}++ if $2 || $1 eq 'Merge Join' || $1 eq 'SurfidxAggregate';
	}
}

sub query_round
{
	my ($self, $case) = @_;
	my @ix = grep { $_->{exists} } @{ $case->{indexes} };

	return unless @ix;
	for (1 .. 12)
	{
		my $q =
			(chance(0.25) ? $self->make_aggregate($case, pick(@ix)) : undef) ||
			$self->make_query($case, pick(@ix));
		my $failure;

		next if $q->{heavy} && $case->{rows} > 400;
		$failure = $self->try_query($self->{a}, $q);
		$self->note_plan($q) if !$failure && chance(0.05);
		if ($failure)
		{
			$self->{failed_query} = $q;
			die $failure;
		}
	}
}

# The verifier, and the whole of each index against the whole of the table.
sub verify
{
	my ($self, $case) = @_;

	for my $ix (grep { $_->{exists} } @{ $case->{indexes} })
	{
		my $q = $self->whole_query($ix);
		my $failure = $self->try_query($self->{a}, $q) || $self->try_check($self->{a}, $ix);

		if ($failure)
		{
			$self->{failed_query} = $failure->{check} ? { check => $ix->{name}, sql => $failure->{check} } : $q;
			die $failure;
		}
	}
}

# Aggregates of a column, such as do not depend on the order of its values, nor on their form.
sub aggregates_of
{
	my ($c) = @_;
	my $n = $c->{name};
	my @a = ("count($n)");

	push @a, map { "$_($n)" } 'sum', 'avg' if $c->{type} =~ /^(?:int[248]|numeric)\z/;
	push @a, map { "$_($n)" } 'min', 'max' if $has_minmax{ $c->{type} };
	push @a, "count(DISTINCT $n)" if chance(0.1);
	push @a, fed_of($c) if chance(0.4);
	return @a;
}

# Aggregates that entries are passed to one by one, or of what is computed from a column.
sub fed_of
{
	my ($c) = @_;
	my $n = $c->{name};
	my $number = $c->{type} =~ /^(?:int[248]|numeric)\z/;
	my @a = ("bool_or($n IS NULL)", "sum(CASE WHEN $n IS NULL THEN 0 ELSE 2 END)",
		"count(nullif($n, $n))");

	push @a, "stddev($n)", "var_pop($n)", "sum($n / 3)", "avg($n / 7)", "min($n / 3)",
	  "bool_and($n > 0)"
	  if $number;
	push @a, "max($n % 7)", "bit_or($n)", "count(nullif($n % 3, 1))"
	  if $number && $c->{type} ne 'numeric';
	push @a, "sum(length($n))", "max(length($n))", "variance(length($n))"
	  if $c->{type} eq 'text';
	return pick(@a);
}

# Groups by a function of a column: of time, which may come again, or of its values.
sub bucket_of
{
	my ($c) = @_;
	my $n = $c->{name};
	my $stride = pick('15 minutes', '1 day', '7 hours 1 second', '1000 days');
	my $unit = pick(qw(minute hour day week month year century));
	my $field = pick(qw(hour day dow isodow doy week isoyear month quarter year decade));
	my $zone = pick(qw(UTC EST America/Havana Australia/Lord_Howe Pacific/Apia Europe/Dublin));
	my $local = "$n AT TIME ZONE '$zone'";

	return "$n % 7" if $c->{type} =~ /^int[48]\z/;
	return "length($n)" if $c->{type} eq 'text';
	return pick("date_trunc('$unit', $local)", "date_trunc('$unit', $n, '$zone')",
		"extract($field FROM $local)")
	  if $c->{type} eq 'timestamptz' && chance(0.5);
	return $c->{type} =~ /^timestamp/
	  ? pick("date_bin('$stride', $n, '2001-01-01')", "date_trunc('$unit', $n)", "${n}::date",
		"extract($field FROM $n)")
	  : undef;
}

# The first or last row of each group, in the order of all keys, so that there is one answer.
sub make_distinct_on
{
	my ($self, $case, $ix) = @_;
	my @keys = @{ $ix->{keys} };
	return undef if @keys < 2;
	my $n = 1 + rnd($#keys);
	my $back = chance(0.5);
	my $where = chance(0.6) ? $ix->{where} || 'true' : $self->conditions($case, $ix);
	my @on = map { $_->{col}{name} } @keys[ 0 .. $n - 1 ];
	my @order = map { key_order($keys[$_], $_ < $n ? 0 : $back) } 0 .. $#keys;

	return { modes => [ 'only', 'nosort', 'default' ], ordered => 1,
		sql => 'SELECT DISTINCT ON (' . join(', ', @on) . ') '
		  . join(', ', map { shown($_->{col}) } @keys)
		  . " FROM t WHERE $where ORDER BY " . join(', ', @order) };
}

# What the index may compute: aggregates of all rows, or of groups of leading columns in any order.
sub make_aggregate
{
	my ($self, $case, $ix) = @_;
	return $self->make_distinct_on($case, $ix) if chance(0.15);
	my @keys = map { $_->{col} } @{ $ix->{keys} };
	my $all = $ix->{where} || 'true';
	my $where = chance(0.4) ? $all : $self->conditions($case, $ix);
	my @by = chance(0.5) ? () : @keys[ 0 .. rnd(scalar @keys) ];
	my $bucket = @by && chance(0.4) ? bucket_of($by[-1]) : undef;
	my @names = map { $_->{name} } @by;
	my @shown = map { shown($_) } @by;

	$names[-1] = $shown[-1] = $bucket if $bucket;
	@names = shuffle(@names);
	my @what = shuffle('count(*)', map { aggregates_of($_) } @keys, @{ $ix->{include} });
	my $next = $ix->{keys}[ @by % @keys ];

	push @what, "array_agg($next->{col}{name} ORDER BY " . key_order($next, 0) . ')'
	  if chance(0.15) && !$next->{col}{fuzzy} && !$bucket;
	@what = shuffle(@what);
	for (@what)
	{
		next if /DISTINCT/ || chance(0.7);
		$_ .= ' FILTER (WHERE '
		  . (chance(0.5) ? $self->conditions($case, $ix) : $self->filter($case, pick(@keys))) . ')';
	}
	my $having = chance(0.1) ? ' HAVING count(*) > ' . rnd(4) : '';
	my $q = { modes => [ 'only', 'nosort', 'default' ] };

	@what = @what[ 0 .. min($#what, rnd(5)) ];
	@what = @names && chance(0.15) ? () : @names && chance(0.2) ? ('count(*)') : @what;
	$q->{sql} = @names && !$having && !@what && chance(0.5)
	  ? 'SELECT DISTINCT ' . join(', ', @names) . " FROM t WHERE $where"
	  : 'SELECT ' . join(', ', @shown, @what) . " FROM t WHERE $where"
	  . (@names ? ' GROUP BY ' . join(', ', @names) : '') . $having;
	return undef if $q->{sql} =~ /^SELECT DISTINCT/ && grep { $_->{fuzzy} } @by;
	return $q;
}

sub whole_query
{
	my ($self, $ix) = @_;
	my $order = join(', ', map { key_order($_, 0) } @{ $ix->{keys} });
	my $names = join(', ', map { shown($_->{col}) } @{ $ix->{keys} });

	return { sql => "SELECT $names FROM t" . ($ix->{where} ? " WHERE $ix->{where}" : '') . " ORDER BY $order", ordered => 1, modes => [ 'nosort', 'index' ] };
}

sub try_check
{
	my ($self, $session, $ix) = @_;
	my $sql = "SELECT $self->{ext}surfidx_check('$ix->{name}', true, true)";
	my $r = $session->query($sql);

	return { what => "the server went away during: $sql", check => $sql } if $r->{lost};
	$self->{counts}{checks}++;
	return undef if $r->{error} eq '';
	$r = $session->query("\\set VERBOSITY verbose\n$sql;\n\\set VERBOSITY sqlstate");
	return { what => "$sql: error $r->{error} " . join(' ', @{ $r->{rows} }), check => $sql };
}

# ------------------------------------------------------------------------------------------ two sessions

# What may happen where two sessions meet.
sub is_conflict { return $_[0] =~ /^(?:40P01|40001|23505|25P02|55P03|42P01|42704|21000|42P10)?\z/ }

# Send to b what is to happen beside; wait for all of it.
sub send_beside
{
	my ($self, @statements) = @_;

	$self->{b}->send(statement_sql($_, 't')) for @statements;
}

sub receive_beside
{
	my ($self, @statements) = @_;

	for my $st (@statements)
	{
		my $r = $self->{b}->receive(130);

		$self->lost("$st->{sql} (session b)") if $r->{lost};
		$self->fail("error $r->{error} in session b from: $st->{sql}") if !is_conflict($r->{error});
	}
}

# A change while the other session changes something, too.
sub change_beside
{
	my ($self, $case, $st, $other) = @_;

	push @{ $self->{log} }, { %$st, beside => [$other] };
	$self->{counts}{'changes beside'}++;
	$self->send_beside($other);
	my $r = $self->{a}->query(statement_sql($st, 't'), 130);

	$self->lost($st->{sql}) if $r->{lost};
	$self->receive_beside($other);
	$self->fail("error $r->{error} from: $st->{sql}") if !is_conflict($r->{error});
	$self->{a}->query('ROLLBACK') if $st->{sql} =~ /^BEGIN/;
	$self->{b}->query('ROLLBACK') if $other->{sql} =~ /^BEGIN/;
}

# A query in several ways of one snapshot while b does all that.
sub query_beside
{
	my ($self, $q, @others) = @_;

	$self->{a}->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t');
	$self->send_beside(@others);
	my $failure = $self->try_query($self->{a}, $q);
	$self->{a}->query('COMMIT') unless $failure && $failure->{what} =~ /went away/;
	$self->receive_beside(@others);
	# the deadlock detector's choice
	return undef if $failure && grep { /^error (?:40P01|25P02)/ } $failure->{want} // '', $failure->{got} // '';
	return $failure;
}

sub any_statement { my ($self, $case) = @_; return chance(0.55) ? $self->one_change($case) : chance(0.3) ? $self->transaction($case) : $self->maintenance($case) }

sub two_sessions_round
{
	my ($self, $case) = @_;
	my @ix = grep { $_->{exists} } @{ $case->{indexes} };

	return unless @ix;
	for (1 .. 6)
	{
		$self->change_beside($case, chance(0.7) ? $self->one_change($case) : $self->transaction($case), $self->any_statement($case)) for 1 .. rnd(4);
		my $q =
			(chance(0.25) ? $self->make_aggregate($case, pick(@ix)) : undef) ||
			(chance(0.3) ? $self->whole_query(pick(@ix)) : $self->make_query($case, pick(@ix)));

		next if $q->{heavy} && $case->{rows} > 400;
		my @others = map { $self->any_statement($case) } 1 .. 1 + rnd(4);

		$q = { %$q, beside => \@others };
		$self->{counts}{'queries beside'}++;
		my $failure = $self->query_beside($q, @others);
		if ($failure)
		{
			$self->{failed_query} = $q;
			die $failure;
		}
		push @{ $self->{log} }, @others;
	}
}

# No key twice.
sub unique_holds
{
	my ($self, $case) = @_;

	for my $ix (grep { $_->{exists} && $_->{unique} } @{ $case->{indexes} })
	{
		my @keys = map { $_->{col}{name} } @{ $ix->{keys} };
		my @where = ($ix->{where} || 'true', $ix->{not_distinct} ? () : map { "$_ IS NOT NULL" } @keys);
		my $r = $self->{a}->query(mode_sql('seq') . 'SELECT count(*) FROM t WHERE ' . join(' AND ', @where) . ' GROUP BY ' . join(', ', @keys) . ' HAVING count(*) > 1');

		$self->fail("a key of $ix->{name} is there twice") if @{ $r->{rows} };
	}
}

# ------------------------------------------------------------------------------------------ cursors

# Two cursors of one snapshot, by sort and by index, walk the same way while another session changes the table.
sub cursor_round
{
	my ($self, $case) = @_;
	my ($ix) = shuffle(grep { $_->{exists} } @{ $case->{indexes} });
	my ($busy, $skip) = (0, 0);
	my ($query, $mode, @steps, $failure);

	return unless $ix;
	my $reverse = chance(0.5);
	my $where = chance(0.3) ? ($ix->{where} || 'true') : $self->conditions($case, $ix);

	$query = 'SELECT ' . join(', ', map { shown($_->{col}) } @{ $ix->{keys} }) . " FROM t WHERE $where ORDER BY " . join(', ', map { key_order($_, $reverse) } @{ $ix->{keys} });
	$mode = pick('nosort', 'nosort', 'index');
	@steps = ('BEGIN ISOLATION LEVEL REPEATABLE READ', mode_sql('seq') . "DECLARE r SCROLL CURSOR FOR $query", mode_sql($mode) . "DECLARE i SCROLL CURSOR FOR $query");
	for my $i (0 .. $#steps)
	{
		my $r = $self->{a}->query($steps[$i]);

		$self->lost($steps[$i]) if $r->{lost};
		next unless $r->{error};
		# a query that is wrong in itself
		last if $i < 2 && $self->{a}->query('ROLLBACK') && ($skip = 1);
		$failure = "error $r->{error}: $steps[$i]";
	}
	return if $skip;
	for (1 .. 5 + rnd(25))
	{
		last if $failure;
		if (!$case->{temp} && !$busy && chance(0.3))
		{
			my $st = chance(0.5) ? $self->one_change($case) : chance(0.6) ? { sql => "SELECT $self->{ext}surfidx_merge('$ix->{name}')", single => 1 } : { sql => 'VACUUM (INDEX_CLEANUP ON) %T%', single => 1 };

			push @{ $self->{log} }, $st;
			push @steps, "-- elsewhere: $st->{sql}";
			$self->{b}->send(statement_sql($st, 't'));
			# VACUUM may wait for the cursor
			if ($st->{sql} =~ /^VACUUM/)
			{
				$busy = 1;
			}
			else
			{
				my $r = $self->{b}->receive;

				$self->lost($st->{sql}) if $r->{lost};
				$failure = "error $r->{error} elsewhere: $st->{sql}" if $r->{error} =~ /^XX/;
				if ($case->{twins} && !$st->{single})
				{
					my $u = $self->{b}->query(statement_sql($st, 'u'));

					$failure = "twins differ elsewhere: '$r->{error}' $r->{count}, '$u->{error}' $u->{count}: $st->{sql}" if $r->{error} ne $u->{error} || $r->{count} ne $u->{count};
				}
			}
		}
		my $fetch = pick('FORWARD', 'FORWARD', 'BACKWARD', 'FORWARD ' . rnd(40), 'FORWARD ' . rnd(400), 'BACKWARD ' . rnd(40), 'BACKWARD ' . rnd(10), 'FIRST', 'LAST', 'ABSOLUTE ' . rnd(50), 'ABSOLUTE -' . rnd(20), 'RELATIVE ' . (rnd(20) - 10), 'FORWARD ALL', 'BACKWARD ALL', 'FORWARD 0');
		my ($r, $i) = map { $self->{a}->query("FETCH $fetch FROM $_") } 'r', 'i';

		push @steps, "FETCH $fetch";
		$self->{counts}{fetches}++;
		$self->lost("FETCH $fetch") if $i->{lost};
		$failure = sprintf('cursor by index: %d rows %s, by sort: %d', scalar @{ $i->{rows} }, $i->{error}, scalar @{ $r->{rows} }) if answer($r, 1) ne answer($i, 1);
	}
	$self->{a}->query('ROLLBACK');
	if ($busy)
	{
		my $r = $self->{b}->receive(130);

		$self->lost('VACUUM') if $r->{lost};
		$failure ||= "error $r->{error} from VACUUM beside a cursor" if $r->{error};
	}
	die { what => "$failure\n" . join(";\n", @steps) } if $failure;
}

# ------------------------------------------------------------------------------------------ a case

sub twins_agree
{
	my ($self, $case) = @_;

	return unless $case->{twins};
	my ($t, $u) = map { $self->{a}->query("SELECT * FROM $_ ORDER BY id") } 't', 'u';

	$self->fail('the table with surfidx and its twin with btree differ') if answer($t) ne answer($u);
}

# Returns undef, or { seed, what, script }.
sub run_case
{
	my ($self, $seed, $scale, $end) = @_;
	my $case = make_case($seed, $scale);
	my $failure;

	$self->{log} = [];
	$self->{failed_query} = undef;
	$self->{ext} = $seed % 2 ? 'ext.' : '';
	$self->open_sessions;
	$failure = $self->guarded(
		sub {
			$self->set_up($case);
			for (1 .. 2 + rnd(6))
			{
				last if $end && time > $end;
				for (1 .. rnd(5))
				{
					$self->change($case, chance(0.25) ? $self->transaction($case) : $self->one_change($case));
				}
				$self->change($case, $self->maintenance($case)) for 1 .. rnd(4);
				$self->verify($case);
				$self->query_round($case);
				if ($self->{sessions} > 1)
				{
					$self->two_sessions_round($case);
					$self->unique_holds($case);
				}
				$self->cursor_round($case) if chance(0.6);
			}
			$self->verify($case);
			$self->twins_agree($case);
		});
	$self->{counts}{cases}++;
	if ($failure)
	{
		$failure->{seed} = $seed;
		$failure->{script} = $self->script($case, $failure);
	}
	eval { $self->close_sessions };
	return $failure;
}

sub guarded
{
	my ($self, $work) = @_;

	return undef if eval { $work->(); 1 };
	return ref $@ ? $@ : { what => "test program: $@" };
}

# ------------------------------------------------------------------------------------------ shrinking

sub settings { return "SET timezone = 'UTC';\nSET jit = off;\nSET max_parallel_workers_per_gather = 0;\n" }

sub script
{
	my ($self, $case, $failure) = @_;
	my $q = $self->{failed_query};
	my $log = $self->{log};
	my $note = '';

	$q->{failed_as} = kind_of($failure) if $q;
	if ($q && $self->{server}->postmaster_alive)
	{
		eval { $self->close_sessions };
		my $smaller = eval { $self->shrink($log, $q) };
		if ($smaller)
		{
			$log = $smaller;
		}
		else
		{
			$note = "-- a replay of the log did not show it again: it depends on timing\n";
		}
		eval { $self->open_sessions };
	}
	my $text = "-- seed $case->{seed}, scale $case->{scale}\n-- " . ($failure->{what} =~ s/\n/\n-- /gr) . "\n$note" . settings()
	  . join("\n", map { statement_sql($_, 't') . ';' } @$log) . "\n";

	if ($q)
	{
		$text .= join('', map { '-- session b: ' . (statement_sql($_, 't') =~ s/\n/\n--            /gr) . ";\n" } @{ $q->{beside} }) . "-- at the same time:\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n" if $q->{beside};
		$text .= "$q->{sql};\n" if $q->{check};
		$text .= join('', map { mode_sql($_) . "$q->{sql};\n" } 'seq', $failure->{mode} || @{ $q->{modes} }) unless $q->{check};
	}
	return $text;
}

# An error is another failure than a wrong answer.
sub kind_of
{
	my ($f) = @_;

	return join(' ', map { defined $_ && /^(error \w+)/ ? $1 : 'answer' } @{$f}{ 'want', 'got' });
}

# Does the log still lead to a failure?  Where two sessions met, it may take some tries.
sub replay_fails
{
	my ($self, $log, $q) = @_;

	for (1 .. ($q->{beside} || (grep { $_->{beside} } @$log) ? REPLAYS : 1))
	{
		return 1 if $self->replay_fails_once($log, $q);
	}
	return 0;
}

sub replay_fails_once
{
	my ($self, $log, $q) = @_;
	my $failure;

	$self->open_sessions;
	$failure = $self->guarded(
		sub {
			for my $st (@$log)
			{
				$self->send_beside(@{ $st->{beside} || [] });
				my $r = $self->{a}->query(statement_sql({ %$st, beside => undef }, 't'));

				$self->lost($st->{sql}) if $r->{lost};
				$self->receive_beside(@{ $st->{beside} || [] });
			}
			my $f = $q->{check} ? $self->try_check($self->{a}, { name => $q->{check} })
			  : $q->{beside} ? $self->query_beside($q, @{ $q->{beside} }) : $self->try_query($self->{a}, $q);

			# an index that is gone is no failure
			die $f if $f && !($q->{check} && $f->{what} =~ /error 42/) && kind_of($f) eq ($q->{failed_as} // kind_of($f));
		});
	eval { $self->close_sessions };
	return $failure && $self->{server}->postmaster_alive;
}

# Drop statements, then what the other session did at the same time, then rows, as long as it still fails.  undef: it does not, or no more.
sub shrink
{
	my ($self, $log, $q) = @_;
	my @log = @$log;

	$self->{until} = time + SHRINK_SECONDS;
	return undef unless $self->replay_fails(\@log, $q);
	$self->shrink_list(sub { grep({ $_->{keep} } @{ $_[1] }) ? 0 : $self->replay_fails($_[0], $q) }, \@log);
	for my $st ($q, @log)
	{
		my $all = $st->{beside} or next;

		# a query stays one that is asked beside another session, even if that does nothing
		$self->shrink_list(sub { $st->{beside} = $st == $q || @{ $_[0] } ? $_[0] : undef; return 1 if $self->replay_fails(\@log, $q); $st->{beside} = $all; return 0 }, $all);
	}
	for my $st (grep { $_->{rows} } @log, map { @{ $_->{beside} || [] } } $q, @log)
	{
		my $all = $st->{rows};

		$self->shrink_list(sub { return 0 unless @{ $_[0] }; $st->{rows} = $_[0]; return 1 if $self->replay_fails(\@log, $q); $st->{rows} = $all; return 0 }, $all);
	}
	return \@log;
}

# Take pieces, large ones first, out of a list (which is changed) as long as the test, given what would be left and what would go, says that
# it does without.
sub shrink_list
{
	my ($self, $test, $list) = @_;

	for (my $step = int((@$list + 1) / 2); $step >= 1; $step = int($step / 2))
	{
		for (my $at = @$list - $step; $at > -$step; $at -= $step)
		{
			my $from = max(0, $at);
			my @rest = @$list;
			my @gone = splice(@rest, $from, $at + $step - $from);

			return if time >= $self->{until};
			@$list = @rest if $test->(\@rest, \@gone);
		}
	}
	return;
}

1;
