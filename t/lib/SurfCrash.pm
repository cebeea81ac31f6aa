# Crash torture: sessions change, merge, vacuum and read at the same time, a random process is
# killed at a random moment, and after recovery every index must agree with its table.
#
#	my $crash = SurfCrash->new(seed => $seed, standby => 0, report => sub { ... });
#	my @problems = $crash->cycle($seconds);		empty: all is well
#
# Readers compare index and sequential scans in one snapshot all the while, so that wrong answers
# under concurrency are found as well as wrong pages after a crash.
package SurfCrash;

use strict;
use warnings;
use File::Path qw(remove_tree);
use POSIX ();
use Time::HiRes qw(sleep time);
use SurfServer;

# Where a test build (src/base/stop.h) can be made to crash.
my @stops = ('append', 'log page allocated', 'extended', 'unique checked', 'frozen', 'merge lock', 'swap', 'unlinked', 'group swapped', 'group merged',
	'drop generation', 'generation dropped', 'page given back', 'run dropped', 'log flagged', 'stage vacuumed', 'tree vacuumed', 'gate flipped', 'vacuum cleanup', 'parent split', 'epoch raised',
	'dictionary made', 'dictionary found', 'dictionary page moved');

use constant MAX_ROWS => 30000;

sub rnd { return int(rand($_[0])) }

sub chance { return rand() < $_[0] }

sub pick { return $_[ rnd(scalar @_) ] }

# Deletes of large tables take a share of a range only, or nothing would be left.
my $delete_share = '';
my $max_rows = MAX_ROWS;

# name => [ columns, rest of the definition, condition ]
my %indexes = (
	t_k => ['(k)', ''],
	t_s => ['(s)', ''],
	t_u => ['(u)', '', 'UNIQUE'],
	t_kb => ['(k DESC NULLS LAST, b) INCLUDE (v)', ''],
	t_l => ['(l, id)', ''],
	t_p => ['(d, v)', 'v % 3 = 0'],
	t_id => ['(id)', ''],
	t_c => ['(s COLLATE "en-x-icu", v)', ''],
	t_a => ['(a, k)', '']);

my @dictionaries = ('auto', 'auto', 'auto', 'off', 'single', 'double', '3grams', '4grams', 'alm', 'alm_improved', 'fsst');

# Storage parameters change all the while; what is not rewritten keeps its old form, so that leaves of several dictionaries stand side by side.
sub filter
{
	my $kind = pick('none', 'none', 'bloom', 'surf', 'surf');

	return "filter = $kind" . ($kind eq 'surf' && chance(0.5) ? ', surf_hash_bits = ' . rnd(5) . ', surf_real_bits = ' . rnd(9) : '') . ", hope = '" . pick(@dictionaries) . "', "
	  . pick('keys = full', 'keys = cut', 'size_limit = ' . pick(64, 200, 1000));
}

my $schema = <<'END';
CREATE EXTENSION surfidx;
CREATE SEQUENCE ids;
CREATE TABLE t (id int8 DEFAULT nextval('ids'), k int8, s text, u uuid, b bytea, l text, d timestamptz, v int4, a int4[] GENERATED ALWAYS AS (ARRAY[v % 10, v]) STORED)
	WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0.02);

-- Few keys, many sessions: no key may be there twice.
CREATE TABLE c (k int4, n int4, filler text);
CREATE UNIQUE INDEX c_k ON c USING surfidx (k) WITH (delta_size = 64);
END

