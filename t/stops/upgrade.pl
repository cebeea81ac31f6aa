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

# A later version, as its update script has to begin (docs/dev/recipes.md), and one from which only
# the access method and its classes remain.
my ($needs) = slurp("$FindBin::Bin/../../docs/dev/recipes.md") =~ /^(DO \$\$\nBEGIN\n.*?^\$\$;\n)/ms;
my $later = <<'END';
CREATE FUNCTION surfidx_later(OUT leaves bigint, OUT filters bigint, OUT denied bigint,
	OUT wrong bigint) AS 'MODULE_PATHNAME', 'surfidx_page_counts' LANGUAGE C VOLATILE;
END
my ($basis) = $script =~ /\A(.*?)^-- Functions\n/ms or die "no functions\n";
spew("$dir/surfidx--$default--9.9.9.sql", $needs . $later);
# its library is the present one
spew("$dir/surfidx--$default--1.0.0.1.sql", $needs =~ s/9\.9\.9/1.0.0/gr . $later);
spew("$dir/surfidx--0.0.3.sql", $basis);
spew("$dir/surfidx--0.0.3--$default.sql", substr($script, length $basis));
# and what the library would have to be for this one
spew("$dir/surfidx--$default--9.9.10.sql", $later =~ s/surfidx_page_counts/surfidx_of_later/r);

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
is(scalar(grep { /^0\.0\./ } @from), 3, 'versions to update from: ' . join(', ', @from));
my $n = 0;
for my $version (@from)
{
	my $got = catalogs_after('from' . ++$n, "CREATE EXTENSION surfidx VERSION '$version'",
		'ALTER EXTENSION surfidx UPDATE');

	if ($version eq '0.0.2') { isnt(difference($got, $fresh), '',
		'an update script that forgets rights is noticed') }
	else { is(difference($got, $fresh), '', "updated from $version, the same catalogs as created") }
}

# What the log has of the last error.
sub last_error
{
	return (slurp($server->{log}) =~ /.*^\S.*?ERROR:  (.*?\n.*?HINT:  .*?)\n/ms)[0] // '';
}

# From this version to a later one: indexes stay as they are.
$s = $server->session;
$s->query('CREATE DATABASE later');
$s->end;
$s = $server->session(db => 'later');
my $work = join ";\n", 'CREATE TABLE t (id bigint PRIMARY KEY WITH (access_method = surfidx), v text
	COLLATE "C", n int)', 'CREATE INDEX t_v ON t USING surfidx (v) INCLUDE (n)',
	'CREATE INDEX t_n ON t USING surfidx (n, v) WITH (keys = cut)',
	q{INSERT INTO t SELECT g, 'v' || g % 700, g % 50 FROM generate_series(1, 20000) g},
	'CREATE TABLE r (id bigint REFERENCES t)', 'INSERT INTO r VALUES (7)';
my $asks = q{SELECT sum(c), max(m) FROM (SELECT count(*) c, min(id) m FROM t WHERE v > 'v3'
	GROUP BY v) x UNION ALL SELECT count(*), max(n) FROM t WHERE n BETWEEN 3 AND 9
	UNION ALL (SELECT id, n FROM t ORDER BY id OFFSET 15000 LIMIT 1)};
my $sound = 'SELECT indexrelname, problem FROM surfidx_check_all(true, true)
	WHERE problem IS NOT NULL';
is($s->query($_)->{error} // '', '', substr($_, 0, 40)) for 'CREATE EXTENSION surfidx', $work;
my @answers = @{ $s->query($asks)->{rows} };
is($s->query("ALTER EXTENSION surfidx UPDATE TO '1.0.0.1'")->{error} // '', '',
	"updated from $default to a later version");
is($s->value('SELECT count(*) FROM surfidx_later()'), 1, '... with its function');
is($s->query('INSERT INTO t SELECT g, $$w$$ || g, 60 FROM generate_series(20001, 24000) g')->{error}
	// '', '', '... indexes go on');
is(join('|', @{ $s->query($sound)->{rows} }), '', '... soundly');
$s->query('DELETE FROM t WHERE n = 60');
is_deeply($s->query($asks)->{rows}, \@answers, '... with the same answers');
$s->end;
my $path = catalogs_after('by_path', "CREATE EXTENSION surfidx VERSION '1.0.0.1'");
my $updated = catalogs_after('updated', 'CREATE EXTENSION surfidx',
	"ALTER EXTENSION surfidx UPDATE TO '1.0.0.1'");
is(difference($updated, $path), '', 'created in the later version, the same catalogs');

# A library that is older than the catalog is to be.
is(catalogs_after('too_late', 'CREATE EXTENSION surfidx',
	"ALTER EXTENSION surfidx UPDATE TO '9.9.9'")->[0], '55000', 'an older library is not enough');
like(last_error(), qr/\Athe server has loaded version 1\.0\.0 of surfidx's library, .*9\.9\.9 .*HINT:  .*restart/s,
	'... which the error says, with the way out');
is(catalogs_after('missing', 'CREATE EXTENSION surfidx',
	"ALTER EXTENSION surfidx UPDATE TO '9.9.10'")->[0], '42883',
	'... also where a script does not ask');

# A library that is newer than the catalog: everything goes on; functions come with the update.
$s = $server->session;
$s->query('CREATE DATABASE older');
$s->end;
$s = $server->session(db => 'older');
is($s->query($_)->{error} // '', '', substr($_, 0, 40))
  for "CREATE EXTENSION surfidx VERSION '0.0.3'", $work, 'VACUUM ANALYZE t',
	q{SET surfidx.in_place_of_btree = 'all'}, 'CREATE INDEX t_id ON t (id, n)',
	'REINDEX TABLE t', 'UPDATE t SET n = n + 0 WHERE id % 9 = 0', 'VACUUM t';
is_deeply($s->query($asks)->{rows}, \@answers, 'catalogs of an older version: the same answers');
is($s->query('INSERT INTO t VALUES (7)')->{error}, '23505', '... keys hold');
is($s->query('DELETE FROM t WHERE id = 7')->{error}, '23503', '... foreign ones, too');
is($s->query('SELECT surfidx_merge(1)')->{error}, '42883', '... functions are missing');
is($s->query('ALTER EXTENSION surfidx UPDATE')->{error} // '', '', '... until they are updated');
is(join('|', @{ $s->query($sound)->{rows} }), '', '... all indexes are sound');
$s->end;

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
