# Random schedules of serializable transactions, held against serial orders.
#
# Some transactions at a time read and write one small table, each in a session of its own, their
# statements in random turns; merges and VACUUMs come between.  Of those that committed there must
# be an order in which, one after the other on a model of the table, they read what they have read,
# and leave what is there.  What they write depends on what they read: so a wrong read tells.
package SurfSerial;

use strict;
use warnings;
use Time::HiRes qw(time);

# How a key looks in each kind of column: integers, strings that differ after what a range in
# memory keeps, values that have no byte order.
our %KINDS = (
	bytes => { type => 'int', key => sub { $_[0] } },
	long => {
		type => 'text COLLATE "C"',
		key => sub { "(repeat('p', 60) || lpad(($_[0])::text, 5, '0'))" }
	},
	comparator => { type => 'int[]', key => sub { "ARRAY[$_[0]]" } });

my $ways = 'SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off';
my @ways = (
	'',
	'SET LOCAL enable_bitmapscan = off',
	'SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off',
	'SET LOCAL enable_indexonlyscan = off');

# server, seed, sessions => how many transactions at a time
sub new
{
	my ($class, %opt) = @_;
	my $self = bless { sessions => 3, committed => 0, failed => 0, cases => 0, %opt }, $class;

	srand($opt{seed});
	$self->{control} = $opt{server}->session;
	for (1 .. $self->{sessions})
	{
		my $s = $opt{server}->session;

		$s->{backend} = $s->value('SELECT pg_backend_pid()');
		push @{ $self->{s} }, $s;
	}
	return $self;
}

