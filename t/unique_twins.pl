# Each unique index has a btree twin on the same columns, one made before it or after it.  Whichever
# is asked first meets a key that is there: so an error in the name of the later one says that the
# earlier one did not see it.  Many sessions insert the same keys, keys at the right edge a little out
# of order, and keys that were deleted, beside VACUUM and merges (U1 to U3, D8).
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('twins', "surfidx.delta_size = 64\nmax_connections = 40\nfsync = off");
$node->start;

# In table a surfidx is asked first, in b btree.
my %columns = (i => '(i)', s => '(s)', n => '(n)', x => '(d, i DESC)', d => '(i DESC) WHERE d > 1');
my $setup = 'CREATE EXTENSION surfidx; CREATE SEQUENCE q; CREATE SEQUENCE ahead CACHE 32; '
  . 'CREATE TABLE err (name text);';
foreach my $table (qw(a b))
{
	$setup .= qq{CREATE TABLE $table (i bigint, s text COLLATE "C", n numeric, d int);\n};
	foreach my $which (sort keys %columns)
	{
		my @methods = $table eq 'a' ? qw(surfidx btree) : qw(btree surfidx);

		$setup .= "CREATE UNIQUE INDEX ${table}_${_}_$which ON $table USING $_ $columns{$which};\n"
		  foreach @methods;
	}
}
$node->safe_psql('postgres', $setup . <<'END');
CREATE FUNCTION ins(t text, k bigint, m bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c text;
BEGIN
	EXECUTE format('INSERT INTO %s VALUES ($1, $2, $3, $4)', t)
		USING k, lpad(m::text, 9, '0'),
			(k::text || CASE WHEN random() < 0.5 THEN '.0' ELSE '.00' END)::numeric, (k % 3)::int;
	IF random() < 0.05 THEN
		RAISE EXCEPTION 'taken back';
	END IF;
EXCEPTION
	WHEN unique_violation THEN
		GET STACKED DIAGNOSTICS c = CONSTRAINT_NAME;
		INSERT INTO err VALUES (c);
	WHEN raise_exception THEN NULL;
END $$;
END

# Its weight among the others, and a script of pgbench.
my @scripts = (
	[ 6, <<'END' ],
\set j random(1, 40)
SELECT ins('a', nextval('q') - CASE WHEN random() < 0.2 THEN :j ELSE 0 END, nextval('ahead'));
SELECT ins('b', currval('q'), currval('ahead'));
END
	[ 4, <<'END' ],
\set r random(1, 2000)
\set v random(1, 2000)
SELECT ins('a', -:r, -:v), ins('b', -:r, -:v);
DELETE FROM a WHERE i = -:v;
DELETE FROM b WHERE i = -:v;
END
	[ 3, <<'END' ],
\set r random(1, 2000)
BEGIN;
SELECT ins('a', -:r, -:r) FROM generate_series(1, 2);
SAVEPOINT x;
SELECT ins('b', -:r - 3, -:r - 3);
ROLLBACK TO x;
SELECT ins('b', -:r - 3, -:r - 3);
COMMIT;
END
	[ 2, <<'END' ],
\set r random(1, 2000)
INSERT INTO a VALUES (-:r, 'u' || :r, -:r, 0) ON CONFLICT DO NOTHING;
INSERT INTO b VALUES (-:r, 'u' || :r, -:r, 0) ON CONFLICT DO NOTHING;
END
);
my $dir = PostgreSQL::Test::Utils::tempdir;
my @files;
foreach my $n (0 .. $#scripts)
{
	append_to_file("$dir/$n.sql", $scripts[$n][1]);
	push @files, '-f', "$dir/$n.sql\@$scripts[$n][0]";
}
my @bench = ('pgbench', '-n', '-c', 12, '-j', 2, '-h', $node->host, '-p', $node->port, '-U',
	scalar getpwuid($<), @files, 'postgres');

# A client ends with the first error that ins() does not expect.
foreach my $round (1 .. 3)
{
	my $all = IPC::Run::start([ @bench, '-t', 250 ], '>', \my $out, '2>', \my $err);

	while ($all->pumpable)
	{
		$all->pump_nb;
		$node->safe_psql('postgres', $_) foreach 'VACUUM a', 'VACUUM b', q{SELECT surfidx_merge(c.oid)
			FROM pg_class c JOIN pg_am m ON m.oid = relam WHERE amname = 'surfidx' AND relkind = 'i'
			ORDER BY random() LIMIT 2};
	}
	$all->finish;
	unlike($err, qr/ERROR/, "round $round: no error but of keys that are there");
}
is($node->safe_psql('postgres', q{SELECT name, count(*) FROM err
		WHERE name LIKE 'a\_btree%' OR name LIKE 'b\_surfidx%' GROUP BY 1}),
	'', 'surfidx sees each key that btree sees, and no other');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM err'), '>', 1000, 'keys did collide');
foreach my $table (qw(a b))
{
	is($node->safe_psql('postgres', qq{SET enable_indexscan = off; SET enable_indexonlyscan = off;
			SET enable_bitmapscan = off; SELECT count(*) - count(DISTINCT i), count(*) -
			count(DISTINCT s), count(*) - count(DISTINCT n) FROM (SELECT * FROM $table OFFSET 0) x}),
		'0|0|0', "$table: no key twice");
}
$node->stop;

done_testing();
