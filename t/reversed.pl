# Operator classes of a user's own comparison functions in C: purely reversed, and one with values that are equal without being the same.
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir;
my $node = new_node('reversed');
open(my $c, '>', "$dir/orders.c") or die $!;
print $c <<'END';
#include "postgres.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "varatt_or_not.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(reversed_int4);
PG_FUNCTION_INFO_V1(by_length);

Datum
reversed_int4(PG_FUNCTION_ARGS)
{
	int32		a = PG_GETARG_INT32(0);
	int32		b = PG_GETARG_INT32(1);

	PG_RETURN_INT32((a < b) - (a > b));
}

/* texts of one length are equal */
Datum
by_length(PG_FUNCTION_ARGS)
{
	Size		a = VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(0));
	Size		b = VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(1));

	PG_RETURN_INT32((a > b) - (a < b));
}
END
close($c);
my $include = $node->config_data('--includedir-server');
open(my $h, '>', "$dir/varatt_or_not.h") or die $!;
print $h -e "$include/varatt.h" ? "#include \"varatt.h\"\n" : "\n";
close($h);
plan skip_all => 'no C compiler'
  if system("cc -shared -fPIC -O1 -I$dir -I'$include' -o $dir/orders.so $dir/orders.c >$dir/cc.log 2>&1");

$node->start;
my $helpers = PostgreSQL::Test::Utils::slurp_file("$ENV{TESTDIR}/sql/helpers/compare.sql");
$node->safe_psql('postgres', $helpers . qq{
CREATE FUNCTION reversed_int4(int4, int4) RETURNS int4 AS '$dir/orders' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION by_length(text, text) RETURNS int4 AS '$dir/orders' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR CLASS reversed_ops FOR TYPE int4 USING surfidx AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <,
	FUNCTION 1 reversed_int4(int4, int4);
SELECT make_source('rv', 'SELECT i, CASE WHEN i % 13 = 0 THEN NULL ELSE i * 7919 % 211 - 100 END FROM generate_series(1, 500) i', '>')});

# Without errors and without a word.
sub silent
{
	my ($query, $what) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = error; $query");
	$out =~ s/^\s+|\s+$//g;
	is("$rc $out $err", '0  ', $what);
}

silent(q{SELECT * FROM compare_type('rv', '{110,50,7,0,-77,-100}', 'reversed_ops', '{>,>=,=,<=,<}') WHERE complaint ~ 'WRONG'}, 'reversed integers, which core does not know for an order');
$node->safe_psql('postgres', q{CREATE TABLE ru (v int); CREATE UNIQUE INDEX ru_v ON ru USING surfidx (v reversed_ops); INSERT INTO ru SELECT generate_series(1, 1000)});
my ($rc, $out, $err) = $node->psql('postgres', 'INSERT INTO ru VALUES (500)');
like($err, qr/duplicate key value violates unique constraint "ru_v"/, 'unique');
$node->safe_psql('postgres', q{SELECT surfidx_merge('ru_v'); SELECT surfidx_check('ru_v', true)});
($rc, $out, $err) = $node->psql('postgres', 'INSERT INTO ru VALUES (501)');
like($err, qr/duplicate key value violates unique constraint "ru_v"/, 'unique after a merge');

# An order of its own with operators of its own: many values are equal.
$node->safe_psql('postgres', join('', map {
	my ($name, $op, $test) = @$_;
	qq{CREATE FUNCTION length_$name(text, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN by_length(\$1, \$2) $test 0; END';
	CREATE OPERATOR $op (LEFTARG = text, RIGHTARG = text, FUNCTION = length_$name, RESTRICT = scalarltsel);}
} ([ 'lt', '<#', '<' ], [ 'le', '<=#', '<=' ], [ 'eq', '=#', '=' ], [ 'ge', '>=#', '>=' ], [ 'gt', '>#', '>' ])) . q{
CREATE OPERATOR CLASS length_ops FOR TYPE text USING surfidx AS OPERATOR 1 <#, OPERATOR 2 <=#, OPERATOR 3 =#, OPERATOR 4 >=#, OPERATOR 5 >#, FUNCTION 1 by_length(text, text);
CREATE TABLE ln AS SELECT i AS id, CASE WHEN i % 13 = 0 THEN NULL ELSE substr(md5(i::text), 1, i % 17) END AS v FROM generate_series(1, 500) i});
silent(q{SELECT * FROM compare('ln', '(v length_ops) INCLUDE (id)', ARRAY(SELECT format('SELECT id, v FROM %%t WHERE v %s %L', o, l) FROM unnest('{<#,<=#,=#,>=#,>#}'::text[]) o, unnest('{"",a,zzz,0123456789abcdef,0123456789abcdef0}'::text[]) l))},
	'texts by length');
$node->safe_psql('postgres', q{CREATE TABLE lu (v text); CREATE UNIQUE INDEX lu_v ON lu USING surfidx (v length_ops); INSERT INTO lu VALUES ('a'), ('ab'), ('abc')});
($rc, $out, $err) = $node->psql('postgres', q{INSERT INTO lu VALUES ('xy')});
like($err, qr/duplicate key value violates unique constraint "lu_v"/, 'unique among values that differ');
$node->stop;

done_testing();
