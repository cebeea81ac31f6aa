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
my $failures = 0;

$server->start;
my $diff = SurfDiff->new(server => $server);

sub run_seed
{
	my ($seed) = @_;
	my $failure = $diff->run_case($seed, 1, $seed > $fixed ? $start + $seconds : undef);

	return 1 unless $failure;
	$failures++;
	diag("seed $seed: $failure->{what}");
	diag($failure->{script});
	return 0;
}

my $good = 1;
for my $seed (1 .. $fixed)
{
	$good = run_seed($seed) && $good;
	last if $failures > 3 || !$server->postmaster_alive;
}
ok($good, "seeds 1 to $fixed");

diag("seeds from $first on; again with SURFIDX_DIFF_SEED=$first");
my $n = 0;
$good = 1;
while (time - $start < $seconds && $server->postmaster_alive && $failures <= 3)
{
	$good = run_seed($first + $n++) && $good;
}
ok($good, "seeds from a random one on");
# Two sessions at the same time, some cases only.
my $pair = SurfDiff->new(server => $server, sessions => 2);
$good = 1;
for my $n (0 .. 2)
{
	my $failure = $pair->run_case($first + $n, 0.3, time + 8) or next;

	$good = 0;
	diag('seed ' . ($first + $n) . ", two sessions: $failure->{what}");
	diag($failure->{script});
}
ok($good, 'two sessions at the same time');
is(join('', $server->crashes), '', 'no crash in the server log');

my $queries = $diff->{counts}{queries} || 0;
my $kinds = grep { $_ ne 'all' } keys %{ $diff->{plans} };
note("$queries queries, $diff->{counts}{changes} changes, $diff->{counts}{fetches} fetches");
cmp_ok($queries, '>', 1000, 'there were queries enough');
cmp_ok($kinds, '>=', 4, 'of several kinds of plans: ' . join(', ', sort keys %{ $diff->{plans} }));
$server->stop('immediate');
done_testing();
