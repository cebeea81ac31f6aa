# ALTER EXTENSION surfidx UPDATE leads to the same catalogs as CREATE EXTENSION, from each version that has an install script and a path of
# update scripts.  (Here, because it needs a server whose extension directory belongs to the test.)
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfServer;
use Test::More;

# no rule to break here
exit 0 if $ENV{SURFIDX_LIST};
my $config = $ENV{PG_CONFIG} || 'pg_config';
chomp(my $dir = `$config --sharedir`);
$dir .= '/extension';
my ($default) = slurp("$dir/surfidx.control") =~ /^default_version = '(.*)'/m;

sub slurp { my ($f) = @_; open(my $h, '<', $f) or die "$f: $!\n"; local $/; return scalar <$h> }
sub spew { my ($f, $text) = @_; open(my $h, '>', $f) or die "$f: $!\n"; print $h $text; close $h or die }

# A version that there never was, so that there is one to update from: all but the last chapter of the install script, which the update
# script brings; and another one whose update script forgets who may do what.
my $script = slurp("$dir/surfidx--$default.sql");
my ($head, $tail) = $script =~ /\A(.*\n)(-- [^\n]*\n\n.*)\z/s or die "no chapters\n";
spew("$dir/surfidx--0.0.1.sql", $head);
spew("$dir/surfidx--0.0.1--$default.sql", $tail);
spew("$dir/surfidx--0.0.2.sql", $head);
spew("$dir/surfidx--0.0.2--$default.sql", $tail =~ s/^REVOKE[^;]*;\n//mgr);

my $server = SurfServer->new(name => 'upgrade');
$server->start;

# Everything that the extension consists of, object by object.
my $catalogs = <<'END';
WITH member AS (SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, 0) AS name FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND extname = 'surfidx')
SELECT md5(string_agg(line, E'\n' ORDER BY line COLLATE "C")) || ' ' || count(*) FROM (
	SELECT format('%s: %s, %s', name, obj_description(objid, (SELECT relname FROM pg_class c WHERE c.oid = classid)),
		CASE classid WHEN 'pg_proc'::regclass THEN (SELECT format('%s %s', pg_get_functiondef(p.oid), proacl) FROM pg_proc p WHERE p.oid = objid)
			WHEN 'pg_class'::regclass THEN (SELECT format('%s %s', pg_get_viewdef(c.oid), relacl) FROM pg_class c WHERE c.oid = objid)
			WHEN 'pg_am'::regclass THEN (SELECT format('%s %s', amhandler, amtype) FROM pg_am a WHERE a.oid = objid)
			WHEN 'pg_opclass'::regclass THEN (SELECT format('%s %s %s', opcdefault, opcintype::regtype, opckeytype::regtype) FROM pg_opclass o WHERE o.oid = objid) END) AS line
	FROM member
	UNION ALL
	SELECT pg_describe_object('pg_amop'::regclass, a.oid, 0) FROM pg_amop a JOIN member ON classid = 'pg_opfamily'::regclass AND objid = amopfamily
	UNION ALL
	SELECT pg_describe_object('pg_amproc'::regclass, a.oid, 0) FROM pg_amproc a JOIN member ON classid = 'pg_opfamily'::regclass AND objid = amprocfamily
	UNION ALL
	SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'surfidx') x
END

# The catalogs of a new database in which these statements were run.
sub catalogs_after
{
	my ($name, @statements) = @_;
	my $s = $server->session;

	$s->query("CREATE DATABASE $name");
	$s->end;
	$s = $server->session(db => $name);
	for my $statement (@statements)
	{
		my $r = $s->query($statement);

		return $r->{error} if $r->{error};
	}
	my $found = $s->value($catalogs);
	$s->end;
	return $found;
}

my $fresh = catalogs_after('fresh', 'CREATE EXTENSION surfidx');
like($fresh, qr/^[0-9a-f]{32} \d{3,}$/, 'catalogs can be told');
is(catalogs_after('again', 'CREATE EXTENSION surfidx'), $fresh, 'created twice, the same catalogs');
my $s = $server->session;
my @from = @{ $s->query("SELECT source FROM pg_extension_update_paths('surfidx') JOIN pg_available_extension_versions v ON v.name = 'surfidx' AND v.version = source
	WHERE target = '$default' AND path IS NOT NULL ORDER BY 1")->{rows} };
$s->end;
cmp_ok(scalar(@from), '>=', 2, 'versions to update from: ' . join(', ', @from));
my $n = 0;
for my $version (@from)
{
	my $got = catalogs_after('from' . ++$n, "CREATE EXTENSION surfidx VERSION '$version'", 'ALTER EXTENSION surfidx UPDATE');

	if ($version eq '0.0.2') { isnt($got, $fresh, 'an update script that forgets rights is noticed') }
	else { is($got, $fresh, "updated from $version, the same catalogs as created") }
}
is(join('', $server->crashes), '', 'no crash in the log');
$server->stop('fast');
done_testing();
