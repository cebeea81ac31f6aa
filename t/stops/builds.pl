# Every statement that builds, for every kind of index, with workers that scan all of the table:
# they go by what the leader decided (A1).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $rows = 2000;

# Index, what follows CREATE (or ADD, for a constraint), a condition that it serves, and the error
# of a copy of each row.
my @indexes = (
	[ 'b_plain', 'INDEX b_plain ON b USING surfidx (n)', 'n = x.n', '' ],
	[ 'b_columns', 'INDEX b_columns ON b USING surfidx (a, s)', 'a = x.a AND s = x.s', '' ],
	[ 'b_unique', 'UNIQUE INDEX b_unique ON b USING surfidx (id)', 'id = x.id', '23505' ],
	[ 'b_text', 'UNIQUE INDEX b_text ON b
		USING surfidx (s COLLATE "C" DESC) WITH (hope = \'fsst\')', 's = x.s COLLATE "C"',
		'23505' ],
	[ 'b_array', 'UNIQUE INDEX b_array ON b USING surfidx (a)', 'a = x.a', '23505' ],
	[ 'b_partial', 'UNIQUE INDEX b_partial ON b USING surfidx (id) WHERE n % 3 = 0',
		'id = x.id AND n % 3 = 0', '23505' ],
	[ 'b_expr', 'UNIQUE INDEX b_expr ON b USING surfidx ((id * 2), lower(s))', 'id * 2 = x.id * 2',
		'23505' ],
	[ 'b_exprs', 'UNIQUE INDEX b_exprs ON b USING surfidx ((ARRAY[id, n])) WHERE id > 7',
		'ARRAY[id, n] = ARRAY[x.id, x.n] AND id > 7', '23505' ],
	[ 'b_include', 'UNIQUE INDEX b_include ON b USING surfidx (n, id) INCLUDE (s, a)',
		'n = x.n AND id = x.id', '23505' ],
	[ 'b_includes', 'UNIQUE INDEX b_includes ON b USING surfidx (a) INCLUDE (id)', 'a = x.a',
		'23505' ],
	[ 'b_distinct', 'UNIQUE INDEX b_distinct ON b USING surfidx (h)', 'h = x.h', '23505' ],
	[ 'b_not_distinct', 'UNIQUE INDEX b_not_distinct ON b USING surfidx (o) NULLS NOT DISTINCT',
		'o = x.o', '23505' ],
	[ 'b_filter', 'UNIQUE INDEX b_filter ON b USING surfidx (id DESC) WITH (filter = surf)',
		'id = x.id', '23505' ],
	[ 'b_exclude', 'CONSTRAINT b_exclude EXCLUDE USING surfidx (id WITH =)', 'id = x.id', '23P01' ],
	[ 'b_excludes', 'CONSTRAINT b_excludes EXCLUDE USING surfidx (a WITH =, n WITH =) INCLUDE (s)
		WHERE (n % 3 = 0) DEFERRABLE', 'a = x.a AND n = x.n AND n % 3 = 0', '23P01' ]);

my @names = map { $_->[0] } @indexes;

sub statement
{
	my ($index, $concurrently) = @_;
	my $what = $index->[1];

	return "ALTER TABLE b ADD $what" if $what =~ /^CONSTRAINT/;
	$what =~ s/INDEX/INDEX CONCURRENTLY/ if $concurrently;
	return "CREATE $what";
}

# Rows that differ in every unique column; h and o have NULLs: half of the rows, and one.
sub fill
{
	my ($table, $from, $to) = @_;

	return "INSERT INTO $table SELECT g, g % 50, 'Text ' || md5(g::text), ARRAY[g, 5],
		CASE WHEN g % 2 = 0 THEN g END, nullif(g, 77), 0 FROM generate_series($from, $to) g";
}

my $columns = '(id int8, n int, s text COLLATE "C", a int[], h int, o int, v int)';
my $options = 'WITH (parallel_workers = 2, autovacuum_enabled = off)';

# Table b, in random order, so that each participant has rows from all over.
sub table_b
{
	my ($persistence) = @_;

	sql("DROP TABLE IF EXISTS b, b_raw CASCADE; CREATE TABLE b_raw $columns; " . fill('b_raw', 1,
		$rows) . "; CREATE $persistence TABLE b $columns $options;
		INSERT INTO b SELECT * FROM b_raw ORDER BY md5(s); DELETE FROM b WHERE id % 7 = 3;
		INSERT INTO b SELECT * FROM b_raw WHERE id % 7 = 3; ANALYZE b");
	return;
}

# The indexes that have been built with workers since then, sorted, each once.
sub built
{
	my ($from) = @_;
	my %seen;

	open(my $f, '<', server()->{log}) or die "no log\n";
	seek($f, $from, 0);
	while (<$f>)
	{
		$seen{$1} = 1 if /building index "(\w+?)(?:_ccnew)?" with [12] parallel workers/;
	}
	close $f;
	return join(' ', sort keys %seen);
}

my $probe = 'SELECT count(*), sum(x.id), sum(y.id) FROM (SELECT * FROM b WHERE id % 11 = 2) x,
	LATERAL (SELECT id FROM b WHERE ';

# Each of the table's indexes is sound, finds rows and refuses copies of them where the
# others are not there to do it.
sub indexes_hold
{
	my ($what, @which) = @_;
	my $seq = 'SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
		SET LOCAL enable_indexonlyscan = off';
	my $by_index = 'SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
		SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off;
		SET LOCAL enable_memoize = off';
	my $matview = sql("SELECT relkind FROM pg_class WHERE oid = 'b'::regclass") eq 'm';
	my @wrong;

	for my $index (@which)
	{
		my ($name, undef, $condition, $error) = @$index;
		my $row = 'INTO b (id, n, s, a, h, o) SELECT id, n, s, a, h, o FROM b WHERE n % 3 = 0
			AND id > 7 AND h IS NOT NULL AND id <> 77 LIMIT 200';

		push @wrong, "$name: $@"
			unless eval { sql("SELECT surfidx_check('$name', true, true)"); 1 };
		my $right = sql("BEGIN; SAVEPOINT s; $seq; $probe $condition) y");
		sql('ROLLBACK TO s; ' . join('; ', map { $_->[1] =~ /^CONSTRAINT/
			? "ALTER TABLE b DROP CONSTRAINT $_->[0]" : "DROP INDEX $_->[0]" }
			grep { $_->[0] ne $name } @which));
		my $found = sql("SAVEPOINT s; $by_index; $probe $condition) y");
		push @wrong, "$name: $found instead of $right" if $found ne $right || $right !~ /^[1-9]/;
		sql('ROLLBACK TO s');
		if ($error eq '23505' && !$matview)
		{
			my $taken = sql("WITH i AS (INSERT $row ON CONFLICT DO NOTHING RETURNING 1)
				SELECT count(*) FROM i");

			push @wrong, "$name: $taken copies" if $taken != 0;
		}
		if ($error && !$matview)
		{
			my $got = error_of("INSERT $row");

			push @wrong, "$name: '$got' for a copy" if $got ne $error;
		}
		sql('ROLLBACK');
	}
	is(join("\n", @wrong), '',
		"$what: the indexes are sound, find what a sequential scan finds, and refuse copies");
	return;
}

# Do it, see that all these indexes were built with workers, and look at them.
sub way
{
	my ($what, $sql, @more) = @_;
	my $from = -s server()->{log};

	sql($_) for ref $sql ? @$sql : $sql;
	is(built($from), join(' ', sort @names), "$what: built with workers");
	indexes_hold($what, @indexes);
	return;
}

# Workers scan all that there is, wherever the planner gives a build some.
sub workers_first
{
	my $mutants = join(',', grep { $_ } 'workers first', $_[0], $ENV{SURFIDX_MUTANT});

	sql("ALTER SYSTEM SET surfidx.mutants = '$mutants'; SELECT pg_reload_conf()");
	sql("SELECT 1") until sql('SHOW surfidx.mutants') eq $mutants;
	return;
}

sub usual
{
	sql('ALTER SYSTEM RESET surfidx.mutants; SELECT pg_reload_conf()');
	return;
}

# ------------------------------------------------------------------------------------------

scenario 'the phases of a build', [], sub {
	sql('DROP TABLE IF EXISTS p; CREATE TABLE p AS SELECT g AS k FROM generate_series(1, 1000) g');
	for ([ 'build sorts', 'sorting keys' ], [ 'build writes', 'writing pages' ])
	{
		my ($stop, $phase) = @$_;
		my $s = session();

		arm($stop, 'wait');
		start('CREATE INDEX p_k ON p USING surfidx (k)', $s);
		wait_at($stop);
		is(sql("SELECT phase FROM pg_stat_progress_create_index WHERE relid = 'p'::regclass"),
			"building index: $phase", $phase);
		release($stop);
		finish($s);
		sql('DROP INDEX p_k');
	}
};

# Bytes in use by a session that waits.
sub memory_of
{
	my ($s) = @_;
	my $from = -s server()->{log};

	sql("SELECT pg_log_backend_memory_contexts($s->{backend})");
	for (1 .. 500)
	{
		open(my $f, '<', server()->{log}) or die "no log\n";
		seek($f, $from, 0);
		while (<$f>)
		{
			return $1 if /Grand total: .*; (\d+) used/;
		}
		select(undef, undef, undef, 0.02);
	}
	die "no memory contexts in the log\n";
}

scenario 'a build with many leaves takes no more memory than one with few', [], sub {
	my %used;

	# of a leaf's position a kilobyte is left, of its five entries nothing
	sql(q{CREATE TABLE m AS SELECT g AS n, repeat('x', 900) || g AS s, (SELECT
		string_agg(md5((g * 100 + i)::text), '') FROM generate_series(1, 50) i) AS more
		FROM generate_series(100001, 112000) g});
	for my $rows (2000, 12000)
	{
		for my $with ("hope = off", "hope = off, filter = bloom")
		{
			my $s = session();

			sql(q{SET maintenance_work_mem = '1MB'; SET max_parallel_maintenance_workers = 0}, $s);
			arm('build stacks', 'wait');
			start(qq{CREATE INDEX m_s ON m USING surfidx (s COLLATE "C") INCLUDE (more)
				WITH ($with) WHERE n <= 100000 + $rows}, $s);
			wait_at('build stacks');
			$used{$rows} = memory_of($s);
			release('build stacks');
			is(finish($s), '', "$rows rows, $with: it is built");
			is(sql("SELECT surfidx_check('m_s', true, true)"), '', '... and sound');
			cmp_ok(sql("SELECT leaves FROM surfidx_meta('m_s')"), '>=', $rows / 5,
				'... of many leaves');
			sql('DROP INDEX m_s');
		}
	}
	my $more = $used{12000} - $used{2000};
	cmp_ok($more, '<', 1024 * 1024, "$more bytes more for ten thousand rows more");
	sql('DROP TABLE m');
};

scenario 'CREATE INDEX and REINDEX in every form with workers', [], sub {
	workers_first();
	table_b('');
	way('CREATE INDEX', [ map { statement($_) } @indexes ]);
	way('REINDEX INDEX', [ map { "REINDEX INDEX $_" } @names ]);
	way('REINDEX TABLE', 'REINDEX TABLE b');
	way('REINDEX SCHEMA', 'REINDEX SCHEMA public');
	way('REINDEX (TABLESPACE)', 'REINDEX (TABLESPACE pg_default) TABLE b');
	way('REINDEX DATABASE', 'REINDEX DATABASE postgres');
	# (core does not rebuild exclusion constraints concurrently)
	my @others = grep { $_->[1] !~ /^CONSTRAINT/ } @indexes;
	my $from = -s server()->{log};
	sql('REINDEX TABLE CONCURRENTLY b');
	is(built($from), join(' ', sort map { $_->[0] } @others),
		'REINDEX TABLE CONCURRENTLY: built with workers');
	indexes_hold('REINDEX TABLE CONCURRENTLY', @indexes);
	$from = -s server()->{log};
	sql("REINDEX INDEX CONCURRENTLY $_->[0]") for @others;
	is(built($from), join(' ', sort map { $_->[0] } @others),
		'REINDEX INDEX CONCURRENTLY: built with workers');
	indexes_hold('REINDEX INDEX CONCURRENTLY', @indexes);
	table_b('');
	way('CREATE INDEX CONCURRENTLY', [ map { statement($_, 1) } @indexes ]);
	usual();
};

scenario 'VACUUM FULL, CLUSTER and ALTER TABLE with workers',
	['workers ask the catalogs,workers decide'], sub {
	workers_first();
	table_b('');
	sql(statement($_)) for @indexes;
	way('VACUUM FULL', 'VACUUM FULL b');
	way('VACUUM (FULL, ANALYZE)', 'VACUUM (FULL, ANALYZE, VERBOSE) b');
	sql('CREATE INDEX b_cluster ON b (v, id)');
	way('CLUSTER', 'CLUSTER b USING b_cluster');
	way('CLUSTER again', 'CLUSTER b');
	way('CLUSTER of everything', 'CLUSTER');
	way('CLUSTER by an index that is built anew', 'CLUSTER b USING b_unique');
	way('little memory', q{SET maintenance_work_mem = '1MB'; VACUUM FULL b;
		RESET maintenance_work_mem});
	way('ALTER TYPE', 'ALTER TABLE b ALTER id TYPE numeric, ALTER s TYPE varchar(100) COLLATE "C",
		ALTER a TYPE numeric[] USING a');
	way('ALTER TYPE back', 'ALTER TABLE b ALTER id TYPE int8, ALTER s TYPE text COLLATE "C",
		ALTER a TYPE int[] USING a');
	way('ADD COLUMN', 'ALTER TABLE b ADD w float8 DEFAULT random(),
		ADD x int8 GENERATED ALWAYS AS (id + 1) STORED');
	way('DROP COLUMN', 'ALTER TABLE b DROP w, DROP x; VACUUM FULL b');
	way('SET UNLOGGED', 'ALTER TABLE b SET UNLOGGED');
	way('VACUUM FULL of an unlogged table', 'VACUUM FULL b');
	way('SET LOGGED', 'ALTER TABLE b SET LOGGED');
	sql('CREATE ACCESS METHOD another_heap TYPE TABLE HANDLER heap_tableam_handler');
	way('SET ACCESS METHOD', 'ALTER TABLE b SET ACCESS METHOD another_heap');
	way('a rewrite in a transaction', 'BEGIN; ' . fill('b', $rows + 1, $rows + 500)
		. '; ALTER TABLE b ALTER id TYPE int8 USING id, ALTER v TYPE int8; COMMIT');
	# without a rewrite of the table
	my $from = -s server()->{log};
	sql('ALTER TABLE b ALTER s TYPE text COLLATE "POSIX"');
	is(built($from), 'b_columns b_excludes b_expr b_text',
		'ALTER TYPE with another collation: built with workers');
	indexes_hold('another collation', @indexes);
	sql('DROP TABLE b; DROP ACCESS METHOD another_heap');
	usual();
};

scenario 'materialized views and partitions with workers', [], sub {
	my @some = grep { $_->[1] !~ /^CONSTRAINT/ } @indexes;
	my $names = join(' ', sort map { $_->[0] } @some);
	my $from;

	workers_first();
	table_b('');
	sql("ALTER TABLE b RENAME TO b_source; CREATE MATERIALIZED VIEW b $options AS SELECT *
		FROM b_source WITH NO DATA");
	sql(statement($_)) for @some;
	for my $what ('REFRESH', 'REFRESH again')
	{
		$from = -s server()->{log};
		sql('REFRESH MATERIALIZED VIEW b');
		is(built($from), $names, "$what: built with workers");
		indexes_hold($what, @some);
	}
	is(error_of('UPDATE b_source SET id = 5 WHERE id = 6; REFRESH MATERIALIZED VIEW b'), '23505',
		'REFRESH finds duplicates');
	sql('DROP MATERIALIZED VIEW b; DROP TABLE b_source');

	sql("CREATE TABLE b $columns PARTITION BY RANGE (id)");
	for my $part (1, 2)
	{
		my ($from, $to) = (1 + ($part - 1) * $rows, $part * $rows);

		sql("CREATE TABLE b$part $columns $options; " . fill("b$part", $from, $to));
		# (before 18 a partitioned table has no unique index that is not btree's)
		sql("CREATE UNIQUE INDEX b${part}_own ON b$part USING surfidx (id)");
	}
	my $way = sub {
		my ($what, $sql, $like) = @_;
		my @parts = split /,/, sql("SELECT c.oid::regclass FROM pg_class c JOIN pg_index
			ON indexrelid = c.oid WHERE indrelid IN ('b1'::regclass, 'b2'::regclass) ORDER BY 1");

		$from = -s server()->{log};
		sql($sql);
		like(built($from), qr/^$like$/, "$what: built with workers");
		is(eval { sql("SELECT surfidx_check('$_', true, true)") } // $@, '', "$what: $_")
			for @parts;
		return;
	};
	sql("ALTER TABLE b ATTACH PARTITION b1 FOR VALUES FROM (1) TO (@{[ $rows + 1 ]})");
	$way->('CREATE INDEX', 'CREATE INDEX b_n ON b USING surfidx (n); CREATE INDEX b_a ON b
		USING surfidx (a) INCLUDE (s); CREATE INDEX b_o ON b USING surfidx ((id * 2)) WHERE n > 3',
		'b1_a_s_idx b1_expr_idx b1_n_idx');
	$way->('ATTACH PARTITION', "ALTER TABLE b ATTACH PARTITION b2 FOR VALUES
		FROM (@{[ $rows + 1 ]}) TO (@{[ 2 * $rows + 1 ]})", 'b2_a_s_idx b2_expr_idx b2_n_idx');
	my $all = join(' ', map { my $p = $_;
		map { "${p}_$_" } qw(a_s_idx expr_idx n_idx own) } qw(b1 b2));
	$way->('VACUUM FULL of a partitioned table', 'VACUUM FULL b', $all);
	$way->('REINDEX of a partitioned table', 'REINDEX TABLE b', $all);
	$way->('ALTER TYPE of a partitioned table', 'ALTER TABLE b ALTER n TYPE numeric,
		ALTER a TYPE int8[]',
		'b1_a_s_idx b1_expr_idx b1_n_idx b1_own b2_a_s_idx b2_expr_idx b2_n_idx b2_own');
	is(error_of('INSERT INTO b SELECT * FROM b1 LIMIT 5'), '23505', 'a partition refuses copies');
	sql('DROP TABLE b');
	usual();
};

scenario 'duplicates across workers', [], sub {
	workers_first();
	table_b('');
	sql(fill('b', 100, 100));
	for my $concurrently (0, 1)
	{
		for my $index (grep { $_->[3] } @indexes)
		{
			my ($name, $definition, undef, $error) = @$index;

			# row 100 is not among those of partial indexes
			next if $definition =~ /n % 3 = 0/ || ($concurrently && $error eq '23P01');
			is(error_of(statement($index, $concurrently)), $error, "$name finds it"
				. ($concurrently ? ', concurrently' : ''));
			sql("DROP INDEX IF EXISTS $name");
		}
	}
	sql('DELETE FROM b WHERE id = 100; UPDATE b SET o = NULL WHERE id = 200');
	my ($distinct, $not) = map { my $name = $_;
		grep { $_->[0] eq $name } @indexes } qw(b_distinct b_not_distinct);
	is(error_of(statement($distinct)), '', 'NULLs are distinct');
	is(error_of(statement($not)), '23505', 'NULLs are not distinct');
	sql(statement($indexes[2]));
	is(error_of('ALTER TABLE b ALTER id TYPE int USING id / 2'), '23505',
		'a rewrite finds what it made');
	sql('DROP TABLE b');
	usual();
};

# Whatever else makes a worker's view another one: the statement fails, and the index is as before.
scenario 'a worker that sees something else than its leader', [], sub {
	workers_first();
	table_b('');
	sql(statement($_)) for @indexes;
	workers_first('workers ask the catalogs');
	is(error_of('VACUUM FULL b'), 'XX000', 'is an error');
	is(error_of('CLUSTER b USING b_unique'), 'XX000', 'of CLUSTER, too');
	indexes_hold('the statement that failed', @indexes);
	is(error_of('REINDEX TABLE b'), '', 'where the catalogs say the same it is none');
	sql('DROP TABLE b');
	usual();
};

# What expressions can see of the session is the leader's in workers, too.
scenario 'settings, user and search path of workers', [], sub {
	workers_first();
	table_b('');
	# (from 17 on core restricts the search path of builds)
	sql(q{CREATE ROLE builder; CREATE SCHEMA first AUTHORIZATION builder; GRANT ALL
		ON SCHEMA public TO builder;
		CREATE FUNCTION public.which() RETURNS int LANGUAGE sql AS 'SELECT 1';
		CREATE FUNCTION first.which() RETURNS int LANGUAGE sql AS 'SELECT 2';
		CREATE FUNCTION public.seen(k int8) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
			$f$BEGIN RETURN concat_ws(' ', current_user, session_user,
				coalesce(to_regproc('which')::oid::text, 'none'), current_setting('my.own', true),
				current_setting('maintenance_work_mem'), current_setting('TimeZone'),
					current_setting('DateStyle')); END$f$;
		ALTER TABLE b OWNER TO builder});
	my $settings = q{SET search_path = first, public; SET my.own = 'mine';
		SET maintenance_work_mem = '3MB'; SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'SQL, DMY'};
	my %seen;
	for my $workers (0, 2)
	{
		my $from = -s server()->{log};

		sql("$settings; SET max_parallel_maintenance_workers = $workers;
			DROP INDEX IF EXISTS b_seen; CREATE INDEX b_seen ON public.b USING surfidx (seen(id),
			id); RESET ALL");
		is(built($from), $workers ? 'b_seen' : '', "built with $workers workers");
		# as it stands in the index: an index-only scan does not call the function
		$seen{$workers} = sql(q{SET enable_seqscan = off; SET enable_bitmapscan = off;
			SET enable_sort = off;
			SELECT count(*), min(x), max(x) FROM (SELECT seen(id) x FROM b ORDER BY seen(id),
				id OFFSET 0) y; RESET ALL});
	}
	like($seen{0}, qr/^$rows\|builder postgres \w+ mine 3MB Asia.Tokyo SQL, DMY\|/,
		'the values of the build');
	is($seen{2}, $seen{0}, 'the same values');
	sql('DROP TABLE b; DROP FUNCTION seen(int8), which(), first.which(); DROP SCHEMA first;
		REVOKE ALL ON SCHEMA public FROM builder; DROP ROLE builder');
	usual();
};

# Rows that an old snapshot sees otherwise than the index does: the index is of no use to it.
scenario 'broken HOT chains that a worker finds', [], sub {
	my %checkxmin;

	workers_first();
	for my $workers (0, 2)
	{
		table_b('');
		my $old = session();
		sql('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM b', $old);
		sql('UPDATE b SET v = 1 WHERE id IN (SELECT id FROM b WHERE id % 100 = 3 LIMIT 5); UPDATE b
			SET v = 2 WHERE v = 1');
		sql("SET max_parallel_maintenance_workers = $workers; CREATE INDEX b_v ON b
			USING surfidx (v); RESET ALL");
		$checkxmin{$workers} = sql("SELECT indcheckxmin FROM pg_index
			WHERE indexrelid = 'b_v'::regclass");
		sql('COMMIT', $old);
	}
	is($checkxmin{0}, 't', 'a serial build says so');
	is($checkxmin{2}, 't', 'a parallel one does');
	sql('DROP TABLE b');
	usual();
};

# By what the same statement makes without workers, byte for byte but for the build's number.
scenario 'a parallel build makes the index that a serial one makes', [], sub {
	my %made;

	workers_first();
	table_b('');
	sql(statement($_)) for @indexes;
	for my $workers (0, 2)
	{
		sql("SET max_parallel_maintenance_workers = $workers; VACUUM FULL b; RESET ALL");
		$made{$workers} = sql('SELECT ' . join(q{ || ' ' || },
			map { "(SELECT concat_ws(' ', pg_relation_size('$_'), s)
			FROM surfidx_stats('$_') s)" } @names));
	}
	is($made{2}, $made{0}, 'the same pages');
	sql('DROP TABLE b');
	usual();
};

# ALTER SYSTEM, and until a session sees it
sub set_mutants
{
	my ($mutants) = @_;

	sql("ALTER SYSTEM SET surfidx.mutants = '$mutants'; SELECT pg_reload_conf()");
	sql("SELECT 1") until sql('SHOW surfidx.mutants') eq $mutants;
	return;
}

scenario 'a C library whose transforms are no order (K3)', ['words unproved'], sub {
	my $rule = $ENV{SURFIDX_MUTANT};
	my $name = sql("SELECT quote_ident(collname) FROM pg_collation WHERE collprovider = 'c'
		AND lower(collname) IN ('c.utf8', 'c.utf-8') ORDER BY 1 LIMIT 1");

	if ($name eq '')
	{
		ok($rule ? 0 : 1, 'the machine has no C.UTF-8');
		return;
	}
	sql("CREATE TABLE words (n int, s text COLLATE $name);
		INSERT INTO words SELECT g % 7, md5(g::text) FROM generate_series(1, 3000) g");
	set_mutants(join(',', 'transforms lie', $rule ? $rule : ()));
	for my $columns ('s', 's DESC', 'n, s')
	{
		is(error_of("CREATE INDEX words_i ON words USING surfidx ($columns)"), '', "$columns: it is built");
		is(sql("SELECT count(*) FROM surfidx_check_all(true) WHERE problem IS NOT NULL"), '0', '... and sound');
		sql('DROP INDEX IF EXISTS words_i');
	}
	sql('ALTER SYSTEM RESET surfidx.mutants; SELECT pg_reload_conf()');
	sql('DROP TABLE words');
};

# Danish: two letters that sort as one, after z, which no guess knows
scenario 'merges where guesses of a collation are wrong (B5)', ['guesses unproved'], sub {
	my $rule = $ENV{SURFIDX_MUTANT};

	if (sql("SELECT count(*) FROM pg_collation WHERE collname = 'da-x-icu'") eq '0')
	{
		ok($rule ? 0 : 1, 'the server has no ICU');
		return;
	}
	my $rows = sub {
		"INSERT INTO aa SELECT g % 7, translate(md5(g::text), '0123', 'aaAz')
			FROM generate_series($_[0], $_[1]) g";
	};
	for my $columns ('s', 's DESC', 'n, s')
	{
		sql('CREATE TABLE aa (n int, s text COLLATE "da-x-icu") WITH (autovacuum_enabled = off)');
		sql($rows->(1, 6000) . "; CREATE INDEX aa_i ON aa USING surfidx ($columns)");
		sql($rows->(6001, 7000));
		is(error_of("SELECT surfidx_merge('aa_i')"), '', "$columns: it is merged");
		is(sql('SELECT count(*) FROM surfidx_check_all(true) WHERE problem IS NOT NULL'), '0',
			'... and sound');
		sql('DROP TABLE aa');
	}
};

run_scenarios(conf => [ 'log_min_messages = debug1', 'max_parallel_maintenance_workers = 2',
	'max_worker_processes = 16', 'surfidx.unique_notice = off' ]);
