#!/usr/bin/perl
# Random differential tests for as long as asked: see t/lib/SurfDiff.pm.
#
#	PG_CONFIG=/path/to/pg_config bench/torture/diff.pl [--seed N] [--seconds N] [--cases N] [--scale F] [--sessions 2] [--out DIR] [--keep-going] [--conf 'a = b']
#
# Seeds run from --seed upwards, so that "--seed N --cases 1" repeats case N.  surfidx must be installed in
# that server.  With --sessions 2 two of them change and ask at the same time.  Scripts that show failures go to --out, one for each seed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../t/lib";
use Getopt::Long;
use Time::HiRes qw(time);
use SurfDiff;
use SurfServer;

my %opt = (seed => 1 + int(rand(1e6)), seconds => 300, cases => 0, scale => 1, sessions => 1, out => '.');

GetOptions(\%opt, 'seed=i', 'seconds=i', 'cases=i', 'scale=f', 'sessions=i', 'out=s', 'keep-going', 'conf=s@', 'verbose') or exit 2;
$| = 1;
my $server = SurfServer->new(name => 'diff', conf => [ 'autovacuum_naptime = 1s', 'max_wal_size = 4GB', @{ $opt{conf} || [] } ]);
my $end = time + $opt{seconds};
my ($cases, $failed) = (0, 0);
my $start = time;

$server->start;
my $diff = SurfDiff->new(server => $server, verbose => $opt{verbose}, sessions => $opt{sessions});

for (my $seed = $opt{seed}; time < $end && (!$opt{cases} || $cases < $opt{cases}); $seed++)
{
	my $failure = $diff->run_case($seed, $opt{scale});

	$cases++;
	my @crash = $server->crashes;
	$failure->{what} .= "\n@crash" if $failure && @crash;
	$failure ||= { what => "server log: @crash", script => '' } if @crash;
	next unless $failure;
	$failed++;
	my $file = "$opt{out}/seed$seed.sql";
	open(my $f, '>', $file) or die "$file: $!\n";
	print $f $failure->{script};
	close $f;
	printf "seed %d: %s\n  script: %s\n", $seed, substr($failure->{what}, 0, 1000), $file;
	if (@crash || !$server->postmaster_alive)
	{
		system('cp', $server->{log}, "$opt{out}/seed$seed.log");
		$server->wait_gone(30);
		rename $server->{log}, "$server->{log}.$seed";
		$server->stop('immediate');
		$server->start;
		$diff = SurfDiff->new(server => $server, verbose => $opt{verbose}, sessions => $opt{sessions});
	}
	last unless $opt{"keep-going"} && $failed < 10;
}
printf "%d cases from seed %d in %d s: %d failed; %s; plans seen: %s\n", $cases, $opt{seed}, time - $start, $failed,
	join(', ', map { "$_ $diff->{counts}{$_}" } sort keys %{ $diff->{counts} }),
	join(', ', map { "$_ $diff->{plans}{$_}" } sort keys %{ $diff->{plans} });
printf "changes by outcome: %s; answers: %s\n", map { my $h = $diff->{$_}; join(', ', map { "$_ $h->{$_}" } sort keys %$h) } 'errors', 'answers';
exit($failed ? 1 : 0);
