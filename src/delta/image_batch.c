/*-------------------------------------------------------------------------
 * image_batch.c - entries of several log pages in key order, for an image
 *
 * An image that lags by some pages gets the entries of those in key order.  Neighbours then find
 * their place in the image's tree beside each other, in a node that is in the processor's caches,
 * where entries in log order would each take a descent and a wait for memory.  Sorting (itemsort.h)
 * costs a third of what that saves.
 *
 * An entry in the batch:
 *
 *	0	2	n, the bytes of key and TID
 *	2	.	key
 *	.	6	TID, as sfx_put_tid writes it
 *	.	2	bytes of the payload, which follows
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "image_batch.h"
#include "itemsort.h"
#include "leaf.h"


#define ENTRY_OVERHEAD	10		/* bytes of an entry beside key and payload */
#define LOG_OVERHEAD	3		/* bytes that it takes in a log page beside them, at least */
#define MOST_PER_PAGE	(BLCKSZ / (LOG_OVERHEAD + 1))
#define ROOM_PER_PAGE	(BLCKSZ + MOST_PER_PAGE * (ENTRY_OVERHEAD - LOG_OVERHEAD))
/*
 * what pages usually hold: keys of eight bytes and more; a batch takes fewer pages if there are
 * more
 */
#define USUAL_PER_PAGE	700
#define USUAL_BYTES		(BLCKSZ + USUAL_PER_PAGE * (ENTRY_OVERHEAD - LOG_OVERHEAD))

struct SfxBatch
{
	int			n;
	int			maxitems;
	Size		used;			/* of bytes */
	Size		room;
	SfxItem    *items;
	SfxItem    *tmp;			/* the sort's second array */
	uint8	   *bytes;			/* the entries */
};

SfxBatch *
sfx_batch_create(uint32 pages)
{
	SfxBatch   *b = palloc(sizeof(SfxBatch));

	b->maxitems = MOST_PER_PAGE + (int) pages * USUAL_PER_PAGE;
	b->room = ROOM_PER_PAGE + (Size) pages * USUAL_BYTES;
	b->items = palloc(sizeof(SfxItem) * b->maxitems);
	b->tmp = palloc(sizeof(SfxItem) * b->maxitems);
	b->bytes = palloc(b->room);
	b->n = 0;
	b->used = 0;
	return b;
}

void
sfx_batch_free(SfxBatch *b)
{
	pfree(b->items);
	pfree(b->tmp);
	pfree(b->bytes);
	pfree(b);
}

bool
sfx_batch_has_room(const SfxBatch *b)
{
	return b->n + MOST_PER_PAGE <= b->maxitems && b->used + ROOM_PER_PAGE <= b->room;
}

void
sfx_batch_add(SfxBatch *b, const SfxEntry *e)
{
	uint8	   *at = b->bytes + b->used;
	uint8	   *p = at + 2;

	Assert(b->n < b->maxitems && b->used + ENTRY_OVERHEAD + e->keylen + e->paylen <= b->room);
	sfx_put16(at, (uint16) (e->keylen + 6));
	if (e->keylen > 0)
		memcpy(p, e->key, e->keylen);
	p += e->keylen;
	sfx_put_tid(p, e->tid);
	p += 6;
	sfx_put16(p, (uint16) e->paylen);
	p += 2;
	if (e->paylen > 0)
		memcpy(p, e->payload, e->paylen);
	b->used += ENTRY_OVERHEAD + e->keylen + e->paylen;
	sfx_item_set(&b->items[b->n++], at);
}

int
sfx_batch_sort(SfxBatch *b)
{
	sfx_item_sort(b->items, b->tmp, b->n, NULL);
	return b->n;
}

void
sfx_batch_get(const SfxBatch *b, int i, SfxEntry *e)
{
	const uint8 *p = sfx_item_bytes(&b->items[i]);

	e->key = p;
	e->keylen = sfx_item_len(&b->items[i]) - 6;
	p += e->keylen;
	e->tid = sfx_get_tid(p);
	p += 6;
	e->paylen = sfx_get16(p);
	e->payload = p + 2;
}
