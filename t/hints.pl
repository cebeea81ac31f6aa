# Files that messages of the library name are installed with it.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('hints');
my ($docs, $lib) = map { my $d = `$ENV{PG_CONFIG} --$_`; chomp $d; $d } 'docdir', 'pkglibdir';
my %named = map { $_ => 1 } slurp_file("$lib/surfidx.so") =~ m!([A-Za-z_/]+\.md)!g;

ok($named{'surfidx/unique.md'}, 'a message names surfidx/unique.md');
ok(-s "$docs/$_", "$_ is there, below pg_config --docdir") for sort keys %named;

# as a user finds it
$node->start;
my ($rc, $out, $err) = $node->psql('postgres',
	'CREATE EXTENSION surfidx; CREATE TABLE t (k int); CREATE UNIQUE INDEX ON t USING surfidx (k)');
like($err, qr/HINT: .*surfidx\/unique\.md.*pg_config --docdir/, 'a notice says where to read on');
$node->stop;
done_testing();
