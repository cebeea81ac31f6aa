# Foreign keys that refer to an index of ours, before 18 (Q7).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

# from 18 on core makes them by itself
my ($version) = `$ENV{PG_CONFIG} --version` =~ /(\d+)/;

# mutant => the mutant, where there is something to break
sub rule { return $version < 18 ? [@_] : [] }

# A table with keys of ours, and one that is to refer to it.
sub tables
{
	sql(<<'END_SQL');
DROP TABLE IF EXISTS refers, ref;
CREATE TABLE ref (k int8 PRIMARY KEY WITH (access_method = surfidx), s text COLLATE "C" UNIQUE
	WITH (access_method = surfidx));
INSERT INTO ref SELECT g, 's' || g FROM generate_series(1, 1000) g;
CREATE TABLE refers (k int, s text COLLATE "C");
INSERT INTO refers SELECT k, s FROM ref;
END_SQL
	return;
}

# The keys, their operators, and the methods of the classes of the indexes that they refer to.
sub keys_there
{
	return sql(<<'END_SQL');
SELECT conname || ' ' || conpfeqop::oid[]::regoperator[]::text || ' ' || convalidated || ' '
	|| (SELECT string_agg(amname, '+') FROM pg_index i, unnest(indclass) class
		JOIN pg_opclass o ON o.oid = class JOIN pg_am a ON a.oid = opcmethod
		WHERE indexrelid = conindid)
FROM pg_constraint WHERE contype = 'f' ORDER BY conname
END_SQL
}

my $both = 'refers_k_fkey {"=(bigint,integer)"} true surfidx,'
	. 'refers_s_fkey {"=(text,text)"} true surfidx';
my $keys = 'ALTER TABLE refers ADD FOREIGN KEY (k) REFERENCES ref, '
	. 'ADD FOREIGN KEY (s) REFERENCES ref (s)';

scenario 'rows that are checked while a key is made', rule('classes lent for longer'), sub {
	tables();
	is(error_of("SET enable_seqscan = off; SET enable_mergejoin = off; SET enable_hashjoin = off;
		$keys"), '', 'are looked up in our index');
	is(keys_there(), $both, 'and the keys are what they are of btrees');
};

scenario 'an index that somebody changes', rule('lent without a lock'), sub {
	tables();
	my $s = session();
	sql('BEGIN; ALTER TABLE ref CLUSTER ON ref_pkey', $s);
	my $a = start($keys);
	ok(wait_blocked($a), 'is waited for');
	sql('COMMIT', $s);
	is(finish($a), '', 'before its classes are lent');
	is(keys_there(), $both, 'and they come back');
};

scenario 'a key to an index of the same statement', rule('keys before their statement'), sub {
	tables();
	is(error_of('ALTER TABLE refers ADD PRIMARY KEY (k) WITH (access_method = surfidx), ADD up int '
		. 'REFERENCES refers'), '', 'is made after it');
	is(keys_there(), 'refers_up_fkey {"=(integer,integer)"} true surfidx', 'by its index');
};

scenario 'an event trigger', rule('keys without a trace'), sub {
	tables();
	sql(<<'END_SQL');
DROP TABLE IF EXISTS seen;
CREATE TABLE seen (what text);
CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO seen SELECT command_tag || ' ' || object_identity
	FROM pg_event_trigger_ddl_commands(); END $$;
CREATE EVENT TRIGGER see ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION see();
END_SQL
	is(error_of($keys), '', 'lets keys be made');
	is(sql('SELECT DISTINCT what FROM seen'), 'ALTER TABLE public.refers', 'and sees their table');
	sql('DROP EVENT TRIGGER see; DROP FUNCTION see()');
};

scenario 'a column that changes its type', rule('core makes keys again'), sub {
	tables();
	sql($keys);
	is(error_of('ALTER TABLE refers ALTER k TYPE int8; ALTER TABLE ref ALTER s TYPE varchar'), '',
		'takes its keys along, on either side');
	is(keys_there(), 'refers_k_fkey {"=(bigint,bigint)"} true surfidx,'
		. 'refers_s_fkey {"=(text,text)"} true surfidx', 'which fit it');
};

run_scenarios();
