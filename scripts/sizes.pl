#!/usr/bin/perl
# sizes.pl directory...: how large functions, files and lines of C are, a line of a table for each directory.
#
#	scripts/sizes.pl src/base+src/keys ../postgresql/src/backend/access/nbtree
#
# Directories joined by + are one.  A function goes from the brace that opens it to the one that closes it.
use strict;
use warnings;

sub median { my @s = sort { $a <=> $b } @_; return @s ? $s[ $#s / 2 ] : 0 }

print "| | functions | median | longest | > 60 | > 70 | > 100 | files | > 600 lines | lines | > 100 columns | asserts per 1,000 lines |\n";
print '|---' x 12, "|\n";
for my $arg (@ARGV)
{
	my (@functions, $files, $large, $lines, $wide, $asserts);

	$files = $large = $lines = $wide = $asserts = 0;
	for my $file (map { glob("$_/*.[ch]") } split /\+/, $arg)
	{
		my ($n, $from, $before) = (0, undef, '');

		open(my $h, '<', $file) or die "$file: $!\n";
		while (<$h>)
		{
			my $line = $_;

			chomp $line;
			$n++;
			$asserts++ if /\bAssert(?:Macro)?\(|\bStaticAssert\w*\(|\bassert\(/;
			$from = $n if /^\{/ && $before =~ /\)$/;
			if (/^\}/ && defined $from)
			{
				push @functions, $n - $from + 1;
				$from = undef;
			}
			$before = $line;
			1 while $line =~ s/\t/' ' x (4 - $-[0] % 4)/e;
			$wide++ if length $line > 100;
		}
		$files++;
		$large++ if $n > 600;
		$lines += $n;
	}
	next unless $files;
	printf "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.1f %% | %.1f |\n", $arg, scalar @functions, median(@functions),
	  (sort { $b <=> $a } @functions)[0], (map { my $l = $_; scalar grep { $_ > $l } @functions } 60, 70, 100), $files, $large, $lines,
	  100 * $wide / $lines, 1000 * $asserts / $lines;
}
