/*-------------------------------------------------------------------------
 * surf.h - SuRF: a filter that answers "is this key, or any key of this range, stored?"
 *
 * The Succinct Range Filter of Zhang et al. (SIGMOD 2018): the trie of the keys, each cut after the
 * byte that tells it from its neighbours, in LOUDS-DS (dense top, sparse below); and after each cut
 * a suffix of hash bits (points), of the key's next bits ("real", points and ranges), of both, or
 * of none.  "No" is always right; "yes" may be wrong.  Differences to the paper:
 *
 * - A key may contain any bytes, and may be a prefix of another one: the end of a key is a bit of
 *   its node, outside the alphabet (section 3.2 of the paper spends a byte value on it).
 * - Bytes that all keys below a node share are stored separately, once for all nodes that have the
 *   same ones (paths), in an optimal prefix code.  Every node has two branches, or one and the end
 *   of a key.  (If there are almost no paths, their bytes remain nodes of one branch.)
 * - All edges are numbered level by level, so that has-child bits and suffixes are found in the
 *   same way in both parts.  A dense node is a map of 256 labels and the number of its first edge;
 *   has-child bits are kept for existing edges only.
 * - Labels of the sparse part may be cut into digits: an order-preserving code in which frequent
 *   bytes take one digit of 4 to 7 bits and rare ones two.
 * - Real suffixes of text are not bits of the key but of an order-preserving code of what follows
 *   the cut, HOPE's Single-Char idea with fractions of bits: each byte takes its share, by
 *   frequency, of what is left of the interval [0, 1).  So they tell keys apart sooner than bits
 *   of which half are the same in all letters.
 * - Labels of a sparse node ascend, so it is cut into a power of two of buckets, by the high bits
 *   of the label, and only the low bits are stored, as in Elias-Fano codes.  The bits that mark
 *   where buckets begin replace those that mark nodes.
 *
 * The filter is one string of bytes, at any address, and readers use it in place.  Bytes are not
 * trusted: sfx_surf_open checks all sizes, every later access is checked against them, and every
 * loop moves forward.
 *
 * Limits: 2^31 keys, of up to SFX_SURF_MAXLEN bytes, and 2^32 - 1 edges; positions in the filter
 * are 64 bits wide.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_SURF_H
#define SFX_SURF_H

#include "sfx.h"

#define SFX_SURF_MAXLEN		16383
#define SFX_SURF_MAXKEYS	(UINT64_C(1) << 31)
#define SFX_SURF_MAXBITS	32	/* of hash, and of real suffixes */

/* ---- reading ---- */

/*
 * An open filter: pointers into the caller's bytes, and the header in machine words.  Private to
 * surf*.c.
 */
typedef struct SfxSurf
{
	const uint8_t *base;
	uint64_t	size;			/* of the filter; at least 8 bytes more than all that is read */
	uint64_t	nkeys;			/* public: the number of distinct keys */
	uint64_t	nedges;
	uint64_t	nnodes;
	uint64_t	ndedges;		/* edges of dense nodes */
	uint64_t	ndense;			/* dense nodes: numbers 0 .. ndense - 1 */
	uint64_t	npaths;			/* nodes that have a path */
	uint64_t	nshort;			/* of these, nodes with a short path number */
	uint64_t	ndict;			/* different paths */
	uint64_t	poolsize;		/* bytes of them, with their lengths */
	uint64_t	nonce;			/* paths that only one node has, and that are known as such */
	uint64_t	nsymbols;		/* with flag SYMBOLS */
	uint64_t	symsize;		/* bytes of that section */
	uint32_t	height;			/* number of nodes on the longest way down */
	uint32_t	maxdepth;		/* bytes of the longest cut key */
	uint8_t		hashbits;		/* public */
	uint8_t		realbits;		/* public */
	uint8_t		lwidth;			/* bits of a label */
	uint8_t		bshift;			/* 2^bshift buckets make a sparse node */
	uint8_t		low;			/* bits of a label that are stored: lwidth - bshift */
	uint8_t		selshift;		/* a select sample for every 2^selshift buckets */
	uint8_t		shortw;			/* bits of a short path number; with flag KINDS */
	uint8_t		longw;			/* and of a long one */
	uint8_t		lenw;			/* bits of a path's length in the pool */
	uint8_t		flags;
	uint8_t		lanes;			/* labels compared at once */
	uint8_t		samplew;		/* bits of a select sample */
	uint8_t		startw;			/* bits of a path's start */
	uint32_t	lrecip;			/* 65536 / low, rounded up */
	uint64_t	lane1;			/* the lowest bit of each lane */
	uint64_t	laneh;			/* and the highest */
	const uint8_t *dense;		/* see surf_format.h for these */
	const uint8_t *dchild;
	const uint8_t *code;
	const uint8_t *blocks;
	const uint8_t *buckets;
	const uint8_t *select;
	const uint8_t *haspath;
	const uint8_t *ends;
	const uint8_t *once;
	const uint8_t *kinds;
	const uint8_t *shorts;
	const uint8_t *longs;
	const uint8_t *starts;
	const uint8_t *symbols;
	const uint8_t *pool;
	const uint8_t *suffixes;
	const uint8_t *rest;		/* with flag REST */
} SfxSurf;

