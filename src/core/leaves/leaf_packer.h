/*-------------------------------------------------------------------------
 * leaf_packer.h - the packer's state, and the functions that its files (leaf_write.c,
 * leaf_encode.c, leaf_page.c, leaf_choose.c, leaf_sample.c) call in each other
 *-------------------------------------------------------------------------
 */
#ifndef SFX_LEAF_PACKER_H
#define SFX_LEAF_PACKER_H

#include "leaf.h"
#include "leaf_format.h"
#include "strblock.h"

#define MAX_CAPACITY	32000
#define MAX_BLOCKS		(MAX_CAPACITY / 12)	/* slot 4, head 2, prefix length 1, TIDs 2 or more: at least 9 */
#define RAW_SIZE		(SFX_BLOCK_RAW + SFX_MAX_ENTRY + 16)
#define KNOWN_ROOM		MAX_CAPACITY	/* bytes of codes that come with keys; codes beyond that are
										 * made again */

/* Entries that are not on the page yet.  Each distinct key is there once. */
typedef struct Pending
{
	int			nkeys;
	int			nent;
	uint32_t	seplen;			/* separator below the first entry: that many bytes of its key, */
	uint64_t	septid;			/* and this TID */
	uint32_t	keyoff[SFX_BLOCK_KEYS + 1];
	uint16_t	lcp[SFX_BLOCK_KEYS];	/* shared with the previous key; [0] unused */
	uint16_t	ends[SFX_BLOCK_KEYS];	/* exclusive end of the key's entries */
	uint8_t		loose[SFX_BLOCK_KEYS];	/* bits of its last byte that are not known, and zero */
	int			cached;			/* the cache of append_next for the last key, valid if nkeys has
								 * this value */
	uint64_t	head,
				rest;
	uint64_t	tid[SFX_BLOCK_ENTRIES];
	uint32_t	payoff[SFX_BLOCK_ENTRIES + 1];
	uint8_t		keys[RAW_SIZE];
	uint8_t		pay[RAW_SIZE];
	/* codes that the caller had, one after the other */
	SfxKnownCodes known;
	uint32_t	codesused;
	uint8_t		codes[KNOWN_ROOM + 16]; /* copied in steps of 16 */
} Pending;

/* An encoded block, in pieces: head, prefix after P, rest. */
typedef struct PackedBlock
{
	uint32_t	off;			/* in the page's scratch: separator, prefix, rest */
	uint32_t	restlen;
	uint32_t	prefixlen;		/* whole, P included */
	uint32_t	seplen;			/* whole, P included */
	uint32_t	from;			/* P at that time: scratch has the prefix and separator from there
								 * on */
	uint64_t	septid;
	uint8_t		head[3];
	uint8_t		headlen;
} PackedBlock;

/* A block just encoded, and the fence that would follow it. */
typedef struct Candidate
{
	int			nent;
	PackedBlock b;
	SfxPos		high;
	bool		high_inf;
	uint32_t	size;			/* of the whole page with this block; only if it fits */
	uint32_t	rawrests,		/* bytes of its keys' rests: raw, as stored */
				rests;
	uint8_t		rest[MAX_CAPACITY];
} Candidate;

/* A dictionary, and the bytes of rests in pages and blocks that were coded with it. */
typedef struct PackerDict
{
	const SfxHope *dict;
	uint32_t	number;
	uint64_t	raw,
				stored;
} PackerDict;

