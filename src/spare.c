/*-------------------------------------------------------------------------
 * spare.c - large scratch structures that go from scan to scan
 *
 * A scan needs some 100 kB of buffers. Given back to the C library after every statement, they would be
 * faulted in again by the next one: many times the cost of a lookup.  So a backend keeps a few of each kind.
 *
 * A structure belongs to whoever got it until it is put back, or until the memory context is reset that was current when it
 * was got: a scan that ends by an error leaks nothing.
 *-------------------------------------------------------------------------
 */
#include "spare.h"

#include "utils/memutils.h"

#define SPARES_KEPT		4		/* of each kind */

/* In the owner's context: gives the structure back when that goes. */
typedef struct SpareHolder
{
	MemoryContextCallback callback;
	void	   *spare;			/* NULL: put back already */
	SfxSpareKind kind;
} SpareHolder;

/* Before the structure. */
typedef struct SpareHeader
{
	SpareHolder *holder;
	uint64		pad;			/* keeps what follows MAXALIGNed */
} SpareHeader;

static void *kept[SFX_SPARE_KINDS][SPARES_KEPT];
static int	nkept[SFX_SPARE_KINDS];

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
	holder->spare = NULL;
}

void *
sfx_spare_get(SfxSpareKind kind, Size size, bool *fresh)
{
	SpareHolder *holder = palloc(sizeof(SpareHolder));
	void	   *spare;

	*fresh = nkept[kind] == 0;
	if (*fresh)
		spare = (char *) MemoryContextAlloc(TopMemoryContext, MAXALIGN(sizeof(SpareHeader)) + size) +
			MAXALIGN(sizeof(SpareHeader));
	else
		spare = kept[kind][--nkept[kind]];
	header_of(spare)->holder = holder;
	holder->spare = spare;
	holder->kind = kind;
	holder->callback.func = owner_is_gone;
	holder->callback.arg = holder;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &holder->callback);
	return spare;
}

void
sfx_spare_put(SfxSpareKind kind, void *spare)
{
	header_of(spare)->holder->spare = NULL;
	keep(kind, spare);
}
