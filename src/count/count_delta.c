/*-------------------------------------------------------------------------
 * count_delta.c - the exact number of a generation's entries in a range, counted one by one in its
 * image
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "count_delta.h"
#include "delta.h"
#include "image.h"

#include "miscadmin.h"

#define COUNT_BATCH		1024	/* entries counted under one hold of an image's lock (I2) */

typedef struct DeltaCount
{
	Relation	index;
	const SfxOrder *order;
	const SfxMeta *meta;
	int			g;
	const SfxPos *hi;
	SfxBoundBuf from;			/* entries before it are counted */
	uint64		n;
	bool		more;			/* the range goes on */
} DeltaCount;

/* Count one batch; c->from moves after it.  False: the generation is gone. */
static bool
count_batch(DeltaCount *c)
{
	SfxImage   *img = sfx_image_acquire(c->index, c->order, c->meta, c->g);
	SfxNodeAlloc a;
	const SfxDelta *d;
	SfxCursor	at;
	SfxEntry	e;
	bool		misled = false;
	int			batch = 0;

	c->more = false;
	if (img == NULL)
		return false;
	d = sfx_image_delta(img, c->order, &a);
	for (bool have = sfx_delta_seek(d, &a, &c->from.pos, &at); have;
		 have = sfx_delta_next(d, &a, &at))
	{
		SfxPos		pos;

		sfx_delta_get(d, &a, &at, &e);
		pos = sfx_entry_pos(&e);
		if (c->hi->key && sfx_order_cmp_pos(c->order, &pos, c->hi) >= 0)
			break;
		batch++;
		if (batch == COUNT_BATCH)
		{
			pos.tid++;
			misled = sfx_image_misleads(c->order, &c->from.pos, &pos);
			sfx_bound_set(&c->from, &pos);
			c->more = true;
			break;
		}
	}
	sfx_image_release(img);
	if (misled)
		sfx_image_misled(c->index, c->order, c->meta, c->meta->gens[c->g].gen);
	c->n += batch;
	return true;
}

bool
sfx_count_delta(Relation index, const SfxOrder *order, const SfxMeta *meta, int g,
				const SfxPos *lo, const SfxPos *hi, uint64 *n)
{
	DeltaCount *c = palloc(sizeof(DeltaCount));
	bool		found = true;

	c->index = index;
	c->order = order;
	c->meta = meta;
	c->g = g;
	c->hi = hi;
	c->n = 0;
	c->more = meta->gens[g].first != InvalidBlockNumber;
	sfx_bound_set(&c->from, lo);
	while (found && c->more)
	{
		CHECK_FOR_INTERRUPTS();
		found = count_batch(c);
	}
	*n += c->n;
	pfree(c);
	return found;
}
