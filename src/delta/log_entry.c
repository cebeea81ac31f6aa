/*-------------------------------------------------------------------------
 * log_entry.c - the entries of a log page: parsing, forming, putting them there
 *
 * log_format.h has the layout.  Redo changes a page by the same functions as the action does.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "leaf.h"
#include "log.h"
#include "log_entry.h"
#include "page.h"

#define LOG_FIRST_HEADER	9	/* of a page's first entry: flags, length, TID */
#define TID_BLOCKS			(1 << (16 - SFX_LOG_OFFSET_BITS))	/* heap blocks that a short TID can
																 * tell */
StaticAssertDecl(sizeof(((SfxLogEnd *) 0)->copy) >= MAXALIGN(SizeOfPageHeaderData) +
				 sizeof(SfxLogHeader) + LOG_FIRST_HEADER + SFX_LOG_END_MAX + sizeof(uint64),
				 "a copied end fits, and a word that begins in it");

/* ---- page functions, shared with redo ---- */

void
sfx_log_page_init(Page page, uint64 build_id, uint32 gen, uint32 seq, uint64 before)
{
	SfxLogHeader h = {.seq = seq,.nentries = 0,.before = before};

	sfx_page_init(page, SFX_PAGE_LOG, build_id, gen, 0);
	sfx_page_set_body(page, (uint8_t *) &h, sizeof(h));
}

void
sfx_log_page_put(Page page, const uint8 *bytes, int len, int n)
{
	PageHeader	ph = (PageHeader) page;

	Assert(ph->pd_lower + len <= ph->pd_upper);
	memcpy((char *) page + ph->pd_lower, bytes, len);
	ph->pd_lower += len;
	((SfxLogHeader *) SfxPageBody(page))->nentries += n;
}

void
sfx_log_page_flag(Page page, const uint16 *offs, int n)
{
	uint8	   *body = SfxPageBody(page);

	for (int i = 0; i < n; i++)
		body[offs[i]] |= SFX_LOG_DEAD;
}

/* ---- identity of pages ---- */

/* See log.h. */
bool
sfx_log_page_is(Relation index, BlockNumber blkno, Page page, uint64 build_id, uint32 gen)
{
	SfxPageTail *tail;

	if (!sfx_page_check(index, blkno, page))
		return false;
	tail = SfxPageGetTail(page);
	if (tail->kind != SFX_PAGE_LOG || tail->build_id != build_id || tail->owner != gen)
		return false;
	if (SfxPageBodyLen(page) < sizeof(SfxLogHeader))
		sfx_corrupt(index, blkno, "log page without header");
	return true;
}

/* Copy a page that is sound, but for the unused room between pd_lower and pd_special. */
static void
copy_used(Page to, Page page)
{
	PageHeader	ph = (PageHeader) page;

	memcpy(to, page, ph->pd_lower);
	memcpy((char *) to + ph->pd_special, (char *) page + ph->pd_special, BLCKSZ - ph->pd_special);
}

bool
sfx_log_copy_page(Relation index, const SfxMeta *meta, int g, BlockNumber blkno, uint32 seq,
				  Page copy)
{
	Buffer		buf = sfx_read_page(index, blkno);
	bool		valid;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	valid = sfx_log_page_is(index, blkno, BufferGetPage(buf), meta->build_id, meta->gens[g].gen);
	if (valid)
		copy_used(copy, BufferGetPage(buf));
	UnlockReleaseBuffer(buf);
	if (valid && ((SfxLogHeader *) SfxPageBody(copy))->seq != seq)
		sfx_corrupt(index, blkno, "log page out of sequence");
	return valid;
}

/* ---- entries ---- */

/* Size of an entry's header with these flags. */
static inline uint32
header_size(uint8 flags)
{
	return 1 + (flags & SFX_LOG_LEN2 ? 2 : flags & SFX_LOG_LEN1 ? 1 : 0) +
		(flags & SFX_LOG_TID ? 6 : 2) +
		(flags & SFX_LOG_PAYLOAD ? 2 : 0);
}

/* What later entries of a page refer to: key length and heap block of its first one (D1). */
typedef struct FirstEntry
{
	uint32		keylen;
	uint64		block;
} FirstEntry;