/*
 * Open the filter in buf[0..len), which must not change or go away while s is used.  SFX_OK or
 * SFX_CORRUPT.  Takes constant time.
 */
extern int sfx_surf_open(SfxSurf *s, const uint8_t *buf, uint64_t len);

/* May the key be stored?  1, 0 (certainly not), or SFX_CORRUPT. */
extern int sfx_surf_lookup(const SfxSurf *s, const uint8_t *key, uint32_t len);

/* A bound of a range; NULL in place of one: none. */
typedef struct SfxSurfBound
{
	const uint8_t *key;
	uint32_t	len;
	bool		inclusive;
} SfxSurfBound;

/* May a key of the range be stored?  1, 0, or SFX_CORRUPT. */
extern int sfx_surf_lookup_range(const SfxSurf *s, const SfxSurfBound *low, const SfxSurfBound *high);

/* Check every node, edge, path and sample, in linear time.  Returns NULL, or what is wrong. */
extern const char *sfx_surf_check(const SfxSurf *s);

/* ---- building ---- */

/*
 * Memory for a build.  resize is like realloc, with the old size; newsize 0 frees.  It returns NULL
 * if there is no memory (old is left as it is).
 */
typedef struct SfxSurfAlloc
{
	void	   *ctx;
	void	   *(*resize) (void *ctx, void *old, size_t oldsize, size_t newsize);
} SfxSurfAlloc;

/* A growing array. */
typedef struct SfxSurfVec
{
	uint8_t    *p;
	size_t		len;
	size_t		cap;			/* bytes */
} SfxSurfVec;

typedef struct SfxSurfBuild
{
	SfxSurfAlloc alloc;
	uint8_t		hashbits;
	uint8_t		realbits;
	uint8_t		hashbytes;		/* of a suffix's hash while building */
	uint8_t		sufbytes;		/* of a suffix while building: hash, then with real bits a length
								 * and up to 8 bytes of the key */
	bool		done;			/* sfx_surf_size was called */
	bool		unary;			/* paths are so few that they become nodes of one edge */
	int			error;			/* sticky */
	uint64_t	nkeys;
	uint32_t	lastlen;		/* length of the key added last */
	uint32_t	maxdepth;
	SfxSurfVec	last;			/* the key added last */
	SfxSurfVec	open;			/* nodes on the path to it */
	SfxSurfVec	pending;		/* finished edges of open nodes */
	SfxSurfVec	nodes;			/* closed nodes, children before parents */
	SfxSurfVec	edges;			/* their edges */
	SfxSurfVec	suffixes;		/* of their leaf edges */
	SfxSurfVec	dict;			/* different paths */
	SfxSurfVec	pathbytes;
	SfxSurfVec	buckets;		/* hash table over dict */
	SfxSurfVec	levels;			/* sums per level, by sfx_surf_size */
	SfxSurfVec	order;			/* paths by number */
	SfxSurfVec	coded;			/* symbols of all paths */
	SfxSurfVec	codes;			/* codes of all symbols */
	SfxSurfVec	code;			/* the code section */
	SfxSurfVec	symbols;		/* the symbols section */
	SfxSurfVec	rest;			/* the rest section */
	SfxSurf		plan;			/* the header, by sfx_surf_size */
} SfxSurfBuild;

/*
 * Start a build of a filter with that many hash and real bits (at most SFX_SURF_MAXBITS each).
 * Takes no memory yet.
 */
extern void sfx_surf_build_init(SfxSurfBuild *b, const SfxSurfAlloc *alloc, unsigned hashbits, unsigned realbits);

/*
 * Add a key.  Keys come in ascending order; a key that is equal to the previous one is ignored.
 * SFX_OK, SFX_NOMEM, SFX_NOSPACE (beyond a limit), or SFX_CORRUPT (out of order); an error is
 * final.
 */
extern int sfx_surf_add(SfxSurfBuild *b, const uint8_t *key, uint32_t len);

/* All keys are added: set *size to the size of the filter.  SFX_OK or an error as above. */
extern int sfx_surf_size(SfxSurfBuild *b, uint64_t *size);

/* Write the filter into buf[0..cap), after sfx_surf_size.  SFX_OK, SFX_NOSPACE or SFX_NOMEM. */
extern int sfx_surf_write(SfxSurfBuild *b, uint8_t *buf, uint64_t cap);

/* Free all memory: at any time after sfx_surf_build_init, also after errors. */
extern void sfx_surf_build_free(SfxSurfBuild *b);

#endif							/* SFX_SURF_H */
