# Random tables, indexes, changes and queries: surfidx must answer as a sequential scan does, and refuse what btree refuses.
# A fixed set of seeds, then others from one that is new in each run and printed; bench/torture/diff.pl goes on for longer.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SurfDiff;
use SurfServer;
use Test::More;
use Time::HiRes qw(time);

my $fixed = 25;
my $seconds = $ENV{SURFIDX_DIFF_SECONDS} || 40;
my $first = $ENV{SURFIDX_DIFF_SEED} || 1000 + int(rand(1e8));
my $server = SurfServer->new(name => 'diff', conf => ['autovacuum_naptime = 1s']);
my $start = time;
my @failures;

# ------------------------------------------------------------------------------------------ shrinking

# A failure that needs one statement before, one of the other session at the same time, and a row of each; and shows itself in one of three tries.
{
	no warnings 'redefine';
	my $tries = 0;
	local *SurfDiff::replay_fails_once = sub {
		my ($self, $log, $q) = @_;
		my $here = grep { $_->{sql} eq 'a 17' && grep { $_ == 5 } @{ $_->{rows} } } @$log;
		my $there = grep { $_->{sql} eq 'b 3' && grep { $_ == 77 } @{ $_->{rows} } } @{ $q->{beside} };

		return $here && $there && ++$tries % 3 == 0;
	};
	my @log = ({ sql => 'CREATE', keep => 1 }, map { { sql => "a $_", rows => [ 1 .. 40 ], beside => $_ % 5 == 2 ? [ { sql => 'b' } ] : undef } } 1 .. 30);
	my $q = { sql => 'q', beside => [ map { { sql => "b $_", rows => [ 1 .. 100 ] } } 1 .. 6 ] };
	my $log = SurfDiff::shrink(bless({}, "SurfDiff"), \@log, $q);

	is(join('; ', map { my $st = $_; join(' ', $st->{sql}, @{ $st->{rows} || [] }, map { "beside $_->{sql}" } @{ $st->{beside} || [] }) } @{ $log || [] }), 'CREATE; a 17 5', 'a failure of two sessions shrinks: what was done before');
	is(join('; ', map { join(' ', $_->{sql}, @{ $_->{rows} }) } @{ $q->{beside} }), 'b 3 77', 'and what was done at the same time');
}

$server->start;
my $diff = SurfDiff->new(server => $server);

sub run_seed
{
	my ($seed) = @_;
	my $failure = $diff->run_case($seed, 1, $seed > $fixed ? $start + $seconds : undef);

	push @failures, { seed => $seed, %$failure } if $failure;
	return @failures <= 3 && $server->postmaster_alive;
}

# What failed stands after the "not ok", for a reader of that line alone.
sub report
{
	my ($name) = @_;

	ok(!@failures, $name);
	diag("bench/torture/diff.pl --seed $_->{seed} --cases 1: $_->{what}\n$_->{script}") for @failures;
	@failures = ();
	return;
}

for my $seed (1 .. $fixed)
{
	last unless run_seed($seed);
}
report("seeds 1 to $fixed");

my $n = 0;
while (time - $start < $seconds && run_seed($first + $n))
{
	$n++;
}
report("seeds from $first on");

# Two sessions at the same time, some cases only.
my $pair = SurfDiff->new(server => $server, sessions => 2);
for my $seed ($first .. $first + 2)
{
	my $failure = $pair->run_case($seed, 0.3, time + 8);

	push @failures, { seed => "$seed --sessions 2", %$failure } if $failure;
}
report('two sessions at the same time');
is(join('', $server->crashes), '', 'no crash in the server log');

my $queries = $diff->{counts}{queries} || 0;
my $kinds = grep { $_ ne 'all' } keys %{ $diff->{plans} };
note("$queries queries, $diff->{counts}{changes} changes, $diff->{counts}{fetches} fetches");
cmp_ok($queries, '>', 1000, 'there were queries enough');
cmp_ok($kinds, '>=', 4, 'of several kinds of plans: ' . join(', ', sort keys %{ $diff->{plans} }));
$server->stop('immediate');
done_testing();