/* Read that.  False: the page has no sound first entry. */
static inline bool
first_entry(const uint8 *body, uint32 len, FirstEntry *first)
{
	const uint8 *p = body + sizeof(SfxLogHeader);

	if (len < sizeof(SfxLogHeader) + LOG_FIRST_HEADER ||
		(*p & (SFX_LOG_LEN2 | SFX_LOG_TID)) != (SFX_LOG_LEN2 | SFX_LOG_TID))
		return false;
	first->keylen = sfx_get16(p + 1);
	first->block = sfx_get_tid(p + 3) >> 16;
	return true;
}

/* The TID that short_tid has shortened. */
static inline uint64
long_tid(uint16 tid, uint64 firstblock)
{
	return ((firstblock + (tid >> SFX_LOG_OFFSET_BITS) - SFX_LOG_BACK) << 16 |
			(tid & ((1 << SFX_LOG_OFFSET_BITS) - 1))) & UINT64CONST(0xFFFFFFFFFFFF);
}

bool
sfx_log_parse(Relation index, BlockNumber blkno, Page page, uint32 *off, SfxEntry *e, bool *dead)
{
	uint8	   *body = SfxPageBody(page);
	uint32		len = SfxPageBodyLen(page);
	uint32		at = *off < sizeof(SfxLogHeader) ? sizeof(SfxLogHeader) : *off;
	FirstEntry	first;
	uint8		flags;

	if (at == len)
		return false;
	if (at > len || at + header_size(body[at]) > len)
		sfx_corrupt(index, blkno, "log entry header cut off");
	if (!first_entry(body, len, &first))
		sfx_corrupt(index, blkno, "first entry of a log page");
	flags = body[at++];
	*dead = (flags & SFX_LOG_DEAD) != 0;
	e->keylen = flags & SFX_LOG_LEN2 ? sfx_get16(body + at) : flags & SFX_LOG_LEN1 ? body[at] :
		first.keylen;
	at += flags & SFX_LOG_LEN2 ? 2 : flags & SFX_LOG_LEN1 ? 1 : 0;
	if (flags & SFX_LOG_TID)
	{
		e->tid = sfx_get_tid(body + at);
		at += 6;
	}
	else
	{
		e->tid = long_tid(sfx_get16(body + at), first.block);
		at += 2;
	}
	e->paylen = 0;
	if (flags & SFX_LOG_PAYLOAD)
	{
		e->paylen = sfx_get16(body + at);
		at += 2;
	}
	if (e->keylen + e->paylen > SFX_MAX_ENTRY || at + e->keylen + e->paylen > len)
		sfx_corrupt(index, blkno, "log entry reaches beyond its page");
	e->key = body + at;
	e->payload = body + at + e->keylen;
	*off = at + e->keylen + e->paylen;
	return true;
}

/*
 * Nearly all entries of ascending keys have no flag, a short TID, and a key as long as the first
 * one's: of these nothing but the keys is looked at.
 */
uint32
sfx_log_skip_rising(Page page, uint32 *off, SfxPos *top)
{
	const uint8 *body = SfxPageBody(page);
	uint32		len = SfxPageBodyLen(page);
	uint32		at = *off;
	uint32		n = 0;
	uint32		size;
	FirstEntry	first;

	if (!first_entry(body, len, &first) || top->len != first.keylen)
		return 0;
	size = header_size(0) + first.keylen;
	while (at + size <= len && body[at] == 0 &&
		   sfx_memcmp(top->key, body + at + header_size(0), first.keylen) < 0)
	{
		top->key = body + at + header_size(0);
		at += size;
		n++;
	}
	if (n > 0)
		top->tid = long_tid(sfx_get16(top->key - 2), first.block);
	*off = at;
	return n;
}

/*
 * See log.h.  Of most entries the first eight bytes of the key tell.  A flag that says more of the
 * entry than its TID's size is left to sfx_log_parse, and so is what does not fit.
 */
