# ALTER EXTENSION surfidx UPDATE leads to the same catalogs as CREATE EXTENSION, from each version
# that has an install script and a path of
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
sub spew { my ($f, $text) = @_; open(my $h, '>', $f) or die "$f: $!\n"; print $h $text;
	close $h or die }

# A version that there never was, so that there is one to update from: all but the last chapter of
# the install script, which the update
# script brings; and another one whose update script forgets the rights.
my $script = slurp("$dir/surfidx--$default.sql");
my ($head, $tail) = $script =~ /\A(.*\n)(-- [^\n]*\n\n.*)\z/s or die "no chapters\n";
spew("$dir/surfidx--0.0.1.sql", $head);
spew("$dir/surfidx--0.0.1--$default.sql", $tail);
spew("$dir/surfidx--0.0.2.sql", $head);
spew("$dir/surfidx--0.0.2--$default.sql", $tail =~ s/^REVOKE[^;]*;\n//mgr);

my $server = SurfServer->new(name => 'upgrade');
$server->start;

# Everything that the extension consists of, object by object, with rights and dependencies.
my $catalogs = <<'END';
WITH member AS (SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND extname = 'surfidx'),
part AS (SELECT * FROM member
	UNION SELECT 'pg_amop'::regclass, a.oid FROM pg_amop a
		JOIN member ON classid = 'pg_opfamily'::regclass AND objid = amopfamily
	UNION SELECT 'pg_amproc'::regclass, a.oid FROM pg_amproc a
		JOIN member ON classid = 'pg_opfamily'::regclass AND objid = amprocfamily
	UNION SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r
		JOIN member ON classid = 'pg_class'::regclass AND objid = ev_class)
SELECT replace(format('%s: %s, %s', pg_describe_object(classid, objid, 0), obj_description(objid,
	(SELECT relname FROM pg_class c WHERE c.oid = classid)),
	CASE classid WHEN 'pg_proc'::regclass THEN (SELECT format('%s %s', pg_get_functiondef(p.oid),
				(SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(proacl) a))
					FROM pg_proc p WHERE p.oid = objid)
		WHEN 'pg_class'::regclass THEN (SELECT format('%s %s', pg_get_viewdef(c.oid),
				(SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(relacl) a))
					FROM pg_class c WHERE c.oid = objid)
		WHEN 'pg_am'::regclass THEN (SELECT format('%s %s', amhandler, amtype) FROM pg_am a
			WHERE a.oid = objid)
		WHEN 'pg_opclass'::regclass THEN (SELECT format('%s %s %s', opcdefault, opcintype::regtype,
			opckeytype::regtype) FROM pg_opclass o WHERE o.oid = objid) END), E'\n', ' ')
FROM part
UNION ALL
SELECT format('%s needs %s: %s', pg_describe_object(d.classid, d.objid, d.objsubid),
	CASE WHEN refclassid = 'pg_type'::regclass THEN refobjid::regtype::text
		ELSE pg_describe_object(refclassid, refobjid, refobjsubid) END, deptype)
FROM pg_depend d JOIN part USING (classid, objid)
UNION ALL
SELECT format('rights of %s at first: %s %s', pg_describe_object(i.classoid, i.objoid, i.objsubid),
	privtype, string_agg(a::text, ' ' ORDER BY a::text))
FROM pg_init_privs i JOIN member m ON m.classid = classoid AND m.objid = objoid,
	unnest(initprivs) a GROUP BY i.classoid, i.objoid, i.objsubid, privtype
UNION ALL
SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'surfidx'
ORDER BY 1
END

# The catalogs of a new database in which these statements were run: lines, or the error.
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

		return [ $r->{error} ] if $r->{error};
	}
	my $found = $s->query($catalogs)->{rows};
	$s->end;
	return $found;
}

# What only one of the two has.
sub difference
{
	my ($got, $want) = @_;
	my (%got, %want);

	$got{$_}++ for @$got;
	$want{$_}++ for @$want;
	return join("\n", (map { "+ $_" } grep { !$want{$_} } @$got),
		(map { "- $_" } grep { !$got{$_} } @$want));
}

my $fresh = catalogs_after('fresh', 'CREATE EXTENSION surfidx');
cmp_ok(scalar(@$fresh), '>', 1000, 'catalogs can be told');
is(difference(catalogs_after('again', 'CREATE EXTENSION surfidx'), $fresh), '',
	'created twice, the same catalogs');
my $s = $server->session;
my @from = @{ $s->query("SELECT source FROM pg_extension_update_paths('surfidx')
	JOIN pg_available_extension_versions v ON v.name = 'surfidx' AND v.version = source
	WHERE target = '$default' AND path IS NOT NULL ORDER BY 1")->{rows} };
$s->end;
is(scalar(grep { /^0\.0\./ } @from), 2, 'versions to update from: ' . join(', ', @from));
my $n = 0;
for my $version (@from)
{
	my $got = catalogs_after('from' . ++$n, "CREATE EXTENSION surfidx VERSION '$version'",
		'ALTER EXTENSION surfidx UPDATE');

	if ($version eq '0.0.2') { isnt(difference($got, $fresh), '',
		'an update script that forgets rights is noticed') }
	else { is(difference($got, $fresh), '', "updated from $version, the same catalogs as created") }
}

# What a newer server's btree has.
$s = $server->session;
$s->query('CREATE EXTENSION surfidx');
is($s->value(q{SELECT count(*) FROM surfidx_mirror_btree()}), '0', 'there is nothing to mirror');
for my $statement (map({ ("ALTER EXTENSION surfidx DROP OPERATOR $_ USING surfidx",
	"DROP OPERATOR $_ USING surfidx") } 'CLASS xid8_ops', 'CLASS jsonb_ops', 'FAMILY jsonb_ops'),
	'ALTER OPERATOR FAMILY datetime_ops USING surfidx DROP OPERATOR 1 (date, timestamp)')
{
	is($s->query($statement)->{error} // '', '', substr($statement, 0, 60));
}
is(join(', ', @{ $s->query('SELECT * FROM surfidx_mirror_btree()')->{rows} }),
	join(', ', map { "$_ USING surfidx" } 'members of OPERATOR FAMILY public.datetime_ops',
		'OPERATOR FAMILY public.jsonb_ops', 'OPERATOR CLASS public.jsonb_ops',
		'OPERATOR CLASS public.xid8_ops'),
	'what a server has and the extension lacks is added');
my @names = grep { !/ needs |^function 7 / } map { s/:.*//sr } @$fresh;
my @now = grep { !/ needs |^function 7 / } map { s/:.*//sr } @{ $s->query($catalogs)->{rows} };
is(difference(\@now, \@names), '', '... as members of it');
$s->end;
is(join('', $server->crashes), '', 'no crash in the log');
$server->stop('fast');
done_testing();
