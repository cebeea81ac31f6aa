# An index that a tenth of its rows came to by merges is about as small as one that is built of all of them, whatever the
# keys: those of the bench, and paths some of which have words of their own.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $ROWS = 100_000;
my $MORE = 1.06;    # times the bytes of a new one, at most,
my $PAGES = 24;     # and so many pages: what is the same for any size, and leaves that were halved a moment ago
my $SIZE = "pg_relation_size('w_index'), keys_per_entry FROM surfidx_stats('w_index', 100000)";

my $node = new_node('sizes', <<'END');
autovacuum = off
fsync = off
surfidx.auto_merge = off
surfidx.delta_size = 256kB
END
$node->start;
$node->safe_psql('postgres', slurp_file('bench/schema.sql'));
# One path in thirty, before all others, is of words of its own.
my $paths = <<'END';
CREATE TABLE bench.raw AS SELECT CASE WHEN own THEN '/bin/' ELSE '/usr/' END ||
	(SELECT string_agg(translate(left(md5(('x' || substr(md5(i::text), n, 7))::bit(28)::int % 100 || ''), 16), '0123456789abcdef',
		CASE WHEN own THEN 'ghijklmnopqrstuv' ELSE 'GHIJKLMNOPQRSTUV' END), '/') FROM generate_series(1, 19, 6) n) AS path
FROM (SELECT i, i % 30 = 0 AS own FROM generate_series(1, %d) i) s
END
my @sets = split /\n/, $node->safe_psql('postgres', 'SELECT name FROM bench.key_set ORDER BY name');
for my $set (@sets)
{
	$node->safe_psql('postgres', $paths =~ s/%d/$ROWS * 1.1/er) if $set eq 'path';
	$node->safe_psql('postgres', "CALL bench.load('$set', $ROWS, $ROWS / 10); CALL bench.copy_table('surfidx'); CALL bench.insert('$set', 'surfidx')");
	my ($merges, $merged, $keys) = split /\|/, $node->safe_psql('postgres', "SELECT merges, $SIZE");
	my ($built, $built_keys) = split /\|/, $node->safe_psql('postgres', "REINDEX INDEX w_index; SELECT $SIZE");

	cmp_ok($merges, '>', 0, "$set: merged");
	cmp_ok($keys, '<=', $built_keys * $MORE, sprintf('%s: %.3f of the bytes of its keys', $set, $keys / $built_keys));
	cmp_ok($merged, '<=', $built * $MORE + $PAGES * 8192, sprintf('%s: %.3f of the bytes of a new one', $set, $merged / $built));
}

# The bench merges when the library would, whatever entries take in the log: into a temporary
# table's index a session merges by itself as soon as that is due, but for the page that it fills.
$node->append_conf('postgresql.conf', 'surfidx.delta_size = 8MB');
$node->reload;
foreach my $key ("md5(i::text)::uuid", "md5(i::text)", "repeat(md5(i::text), 3)")
{
	my ($merged, $early, $most) = split /\|/, $node->safe_psql('postgres', <<"END");
CREATE TEMP TABLE due (pieces int, entries bigint);
CREATE TEMP TABLE w AS SELECT $key AS k FROM generate_series(1, $ROWS) i;
CREATE INDEX w_index ON w USING surfidx (k);
DO \$\$
BEGIN
	FOR n IN $ROWS + 1..$ROWS * 1.15 BY 100 LOOP
		INSERT INTO w SELECT $key FROM generate_series(n, n + 99) i;
		INSERT INTO due SELECT bench.merge_due('w_index')::int,
			(surfidx_meta('w_index')).delta_entries;
	END LOOP;
END \$\$;
SELECT (surfidx_meta('w_index')).merges, sum(pieces), max(entries) FROM due
END

	cmp_ok($merged, '>', 0, "$key: a session merges by itself");
	cmp_ok($early, '<=', 5, "$key: as soon as the bench would");
	cmp_ok($most, '>=', $ROWS / 10 - 500, "$key: and no sooner");
}
$node->stop;
done_testing();
