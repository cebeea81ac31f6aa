# Damaged files: an error that names index and block, never a crash, and REINDEX heals.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $BLCKSZ = 8192;
my $node = new_node('corruption', "surfidx.auto_merge = off\nrestart_after_crash = off");
$node->start;
create_table($node);
change_rows($node, 20000, 1);
$node->safe_psql('postgres', "VACUUM t; REINDEX TABLE t");
change_rows($node, 500, 2);
check_indexes($node, 'before');

my $indexes = $node->safe_psql('postgres', "SELECT indexrelname FROM surfidx_stat_indexes WHERE relname = 't' ORDER BY indexrelname = 't_s', 1");
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('t_s')");
$node->stop;
my $good = slurp_file($file);
my $blocks = length($good) / $BLCKSZ;
cmp_ok($blocks, '>', 20, 'some blocks to damage');

sub write_index
{
	my ($bytes) = @_;

	open my $f, '+<:raw', $file or die "$file: $!";
	truncate $f, 0;
	print $f $bytes;
	close $f or die "$file: $!";
	return;
}

# Kind of each block, from its tail: build id 8, right 4, owner 4, kind 1, level 1, ...
my %of_kind;
foreach my $b (0 .. $blocks - 1)
{
	push @{ $of_kind{ ord(substr($good, ($b + 1) * $BLCKSZ - 8, 1)) } }, $b;
}
my ($meta, $gate, $log, $leaf, $inner) = map { $of_kind{$_} } 1 .. 5;
ok($meta && $gate && $log && $leaf && $inner, 'the index has pages of every kind');

# damage, what it does to the file's bytes, what the check has to say.  An error names index and block.
my $named = qr/"t_s".*block \d+|block \d+ .*"t_s"|invalid page in block \d+/;
my @damages = (
	[ 'zeroed leaf', sub { substr($_[0], $leaf->[3] * $BLCKSZ, $BLCKSZ) = "\0" x $BLCKSZ } ],
	[ 'zeroed inner page', sub { substr($_[0], $inner->[0] * $BLCKSZ, $BLCKSZ) = "\0" x $BLCKSZ } ],
	[ 'zeroed metapage', sub { substr($_[0], 0, $BLCKSZ) = "\0" x $BLCKSZ } ],
	[ 'zeroed log page', sub { substr($_[0], $log->[0] * $BLCKSZ, $BLCKSZ) = "\0" x $BLCKSZ } ],
	[ 'leaf of another place', sub { substr($_[0], $leaf->[3] * $BLCKSZ, $BLCKSZ) = substr($_[0], $leaf->[5] * $BLCKSZ, $BLCKSZ) } ],
	[ 'log page as leaf', sub { substr($_[0], $leaf->[3] * $BLCKSZ, $BLCKSZ) = substr($_[0], $log->[0] * $BLCKSZ, $BLCKSZ) } ],
	[ 'wrong right link', sub { substr($_[0], ($leaf->[3] + 1) * $BLCKSZ - 16, 4) = pack('L', $leaf->[3]) } ],
	[ 'link beyond the end', sub { substr($_[0], ($leaf->[3] + 1) * $BLCKSZ - 16, 4) = pack('L', 1_000_000) } ],
	# links that lead in circles, and to a page whose lock is held: an error, not an endless loop
	[ 'log page linked to itself', sub { substr($_[0], ($log->[0] + 1) * $BLCKSZ - 16, 4) = pack('L', $log->[0]) } ],
	[ 'log tail is the metapage', sub { substr($_[0], 88, 4) = pack('L', 0) } ],
	[ 'leaf from further left', sub { substr($_[0], $leaf->[9] * $BLCKSZ, $BLCKSZ) = substr($_[0], $leaf->[5] * $BLCKSZ, $BLCKSZ) } ],
	# "VACUUM never ends": a merge of what the metapage's lists do not have
	[ 'run without a number', sub { substr($_[0], 24 + 152, 4) = pack('L', 0) } ],
	[ 'half merged run that is not listed', sub { substr($_[0], 24 + 472, 4) = pack('L', 77) } ],
	[ 'half merged generation, not listed', sub { substr($_[0], 432, 8) = pack('LL', 77, 1) } ],
	[ 'half merged generation, into no run', sub { substr($_[0], 432, 8) = pack('LL', 1, 77) } ],
	[ 'log beyond the end', sub { substr($_[0], 80, 8) = pack('LL', 1_000_000, 1_000_000) } ],
	[ 'root beyond the end', sub { substr($_[0], 24 + 152 + 4, 4) = pack('L', 1_000_000) } ],
	[ 'wrong magic', sub { substr($_[0], 24, 4) = 'XXXX' } ],
	[ 'truncated file', sub { substr($_[0], 10 * $BLCKSZ) = '' }, qr/"t_s"|could not read block|could not open file/ ],
	[ 'random page', sub { substr($_[0], $leaf->[2] * $BLCKSZ + 24, $BLCKSZ - 48) = join '', map { chr(($_ * 7919) % 251) } 1 .. $BLCKSZ - 48 } ]);