sub table
{
	my ($self, $kind) = @_;

	$self->{kind} = $KINDS{$kind};
	my $key = $self->{kind}{key}->('g');
	$self->{control}->value("DROP TABLE IF EXISTS o;
		CREATE TABLE o (key $self->{kind}{type}, n int, v int) WITH (autovacuum_enabled = off);
		CREATE UNIQUE INDEX o_key ON o USING surfidx (key);
		CREATE INDEX o_v ON o USING surfidx (v) INCLUDE (n);
		INSERT INTO o SELECT $key, g, g FROM generate_series(2, 20, 3) g; SELECT 1");
	return;
}

# ---- what transactions do ----

sub num { return 1 + int(rand(24)) }

sub lines { my ($state, @k) = @_; return join(' ', map { "$_|$state->{$_}" } @k) }

sub up { return sort { $a <=> $b } @_ }

# The keys that pass, ascending.
sub pick { my ($state, $passes) = @_; return up(grep { $passes->() } keys %$state) }

# At most n of them.
sub first_of { my ($n, @k) = @_; return @k > $n ? @k[ 0 .. $n - 1 ] : @k }

# Each read: a statement, and what it returns of a state.
sub reads
{
	my ($key, $p, $q) = @_;
	my ($k, $l, $m) = ($key->($p), $key->($q), $key->($q + 1));
	my $some = 1 + int(rand(3));
	my $get = 'SELECT n, v FROM o WHERE';

	return (
		[ "$get key = $l", sub { my $s = shift; lines($s, pick($s, sub { $_ == $q })) } ],
		[ "$get key BETWEEN $k AND $l ORDER BY key",
			sub { my $s = shift; lines($s, pick($s, sub { $_ >= $p && $_ <= $q })) } ],
		[ "$get key > $k AND key < $l ORDER BY key DESC",
			sub { my $s = shift; lines($s, reverse pick($s, sub { $_ > $p && $_ < $q })) } ],
		[ "$get key > $k ORDER BY key LIMIT $some",
			sub { my $s = shift; lines($s, first_of($some, pick($s, sub { $_ > $p }))) } ],
		[ "$get key < $l ORDER BY key DESC LIMIT $some",
			sub { my $s = shift; lines($s, first_of($some, reverse pick($s, sub { $_ < $q }))) } ],
		[ "SELECT count(*) FROM o WHERE key >= $k",
			sub { my $s = shift; scalar(my @all = pick($s, sub { $_ >= $p })) } ],
		[ "$get key IN ($k, $l, $m) ORDER BY n",
			sub { my $s = shift; lines($s, pick($s, sub { $_ == $p || ($_ - $q) =~ /^[01]$/ })) } ],
		[ "$get v BETWEEN $p AND $q ORDER BY n",
			sub { my $s = shift; lines($s, pick($s, sub { $s->{$_} >= $p && $s->{$_} <= $q })) } ],
		[ 'SELECT max(v) FROM o', sub { my ($m) = reverse up(values %{ $_[0] }); $m // '~' } ],
		[ "SELECT surfidx_may_contain('o_key', $l) AND EXISTS (SELECT FROM o WHERE key = $l)",
			sub { exists $_[0]{$q} ? 't' : 'f' } ]);
}

sub set { my ($s, $k, $v) = @_; $s->{$k} = $v; return $k }

sub rename_key
{
	my ($s, $p, $q) = @_;

	return '' if !exists $s->{$p};
	return 'duplicate' if $p != $q && exists $s->{$q};
	return set($s, $q, delete $s->{$p});
}

# Each write: a statement, and what it does to a state and returns.  $acc is written.
sub writes
{
	my ($key, $p, $q, $acc) = @_;
	my ($k, $l, $next) = ($key->($p), $key->($q), $key->('n + 1'));
	my $last = 'SELECT n FROM o ORDER BY key DESC LIMIT 1';

	return (
		[ "INSERT INTO o VALUES ($l, $q, $acc) RETURNING n",
			sub { exists $_[0]{$q} ? 'duplicate' : set($_[0], $q, $acc) } ],
		[ "INSERT INTO o VALUES ($l, $q, $acc) ON CONFLICT (key) DO NOTHING RETURNING n",
			sub { exists $_[0]{$q} ? '' : set($_[0], $q, $acc) } ],
		[ "INSERT INTO o SELECT $next, n + 1, $acc FROM ($last) m RETURNING n",
			sub { my ($m) = reverse up(keys %{ $_[0] }); $m ? set($_[0], $m + 1, $acc) : '' } ],
		[ "UPDATE o SET v = $acc WHERE key = $k RETURNING n",
			sub { exists $_[0]{$p} ? set($_[0], $p, $acc) : '' } ],
		[ "UPDATE o SET key = $l, n = $q WHERE key = $k RETURNING n",
			sub { rename_key($_[0], $p, $q) } ],
		[ "DELETE FROM o WHERE key = $k RETURNING n",
			sub { exists $_[0]{$p} ? (delete $_[0]{$p}, $p)[1] : '' } ]);
}

# $acc: what the transaction has read so far.
sub random_step
{
	my ($self, $acc) = @_;
	my ($p, $q) = up(num(), num());
	my $key = $self->{kind}{key};
	my @from = rand() < 0.55 ? reads($key, $p, $q) : writes($key, $p, $q, $acc);
	my ($sql, $does) = @{ $from[ int(rand(@from)) ] };

	return { sql => $sql, does => $does };
}

# ---- running ----

# Until the session has answered, or waits for another one.
sub answered
{
	my ($self, $s) = @_;
	my $end = time + 60;

	while (time < $end)
	{
		my $bits = '';

		vec($bits, fileno($s->{out}), 1) = 1;
		return 1 if length $s->{buffer} || select($bits, undef, undef, 0.01) > 0;
		return 0
		  if $self->{control}->value(
			"SELECT count(*) FROM pg_locks WHERE pid = $s->{backend} AND NOT granted");
	}
	die "neither answered nor blocked\n";
}

# Take the answer; what it says ends the transaction, or is its step's result.
sub take
{
	my ($self, $x) = @_;
	my $r = $x->{s}->receive(60);
	my $step = $x->{waits};

	$x->{waits} = undef;
	die "no answer to $step->{sql}\n" if $r->{lost};
	if ($r->{error})
	{
		die "$step->{sql}: $r->{error}\n" unless $r->{error} =~ /^(40001|40P01|23505)$/;
		$x->{s}->query('ROLLBACK', 60);
		$x->{end} = $r->{error};
		return;
	}
	if ($step->{sql} eq 'COMMIT')
	{
		$x->{end} = 'committed';
		return;
	}
	$step->{result} = join(' ', @{ $r->{rows} });
	push @{ $x->{did} }, $step;
	$x->{acc} = ($x->{acc} * 7 + $_) % 997 for $step->{result} =~ /\d+/g;
	return;
}

sub send
{
	my ($self, $x) = @_;
	my $step = $x->{left}-- > 0 ? $self->random_step($x->{acc}) : { sql => 'COMMIT' };

	$x->{waits} = $step;
	push @{ $self->{script} }, "$x->{name}: $step->{sql}";
	$x->{s}->send($step->{sql});
	$self->take($x) if $self->answered($x->{s});
	return;
}

sub state_now
{
	my ($self) = @_;
	my $r = $self->{control}->query('SELECT n, v FROM o', 60);

	return { map { split /\|/ } @{ $r->{rows} } };
}

sub explains
{
	my ($before, $after, @order) = @_;
	my %state = %$before;

	for my $step (map { @{ $_->{did} } } @order)
	{
		# core locks no row that DO NOTHING has met (of btree, neither)
		next if $step->{result} eq '' && $step->{sql} =~ /DO NOTHING/;
		return 0 if $step->{does}->(\%state) ne $step->{result};
	}
	return lines(\%state, up(keys %state)) eq lines($after, up(keys %$after));
}

sub some_order
{
	my ($before, $after, $done, @rest) = @_;

	return explains($before, $after, @$done) if !@rest;
	for my $i (0 .. $#rest)
	{
		my @others = @rest[ grep { $_ != $i } 0 .. $#rest ];

		return 1 if some_order($before, $after, [ @$done, $rest[$i] ], @others);
	}
	return 0;
}

sub story
{
	my ($self, $before, $after, @x) = @_;
	my @told = ('before: ' . lines($before, up(keys %$before)), @{ $self->{script} });

	for my $x (@x)
	{
		my $did = join('; ', map { "$_->{sql} => $_->{result}" } @{ $x->{did} });

		push @told, "$x->{name} $x->{end}: $did";
	}
	return join("\n", @told, 'after: ' . lines($after, up(keys %$after)));
}

# One schedule.  False: no serial order explains it; $self->{found} tells.
sub one
{
	my ($self) = @_;
	my $before = $self->state_now;
	my $n = 0;
	my @x = map { { s => $_, name => 'T' . ++$n, left => 1 + int(rand(4)), acc => $n, did => [] } }
	  @{ $self->{s} };

	$self->{script} = [];
	for my $x (@x)
	{
		my $way = $ways[ int(rand(@ways)) ];
		my $r = $x->{s}->query("BEGIN ISOLATION LEVEL SERIALIZABLE; $ways; $way", 60);

		die "BEGIN: $r->{error}\n" if $r->{error} || $r->{lost};
	}
	while (my @open = grep { !$_->{end} } @x)
	{
		my @ready = grep { !$_->{waits} } @open;

		if (rand() < 0.1 && @ready == @open)
		{
			my $merge = "SELECT surfidx_merge('o_key'), surfidx_merge('o_v')";
			my $what = rand() < 0.8 ? $merge : 'VACUUM o';

			push @{ $self->{script} }, $what;
			$self->{control}->query($what, 60);
		}
		$self->send($ready[ int(rand(@ready)) ]) if @ready;
		for my $x (grep { $_->{waits} } @x)
		{
			# a waiting session is released by what others do; when no other is left, it will be
			$self->take($x) if !@ready || $self->answered($x->{s});
		}
	}
	$self->{cases}++;
	my @good = grep { $_->{end} eq 'committed' } @x;
	my $after = $self->state_now;

	$self->{committed} += @good;
	$self->{failed} += @x - @good;
	return 1 if some_order($before, $after, [], @good);
	$self->{found} = $self->story($before, $after, @x);
	return 0;
}

sub sound
{
	my ($self) = @_;

	my @found = map { $self->{control}->value("SELECT surfidx_check('$_', true, true)") // '' }
	  qw(o_key o_v);

	return join('', @found);
}

1;
