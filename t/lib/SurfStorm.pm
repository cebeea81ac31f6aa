# A storm: sessions that do everything at once to hundreds of surfidx indexes, beside a standby,
# with cancels and kills, while index scans are held against sequential scans of one snapshot.
#
#	my $storm = SurfStorm->new(seed => $seed, tables => 40, standby => 1);
#	my @problems = $storm->cycle($seconds);		empty: all is well
#	@problems = $storm->look(1);					everything, at rest
#
# The extension is in a schema of its own, or in public, by the seed.  A tenth of the tables begin
# empty.
#
# Each table lives in a schema of its own as "t", so that the tables, changes and queries are those
# of SurfDiff; killing, restarting, tearing pages and standbys are SurfCrash's.  A seed leads to the
# same tables and to the same statements of each session, but not to the same moments.
#
# What may go wrong is listed by SQLSTATE (%expected); errors are found in the server's log, so that
# those of workers and of autovacuum are seen, too.
package SurfStorm;

use strict;
use warnings;
use List::Util  qw(max min shuffle sum);
use POSIX       ();
use Time::HiRes qw(sleep time);
use SurfCrash;
use SurfDiff;
use SurfServer;

our @ISA = ('SurfCrash');

# seconds that a session waits for a lock, and that a statement has
use constant LOCK_SECONDS      => 2;
use constant STATEMENT_SECONDS => 20;

sub rnd { return int(rand($_[0])) }

sub chance { return rand() < $_[0] }

sub pick { return $_[ rnd(scalar @_) ] }

# ---------------------------------------------------------------------- what may go wrong

# SQLSTATE => why.  Others are failures.
my %expected = (
	'21000' => 'ON CONFLICT would change a row twice',
	'22'    => 'values that the generator makes do not fit everywhere',
	'23505' => 'keys meet',
	'23514' => 'a row that fits no partition',
	'25P02' => 'the rest of a transaction that has failed',
	'3F000' => 'a schema that is being made anew',
	'40001' => 'serialization, or a conflict with recovery',
	'40P01' => 'deadlock',
	'42P01' => 'tables come and go',
	'42P07' => '... and come twice',
	'42701' => 'a column whose removal a crash has forestalled',
	'42704' => 'so do indexes and prepared transactions',
	'42710' => '... and come twice',
	'42P06' => 'so do schemas',
	'42P10' => 'ON CONFLICT without its index',
	'55006' => 'a table in use by the session itself',
	'55P03' => 'lock_timeout',
	'57014' => 'cancelled, or statement_timeout',
	'57P01' => 'terminated',
	'57P02' => 'a crash of another process',
	'57P03' => 'starting up or shutting down',
	'08'    => 'the other end is gone'
);

# A minute in the suite is no search: which statements meet is chance, and there are refusals of core
# that no storm has met yet.  It looks for what is broken.
our $brief = 0;

# Messages of core's, of other states, that concurrent DDL leads to on btree as well.
my @expected_messages = (

	# a relation is dropped between its name's or oid's lookup and its lock
	qr/XX000 .*(?:could not open relation with OID|relation with OID \d+ does not exist)/,
	qr/XX000 .*(?:cache lookup failed for|could not find tuple for)/,
	qr/XX000 .*tuple concurrently (?:updated|deleted)/,

	# CLUSTER and VACUUM FULL of what somebody is dropping; ALTER TABLE of a partition
	qr/55000 .*(?:cannot (?:cluster|vacuum)|is not (?:valid|ready)|invalid index|pending trigger|cannot complete detaching)/,
	qr/0A000 .*(?:during recovery|cluster on (?:partial|invalid)|partitioned table)/,
	qr/0A000 .*(?:cannot PREPARE|column used by a view)/,

	# our functions on a standby
	qr/55000 .*is unlogged: a standby has nothing of it/,

	# constraints and their indexes
	qr/2BP01 .*because constraint/,
	qr/55000 .*(?:already associated with a constraint|deferrable unique constraints)/,
	qr/42809 .*is not unique/,
	qr/42809 .*(?:is not a partition|is already a partition|partition|not an index)/,
	qr/42P17 .*(?:partition|overlap)/,

	# partitions whose detachment has begun, by another session or one that was cancelled
	qr/55000 .*(?:pending detach|incomplete detach|cannot detach partition)/,

	# what an interrupted REINDEX CONCURRENTLY has left of a TOAST table's index
	qr/XX002 .*cannot reindex invalid index "pg_toast/,

	# the limit of entries' sizes, which the generator comes near to
	qr/54000 .*index row/,

	# conversions: too many; of what has changed meanwhile; and indexes that are btrees for a while
	qr/53000 .*conversions go on or wait/,
	qr/55000 .*cannot be exchanged/,
	qr/42809 .*is not a surfidx index/,

	# a parallel worker that comes to find its leader gone
	qr/55000 .*could not attach to (?:dynamic shared area|a SharedFileSet)/,
	qr/55000 .*could not map dynamic shared memory segment/,

	# prepared transactions, of this session or another one
	qr/55000 .*prepared transaction/,

	# (core_trips)
	qr/58P02 could not create file .*File exists/,

	# tablespaces without links, for which there would be no two places on one machine
	qr/XX001 unexpected directory entry .* in pg_tblspc/,

	# a standby without its primary
	qr/(?:could not (?:connect|receive|send data)|streaming|walreceiver|terminating)/
);

# A parallel leader that finds its postmaster gone ends twice.
my $core_traps = qr/TRAP: .*IsTransactionOrTransactionBlock.*pgstat\.c/;

# ---------------------------------------------------------------------- a storm

my $prefix = "log_line_prefix = '%m [%p] %a %e '";
my @conf   = (
	'restart_after_crash = on',
	'autovacuum_naptime = 1s',
	'max_wal_size = 1GB',
	'checkpoint_timeout = 30s',
	'max_connections = 60',
	'max_prepared_transactions = 30',
	'max_locks_per_transaction = 512',
	'max_worker_processes = 16',
	'max_parallel_workers = 8',
	'wal_level = replica',
	'wal_keep_size = 4GB',
	'allow_in_place_tablespaces = on',
	$prefix,
	'log_autovacuum_min_duration = -1',
	'log_checkpoints = off',
	'deadlock_timeout = 200ms',
	"max_standby_streaming_delay = 10s",
	'hot_standby = on',
	'jit = off',
	"search_path = '\"\$user\", public, ext'"
);

