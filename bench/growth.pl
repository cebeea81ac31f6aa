#!/usr/bin/env perl
# What an index of very many entries costs: the rules of src/schedule/policy.c played through with
# real sizes of entries, pages and log.
#
#	bench/growth.pl measured.tsv	by what bench/growth.sh has measured
#
# Of each kind of keys the smallest index tells bytes and nanoseconds an entry; the others are
# predicted by these, with what was measured beside.  Then come 10^8 to 10^10 entries, with a fifth
# more inserted, and 64 MB to 64 GB of buffers.
#
# A merge of d entries that fall everywhere into L leaves writes the L (1 - e^(-d / L)) leaves that get
# one and those that are new; ascending ones go into the last leaf and new ones.  A merge goes
# through leaves in order, so that they are read each time unless the tree has room in the buffers.  VACUUM (one entry of a hundred dead, everywhere) reads and rewrites each leaf once.
use strict;
use warnings;

use constant { PAGE => 8120, FANOUT => 1150, PARENT => 20, RATIO => 0.1, RUN_RATIO => 0.05, LOOK => 64 };

my (%measured, %own, %now);

# what is counted while it is played, and the index: runs, newest first
my ($leaves_written, $parents_written, $rewritten, $read, $longest, @run);
my ($per_leaf, $buffers, $ascending, $full);

sub leaves
{
	my ($n) = @_;

	return $n / $per_leaf < 1 ? 1 : $n / $per_leaf;
}

sub index_pages
{
	my $n = 0;

	$n += leaves($_) * (1 + 1 / FANOUT) for @run;
	return $n;
}

sub levels
{
	my ($n) = (leaves($_[0]));
	my $l = 1;

	for (; $n > 1; $n /= FANOUT) { $l++; }
	return $l;
}

# $d entries of a run of so many pages, or of so many of the log, go into run number $t.
sub merge_into
{
	my ($t, $d, $pages, $log_pages) = @_;
	my $l = leaves($run[$t]);
	my $touched = $ascending ? 1 : $l * (1 - exp(-$d / $l));
	my $old = $touched * $per_leaf;
	my $work = ($run[$t] < $old ? $run[$t] : $old) + $d;

	my $leaves = $touched + $d / $per_leaf;

	$leaves_written += $leaves;
	$parents_written += $leaves < PARENT ? 1 : $leaves / PARENT;
	$rewritten += $work;
	$read += $touched if leaves($run[$t]) > $buffers;
	$read += $pages if $pages > $buffers;
	# blocks that are used again are read before, since they say whether they are free (P3)
	$read += $d / $per_leaf + $log_pages if !$ascending && index_pages() > $buffers;
	$longest = $work if $work > $longest;
	$run[$t] += $d;
	return;
}

