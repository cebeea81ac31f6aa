#!/usr/bin/perl
# alternatives.pl: expected/NAME_N.out, what a test puts out on some versions of PostgreSQL only.
# A change of expected/NAME.out on one version easily forgets those of others.
# scripts/alternatives.txt has, for each, its versions and a sum of how it differs from NAME.out.
#
#	alternatives.pl				is each listed, and differs as it did when it was recorded; does CI
#								run a version of each, and one of each NAME.out?  Status 1: no
#	alternatives.pl --record	write the sums again, after you have read what differs (diff)
#	alternatives.pl --matched directory version
#								results of a run: did each match the file of that version?
use strict;
use warnings;
use Digest::MD5 'md5_hex';
use File::Compare;
use FindBin;

chdir "$FindBin::Bin/.." or die;
my $list = 'scripts/alternatives.txt';
my ($mode, $results, $version) = (@ARGV, '');
my (%versions, %sum, $comment);
my $bad = 0;

sub slurp { my ($f) = @_; open(my $h, '<', $f) or die "$f: $!\n"; local $/; return scalar <$h> }
sub wrong { print "$_[0]\n"; $bad++; return }
sub words { my %seen = map { $_ => 1 } @_; return sort keys %seen }
sub main_of { my ($name) = @_; $name =~ s/_\d$//; return $name }

my @all = words(slurp('scripts/versions.sh') =~ /\[(\d+)\]=/g);
# the machine's own, Debian bookworm's, and those of make test-versions
my ($more) = slurp('.ci/run') =~ /VERSIONS="([^"]*)"/ or die ".ci/run names no VERSIONS\n";
my @seen = words(15, $more =~ /\b(\d+)\b/g);

for (split /\n/, slurp($list))
{
	if (/^#/) { $comment .= "$_\n"; next }
	my ($name, $for, $sum) = /^([\w-]+)\t([\d ]+)\t(\w*)$/ or die "$list: not a line of it: $_\n";
	$versions{$name} = [split ' ', $for];
	$sum{$name} = $sum;
}

# The file for a version: an alternative that names it, or the main one.
sub file_for
{
	my ($main, $v) = @_;
	my ($is) = grep { main_of($_) eq $main && grep { $_ == $v } @{ $versions{$_} } } keys %versions;

	return $is || $main;
}

# What differs, without the lines' numbers: those move with what both have.
sub difference
{
	my ($name) = @_;
	my $main = main_of($name);

	return md5_hex(join '', grep { /^[<>]/ } `diff expected/$main.out expected/$name.out`);
}

sub check
{
	my ($name) = @_;
	my $main = main_of($name);

	return wrong("expected/$name.out is not in $list: for which versions is it?")
		unless $versions{$name};
	for my $v (@{ $versions{$name} })
	{
		wrong("$list: $name is for $v, which scripts/versions.sh does not know")
			unless grep { $_ == $v } @all;
		wrong("$list: PostgreSQL $v has two files, " . file_for($main, $v) . " and $name")
			if file_for($main, $v) ne $name;
	}
	wrong("expected/$name.out (PostgreSQL @{ $versions{$name} }) and expected/$main.out do not differ "
		. 'as they did: was one of them changed without the other?  Look at both, run them, then '
		. 'alternatives.pl --record') if difference($name) ne $sum{$name};
	return;
}

# Each file is that of a version that CI runs.
sub seen
{
	my ($file) = @_;
	my @for = grep { file_for(main_of($file), $_) eq $file } @all;

	wrong("expected/$file.out is for PostgreSQL @for, of which .ci/run runs none")
		unless grep { my $v = $_; grep { $_ == $v } @seen } @for;
	return;
}

sub matched
{
	my ($main) = @_;
	my $result = "$results/$main.out";
	my $want = file_for($main, $version);
	my @is;

	return unless -f $result;
	@is = grep { compare($result, $_) == 0 } "expected/$main.out", glob("expected/${main}_[0-9].out");
	wrong("$main: PostgreSQL $version has to put out expected/$want.out, and put out @is")
		if @is && !grep { $_ eq "expected/$want.out" } @is;
	return;
}

my @names = map { m{expected/([\w-]+)\.out$} } glob('expected/*_[0-9].out');
# names of tests may end like that, too
@names = grep { !-f "sql/$_.sql" && !-f "specs/$_.spec" } @names;

if ($mode eq '--record')
{
	open(my $h, '>', $list) or die "$list: $!\n";
	print $h $comment;
	print $h "$_\t@{ $versions{$_} // [] }\t", difference($_), "\n" for @names;
}
elsif ($mode eq '--matched')
{
	matched($_) for words(map { main_of($_) } @names);
}
else
{
	for my $name (keys %versions)
	{
		wrong("$list: there is no expected/$name.out") unless grep { $_ eq $name } @names;
	}
	check($_) for @names;
	seen($_) for words(@names, map { main_of($_) } @names);
}
exit($bad ? 1 : 0);
