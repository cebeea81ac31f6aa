/*-------------------------------------------------------------------------
 * leaf_choose.c - the packer: with which of several dictionaries a page is coded
 *-------------------------------------------------------------------------
 */
#include "leaf_packer.h"

#define LOOK_KEYS		16		/* rests that are coded with each dictionary */
#define CLEARLY			8		/* a dictionary has to save one part of so many beside the last one */

/* Bytes that some rests of pending keys take, coded with that dictionary where this is smaller. */
static uint32_t
coded_size(SfxPacker *p, const SfxHope *dict)
{
	const Pending *q = &p->pend;
	uint32_t	size = 0;

	for (int k = 1; k < q->nkeys; k += q->nkeys / LOOK_KEYS + 1)
	{
		SfxPos		key = pending_key(q, k);
		uint32_t	len = key.len - q->lcp[k];
		int			r = sfx_hope_encode(dict, key.key + q->lcp[k], len, p->body, MAX_CAPACITY);

		size += r < 0 || (uint32_t) r > len ? len : (uint32_t) r;
	}
	return size;
}

/* Code the page, which has no block yet, with dict[at]. */
static void
use_dict(SfxPacker *p, int at)
{
	if (at == p->at)
		return;
	p->at = at;
	p->coder.dict = p->dict[at].dict;
	p->dictno = p->dict[at].number;
	sfx_coder_restart(&p->coder);
	memset(p->pend.known.start, 0xFF, (size_t) p->pend.nkeys * sizeof(uint16_t));
	p->pend.codesused = 0;
}

void
sfx_choose_dict(SfxPacker *p)
{
	int			best = p->ndicts - 1;
	uint32_t	least;

	if (p->ndicts < 2)
		return;
	least = coded_size(p, p->dict[best].dict);
	least -= least / CLEARLY;
	for (int i = 0; i < p->ndicts - 1; i++)
	{
		uint32_t	size = coded_size(p, p->dict[i].dict);

		if (size < least)
		{
			least = size;
			best = i;
		}
	}
	use_dict(p, best);
}
