# README.md and docs/ are true: every SQL statement in them runs, with the extension in the
# schema of its own that README.md recommends; figures are those of the last run, and the tables of
# settings and storage parameters are those of the code, none missing.
use strict;
use warnings;

use FindBin;
use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = "$FindBin::Bin/..";
my @docs = ('README.md', map { s!^\Q$root/!!r } sort glob("$root/docs/*.md"));
my %text = map { $_ => slurp_file("$root/$_") } @docs;
my $node = new_node('readme', 'max_parallel_workers_per_gather = 0');
$node->start;
# README.md begins with the extension and with a table that its reader has
$node->safe_psql('postgres', 'CREATE TABLE orders (id bigserial, customer_id bigint);
	INSERT INTO orders (customer_id) SELECT i % 100 FROM generate_series(1, 10000) i');

# ---- SQL ----

# Is there that extension?
sub can_have
{
	my ($extension) = @_;

	return $node->safe_psql('postgres',
		"SELECT 1 FROM pg_available_extensions WHERE name = '$extension'");
}

# As its reader does it: each document in a session of its own, from beginning to end.
for my $doc (@docs)
{
	my @blocks = grep { !/CREATE EXTENSION (?:IF NOT EXISTS )?(\w+)/ || can_have($1) }
		$text{$doc} =~ /^```sql\n(.*?)^```/msg;
	my ($rc, $out, $err) = $node->psql('postgres', join('', @blocks), on_error_stop => 0);

	is(join("\n", grep { /ERROR|FATAL/ } split /\n/, $err), '',
		"$doc: " . scalar(@blocks) . ' blocks of SQL run');
	# what is meant for a psql prompt or a shell is indented; SQL that is only indented would not be run
	unlike($text{$doc}, qr/^ {4}(?:SELECT|ALTER INDEX|CREATE TABLE|CREATE UNIQUE|INSERT)/m,
		"$doc: all SQL stands in blocks of SQL");
	# the answers that README.md shows
	next if $doc ne 'README.md';
	my %answered = map { s/^ *//r => 1 } split /\n/, $out;
	my @shown = map { split /\n/ } $text{$doc} =~ /^```text\n(.*?)^```/msg;

	cmp_ok(scalar(@shown), '>', 4, 'README.md shows answers');
	is(join("\n", grep { !$answered{ s/^ *//r =~ s/ *\| */|/gr } } @shown), '',
		'... that the statements give');
}
isnt($node->safe_psql('postgres', 'SELECT extnamespace::regnamespace FROM pg_extension '
	. q(WHERE extname = 'surfidx')), 'public', 'the extension is in a schema of its own');
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET search_path = public, surfidx');

# ---- figures ----

is(system("$root/bench/readme.sh", '--check'), 0, 'tables are those of the newest results of bench/run.sh');

# ---- links ----

for my $doc (@docs)
{
	my ($dir) = $doc =~ m!^(.*/)?!;
	my @broken;

	while ($text{$doc} =~ /\]\(([^)\s]+)\)/g)
	{
		my ($file, $anchor) = split /#/, $1, 2;
		my $target = $file eq '' ? $doc : ($dir // '') . $file;

		next if $file =~ /^https?:/;
		# of the rest of the repository the test has nothing
		next if $target =~ m!^(?:CHANGELOG\.md|CONTRIBUTING\.md|LICENSE|(?:docs/\.\./)?src/README\.md)!;
		push @broken, $1 if !-e "$root/$target";
		next if !defined $anchor || !-e "$root/$target";
		my %anchors = map { my $h = lc; $h =~ s/[^a-z0-9 _-]//g; $h =~ s/ /-/g; $h => 1 } slurp_file("$root/$target") =~ /^#+ (.*)$/mg;
		push @broken, $1 if !$anchors{$anchor};
	}
	is("@broken", '', "$doc: links lead somewhere");
}

# ---- columns ----

# Every column of what monitors has a word in docs/monitoring.md, but for those that name a table or an index as PostgreSQL's own views do.
for my $relation (qw(surfidx_stat_indexes surfidx_stat_progress_merge surfidx_meta surfidx_runs
	surfidx_dictionaries surfidx_filters surfidx_health surfidx_tune surfidx_leaf_keys
	surfidx_budget surfidx_page_counts surfidx_shared_memory))
{
	my @columns = split /\n/, $node->safe_psql('postgres', "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('$relation') AND attnum > 0
		UNION SELECT unnest(proargnames[pronargs + 1:]) FROM pg_proc WHERE proname = '$relation' EXCEPT
		SELECT unnest('{relid, indexrelid, schemaname, relname, indexrelname, datid}'::name[]) ORDER BY 1");

	cmp_ok(scalar(@columns), '>', 2, "$relation has columns");
	is(join(' ', grep { $text{'docs/monitoring.md'} !~ /`\Q$_\E`/ } @columns), '', "... all in docs/monitoring.md");
}

# ---- reference ----

my $reference = $node->safe_psql('postgres', slurp_file("$root/scripts/reference.sql"));

is("$reference\n", $text{'docs/reference.md'}, 'docs/reference.md is what scripts/reference.sh makes of the catalog');

# ---- queries and dashboard of monitoring/ ----

my $queries = slurp_file("$root/monitoring/queries.yaml");
my %metric;

$node->safe_psql('postgres', 'CREATE ROLE exporter LOGIN; GRANT pg_monitor TO exporter;
	GRANT USAGE ON SCHEMA surfidx TO exporter');
while ($queries =~ /^(\w+):\n(?:\ \ (?!query).*\n)*\ \ query:\ \|\n((?:\ {4}.*\n)+)
	(?:\ \ (?!metrics).*\n)*\ \ metrics:\n((?:\ {4}.*\n)+)/mgx)
{
	my ($name, $query, $metrics) = ($1, $2, $3);
	my @columns = $metrics =~ /^    - (\w+): \{usage: /mg;
	my ($rc, $out, $err) = $node->psql('postgres', "\\pset tuples_only off\n\\pset footer off\n$query",
		extra_params => [ '-U', 'exporter' ]);

	is($rc, 0, "monitoring: $name is a query") or diag($err);
	is(($out =~ /^(.*)/)[0], join('|', @columns), "monitoring: $name has its columns");
	$metric{"${name}_$_"} = 1 for $metrics =~ /^    - (\w+): \{usage: (?:GAUGE|COUNTER)/mg;
}
cmp_ok(scalar(keys %metric), '>', 20, 'monitoring: there are metrics');
my $dashboard = slurp_file("$root/monitoring/grafana.json");
is(join(' ', grep { !$metric{$_} } $dashboard =~ /\b(surfidx_\w+)(?=[{ \[,)])/g), '',
	'monitoring: the dashboard shows metrics that there are');

# ---- settings ----

my %context = (never => 'internal', restart => 'postmaster', reload => 'sighup', superuser => 'superuser', session => 'user');
my %kilobytes = (kB => 1, MB => 1024, GB => 1024 * 1024);
my %documented;

# A number as pg_settings has it, in the setting's unit.
sub plain { my ($v) = @_; return $v =~ /^([\d.]+)(kB|MB|GB)$/ ? $1 * $kilobytes{$2} : $v }

while ($text{'docs/parameters.md'} =~ /^\| `surfidx\.(\w+)` \| (\S*) \| ([^|]*?) ?\| (\w+) \|/mg)
{
	my ($name, $default, $range, $change) = ($1, $2, $3, $4);
	my ($boot, $min, $max, $context) =
	  split /\|/, $node->safe_psql('postgres', "SELECT boot_val, min_val, max_val, context FROM pg_settings WHERE name = 'surfidx.$name'") . '|';

	$documented{$name} = 1;
	is(plain($default), $boot, "default of surfidx.$name");
	is($context{$change}, $context, "how surfidx.$name is changed");
	if ($range =~ /^from (\S+)$/) { is(plain($1), $min, "least surfidx.$name") }
	elsif ($range =~ /^(\S+) to (\S+)$/) { is(plain($1) . ' to ' . plain($2), "$min to $max", "range of surfidx.$name") }
	else { is($range . $min, '', "surfidx.$name has no range") }
}
is(join(' ', sort keys %documented), $node->safe_psql('postgres', q(SELECT string_agg(substr(name, 9), ' ' ORDER BY name COLLATE "C") FROM pg_settings WHERE name LIKE 'surfidx.%')),
	'the settings of docs/parameters.md are those of the library');

# ---- storage parameters ----

# Their defaults are nowhere but in the code.
my $code = join('', map { slurp_file($_) } glob("$root/src/base/*.[ch] $root/src/core/*/*.h"));
my (%code, %parameter);

while ($code =~ /add_(int|real|bool|enum)_reloption\(sfx_relopt_kind, "(\w+)",\s*"[^"]*",\s*(.*?)\);/sg)
{
	my ($type, $name, $rest) = ($1, $2, $3);
	my ($default) = ($type eq 'enum' ? $rest =~ /^\w+, (\w+)/ : $rest =~ /^(\S+?),/);

	$default = $1 if $code =~ /^#define \Q$default\E\s+\(?(-?[\d.]+)\)?/m;
	$default = 90 if $default eq 'BTREE_DEFAULT_FILLFACTOR';
	$code{$name} = [ $type, $default ];
}
while ($code =~ /add_string_reloption\(sfx_relopt_kind, "(\w+)",\s*"[^"]*",\s*NULL, check_\w+, lock/sg)
{
	$code{$1} = [ 'size', -1 ];
}
$node->safe_psql('postgres', 'CREATE TABLE opt (i int); CREATE INDEX opt_i ON opt USING surfidx (i)');
while ($text{'docs/parameters.md'} =~ /^\| `(\w+)` \| ([^|]*) \| ([^|]*) \| [^|]* \|$/mg)
{
	my ($name, $default, $values) = ($1, $2, $3);
	my ($type, $coded) = @{ $code{$name} // [] };
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nALTER INDEX opt_i SET ($name = 'nonsense'); ");

	next if !$type && $err =~ /unrecognized parameter/ && fail("storage parameter $name exists");
	$parameter{$name} = 1;
	if ($type eq 'enum' || $type eq 'bool')
	{
		my @values = split /, /, $values;

		is($node->psql('postgres', "ALTER INDEX opt_i SET ($name = '$_')"), 0, "$name can be $_") for @values;
		my ($valid) = $err =~ /Valid values are (.*)/;
		is(join(' ', sort @values), join(' ', sort $valid =~ /"(\w+)"/g), "values of $name") if $type eq 'enum';
		is($default, $values[0], "default of $name") if $type eq 'enum' && $coded =~ /^0$|NONE/;
		is($default, $coded eq 'true' ? 'on' : 'off', "default of $name") if $type eq 'bool';
	}
	else
	{
		($rc, $out, $err) = $node->psql('postgres', "ALTER INDEX opt_i SET ($name = -2)");
		my ($min, $max) = $err =~ /between "([\d.]+\w*)" and "([\d.]+\w*)"/;

		is(join(' to ', map { plain($_) + 0 } split / to /, $values),
			join(' to ', map { plain($_) + 0 } $min, $max), "range of $name");
		my $setting = $node->safe_psql('postgres', "SELECT current_setting('surfidx.$name', true)");
		my $unset = $setting ne '' ? 'the setting' : 'none';
		is($default, $coded == -1 ? $unset : $coded, "default of $name");
	}
}
is(join(' ', sort keys %parameter), join(' ', sort keys %code), 'the storage parameters of docs/parameters.md are those of the code');

$node->stop;
done_testing();