struct SfxPacker
{
	uint32_t	capacity;
	int			pages;
	SfxLeafEmit emit;
	void	   *ctx;
	const SfxOrder *order;
	const SfxCodes *codes;		/* of the next entry's key; NULL: unknown */
	int			codeno;
	int			codec;			/* pinned for integers in keys; 0: none */
	PackerDict	dict[SFX_PACKER_DICTS]; /* without one, dict[0] counts the rests */
	int			ndicts;
	int			at;				/* the page's dictionary */
	uint32_t	dictno;			/* its number; 0: no dictionary */
	bool		coded;			/* some committed block needs it */
	SfxRestSample *sample;
	SfxPos		low;			/* low fence of the page under construction; its key is lowkey */
	uint32_t	nentries;		/* in committed blocks */
	int			nblocks;
	uint32_t	used;			/* scratch bytes */
	uint32_t	sumprefix,		/* with a shared prefix of that length */
				sumsize;		/* ... the committed blocks take that many bytes */
	uint32_t	lastent;		/* number of entries of the block committed last, */
	uint32_t	lastsize;		/* ... and its bytes; 0: there is none */
	uint8_t		lowkey[SFX_MAX_ENTRY];
	PackedBlock blocks[MAX_BLOCKS];
	Pending		pend;
	SfxCoder	coder;			/* of the block that the first pending key begins */
	uint32_t	cutmost;		/* keys up to this length are cut; 0: no keys */
	bool		come_whole;		/* keys that come in are whole, whatever their length */
	uint32_t	pagemost;		/* entries of a page, if no key has more; 0: as many as fit */
	/* leaf_cut.c: what is left of a block's keys, in bits (of those that are known) and in bytes */
	uint32_t	need[SFX_BLOCK_KEYS];
	uint32_t	have[SFX_BLOCK_KEYS];
	uint32_t	cutoff[SFX_BLOCK_KEYS + 1];
	uint8_t		cutloose[SFX_BLOCK_KEYS];
	bool		anyloose;		/* some key's last byte is stored, and not known whole */
	uint8_t		cutkeys[RAW_SIZE];
	uint8_t		scratch_keys[MAX_CAPACITY]; /* their stream, if they are cut between bits */
	Candidate	cand[2];		/* the best so far and the one being tried */
	int			best;
	uint8_t		scratch[2 * MAX_CAPACITY];
	uint8_t		body[MAX_CAPACITY];
};

static inline SfxPos
pending_key(const Pending *q, int k)
{
	return (SfxPos) {q->keys + q->keyoff[k], q->keyoff[k + 1] - q->keyoff[k], 0};
}

/* The key of pending entry e. */
static inline int
key_of_entry(const Pending *q, int e)
{
	int			lo = 0,
				hi = q->nkeys - 1;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (q->ends[mid] > e)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/*
 * leaf_choose.c: code the page that the pending entries begin with the dictionary that suits them.
 */
extern void sfx_choose_dict(SfxPacker *p);

/*
 * leaf_sample.c: sample the first nkeys pending keys, a block that is about to be committed; cut:
 * bytes at the end of all keys that are stored once.
 */
extern void sfx_sample_block(SfxRestSample *s, const Pending *q, int nkeys, uint32_t cut);

/*
 * leaf_cut.c: cut the first nkeys pending keys, of which the first c->nent entries are about to be
 * encoded, into p->cutkeys.
 */
extern void sfx_cut_block(SfxPacker *p, const Candidate *c, int nkeys);

/*
 * Lengthen all of them to the longest one's length, so that they can be coded as numbers.  False:
 * some key is not that long, or they have one length already.
 */
extern bool sfx_cut_evenly(SfxPacker *p, int nkeys);

/*
 * leaf_encode.c: encode the first c->nent pending entries into c.  SFX_OK or SFX_NOSPACE (too large
 * for any page).
 */
extern int	sfx_pack_block(SfxPacker *p, Candidate *c);

/*
 * leaf_page.c: size of the page with the committed blocks and one more (NULL: without), and this
 * high fence.
 */
extern uint32_t sfx_pack_size(const SfxPacker *p, const SfxPos *high, bool high_inf, const PackedBlock *extra);
/*
 * Encode the first n pending entries into c, as the page's next block.  above is what follows all
 * of them (NULL: they are not all, or there is no fence); inf: there is no fence.  True: it fits.
 * c->size is 0 if it is too large to be encoded.
 */
extern bool sfx_pack_try(SfxPacker *p, Candidate *c, int n, const SfxPos *above, bool inf);
/* Make c, which was tried with success, the page's next block.  The entries stay pending. */
extern void sfx_pack_commit(SfxPacker *p, const Candidate *c);
/* Emit the page with this high fence, and begin the next page there.  Returns what emit returns. */
extern int	sfx_pack_close(SfxPacker *p, const SfxPos *high, bool high_inf);

#endif							/* SFX_LEAF_PACKER_H */
