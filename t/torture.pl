# Ten short cycles of crash torture, half of them beside a standby; bench/torture/crash.pl goes on for longer.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SurfCrash;
use Test::More;

my $seed = $ENV{SURFIDX_TORTURE_SEED} || 1 + int(rand(1e8));

diag("again with SURFIDX_TORTURE_SEED=$seed");
for my $standby (0, 1)
{
	my $crash = SurfCrash->new(seed => $seed, standby => $standby);
	my $failed = 0;

	for my $cycle (1 .. 5)
	{
		my @problems = $failed ? ('not run') : $crash->cycle(1.5);

		is(join('', map { "$_\n" } @problems), '', "cycle $cycle" . ($standby ? ' beside a standby' : ''));
		$failed = 1 if @problems;
	}
	if ($standby && !$failed)
	{
		is(join('', map { "$_\n" } $crash->promote), '', 'the standby as a primary');
	}
	note('killed: ' . join(', ', map { "$_ $crash->{victims}{$_}" } sort keys %{ $crash->{victims} }));
	$crash->end;
}
done_testing();
