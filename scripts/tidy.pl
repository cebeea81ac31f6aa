#!/usr/bin/perl
# tidy.pl: what a reader trips over, looked for in every file that git knows.
#
#	tidy.pl				say what is untidy; status 1 if anything is
#	tidy.pl --record	write scripts/tidy.txt anew: it can only become shorter
#	tidy.pl --words [file...]
#						list each place that "words" finds
#
#	lines		of 100 columns at most, tabs being 4; what is longer must not become more than tidy.txt has for its file,
#				nor, as code moves to new files, than it has in all
#	functions	of 70 lines at most; likewise
#	names		no two files of src have one name, nor two types in headers of src; a header's guard
#				is named as its file; tests are named without numbers
#	alone		each test of sql/ can be run alone: it creates the extension, or reads a helper
#	chains		a member's comment that ends in "..." is continued by the next member's
#	includes	headers of src leave surfidx.h, which .c files begin with, to these
#	contracts	a function of which its comment says "merge lock held", "no lock is held"
#				and the like asserts it
#	references	files, sections of src/README.md, functions and types, rules and mutants that
#				comments, tests and documents name exist, links lead somewhere; each mutant and each
#				rule has its place in src/README.md, no two rules have one name
#	words		comments and documents say "after" for time and put a noun before "who"
#				("behind" in space: "spatial" in tidy.txt); src/README.md keeps to its numbers of
#				words and rules
#	site		each document is in the navigation of site/mkdocs.yml
#	figures		a section of README.md and docs/ with three measured figures or more, or the
#				beginning of its document, names the command that measured them and its month, which
#				is not before that of the newest page format (docs/dev/format.md)
use strict;
use warnings;
use FindBin;

