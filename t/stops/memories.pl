# Caches of an index whose file is discarded, when numbers of files and indexes are reused: N1
# to N3 of src/README.md.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $place = $ENV{TMPDIR} || '/tmp';
my $elsewhere = "$place/memories_$$";

sub reader
{
	my $s = session();

	sql('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off', $s);
	return $s;
}

sub sound
{
	is(eval { sql("SELECT surfidx_check('$_', true, true)") } // $@, '', "$_ is sound") for @_;
	return;
}

# Table t with an index of numbers and one of text that gets a dictionary with its first merge;
# another place for them.
sub make
{
	my ($unique) = @_;

	if (!-d $elsewhere)
	{
		mkdir $elsewhere or die "$elsewhere: $!";
		sql("CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
	}
	build(20000, "SET surfidx.unique_notice = off;
		CREATE $unique INDEX t_k ON t USING surfidx (k)");
	sql("CREATE TABLE IF NOT EXISTS t_text (k int, s text COLLATE \"C\"); TRUNCATE t_text;
		DROP INDEX IF EXISTS t_s; CREATE INDEX t_s ON t_text USING surfidx (s) WITH (hope = fsst)");
	sql("SELECT surfidx_merge('t_k')");
	return;
}

sub add_text
{
	return "INSERT INTO t_text SELECT g, $_[0] FROM generate_series(1, 4000) g;
		SELECT surfidx_merge('t_s')";
}

# Rows from $from to $to, all of them merged but the last hundred.
sub add
{
	my ($from, $to, $s) = @_;
	my $last = $to - 100;

	sql("INSERT INTO t SELECT g, '' FROM generate_series($from, $last) g", $s);
	sql("SELECT surfidx_merge('t_k')", $s);
	sql("INSERT INTO t SELECT g, '' FROM generate_series($last + 1, $to) g", $s);
	return;
}

# How many of these keys are found, one by one.
sub found
{
	my ($from, $to, $s) = @_;

	return sql("SELECT count(x.k) FROM generate_series($from, $to) g,
		LATERAL (SELECT k FROM t WHERE k = g OFFSET 0) x", $s);
}

sub found_texts
{
	my ($s) = @_;

	return sql('SELECT count(x.s) FROM (SELECT s FROM t_text OFFSET 0) g,
		LATERAL (SELECT s FROM t_text WHERE s = g.s OFFSET 0) x', $s);
}

# A transaction of session s that moves the indexes and goes on there; returns the file's number.
sub move_and_add
{
	my ($s, $from, $to, $text) = @_;
	my $file;

	sql('BEGIN', $s);
	sql('ALTER INDEX t_k SET TABLESPACE elsewhere', $s);
	$file = sql("SELECT pg_relation_filenode('t_k')", $s);
	sql('ALTER INDEX t_s SET TABLESPACE elsewhere', $s);
	add($from, $to, $s);
	sql(add_text($text), $s);
	is(found($to + 1, $to + 80, $s), 0, 'nothing beyond');
	is(found($from, $to, $s), $to - $from + 1, 'all rows') for 1, 2;
	is(found_texts($s), 4000, 'all texts');
	return $file;
}

scenario 'a copied file that is rolled back', ['memories of any file,memories outlive files'], sub {
	make('UNIQUE');
	my $s = reader();
	move_and_add($s, 20001, 21000, "md5(g::text)");
	sql('ROLLBACK', $s);
	add(20001, 23000);
	is(found(22000, 23000, $s), 1001, 'rows of others beyond what was the end');
	is(error_of('INSERT INTO t VALUES (22000)', $s), '23505', 'none of them twice');
	sound('t_k', 't_s');
};

# As the first one, but in a file of the same number.  Unique checks would look into the tree.
for my $end ('ROLLBACK', "PREPARE TRANSACTION 'p'")
{
	my $name = "a copied file with the numbers of one that was rolled back, $end";
	my @mutants = ('memories outlive files', $end =~ /PREPARE/ ? 'prepared files stay known' : ());
	scenario $name, \@mutants, sub {
		make('');
		my $s = reader();
		my $file = move_and_add($s, 20001, 21000, "'visitor' || g || '\@example.org'");
		sql($end, $s);
		sql("ROLLBACK PREPARED 'p'") if $end =~ /PREPARE/;
		sql('CHECKPOINT');
		sql("SELECT stop_oid($file)");
		is(move_and_add($s, 20501, 23500, "'/usr/share/doc/' || g || '/copyright'"), $file,
			'the same number');
		is(found(20001, 20500, $s), 0, 'no row of the other history');
		sql('COMMIT', $s);
		is(found(20501, 23500, reader()), 3000, 'others see that, too');
		sound('t_k', 't_s');
	};
}

scenario 'an index with the numbers of one that was dropped', [], sub {
	make('UNIQUE');
	my $s = reader();
	my $numbers = "SELECT 't_k'::regclass::oid || ',' || pg_relation_filenode('t_k')";
	my ($oid, $file) = split /,/, sql($numbers);
	add(20001, 21000);
	is(found(20001, 21000, $s), 1000, 'all rows') for 1, 2;
	is(found(21001, 21080, $s), 0, 'nothing beyond');
	sql('DROP INDEX t_k; DELETE FROM t WHERE k > 20000');
	# or numbers of dead rows pass for taken
	sql('VACUUM pg_class');
	sql('CHECKPOINT');
	sql("SELECT stop_oid($oid)");
	sql('CREATE UNIQUE INDEX t_k ON t USING surfidx (k)');
	is(sql($numbers), "$oid,$file", 'the same numbers');
	add(20501, 23500);
	is(found(20501, 23500, $s), 3000, 'all rows');
	is(found(20001, 20500, $s), 0, 'none of the other index');
	sound('t_k');
};

run_scenarios(conf => [ 'max_prepared_transactions = 2' ]);
rmdir $elsewhere;
