-- ranges and multiranges: empty, infinite, bounds that are equal and print differently
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/sql/helpers/compare.sql'
\set ECHO none
\i :helpers
\set ECHO all
SELECT make_source('ir', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 31 = 0 THEN 'empty' WHEN i % 29 = 0 THEN '(,)'
	WHEN i % 23 = 0 THEN format('(,%s]', i % 9) WHEN i % 19 = 0 THEN format('[%s,)', i % 9)
	ELSE format('[%s,%s)', i * 7 % 40, i * 7 % 40 + i % 6 + 1) END::int4range FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('ir', '{empty,"(,)","(,5]","[3,9)","[20,)"}');
SELECT make_source('nr', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL
	ELSE numrange(round((i % 9)::numeric / 2, 1 + i % 4), round((i % 9 + i % 3)::numeric, i % 3), CASE WHEN i % 2 = 0 THEN '[]' ELSE '(]' END) END
	FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('nr', '{empty,"[1,2]","[1.0,2.0]","(1.50,3]","(,)"}');
SELECT make_source('mr', $$SELECT i, CASE WHEN i % 20 = 0 THEN NULL WHEN i % 31 = 0 THEN '{}'
	ELSE format('{[%s,%s),[%s,%s)}', i % 9, i % 9 + 2, i % 9 + 5, i % 9 + 6 + i % 4) END::int4multirange FROM generate_series(1, 700) i$$);
SELECT * FROM compare_type('mr', '{"{}","{[3,5)}","{[3,5),[8,10)}","{(,)}"}');
DROP TABLE ir, nr, mr;