# tables, size (bytes of a table from which on it grows no more), sessions,
# skip => [kinds of statements], weight => { kind => how often, as in @kinds }
sub new
{
	my ($class, %opt) = @_;
	my $self = bless {
		seed         => $opt{seed},
		report       => $opt{report} || sub { },
		cycles       => 0,
		victims      => {},
		full_pages   => 1,
		torn         => 0,
		tables       => $opt{tables}   || 40,
		size         => $opt{size}     || 1 << 20,
		workers      => $opt{sessions} || 6,
		weight       => $opt{weight} || {},
		skip         => { map { $_ => 1 } @{ $opt{skip} || [] } },
		errors       => {},
		sleepers     => [],
		standby_conf => [$prefix]
	}, $class;

	srand($opt{seed});
	$self->{server} = SurfServer->new(
		name => 'storm',
		conf => [
			@conf,
			"surfidx.delta_size = '" . pick('64kB', '128kB', '1MB') . "'",
			"shared_buffers = '" . pick('4MB', '128MB') . "'",
			$opt{standby}                ? ('hot_standby_feedback = ' . pick('on', 'off')) : (),
			$opt{standby} && chance(0.5) ? ("wal_consistency_checking = 'surfidx'")        : (),
			@{ $opt{conf} || [] }
		]
	);
	$self->{server}->start;
	SurfDiff::spare_assertions($self->{server});
	$self->{cases} = [ map { make_case($_, 1000 * $opt{seed} + $_) } 1 .. $self->{tables} ];
	srand($opt{seed});
	$self->fill;
	$self->add_standby if $opt{standby};
	return $self;
}

# once(): the query must find nothing.  storm_index: our indexes, with what their keys are.
my $helpers = <<'END';
CREATE FUNCTION once(query text) RETURNS void LANGUAGE plpgsql
	SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off AS $$
DECLARE
	x record;
BEGIN
	FOR x IN EXECUTE query LOOP
		RAISE EXCEPTION 'MISMATCH: twice in a unique index: %: %', x, query;
	END LOOP;
END $$;
CREATE VIEW storm_index AS
SELECT c.oid, c.oid::regclass AS name, c.relnamespace::regnamespace::text AS schema,
	c.relpersistence AS persistence, c.relispartition AS child, indisvalid AS valid,
	indisready AS ready, indisunique AND t.relkind = 'r' AS holds, indrelid::regclass AS tab,
	coalesce(' WHERE ' || pg_get_expr(indpred, indrelid), '') AS pred,
	k.keys, CASE WHEN indnullsnotdistinct THEN '' ELSE k.not_null END AS not_null
FROM pg_index i
	JOIN pg_class c ON c.oid = i.indexrelid
	JOIN pg_class t ON t.oid = i.indrelid
	JOIN pg_am a ON a.oid = c.relam,
	LATERAL (
		SELECT string_agg(def, ', ' ORDER BY n) AS keys,
			string_agg(format(' AND NOT (%s) IS NULL', def), '') AS not_null
		FROM generate_series(1, indnkeyatts) n, LATERAL pg_get_indexdef(indexrelid, n, false) def) k
WHERE amname = 'surfidx' AND c.relkind = 'i' AND NOT pg_is_other_temp_schema(c.relnamespace);
END

my %id_column = (
	name   => 'id',
	type   => 'int4',
	base   => 'int4',
	kind   => 'serial',
	nulls  => 0,
	maxlen => 20,
	pool   => [ 1 .. 20 ]
);

# A table of SurfDiff's with more indexes, perhaps partitioned, perhaps with a materialized view.
sub make_case
{
	my ($n, $seed) = @_;
	my $case    = SurfDiff::make_case($seed, 0.3);
	my $indexes = $case->{indexes};

	$case->{schema}      = "s$n";
	$case->{parts}       = chance(0.15)   ? 4  : 0;
	$case->{persistence} = $case->{parts} ? '' : pick('', '', '', '', 'UNLOGGED');
	$case->{view}        = chance(0.15);
	$case->{unique}      = 0 if $case->{parts};
	push @$indexes, SurfDiff::make_index($case, scalar @$indexes) while @$indexes < 3 + $n % 6;
	$_->{unique} = $_->{not_distinct} = 0 for $case->{parts} ? @$indexes : ();
	push @$indexes,
		{
		name    => 't_uid',
		unique  => 1,
		keys    => [ { col => \%id_column } ],
		include => [],
		where   => ''
		}
		if !$case->{parts} && chance(0.5);
	$case->{big} = $n % 10 == 1;
	$case->{empty} = $n % 10 == 2;
	return $case;
}

my $collation =
	"CREATE COLLATION public.nocase (provider = icu, locale = 'und-u-ks-level2',"
	. " deterministic = false); CREATE TYPE public.pair AS (number int4, word text)";

sub fill
{
	my ($self) = @_;
	my $s = $self->{server}->session;

	$s->value('CREATE SCHEMA ext; CREATE EXTENSION surfidx SCHEMA '
			. ($self->{seed} % 2 ? 'ext' : 'public') . "; $collation; SELECT 1");
	$s->value(SurfCrash::functions() . "$helpers; SELECT 1");
	$s->value("CREATE TABLESPACE ts$_ LOCATION ''; SELECT 1") for 1, 2;
	for my $case (@{ $self->{cases} })
	{
		# what a table of random types does not take is its seed's affair
		$s->query("$_;") for $self->creation($case);
	}
	$s->end;
}

# All statements that make such tables, for other attacks than ours.
sub schema
{
	my ($class, $seed, $tables) = @_;
	my $self  = bless { size => 1 << 20 }, $class;
	my @cases = map { make_case($_, 1000 * $seed + $_) } 1 .. $tables;

	srand($seed);
	return map {"$_;\n"} $collation, map { $self->creation($_) } @cases;
}

# The statements that make a table with its indexes.
sub creation
{
	my ($self, $case) = @_;
	my $columns = join(', ', 'id int4', map {"$_->{name} $_->{type}"} @{ $case->{columns} });
	my @sql     = (
		"CREATE SCHEMA $case->{schema}",
		"SET search_path = $case->{schema}, public, ext",
		# (by its full name: without the schema the next one on the path would take it)
		"CREATE $case->{persistence} TABLE $case->{schema}.t ($columns)"
			. (
			  $case->{parts} ? ' PARTITION BY HASH (id)'
			: chance(0.2)    ? ' WITH (parallel_workers = 2)'
			:                  ''
			)
	);
	my $early   = chance(0.5);
	my @indexes = map { index_statement($case, $_, '') } @{ $case->{indexes} };

	push @sql, map {
		"CREATE TABLE $case->{schema}.t_p$_ PARTITION OF t"
			. " FOR VALUES WITH (MODULUS $case->{parts}, REMAINDER $_)"
	} 0 .. $case->{parts} - 1;
	push @sql, @indexes if $early;
	push @sql, $self->bulk($case, $case->{big} ? 20000 : 300) unless $case->{empty};
	push @sql, @indexes unless $early;
	push @sql,
		"CREATE MATERIALIZED VIEW $case->{schema}.v AS"
		. ' SELECT id, count(*) AS n FROM t GROUP BY id',
		'CREATE UNIQUE INDEX v_id ON v USING surfidx (id)',
		'CREATE INDEX v_n ON v USING surfidx (n, id)'
		if $case->{view};
	return @sql;
}

