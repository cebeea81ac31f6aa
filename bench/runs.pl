#!/usr/bin/env perl
# What merges cost per inserted row, by the size of the index: the rules of src/schedule/policy.c played through for random keys.
#
#	bench/runs.pl [--delta-size kB] [--merge-ratio r] [--run-ratio r] [--entry bytes] [--log bytes] [--ns per entry]
#
# For each size the index starts as one tree of n entries, and n / 4 more are inserted.  A merge of d entries that fall everywhere into a tree of
# L leaves writes the L * (1 - exp(-d / L)) leaves that get one, and those that are new; each leaf is logged whole, inner pages
# by what changes in them.  CPU is that of rewritten entries (--ns each: decode, merge, encode, copies of pages and their checksums in the log).
# The log's own share (about 60 bytes and 200 ns) is not counted; it is the same at any size.
use strict;
use warnings;
use Getopt::Long;

my ($delta_size, $merge_ratio, $run_ratio, $entry, $log, $ns) = (8192, 0.1, 0.05, 8.6, 12, 60);
GetOptions('delta-size=f' => \$delta_size, 'merge-ratio=f' => \$merge_ratio, 'run-ratio=f' => \$run_ratio,
	'entry=f' => \$entry, 'log=f' => \$log, 'ns=f' => \$ns) or die "see the head of this file\n";
my $page = 8120;
my $per_leaf = $page / $entry;
my ($pages, $rewritten);

# Merge $d entries into the tree of $$n.
sub merge_into
{
	my ($n, $d) = @_;
	my $leaves = $$n / $per_leaf < 1 ? 1 : $$n / $per_leaf;
	my $touched = $leaves * (1 - exp(-$d / $leaves));
	my $written = $touched + $d / $per_leaf;

	$pages += $written;
	$rewritten += ($$n < $touched * $per_leaf ? $$n : $touched * $per_leaf) + $d;
	$$n += $d;
}

sub play
{
	my ($n, $ratio) = @_;
	my @run = ($n);    # newest first, as in the metapage
	my ($inserted, $most, $sum, $steps) = (0, 0, 0, 0);

	$pages = $rewritten = 0;
	while ($inserted < $n / 4)
	{
		my $d = $delta_size * 1024 / $log;
		$d = $merge_ratio * $run[-1] if $d > $merge_ratio * $run[-1];
		my $target;

		if ($d >= $ratio * $run[-1])
		{
			$target = $#run;
		}
		else
		{
			for (my $t = $#run - 1; $t >= 0 && !defined $target; $t--)
			{
				$target = $t if $d >= $merge_ratio * $run[$t];
			}
			if (!defined $target)
			{
				unshift @run, 0;
				$target = 0;
			}
		}
		merge_into(\$run[$target], $d);
		$inserted += $d;
		# runs that are due
		for (my $r = 0; $r < $#run;)
		{
			if ($run[$r] < $merge_ratio * $run[ $r + 1 ])
			{
				$r++;
				next;
			}
			my $t = $#run;
			$t-- while $t > $r + 1 && $run[$r] < $merge_ratio * $run[$t];
			merge_into(\$run[$t], $run[$r]);
			splice @run, $r, 1;
			$r = 0;
		}
		$most = $#run if $#run > $most;
		$sum += $#run;
		$steps++;
	}
	# what stands in runs has still to be merged: its share of that, at the price that a full run pays
	for my $r (0 .. $#run - 1)
	{
		my $full = $merge_ratio * $run[ $r + 1 ];
		my $leaves = $run[ $r + 1 ] / $per_leaf;
		my $share = $run[$r] / $full;

		$pages += $share * ($leaves * (1 - exp(-$full / $leaves)) + $full / $per_leaf);
		$rewritten += $share * ($run[ $r + 1 ] + $full);
	}
	return ($pages * 8192 / $inserted, $rewritten * $ns / $inserted / 1000, $most, $sum / $steps);
}

printf "%14s  %10s %10s  %10s %10s %9s %9s\n", '', 'no runs', '', 'runs', '', 'most', 'average';
printf "%14s  %10s %10s  %10s %10s %9s %9s\n", 'entries', 'WAL bytes', 'CPU us', 'WAL bytes', 'CPU us', 'runs', 'runs';
for my $n (1e6, 2e6, 1e7, 2e7, 5e7, 1e8, 3e8, 1e9, 3e9, 1e10)
{
	my @none = play($n, 0);
	my @runs = play($n, $run_ratio);

	printf "%14.0f  %10.0f %10.2f  %10.0f %10.2f %9d %9.2f\n", $n, @none[ 0, 1 ], @runs;
}
