# Indexes that earlier versions have written: files of each version of the page format lie in
# t/format, as a library of that version made them (docs/dev/format.md).  They are checked against
# their rows, asked, written to, merged and vacuumed, so that pages of two versions stand beside each
# other.  What a newer library has written, or a build from before 1.0, is refused by an error that
# names the remedy, and REINDEX heals.
#
# SURFIDX_CUT_FORMAT=dir writes the files of the present version to dir/<version>: once, for a new
# version.  They are never made again.
use strict;
use warnings;

use Digest::SHA;
use FindBin;
use IO::Compress::Gzip qw(gzip);
use IO::Uncompress::Gunzip qw(gunzip);
use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $BLCKSZ = 8192;
# of table f
my %first = (
	f_n => '(n)',
	f_s => '(s DESC, n) INCLUDE (v)',
	f_u => '(u, v)',
	f_b => '(n, s) WITH (filter = surf)');
# of table g: each kind of page, codec of keys and of TIDs, scheme of dictionaries, filter and type
my @codecs = qw(plain for lfor ef dbp pdbp vbyte varintgb streamvbyte);
my @schemes = qw(single double 3grams 4grams alm alm_improved fsst);
my %types = (
	ordered => [ map { "t_$_" } qw(bool bytea char date int2 int4 int8 macaddr macaddr8 name oid
		pg_lsn text time timestamp timestamptz uuid xid8 bit bpchar float4 float8 inet interval
		money numeric oidvector tid timetz varbit) ],
	raw => [ qw(t_ints t_range t_json) ]);