sub index_statement
{
	my ($case, $ix, $how) = @_;
	my $options = chance(0.6) ? SurfDiff::storage_parameters() : '';

	$options = '' if $case->{parts} && chance(0.5);
	return SurfDiff::index_sql($ix, 't', 'surfidx', $options) =~
		s/ INDEX / INDEX $how IF NOT EXISTS /r;
}

# ---------------------------------------------------------------------- many rows at once

# type => expressions over g, ascending, and h, a random int8 that is not negative
my %bulk = (
	int2 => [ '(h % 30000)::int2',      '(g % 30000)::int2' ],
	int4 => [ '(h % 2000000000)::int4', 'g::int4', '(h % 100)::int4' ],
	int8 => [ 'h',                      'g',       'h % 1000' ],
	text => [
		'md5(h::text)',
		"'/usr/share/doc/' || h % 100 || '/' || g",
		"'http://www.example.org/' || lpad(g::text, 9, '0')"
	],
	bytea     => [ "decode(md5(h::text), 'hex')", 'int8send(g)' ],
	name      => ['md5(h::text)::name'],
	date      => [ "date '2000-01-01' + (h % 9000)::int4", "date '2000-01-01' + (g % 9000)::int4" ],
	timestamp => [
		"timestamp '2000-01-01' + h % 100000000 * interval '1 s'",
		"timestamp '2000-01-01' + g * interval '1 s'"
	],
	timestamptz => [
		"timestamptz '2000-01-01' + h % 100000000 * interval '1 s'",
		"timestamptz '2000-01-01' + g * interval '1 s'"
	],
	uuid     => ['md5(h::text)::uuid'],
	numeric  => [ '(h % 100000) / 100.0', 'g' ],
	float8   => [ 'h % 100000 / 7.0',     'g' ],
	float4   => [ 'h % 1000 / 8.0',       'g % 1000' ],
	oid      => ['(h % 4000000000)::oid'],
	bool     => ['h % 2 = 0'],
	inet     => ["('10.0.' || h % 256 || '.' || h / 256 % 256)::inet"],
	interval => ["h % 1000 * interval '1 h'"],
	time     => ["time '00:00' + h % 86000 * interval '1 s'"],
	jsonb    => ['to_jsonb(h % 1000)'],
	'int4[]' => ['ARRAY[h % 10, h % 7]::int4[]'],
	pair     => ["ROW(h % 50, chr(97 + (h % 7)::int4))::pair", "ROW(g, NULL)::pair"]
);

sub bulk
{
	my ($self, $case, $n) = @_;
	my $size   = $self->{size} * ($case->{big} ? 16 : 1);
	my $salt   = rnd(1e9);
	my $from   = $case->{next_id};
	my @values = map {
		$bulk{ $_->{base} }
			? pick(@{ $bulk{ $_->{base} } })
			: SurfDiff::quote(pick(@{ $_->{pool} }))
			. "::$_->{base}"
	} @{ $case->{columns} };

	$case->{next_id} += $n if $n < 1000;
	@values =
		map { chance($case->{unique} ? 0 : 0.2) ? "CASE WHEN h % 10 > 2 THEN $_ END" : $_ } @values;
	return
		  'INSERT INTO t SELECT '
		. join(', ', 'g::int4', @values)
		. " FROM (SELECT g, hashint8extended(g, $salt) & 9223372036854775807 h"
		. " FROM generate_series($from, "
		. ($from + $n - 1)
		. ') g) x WHERE '
		. ($case->{parts} ? 'true'                    : "pg_relation_size('t') < $size")
		. (chance(0.9)    ? ' ON CONFLICT DO NOTHING' : '');
}

# ---------------------------------------------------------------------- what sessions do

# name => [weight, method]: the method does it.
my @kinds = (
	change      => 20,
	bulk        => 4,
	compare     => 20,
	aggregate   => 10,
	transaction => 14,
	maintenance => 10,
	index       => 4,
	rewrite     => 4,
	tablespace  => 3,
	persistence => 2,
	partition   => 3,
	view        => 2,
	merge       => 5,
	vacuum      => 4,
	check       => 4,
	cancel      => 2,
	prepared    => 4,
	settings    => 3,
	walk        => 3,
	anew        => 0.5,
	temporary   => 1,
	convert     => 1,
	count       => 2
);

# A session of its own process.  It ends at $end, or when it finds something.
sub work
{
	my ($self, $server, $name, $n, $end) = @_;
	my $standby = $server != $self->{server};
	my @list =
		$standby
		? (compare => 10, aggregate => 6, walk => 2, check => 1, settings => 1, count => 1)
		: @kinds;
	my %weight = @list;
	$weight{$_} = $self->{weight}{$_} for grep { defined $weight{$_} } keys %{ $self->{weight} };
	my @names  = grep { !$self->{skip}{$_} } sort keys %weight;
	my $all    = sum(map { $weight{$_} } @names);
	my $w      = {
		server   => $server,
		name     => $name,
		standby  => $standby,
		end      => $end,
		problems => "$server->{base}/problem.$name",
		gen      => generator(),
		serial   => 0
	};

	srand($self->{seed} * 7919 + $self->{cycles} * 101 + $n);
	$_->{next_id} = $self->{cycles} * 2000 + $n * 200 for @{ $self->{cases} };
	while (time < $end)
	{
		my $x      = rand($all);
		my ($kind) = grep { ($x -= $weight{$_}) < 0 } @names;
		my $case   = pick(@{ $self->{cases} });

		$w->{s} //= $self->enter($w) or last;
		my $do = $self->can("do_$kind");
		eval { ready($w, $case) and $do->($self, $w, $case); 1 } or $self->stumble($w, $kind, $@);
	}
	$w->{s}->end if $w->{s};
}

