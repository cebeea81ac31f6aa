# Everything at once on hundreds of indexes: see lib/SurfStorm.pm.  Here for a minute, by
# scripts/storm.sh for as long as asked.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Getopt::Long;
use SurfStorm;
use Test::More;
use Time::HiRes qw(time);

my %opt = (seed => $ENV{SURFIDX_STORM_SEED} || 1 + int(rand(1e6)), tables => 30, standby => 1,
	seconds => $ENV{SURFIDX_STORM_SECONDS} || 60);

GetOptions(\%opt, 'seed=i', 'seconds=i', 'cycle=i', 'tables=i', 'sessions=i', 'size=i', 'standby!',
	'skip=s@', 'weight=s%', 'conf=s@', 'trace', 'keep=s', 'verbose') or exit 2;
$| = 1;
push @{ $opt{conf} }, "log_statement = 'all'" if $opt{trace};
$SurfStorm::brief = $opt{seconds} < 120;
my $start = time;
my $command = "scripts/storm.sh --seed $opt{seed} --seconds $opt{seconds}";
my $storm = SurfStorm->new(%opt, skip => [ map { split /,/ } @{ $opt{skip} || [] } ],
	report => sub { diag(sprintf('%4d s: %s', time - $start, $_[0])) if $opt{verbose} });
my @problems;

diag("again with $command");
# a long storm has longer cycles
my $cycle = $opt{cycle} || ($opt{seconds} < 120 ? 12 : 30);
do
{
	@problems = $storm->cycle($cycle);
	diag(sprintf('%4d s: cycle %d, %d indexes', time - $start, $storm->{cycles},
		$storm->{indexes} // 0)) if $opt{verbose};
} while (!@problems && time - $start < $opt{seconds});
@problems = $storm->look(1) unless @problems;

sub list { my ($of) = @_; return join(', ', map { "$_ $of->{$_}" } sort keys %$of) || 'none' }

my $indexes = $storm->{indexes} // '?';
my $what = "$storm->{cycles} cycles, $indexes indexes at the end ($command)";
is(join('', map { substr($_, 0, 4000) . "\n" } @problems), '', $what);
note('killed: ' . list($storm->{victims}) . "; pages torn: $storm->{torn}");
note('expected errors by SQLSTATE: ' . list($storm->{errors}));
$storm->end;
system('cp', '-a', $storm->{server}{base}, $opt{keep}) if @problems && $opt{keep};
done_testing();
