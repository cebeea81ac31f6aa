# An insert never fails because of the merge that it helps with: not for a damaged page far from its
# own, for want of buffers or of disk, where it would go well without helping.  No statement fails
# because of entries that lead to no row, which others look for.  And aborted inserts do not make an
# index grow.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SurfServer;
use Test::More;

my $BLCKSZ = 8192;
my @conf = (
	'autovacuum = off', 'max_worker_processes = 0', 'max_parallel_workers = 0',
	'max_connections = 20', 'max_wal_senders = 0', 'surfidx.unique_notice = off',
	# only the test pins buffers
	'bgwriter_lru_maxpages = 0', 'checkpoint_timeout = 1h');
my $server = SurfServer->new(name => 'side', conf => \@conf);
my $next = 0;
my $s;

sub sound
{
	my ($index, $what) = @_;
	my $r = $s->query("SELECT surfidx_check('$index', true, true)");

	is($r->{lost} ? 'lost' : $r->{error}, '', "$what: check");
	return;
}

# So many more rows, of keys that fall everywhere.
sub rows
{
	my ($table, $n) = @_;

	$next += $n;
	return "INSERT INTO $table SELECT hashint4(g) FROM generate_series($next - $n + 1, $next) g";
}

# What the server's log says of merges that failed, since the last question.
my $seen = 0;

