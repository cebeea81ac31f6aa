-- Bugs that an attack found in constraints with our indexes, beside what btree's do
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS surfidx;
SET surfidx.unique_notice = off;
CREATE SCHEMA ca;
SET search_path = ca, public;

-- beside an event trigger, inside of another command
create table t(a int not null); create unique index ti on t using surfidx(a);
create function ev() returns event_trigger language plpgsql as $$begin end$$;
create event trigger e1 on ddl_command_end execute function ev();
create function f() returns int language plpgsql as $$ begin execute 'alter table t add primary key using index ti'; return 1; end $$;
create table q as select f(); \d t
drop event trigger e1;

-- core's own refusals: of a materialized view
create materialized view mq as select 1 as a; create unique index mqi on mq using surfidx(a);
alter materialized view mq add constraint k unique using index mqi;
alter table mq add constraint k unique using index mqi;

-- a parent alone
create table y(a int); create table yc() inherits(y); insert into yc values(null);
create unique index yi on y using surfidx(a);
alter table only y add primary key using index yi;

-- the owner needs no right to create
create role ca_alice; grant usage on schema ca to ca_alice;
create table t4(a int primary key WITH (access_method = surfidx)); alter table t4 owner to ca_alice;
set role ca_alice; alter table t4 alter a type bigint; reset role;
select relname, amname from pg_class c join pg_am a on a.oid=relam where relname='t4_pkey';

-- commands that would need the constraint while it is dropped
create table t5(a int constraint pk primary key WITH (access_method = surfidx), b int); alter table t5 replica identity using index pk, cluster on pk;
alter table t5 alter a type bigint, replica identity nothing;
alter table t5 alter a type bigint, cluster on pk;
alter table t5 alter a type bigint, add unique(a);
alter table t5 alter a type bigint, alter a drop not null;
alter table t5 alter a type bigint, add foreign key (b) references t5;
alter table t5 alter a type bigint, add x int references t5;
alter table t5 alter a type bigint, add constraint p2 primary key (b);
alter table t5 alter a type bigint, alter b set default 3, add column z int;
\d t5

-- what would not: with names, of other columns, of other tables
create table t6(a int constraint t6_a unique WITH (access_method = surfidx), b int unique, c int not null);
create unique index t6_c on t6 using surfidx (c);
alter table t6 alter a type bigint, alter a drop not null, add constraint n unique (b, c), add check (a > 0), add constraint f foreign key (b) references t6_b, add primary key (c);
alter table t6 alter a type bigint, alter a drop not null, add constraint n unique (b, c), add check (a > 0), add constraint t6_p primary key (c), add z int unique, replica identity using index t6_c, cluster on t6_c;
alter table t6 alter a type int, replica identity full, set without cluster, alter b drop not null, alter c set not null;
\d t6
select c.relname, amname from pg_class c join pg_am a on a.oid = relam join pg_index on indexrelid = c.oid where indrelid = 't6'::regclass order by 1;
-- another relation takes its name meanwhile
alter table t6 alter a type bigint, add constraint t6_a check (a > 0);
select conname, amname from pg_constraint c join pg_class i on i.oid = conindid join pg_am a on a.oid = relam where conrelid = 't6'::regclass order by 1;

-- not into another tablespace
set allow_in_place_tablespaces = on; create tablespace ca_ts location '';
create table x(b int unique WITH (access_method = surfidx)); set default_tablespace=ca_ts; alter table x alter b type bigint; reset default_tablespace;
select reltablespace from pg_class where relname='x_b_key';

-- a child's constraint and columns are its own
create schema ca2; create table p(a int constraint k unique WITH (access_method = surfidx)); create table ca2.c2(y int) inherits(p);
alter table ca2.c2 add constraint k unique(a) WITH (access_method = surfidx);
alter table p drop constraint k, alter a type bigint;
create table c3(a int, q int, constraint k3 unique(a,q) WITH (access_method = surfidx)); create table p3(a int, q int); alter table c3 inherit p3;
alter table p3 drop column q, alter a type bigint;
SELECT pg_get_indexdef('k3'::regclass);

-- USING INDEX with what changes the index
create table t10(a int, b int); create unique index i10 on t10 using surfidx(b);
alter table t10 alter b type bigint, add constraint x unique using index i10;
alter table t10 drop column b, add constraint x unique using index i10;

-- an exclusion constraint says its method
create table e(a int, exclude using btree (a with =) WITH (access_method = surfidx));

-- rights first; types without CASCADE
set role ca_alice; alter index x_b_key reset (access_method); reset role;
create type ct as (a int); create table of1 of ct (primary key (a) WITH (access_method = surfidx)); alter type ct alter attribute a type int8; alter type ct alter attribute a type int8 cascade;
\d of1
-- from 18 on: a gist's key is refused by name; without the parameter it is made
do $$
declare
	one text;
begin
	if current_setting('server_version_num')::int < 180000 then return; end if;
	create table wo_t(id int4range, p int4range);
	foreach one in array array[
			'create table wo(id int4range, p int4range, constraint wo_k unique(id, p without overlaps)',
			'alter table wo_t add constraint wo_k primary key (id, p without overlaps)'] loop
		begin
			execute one || ' with (access_method = surfidx)'
				|| case when one ~ '^create' then ')' else '' end;
			raise 'not refused: %', one;
		exception when feature_not_supported then
			if sqlerrm !~ '^constraint "wo_k" WITHOUT OVERLAPS of table "wo(_t)?" cannot' then
				raise;
			end if;
		end;
	end loop;
	execute 'alter table wo_t add constraint wo_k primary key (id, p without overlaps)';
end $$;
-- no stronger lock on the table than core takes
create table lk(a int not null, b int not null); create unique index lk_b on lk(a); create unique index lk_s on lk using surfidx(b);
create view locks as select mode from pg_locks where relation = 'lk'::regclass and pid = pg_backend_pid() order by mode;
begin; alter table lk add unique using index lk_b; select * from locks; rollback;
begin; alter table lk add unique using index lk_s; select * from locks; rollback;
begin; alter table lk add unique (b); select * from locks; rollback;
begin; alter table lk add unique (b) with (access_method = surfidx); select * from locks; rollback;
begin; alter table lk set (fillfactor = 90); select * from locks; rollback;
select count(surfidx_check(c.oid, true, true)) as checked from pg_class c where relam = (select oid from pg_am where amname = 'surfidx') and relkind = 'i' and relnamespace in ('ca'::regnamespace, 'ca2'::regnamespace);

DROP SCHEMA ca CASCADE;
DROP SCHEMA ca2 CASCADE;
DROP TABLESPACE ca_ts;
DROP ROLE ca_alice;
