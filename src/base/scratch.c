/*-------------------------------------------------------------------------
 * scratch.c - large scratch structures that go from scan to scan
 *
 * A scan needs 20 to 200 kB of buffers.  If they were freed after every statement, the C library
 * would return them to the system, and the next statement would take page faults: many times the
 * cost of a lookup.  So a backend keeps a few structures of each kind.
 *
 * A structure belongs to the code that got it until it is put back, or until the memory context is
 * reset that was current when it was got: a scan that ends by an error leaks nothing.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "scratch.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

/* So many bytes of each kind are kept, and no more structures than that. */
#define BYTES_KEPT			(160 * 1024)
#define SPARES_KEPT			16
#define HOLDERS_LOOKED_AT	1024	/* holders of other contexts that are passed in the list before
									 * a new one is made: one for each open cursor */

/* Stands in the owners' context, whose end gives back what was got there. */
typedef struct SpareHolder
{
	MemoryContextCallback callback;
	MemoryContext cxt;
	dlist_head	spares;			/* got in the context, and not put back */
	dlist_node	node;			/* in holders */
} SpareHolder;

/* In front of the structure. */
typedef struct SpareHeader
{
	dlist_node	node;			/* in its holder's */
	SfxSpareKind kind;
} SpareHeader;

static void *kept[SFX_SPARE_KINDS][SPARES_KEPT];
static int	nkept[SFX_SPARE_KINDS];
static int	most_kept[SFX_SPARE_KINDS];
int			sfx_spares_taken[SFX_SPARE_KINDS];

/*
 * One for a context, the last one used first: a reset callback cannot be unregistered, and a
 * statement may begin a scan for every row.
 */
static dlist_head holders = DLIST_STATIC_INIT(holders);

static SpareHeader *
header_of(void *spare)
{
	return (SpareHeader *) ((char *) spare - MAXALIGN(sizeof(SpareHeader)));
}

/* Keep a structure for the next owner, or free it if enough are kept. */
static void
keep(SpareHeader *header, void *spare)
{
	SfxSpareKind kind = header->kind;

	memset(&header->node, 0, sizeof(header->node));
	sfx_spares_taken[kind]--;
	if (nkept[kind] < most_kept[kind])
		kept[kind][nkept[kind]++] = spare;
	else
		pfree(header);
}

/* Reset callback of the owners' context. */
static void
owners_are_gone(void *arg)
{
	SpareHolder *holder = arg;

	while (!dlist_is_empty(&holder->spares))
	{
		SpareHeader *header = dlist_container(SpareHeader, node,
											  dlist_pop_head_node(&holder->spares));

		keep(header, (char *) header + MAXALIGN(sizeof(SpareHeader)));
	}
	dlist_delete(&holder->node);
}

/* The holder of the current context is not the first one. */
static pg_noinline SpareHolder *
find_holder(void)
{
	SpareHolder *holder;
	dlist_iter	iter;
	int			looked = 0;

	dlist_foreach(iter, &holders)
	{
		holder = dlist_container(SpareHolder, node, iter.cur);
		if (holder->cxt == CurrentMemoryContext)
		{
			dlist_move_head(&holders, &holder->node);
			return holder;
		}
		if (++looked == HOLDERS_LOOKED_AT)
			break;
	}
	holder = palloc(sizeof(SpareHolder));
	holder->cxt = CurrentMemoryContext;
	dlist_init(&holder->spares);
	holder->callback.func = owners_are_gone;
	holder->callback.arg = holder;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &holder->callback);
	dlist_push_head(&holders, &holder->node);
	return holder;
}

static inline SpareHolder *
get_holder(void)
{
	if (likely(!dlist_is_empty(&holders)))
	{
		SpareHolder *first = dlist_head_element(SpareHolder, node, &holders);

		if (likely(first->cxt == CurrentMemoryContext))
			return first;
	}
	return find_holder();
}

/* None of that kind is kept. */
static pg_noinline void *
make_spare(SfxSpareKind kind, Size size)
{
	/* (each a piece of malloc's, which pfree gives back) */
	size = Max(size, ALLOCSET_SEPARATE_THRESHOLD);
	most_kept[kind] = Min(BYTES_KEPT / size, SPARES_KEPT);
	return (char *) MemoryContextAlloc(TopMemoryContext, MAXALIGN(sizeof(SpareHeader)) + size) +
		MAXALIGN(sizeof(SpareHeader));
}

void *
sfx_spare_get(SfxSpareKind kind, Size size)
{
	SpareHolder *holder = get_holder();
	void	   *spare = nkept[kind] > 0 ? kept[kind][--nkept[kind]] : make_spare(kind, size);
	SpareHeader *header = header_of(spare);

	header->kind = kind;
	dlist_push_head(&holder->spares, &header->node);
	sfx_spares_taken[kind]++;
	return spare;
}

void
sfx_spare_put(void *spare)
{
	SpareHeader *header = header_of(spare);

	/* neither before, nor after the end of the context that it was got in */
	Assert(header->node.next != NULL);
	dlist_delete(&header->node);
	keep(header, spare);
}
