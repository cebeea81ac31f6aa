# surfidx.autotune: workers set what surfidx_tune() proposes, where nobody has set it, one parameter
# at a time and past those who hold locks; what the log says undoes it for good.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes;

my $node = new_node('autotune', <<'END');
surfidx.budget_interval = 1
shared_buffers = 10MB
max_parallel_workers_per_gather = 0
END
$node->start;

# The largest has its filter by hand, so its proposal is always the first, and never for autotune.
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE by_hand AS SELECT string_agg(md5(g || '.' || i), '') COLLATE "C" AS k, g AS v
	FROM generate_series(1, 160000) g, generate_series(1, 8) i GROUP BY g;
CREATE TABLE found AS SELECT * FROM by_hand WHERE v <= 150000;
CREATE TABLE missed AS SELECT * FROM by_hand WHERE v <= 140000;
CREATE TABLE later AS SELECT * FROM by_hand WHERE v <= 135000;
CREATE INDEX by_hand_k ON by_hand USING surfidx (k) WITH (filter = none);
CREATE INDEX found_k ON found USING surfidx (k);
CREATE INDEX "missed k" ON missed USING surfidx (k);
CREATE INDEX later_k ON later USING surfidx (k);
CREATE FUNCTION fail() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not for workers'; END $$;
VACUUM ANALYZE;
END

sub value { return $node->safe_psql('postgres', shift) }

# Look up keys of a table, n times: some that are there, or others
sub look_up
{
	my ($table, $n, $suffix) = @_;

	$node->safe_psql('postgres', <<"END");
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;
SET enable_mergejoin = off; SET enable_memoize = off; SET enable_indexonlyscan = off;
SELECT count(b.v) FROM (SELECT k FROM by_hand LIMIT $n) a JOIN $table b ON b.k = a.k || '$suffix';
END
	return;
}

sub options
{
	return value("SELECT string_agg(relname || ' ' || reloptions::text, ', ' ORDER BY relname)
		FROM pg_class WHERE reloptions IS NOT NULL AND relnamespace = 'public'::regnamespace");
}

# Read until the index has that option.
sub tuned
{
	my ($index, $option) = @_;

	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		look_up('later', 1, '');
		return 1 if value("SELECT '$option' = ANY (reloptions) FROM pg_class WHERE relname = '$index'") eq 't';
		Time::HiRes::usleep(100_000);
	}
	diag(value('SELECT x FROM surfidx_tune() x'));
	return 0;
}

look_up($_->[0], 12000, $_->[1]) for [ 'by_hand', 'x' ], [ 'found', '' ], [ 'missed', 'x' ];
is(value("SELECT string_agg(indexrelname || ' ' || setting || ' ' || proposed_value, ', ') FROM surfidx_tune()"),
	'by_hand_k filter bloom, found_k keys cut, missed k filter bloom', 'proposed, the largest first');
$node->safe_psql('postgres', 'INSERT INTO found SELECT md5(g::text), g FROM generate_series(1, 50000) g');
is(options(), 'by_hand_k {filter=none}', 'nothing is changed without it');

# An index that somebody alters is passed by, and what is altered is not for event triggers.
my $other = open_session($node);
ask($other, 'BEGIN');
ask($other, 'ALTER INDEX found_k SET (deduplicate_items = on)');
$node->safe_psql('postgres', 'CREATE EVENT TRIGGER fail ON ddl_command_start EXECUTE FUNCTION fail()');
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET surfidx.autotune = on');
ok(tuned('missed k', 'filter=bloom'), 'filters where most find nothing');
is(options(), 'by_hand_k {filter=none}, missed k {filter=bloom}', 'that alone');
ask($other, 'ROLLBACK');
end_session($other);
ok(tuned('found_k', 'keys=cut'), 'cut keys where rows are visited anyway');
is(options(), 'by_hand_k {filter=none}, found_k {keys=cut}, missed k {filter=bloom}',
	'what is set by hand stays');

# Undone: what is proposed after it comes without it.
my ($undo) = slurp_file($node->logfile) =~
  /LOG: .*surfidx.autotune: ALTER INDEX public.found_k SET \(keys = 'cut'\).*?HINT: [^\n]*: (ALTER INDEX [^\n]*)/s;
is($undo, "ALTER INDEX public.found_k SET (keys = 'full')", 'logged with what undoes it');
$node->safe_psql('postgres', 'DROP EVENT TRIGGER fail');
$node->safe_psql('postgres', $undo);
look_up('later', 12000, '');
ok(tuned('later_k', 'keys=cut'), 'another index');
is(options(), 'by_hand_k {filter=none}, found_k {keys=full}, later_k {keys=cut}, missed k {filter=bloom}',
	'undone for good');

# Workers go on while somebody holds the lock of an index for long.
$node->safe_psql('postgres', 'CREATE TABLE served (k int)');
$node->safe_psql('postgres', 'CREATE INDEX served_k ON served USING surfidx (k)');
my $holder = open_session($node);
ask($holder, 'BEGIN');
ask($holder, 'REINDEX INDEX found_k');
for my $round (1 .. 4)
{
	my $before = value("SELECT merges FROM surfidx_stats('served_k')");
	$node->safe_psql('postgres',
		'INSERT INTO served SELECT random() * 1e9 FROM generate_series(1, 60000)');
	look_up('later', 1, '');
	ok($node->poll_query_until('postgres', "SELECT merges > $before FROM surfidx_stats('served_k')"),
		"merged beside a locked index, $round");
	Time::HiRes::sleep(1);
}
ask($holder, 'ROLLBACK');
end_session($holder);

my $told = () = slurp_file($node->logfile) =~ /surfidx.autotune: /g;
is($told, 3, 'a line for each change');
unlike(slurp_file($node->logfile), qr/ERROR|PANIC|TRAP|terminated by signal/, 'nothing wrong in the log');
done_testing();