# The parts of SurfDiff that make statements and hold answers against each other.
sub generator
{
	return bless { counts => {}, answers => {}, plans => {}, sessions => 1, server => undef },
		'SurfDiff';
}

# A new session, as soon as the server takes one; undef: too late.
sub enter
{
	my ($self, $w) = @_;

	while (time < $w->{end})
	{
		my $s = $w->{server}->session(name => $w->{name});
		my $r = $s->query('SELECT 1', 20);

		if (!$r->{lost} && !$r->{error})
		{
			$s->query("SET lock_timeout = '"
					. LOCK_SECONDS
					. "s'; SET statement_timeout = '"
					. STATEMENT_SECONDS
					. "s'; SET timezone = 'UTC'");
			return $s;
		}
		$s->end;
		sleep 0.1;
	}
	return undef;
}

# The connection is gone (which the log explains, or not), or something is wrong.
sub stumble
{
	my ($self, $w, $kind, $why) = @_;

	if (ref $why && $why->{lost})
	{
		$w->{s}->end;
		$w->{s} = undef;
		return;
	}
	$self->problem($w, "$kind: " . (ref $why ? $why->{what} : $why));
}

sub problem
{
	my ($self, $w, $text) = @_;

	open(my $f, '>>', $w->{problems}) or die "$w->{problems}: $!\n";
	print $f "$w->{name} on $w->{server}{name}: $text\n";
	close $f;
	return;
}

# One statement or more; errors are the log's affair.  Returns SQLSTATE or ''.
sub run
{
	my ($w, $sql) = @_;
	my $r = $w->{s}->query($sql, 6 * STATEMENT_SECONDS);

	die { lost => 1 } if $r->{lost};
	return $r->{error};
}

# To that case's table.
sub to { my ($w, $case) = @_; return run($w, "SET search_path = $case->{schema}, public, ext") }

# Outside of a transaction, and there; a cancel may come at any moment, at a COMMIT or ROLLBACK
# as well.
sub ready
{
	my ($w, $case) = @_;
	my $error = to($w, $case);

	run($w, 'ROLLBACK') if $error eq '25P02';
	return !$error;
}

sub do_change
{
	my ($self, $w, $case) = @_;

	$case->{unique} = !$case->{parts} && $case->{indexes}[0]{unique};
	run($w, SurfDiff::statement_sql($w->{gen}->one_change($case), 't'));
}

sub do_bulk
{
	my ($self, $w, $case) = @_;
	run($w, $self->bulk($case, pick(100, 1000, 1000, $case->{big} ? 30000 : 3000)));
}

sub do_merge
{
	my ($self, $w, $case) = @_;
	my $some = chance(0.5) ? '' : ' ORDER BY oid LIMIT 1 OFFSET ' . rnd(4);

	return run($w,
		'SELECT surfidx_merge(oid) FROM (SELECT oid FROM storm_index'
			. " WHERE schema = '$case->{schema}' AND ready$some) x");
}

sub do_vacuum
{
	my ($self, $w, $case) = @_;

	run(
		$w,
		pick(
			'VACUUM t',
			'VACUUM (INDEX_CLEANUP ON, FREEZE) t',
			'VACUUM (INDEX_CLEANUP ON, PARALLEL 2) t',
			'VACUUM (ANALYZE) t',
			'VACUUM (TRUNCATE, INDEX_CLEANUP ON) t',
			'VACUUM (DISABLE_PAGE_SKIPPING) t'
		)
	);
}

# A worker makes btrees of the table's indexes, or surfidx of them again, beside all the others.
sub do_convert
{
	my ($self, $w, $case) = @_;
	my $method = pick('btree', ('surfidx') x 3);

	run($w, "SELECT count(*) FROM surfidx_convert('t', method => '$method', dry_run => false)");
}

sub do_maintenance
{
	my ($self, $w, $case) = @_;
	my $st;

	$_->{exists} = 1 for @{ $case->{indexes} };

	# an index of a partitioned table has no entries of its own
	do { $st = $w->{gen}->maintenance($case) }
		while $case->{parts} && $st->{sql} =~ /surfidx_merge|ALTER INDEX|CLUSTER/;
	run($w, SurfDiff::statement_sql($st, 't'));
}

# Statements that a transaction may have, and that leave files behind or make new ones:
# name => what makes one.
my %ddl = (
	truncate => sub {'TRUNCATE t'},
	reindex  => sub {
		my ($case, $ix) = @_;
		$case->{parts} ? () : pick("REINDEX INDEX $ix->{name}", 'REINDEX TABLE t');
	},

	# (not the table: where that is rolled back after an INSERT, indexes of any access method keep
	# entries for rows of the file that is gone)
	move => sub {
		my ($case, $ix) = @_;
		$case->{parts}
			? ()
			: "ALTER INDEX $ix->{name} SET TABLESPACE " . pick('ts1', 'ts2', 'pg_default');
	},
	drop   => sub { my ($case, $ix) = @_; "DROP INDEX IF EXISTS $ix->{name}" },
	create => sub { my ($case, $ix) = @_; index_statement($case, $ix, '') },
	log    => sub {
		my ($case) = @_;
		$case->{parts} || $case->{big} ? () : 'ALTER TABLE t SET ' . pick('LOGGED', 'UNLOGGED');
	},
	type => sub {
		my ($case) = @_;
		my $c = pick(@{ $case->{columns} });
		"ALTER TABLE t ALTER $c->{name} TYPE $c->{type} USING ($c->{name}::text::$c->{base})";
	},

	# constraints of ours: made, of an index that is there, dropped, and built again for a type
	constraint => sub {
		my ($case) = @_;
		my $late = pick('', ' DEFERRABLE', ' DEFERRABLE INITIALLY DEFERRED');

		$case->{parts} ? () : pick(
			"ALTER TABLE t ADD CONSTRAINT t_c UNIQUE (id) WITH (access_method = surfidx)$late",
			"ALTER TABLE t ADD UNIQUE USING INDEX t_uid$late",
			'ALTER TABLE t ALTER id TYPE int4, ADD COLUMN IF NOT EXISTS extra float8',
			'ALTER TABLE t DROP CONSTRAINT IF EXISTS ' . pick('t_c', 't_uid')
		);
	},
	cluster => sub {
		my ($case, $ix) = @_;
		$case->{parts} || $ix->{where} ? () : "CLUSTER t USING $ix->{name}";
	},
	column => sub {
		(
			'ALTER TABLE t ADD COLUMN extra float8 DEFAULT random()',
			'ALTER TABLE t DROP COLUMN IF EXISTS extra'
		)
	},
	option => sub {
		my ($case, $ix) = @_;
		$case->{parts} ? () : pick(
			"ALTER INDEX $ix->{name} SET (" . SurfDiff::filter_option() . ')',
			"ALTER INDEX $ix->{name} SET (keys = " . pick('full', 'cut') . ')',
			'ALTER TABLE t SET (parallel_workers = ' . rnd(4) . ')'
		);
	}
);