# Nothing may crash; what is read through the damaged index is an error or rows of the table.
my @readers = (
	'SELECT count(*) FROM (SELECT s FROM t ORDER BY s) x',
	'SELECT count(*) FROM (SELECT s FROM t ORDER BY s DESC) x',
	"SELECT count(*) FROM t WHERE s BETWEEN 'p' AND 'pp'",
	"INSERT INTO t (n, s) VALUES (1, 'damaged')",
	"SELECT surfidx_merge('t_s')",
	'VACUUM t',
	'SELECT * FROM surfidx_meta(\'t_s\')');

sub read_all
{
	my ($what) = @_;
	my $up = 1;

	foreach my $sql (@readers)
	{
		my ($rc, $out, $err) = $node->psql('postgres', $sql, timeout => 60);

		$up = 0 if $err =~ /server closed the connection|could not connect|timed out|statement timeout/;
		last unless $up;
	}
	ok($up, "$what: the server stays up");
	return $up;
}

$node->append_conf('postgresql.conf', "enable_seqscan = off\nenable_sort = off\nenable_bitmapscan = off\nstatement_timeout = '20s'");
foreach my $damage (@damages)
{
	my ($what, $how, $expect) = @$damage;
	my $bytes = $good;

	$how->($bytes);
	write_index($bytes);
	$node->start;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT surfidx_check('t_s', false)");
	isnt($rc, 0, "$what: found");
	like($err, $expect // $named, "$what: the error tells where");
	# the view has the others all the same, and says what is wrong with this one if its pages show it
	($rc, $out, $err) = $node->psql('postgres', "SELECT indexrelname, bytes IS NULL FROM surfidx_stat_indexes WHERE relname = 't' ORDER BY indexrelname = 't_s', 1");
	is($rc, 0, "$what: the view goes on");
	is($out =~ s/^(.*)\|f$/$1/mgr =~ s/\|t$//r, $indexes, "$what: the view has all indexes");
	is($out =~ /^t_s\|t$/m, $err =~ /WARNING:  index "t_s" cannot be looked at/, "$what: a warning goes with NULLs");
	like($err, qr/WARNING:  index "t_s" cannot be looked at/, "$what: the view warns") if $what =~ /metapage|magic|random/;
	($rc, $out, $err) = $node->psql('postgres',
		"SELECT statement FROM surfidx_health() WHERE reason LIKE 'it cannot be read%'");
	is($rc, 0, "$what: surfidx_health() goes on");
	is($out, $err =~ /WARNING:  index "t_s" cannot/ ? 'REINDEX INDEX public.t_s' : '',
		"$what: ... with a way out where it meets the damage");
	# what shows a metapage shows one whose lists nobody may follow
	if ($what =~ /^(?:run without|half merged|log tail)/)
	{
		($rc, $out, $err) = $node->psql('postgres', "SET ignore_checksum_failure = on;
			SELECT fault IS NOT NULL, delta_entries IS NULL, generations > 0, entries > 0
				FROM surfidx_meta('t_s');
			SELECT count(*) > 0 FROM surfidx_runs('t_s');
			SELECT count(*) >= 0 FROM surfidx_dictionaries('t_s')");
		is($out, "t|t|t|t\nt\nt", "$what: is shown") or diag($err);
	}
	# the planner may have other ways to the rows
	($rc, $out, $err) = $node->psql('postgres', "EXPLAIN SELECT FROM t WHERE s > 'b' AND s < 'p' AND n > 7");
	if ($err =~ /invalid page in block 0 of relation/)
	{
		# where the cluster has checksums, a damaged metapage is an error in plans, as a btree's is
		pass("$what: $_") for 'a query is planned', "by ANALYZE's estimates";
	}
	else
	{
		is($rc, 0, "$what: a query is planned" . ($rc ? ": $err" : ''));
		my $unread = $what =~ /zeroed inner|metapage|magic|log page linked|half merged|number/
		  || $what =~ /(?:log|root) beyond/;

		like($err, qr/WARNING:  rows cannot be counted in index "t_s": /, "$what: by ANALYZE's estimates") if $unread;
		# M10: no subtransaction there that could take the error
		($rc, $out, $err) = $node->psql('postgres', "SET citus.node_conninfo = 'x';
			EXPLAIN SELECT FROM t WHERE s > 'b' AND s < 'p' AND n > 7");
		is($rc != 0 && $err =~ /index "t_s"/ ? 1 : 0, 1, "$what: an error below Citus")
		  if $what =~ /zeroed inner/;
	}
	last unless read_all($what);
	$node->stop;
}

# Bytes flipped at random, with the same seed every time.  (A clean stop each time: WAL would repair the file.)
srand(20250101);
my $found = 0;
my $rounds = 12;
foreach my $round (1 .. $rounds)
{
	my $bytes = $good;
	my @candidates = (@$leaf, @$inner, @$log, 0);

	foreach my $n (1 .. 30)
	{
		my $b = $candidates[ rand @candidates ];
		my $at = $b * $BLCKSZ + int(rand $BLCKSZ);

		substr($bytes, $at, 1) = chr(ord(substr($bytes, $at, 1)) ^ (1 << int(rand 8)));
	}
	write_index($bytes);
	$node->start;
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT surfidx_check('t_s', false)");
	$found++ if $rc != 0;
	last unless read_all("flipped bits $round");
	$node->stop;
}
cmp_ok($found, '>=', $rounds - 2, 'flipped bits are found');

# An entry that is missing, though the index is sound in itself.
write_index($good);
$node->start;
$node->append_conf('postgresql.conf', "enable_seqscan = on\nenable_sort = on\nenable_bitmapscan = on");
$node->reload;
$node->safe_psql('postgres', 'REINDEX INDEX t_s');
check_indexes($node, 'REINDEX heals');
compare_plans($node, 'REINDEX heals');
$node->safe_psql('postgres', <<'END');
CREATE TABLE p (n int);
CREATE INDEX p_n ON p USING surfidx (n) WITH (filter = surf);
INSERT INTO p SELECT generate_series(1, 1000);
SET allow_system_table_mods = on;
UPDATE pg_index SET indisready = false, indisvalid = false WHERE indexrelid = 'p_n'::regclass;
END
$node->safe_psql('postgres', <<'END');
INSERT INTO p VALUES (4711);
SET allow_system_table_mods = on;
UPDATE pg_index SET indisready = true, indisvalid = true WHERE indexrelid = 'p_n'::regclass;
END
my ($rc, $out, $err) = $node->psql('postgres', "SELECT surfidx_check('p_n', false)");
is($rc, 0, 'missing entry: the index is sound in itself') or diag($err);
($rc, $out, $err) = $node->psql('postgres', "SELECT surfidx_check('p_n', true)");
like($err, qr/index "p_n" is damaged: row \(\d+,\d+\) of table "p" has no entry/, 'missing entry: found');

# Values of an INCLUDE column that are not the row's, in the log and in a leaf.
foreach my $merged (0, 1)
{
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS q; CREATE TABLE q (n int, v text); CREATE INDEX q_n ON q USING surfidx (n) INCLUDE (v);
		INSERT INTO q SELECT g, 'value ' || md5(g::text) FROM generate_series(1, 300) g");
	$node->safe_psql('postgres', "SELECT surfidx_merge('q_n')") if $merged;
	$file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('q_n')");
	$node->stop;
	my $bytes = slurp_file($file);
	my $md5 = 'f7177163c833dff4b38fc8d2872f1ec6';	# of 44
	ok($bytes =~ s/$md5/\U$md5/, 'damaged');
	write_index($bytes);
	$node->start;
	# where the cluster has checksums, they would find it first
	($rc, $out, $err) = $node->psql('postgres', "SET ignore_checksum_failure = on; SELECT surfidx_check('q_n', true, false)");
	is($rc, 0, 'another value: the index is sound in itself') or diag($err);
	($rc, $out, $err) = $node->psql('postgres', "SET ignore_checksum_failure = on; SELECT surfidx_check('q_n', true, true)");
	like($err, qr/index "q_n" is damaged.*block \d+.*which has other values in INCLUDE columns/, 'another value: found');
}
# "Damage reported badly": a TID that no row can have, a range of another type.
$node->safe_psql('postgres', <<'END');
CREATE TYPE otherrange AS RANGE (subtype = int4);
DROP TABLE IF EXISTS u;
CREATE TABLE u (n int, r int4range, m int);
INSERT INTO u SELECT g, int4range(g, g + 5), g FROM generate_series(1, 3) g;
CREATE INDEX u_n ON u USING surfidx (n);
CREATE INDEX u_r ON u USING surfidx (r);
CREATE INDEX u_m ON u USING surfidx (m);
INSERT INTO u SELECT g, int4range(g, g + 5), g FROM generate_series(4, 6) g;
END
my ($old, $new) = map { pack('L', $node->safe_psql('postgres', "SELECT '$_'::regtype::oid")) }
  'int4range', 'otherrange';
my %file_of = map { $_ => $node->data_dir . '/'
	  . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')") } 'u_n', 'u_r', 'u_m';
$node->stop;
foreach my $name (keys %file_of)
{
	my $bytes = slurp_file($file_of{$name});
	my $n = $name eq 'u_r' ? $bytes =~ s/\Q$old\E/$new/g : 0;

	# the log's first entry, of row (0,4): its offset, its block
	for my $b (0 .. length($bytes) / $BLCKSZ - 1)
	{
		next if $name eq 'u_r' || ord(substr($bytes, ($b + 1) * $BLCKSZ - 8, 1)) != 3;
		$n += $name eq 'u_n' ? substr($bytes, $b * $BLCKSZ + 47, 2) =~ s/\0\x04/pack('n', 2000)/e :
		  substr($bytes, $b * $BLCKSZ + 43, 6) =~ s/\0{5}\x04/pack('Nn', 1 << 24, 4)/e;
	}
	ok($n, "$name: damaged");
	open(my $f, '>:raw', $file_of{$name}) or die;
	print $f $bytes;
	close $f;
}
$node->start;
foreach my $case (
	[ 'u_n', 'SET enable_indexscan = off; SET enable_indexonlyscan = off;
		SELECT count(*) FROM u WHERE n > 3' ],
	[ 'u_n', 'SET enable_bitmapscan = off; SELECT count(r) FROM u WHERE n > 3' ],
	[ 'u_n', 'SET enable_bitmapscan = off; SELECT count(*) FROM u WHERE n > 3' ],
	[ 'u_m', 'SET enable_indexscan = off; SET enable_indexonlyscan = off;
		SELECT count(*) FROM u WHERE m > 3' ],
	[ 'u_m', 'SET enable_bitmapscan = off; SELECT count(r) FROM u WHERE m > 3' ],
	[ 'u_r', 'SELECT count(*) FROM u WHERE r = int4range(2, 7)' ],
	[ 'u_r', 'SELECT count(*) FROM u WHERE r > int4range(5, 10)' ])
{
	my ($name, $sql) = @$case;

	($rc, $out, $err) = $node->psql('postgres', "SET ignore_checksum_failure = on;
		SET enable_seqscan = off; \\set VERBOSITY verbose\n$sql");
	like($err, qr/ERROR:  XX002: .*/, "$sql: damage");
	like($err, qr/"$name"/, "$sql: of that index");
}
$node->safe_psql('postgres', 'DROP TABLE u');
# "The check was silent where a row's line pointer is gone": a key that is cut is in that row alone.
foreach my $keys ('full', 'cut')
{
	$node->safe_psql('postgres', <<"END");
DROP TABLE IF EXISTS u;
CREATE TABLE u (k int8) WITH (autovacuum_enabled = off);
CREATE INDEX u_k ON u USING surfidx (k) WITH (keys = $keys);
INSERT INTO u SELECT g::int8 * 7919 % 1000003 * 1000000 FROM generate_series(1, 3000) g;
SELECT surfidx_merge('u_k');
VACUUM u;
END
	my $path = $node->safe_psql('postgres', "SELECT pg_relation_filepath('u')");
	my $table = $node->data_dir . "/$path";
	$node->stop;
	my $bytes = slurp_file($table);
	substr($bytes, 4 * $BLCKSZ + 24 + 4 * 20, 4) = "\0" x 4;
	open(my $f, '>:raw', $table) or die "$table: $!";
	print $f $bytes;
	close $f;
	$node->start;
	($rc, $out, $err) = $node->psql('postgres',
		"SET ignore_checksum_failure = on; SELECT surfidx_check('u_k', true, true)");
	like($err, qr/index "u_k" is damaged.*entry for row \(4,21\), which does not exist/,
		"no line pointer, keys $keys: found");
}
$node->safe_psql('postgres', 'DROP TABLE u');

# "VACUUM passes silently over a damaged log page": the image is past it, so that no reader and no merge looks at it again, and dead
# entries after it would have kept TIDs that go to new rows.
$node->append_conf('postgresql.conf', "shared_buffers = 1MB");
foreach my $case ([ 'zeroed', sub { substr($_[0], $_[1] * $BLCKSZ, $BLCKSZ) = "\0" x $BLCKSZ } ],
	[ 'cut chain', sub { substr($_[0], ($_[1] + 1) * $BLCKSZ - 16, 4) = pack('L', 0xFFFFFFFF) } ])
{
	my ($name, $how) = @$case;

	$node->restart;
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS w; CREATE TABLE w (n int, pad text); CREATE INDEX w_n ON w USING surfidx (n);
		INSERT INTO w SELECT g, repeat('x', 200) FROM generate_series(1, 9000) g; DELETE FROM w WHERE n > 7500");
	my $count = "SET enable_seqscan = off; SELECT count(*) FROM w WHERE n > 0";
	is($node->safe_psql('postgres', $count), '7500', "log page, $name: the image knows all of the log");
	# what nobody uses leaves the buffers, and the file is all that is left
	$node->safe_psql('postgres', "CHECKPOINT; DROP TABLE IF EXISTS other; CREATE TABLE other (n int, pad text); INSERT INTO other SELECT g, repeat('x', 1000) FROM generate_series(1, 20000) g");
	$file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('w_n')");
	my $bytes = slurp_file($file);
	my @pages = grep { ord(substr($bytes, ($_ + 1) * $BLCKSZ - 8, 1)) == 3 } 0 .. length($bytes) / $BLCKSZ - 1;
	cmp_ok(scalar @pages, '>', 3, "log page, $name: of some");
	$how->($bytes, $pages[1]);
	write_index($bytes);
	($rc, $out, $err) = $node->psql('postgres', 'SET ignore_checksum_failure = on; VACUUM (INDEX_CLEANUP ON) w');
	isnt($rc, 0, "log page, $name: VACUUM does not pass over it");
	like($err, qr/index "w_n".*block \d+|block \d+.*"w_n"/, "log page, $name: the error tells where");
	is($node->safe_psql('postgres', "SELECT count(*) FROM w"), '7500', "log page, $name: no row is lost");
	$node->safe_psql('postgres', "REINDEX INDEX w_n; VACUUM w; $count");
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'no crash');
$node->safe_psql('postgres', 'REINDEX TABLE p; REINDEX TABLE q');
$node->stop;
done_testing();
