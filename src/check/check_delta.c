/*-------------------------------------------------------------------------
 * check_delta.c - the verifier: log pages, and images against them
 *
 * The image is read before the log: what it has seen is in the log by then, whatever is appended
 * meanwhile.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "check.h"
#include "compare.h"
#include "delta.h"
#include "horizon.h"
#include "image.h"
#include "leaf.h"
#include "log.h"
#include "meta.h"
#include "page.h"

#include "common/hashfn.h"
#include "miscadmin.h"

/* Hashes of a generation's log entries: undead ones from the front, dead ones from the back. */
typedef struct LogHashes
{
	uint64	   *hash;
	uint64		size;			/* log entries that the image has seen */
	uint64		nundead;
	uint64		ndead;
	uint64		killed;			/* entries that were taken out of the image as dead to all
								 * snapshots, ... */
	SfxHorizon	taken;			/* ... and the horizon of these */
	uint64	   *image;			/* hashes of the image's entries, sorted, ... */
	uint64		nimage;
	uint64	   *flagged;		/* ... and of those that are flagged as dead */
	uint64		nflagged;
} LogHashes;

static bool
has_hash(const uint64 *hashes, uint64 n, uint64 hash)
{
	return n > 0 && bsearch(&hash, hashes, n, sizeof(uint64), sfx_cmp_u64) != NULL;
}

static uint64
entry_hash(const SfxEntry *e)
{
	uint64		h = hash_bytes_extended(e->key, e->keylen, e->tid);

	return e->paylen > 0 ? hash_bytes_extended(e->payload, e->paylen, h) : h;
}

static void
note_hash(SfxCheck *cs, BlockNumber blkno, LogHashes *lh, const SfxEntry *e, bool dead)
{
	uint64		hash = entry_hash(e);

	if (lh->nundead + lh->ndead == lh->size)
		return;					/* newer than the image */
	if (dead)
	{
		lh->hash[lh->size - ++lh->ndead] = hash;
		return;
	}
	lh->hash[lh->nundead++] = hash;
	/* X1: the reader that took it out, or flagged it, has asked the heap, and so do we */
	if (cs->rows && lh->killed > 0 && !has_hash(lh->image, lh->nimage, hash))
		sfx_check_dead(cs, blkno, e, &lh->taken);
	else if (cs->rows && has_hash(lh->flagged, lh->nflagged, hash))
		sfx_check_dead(cs, blkno, e, NULL);
}

/* Check the entries of the current log page; returns their number. */
static uint32
check_log_entries(SfxCheck *cs, BlockNumber blkno, LogHashes *lh)
{
	SfxEntry	e;
	bool		dead;
	uint32		off = 0;
	uint32		n = 0;

	while (sfx_log_parse(cs->index, blkno, cs->page.data, &off, &e, &dead))
	{
		sfx_check_entry(cs, blkno, &e, dead);
		note_hash(cs, blkno, lh, &e, dead);
		n++;
	}
	return n;
}

/* Check one page of a chain; returns the block to its right. */
static BlockNumber
check_log_page(SfxCheck *cs, const SfxGen *gen, bool frozen, BlockNumber blkno, uint32 seq,
			   uint64 *total, LogHashes *lh)
{
	SfxPageTail *tail = sfx_check_copy(cs, blkno);
	SfxLogHeader *h = (SfxLogHeader *) SfxPageBody(cs->page.data);
	bool		sealed;
	uint32		n;

	if (tail == NULL || !sfx_log_page_is(cs->index, blkno, cs->page.data, cs->meta.build_id, gen->gen))
		sfx_broken(cs, blkno, "not a log page of generation %u", gen->gen);
	if (h->seq != seq)
		sfx_broken(cs, blkno, "log page number %u of generation %u says that it is number %u", seq,
				   gen->gen, h->seq);
	if (h->before != *total)
		sfx_broken(cs, blkno, "log page counts " UINT64_FORMAT " entries before it, there are " UINT64_FORMAT,
				   h->before, *total);
	sealed = (tail->flags & SFX_LOG_SEALED) != 0;
	if (sealed != (frozen && tail->right == InvalidBlockNumber))
		sfx_broken(cs, blkno, "log page is %s", sealed ? "sealed before the end of a frozen generation" :
				   "the last one of a frozen generation but not sealed");
	n = check_log_entries(cs, blkno, lh);
	if (n != h->nentries)
		sfx_broken(cs, blkno, "log page says that it has %u entries, it has %u", h->nentries, n);
	if ((seq + 1 == gen->pages) != (blkno == gen->tail))
		sfx_broken(cs, blkno, "log page number %u of %u, while the metapage has block %u as the last one",
				   seq + 1, gen->pages, gen->tail);
	*total += n;
	return tail->right;
}

/*
 * Check the chain of generation meta.gens[g].  The active one may be longer than the metapage said
 * when it was read.
 */
static void
check_log_chain(SfxCheck *cs, int g, LogHashes *lh)
{
	SfxGen	   *gen = &cs->meta.gens[g];
	bool		frozen = g > 0;
	BlockNumber from = SFX_META_BLKNO;
	BlockNumber blkno = gen->first;
	uint64		total = 0;
	uint32		seq = 0;

	while (blkno != InvalidBlockNumber)
	{
		BlockNumber right;

		sfx_check_own(cs, from, blkno);
		right = check_log_page(cs, gen, frozen, blkno, seq, &total, lh);
		if (!frozen)
		{
			cs->active_seen = true;
			cs->last_seq = seq;
		}
		from = blkno;
		blkno = right;
		seq++;
	}
	if (seq < gen->pages || (frozen && seq > gen->pages))
		sfx_broken(cs, from, "generation %u ends after %u log pages, the metapage counts %u", gen->gen, seq, gen->pages);
	if (frozen && total != gen->sealed)
		sfx_broken(cs, from, "generation %u was sealed with " UINT64_FORMAT " entries, its log has " UINT64_FORMAT,
				   gen->gen, gen->sealed, total);
	if (total < lh->size)
		sfx_broken(cs, from, "the image of generation %u has seen " UINT64_FORMAT " log entries, there are " UINT64_FORMAT,
				   gen->gen, lh->size, total);
}

