/*-------------------------------------------------------------------------
 * scratch.c - large scratch structures that go from scan to scan
 *
 * A scan needs some 100 kB of buffers. Given back to the C library after every statement, they
 * would be faulted in again by the next one: many times the cost of a lookup.  So a backend keeps a
 * few of each kind.
 *
 * A structure belongs to whoever got it until it is put back, or until the memory context is reset
 * that was current when it was got: a scan that ends by an error leaks nothing.
 *-------------------------------------------------------------------------
 */
#include "scratch.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

#define SPARES_KEPT		4		/* of each kind */
#define HOLDERS_LOOKED_AT	16	/* of other contexts, before a new one is made */

/* In the owner's context: gives the structure back when that goes. */
typedef struct SpareHolder
{
	MemoryContextCallback callback;
	MemoryContext cxt;
	void	   *spare;			/* NULL: put back already; the holder is idle */
	SfxSpareKind kind;
	dlist_node	node;			/* in idle */
} SpareHolder;

/* Before the structure. */
typedef struct SpareHeader
{
	SpareHolder *holder;
	uint64		pad;			/* keeps what follows MAXALIGNed */
} SpareHeader;

static void *kept[SFX_SPARE_KINDS][SPARES_KEPT];
static int	nkept[SFX_SPARE_KINDS];

/*
 * Holders whose structure was put back: for the next one got in the same context, since a callback
 * cannot be taken back, and statements may begin a scan for every row.  The newest first.
 */
static dlist_head idle = DLIST_STATIC_INIT(idle);

static SpareHeader *
header_of(void *spare)
{
	return (SpareHeader *) ((char *) spare - MAXALIGN(sizeof(SpareHeader)));
}

static void
keep(SfxSpareKind kind, void *spare)
{
	header_of(spare)->holder = NULL;
	if (nkept[kind] < SPARES_KEPT)
		kept[kind][nkept[kind]++] = spare;
	else
		pfree(header_of(spare));
}

static void
owner_is_gone(void *arg)
{
	SpareHolder *holder = arg;

	if (holder->spare)
		keep(holder->kind, holder->spare);
	else
		dlist_delete(&holder->node);
	holder->spare = NULL;
}

static SpareHolder *
get_holder(void)
{
	SpareHolder *holder;
	dlist_iter	iter;
	int			looked = 0;

	dlist_foreach(iter, &idle)
	{
		holder = dlist_container(SpareHolder, node, iter.cur);
		if (holder->cxt == CurrentMemoryContext)
		{
			dlist_delete(&holder->node);
			return holder;
		}
		if (++looked == HOLDERS_LOOKED_AT)
			break;
	}
	holder = palloc(sizeof(SpareHolder));
	holder->cxt = CurrentMemoryContext;
	holder->callback.func = owner_is_gone;
	holder->callback.arg = holder;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &holder->callback);
	return holder;
}

void *
sfx_spare_get(SfxSpareKind kind, Size size, bool *fresh)
{
	SpareHolder *holder;
	void	   *spare;

	*fresh = nkept[kind] == 0;
	if (*fresh)
		spare = (char *) MemoryContextAlloc(TopMemoryContext, MAXALIGN(sizeof(SpareHeader)) + size) +
			MAXALIGN(sizeof(SpareHeader));
	else
		spare = kept[kind][--nkept[kind]];
	header_of(spare)->holder = NULL;
	holder = get_holder();
	header_of(spare)->holder = holder;
	holder->spare = spare;
	holder->kind = kind;
	return spare;
}

void
sfx_spare_put(SfxSpareKind kind, void *spare)
{
	SpareHolder *holder = header_of(spare)->holder;

	holder->spare = NULL;
	dlist_push_head(&idle, &holder->node);
	keep(kind, spare);
}