my $functions = <<'END';
-- The same query by sequential scan and in the other ways, in one snapshot.
CREATE FUNCTION compare(query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	mode text;
	want text;
	got text;
	rows int8;
	got_rows int8;
BEGIN
	FOREACH mode IN ARRAY ARRAY['seqscan', 'indexscan', 'indexonlyscan', 'bitmapscan'] LOOP
		PERFORM set_config('enable_seqscan', (mode = 'seqscan')::text, true),
			set_config('enable_indexscan', (mode LIKE 'index%')::text, true),
			set_config('enable_indexonlyscan', (mode = 'indexonlyscan')::text, true),
			set_config('enable_bitmapscan', (mode = 'bitmapscan')::text, true);
		EXECUTE 'SELECT md5(string_agg(x::text, '' '' ORDER BY x::text)), count(*) FROM (' || query || ') x' INTO got, rows;
		IF mode = 'seqscan' THEN
			want := got;
			got_rows := rows;
		ELSIF got IS DISTINCT FROM want THEN
			RAISE EXCEPTION 'MISMATCH: % gives % rows, sequential scan %: %', mode, rows, got_rows, query;
		END IF;
	END LOOP;
END $$;

-- A cursor read in the order of the index while others write; the order and the number of rows must be right.
CREATE FUNCTION walk(query text, pages int, nap float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	want text[];
	got text[] := '{}';
	again text[];
	x text;
BEGIN
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
		set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'on', true);
	EXECUTE 'SELECT array_agg(x.x::text) FROM (' || query || ') x (x)' INTO want;
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true),
		set_config('enable_sort', 'off', true);
	OPEN c FOR EXECUTE query;
	LOOP
		FETCH c INTO x;
		EXIT WHEN NOT FOUND;
		got := got || x;
		IF array_length(got, 1) % pages = 0 THEN
			PERFORM pg_sleep(nap);
		END IF;
	END LOOP;
	IF got IS DISTINCT FROM coalesce(want, '{}') THEN
		-- (partitions come and go beside a snapshot)
		PERFORM set_config('enable_seqscan', 'on', true),
			set_config('enable_indexscan', 'off', true), set_config('enable_sort', 'on', true);
		EXECUTE 'SELECT array_agg(x.x::text) FROM (' || query || ') x (x)' INTO again;
	END IF;
	IF got IS DISTINCT FROM coalesce(want, '{}') AND again IS NOT DISTINCT FROM want THEN
		RAISE EXCEPTION 'MISMATCH: cursor gives % rows, sort %: %', array_length(got, 1), array_length(want, 1), query;
	END IF;
END $$;
END

# compare() and walk(), which any torture can use
sub functions { return $functions }

sub new
{
	my ($class, %opt) = @_;
	my $self = bless { seed => $opt{seed}, report => $opt{report} || sub { }, cycles => 0, rows_wanted => $opt{rows} || 8000, victims => {}, full_pages => 1, torn => 0 }, $class;
	srand($opt{seed});
	my @conf = ('restart_after_crash = on', 'autovacuum_naptime = 1s', 'max_wal_size = 1GB', 'checkpoint_timeout = 30s',
		"surfidx.delta_size = '128kB'", 'max_connections = 30', 'log_autovacuum_min_duration = -1',
		'wal_level = replica', 'wal_keep_size = 8GB', pick("shared_buffers = '2MB'", "shared_buffers = '128MB'"), @{ $opt{conf} || [] });

	if ($opt{rows})
	{
		$delete_share = ' AND v % 10 = 3';
		$max_rows = 4 * $opt{rows};
	}
	push @conf, "wal_consistency_checking = 'all'", 'hot_standby_feedback = ' . pick('on', 'on', 'off'), 'max_standby_streaming_delay = 60s' if $opt{standby};
	$self->{server} = SurfServer->new(name => 'crash', conf => \@conf);
	$self->{server}->start;
	$self->fill;
	$self->add_standby if $opt{standby};
	return $self;
}

