/*-------------------------------------------------------------------------
 * memo.c - what this backend remembers of indexes: finding it, and forgetting it
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "memo.h"

#include "utils/inval.h"

/*
 * A table of more entries than this is divided into sets of so many; the index's OID chooses the
 * set.
 */
#define SET			16

static SfxMemoTable *tables = NULL;

static inline SfxMemo *
entry(SfxMemoTable *table, int i)
{
	return (SfxMemo *) ((char *) table->entries + i * table->size);
}

/* Relcache callback: forget what is remembered of that index, or with InvalidOid of all (N1). */
static void
forget_relation(Datum arg, Oid relid)
{
	if (SFX_MUTANT("memories outlive files"))
		return;
	for (SfxMemoTable *t = tables; t; t = t->next)
	{
		if (t->forget)
			t->forget(relid);
		for (int i = 0; i < t->n; i++)
			if (entry(t, i)->index == relid || !OidIsValid(relid))
				entry(t, i)->index = InvalidOid;
	}
}

void
sfx_memo_register(SfxMemoTable *table)
{
	if (table->registered)
		return;
	if (tables == NULL)
		CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	table->registered = true;
	table->next = tables;
	tables = table;
}

/* Is the entry of that index, in that life, as of that number?  (N1) */
static inline bool
is_of(const SfxMemo *m, Oid index, const SfxLife *life, uint64 as_of)
{
	return m->as_of == as_of && m->index == index && sfx_life_equals(&m->life, life);
}

/* The entries [*from, *from + n) that may be of this index; returns n. */
static inline int
set_of(const SfxMemoTable *table, Oid index, int *from)
{
	*from = 0;
	if (table->n <= SET)
		return table->n;
	*from = (int) ((uint64) (index * 2654435769U) * (table->n / SET) >> 32) * SET;
	return SET;
}

void *
sfx_memo_find(SfxMemoTable *table, Relation index, uint64 build_id, uint64 as_of)
{
	Oid			id = RelationGetRelid(index);
	SfxLife		life = sfx_life(index, build_id);
	int			from;
	int			n;

	if (likely(is_of(table->latest, id, &life, as_of)))
		return table->latest;
	n = set_of(table, id, &from);
	for (int i = from; i < from + n; i++)
		if (is_of(entry(table, i), id, &life, as_of))
			return table->latest = entry(table, i);
	return NULL;
}

/* The entry to be given to that index: its outdated one, or the least recently used of the set. */
static SfxMemo *
victim(SfxMemoTable *table, Oid index)
{
	int			from;
	int			n = set_of(table, index, &from);
	SfxMemo    *found = entry(table, from);

	for (int i = from; i < from + n; i++)
	{
		SfxMemo    *m = entry(table, i);

		if (m->index == index)
			return m;
		if (m->last_used < found->last_used)
			found = m;
	}
	return found;
}

void *
sfx_memo_get(SfxMemoTable *table, Relation index, uint64 build_id, uint64 as_of, bool *fresh)
{
	SfxMemo    *m = sfx_memo_find(table, index, build_id, as_of);

	*fresh = m == NULL;
	if (m == NULL)
	{
		sfx_memo_register(table);
		m = victim(table, RelationGetRelid(index));
		m->index = RelationGetRelid(index);
		m->life = sfx_life(index, build_id);
		m->as_of = as_of;
	}
	m->last_used = ++table->clock;
	return table->latest = m;
}