sub target
{
	my ($d) = @_;

	return $#run if $ascending || $full >= RUN_RATIO * $run[-1];
	for my $t (reverse 0 .. $#run - 1)
	{
		return $t if $d >= RATIO * $run[$t];
	}
	unshift @run, 0;
	return 0;
}

sub merge_due
{
	for (my $r = 0; $r < $#run; $r++)
	{
		next if $run[$r] < RATIO * $run[ $r + 1 ];
		my $t = $#run;

		$t-- while $t > $r + 1 && $run[$r] < RATIO * $run[$t];
		merge_into($t, $run[$r], leaves($run[$r]), 0);
		splice @run, $r, 1;
		$r = -1;
	}
	return;
}

# A full delta has $d entries.  Costs of an inserted row.
sub play
{
	my ($kind, $n, $add, $d, $pages) = @_;
	my $most = 0;
	my $inserted = 0;
	my $o = $own{$kind};

	($per_leaf, $buffers, $ascending) = (PAGE / $o->{entry}, $pages, $kind eq 'serial');
	($leaves_written, $parents_written, $rewritten, $read, $longest) = (0, 0, 0, 0, 0);
	# as the policy has it: what was inserted until the worker came does not count
	$full = $d / ($o->{late} // 1);
	@run = ($n);
	for (; $inserted < $add; $inserted += $d)
	{
		merge_into(target($d), $d, 0, $d / $o->{log_page});
		merge_due();
		$most = $#run if $#run > $most;
	}
	my $size = index_pages() + ($ascending ? 1 : 2) * $d / $o->{log_page};

	return {
		wal => $o->{append} + $leaves_written * $o->{image} / $inserted,
		cpu => $o->{own_ns} + $rewritten * $o->{merge_ns} / $inserted,
		pages_written => ($leaves_written + $parents_written) / $inserted,
		pages_read => $read / $inserted,
		runs => $most,
		levels => levels($run[-1]),
		size => $size * 8192,
		longest => $longest * $o->{merge_ns} / 1e9,
		vacuum => ($n + $inserted) * $o->{vacuum_ns} / 1e9,
		vacuum_pages => leaves($n + $inserted),
		map_pages => $size / 4069,
		build => leaves($n) * 96 };
}

# ---- what was measured ----

sub load
{
	my ($file) = @_;
	my @names;

	open(my $f, '<', $file) or die "$file: $!\n";
	while (<$f>)
	{
		chomp;
		my @v = split /\t/;

		if (!@names) { @names = @v; next; }
		my %m;

		@m{@names} = @v;
		push @{ $measured{ $m{kind} } }, \%m;
	}
	close $f;
	return;
}

# What an entry of a kind takes, by the smallest index.
sub calibrate
{
	my ($kind) = @_;
	my $m = $measured{$kind}[0];
	my $o = $own{$kind} = { entry => $m->{entry}, log_page => $m->{log_page}, image => 8300,
		append => 0, own_ns => 0, late => 1.05, merge_ns => 1, vacuum_ns => $m->{vacuum_ns} };
	my $p = play($kind, $m->{rows}, $m->{added}, $m->{chunk}, $m->{buffers});

	$o->{merge_ns} = $m->{merge_ns} / $p->{cpu};
	$o->{own_ns} = $m->{own_ns};
	$o->{append} = $m->{wal} - $p->{wal};
	return;
}

sub compare
{
	my ($kind, $m) = @_;
	my $p = play($kind, $m->{rows}, $m->{added}, $m->{chunk}, $m->{buffers});
	my %is = (wal => $m->{wal}, cpu => $m->{own_ns} + $m->{merge_ns},
		pages_written => $m->{pages_written}, pages_read => $m->{pages_read}, runs => $m->{runs},
		levels => $m->{levels}, size => $m->{size},
		vacuum => $m->{vacuum_ns} * ($m->{rows} + $m->{added}) / 1e9);

	for my $what (qw(wal cpu pages_written pages_read runs levels size vacuum))
	{
		printf "%-8s %10d  %-14s %12.4g %12.4g %6.2f\n", $kind, $m->{rows}, $what, $p->{$what},
			$is{$what}, $is{$what} ? $p->{$what} / $is{$what} : 1;
	}
	return;
}

load($ARGV[0] // die "see the head of this file\n");
printf "%-8s %10s  %-14s %12s %12s %6s\n", qw(keys entries what predicted measured ratio);
for my $kind (sort keys %measured)
{
	calibrate($kind);
	compare($kind, $_) for @{ $measured{$kind} };
}
$_->{late} = 1 for values %own;
printf "\n%-7s %9s %9s  %6s %6s %8s %8s %4s %6s %7s %8s %8s %9s %8s\n", qw(keys entries buffers),
	qw(WAL ns written read runs levels GB), 'merge s', 'VACUUM s', 'map pages', 'build MB';
for my $kind (sort keys %measured)
{
	for my $n (1e8, 1e9, 1e10)
	{
		for my $mb (64, 1024, 65536)
		{
			my $d = ($kind eq 'serial' ? LOOK : 1024) * $own{$kind}{log_page};
			my $p = play($kind, $n, $n / 5, $d, $mb * 128);

			printf "%-7s %9.0e %6d MB  %6.0f %6.0f %8.4f %8.4f %4d %6d %7.1f %8.1f %8.0f %9.0f %8.0f\n",
				$kind, $n, $mb, @$p{qw(wal cpu pages_written pages_read runs levels)},
				$p->{size} / 1e9, @$p{qw(longest vacuum map_pages)}, $p->{build} / 1e6;
		}
	}
}