sub fill
{
	my ($self) = @_;
	my $s = $self->{server}->session;

	$s->query($schema . $functions);
	# a function that is not there would be an error in the log
	$self->{stops} = $s->value("SELECT count(*) FROM pg_settings WHERE name = 'surfidx.mutants'");
	$s->query("CREATE FUNCTION stop_set(text, text, int) RETURNS void AS '\$libdir/surfidx', 'surfidx_stop_set' LANGUAGE C STRICT;
		CREATE FUNCTION stop_release(text) RETURNS void AS '\$libdir/surfidx', 'surfidx_stop_release' LANGUAGE C STRICT") if $self->{stops};
	for my $name (sort keys %indexes)
	{
		my ($columns, $where, $unique) = @{ $indexes{$name} };

		$s->value("CREATE " . ($unique || '') . " INDEX $name ON t USING surfidx $columns WITH (" . filter() . ')' . ($where ? " WHERE $where" : '') . "; SELECT 1");
	}
	$s->query(insert(4000)) for 1 .. $self->{rows_wanted} / 4000;
	$s->end;
}

sub add_standby
{
	my ($self) = @_;

	$self->{standby} = SurfServer->new(name => 'standby' . ++$self->{standbys}, base => $self->{server}{base}, primary => $self->{server},
		conf => ['hot_standby = on', 'restart_after_crash = on', "primary_conninfo = 'host=$self->{server}{base} port=$self->{server}{port} user=postgres'", @{ $self->{standby_conf} || [] }]);
	$self->{standby}->start;
}

# ------------------------------------------------------------------------------------------ what the sessions do

# Keys of several kinds, each of which wants another dictionary.
my @kinds = ("'path/' || h % 100 || '/' || md5(g::text)", "'path/' || h % 100 || '/' || md5(g::text)", "'https://www.example.org/documents/' || h % 1000 || '/page-' || g || '.html'",
	"upper(md5(h::text))", "'Invoice of ' || to_char('2020-01-01'::date + (h % 900)::int, 'Day, DD Month YYYY') || ' no. ' || h % 100000");

sub insert
{
	my ($n) = @_;
	my $salt = rnd(1e9);

	return "INSERT INTO t (k, s, u, b, l, d, v) SELECT h % " . pick(10, 1000, 4000000000) . ', ' . pick(@kinds) . ', md5(h::text)::uuid, '
	  . "substr(decode(md5(h::text), 'hex'), 1, (h % 6)::int), repeat(chr(97 + (h % 26)::int), 20 + (h % " . pick(20, 20, 300) . ")::int) || h % 50, "
	  . "'2020-01-01'::timestamptz + h % 100000 * interval '1 min', h % 1000 FROM (SELECT g, abs(hashint8extended(g, $salt)) h FROM generate_series(1, $n) g) x";
}

sub range
{
	my $x = rand();

	return 'id BETWEEN (SELECT last_value FROM ids) - ' . rnd(3000) . ' AND (SELECT last_value FROM ids)' if $x < 0.3;
	return 'k % 17 = ' . rnd(17) . ' AND v < 500' if $x < 0.45;
	return 'k < ' . rnd(20) if $x < 0.6;
	return "l LIKE '" . chr(97 + rnd(26)) . "%'" if $x < 0.8;
	return "s LIKE 'path/" . rnd(100) . "/%'";
}

# What sessions do to the same few keys; many of these must fail.
sub contend
{
	my $keys = pick(5, 50, 1000);
	my $x = rand();
	my $one = $x < 0.2 ? 'INSERT INTO c SELECT g * ' . pick(1, 7, 13) . " % $keys, 0, '' FROM generate_series(1, " . pick(1, 1, 3, 10) . ') g ON CONFLICT ' . pick('DO NOTHING', '(k) DO UPDATE SET n = c.n + 1', '(k) DO NOTHING')
	  : $x < 0.5 ? 'INSERT INTO c VALUES (' . rnd($keys) . ", 0, repeat('x', " . rnd(200) . '))'
	  : $x < 0.7 ? 'UPDATE c SET k = ' . rnd($keys) . ' WHERE k = ' . rnd($keys)
	  : $x < 0.8 ? 'UPDATE c SET n = n + 1 WHERE k < ' . rnd($keys)
	  : 'DELETE FROM c WHERE k BETWEEN ' . rnd($keys) . ' AND ' . rnd($keys);

	return $one if chance(0.5);
	return "BEGIN;\n$one;\nSELECT pg_sleep(" . rand(0.02) . ");\n" . pick('COMMIT', 'COMMIT', 'ROLLBACK');
}

# Two sessions that do this want the same new key nearly every time.
sub race
{
	return 'DELETE FROM c WHERE k >= ' . rnd(1000) if chance(0.01);
	return 'INSERT INTO c SELECT coalesce(max(k), 0) + 1 FROM c' . pick('', ' ON CONFLICT DO NOTHING');
}

# Stopped at any moment.
sub interrupted
{
	my ($sql) = @_;

	return "SET statement_timeout = " . (1 + rnd(40)) . ";\n$sql;\nRESET statement_timeout";
}

sub change
{
	my $x = rand();

	return contend() if $x < 0.2;
	return insert(1 + rnd(pick(5, 100, 1500))) if $x < 0.5;
	return 'UPDATE t SET k = k + 1, v = v + 1 WHERE ' . range() if $x < 0.62;
	return "UPDATE t SET s = s || 'x' WHERE " . range() . ' AND length(s) < 200' if $x < 0.65;
	# a whole kind of keys: nobody needs its dictionary any more
	return "DELETE FROM t WHERE s ~ '" . pick('^path/', '^https:', '^Invoice', '^[0-9A-F]{32}') . "'" if chance(0.01);
	return 'DELETE FROM t WHERE ' . range() . $delete_share if $x < 0.85;
	return "BEGIN;\n" . insert(100) . ";\nSAVEPOINT a;\n" . change() . ";\nROLLBACK TO a;\n" . insert(1 + rnd(20)) . ";\n" . pick('COMMIT', 'ROLLBACK') if $x < 0.95;
	return 'DELETE FROM t WHERE id < (SELECT last_value FROM ids) - ' . $max_rows;
}

# TRUNCATE is rare, or there is never much to check.
sub care
{
	my $x = rand();
	my $index = pick(sort(keys %indexes), 'c_k');

	return interrupted(care()) if chance(0.15);
	return "BEGIN;\nTRUNCATE t;\n" . insert(50) . ";\nROLLBACK" if chance(0.01);
	return 'VACUUM c' if chance(0.1);
	return "ALTER INDEX $index SET (" . filter() . ')' if chance(0.12);
	# size_limit counts where keys are not pinned
	return "ALTER INDEX $index RESET (keys)" if chance(0.06);
	return "SELECT surfidx_merge('$index')" if $x < 0.5;
	return 'VACUUM t' if $x < 0.75;
	return 'VACUUM (INDEX_CLEANUP ON) t' if $x < 0.9;
	return "REINDEX INDEX $index" if $x < 0.93;
	return "REINDEX INDEX CONCURRENTLY $index" if $x < 0.95;
	return 'CHECKPOINT' if $x < 0.98;
	return 'TRUNCATE t' if $x < 0.985;
	return 'DELETE FROM t WHERE id < (SELECT last_value FROM ids) - ' . $max_rows;
}

sub read_query
{
	my $x = rand();
	my $k = rnd(1000);

	return 'SELECT k FROM t WHERE k BETWEEN ' . rnd($k + 1) . " AND $k" if $x < 0.2;
	return "SELECT s FROM t WHERE s >= '" . pick('path/' . rnd(99), 'https://www.example.org/documents/' . $k, 'Invoice of ' . pick('M', 'S'), sprintf('%02X', rnd(256))) . "' AND s < 'path/" . rnd(99) . "'" if $x < 0.35;
	return 'SELECT k, b, v FROM t WHERE k IN (' . join(', ', map { rnd(12) } 1 .. 3) . ') AND b >= \'\x' . sprintf('%02x', rnd(256)) . "'" if $x < 0.5;
	return "SELECT id, k FROM t WHERE id BETWEEN " . join(' AND ', sort { $a <=> $b } rnd(100000), rnd(100000)) if $x < 0.53;
	return 'SELECT u FROM t WHERE u IN (SELECT md5(g::text)::uuid FROM generate_series(' . $k . ', ' . ($k + 20) . ') g)' if $x < 0.56;
	return 'SELECT a, k FROM t WHERE a >= ARRAY[' . rnd(10) . '] AND a < ARRAY[' . rnd(10) . ', ' . rnd(1000) . ']' if $x < 0.6;
	return "SELECT l, id FROM t WHERE l LIKE '" . chr(97 + rnd(26)) . "%'" if $x < 0.65;
	return "SELECT d, v FROM t WHERE v % 3 = 0 AND d > '2020-01-01'::timestamptz + " . rnd(100000) . " * interval '1 min'" if $x < 0.8;
	return "SELECT s, v FROM t WHERE s COLLATE \"en-x-icu\" BETWEEN 'path/" . rnd(99) . "' AND 'path/" . rnd(99) . "'" if $x < 0.85;
	# (the newest ones: what is in the delta)
	return 'SELECT id, k FROM t WHERE id = ANY (ARRAY(SELECT (SELECT max(id) FROM t) - g * ' . (1 + rnd(5)) . ' FROM generate_series(1, 300) g))' if $x < 0.88;
	return 'SELECT id, k, s, v FROM t WHERE id % 7 = ' . rnd(7) . ' AND k >= 0' if $x < 0.9;
	return 'SELECT id FROM t WHERE id > 0';
}

my @walks = ('SELECT k FROM t WHERE k IS NOT NULL ORDER BY k', 'SELECT k FROM t WHERE k < 500 ORDER BY k DESC', 'SELECT s FROM t ORDER BY s', 'SELECT s FROM t ORDER BY s DESC',
	'SELECT id FROM t WHERE id > 0 ORDER BY id', 'SELECT id FROM t ORDER BY id DESC', 'SELECT u FROM t ORDER BY u', 'SELECT l FROM t ORDER BY l, id',
	'SELECT s FROM t ORDER BY s COLLATE "en-x-icu", v');

sub read_one
{
	my $sql = chance(0.1) ? interrupted('SELECT count(*) FROM t') : chance(0.8) ? "SELECT compare(\$q\$" . read_query() . "\$q\$)" : "SELECT walk(\$q\$" . pick(@walks) . "\$q\$, " . pick(100, 1000) . ', ' . pick('0', '0.001', '0.01') . ')';

	return "BEGIN ISOLATION LEVEL REPEATABLE READ;\n$sql;\nCOMMIT";
}

# One psql with a long script; what goes wrong is in the server's log.
sub spawn
{
	my ($self, $server, $name, $make, $n) = @_;
	my $file = "$server->{base}/$server->{name}.$name.sql";

	open(my $f, '>', $file) or die "$file: $!\n";
	print $f "SET timezone = 'UTC';\n", map { $make->() . ";\n" } 1 .. $n;
	close $f;
	my $pid = fork();
	if ($pid == 0)
	{
		@SIG{ 'INT', 'TERM' } = ('DEFAULT', 'DEFAULT');
		delete @ENV{ grep { /^PG/ } keys %ENV };
		$ENV{PGAPPNAME} = $name;
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>', "$file.out");
		open(STDERR, '>&', \*STDOUT);
		exec("$server->{bin}/psql", '-X', '-q', '-A', '-t', '-h', $server->{base}, '-p', $server->{port}, '-U', 'postgres', '-d', 'postgres', '-f', $file)
		  or POSIX::_exit(127);
	}
	return $pid;
}

sub spawn_all
{
	my ($self, $seconds) = @_;
	my $n = int(200 * $seconds) + 50;
	my @pids = map { $self->spawn($self->{server}, "change$_", \&change, $n) } 1 .. 1 + rnd(3);

	push @pids, $self->spawn($self->{server}, 'care', \&care, $n);
	push @pids, map { $self->spawn($self->{server}, "race$_", \&race, 5 * $n) } 1 .. 2 if chance(0.3);
	push @pids, map { $self->spawn($self->{server}, "read$_", \&read_one, $n) } 1 .. 1 + rnd(2);
	push @pids, $self->spawn($self->{standby}, 'read', \&read_one, $n) if $self->{standby};
	return @pids;
}

# ------------------------------------------------------------------------------------------ killing

# Kill one process; whether it was the postmaster.
sub kill_one
{
	my ($self) = @_;
	my $server = $self->{server};
	my $children = $server->children;
	my $postmaster = $server->postmaster_pid;
	my (@workers, @backends, @others);

	for my $pid (sort keys %$children)
	{
		my $title = $children->{$pid};

		if ($title =~ /surfidx/) { push @workers, $pid }
		elsif ($title =~ /postgres postgres/ || $title =~ /autovacuum worker/) { push @backends, $pid }
		elsif ($title ne '' && $title !~ /walsender/) { push @others, $pid }
	}
	my $x = rand();
	my @from = $x < 0.4 ? ($postmaster) : $x < 0.6 && @workers ? @workers : $x < 0.92 && @backends ? @backends : @others;
	my $victim = pick(@from ? @from : $postmaster);
	my $title = $victim == $postmaster ? 'postmaster' : $children->{$victim} =~ s/ \[local\]//r =~ s/^postgres: //r;

	$self->{victims}{ $title =~ /^(surfidx|postmaster|postgres|autovacuum worker|[a-z]+)/ ? $1 : $title }++;
	$self->{report}->("killing $title");
	kill 'KILL', $victim;
	if ($victim == $postmaster)
	{
		# Those that are left finish what they are at, or are killed as well.
		sleep rand(0.1) if chance(0.5);
		$server->kill_all;
		return 1;
	}
	my $end = time + 30;

	# The postmaster ends all others, too, when one of them crashes (and not when the victim was at its end anyway).
	sleep 0.01 while kill(0, $victim) && time < $end;
	$end = time + 10;
	sleep 0.01 while time < $end && grep { kill(0, $_) } keys %$children;
	return 0;
}

# Up again, and able to answer.
sub wait_up
{
	my ($self, $server) = @_;
	my $end = time + 120;
	my $last = '';

	while (time < $end)
	{
		my $s = $server->session;
		my $r = $s->query('SELECT 1', 10);

		$s->end;
		return undef if !$r->{lost} && !$r->{error} && @{ $r->{rows} } && $r->{rows}[0] eq '1';
		$last = join(' ', @{ $r->{rows} });
		return "the server $server->{name} is gone: $last" unless $server->postmaster_alive;
		sleep 0.05;
	}
	return "the server $server->{name} does not come up: $last";
}

# ------------------------------------------------------------------------------------------ checking

# What is wrong with that statement in a snapshot of its own.
sub try_sql
{
	my ($self, $server, $s, $sql) = @_;
	my $r;

	for (1 .. 10)
	{
		$r = $s->query("\\set VERBOSITY verbose\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n$sql;\nROLLBACK");
		# without feedback, what VACUUM removes on the primary ends queries on a standby; and replay may be too fast for the check
		last if $server == $self->{server} || $r->{error} !~ /^(?:40001|55006)\z/;
	}
	return () unless $r->{error} || $r->{lost};
	return "$server->{name}: $sql: " . join(' ', $r->{error}, @{ $r->{rows} });
}

sub check_server
{
	my ($self, $server) = @_;
	my $s = $server->session;
	my @problems;

	for my $name (sort keys %indexes)
	{
		my ($columns, $where) = @{ $indexes{$name} };
		my $list = $columns =~ s/\) INCLUDE \(/, /r =~ s/ DESC NULLS LAST//r;
		my $order = ($columns =~ s/ INCLUDE.*//r) =~ tr/()//dr;
		my $filter = $where ? "WHERE $where" : '';
		# the columns that the order determines
		my $keys = $order =~ s/ DESC NULLS LAST//r;

		for my $sql ("SELECT compare(\$q\$SELECT " . ($list =~ tr/()//dr) . " FROM t $filter\$q\$)",
			"SELECT walk(\$q\$SELECT ($keys)::text FROM t $filter ORDER BY $order\$q\$, 1000000, 0)",
			"SELECT surfidx_check('$name', true, true)")
		{
			push @problems, $self->try_sql($server, $s, $sql);
		}
	}
	push @problems, "$server->{name}: key $_ is there twice"
	  for @{ $s->query('SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT k FROM c GROUP BY k HAVING count(*) > 1')->{rows} };
	for my $sql ('SELECT compare($$SELECT k FROM c WHERE k >= 0$$)', "SELECT surfidx_check('c_k', true, true)")
	{
		push @problems, $self->try_sql($server, $s, $sql);
	}
	$s->end;
	return @problems;
}

sub wait_for_standby
{
	my ($self) = @_;
	my $s = $self->{server}->session;
	my $lsn = $s->value('SELECT pg_current_wal_insert_lsn()');
	my $end = time + 120;

	$s->value('SELECT 1 FROM pg_switch_wal()');
	$s->end;
	$s = $self->{standby}->session;
	while (time < $end)
	{
		my $r = $s->query("SELECT pg_last_wal_replay_lsn() >= '$lsn'", 10);

		return () if @{ $r->{rows} } && $r->{rows}[0] eq 't';
		return ('the standby is gone') if $r->{lost};
		sleep 0.05;
	}
	return ('the standby does not follow');
}

# Errors in the log that no torture explains, since the last look.
sub log_problems
{
	my ($self, $server) = @_;
	my @found;

	open(my $f, '<', $server->{log}) or return ();
	seek($f, $server->{log_seen} || 0, 0);
	while (my $line = <$f>)
	{
		push @found, "log of $server->{name}: $line" if $line =~ /TRAP:|PANIC:|MISMATCH|inconsistent page|was terminated by signal (?!9:)|(?:ERROR|FATAL): .*(?:surfidx|damaged|corrupt|unexpected|could not (?:read|find|open|access)|failed to)|ERROR: +(?:XX|invalid)/
		  && $line !~ /could not (?:receive|send|connect|open relation with OID)|is not valid|terminating|unexpected (?:postmaster exit|EOF)/;
	}
	$server->{log_seen} = tell($f);
	close $f;
	return @found;
}

# ------------------------------------------------------------------------------------------ one cycle

sub cycle
{
	my ($self, $seconds) = @_;
	my $server = $self->{server};
	my @pids = $self->spawn_all($seconds);
	my @problems;

	$self->{cycles}++;
	if ($self->bring_down($seconds * (0.2 + rand(0.8))))
	{
		$self->{torn} += $server->tear(0.2) if $self->{full_pages} && chance(0.5);
		# kill -9 tears no page: recovery without full pages must do as well (but checking WAL without them stumbles over truncated tables)
		$self->{full_pages} = !$self->{full_pages} unless $self->{standby};
		$server->configure('full_page_writes = ' . ($self->{full_pages} ? 'on' : 'off'));
		eval { $server->start; 1 } or push @problems, "start: $@";
	}
	push @problems, $self->disturb_standby if $self->{standby} && !@problems;
	kill 'TERM', @pids;
	waitpid($_, 0) for @pids;
	for ($server, $self->{standby} || ())
	{
		my $down = $self->wait_up($_) unless @problems;
		push @problems, $down if $down;
	}
	push @problems, $self->check_server($server) unless @problems;
	if ($self->{standby} && !@problems)
	{
		push @problems, $self->wait_for_standby;
		push @problems, $self->check_server($self->{standby}) unless @problems;
	}
	push @problems, map { $self->log_problems($_) } $server, $self->{standby} || ();
	# an invalid index that an interrupted REINDEX CONCURRENTLY left is not needed any more
	$self->tidy unless @problems;
	push @problems, $self->lost_blocks if !@problems && chance(0.3);
	push @problems, $self->change_places if $self->{standby} && !@problems && chance(0.04);
	push @problems, map { $self->log_tail($_) } $server, $self->{standby} || () if @problems;
	return @problems;
}

# Let the sessions work that long, or until somebody comes to a stop point in a test build; then kill something.  True: the postmaster is down.
sub bring_down
{
	my ($self, $seconds) = @_;
	my $server = $self->{server};
	my $end = time + $seconds;
	my $point = $self->{stops} && chance(0.6) ? pick(@stops) : undef;

	# a dictionary is not made every second
	$server->query_once("SELECT stop_set('$point', 'crash', " . rnd($point =~ /^dictionary (?!found)/ ? 2 : pick(3, 20, 1000)) . ')') if $point;
	$self->{standby}->query_once("SELECT stop_set('page of group redone', 'crash', " . rnd(100) . ')') if $self->{standby} && $self->{stops} && chance(0.3);
	sleep 0.02 while time < $end && (!$point || $server->postmaster_alive);
	$server->query_once("SELECT stop_release('$point')") if $point && $server->postmaster_alive;
	if ($point && !$server->postmaster_alive)
	{
		$self->{victims}{"at \"$point\""}++;
		$self->{report}->("crash at $point");
		$server->kill_all;
		return 1;
	}
	return $self->kill_one;
}

# The standby is killed now and then, half of its pages torn; it comes back by itself as any standby does.
sub disturb_standby
{
	my ($self) = @_;
	my $standby = $self->{standby};
	my @problems;

	$standby->query_once("SELECT stop_release('page of group redone')") if $self->{stops} && $standby->postmaster_alive;
	return () if $standby->postmaster_alive && chance(0.7);
	$self->{victims}{ $standby->postmaster_alive ? 'standby' : 'standby in redo' }++;
	$self->{report}->('killing the standby');
	if ($standby->postmaster_alive && chance(0.5))
	{
		$standby->stop(pick('fast', 'immediate'));
	}
	else
	{
		$standby->kill_all;
		$self->{torn} += $standby->tear(0.2) if chance(0.5);
	}
	return () if eval { $standby->start; 1 };
	push @problems, "start of the standby: $@";
	if ($self->core_stumbles($standby))
	{
		$self->{victims}{'standby made anew'}++;
		remove_tree($standby->{data});
		$self->wait_up($self->{server});
		$self->add_standby;
		@problems = ();
	}
	return @problems;
}

# Redo that begins in the middle of another one finds tables cut off that its first records write to; the server's check of their
# pages (wal_consistency_checking) takes zeros for damage then.  True: the last that it said is that, of a record that is not ours.
sub core_stumbles
{
	my ($self, $server) = @_;

	return $self->log_tail($server) =~ /FATAL:  invalid page pd_lower 0 pd_upper 0 pd_special 0\n(?:[^\n]*\n){1,6}\z/ && $self->last_redo($server) !~ /surfidx/;
}

# The record at which redo stopped.
sub last_redo
{
	my ($self, $server) = @_;
	my $last = 'surfidx: nothing said';

	open(my $f, '<', $server->{log}) or return $last;
	while (<$f>) { $last = $1 if /CONTEXT:  WAL redo at \S+ for (\S+)/ }
	close $f;
	return $last;
}

# The standby is promoted, the primary is gone, and a new standby is made of it.
sub change_places
{
	my ($self) = @_;
	my $old = $self->{server};
	my @problems = $self->promote;

	return @problems if @problems;
	$self->{victims}{promotion}++;
	remove_tree($old->{data});
	$self->add_standby;
	return ();
}

# What a server has said last.
sub log_tail
{
	my ($self, $server) = @_;
	my @lines;

	open(my $f, '<', $server->{log}) or return ();
	while (<$f>)
	{
		push @lines, $_ unless /STATEMENT|canceling statement|CONTEXT/;
		shift @lines if @lines > 30;
	}
	close $f;
	return join('', "end of the log of $server->{name}:\n", @lines);
}

sub tidy
{
	my ($self) = @_;
	my $s = $self->{server}->session;
	my $r = $s->query("SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid AND indrelid = 't'::regclass");

	$s->query("DROP INDEX $_") for @{ $r->{rows} };
	$self->{rows} = $s->value('SELECT count(*) FROM t');
	$self->count_dictionaries($s);
	$s->end;
}

# After a VACUUM every block is somebody's, or in the free space map (which crashes make forget).
sub lost_blocks
{
	my ($self) = @_;
	my $s = $self->{server}->session;
	my @lost;

	# a merge in the background may just be giving some back
	for (1 .. 5)
	{
		my $r = $s->query("\\set VERBOSITY terse\nSET client_min_messages = warning;\nVACUUM t;\nVACUUM c;\nSET client_min_messages = debug1;\n" . join('', map { "SELECT surfidx_check('$_');\n" } sort(keys %indexes), 'c_k'), 300);

		@lost = grep { /index "\w+": .* [1-9]\d* free blocks for the free space map/ } @{ $r->{rows} };
		last unless @lost;
	}
	$s->end;
	return map { "after VACUUM: $_" } @lost;
}

# How many were made (the highest number that was seen of each build), and how many of those are gone.
sub count_dictionaries
{
	my ($self, $s) = @_;

	for my $row (@{ $s->query("SELECT pg_relation_filenode(c.oid), count(*), max(d.dictionary) FROM pg_class c, surfidx_dictionaries(c.oid) d
		WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'surfidx') GROUP BY 1")->{rows} })
	{
		my ($file, $listed, $last) = split /\|/, $row;

		$self->{dictionaries}{$file} = [$last, $last - $listed];
	}
}

# "N dictionaries, N of them dropped"
sub dictionaries
{
	my ($self) = @_;
	my ($made, $dropped) = (0, 0);

	for (values %{ $self->{dictionaries} })
	{
		$made += $_->[0];
		$dropped += $_->[1];
	}
	return "$made dictionaries, $dropped of them dropped";
}

# The standby becomes a primary and must be as good as one.
sub promote
{
	my ($self) = @_;
	my $standby = $self->{standby};

	$self->{server}->stop('immediate');
	$standby->command('pg_ctl', '-D', $standby->{data}, '-w', 'promote');
	$self->{standby} = undef;
	$self->{server} = $standby;
	$self->after_promotion;
	return ($self->check_server($standby), $self->log_problems($standby));
}

# What it takes as a primary.
sub after_promotion
{
	my ($self) = @_;
	my $s = $self->{server}->session;

	$s->query(insert(500));
	$s->query('DELETE FROM t WHERE v % 5 = 0');
	$s->query('VACUUM t');
	$s->query("SELECT surfidx_merge('$_')") for keys %indexes;
	$s->end;
	return;
}

sub end
{
	my ($self) = @_;

	$_->stop('immediate') for grep { defined } $self->{standby}, $self->{server};
}

1;