sub ddl
{
	my ($self, $case) = @_;
	my $kind = pick(grep { !$self->{skip}{$_} } sort keys %ddl);

	return join(";\n", $ddl{$kind}->($case, pick(@{ $case->{indexes} })));
}

sub do_index
{
	my ($self, $w, $case) = @_;
	my $ix  = pick(@{ $case->{indexes} });
	my $now = !$case->{parts} && chance(0.4) ? 'CONCURRENTLY' : '';

	run(
		$w,
		chance(0.4)   ? "DROP INDEX $now IF EXISTS $ix->{name}"
		: chance(0.6) ? index_statement($case, $ix, $now)
		: 'REINDEX '
			. pick(
			"INDEX $now $ix->{name}",
			"TABLE $now t", "(TABLESPACE ts1) INDEX $now $ix->{name}"
			)
	);
}

sub do_rewrite
{
	my ($self, $w, $case) = @_;

	run(
		$w,
		pick(
			'VACUUM FULL t',
			'VACUUM FULL t',
			'VACUUM (FULL, FREEZE) t',
			'TRUNCATE t; ' . $self->bulk($case, 300),
			$self->ddl($case)
		)
	);
}

sub do_tablespace
{
	my ($self, $w, $case) = @_;
	my $ix = pick(@{ $case->{indexes} });
	my $to = pick('ts1', 'ts2', 'pg_default');

	run($w,
		chance(0.7)
		? "ALTER INDEX $ix->{name} SET TABLESPACE $to"
		: "ALTER TABLE t SET TABLESPACE $to");
}

sub do_persistence
{
	my ($self, $w, $case) = @_;
	run($w, 'ALTER TABLE t SET ' . pick('LOGGED', 'UNLOGGED'))
		unless $case->{parts} || $case->{big};
}

# A partition leaves, is changed and comes back.
sub do_partition
{
	my ($self, $w, $case) = @_;
	my $n = rnd($case->{parts} || 4);
	my $p = "t_p$n";

	return $self->do_change($w, $case) unless $case->{parts};
	my $r = run($w,
		chance(0.5)
		? "ALTER TABLE t DETACH PARTITION $p CONCURRENTLY"
		: "ALTER TABLE t DETACH PARTITION $p");
	run(
		$w,
		pick(
			"VACUUM $p",
			"DELETE FROM $p WHERE id % 3 = 1",
			"REINDEX TABLE CONCURRENTLY $p",
			"VACUUM FULL $p",
			"TRUNCATE $p"
		)
	) if chance(0.5);
	run($w, "ALTER TABLE t DETACH PARTITION $p FINALIZE") if $r;
	for (1 .. 3)
	{
		$r = run($w,
"ALTER TABLE t ATTACH PARTITION $p FOR VALUES WITH (MODULUS $case->{parts}, REMAINDER $n)"
		);
		last unless $r =~ /^(?:40P01|55P03)/;
	}
}

sub do_view
{
	my ($self, $w, $case) = @_;

	return $self->do_change($w, $case) unless $case->{view};
	run($w, 'REFRESH MATERIALIZED VIEW v');
	$self->hold($w,
		{ sql => 'SELECT n, id FROM v WHERE n > 0', modes => [ 'index', 'only', 'bitmap' ] });
}

# The same query of one snapshot in all ways.
sub hold
{
	my ($self, $w, @queries) = @_;
	my $failure;

	run($w, 'BEGIN ISOLATION LEVEL REPEATABLE READ');
	$failure ||= $self->try_query($w, $_) for @queries;
	run($w, 'COMMIT;' . SurfDiff::mode_sql('default'));
	die $failure if $failure;
}

