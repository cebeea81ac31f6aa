/*
 * surf_build.h - what the two halves of the SuRF builder share: surf_build.c takes keys,
 * surf_write.c writes the filter.
 */
#ifndef SFX_SURF_BUILD_H
#define SFX_SURF_BUILD_H

#include "surf_format.h"

/*
 * Make room for n more bytes at the end of a vector.  Returns their address, which holds until the
 * vector grows again, or NULL: no memory.
 */
extern void *surf_vec_room(SfxSurfBuild *b, SfxSurfVec *v, size_t n);

/* Make n zeroed bytes the whole contents of a vector.  NULL: no memory. */
extern void *surf_vec_zeroed(SfxSurfBuild *b, SfxSurfVec *v, size_t n);

/* The same as surf_vec_room, and the bytes count as used. */
static inline void *
surf_vec_push(SfxSurfBuild *b, SfxSurfVec *v, size_t n)
{
	uint8_t    *p = v->cap - v->len > n ? v->p + v->len : surf_vec_room(b, v, n);

	if (p != NULL)
		v->len += n;
	return p;
}

/* A node on the path to the last key. */
typedef struct SurfOpen
{
	uint64_t	pending;		/* its edges in that vector begin here */
	uint32_t	depth;			/* bytes above its labels */
	bool		ends;			/* a key ends here */
} SurfOpen;

/* An edge of an open node. */
typedef struct SurfPending
{
	uint64_t	rest;			/* of a leaf: the bytes of the key after its cut */
	uint32_t	hash;			/* ... and its hash bits */
	uint8_t		restlen;
	uint8_t		label;
	bool		child;
} SurfPending;

/*
 * A closed node.  Nodes are in postorder, and their edges in the same order in "edges": label |
 * child << 8.
 */
typedef struct SurfNode
{
	uint32_t	path;			/* 1 + index in dict; 0: none */
	uint16_t	nedges;
	uint16_t	ends;
} SurfNode;

#define SURF_CHILD	0x100

/* One of the different paths. */
typedef struct SurfPath
{
	uint64_t	off;			/* in pathbytes */
	uint32_t	len;
	uint32_t	hash;
	uint32_t	uses;
	/* set by sfx_surf_size: */
	uint32_t	number;
	uint32_t	ncodes;			/* symbols */
	uint32_t	bits;			/* of its code, or of its bytes */
} SurfPath;

/* The code of a symbol; its first bit is the highest. */
typedef struct SurfCode
{
	uint16_t	bits;
	uint8_t		len;
} SurfCode;

/* All keys are added: close all open nodes.  SFX_OK or an error. */
extern int surf_close(SfxSurfBuild *b);

/*
 * Number the paths by use and plan the pool; sets the plan's ndict, nonce, shortw, longw, lenw,
 * nsymbols, symsize, poolsize, flags.  npaths: nodes with a path.  SFX_OK or an error.
 */
extern int surf_plan_paths(SfxSurfBuild *b, uint64_t npaths);

/*
 * Find symbols and a code for the paths (npaths different ones): makes "coded", "codes" and
 * "symbols", and sets the size of the paths.  False: no memory.
 */
extern bool surf_encode_paths(SfxSurfBuild *b, uint32_t npaths);

/* Give that number to a path that only one node has. */
extern void surf_name_once(SfxSurfBuild *b, uint64_t number, const SurfPath *p);

/*
 * Make the rest section from the collected suffixes, and set its flag, if the keys make it worth
 * its room.  SFX_OK or an error.
 */
extern int surf_plan_rest(SfxSurfBuild *b);

/* Write starts, symbols and pool. */
extern void surf_write_paths(SfxSurfBuild *b);

/* Write w bits of x to where there are zeros; 8 bytes from there on must belong to the filter. */
static inline void
surf_or_bits(uint8_t *p, uint64_t bit, uint64_t x, unsigned w)
{
	unsigned	shift = bit & 7;

	p += bit >> 3;
	sfx_store64(p, sfx_load64(p) | x << shift);
	if (shift + w > 64)
		p[8] |= (uint8_t) (x >> (64 - shift));
}

#endif							/* SFX_SURF_BUILD_H */
