# docs/unique.md: each cell of the table says what this server does. A row without a probe fails,
# and so does a probe without a row: a change of one is a change of the other.
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Utils;
use SurfidxTest;
use Test::More;

my $root = "$FindBin::Bin/..";
my $node = new_node('matrix', <<'END', allows_streaming => 'logical');
surfidx.auto_merge = off
surfidx.unique_notice = off
enable_seqscan = off
END
$node->start;
my $version = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
my $with = 'WITH (access_method = surfidx)';

# ---- the document ----

# The rows: what it is, and what it says of this version.
sub rows_of_table
{
	my ($text) = slurp_file("$root/docs/unique.md") =~ /^(\| use of a unique .*?)\n\n/ms;
	my ($head, undef, @rows) = split /\n/, $text;
	my ($use, @columns) = split /\s*\|\s*/, $head =~ s/^\|\s*//r;
	my ($mine) = grep { $columns[$_] =~ /\b$version\b/ } 0 .. $#columns;
	my @said;

	for my $row (@rows)
	{
		my ($what, @cells) = split /\s*\|\s*/, $row =~ s/^\|\s*//r;
		my $cell = $cells[$mine] eq 'the same' ? $cells[ $mine - 1 ] : $cells[$mine];

		# of some of the column's versions
		($cell) = map { /^[\d, ]*\b$version\b[\d, ]*: (.*)/ ? $1 : () } split /;\s*/, $cell
			if $cell =~ /^\d/;
		# in the words of the cell before
		$cell .= ": $1" if $cell eq 'no' && $cells[ $mine - 1 ] =~ /(".*")/;
		push @said, [ $what =~ s/[`]//gr, $cell ];
	}
	return @said;
}

# ---- the server ----

sub query { return $node->safe_psql('postgres', $_[0]) }

# 'done', or the error
sub tried
{
	my ($rc, $out, $err) = $node->psql('postgres', $_[0]);

	return $rc ? $err : 'done';
}

# 'done' if the query answers that
sub answers
{
	my ($sql, $want) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql);

	return $rc ? $err : $out =~ $want ? 'done' : "answered: $out";
}

query(<<"END");
CREATE EXTENSION surfidx;
CREATE TABLE u (k int, v int);
CREATE UNIQUE INDEX u_k ON u USING surfidx (k);
CREATE TABLE a (id int PRIMARY KEY $with, name text UNIQUE $with,
	n int UNIQUE $with DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
CREATE UNIQUE INDEX p1_k ON p1 USING surfidx (k);
INSERT INTO a SELECT g, 'n' || g, g FROM generate_series(1, 1000) g;
CREATE DATABASE sub;
CREATE PUBLICATION pub FOR TABLE u;
ALTER TABLE u ALTER k SET NOT NULL, REPLICA IDENTITY USING INDEX u_k;
END

# What a decoded change of u says of its key.
sub decoded
{
	query("SELECT pg_create_logical_replication_slot('decoded', 'test_decoding')");
	query(<<'END');
INSERT INTO u VALUES (70, 1);
UPDATE u SET k = 71 WHERE k = 70;
DELETE FROM u WHERE k = 71;
END
	my $said = answers("SELECT string_agg(data, E'\n') FROM pg_logical_slot_get_changes('decoded', "
		. 'NULL, NULL)', qr/UPDATE: old-key: k\[integer\]:70 .*DELETE: k\[integer\]:71\n/s);

	query("SELECT pg_drop_replication_slot('decoded')");
	return $said;
}

# Changes of u, applied to a table whose identity is a surfidx index.
sub applied
{
	my $end = -s $node->logfile;
	my $sums = 'SELECT count(*), sum(k), sum(v) FROM u WHERE k > 1000';
	my $from = 'port=' . $node->port . ' host=' . $node->host . ' dbname=postgres';
	my $said = 'done';

	query("SELECT pg_create_logical_replication_slot('s', 'pgoutput')");
	$node->safe_psql('sub', $_) for <<'END', <<"END";
CREATE EXTENSION surfidx;
CREATE TABLE u (k int NOT NULL, v int);
CREATE UNIQUE INDEX u_k ON u USING surfidx (k);
ALTER TABLE u REPLICA IDENTITY USING INDEX u_k;
END
CREATE SUBSCRIPTION s CONNECTION '$from' PUBLICATION pub
	WITH (create_slot = false, slot_name = 's', copy_data = false);
END
	query(<<'END');
INSERT INTO u SELECT g, 0 FROM generate_series(1001, 2000) g;
UPDATE u SET v = k WHERE k % 3 = 0;
DELETE FROM u WHERE k % 5 = 0;
END
	my $want = query($sums);

	until ($node->safe_psql('sub', $sums) eq $want)
	{
		my ($error) = substr(slurp_file($node->logfile), $end) =~ /ERROR:\s+(missing operator.*)/;

		$said = $error, last if $error;
		select undef, undef, undef, 0.1;
	}
	$node->safe_psql('sub', <<'END');
ALTER SUBSCRIPTION s DISABLE;
ALTER SUBSCRIPTION s SET (slot_name = NONE);
DROP SUBSCRIPTION s;
END
	return $said;
}

sub conflicts
{
	return tried(<<'END');
INSERT INTO u VALUES (1, 1), (2, 2) ON CONFLICT DO NOTHING;
INSERT INTO u VALUES (1, 1) ON CONFLICT (k) DO UPDATE SET v = 5;
INSERT INTO a VALUES (5) ON CONFLICT ON CONSTRAINT a_pkey DO NOTHING;
SELECT 1 / (count(*) / 2) FROM u WHERE v IN (2, 5);
END
}

sub merges
{
	return tried(join '', map { <<"END" } qw(u p));
MERGE INTO $_ t USING (VALUES (1, 7), (3, 8)) n (k, v) ON t.k = n.k
	WHEN MATCHED THEN UPDATE SET v = n.v
	WHEN NOT MATCHED THEN INSERT VALUES (n.k, n.v);
SELECT 1 / (count(*) / 2) FROM $_ WHERE k IN (1, 3) AND v IN (7, 8);
END
}

sub constraints
{
	return answers(<<'END', qr/^surfidx surfidx surfidx$/);
SELECT string_agg(amname, ' ') FROM pg_constraint c JOIN pg_class i ON i.oid = conindid
	JOIN pg_am m ON m.oid = relam WHERE conrelid = 'a'::regclass AND contype IN ('p', 'u');
BEGIN;
INSERT INTO a VALUES (2001, 'x', 5);
UPDATE a SET n = 2005 WHERE id = 5;
COMMIT;
END
}

sub needless_joins
{
	return answers(<<'END', qr/^(?!.*(Join|Loop|on a))/s);
EXPLAIN SELECT u.* FROM u LEFT JOIN a ON u.v = a.id LEFT JOIN u b ON b.k = u.v;
END
}

sub foreign_keys
{
	my $made = tried(<<'END');
CREATE TABLE r (a int REFERENCES a ON DELETE CASCADE, u int REFERENCES u (k));
CREATE TABLE q (k int, a int REFERENCES a ON UPDATE CASCADE) PARTITION BY RANGE (k);
CREATE TABLE q1 PARTITION OF q FOR VALUES FROM (0) TO (100);
INSERT INTO r VALUES (7, 1);
INSERT INTO q VALUES (1, 8);
UPDATE a SET id = 3008 WHERE id = 8;
DELETE FROM a WHERE id = 7;
SELECT 1 / (1 - count(*)) FROM r;
END
	return $made if $made ne 'done';
	return 'does not hold' if tried('INSERT INTO q VALUES (1, 8)') !~ /violates foreign key/;
	return answers('SELECT a FROM q', qr/^3008$/);
}

my %probes = (
	'INSERT ... ON CONFLICT' => \&conflicts,
	'... of a row that is routed to a partition with such an index' =>
		sub { tried('INSERT INTO p VALUES (1) ON CONFLICT DO NOTHING') },
	'... with a target that names an operator class, ON CONFLICT (k int4_ops)' =>
		sub { tried('INSERT INTO u VALUES (1) ON CONFLICT (k int4_ops) DO NOTHING') },
	'MERGE, into a partitioned table, too' => \&merges,
	'PRIMARY KEY, UNIQUE as constraints, also deferrable' => \&constraints,
	'GROUP BY the primary key, and the other columns with it' => sub { tried(<<'END') },
CREATE VIEW grouped AS
	SELECT a.id, a.name, a.n, count(*) FROM a JOIN u ON a.id = u.k GROUP BY a.id;
SELECT * FROM grouped;
END
	'joins that a unique key makes needless are left out of plans' => \&needless_joins,
	"target of a foreign key, also one of a partitioned table's" => \&foreign_keys,
	'UNIQUE on a partitioned table' => sub { tried(<<"END") },
CREATE TABLE pu (k int, v int, PRIMARY KEY (k) $with) PARTITION BY RANGE (k);
END
	'REFRESH MATERIALIZED VIEW CONCURRENTLY' => sub { tried(<<'END') },
CREATE MATERIALIZED VIEW mv AS SELECT id FROM a;
CREATE UNIQUE INDEX ON mv USING surfidx (id);
REFRESH MATERIALIZED VIEW CONCURRENTLY mv;
END
	'CLUSTER' => sub { tried('CLUSTER a USING a_pkey; CLUSTER a') },
	'REPLICA IDENTITY USING INDEX: what a publisher sends' => \&decoded,
	'... and what a subscriber finds rows by' => \&applied);

# ---- cell by cell ----

my @rows = rows_of_table();
is_deeply([ sort map { $_->[0] } @rows ], [ sort keys %probes ],
	'each row has a probe, and each probe a row');
for my $row (@rows)
{
	my ($what, $cell) = @$row;
	my $said = $probes{$what} ? $probes{$what}->() : 'no probe';

	if ($cell =~ /^no\b/)
	{
		my ($words) = $cell =~ /"(.*)"/;

		like($said, qr/\Q$words\E/, "$what: $cell");
	}
	else
	{
		is($said, 'done', "$what: $cell");
	}
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing fell');
$node->stop('fast');

done_testing();
