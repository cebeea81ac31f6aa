# A file system of its own for indexes that is full, at one block more or less: statements fail with disk_full or do their work,
# and what there was before is sound, also after a crash.  The file system is the test runner's: as root it mounts one.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SurfServer;
use Test::More;

my $disk = $ENV{SURFIDX_SMALL_DISK};
plan skip_all => 'there is no small file system (root can mount one)' unless $disk && -d $disk;

my $server = SurfServer->new(name => 'disk', conf => [ 'autovacuum = off', 'surfidx.auto_merge = off', "checkpoint_timeout = '1h'" ]);
my $ballast = "$disk/ballast";
my (%outcome, @wrong);
my $next = 1;

mkdir "$disk/space" or die "$disk/space: $!";
$server->start;
my $s = $server->session;
$s->value('CREATE EXTENSION surfidx; SELECT 1');
$s->query("CREATE TABLESPACE small LOCATION '$disk/space'");

sub rows
{
	my ($n) = @_;

	$next += $n;
	return "INSERT INTO t SELECT g, repeat(md5(g::text), 4), g FROM generate_series($next - $n, $next - 1) g";
}

sub make
{
	$s->query("DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text COLLATE \"C\", n numeric);
		CREATE UNIQUE INDEX t_k ON t USING surfidx (k) WITH (filter = bloom) TABLESPACE small; CREATE INDEX t_s ON t USING surfidx (s) WITH (filter = surf) TABLESPACE small;
		CREATE INDEX t_a ON t USING surfidx ((ARRAY[n])) INCLUDE (s) TABLESPACE small");
	my $r = $s->query(rows(3000) . "; SELECT surfidx_merge(i::regclass) FROM unnest(ARRAY['t_k', 't_s', 't_a']) i; " . rows(500));
	die "set-up: $r->{error}\n" if $r->{error};
	return;
}

# Leave so many blocks free.
sub leave
{
	my ($blocks) = @_;

	unlink $ballast;
	return if !defined $blocks;
	open(my $f, '>:raw', $ballast) or die "$ballast: $!";
	while ((syswrite($f, "\1" x 65536) // 0) == 65536) { }
	while ((syswrite($f, "\1" x 4096) // 0) == 4096) { }
	my $size = -s $f;
	truncate($f, $size - $size % 4096 - 8192 * $blocks) or die "truncate: $!";
	close $f;
	return;
}

sub sound
{
	my ($what) = @_;

	for my $index ('t_k', 't_s', 't_a')
	{
		my $r = $s->query("SELECT surfidx_check('$index', true, true)");

		push @wrong, "$what: check of $index: " . ($r->{lost} ? 'lost' : $r->{error}) if $r->{lost} || $r->{error};
	}
	my $r = $s->query("SET enable_seqscan = off; SELECT count(*) FROM t WHERE k > 0; SELECT count(*) FROM t WHERE s > ''; SELECT count(*) FROM t WHERE ARRAY[n] > ARRAY[0::numeric];
		RESET enable_seqscan; SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM t; RESET ALL");
	push @wrong, "$what: rows @{ $r->{rows} } $r->{error}" if join(' ', @{ $r->{rows} }) !~ /^(\d+) \1 \1 \1$/;
	return;
}

my @statements = (
	sub { rows(400) }, sub { "SELECT surfidx_merge('t_k')" }, sub { "SELECT surfidx_merge('t_s')" }, sub { "SELECT surfidx_merge('t_a')" }, sub { rows(2000) }, sub { "DELETE FROM t WHERE k % 3 = $next % 3" },
	sub { 'VACUUM (INDEX_CLEANUP ON) t' }, sub { 'REINDEX INDEX t_s' }, sub { 'REINDEX INDEX CONCURRENTLY t_k' }, sub { 'CREATE INDEX t_x ON t USING surfidx (n) TABLESPACE small' },
	# a sort that needs temporary files
	sub { "SET temp_tablespaces = small; SET maintenance_work_mem = '1MB'; CREATE INDEX t_x ON t USING surfidx ((s || s || s || k::text || s)) TABLESPACE pg_default; RESET temp_tablespaces; RESET maintenance_work_mem" },
	sub { "SET temp_tablespaces = small; SET maintenance_work_mem = '1MB'; CREATE INDEX t_x ON t USING surfidx ((ARRAY[s, s, s, k::text, s])) TABLESPACE pg_default; RESET temp_tablespaces; RESET maintenance_work_mem" },
	sub { 'CREATE UNLOGGED TABLE x (k int); CREATE INDEX ON x USING surfidx (k) TABLESPACE small; INSERT INTO x SELECT generate_series(1, 2000); DROP TABLE x' });

for my $blocks (0, 1, 2, 4, 9, 20, 45)
{
	leave(undef);
	make();
	leave($blocks);
	for my $statement (@statements)
	{
		my $sql = $statement->();
		my $r = $s->query($sql, 60);
		my $what = "$blocks blocks, " . substr($sql, 0, 60);

		$outcome{ $r->{error} || 'done' }++;
		push @wrong, "$what: " . ($r->{lost} ? 'lost' : $r->{error}) if $r->{lost} || $r->{error} !~ /^(?:53100)?$/;
		# what a failed one left behind
		$s->query("RESET ALL; DROP INDEX IF EXISTS t_x; DROP TABLE IF EXISTS x; DROP INDEX IF EXISTS t_k_ccnew");
		sound($what);
	}
	$s->end;
	leave(undef) if $blocks % 2;
	$server->stop('immediate');
	# recovery needs the room that every block before the crash had
	leave(undef);
	$server->start;
	$s = $server->session;
	sound("$blocks blocks, after a crash");
	for my $sql (rows(1000), "SELECT surfidx_merge('t_k'), surfidx_merge('t_s'), surfidx_merge('t_a')", 'VACUUM t')
	{
		my $r = $s->query($sql);

		push @wrong, "with room again: $sql: $r->{error}" if $r->{lost} || $r->{error};
	}
	sound("$blocks blocks, with room again");
}
is(join("\n", @wrong), '', 'statements fail with disk_full or do their work, and all is sound');
cmp_ok($outcome{53100} // 0, '>=', 15, 'statements that failed');
cmp_ok($outcome{done} // 0, '>=', 5, 'statements that did not');
note(join(', ', map { "$_: $outcome{$_}" } sort keys %outcome));
is(join('', $server->crashes), '', 'no crash');
$s->end;
$server->stop('immediate');
done_testing();