my %more = (
	(map { ("g_$codecs[$_]" => "(j) WITH (codec = $codecs[$_])") } 0 .. $#codecs),
	(map { ("g_$_" => "(e) WITH (hope = '$_')") } @schemes),
	g_packed => '(h) WHERE g % 3 = 0',
	g_bloom => '(h, j) WITH (filter = bloom) WHERE g % 3 = 0',
	g_surf => '(e) WITH (filter = surf, surf_hash_bits = 4)',
	g_long => '(l) WHERE g % 12 = 0',
	g_cut => '(j, g) WITH (keys = cut)',
	g_column => '(e) WITH (keys = cut)',
	g_grown => '(h) WITH (keys = cut)',
	g_decimal => '((j / 100::float8))',
	g_dups => '(d)',
	g_serial => '(g)',
	g_lists => '((j % 50))',
	# these are in the same order in all versions of ICU
	g_collated => '(h COLLATE "en-x-icu", d DESC) WHERE g % 3 = 0',
	g_ordered => '(' . join(', ', @{ $types{ordered} }) . ') WHERE g % 12 = 0',
	g_pattern => '(t_text text_pattern_ops, t_bpchar bpchar_pattern_ops DESC NULLS LAST)
		WHERE g % 12 = 0',
	g_raw => '(' . join(', ', @{ $types{raw} }) . ') WHERE g % 12 = 0');
my %table = ((map { $_ => 'f' } keys %first), map { $_ => 'g' } keys %more);
my %indexes = (%first, %more);

plan skip_all => 'the files are of a little-endian machine' if unpack('h*', pack('S', 1)) !~ /^1/;

# What a released version has frozen is as it was; nothing that is released is left out.
my $root = "$FindBin::Bin/..";
my %frozen = map { /^(\w{64})  (\S+)$/ ? ($2 => $1) : () }
  split /\n/, slurp_file("$FindBin::Bin/format/released");

sub sha256
{
	my ($path) = @_;

	return -f $path ? Digest::SHA->new(256)->addfile($path, 'b')->hexdigest : 'missing';
}

is(join(' ', grep { sha256("$root/$_") ne $frozen{$_} } sort keys %frozen), '',
	'files that a release has frozen are unchanged: ' . keys %frozen);
for my $released (slurp_file("$root/CHANGELOG.md") =~ /^## ([\d.]+) \(\d{4}-\d\d-\d\d\)$/mg)
{
	ok(scalar(grep { /^surfidx--(?:.*--)?\Q$released\E\.sql$/ } keys %frozen),
		"the script of $released, which is released, is frozen");
}

# Page checksums and LSNs are another cluster's.
my $config = $ENV{PG_CONFIG} || 'pg_config';
my ($major) = `$config --version` =~ /(\d+)/;
my $node = new_node('format', "surfidx.auto_merge = off\nfull_page_writes = on\ntimezone = UTC",
	$major >= 18 ? (extra => ['--no-data-checksums']) : ());
my $icu;
my $off = 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;
	SET surfidx.aggregates = off';

# The same rows at the same places each time: most in the tree, some in the delta, some of them
# deleted.
sub make
{
	$node->safe_psql('postgres', q{CREATE TABLE f (n int8, s text COLLATE "C",
		u text COLLATE "POSIX", v int) WITH (autovacuum_enabled = off);
		INSERT INTO f SELECT g::int8 * 7919 % 100003, 'user' || g % 700 || '@example.org', CASE
			WHEN g % 9 > 0 THEN left(md5(g::text), 6) END, g FROM generate_series(1, 3000) g});
	$node->safe_psql('postgres', "CREATE INDEX $_ ON f USING surfidx $first{$_}") for sort keys
		%first;
	$node->safe_psql('postgres', q{INSERT INTO f SELECT g::int8 * 104729 % 100003, 'more' || g,
		left(md5(g::text), 6), g FROM generate_series(3001, 3300) g;
		DELETE FROM f WHERE v % 50 = 0});
	my %named = (t_char => '"char"', t_text => 'text COLLATE "C"', t_bpchar => 'char(9) COLLATE "C"',
		t_bit => 'bit(9)', t_ints => 'int[]', t_range => 'int4range', t_json => 'jsonb');
	my $types = join(', ', map { "$_ " . ($named{$_} // s/^t_//r) } map { @$_ } @types{qw(ordered raw)});
	$node->safe_psql('postgres', "CREATE TABLE g (g int8, j int8, e text COLLATE \"C\",
		h text COLLATE \"C\", l text COLLATE \"C\", d int,
		$types) WITH (autovacuum_enabled = off)");
	# merged into an index that was smaller
	rows(1, 300);
	$node->safe_psql('postgres', "CREATE INDEX g_grown ON g USING surfidx $more{g_grown}");
	rows(301, 2400);
	$node->safe_psql('postgres', "SELECT surfidx_merge('g_grown')");
	for my $index (sort keys %more)
	{
		next if $index eq 'g_grown' || ($index eq 'g_collated' && !$icu);
		$node->safe_psql('postgres', "SET client_min_messages = error;
			CREATE INDEX $index ON g USING surfidx $more{$index}");
	}
	rows(2401, 2600);
	$node->safe_psql('postgres', 'DELETE FROM g WHERE g % 50 = 0');
	return;
}

sub rows
{
	my ($from, $to) = @_;
	my %value = (
		bool => 'g % 2 = 0',
		bytea => 'decode(m, chr(104) || chr(101) || chr(120))',
		char => 'm::"char"',
		date => q{'2020-01-01'::date + g % 999},
		int2 => 'g % 99 - 50',
		int4 => '(k % 9999 - 5000)',
		int8 => 'k * 77777777',
		macaddr => 'left(m, 12)::macaddr',
		macaddr8 => 'left(m, 16)::macaddr8',
		name => 'm',
		oid => 'k',
		pg_lsn => q{'0/0'::pg_lsn + k},
		text => 'm',
		time => q{'00:00'::time + g * interval '7 s'},
		timestamp => q{'1999-12-31'::timestamp + k * interval '61 s'},
		timestamptz => q{'1999-12-31 00:00+00'::timestamptz - k * interval '61 s'},
		uuid => 'm::uuid',
		xid8 => 'k::text::xid8',
		bit => 'g::bit(9)',
		bpchar => 'left(m, (g % 9)::int)',
		float4 => 'k / 7.0',
		float8 => '-k / 7.0',
		inet => q{'10.0.0.0'::inet + k},
		interval => q{g % 70 * interval '1 day' + k * interval '1 s'},
		money => '(k % 9999 / 100.0)::numeric::money',
		numeric => '(k * 12345678901)::numeric / 1000 ^ (g % 5)::int',
		oidvector => q{(g || ' ' || k)::oidvector},
		tid => q{format('(%s,%s)', k, g % 99 + 1)::tid},
		timetz => q{'00:00+00'::timetz + g * interval '7 s'},
		varbit => 'g::bit(13)',
		ints => 'ARRAY[g % 5, k]',
		range => 'int4range((g % 7)::int, (g % 7 + 1 + g % 3)::int)',
		json => q{jsonb_build_object('a', g % 7, 'b', m)});
	my @values = map { $value{s/^t_//r} // die $_ } map { @$_ } @types{qw(ordered raw)};
	my $types = join ', ', map { "CASE WHEN g % 29 > 0 THEN $_ END" } @values;

	$node->safe_psql('postgres', "INSERT INTO g
		SELECT g, k, 'user' || g % 900 || '.' || left(m, 5) || '\@example.org', m,
			repeat(m, (1 + g % 9)::int) || k, g % 3, $types
		FROM (SELECT g, g::int8 * g * 7919 % 100003 AS k, md5(g::text) AS m
			FROM generate_series($from, $to) g) x");
	return;
}

# The indexes of which there are files of a version.
sub files_of
{
	my ($v) = @_;

	return map { m!/(\w+)\.gz$! } sort glob("$FindBin::Bin/format/$v/*.gz");
}

sub file_of
{
	my ($index) = @_;
	my $path = $node->safe_psql('postgres', "SELECT pg_relation_filepath('$index')");

	return $node->data_dir . "/$path";
}

sub version_of { return unpack('S', substr($_[0], $BLCKSZ - 4, 2)) }

sub put
{
	my ($file, $bytes) = @_;

	open(my $f, '>:raw', $file) or die "$file: $!";
	print $f $bytes;
	close $f or die;
	return;
}

# What an index answers, and what a sequential scan does.
sub same_rows
{
	my ($index) = @_;
	my @keys = split /, (?![^(]*\))/, $indexes{$index} =~ /^\((\(.*?\)|.*?)\)(?:\s|$)/s
	  ? $1 : die $index;
	my $where = $indexes{$index} =~ /WHERE (.*)/ ? " AND $1" : '';
	my $first = $keys[0] =~ s/ (?:DESC|COLLATE|text_pattern_ops|NULLS).*//r;
	my $sql = "SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text))
		FROM (SELECT $first AS t FROM $table{$index} WHERE ($first IS NOT NULL
		OR $first IS NULL)$where) x";
	my $all = $node->safe_psql('postgres', "$off; $sql");

	return $node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off;
		$sql") eq $all;
}

$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION surfidx');
$icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation
	WHERE collname = 'en-x-icu'});
make();
my @own = grep { $_ ne 'g_collated' || $icu } sort keys %indexes;
my %file = map { $_ => file_of($_) } @own;
$node->safe_psql('postgres', "SELECT surfidx_check('$_', true, true)") for @own;

# What the files of the newest version have to show, and what these indexes do: each codec that
# surfidx_page_stats() can name.  (TIDs that are plain are too few to be made on purpose.)
my $inspect = slurp_file("$root/src/inspect/inspect_page.c");
my @named;

while ($inspect =~ /\*const (key|tid)codec_name\[\w+\] = \{(.*?)\};/gs)
{
	my ($of, $names) = ($1, $2);

	push @named, map { "${of}s $_" } $names =~ /"(\w+)"/g;
}
my $shown = q{SELECT DISTINCT x FROM pg_class c JOIN pg_am a ON a.oid = relam
	AND amname = 'surfidx', generate_series(0, pg_relation_size(c.oid) / 8192 - 1) b,
	surfidx_page_stats(c.oid, b) s,
	LATERAL (SELECT 'page ' || s.kind UNION ALL SELECT 'keys ' || k
		FROM jsonb_object_keys(s.codecs -> 'keys') k UNION ALL SELECT 'tids ' || k
		FROM jsonb_object_keys(s.codecs -> 'tids') k) y(x) ORDER BY 1};
my $schemes = q{SELECT DISTINCT scheme FROM pg_class c JOIN pg_am a ON a.oid = relam
	AND amname = 'surfidx', surfidx_dictionaries(c.oid) ORDER BY 1};
is($node->safe_psql('postgres', $shown), join("\n", sort grep { $_ ne 'tids plain' } @named,
	map { "page $_" } qw(dictionary filter gate inner leaf log meta)),
	'the indexes have pages of each kind, and each codec');
$node->stop;
my %bytes = map { $_ => slurp_file($file{$_}) } @own;
my $version = version_of($bytes{f_n});

if (my $dir = $ENV{SURFIDX_CUT_FORMAT})
{
	mkdir "$dir/$version";
	for my $index (@own)
	{
		my $bytes = $bytes{$index};

		# LSN and checksum
		substr($bytes, $_ * $BLCKSZ, 10) = "\0" x 10 for 0 .. length($bytes) / $BLCKSZ - 1;
		gzip(\$bytes => "$dir/$version/$index.gz", -Level => 9, Minimal => 1) or die;
	}
}

my $table = slurp_file("$FindBin::Bin/../docs/dev/format.md");
my ($reads) = slurp_file("$FindBin::Bin/../src/pages/page.h") =~
  /^#define SFX_FORMAT_OLDEST\s+(\d+)/m;
my $range = "this library reads versions $reads to $version";
my $newer = 'Install a newer surfidx, or REINDEX the index\.';
my @versions = sort { $a <=> $b } map { m!/(\d+)$! } glob("$FindBin::Bin/format/*");
ok(scalar(grep { $_ == $version } @versions),
	"there are files of format version $version (SURFIDX_CUT_FORMAT makes them)");
is_deeply([ files_of($version) ], [ sort keys %indexes ], '... of each index') if $icu;
like($table, qr/^\| $_ \|/m, "docs/dev/format.md has version $_") for @versions;
is($reads, 1, 'what 1.0 reads is read for ever');

for my $v (@versions)
{
	my @files = grep { $file{$_} } files_of($v);

	for my $index (@files)
	{
		my $bytes = '';

		gunzip("$FindBin::Bin/format/$v/$index.gz" => \$bytes) or die "$v/$index.gz";
		die "$v/$index.gz is of " . version_of($bytes) if version_of($bytes) != $v;
		put($file{$index}, $bytes);
	}
	$node->start;
	if ($v == $version)
	{
		is($node->safe_psql('postgres', $schemes), join("\n", sort @schemes),
			"format $v: the files have dictionaries of each scheme");
	}
	for my $index (@files)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT
			surfidx_check('$index', true, true)");

		is($err, '', "format $v: $index is read");
		ok(same_rows($index), "format $v: $index answers");
	}
	# what is written now stands beside what was written then
	$node->safe_psql('postgres', 'INSERT INTO f SELECT -g, $$new$$ || g, left(md5(g::text), 6),
		g FROM generate_series(4001, 4400) g; UPDATE f SET n = n + 1 WHERE v % 7 = 0; DELETE
		FROM f WHERE v % 11 = 0');
	rows(3001, 3300);
	$node->safe_psql('postgres', 'DELETE FROM g WHERE g % 11 = 0');
	for my $step ('', 'merged', 'vacuumed')
	{
		$node->safe_psql('postgres', "SELECT surfidx_merge('$_')") for $step eq 'merged' ?
			@files : ();
		$node->safe_psql('postgres', 'VACUUM f; VACUUM g') if $step eq 'vacuumed';
		for my $index (@files)
		{
			is(($node->psql('postgres', "SELECT surfidx_check('$index', true, true)"))[2], '',
				"format $v: $index, written to $step");
			ok(same_rows($index), '... and answers') if $step;
		}
	}
	is($node->safe_psql('postgres', "SELECT version FROM surfidx_meta('$files[0]')"), $version,
		"format $v: the metapage says what may stand in it now");
	is($node->psql('postgres', 'REINDEX TABLE f; REINDEX TABLE g; INSERT INTO f VALUES (-1)'), 0,
		"format $v: REINDEX heals");
	$node->safe_psql('postgres', "SELECT surfidx_check('$_', true, true)") for @own;
	# as it was for the next version
	$node->safe_psql('postgres', 'DROP TABLE f, g');
	make();
	%file = map { $_ => file_of($_) } @own;
	$node->stop;
}

# What this library does not read: version numbers of a newer one and of none, in pages and in what
# the metapage says of them; and the metapages of builds from before 1.0, whatever number they have.
my $before = 'was made by a build from before surfidx 1\.0\nHINT:  REINDEX it\.';

for my $case ([ $version + 1, 'page' ], [ $version + 1, 'metapage' ], [ 0xFFFF, 'page' ],
	map { [ $_, 'build' ] } 1, 3, 8)
{
	my ($v, $where) = @$case;
	my $bytes = $bytes{f_n};
	my $want = $where eq 'build' ? qr/0A000: index "f_n" $before/
	  : $v == 0xFFFF ? qr/XX002: index "f_n" is damaged at block 0: no version of the page format/
	  : qr/0A000: index "f_n" has format version $v at block 0, $range\nHINT:  $newer/;

	substr($bytes, $where eq 'metapage' ? 24 + 6 : $BLCKSZ - 4, 2) = pack('S', $v);
	substr($bytes, 24, 4) = pack('L', 0x53464958) if $where eq 'build';
	put($file{f_n}, $bytes);
	$node->start;
	like(($node->psql('postgres', "\\set VERBOSITY verbose\nSELECT surfidx_check('f_n')"))[2],
		$want, "number $v in the $where");
	like(($node->psql('postgres', 'INSERT INTO f VALUES (1)'))[2],
		$v == 0xFFFF ? qr/is damaged/ : qr/REINDEX/, '... nothing is written beside it');
	is($node->psql('postgres', "$off; SELECT count(*) FROM f WHERE n > 5"), 0,
		'... is no obstacle to other ways');
	is($node->psql('postgres', 'REINDEX INDEX f_n'), 0, '... nor to REINDEX');
	%file = map { $_ => file_of($_) } @own;
	$node->stop;
}
done_testing();
