# Text in linguistic collations of the C library, which the machine may lack: localedef makes them for this test, if it can.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Punctuation is no part of the first levels of de_DE, case is one of the last of en_US; sv_SE has letters after z.
my @names = qw(de_DE en_US sv_SE);
my $dir = PostgreSQL::Test::Utils::tempdir;
my @made = grep { system("localedef --no-archive -i $_ -f UTF-8 $dir/$_.UTF-8 >/dev/null 2>&1"); -d "$dir/$_.UTF-8" } @names;

plan skip_all => 'localedef, or the sources of locales, are not installed' if @made < @names;

$ENV{LOCPATH} = $dir;
my $node = new_node('libc');
$node->start;
my $helpers = PostgreSQL::Test::Utils::slurp_file("$ENV{TESTDIR}/sql/helpers/compare.sql");
$node->safe_psql('postgres', $helpers . join('', map { "CREATE COLLATION $_ (provider = libc, locale = '$_.UTF-8');\n" } @made));

my $words = q{SELECT i, CASE WHEN i % 20 = 0 THEN NULL ELSE
	(ARRAY['cote', 'Cote', 'coté', 'côte', 'CÔTÉ', 'co-te', 'résumé', 'zebra', 'Äpfel', 'apfel', 'Öl', 'straße', 'strasse', '', 'år', 'ångström'])[1 + i * 7 % 16]
	|| CASE i % 3 WHEN 0 THEN '' WHEN 1 THEN (i % 40)::text ELSE '/' || chr(97 + i % 26) || '.txt' END END COLLATE %s FROM generate_series(1, 300) i};
foreach my $name (@made)
{
	my $script = "SET client_min_messages = error;\n"
	  . "SELECT make_source('w_$name', \$q\$" . sprintf($words, $name) . "\$q\$);\n"
	  . "SELECT * FROM compare_type('w_$name', '{\"\",apfel,CÔTÉ,co-te/c.txt,år,zzz}');\n";
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_encoding = 'UTF8'; $script");
	is($rc, 0, "$name: no error") or diag($err);
	$out =~ s/^\s+|\s+$//g;
	is($out, '', "$name: every operator and order, in every state of the entries");
}
isnt($node->safe_psql('postgres', q{SELECT string_agg(v, ' ' ORDER BY v COLLATE de_DE) FROM unnest('{a-b,ab,aa,B,a}'::text[]) v}),
	$node->safe_psql('postgres', q{SELECT string_agg(v, ' ' ORDER BY v COLLATE "C") FROM unnest('{a-b,ab,aa,B,a}'::text[]) v}),
	'these collations do not compare bytes');

# Its size beside btree's, for strings that share prefixes, in table order and not.
my $ratio = $node->safe_psql('postgres', q{
CREATE TABLE mail AS SELECT format('%s.%s%s@%s.example.org', (ARRAY['anna', 'bernd', 'Chloé', 'dörte', 'emil'])[1 + i % 5], (ARRAY['Müller', 'schmidt', 'meyer-lang'])[1 + i % 3],
	i * 7919 % 30011, (ARRAY['mail', 'post', 'web'])[1 + i % 3]) COLLATE de_DE AS m FROM generate_series(1, 30000) i;
CREATE INDEX mail_b ON mail USING btree (m);
CREATE INDEX mail_s ON mail USING surfidx (m);
SELECT round(pg_relation_size('mail_s') / pg_relation_size('mail_b')::numeric, 2)});
cmp_ok($ratio, '<=', 0.5, "size beside btree's: $ratio");
is($node->safe_psql('postgres', q{SELECT surfidx_check('mail_s', true)}), '', 'it is sound');

# A new version of the C library: the collation's recorded version differs.
$node->safe_psql('postgres', q{UPDATE pg_collation SET collversion = '0' WHERE collname = 'de_de'});
my ($rc, $out, $err) = $node->psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM mail WHERE m > 'e'});
like($err, qr/WARNING:  collation "de_de" has version mismatch/, 'a mismatch of versions is warned about');
$node->stop;

done_testing();
