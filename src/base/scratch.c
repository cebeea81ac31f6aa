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
#include "scratch.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

/* So many bytes of each kind are kept, and no more structures than that. */
#define BYTES_KEPT			(160 * 1024)
#define SPARES_KEPT			16
#define HOLDERS_LOOKED_AT	1024	/* holders of other contexts that are passed in the list before
									 * a new one is made: a few for each open cursor */

/* Stands in the owner's context, whose end gives the structure back. */
typedef struct SpareHolder
{
	MemoryContextCallback callback;
	MemoryContext cxt;
	void	   *spare;			/* NULL: it was put back already, and the holder is idle */
	SfxSpareKind kind;
	dlist_node	node;			/* in idle */
} SpareHolder;

/* In front of the structure. */
typedef struct SpareHeader
{
	SpareHolder *holder;
	uint64		pad;			/* keeps what follows MAXALIGNed */
} SpareHeader;

static void *kept[SFX_SPARE_KINDS][SPARES_KEPT];
static int	nkept[SFX_SPARE_KINDS];
static int	most_kept[SFX_SPARE_KINDS];
int			sfx_spares_taken[SFX_SPARE_KINDS];

/*
 * Holders whose structure was put back, the newest first.  They are used again in the same context,
 * since a reset callback cannot be unregistered, and a statement may begin a scan for every row.
 */
static dlist_head idle = DLIST_STATIC_INIT(idle);

static SpareHeader *
header_of(void *spare)
{
	return (SpareHeader *) ((char *) spare - MAXALIGN(sizeof(SpareHeader)));
}

/* Keep a structure for the next owner, or free it if enough are kept. */
static void
keep(SfxSpareKind kind, void *spare)
{
	header_of(spare)->holder = NULL;
	sfx_spares_taken[kind]--;
	if (nkept[kind] < most_kept[kind])
		kept[kind][nkept[kind]++] = spare;
	else
		pfree(header_of(spare));
}

/* Reset callback of the owner's context. */
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

/* A holder in the current context: an idle one, or a new one. */
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
sfx_spare_get(SfxSpareKind kind, Size size)
{
	SpareHolder *holder;
	void	   *spare;

	if (nkept[kind] > 0)
		spare = kept[kind][--nkept[kind]];
	else
	{
		/* (each a piece of malloc's, which pfree gives back) */
		size = Max(size, ALLOCSET_SEPARATE_THRESHOLD);
		most_kept[kind] = Min(BYTES_KEPT / size, SPARES_KEPT);
		spare = (char *) MemoryContextAlloc(TopMemoryContext, MAXALIGN(sizeof(SpareHeader)) + size) +
			MAXALIGN(sizeof(SpareHeader));
	}
	header_of(spare)->holder = NULL;
	holder = get_holder();
	sfx_spares_taken[kind]++;
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
