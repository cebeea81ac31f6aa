#!/usr/bin/perl
# layers.pl: how the files of src may use each other.
#
#	folders		one uses itself and those before it in CORE and LAYERS (Makefile): asked are #include lines and the
#				symbols that objects need
#	files		none leads back to itself by the symbols that objects need of each other, but those of one module (below)
#	headers		no two are called the same, and none declares what a folder above it defines
#	rooms		none has more than 30 files or 8,000 lines
#
# Says what does not hold, and counts it; status 1 if there is anything.  Needs the objects of the checkout: make first.
use strict;
use warnings;

use FindBin;
chdir "$FindBin::Bin/.." or die;

# One module in several files, which need each other: all of them, and why.
my %one_module = (
	'src/core/integers/tidcodec.c src/core/integers/tidcodec_encode.c src/core/integers/tidcodec_patch.c' =>
		'a block of kind PATCHED is made of two blocks of other kinds',
);

my (%rank, %home, %home_of, %need, %uses);
my ($bad, $includes, $symbols) = (0, 0, 0);

sub wrong { print "@_\n"; $bad++ }
sub folder { return $_[0] =~ s!^src/!!r =~ s!/[^/]*$!!r }
sub upward { my ($file, $of) = @_; return $rank{ folder($of) } > $rank{ folder($file) } }

open(my $make, '<', 'Makefile') or die "Makefile: $!\n";
$rank{$_} = keys %rank for map { /^(?:CORE|LAYERS) = (.*)/ ? split(' ', $1) : () } <$make>;
my @folders = sort { $rank{$a} <=> $rank{$b} } keys %rank;

# ---- headers ----

for my $header (map { glob "src/$_/*.h" } @folders)
{
	my ($name) = $header =~ m!([^/]*)$!;

	wrong("$header: $home{$name} has the same name") if $home{$name};
	$home{$name} = $header;
}
for my $file (map { glob "src/$_/*.[ch]" } @folders)
{
	open(my $h, '<', $file) or die "$file: $!\n";
	while (<$h>)
	{
		next unless /^#include "([^"]+)"/ && $home{$1};
		$includes++;
		wrong("$file:$.: includes $home{$1}") if upward($file, $home{$1});
	}
}

# ---- rooms ----

for my $room (@folders)
{
	my @files = glob "src/$room/*.[ch]";
	my $lines = 0;

	for my $file (@files)
	{
		open(my $h, '<', $file) or die "$file: $!\n";
		$lines++ while <$h>;
	}
	wrong("src/$room: " . @files . ' files, at most 30') if @files > 30;
	wrong("src/$room: $lines lines, at most 8000") if $lines > 8000;
}

# ---- symbols ----

for my $object (map { glob "src/$_/*.o" } @folders)
{
	my $file = $object =~ s/\.o$/.c/r;

	for (`nm $object`)
	{
		if (/^\S+ [TDBRC] (\S+)/) { $home_of{$1} = $file }
		elsif (/^\s+U (\S+)/) { $need{$file}{$1} = 1 }
	}
}
die "layers.pl: there are no objects\n" unless %need;
for my $file (sort keys %need)
{
	for my $symbol (grep { $home_of{$_} } sort keys %{ $need{$file} })
	{
		$symbols++;
		wrong("$file: uses $symbol of $home_of{$symbol}") if upward($file, $home_of{$symbol});
		push @{ $uses{$file}{ $home_of{$symbol} } }, $symbol;
	}
}

for my $file (values %home)
{
	open(my $h, '<', $file) or die "$file: $!\n";
	while (<$h>)
	{
		next unless /^(?:pg_noreturn )?extern\b.*?\b(sfx_\w+)(?:\(|;|\[)/ && $home_of{$1};
		wrong("$file:$.: declares $1 of $home_of{$1}") if upward($file, $home_of{$1});
	}
}

# ---- circles: strongly connected components (Tarjan 1972) ----

my (%index, %low, %on, @stack);

sub circle
{
	my @files = sort @_;
	my %in = map { $_ => 1 } @files;

	return if @files == 1 || delete $one_module{"@files"};
	wrong(scalar(@files) . " files in a circle: @files");
	for my $file (@files)
	{
		print "\t$file needs @{ $uses{$file}{$_} } of $_\n" for grep { $in{$_} } sort keys %{ $uses{$file} };
	}
}

sub visit
{
	my ($v) = @_;
	my @component;

	$index{$v} = $low{$v} = keys %index;
	push @stack, $v;
	$on{$v} = 1;
	for my $w (sort keys %{ $uses{$v} })
	{
		visit($w) unless my $seen = exists $index{$w};
		my $reach = $seen ? $index{$w} : $low{$w};
		$low{$v} = $reach if $on{$w} && $reach < $low{$v};
	}
	return if $low{$v} != $index{$v};
	do { push @component, pop @stack; $on{ $component[-1] } = 0 } until $component[-1] eq $v;
	circle(@component);
}

exists $index{$_} or visit($_) for sort keys %need;
wrong("layers.pl: no circle any more: $_") for sort keys %one_module;
print "$bad upward or in circles; $includes includes, $symbols symbols, " . keys(%need) . " files looked at\n";
exit($bad > 0);
