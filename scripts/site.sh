#!/bin/bash
# Build the documents as a site, in build/site: MkDocs with what site/requirements.txt names.  A link
# that leads nowhere, and a document that is not in the navigation, is an error.
#
#	site.sh				MKDOCS=path/to/mkdocs, if it is not in PATH
#
# Documents are laid out as the site has them, below build/site-docs, and links between them changed
# accordingly.  Links to what the site has not (a folder, a script) become plain text.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
rm -rf build/site build/site-docs
perl - <<'END' || die "documents could not be laid out"
use strict;
use warnings;
use File::Basename;
use File::Copy;
use File::Path 'make_path';

my $out = 'build/site-docs';
my %page = ('README.md' => 'index.md', 'CHANGELOG.md' => 'changes.md', 'CONTRIBUTING.md' => 'dev/contributing.md',
	'src/README.md' => 'dev/design.md', 'bench/README.md' => 'dev/bench.md', 't/README.md' => 'dev/tests.md');

$page{$_} = s!^docs/!!r for split /\n/, `find docs -name '*.md' -o -name '*.svg'`;

# from page to page, both as the site has them
sub way
{
	my @from = split m!/!, dirname($_[0]) eq '.' ? '' : dirname($_[0]);
	my @to = split m!/!, $_[1];

	while (@from && @to > 1 && $from[0] eq $to[0]) { shift @from; shift @to }
	return join '/', ('..') x @from, @to;
}

for my $source (sort keys %page)
{
	my $to = "$out/$page{$source}";

	make_path(dirname($to));
	if ($source !~ /\.md$/) { copy($source, $to) or die "$source: $!\n"; next }
	open(my $in, '<', $source) or die "$source: $!\n";
	my $text = do { local $/; <$in> };
	my $dir = dirname($source);

	$text =~ s{(!?)\[([^\]]*)\]\(([^)\s]+)\)}
	{
		my ($mark, $words, $link) = ($1, $2, $3);
		my ($file, $anchor) = split /#/, $link, 2;
		my $is = $file eq '' ? $source : $dir eq '.' ? $file : "$dir/$file";

		1 while $is =~ s![^/]+/\.\./!!;
		$link =~ /^https?:/ ? $&
		  : $page{$is} ? "$mark\[$words](" . ($file eq '' ? '' : way($page{$source}, $page{$is})) . (defined $anchor ? "#$anchor" : '') . ')'
		  : -e $is ? $words : die "$source: $link leads nowhere\n";
	}ge;
	# a list begins a paragraph of its own there
	$text =~ s/^((?!\s*[-|>]|\s{4}|#).+)\n(?=- )/$1\n\n/mg;
	open(my $h, '>', $to) or die "$to: $!\n";
	print $h $text;
}
copy('site/extra.css', "$out/extra.css") or die;
END
# (with --quiet it does not count its warnings)
"${MKDOCS:-mkdocs}" build --strict -f site/mkdocs.yml >build/site.log 2>&1 || { cat build/site.log; die "mkdocs"; }
echo "build/site/index.html"
