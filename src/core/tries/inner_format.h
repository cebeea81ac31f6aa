/*-------------------------------------------------------------------------
 * inner_format.h - the bytes of an inner page's body, for its writer and its readers
 *
 * Byte offsets:
 *
 *	off	size	what
 *	0	2	bits 0-13 children; bit 14 the separators are a trie; bit 15 no high fence
 *	2	2	bits 0-11 bytes of the low fence; bit 12 it has a TID; bit 13 the high fence has one;
 *			bits 14-15 separators with a TID: 0 none, 1 all, 2 see their bits
 *	4	2	bits 0-11 bytes of the high fence after the common prefix; bits 12-13 coding of the
 *			blocks; bit 14 comparator order; bit 15 there are filters
 *	6	2	bits 0-11 bytes of the common prefix; bits 12-15 bytes of the counts' base
 *	8	1	bits 0-6 width of a block; bit 7 blocks have a base
 *	9	1	bits 0-6 width of a count; bit 7 some counts are exceptions
 *	10	0, 4	base of the blocks
 *		0..8	base of the counts
 *		0, 2	runs of blocks
 *		0, 2	exceptions (1 byte), bytes of one (1 byte)
 *		low fence, followed by its TID (6 bytes, big-endian)
 *		high fence without the common prefix, followed by its TID
 *		blocks		FLAT: child - base, packed; STEP: child - number - base, packed;
 *					RUNS: first children of the runs, packed, then their blocks - base, packed
 *		counts		count - base, packed; all ones: see the exceptions
 *		exceptions	2 bytes child, then the count; ascending
 *		bits		which separators have a TID
 *		filters		2 bytes their number, then for each one 2 bytes first child, 1 byte children,
 *					4 bytes block; ascending
 *		separators	without the common prefix
 *
 * The header is so small because two fences and a separator of the largest size must leave room for
 * it: they take 3 * (2,696 + 6) of 8,144 bytes, two children take 24 at most, a separator's length
 * 2, the header 10.
 *
 * Separators as a trie: see louds_format.h.  Separators in front coding: 2-byte offsets of blocks
 * 1.., then blocks of FRONT_BLOCK strings.  The first of a block: its length as a varint, its
 * bytes.  The others: a byte with the number of bytes shared with the previous one (high nibble)
 * and of bytes of its own (low nibble), where 15 means that a varint with the rest follows; its own
 * bytes.
 *
 * Comparator order: front coding always, and the common prefix is empty.  The bytes of a
 * separator's TID are coded together with its key's, and taken off again before keys are compared.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_INNER_FORMAT_H
#define SFX_INNER_FORMAT_H

#include "inner.h"
#include "louds.h"

#define HEADER			10
#define FRONT_BLOCK		16
#define MAXEXCEPTIONS	255
#define FILTER_SIZE		7			/* bytes of a filter's record */

enum { BLOCKS_FLAT, BLOCKS_STEP, BLOCKS_RUNS };
enum { TIDS_NONE, TIDS_ALL, TIDS_SOME };

/* Results of sfx_inner_open, in SfxInner.priv.  Offsets are from the start of the body. */
typedef struct View
{
	uint32_t	nsep;
	uint32_t	flags;			/* F_ bits */
	uint32_t	low;
	uint32_t	lowlen;
	uint32_t	high;
	uint32_t	highlen;
	uint32_t	prefix;
	uint32_t	bcoding;
	uint32_t	blocks;
	uint32_t	bwidth;
	uint32_t	bbase;
	uint32_t	nruns;
	uint32_t	counts;
	uint32_t	cwidth;
	uint32_t	cbase;			/* low half; the other one follows */
	uint32_t	cbasehi;
	uint32_t	exc;
	uint32_t	nexc;
	uint32_t	excsize;		/* bytes of a count there */
	uint32_t	tids;
	uint32_t	tidbits;
	uint32_t	filters;		/* their records */
	uint32_t	nfilters;
	uint32_t	front;			/* front coding: block offsets */
	uint32_t	data;			/* blocks */
	SfxTrie		trie;
} View;

#define F_TRIE		1
#define F_HIGHINF	2
#define F_LOWTID	4
#define F_HIGHTID	8
#define F_ORDER		16
#define F_FILTERS	32

_Static_assert(sizeof(View) <= sizeof(((SfxInner *) 0)->priv), "SfxInner.priv is too small");

static inline const View *
view(const SfxInner *p)
{
	return (const View *) p->priv;
}

static inline SfxBuf
buf(const SfxInner *p)
{
	return (SfxBuf) {p->body, p->len};
}

/* Compare as byte strings, TIDs included. */
extern int sfx_inner_cmp_strings(const SfxPos *x, const SfxPos *y);

/* Separate string s of separator i into key and TID.  False: it cannot be a separator. */
static inline bool
split_separator(const View *v, SfxBuf b, uint32_t i, const uint8_t *s, uint32_t len, SfxPos *sep)
{
	*sep = (SfxPos) {s, len, 0};
	if (v->tids == TIDS_ALL || (v->tids == TIDS_SOME && sfx_bit(b, v->tidbits, i)))
	{
		if (len < 6)
			return false;
		sep->len -= 6;
		sep->tid = sfx_get_tid(s + sep->len);
		if (sep->tid == 0)
			return false;
	}
	return sep->len <= SFX_MAX_ENTRY;
}

/* ---- separators in front coding (inner_front.c) ---- */

/*
 * Returns the number of separators < the probe (strict) or <= the probe, whose first d bytes are
 * the common prefix; or SFX_CORRUPT.
 */
extern int sfx_front_rank(const View *v, SfxBuf b, const SfxProbe *q, uint32_t d, bool strict);
/* The same in comparator order. */
extern int sfx_front_rank_order(const View *v, SfxBuf b, const SfxOrder *o, const SfxPos *pos, bool strict);
/* Call f for all separators, ascending, rebuilt in out. */
extern int sfx_front_each(const View *v, SfxBuf b, uint8_t *out, SfxTrieFn f, void *ctx);

#endif							/* SFX_INNER_FORMAT_H */