/*
 * Copy the hashes of an image's entries, under its lock, into lh->image and lh->flagged, which have
 * room for so many each.  Returns how many entries there are, perhaps more than room; lh: the number
 * of log entries that the image has seen, and how many were taken out.
 */
static uint64
read_image(SfxCheck *cs, int g, uint64 room, LogHashes *lh)
{
	SfxImage   *img = sfx_image_acquire(cs->index, cs->order, &cs->meta, g);
	SfxNodeAlloc a;
	const SfxDelta *d;
	const char *why = NULL;
	SfxCursor	c;
	uint64		count;
	int			rc;

	lh->nimage = lh->nflagged = 0;
	if (img == NULL)
		sfx_broken(cs, SFX_META_BLKNO, "generation %u has no log", cs->meta.gens[g].gen);
	d = sfx_image_delta(img, cs->order, &a);
	lh->size = sfx_image_seen(img);
	lh->killed = sfx_image_killed(img, &lh->taken);
	count = d->nentries;
	rc = sfx_delta_verify(d, &a, &why);
	if (rc == SFX_OK && count <= room)
	{
		bool		have = sfx_delta_seek(d, &a, NULL, &c);

		for (; have && lh->nimage < count; have = sfx_delta_next(d, &a, &c))
		{
			SfxEntry	e;

			sfx_delta_get(d, &a, &c, &e);
			lh->image[lh->nimage++] = entry_hash(&e);
			if (sfx_delta_dead(d, &a, &c))
				lh->flagged[lh->nflagged++] = entry_hash(&e);
		}
	}
	sfx_image_release(img);
	if (rc == SFX_DISORDER)
	{
		/* it was filled when the order was another one (K4); the next reader fills it anew */
		sfx_image_forget(cs->index, &cs->meta, cs->meta.gens[g].gen);
		sfx_disordered(cs, cs->meta.gens[g].first, why);
	}
	if (rc != SFX_OK)
		sfx_broken(cs, cs->meta.gens[g].first, "image of generation %u: %s", cs->meta.gens[g].gen, why ? why : "unknown damage");
	return count;
}

/*
 * Check that an entry of the image that is not an undead one of the log is a dead one.  *d: of the
 * dead ones, those before it were passed.
 */
static void
check_dead_in_image(SfxCheck *cs, int g, const LogHashes *lh, uint64 hash, uint64 *d)
{
	const uint64 *dead = lh->hash + lh->nundead;

	while (*d < lh->ndead && dead[*d] < hash)
		(*d)++;
	if (*d == lh->ndead || dead[*d] != hash)
		sfx_broken(cs, cs->meta.gens[g].first, "the image of generation %u has an entry that its log has not",
				   cs->meta.gens[g].gen);
}

/*
 * Compare: an image holds every undead entry of the log that it has seen, once, except for those
 * that were taken out of it.  It may still hold entries that VACUUM has flagged since, but no
 * others.
 */
static void
compare_image(SfxCheck *cs, int g, LogHashes *lh)
{
	const uint64 *image = lh->image;
	uint64		n = lh->nimage;
	uint64	   *undead = lh->hash;
	uint64		i = 0;
	uint64		u = 0;
	uint64		d = 0;
	uint64		lacks = 0;
	uint32		gen = cs->meta.gens[g].gen;

	qsort(undead, lh->nundead, sizeof(uint64), sfx_cmp_u64);
	qsort(undead + lh->nundead, lh->ndead, sizeof(uint64), sfx_cmp_u64);
	for (; u < lh->nundead; u++)
	{
		if (u > 0 && undead[u] == undead[u - 1])
			sfx_broken(cs, cs->meta.gens[g].first, "an entry stands twice in the log of generation %u", gen);
		while (i < n && image[i] < undead[u])
			check_dead_in_image(cs, g, lh, image[i++], &d);
		if (i < n && image[i] == undead[u])
			i++;
		else if (++lacks > lh->killed)
			sfx_broken(cs, cs->meta.gens[g].first, "the image of generation %u lacks an entry of its log", gen);
	}
	while (i < n)
		check_dead_in_image(cs, g, lh, image[i++], &d);
}

void
sfx_check_generation(SfxCheck *cs, int g)
{
	LogHashes	lh = {0};
	uint64		room = 0;
	uint64		n;

	if (cs->meta.gens[g].first == InvalidBlockNumber)
		return;
	/* the active image may grow between two looks: leave some slack, and try again */
	while ((n = read_image(cs, g, room, &lh)) > room)
	{
		CHECK_FOR_INTERRUPTS();
		if (lh.image)
			pfree(lh.image);
		room = n + n / 8 + 1024;
		lh.image = MemoryContextAllocHuge(CurrentMemoryContext, 2 * room * sizeof(uint64));
		lh.flagged = lh.image + room;
	}
	qsort(lh.image, lh.nimage, sizeof(uint64), sfx_cmp_u64);
	qsort(lh.flagged, lh.nflagged, sizeof(uint64), sfx_cmp_u64);
	lh.hash = MemoryContextAllocHuge(CurrentMemoryContext, Max(lh.size, 1) * sizeof(uint64));
	check_log_chain(cs, g, &lh);
	compare_image(cs, g, &lh);
	pfree(lh.hash);
	if (lh.image)
		pfree(lh.image);
}