# What is wrong with a query's answers, if it is not an error that may be.
sub try_query
{
	my ($self, $w, $q) = @_;
	my $failure = $w->{gen}->try_query($w->{s}, $q) or return undef;

	die { lost => 1 } if $failure->{what} =~ /went away/;
	for my $answer ($failure->{want}, $failure->{got})
	{
		return undef if $answer =~ /^error (\w+)/ && expected($1, '');
	}

	# an error that core alone gives is found in the log
	return undef if $failure->{want} =~ /^error/ || $failure->{got} =~ /^error/;

	# partitions come and go beside a snapshot
	my $again = $w->{s}->query(SurfDiff::mode_sql('seq') . $q->{sql});
	return undef if SurfDiff::answer($again, $q->{ordered}) ne $failure->{want};
	$failure->{what} .= "\n  plan: "
		. join(
		"\n  ",
		@{
			$w->{s}->query(SurfDiff::mode_sql($failure->{mode}) . "EXPLAIN (COSTS OFF) $q->{sql}")
				->{rows}
		}
		);
	$failure->{what} .= "\n  search_path " . ($w->{s}->query('SHOW search_path')->{rows}[0] // '?');
	return $failure;
}

sub do_compare
{
	my ($self, $w, $case) = @_;
	my @q = map {
		my $ix = pick(@{ $case->{indexes} });
		chance(0.1) ? $w->{gen}->whole_query($ix) : $w->{gen}->make_query($case, $ix)
	} 1 .. 1 + rnd(4);

	# (ids are not unique here: the first fifteen may be these or those)
	$self->hold($w, grep { !$_->{heavy} && $_->{sql} !~ /ORDER BY id LIMIT/ } @q);
}

# Aggregates and groups by the index, by blocks and by entries, against core's of all rows.
sub do_aggregate
{
	my ($self, $w, $case) = @_;
	my @q = map { $w->{gen}->make_aggregate($case, pick(@{ $case->{indexes} })) } 1 .. 1 + rnd(4);

	return if $w->{standby} && $case->{persistence} eq 'UNLOGGED';
	my $set = pick('RESET work_mem', "SET work_mem = '64kB'");

	run($w, "$set; SET surfidx.rows_by_block = " . pick('on', 'off'));
	$self->hold($w, grep { defined } @q);
	run($w, 'RESET work_mem; RESET surfidx.rows_by_block');
}

# A cursor by index beside others' changes, against the same by sort.
sub do_walk
{
	my ($self, $w, $case) = @_;
	my $ix = pick(@{ $case->{indexes} });

	return if grep { $_->{col}{show} } @{ $ix->{keys} };
	my $keys  = join(', ', map { $_->{col}{name} } @{ $ix->{keys} });
	my $order = join(', ', map { SurfDiff::key_order($_, 0) } @{ $ix->{keys} });
	my $where = $ix->{where} ? "WHERE $ix->{where}" : '';

	my $query = "SELECT row($keys)::text FROM t $where ORDER BY $order";

	my $pages = pick(10, 100, 1000);
	my $nap = pick('0', '0.001', '0.01');

	run($w, 'BEGIN ISOLATION LEVEL REPEATABLE READ') and return;
	run($w, "SELECT walk(\$q\$$query\$q\$, $pages, $nap)");
	run($w, 'COMMIT');
}

sub do_check
{
	my ($self, $w, $case) = @_;
	my $there = $w->{standby} ? " AND persistence = 'p'" : '';

	run($w, "SELECT surfidx_check(oid, true, true) FROM (SELECT oid FROM storm_index"
			. " WHERE schema = '$case->{schema}' AND valid$there ORDER BY oid"
			. ' OFFSET ' . rnd(6) . ' LIMIT 1) x');
}

# Cancel a statement of some session, or terminate the session.
sub do_cancel
{
	my ($self, $w, $case) = @_;
	my $how = chance(0.8) ? 'pg_cancel_backend' : 'pg_terminate_backend';

	run(
		$w,
		"SELECT $how(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
			. pick("application_name LIKE 'work%'",
			"backend_type ~ 'surfidx|parallel worker|autovacuum worker'")
			. ' ORDER BY hashint4(pid # '
			. rnd(1e6)
			. ') LIMIT 1'
	);
}

# Prepared transactions wait for the next session that finishes some.
sub do_prepared
{
	my ($self, $w) = @_;
	my $r =
		$w->{s}->query("SELECT gid FROM pg_prepared_xacts WHERE gid LIKE 'storm%' ORDER BY gid");

	run($w, pick('COMMIT', 'COMMIT', 'ROLLBACK') . " PREPARED '$_'")
		for grep {/^storm/} @{ $r->{rows} };
}

my $patience = "statement_timeout = '" . STATEMENT_SECONDS . "s'";
my @settings = ('max_parallel_workers_per_gather = 0',
	'max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; '
		. 'SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; '
		. 'SET min_parallel_index_scan_size = 0',
	'max_parallel_maintenance_workers = 0',
	'max_parallel_maintenance_workers = 4; SET min_parallel_table_scan_size = 0; '
		. "SET maintenance_work_mem = '256MB'",
	"maintenance_work_mem = '1MB'", "maintenance_work_mem = '64MB'", "work_mem = '64kB'",
	"work_mem = '4MB'", 'surfidx.auto_merge = off', 'surfidx.auto_merge = on',
	'surfidx.range_estimates = off', 'surfidx.range_estimates = on',
	"default_transaction_isolation = 'serializable'",
	"default_transaction_isolation = 'read committed'", "statement_timeout = '50ms'", $patience,
	$patience, 'synchronous_commit = off', 'plan_cache_mode = force_generic_plan', 'RESET ALL');

sub do_settings
{
	my ($self, $w) = @_;
	my $set = pick(@settings);

	$set = "force_parallel_mode = " . pick('on', 'regress', 'off') if chance(0.1);
	$set =~ s/force_parallel_mode/debug_parallel_query/            if $w->{server}->major >= 16;

	# (RESET ALL is what is in force for a new session)
	return run($w,
			  "RESET ALL; SET lock_timeout = '"
			. LOCK_SECONDS
			. "s'; SET statement_timeout = '"
			. STATEMENT_SECONDS
			. "s'; SET timezone = 'UTC'")
		if $set eq 'RESET ALL';
	return if $w->{standby} && $set =~ /serializable|auto_merge/;
	run($w, "SET $set");
}

# Savepoints, changes and DDL of some tables; in the end it is committed, rolled back or prepared.
sub do_transaction
{
	my ($self, $w, $case) = @_;
	my $ddl   = chance(0.5);
	my $gid   = "storm_$w->{name}_" . $self->{cycles} . '_' . ++$w->{serial};
	my $depth = 0;

	run($w,
		'BEGIN ISOLATION LEVEL '
			. pick('READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'));
	for (1 .. 2 + rnd(8))
	{
		my $x = rand();

		# (a rollback takes the last one back)
		my $error = to($w, $case);

		if    ($error)              { }
		elsif ($x < 0.15)           { $error = run($w, 'SAVEPOINT s' . ++$depth) }
		elsif ($x < 0.28 && $depth) { $error = run($w, 'ROLLBACK TO s' . $depth) }
		elsif ($x < 0.32 && $depth) { $error = run($w, 'RELEASE s' . $depth--) }
		elsif ($x < 0.45 && $ddl && !$self->{skip}{ddl}) { $error = run($w, $self->ddl($case)) }
		elsif ($x < 0.55)                                { $error = $self->do_merge($w, $case) }
		elsif ($x < 0.6)                                 { $error = $self->do_bulk($w, $case) }
		elsif ($x < 0.65)                                { $case  = pick(@{ $self->{cases} }) }
		elsif ($x < 0.75)
		{
			$error = run($w, $w->{gen}->whole_query(pick(@{ $case->{indexes} }))->{sql});
		}
		else { $error = $self->do_change($w, $case) }
		next unless $error;
		last unless $depth;
		run($w, 'ROLLBACK TO s' . $depth);
	}
	my $x = rand();
	return run($w, $x < 0.5 ? 'COMMIT' : 'ROLLBACK') if $x < 0.85 || $self->{skip}{prepared};
	my $error = run($w, "PREPARE TRANSACTION '$gid'");
	run($w, 'ROLLBACK')                                      if $error;
	run($w, pick('COMMIT', 'ROLLBACK') . " PREPARED '$gid'") if !$error && chance(0.7);
}

# A table goes and comes back under the same name.
sub do_anew
{
	my ($self, $w, $case) = @_;

	return if $case->{big};
	run($w, "DROP SCHEMA IF EXISTS $case->{schema} CASCADE") and return;
	run($w, "$_") for $self->creation($case);
}

sub do_temporary
{
	my ($self, $w, $case) = @_;
	my $q = { sql => 'SELECT id FROM tt WHERE id > 0', modes => [ 'index', 'only', 'bitmap' ] };

	run($w, 'CREATE TEMP TABLE IF NOT EXISTS tt AS SELECT * FROM t LIMIT 500;'
			. ' CREATE INDEX tt_ix ON tt USING surfidx (id); INSERT INTO tt SELECT * FROM tt')
		or $self->hold($w, $q);
	run($w, "SELECT surfidx_check('tt_ix', true, true)");
	run($w, 'DROP TABLE IF EXISTS tt');
}

# What the index itself says of its entries may be more than the rows that are seen, not less.
sub do_count
{
	my ($self, $w, $case) = @_;
	my ($ix) = shuffle(grep { !$_->{where} } @{ $case->{indexes} });

	return if !$ix || $case->{parts};
	run($w, "SELECT surfidx_count('$ix->{name}')")
		or run($w, "SELECT * FROM surfidx_stats('$ix->{name}')");
}

# ---------------------------------------------------------------------- one cycle

sub spawn
{
	my ($self, $server, $name, $n, $end) = @_;
	my $pid = fork() // die "fork: $!\n";

	return $pid if $pid;
	$SIG{INT} = $SIG{TERM} = sub { POSIX::_exit(1) };

	# the parent's sessions would not end while somebody else has the other end of their pipes
	close($_->{in}), close($_->{out}) for @{ $self->{sleepers} };
	eval { $self->work($server, $name, $n, $end); 1 }
		or $self->problem(
		{ server => $server, name => $name, problems => "$server->{base}/problem.$name" },
		"died: $@");
	POSIX::_exit(0);
}

sub spawn_all
{
	my ($self, $end) = @_;
	my @pids = map { $self->spawn($self->{server}, "work$_", $_, $end) } 1 .. $self->{workers};

	push @pids, map { $self->spawn($self->{standby}, "read$_", 50 + $_, $end) } 1, 2
		if $self->{standby};
	return @pids;
}

# Sessions that sleep most of the time, with all that they remember of indexes.
sub wake_one
{
	my ($self) = @_;
	my $list   = $self->{sleepers};
	my $case   = pick(@{ $self->{cases} }[ 0 .. min(11, $#{ $self->{cases} }) ]);

	push @$list, $self->sleeper while @$list < 4;
	my $w = $list->[ rnd(scalar @$list) ]{w};
	$case->{next_id} = $self->{cycles} * 2000 + 100 if $case->{next_id} < $self->{cycles} * 2000;
	eval {
		my $do = pick(qw(do_change do_change do_compare do_compare do_merge do_bulk));
		ready($w, $case) and $self->$do($w, $case);
		1;
	} and return;
	@$list = grep { $_->{w} != $w } @$list if ref $@ && $@->{lost};
	$self->stumble($w, 'sleeper', $@);
}

sub sleeper
{
	my ($self) = @_;
	my $w = {
		server   => $self->{server},
		name     => 'sleeper',
		end      => time + 60,
		problems => "$self->{server}{base}/problem.sleeper",
		gen      => generator(),
		serial   => 0
	};
	my $s = $w->{s} = $self->enter($w) // die "no session\n";

	$s->{w} = $w;
	return $s;
}

sub forget_sleepers
{
	my ($self) = @_;

	for my $s (splice @{ $self->{sleepers} })
	{
		delete $s->{w};
		$s->end;
	}
	return;
}

# Work for some seconds; then perhaps a kill.  At rest a part of the indexes is looked at, all of
# them after a kill.
sub cycle
{
	my ($self, $seconds) = @_;
	my $end  = time + $seconds;
	my $kill = $self->{skip}{kill} ? 0 : chance(0.4);
	my @problems;

	$self->{cycles}++;
	my @pids = $self->spawn_all($end + ($kill ? 1 : 0));
	srand($self->{seed} * 104729 + $self->{cycles});
	while (time < $end)
	{
		sleep 0.2;
		@problems = $self->found or $self->wake_one;
		@problems = $self->found unless @problems;
		last if @problems;
	}
	push @problems, $self->crash if $kill && !@problems;
	push @problems, $self->disturb_standby
		if $self->{standby} && $kill && !@problems && chance(0.5);
	$self->gather(@problems ? 0 : 1, @pids);
	push @problems, $self->found unless @problems;
	for (@problems ? () : ($self->{server}, $self->{standby} || ()))
	{
		my $down = $self->wait_answer($_);
		push @problems, $down if $down;
	}
	push @problems, $self->look($kill ? 1 : 0.3) unless @problems;
	push @problems, $self->found                 unless @problems;
	push @problems, map { $self->log_tail($_) } $self->{server}, $self->{standby} || ()
		if @problems;
	return @problems;
}

# Killed, with half of the pages torn if it was all of the server.
sub crash
{
	my ($self) = @_;
	my $server = $self->{server};

	$self->forget_sleepers;
	return () unless $self->kill_one;
	$self->{torn} += $server->tear(0.2) if chance(0.5);
	for (1 .. 50)
	{
		return () if eval { $server->start; 1 };
		last unless $self->core_trips($server);
	}
	return "start: $@";
}

# An unlogged relation of any access method whose transaction was rolled back shortly before the
# crash: the end of the transaction is not in the log, its main fork is empty and waits for the next
# checkpoint, and core's recovery does not copy the init fork over it.  As its users would, we
# remove it.
sub core_trips
{
	my ($self, $server) = @_;
	my ($file) = $self->log_tail($server) =~ /FATAL:  could not create file "([^"]+)": File exists/
		or return 0;

	return 0 if -s "$server->{data}/$file" || !-e "$server->{data}/${file}_init";
	$self->{victims}{"an unlogged relation's empty file"}++;
	return unlink "$server->{data}/$file";
}

# Up again, and able to answer.  Where one process was killed core trips over such a file by itself.
sub wait_answer
{
	my ($self, $server) = @_;
	my $down = $self->wait_up($server);

	for (1 .. 50)
	{
		last if !$down || $server->postmaster_alive || !$self->core_trips($server);
		$down = eval { $server->start; 1 } ? $self->wait_up($server) : "start: $@";
	}
	return $down;
}

# The sessions come to their end; what waits for too long is cancelled.
sub gather
{
	my ($self, $patient, @pids) = @_;
	my $late = time + ($patient ? 3 : 0);
	my %left = map { $_ => 1 } @pids;

	while (%left)
	{
		delete $left{$_} for grep { waitpid($_, POSIX::WNOHANG()) } keys %left;
		last unless %left;
		sleep 0.05;
		next if time < $late;
		$late = time + 2;
		kill('TERM', keys %left) unless $patient;
		$_->query_once(
"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^(work|read)'"
		) for grep { $_->postmaster_alive } $self->{server}, $self->{standby} || ();
	}
}

# What sessions and logs have told since the last look.
sub found
{
	my ($self) = @_;
	my @found;

	for my $file (glob("$self->{server}{base}/problem.*"))
	{
		open(my $f, '<', $file) or next;
		local $/;
		push @found, <$f>;
		unlink $file;
	}
	return (@found, map { $self->log_problems($_) } $self->{server}, $self->{standby} || ());
}

# ---------------------------------------------------------------------- the log

sub expected
{
	my ($state, $line) = @_;

	return 1 if $expected{$state} || $expected{ substr($state, 0, 2) };
	return 1 if $brief && $state =~ /^(?:0A|2B|42|55)/;
	return scalar grep { "$state $line" =~ $_ } @expected_messages;
}

# Errors that are not expected, each with its statement, since the last look.
sub log_problems
{
	my ($self, $server) = @_;
	my $from = $server->{log_seen} || 0;
	my ($seen, @found) = $self->read_log($server, $from);

	# the rest of the last one may be under way
	sleep 0.5 if @found;
	($seen, @found) = $self->read_log($server, $from) if @found;
	$server->{log_seen} = $seen;
	return @found;
}

# Its lines from there on: how far they go, and what is wrong in them.
sub read_log
{
	my ($self, $server, $from) = @_;
	my (@found, %last, $all);

	open(my $f, '<', $server->{log}) or return $from;
	seek($f, $from, 0);
	while (my $line = <$f>)
	{
		last if $line !~ /\n\z/;
		$from += length $line;
		my ($pid, $app, $state, $level, $text) =
			$line =~ /^\S+ \S+ \S+ \[(\d+)\] (.*?) ?(\w{5}) ([A-Z]+):  (.*)/;

		next if $line =~ $core_traps;
		if ($line =~ /TRAP:|was terminated by signal (?!9:)|inconsistent page/)
		{
			push @found, $line;
		}
		elsif (!defined $pid)
		{
			# the rest of a statement of several lines
			$$all .= $line if $all && $line =~ /^\t/ && length $$all < 3000;
		}
		elsif ($level =~ /^(?:DETAIL|HINT|CONTEXT|STATEMENT|LOCATION)$/)
		{
			$all = $last{$pid};
			$$all .= "  $level: $text\n" if $all;
		}
		else
		{
			$last{$pid} = $all = undef;
			next unless $level =~ /^(?:ERROR|FATAL|PANIC)$/ || $state =~ /^XX/;
			$self->{errors}{$state}++;
			next if expected($state, $text);
			push @found, "log of $server->{name}: [$pid] $app $state $level: $text\n";
			$last{$pid} = $all = \$found[-1];
		}
	}
	close $f;
	return ($from, @found);
}

# What a server has said last, without the statements.
sub log_tail
{
	my ($self, $server) = @_;
	my @lines = split /^/, `tail -c 200000 $server->{log}`;

	@lines = grep { !/^\t|STATEMENT:|canceling statement|25P02|CONTEXT:/ } @lines;
	return
		join('', "end of the log of $server->{name}:\n", splice(@lines, -min(40, scalar @lines)));
}

# ---------------------------------------------------------------------- everything at rest

# Conversions go on without the session that asked for them, and replace indexes.  What they wait
# for may be a prepared transaction.
sub end_conversions
{
	my ($self, $s) = @_;
	my $end = time + 60;

	my $prepared = "SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts";
	my $work = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'surfidx conversion'";

	$s->query($_) for @{ $s->query($prepared)->{rows} };
	sleep 0.1 while time < $end && $s->value($work) > 0;
	return;
}

# At that share of the indexes, on the standby as well.
sub look
{
	my ($self, $share) = @_;
	my $s = $self->{server}->session;
	my @problems;

	$self->end_conversions($s);
	# prepared transactions, and what an interrupted CONCURRENTLY has left
	for my $sql ("SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts",
		"SELECT format('DROP INDEX %s', name) FROM storm_index WHERE NOT valid AND NOT child",
		"SELECT format('ALTER TABLE %s DETACH PARTITION %s FINALIZE', inhparent::regclass,"
			. ' inhrelid::regclass) FROM pg_inherits WHERE inhdetachpending')
	{
		$s->query($_) for @{ $s->query($sql)->{rows} };
	}
	$self->{indexes} = $s->value('SELECT count(*) FROM storm_index');
	$s->end;
	push @problems, $self->check_server($self->{server}, $share);
	push @problems, $self->wait_for_standby if $self->{standby} && !@problems;
	push @problems, $self->check_server($self->{standby}, $share / 2)
		if $self->{standby} && !@problems;
	push @problems, $self->change_places
		if $self->{standby} && !@problems && !$self->{skip}{promote} && chance(0.05);
	return @problems;
}

# The verifier of each index, each key of each index by each kind of scan, and no key twice.
sub check_server
{
	my ($self, $server, $share) = @_;
	my $s = $server->session(name => 'check');
	my $there = $server == $self->{server} ? '' : " AND persistence = 'p'";
	my $of = "FROM storm_index WHERE valid$there";
	my @problems;

	$s->query('SET search_path = public, ext');
	for my $sql (
		"SELECT format('SELECT surfidx_check(%s::regclass, true, true)', oid) $of ORDER BY 1",
		"SELECT format('SELECT compare(\$q\$SELECT %s FROM %s%s\$q\$)', keys, tab, pred) $of"
			. ' ORDER BY 1',
		"SELECT format('SELECT once(\$q\$SELECT %s FROM %s%s GROUP BY %s HAVING count(*) > 1%s"
			. "\$q\$)', keys, tab, pred, keys, not_null) $of AND holds ORDER BY 1")
	{
		for my $statement (@{ $s->query($sql)->{rows} })
		{
			push @problems, $self->try_sql($server, $s, $statement)
				if @problems < 5 && chance($share // 1);
		}
	}
	$s->end;
	return @problems;
}

# The standby has become a primary: it must take what a primary takes.
sub after_promotion
{
	my ($self) = @_;
	my $s = $self->{server}->session;

	$self->forget_sleepers;
	$s->query("SET search_path = $_->{schema}, public, ext;\n"
			. $self->bulk($_, 50)
			. ";\nDELETE FROM t WHERE id % 5 = 0;\nVACUUM t")
		for @{ $self->{cases} };
	$s->end;
}

sub end
{
	my ($self) = @_;

	$self->forget_sleepers;
	$self->SUPER::end;
}

1;
