#!/usr/bin/perl
# Crash torture for as long as asked: see t/lib/SurfCrash.pm.
#
#	PG_CONFIG=/path/to/pg_config bench/torture/crash.pl [--seed N] [--seconds N] [--cycles N] [--load S] [--rows N] [--standby] [--keep DIR] [--conf 'a = b']
#
# --load: seconds of work before the kill, at most.  --rows: start with so many and keep them.  --standby: a streaming standby beside it, with
# wal_consistency_checking = all.  --keep: where to copy the data of a failure (default: nowhere).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../t/lib";
use Getopt::Long;
use Time::HiRes qw(time);
use SurfCrash;

my %opt = (seed => 1 + int(rand(1e6)), seconds => 300, cycles => 0, load => 6);

GetOptions(\%opt, 'seed=i', 'seconds=i', 'cycles=i', 'load=f', 'rows=i', 'standby', 'keep=s', 'conf=s@', 'verbose') or exit 2;
$| = 1;
print "seed $opt{seed}\n";
my $start = time;
my $crash = SurfCrash->new(seed => $opt{seed}, standby => $opt{standby}, rows => $opt{rows}, conf => $opt{conf},
	report => sub { printf "%4d s: %s\n", time - $start, $_[0] if $opt{verbose} });
my @problems;

while (!@problems && time - $start < $opt{seconds} && (!$opt{cycles} || $crash->{cycles} < $opt{cycles}))
{
	@problems = $crash->cycle($opt{load});
	printf "%4d s: cycle %d, %s rows\n", time - $start, $crash->{cycles}, $crash->{rows} // '?' if $opt{verbose};
}
@problems = $crash->promote if $opt{standby} && !@problems;
print map { substr($_, 0, 1500) . "\n" } @problems;
$crash->end;
system('cp', '-a', $crash->{server}{base}, $opt{keep}) if @problems && $opt{keep};
printf "%d cycles in %d s, seed %d, killed: %s; %d pages torn; %s; %s\n", $crash->{cycles}, time - $start, $opt{seed},
	join(', ', map { "$_ $crash->{victims}{$_}" } sort keys %{ $crash->{victims} }), $crash->{torn}, $crash->dictionaries, @problems ? 'FAILED' : 'all well';
exit(@problems ? 1 : 0);