sub warnings
{
	open(my $f, '<', $server->{log}) or die "$server->{log}: $!";
	my @all = grep { /WARNING:  could not merge the delta of index/ } <$f>;
	my @new = @all[ $seen .. $#all ];

	$seen = @all;
	return @new;
}

sub make
{
	my ($table, $where) = @_;

	$s->value("CREATE TABLE $table (k int); SELECT 1");
	$s->value("CREATE INDEX ${table}_k ON $table USING surfidx (k) WITH (delta_size = 64) "
		  . ($where // '') . '; SELECT 1');
	my $r = $s->query(rows($table, 30000) . "; SELECT surfidx_merge('${table}_k')");
	die "make: $r->{error}\n" if $r->{error} || $r->{lost};
	return;
}

$server->start;
$s = $server->session;
$s->value('CREATE EXTENSION surfidx; SELECT 1');

# ---------------------------------------------------------------------- a damaged page

make('d');
my $file = "$server->{data}/" . $s->value("SELECT pg_relation_filepath('d_k')");
$s->end;
$server->stop('fast');
open(my $f, '+<:raw', $file) or die "$file: $!";
my @leaves;
for my $b (0 .. (-s $file) / $BLCKSZ - 1)
{
	sysseek($f, $b * $BLCKSZ, 0);
	sysread($f, my $page, $BLCKSZ);
	push @leaves, $b if ord(substr($page, -8, 1)) == 4;
}
cmp_ok(scalar @leaves, '>', 10, 'leaves');
sysseek($f, $leaves[ @leaves / 2 ] * $BLCKSZ, 0);
syswrite($f, "\0" x $BLCKSZ);
close $f;
$server->start;
$s = $server->session;
is($s->query(rows('d', 60000))->{error}, '', 'rows are inserted beside a damaged leaf');
my @said = warnings();
is(scalar @said, 1, 'one warning in a statement');
like($said[0] // '', qr/index "d_k" is damaged/, 'of what is wrong');
is($s->query("SELECT surfidx_merge('d_k')")->{error}, 'XX002', 'an explicit merge gets an error');
is($s->query('REINDEX INDEX d_k')->{error}, '', 'REINDEX');
sound('d_k', 'heals it');

# ---------------------------------------------------------------------- buffers

sub buffers
{
	$s->end;
	$server->stop('fast');
	$server->configure("shared_buffers = $_[0]");
	$server->start;
	$s = $server->session;
	return;
}

make('b');
buffers('128kB');
is($s->query('REINDEX INDEX b_k')->{error}, '', 'a build does with sixteen buffers');
cmp_ok($s->value("SELECT pg_relation_size('b_k') / $BLCKSZ"), '>', 16, 'more pages than that');
$s->value("CREATE TABLE p$_ (k int); INSERT INTO p$_ VALUES (1), (2); SELECT 1") for 1 .. 14;
my $holder = $server->session;
$holder->value('BEGIN; SELECT 1');
my (@wrong, @ended);
for my $pinned (1 .. 14)
{
	my $cursor = "DECLARE c$pinned CURSOR FOR SELECT * FROM p$pinned; FETCH 1 FROM c$pinned";
	last if $holder->query($cursor)->{error};
	my $alone = $s->query('SET surfidx.auto_merge = off; ' . rows('b', 8000))->{error};
	my $helping = $s->query('SET surfidx.auto_merge = on; ' . rows('b', 8000))->{error};

	push @ended, "$alone/$helping";
	push @wrong, "$pinned pinned: $helping" if $alone eq '' && $helping ne '';
}
$holder->query('ROLLBACK');
@said = warnings();

# what a merge pins, others cannot have: twelve at most (sfx_record_blocks), and the page it reads
$s->value('SET surfidx.auto_merge = off; SELECT 1');
$s->value(rows('b', 24000));
$holder->value('BEGIN; SELECT 1');
$holder->query("DECLARE c$_ CURSOR FOR SELECT * FROM p$_; FETCH 1 FROM c$_") for 1 .. 3;
is($s->query("SELECT surfidx_merge('b_k')")->{error}, '', 'a merge does with thirteen buffers');
$s->value('RESET surfidx.auto_merge; SELECT 1');
$holder->query('ROLLBACK');
note(join(' ', @ended), '; ', scalar(@said), ' warnings');
is(join('; ', @wrong), '',
	'inserts that go well without helping do so with it, however many buffers others have pinned');
cmp_ok(scalar(grep { /no unpinned buffers available/ } @said), '>', 0, 'while merges failed');

# a group whose record has room for few pages takes something even if it was widened to the left
buffers('500kB');
$s->query('SET surfidx.auto_merge = off; CREATE TABLE few (a int, b int)');
for my $i (1 .. 12)
{
	my $rows = 10500 + 50 * $i;

	$s->query("TRUNCATE few; DROP INDEX IF EXISTS few_ab;
		INSERT INTO few SELECT 2 * i, hashint4(i) FROM generate_series(1, $rows) i;
		CREATE INDEX few_ab ON few USING surfidx (a, b);
		INSERT INTO few SELECT 2 * i + 1, hashint4(i) FROM generate_series(100 * $i, $rows) i
		WHERE i % (1 + $i % 4) = 0");
	is($s->query("SELECT surfidx_merge('few_ab')")->{error}, '', "few buffers: merge $i");
}
sound('few_ab', 'few buffers');
buffers('16MB');
is($s->query(rows('b', 20000))->{error}, '', 'and with more buffers again');
is(scalar(warnings()), 0, 'they do not');
sound('b_k', 'too few buffers');

# ---------------------------------------------------------------------- disk

SKIP:
{
	my $disk = $ENV{SURFIDX_SMALL_DISK};
	skip 'there is no small file system (root can mount one)', 5 unless $disk && -d $disk;
	mkdir "$disk/side" or die "$disk/side: $!";
	$s->query("CREATE TABLESPACE side LOCATION '$disk/side'");
	make('f', 'TABLESPACE side');
	# a delta that is overdue, and room for some pages of log but not for the leaves
	$s->query('SET surfidx.auto_merge = off; ' . rows('f', 30000) . '; RESET surfidx.auto_merge');
	open(my $ballast, '>:raw', "$disk/ballast") or die "ballast: $!";
	while ((syswrite($ballast, "\1" x 65536) // 0) == 65536) { }
	while ((syswrite($ballast, "\1" x 4096) // 0) == 4096) { }
	my $size = -s $ballast;
	truncate($ballast, $size - $size % 4096 - $BLCKSZ * 6) or die "truncate: $!";
	close $ballast;
	my $pages = $s->value("SELECT log_pages FROM surfidx_meta('f_k')");
	my $failed = 0;

	# (a merge may use up what later rows would need: the row that it comes with is in)
	for (1 .. 2000)
	{
		last if $s->value("SELECT log_pages FROM surfidx_meta('f_k')") != $pages;
		$failed++ if $s->query(rows('f', 1))->{error};
	}
	@said = warnings();
	is($failed, 0, 'inserts go well on a disk that is too full for their merge');
	like($said[0] // '', qr/No space left/, 'which failed');
	unlink "$disk/ballast";
	is($s->query(rows('f', 20000))->{error}, '', 'and with room again');
	is(scalar(warnings()), 0, 'it does not');
	sound('f_k', 'too full a disk');
	$s->query('DROP TABLE f; DROP TABLESPACE side');
}

# ---------------------------------------------------------------------- aborted inserts (bound 5)

$s->value('CREATE TABLE a (k int); CREATE UNIQUE INDEX a_k ON a USING surfidx (k);
	INSERT INTO a VALUES (-1); SELECT 1');
my $before = $s->value("SELECT pg_relation_size('a_k') / $BLCKSZ");
for my $round (1 .. 6)
{
	$s->query("DO 'BEGIN FOR i IN 1..8000 LOOP
		BEGIN INSERT INTO a VALUES (i % 10); RAISE SQLSTATE ''ZZ001'';
		EXCEPTION WHEN SQLSTATE ''ZZ001'' THEN NULL; END; END LOOP; END'");
}
my $after = $s->value("SELECT pg_relation_size('a_k') / $BLCKSZ");
note("$before blocks before, $after after");
cmp_ok($after, '<=', $before + 20, 'grows by two times eight pages of log and no more');
is($s->value('SELECT count(*) FROM a'), 1, 'no row');
sound('a_k', 'aborted inserts');

# ---------------------------------------------------------------------- entries without rows

# Core makes them, with any kind of index: a table's SET TABLESPACE that is rolled back takes rows away
# that were inserted after it, and the indexes keep their entries.
sub no_complaint
{
	my ($what) = @_;

	open(my $f, '<', $server->{log}) or die "$server->{log}: $!";
	my @all = grep { /heap tid from index tuple|could not (merge|remove)/ } <$f>;
	is(join('', @all[ $seen .. $#all ]), '', "$what: nothing is said");
	$seen = @all;
	return;
}

# $want is left out where new rows have got TIDs of such entries: no index knows any more.
sub answers
{
	my ($query, $what, $want) = @_;
	my $r = $s->query("SET enable_seqscan = off; SET enable_bitmapscan = off; $query");

	is($r->{error} || (defined $want ? $r->{rows}[-1] : ''), $want // '', $what);
	return;
}

{
	open(my $log, '<', $server->{log}) or die "$server->{log}: $!";
	$seen = () = grep { /heap tid from index tuple|could not (merge|remove)/ } <$log>;
}
$s->value("SET allow_in_place_tablespaces = on; SELECT 1");
$s->value("CREATE TABLESPACE elsewhere LOCATION ''; SELECT 1");
for my $unique ('', 'UNIQUE')
{
	my $what = "entries without rows, $unique index";

	$s->value("CREATE TABLE o (k int, v int);
		CREATE $unique INDEX o_k ON o USING surfidx (k); SET surfidx.auto_merge = off;
		INSERT INTO o SELECT g, 0 FROM generate_series(1, 10) g;
		BEGIN; ALTER TABLE o SET TABLESPACE elsewhere;
		INSERT INTO o SELECT g, 0 FROM generate_series(11, 160) g; ROLLBACK; SELECT 1");
	is($s->query("SELECT surfidx_check('o_k', true, true)")->{error}, 'XX002', "$what: found");
	my $read = 'SELECT count(v), sum(k) FROM o WHERE k > 0';
	answers($read, "$what: read from the delta", '10|55');
	no_complaint("$what: in the delta");
	# their TIDs come into the hands of versions that have no entries, and out of them
	answers(('UPDATE o SET v = v + 1 WHERE k <= 3; ' x 5) . $read, "$what: versions", '10|55');
	answers($read, "$what: and read once more", '10|55');
	answers("INSERT INTO o SELECT g, 0 FROM generate_series(1001, 1004) g; "
		  . "INSERT INTO o VALUES (150, 0), (151, 0); $read", "$what: the same keys");
	is($s->query("SELECT surfidx_merge('o_k')")->{error}, '', "$what: merged");
	answers($read, "$what: read from a leaf") for 1, 2;
	no_complaint("$what: in a leaf");
	is($s->query('VACUUM o')->{error}, '', "$what: VACUUM");
	answers($read, "$what: read after VACUUM");
	is($s->query('REINDEX INDEX o_k; RESET surfidx.auto_merge')->{error}, '', "$what: REINDEX");
	sound('o_k', "$what: healed");
	no_complaint($what);
	$s->value('DROP TABLE o; SELECT 1');
}

# beyond the table's end: a merge has no use for them either
$s->value("CREATE TABLE o (k int, v int); CREATE INDEX o_k ON o USING surfidx (k);
	CREATE INDEX ON o USING surfidx (v); SET surfidx.auto_merge = off;
	INSERT INTO o SELECT g, 0 FROM generate_series(1, 10) g;
	BEGIN; ALTER TABLE o SET TABLESPACE elsewhere;
	INSERT INTO o SELECT g, 0 FROM generate_series(11, 1000) g; ROLLBACK;
	SET enable_seqscan = on; SET enable_indexscan = off; SET enable_bitmapscan = off;
	INSERT INTO o VALUES (900, 0); UPDATE o SET v = 1 WHERE k = 900; SELECT 1");
is($s->query("SELECT surfidx_merge('o_k')")->{error}, '', 'entries beyond the end: merged');
no_complaint('entries beyond the end');
$s->value('DROP TABLE o; SELECT 1');

is(join('', $server->crashes), '', 'no crash');
$s->end;
$server->stop('immediate');
done_testing();