chdir "$FindBin::Bin/.." or die;
my $record = @ARGV && $ARGV[0] eq '--record';
my $list_words = @ARGV && $ARGV[0] eq '--words';
my @only = $list_words ? @ARGV[ 1 .. $#ARGV ] : ();

my ($design_words, $design_rules) = (11_000, 110);
my $list = 'scripts/tidy.txt';
my @files = grep { -f } split /\n/, `git ls-files --cached --others --exclude-standard`;
die "tidy.pl asks git which files there are: none\n" unless @files;
my (%allowed, %foreign, %seen, @spatial);
my $bad = 0;

sub slurp { my ($f) = @_; open(my $h, '<', $f) or die "$f: $!\n"; local $/; my $t = <$h>; return $t // '' }
sub untidy { print "$_[0]\n" unless $record; $bad++; return }

# ---- what was there before, and files that are others' ----

for (split /\n/, slurp($list))
{
	$allowed{$2}{$1} = $3 if /^(columns|function)\t([^\t]+)\t(\d+)$/;
	$foreign{$1} = 1 if /^foreign\t(\S+)$/;
	push @spatial, $1 if /^spatial\t(.+)$/;
}

# ---- columns and functions ----

sub columns
{
	my ($line) = @_;

	1 while $line =~ s/\t/' ' x (4 - $-[0] % 4)/e;
	utf8::decode($line);
	return length $line;
}

sub long_lines
{
	my ($file, $text) = @_;
	my ($n, $fenced) = (0, 0);

	for (split /\n/, $text)
	{
		# tables and links of documents cannot be wrapped
		$fenced = !$fenced if /^```/;
		next if $file =~ /\.md$/ && (/^\s*\|/ || /^\S*\[?[^ ]*\]\(\S+$/);
		$n++ if columns($_) > 100;
	}
	return $n;
}

# The longest function of a file of C, from brace to brace.
sub longest
{
	my ($text) = @_;
	my ($from, $before, $i, $longest) = (undef, '', 0, 0);

	for (split /\n/, $text)
	{
		$i++;
		$from = $i if /^\{/ && $before =~ /\)$/;
		if (/^\}/ && defined $from)
		{
			$longest = $i - $from + 1 if $i - $from + 1 > $longest;
			$from = undef;
		}
		$before = $_;
	}
	return $longest;
}

my (@recorded, @new);
my ($total, $before, $grown) = (0, 0, 0);

$before += $allowed{$_}{columns} // 0 for keys %allowed;

# Sizes that exceed a limit are compared with those recorded.
sub size
{
	my ($what, $file, $n, $limit, $words) = @_;
	my $old = $allowed{$file}{$what} // $limit;

	return if $n <= $limit;
	$total += $n if $what eq 'columns';
	push @recorded, "$what\t$file\t" . ($n < $old || $old == $limit ? $n : $old) . "\n";
	return if $n <= $old;
	return push @new, "$file: $n $words, and the file is new" if $what eq 'columns' && !exists $allowed{$file}{columns};
	$grown += $n - $old if $what eq 'columns';
	untidy("$file: $n $words, at most $old");
	return;
}

for my $file (grep { /\.(c|h|sh|pl|pm|md)$/ && !m!^docs/dev/measured/|^CHANGELOG! } @files)
{
	my $text = slurp($file);

	size('columns', $file, long_lines($file, $text), 0, 'lines of more than 100 columns');
	size('function', $file, longest($text), 70, 'lines in its longest function') if $file =~ /\.c$/;
}

if ($total - $grown > $before)
{
	untidy($_) for @new;
}

# ---- names ----

my %home;

for my $file (grep { m!^src/.*\.[ch]$! } @files)
{
	my ($name) = $file =~ m!([^/]+)$!;

	untidy("$file: $home{$name} has the same name") if $home{$name};
	$home{$name} = $file;
}

# Types as headers define them: a "typedef struct X X;" defines none.
my %type;

for my $file (grep { m!^src/.*\.h$! } @files)
{
	my $text = slurp($file);
	my ($stem) = $file =~ m!([^/]+)\.h$!;

	untidy("$file: includes surfidx.h") if $text =~ /^#include "surfidx\.h"/m;
	untidy("$file: its guard is $1")
	  if $text =~ /^#ifndef (\w+_H)$/m && lc($1) !~ /^(?:surfidx_|sfx_(?:test_)?)?\Q$stem\E_h$/;
	my %defined = map { $_ => 1 } $text =~ /^\} (\w+);/mg,
	  $text =~ /^(?:struct|union|enum) (\w+)\n\{/mg;

	for (sort keys %defined)
	{
		untidy("$file: $type{$_} defines a type $_, too") if $type{$_};
		$type{$_} = $file;
	}
}

for my $file (grep { m!^t/.*\.pl$! } @files)
{
	untidy("$file: tests have names, not numbers") if $file =~ m!/\d!;
}

# ---- alone ----

for my $file (grep { m!^sql/[^/]+\.sql$! } @files)
{
	untidy("$file: does not create the extension, so it cannot be run alone")
	  unless slurp($file) =~ m!CREATE EXTENSION (?:IF NOT EXISTS )?surfidx|sql/helpers!;
}

# ---- chains ----

# Members with comments beside them: "from ..." and then "... to", perhaps after some without.
for my $file (grep { m!^src/.*\.[ch]$! } @files)
{
	my @lines = grep { !/^\t\w[^\/]*;$/ } split /\n/, slurp($file) =~ s!\n\s+\*(?\!/)! !gr;

	for my $i (0 .. $#lines - 1)
	{
		next if $lines[$i] !~ m!^\t\w[^/]*?(\w+)(?:\[[^/]*\])?;\s*/\* .*\.\.\. \*/$!;
		untidy("$file: the comment of $1 goes on nowhere") if $lines[ $i + 1 ] !~ m!/\* \.\.\.!;
	}
}

# ---- contracts ----

my %asserted = (
	'merge lock held|needs the merge lock' => 'sfx_merge_lock_held',
	'no lock is held' => 'SfxHoldsLWLock');
# by name, or a file's own: [where the comment stands, assertion]
my %promised;

for my $file (grep { m!^src/.*\.[ch]$! } @files)
{
	my $text = slurp($file);

	# a comment and the head of the function after it; in headers a prototype's
	while ($text =~ m!/\*((?:[^*]|\*(?\!/))*)\*/\n[^;{}#/]*?\b(\w+)\([^;{}]*\)[;\n]!g)
	{
		my ($comment, $name) = ($1, $2);

		$comment =~ s/\s*\n\s*\*?\s*/ /g;
		for (keys %asserted)
		{
			my $of = $file =~ /\.h$/ ? $name : "$file $name";

			$promised{$of} = [ $file, $asserted{$_} ] if $comment =~ /$_/i;
		}
	}
}
for my $file (grep { m!^src/.*\.c$! } @files)
{
	my $text = slurp($file);

	while ($text =~ /^(\w+)\([^;{}]*\)\n(\{.*?^\})/msg)
	{
		my ($name, $body) = ($1, $2);
		for my $p (grep { $_ } delete @promised{ $name, "$file $name" })
		{
			untidy("$file: $name() does not assert $p->[1], as its comment in $p->[0] says")
			  unless $body =~ /Assert\(!?$p->[1]\(/;
		}
	}
}
untidy("$promised{$_}[0]: says what $_() asserts, which is nowhere") for keys %promised;

# ---- references ----

my $design = slurp('src/README.md');
my %section = map { lc($_) => 1 } $design =~ /^#+ (.*)$/mg;
my %rule;
$rule{$_}++ for $design =~ /^([A-Z]\d+)\. /mg;
my ($letters) = join '', sort keys %{ { map { substr($_, 0, 1) => 1 } keys %rule } };
my %path;

for my $file (@files)
{
	my @parts = split m!/!, $file;

	$path{ join '/', @parts[ $_ .. $#parts ] } = 1 for 0 .. $#parts;
}

# Files that a text names: a folder or none, a name, an ending of ours.
sub check_files
{
	my ($file, $text) = @_;

	while ($text =~ m{(?<![\w./*<>-])((?:[\w.-]+/)*[\w-]+\.(?:c|h|sh|pl|pm|sql|spec|md|svg))\b(?![\w(*])}g)
	{
		untidy("$file: names $1, which is not there") unless $path{$1} || $foreign{$1} || $seen{"$file $1"}++;
	}
	return;
}

sub check_rules
{
	my ($file, $text) = @_;

	while ($text =~ /(?<![\w'"-])([$letters]\d+)(?=[\s,.;:)])/g)
	{
		untidy("$file: names rule $1, which src/README.md has not") unless $rule{$1} || $foreign{$1} || $seen{"$file $1"}++;
	}
	return;
}

# Functions, types and macros of ours that a text names: those of the code, comments aside.  A name
# that ends in an underscore is the beginning of some.
my %code;

for my $file (grep { m!\.(c|h|sql|sh|pl|pm|spec)$|^Makefile$! } @files)
{
	my $text = slurp($file);

	$text =~ s!/\*.*?\*/! !sg if $file =~ /\.[ch]$/;
	$code{$1}++ while $text =~ /\b((?:sfx|surfidx)_\w+|Sfx\w+)/gi;
}

sub check_identifiers
{
	my ($file, $text) = @_;

	while ($text =~ /\b((?:sfx_|SFX_|surfidx_|SURFIDX_|Sfx)\w*)/g)
	{
		my $name = $1;

		next if $code{$name} || ($name =~ /_$|^Sfx$/ && grep { /^\Q$name\E/ } keys %code);
		untidy("$file: names $name, which the code has not") unless $seen{"$file $name"}++;
	}
	return;
}

for my $file (grep { m!^src/.*\.[ch]$! } @files)
{
	my $text = slurp($file);
	my $comments = join "\n", $text =~ m!/\*(.*?)\*/!sg;

	$comments =~ s/\n\s*\*/ /g;
	check_files($file, $comments);
	check_rules($file, $comments);
	check_identifiers($file, $comments);
	while ($comments =~ /README(?:\.md)?,? "([^"]+)"/g)
	{
		untidy("$file: src/README.md has no section \"$1\"") unless $section{ lc $1 };
	}
}

check_rules($_, join "\n", slurp($_) =~ /#(.*)$/mg) for grep { m!^t/.*\.p[lm]$! } @files;

sub anchors { return map { my $h = lc; $h =~ s/[^a-z0-9 _-]//g; $h =~ s/ /-/g; $h => 1 } $_[0] =~ /^#+ (.*)$/mg }

for my $file (grep { /\.md$/ } @files)
{
	my $text = slurp($file);
	my ($dir) = $file =~ m!^(.*/)?!;

	# (names in measurements are those of their day, and a changelog's are, too)
	my $plain = $text =~ s/\]\([^)]*\)/]/gr;
	if ($file !~ m!^docs/dev/(measured|qa-log)|^CHANGELOG!)
	{
		check_files($file, $plain);
		check_rules($file, $plain);
		check_identifiers($file, $plain);
	}
	while ($text =~ /\]\(([^)\s]+)\)/g)
	{
		my $link = $1;
		my ($to, $anchor) = split /#/, $link, 2;

		next if $to =~ /^https?:/;
		my $target = $to eq '' ? $file : ($dir // '') . $to;
		1 while $target =~ s![^/]+/\.\./!!;
		untidy("$file: link to $link, which is not there") unless -e $target;
		untidy("$file: link to $link, which is not installed")
		  if $file =~ m!^docs/\w+\.md$! && $to =~ m!/!;
		next if !defined $anchor || !-f $target;
		my %has = anchors(slurp($target));
		untidy("$file: link to $link, which has no such section") unless $has{$anchor};
	}
}

# (scripts/site.sh gives all other documents names of their own)
my %in_nav = map { $_ => 1 } slurp('site/mkdocs.yml') =~ /: (\S+\.md)$/mg;

for (grep { m!^docs/.*\.md$! } @files)
{
	untidy("$_: not in the navigation of site/mkdocs.yml") unless $in_nav{s!^docs/!!r};
}

# ---- rules, mutants, scenarios ----

my %mutant = map { map { $_ => 1 } slurp($_) =~ /SFX_(?:CORE_)?MUTANT\("([^"]+)"\)/g } grep { m!^src/.*\.[ch]$! } @files;
my $scenarios = join '', map { slurp($_) } grep { m!^t/.*\.p[lm]$! } @files;
my $checks = slurp('docs/dev/checks.md');

# "R1 to R8" names all of them
$checks =~ s/\s+/ /g;
$checks =~ s/([A-Z])(\d+) to \1(\d+)/join ' ', map { "$1$_" } $2 .. $3/ge;
$design =~ s/\n\s*/ /g;
for (sort keys %mutant)
{
	untidy("mutant \"$_\" stands under no rule of docs/dev/checks.md") unless $checks =~ /`\Q$_\E`/;
	untidy("mutant \"$_\" is named by no test of t") unless $scenarios =~ /['",]\Q$_\E['",]/;
}
# the second table: names with blanks are mutants
for my $row (slurp('docs/dev/checks.md') =~ /^\| [A-Z]\d+ \| ([^|]*) \|$/mg)
{
	while ($row =~ /`([^`\/]*\w \w[^`]*)`/g)
	{
		untidy("docs/dev/checks.md: no mutant \"$1\"") unless $mutant{$1};
	}
}
my $cited = join "\n", map { slurp($_) =~ m!/\*(.*?)\*/!sg } grep { m!^src/.*\.[ch]$! } @files;
for (sort keys %rule)
{
	untidy("src/README.md: $rule{$_} rules are called $_") if $rule{$_} > 1;
	untidy("docs/dev/checks.md does not say what checks $_") unless $checks =~ /\b$_\b/;
	untidy("src/README.md: no comment in src cites $_") unless $cited =~ /\b$_\b/;
}

# ---- words ----

my (%found, %places);

# Comments of code, and the text of documents; all else becomes blanks, so that lines keep their
# numbers.  What stands in quotes, or in code, names something.
sub prose
{
	my ($file) = @_;
	my $text = slurp($file);
	my $blank = sub { return $_[0] =~ s/[^\n]/ /gr };

	if ($file =~ /\.[ch]$/)
	{
		$text =~ s{(.*?)(/\*.*?\*/|\z)}{$blank->($1) . $2}seg;
		$text =~ s{/\*|\*/|^\s*\*}{' ' x length $&}gme;
	}
	elsif ($file =~ /\.md$/)
	{
		$text =~ s{^(```.*?^```)}{$blank->($1)}smeg;
	}
	else
	{
		my $mark = $file =~ /\.sql$/ ? '--' : '#';

		$text = join '', map { /^\s*\Q$mark\E(.*\n?)/ ? $1 : "\n" } $text =~ /^.*\n?/mg;
	}
	return $text =~ s{`[^`]*`|"[^"]*"}{$blank->($&)}egr;
}

# A "who" without a noun begins a clause, or follows one of these.  Questions are none ("who may
# call it?"), nor is what is asked or told ("says who waits").
my @no_noun = qw(for by to of that if as and or but than where when while because since so from with
  on until is are only lets keeps beside below);
my $headless = '(?:(?:\A|\n[ \t]*\n|[.:;,(|])\s*|\b(?:' . join('|', @no_noun)
  . ')\s+)who\b(?![^.;|]*\?)';
my $spatial = join '|', map { s/ /\\s+/gr } @spatial;

sub check_words
{
	my ($file) = @_;
	my $text = prose($file);

	$text =~ s/$spatial/$& =~ s![^\n]! !gr/gie if $spatial;
	while ($text =~ /\bbehind\b|\bwhoever\b|$headless/gi)
	{
		my $what = lc($&) eq 'behind' ? 'behind' : 'who';

		$found{$file}{$what}++;
		push @{ $places{$file} }, "$file:" . (1 + substr($text, 0, $+[0]) =~ tr/\n//) . ": $what";
	}
	return;
}

for my $file (grep { /\.(c|h|md|pl|pm|sh|sql|spec)$/ && !m!^docs/dev/measured/! } @files)
{
	check_words($file);
	next unless $found{$file};
	my $counts = join ', ', map { "$found{$file}{$_} \"$_\"" } sort keys %{ $found{$file} };

	untidy("$file: $counts: say \"after\", name the actor (tidy.pl --words)");
}

my $words = () = slurp('src/README.md') =~ /\S+/g;
for ([ $words, $design_words, 'words' ], [ scalar(keys %rule), $design_rules, 'rules' ])
{
	my ($is, $most, $what) = @$_;

	untidy("src/README.md: $is $what, at most $most") if $is > $most;
}
for my $file ($list_words ? sort keys %found : ())
{
	next if @only && !grep { $file eq $_ } @only;
	print map { "$_\n" } @{ $places{$file} };
}

# ---- figures ----

my $months = join '|', qw(January February March April May June July August September October
  November December);

# "November 2026" as a number that grows with time.
sub month
{
	my ($name, $year) = $_[0] =~ /($months)\s+(20\d\d)/ or return 0;
	my %number = map { (split /\|/, $months)[$_] => $_ } 0 .. 11;

	return $year * 12 + $number{$name};
}

my ($newest) = slurp('docs/dev/format.md') =~ /.*^\| \d+ \|.*\| (\w+ 20\d\d) \|$/ms;

untidy('docs/dev/format.md: the newest format has no month') unless $newest;

# The decimals of parameters.md are settings.
for my $file (grep { m!^README\.md$|^docs/[\w-]+\.md$! && !/parameters/ } @files)
{
	my @sections = split /^(?=#+ )/m, slurp($file) =~ s/^```.*?^```//smgr;

	for my $section (@sections)
	{
		my ($heading) = $section =~ /^(.*)/;
		my $figures = () = $section =~ s/`[^`]*`//gr =~ /(?<![\w.])\d+\.\d+(?![\w.]*\.\d)/g;
		my $source = $section . $sections[0];

		next if $figures < 3;
		untidy("$file, \"$heading\": figures without the command that measured them")
		  unless $source =~ m!`(?:bench|scripts|make|docs/dev/measured)\b!;
		my ($last) = sort { $b <=> $a } map { month($_) } $source =~ /(?:$months)\s+20\d\d/g;

		untidy("$file, \"$heading\": figures without a month") unless $last;
		untidy("$file, \"$heading\": figures from before the page format of $newest")
		  if $last && $newest && $last < month($newest);
	}
}

# ---- the end ----

if ($record)
{
	open(my $h, '>', $list) or die "$list: $!\n";
	print $h map { "$_\n" } (
		'# Written by scripts/tidy.pl --record: long lines by file, functions of more than 70',
		'# lines; and, by hand, what looks like one of our files or rules and is none ("foreign"),',
		'# and phrases in which "behind" tells of space, or is idiom ("spatial", regular expressions).',
		(map { "foreign\t$_" } sort keys %foreign),
		map { "spatial\t$_" } sort @spatial);
	print $h sort @recorded;
	close $h;
	exit 0;
}
print "$bad untidy, ", scalar(@files), " files looked at\n";
exit($bad > 0);