void
sfx_log_skip_outside(const SfxLogEnd *end, uint32 *off, const SfxPos *lo, const SfxPos *hi)
{
	const uint8 *body = SfxPageBody((Page) end->copy.page);
	uint32		len = SfxPageBodyLen((Page) end->copy.page);
	uint32		at = *off;
	bool		one = lo->key == hi->key;
	uint64		least = sfx_load_be(lo->key, lo->len);
	uint64		most = hi->key ? sfx_load_be(hi->key, hi->len) : PG_UINT64_MAX;
	uint64		mask;
	FirstEntry	first;

	if (!first_entry(body, len, &first))
		return;
	mask = first.keylen < 8 ? ~(PG_UINT64_MAX >> 8 * first.keylen) : PG_UINT64_MAX;
	while (at < len && (body[at] & ~(SFX_LOG_TID | SFX_LOG_DEAD | SFX_LOG_UNCHANGED)) == 0)
	{
		uint32		key = at + (body[at] & SFX_LOG_TID ? header_size(SFX_LOG_TID) : header_size(0));
		uint64		word;

		if (key + first.keylen > len)
			break;
		word = sfx_load_be64(body + key) & mask;
		if (word >= least && word <= most &&
			(!one || sfx_same_bytes(body + key, first.keylen, lo->key, lo->len)))
			break;
		at = key + first.keylen;
	}
	*off = at;
}

/* See log.h.  Later entries refer to the header of the page's first one, so that is copied, too. */
void
sfx_log_copy_end(BlockNumber blkno, Page page, uint32 off, SfxLogEnd *end)
{
	const uint8 *body = SfxPageBody(page);
	uint32		from = Max(off, sizeof(SfxLogHeader));
	uint32		kept = Min(from, sizeof(SfxLogHeader) + LOG_FIRST_HEADER);
	Page		copy = end->copy.page;

	end->blkno = blkno;
	end->off = kept;
	end->len = SfxPageBodyLen(page) - from;
	Assert(end->len <= SFX_LOG_END_MAX);
	memcpy(SfxPageBody(copy), body, kept);
	memcpy(SfxPageBody(copy) + kept, body + from, end->len);
	((PageHeader) copy)->pd_lower = SfxPageBody(copy) - (uint8 *) copy + kept + end->len;
}

/*
 * The TID in two bytes, as the distance from the heap block of the page's first entry.  False: it
 * is too far away, or its offset too large.
 */
static bool
short_tid(uint64 tid, uint64 firstblock, uint16 *out)
{
	int64		block = (int64) (tid >> 16) - (int64) firstblock + SFX_LOG_BACK;
	uint32		offset = tid & 0xFFFF;

	*out = (uint16) (block << SFX_LOG_OFFSET_BITS | offset);
	return block >= 0 && block < TID_BLOCKS && offset < (1 << SFX_LOG_OFFSET_BITS);
}

/*
 * Form the bytes that add the entry to a log page with that first entry (NULL: the page is empty).
 * Returns their number.
 */
static int
form_entry(const FirstEntry *first, const SfxEntry *e, bool unchanged, uint8 *out)
{
	uint8		flags = (unchanged ? SFX_LOG_UNCHANGED : 0) | (e->paylen > 0 ? SFX_LOG_PAYLOAD : 0);
	uint16		tid = 0;
	int			at = 1;

	if (first == NULL || (e->keylen != first->keylen && e->keylen > 0xFF))
	{
		flags |= SFX_LOG_LEN2;
		sfx_put16(out + at, (uint16) e->keylen);
		at += 2;
	}
	else if (e->keylen != first->keylen)
	{
		flags |= SFX_LOG_LEN1;
		out[at++] = (uint8) e->keylen;
	}
	if (first != NULL && short_tid(e->tid, first->block, &tid))
	{
		sfx_put16(out + at, tid);
		at += 2;
	}
	else
	{
		flags |= SFX_LOG_TID;
		sfx_put_tid(out + at, e->tid);
		at += 6;
	}
	if (e->paylen > 0)
	{
		sfx_put16(out + at, (uint16) e->paylen);
		at += 2;
	}
	out[0] = flags;
	memcpy(out + at, e->key, e->keylen);
	at += e->keylen;
	if (e->paylen > 0)
		memcpy(out + at, e->payload, e->paylen);
	return at + e->paylen;
}

int
sfx_log_form(Page page, const SfxEntry *e, const bool *unchanged, int n, uint8 *out, int *len)
{
	int			room = ((PageHeader) page)->pd_upper - ((PageHeader) page)->pd_lower;
	FirstEntry	first;
	bool		known = first_entry(SfxPageBody(page), SfxPageBodyLen(page), &first);
	int			i;

	*len = 0;
	for (i = 0; i < n; i++)
	{
		int			bytes = form_entry(known ? &first : NULL, &e[i], unchanged[i], out + *len);

		if (*len + bytes > room)
			break;
		*len += bytes;
		if (!known)
			first = (FirstEntry) {e[i].keylen, e[i].tid >> 16};
		known = true;
	}
	return i;
}
