/*-------------------------------------------------------------------------
 * delta.h - the ordered structure of the dynamic stage: a B+tree of byte-string entries
 *
 * Nodes are SFX_NODE_SIZE bytes, named by 32-bit references that an allocator hands out, so that
 * the tree can live in shared memory, in private memory, or anywhere (no pointer is stored).
 *
 * Thread safety: none of its own.  A writer needs the caller's exclusive
 * lock, readers and cursors a shared one; a cursor is dead once the lock was released.
 *
 * Invariants: entries are unique by (key, TID); nodes of a level are linked both ways; every
 * node but the root has at least one entry; a failed insert changes nothing.
 *
 * In comparator order (alloc->order is not NULL) insert, remove, seek and verify may leave by
 * longjmp, out of a comparison: they have changed nothing then.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_DELTA_H
#define SFX_DELTA_H

#include "sfx.h"
#include "leaf.h"				/* SfxEntry */

#define SFX_NODE_SIZE	8192
#define SFX_NODE_NULL	0u		/* no node; allocators never hand it out */

typedef struct SfxNodeAlloc
{
	void	   *ctx;
	uint32_t	(*alloc) (void *ctx);	/* SFX_NODE_NULL: exhausted */
	void		(*free) (void *ctx, uint32_t ref);
	void	   *(*addr) (void *ctx, uint32_t ref);	/* 8-byte aligned, stable until freed */
	/* how many more alloc() calls are sure to succeed; may return INT32_MAX */
	uint32_t	(*available) (void *ctx);
	/* of the keys, the same at every call for one tree; NULL: byte order */
	const SfxOrder *order;
} SfxNodeAlloc;

/* Which keys a tree may have, as hashes (delta_filter.c).  All zero: there is none. */
typedef struct SfxDeltaFilter
{
	uint32_t	root;			/* its node of bits; of several, a node that names them */
	uint32_t	nodes;			/* of bits */
	uint64_t	keys;			/* added to it, equal ones as often as they were */
} SfxDeltaFilter;

/* Plain data: may lie in shared memory. All zero = empty. */
typedef struct SfxDelta
{
	uint32_t	root;
	uint32_t	height;			/* 0 = empty */
	uint32_t	nodes;
	uint32_t	pad;
	uint64_t	nentries;
	uint64_t	bytes;			/* sum of key and payload bytes */
	SfxDeltaFilter filter;
} SfxDelta;

/*
 * Insert a copy of e.  SFX_OK; 1 if (key, TID) was there (its payload is replaced); SFX_NOMEM with
 * nothing changed, which can happen once fewer than height + 2 nodes are available; SFX_NOSPACE if
 * keylen + paylen > SFX_MAX_ENTRY.
 */
extern int sfx_delta_insert(SfxDelta *d, const SfxNodeAlloc *a, const SfxEntry *e);

/*
 * The same for many entries, one after the other: those that come in order find their place beside
 * the last one's without a way down.  finger: 0 at first, and after anything else that changed the
 * tree.
 */
extern int sfx_delta_insert_near(SfxDelta *d, const SfxNodeAlloc *a, const SfxEntry *e, uint32_t *finger);

/* Remove (key, TID).  1 if it was there, 0 if not. */
extern int sfx_delta_remove(SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos);

/* Give back all nodes, the filter's too; d is empty after. */
extern void sfx_delta_free(SfxDelta *d, const SfxNodeAlloc *a);

typedef struct SfxCursor
{
	uint32_t	node;			/* SFX_NODE_NULL: at the end */
	int			slot;
} SfxCursor;

/* Stand on the first entry >= pos (NULL: the first of all).  False if there is none. */
extern bool sfx_delta_seek(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, SfxCursor *c);

/* Stand on the last entry < pos (NULL: the last of all).  False if there is none. */
extern bool sfx_delta_seek_before(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, SfxCursor *c);

/* The entry under the cursor; pointers into the node. */
extern void sfx_delta_get(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c, SfxEntry *e);

/*
 * The entry under the cursor was asked for: count that, up to SFX_DELTA_TOUCHES.  A shared lock
 * will do, since nothing else changes under one; of touches at the same moment some may be lost.
 * How often an entry was touched since it came in.
 */
#define SFX_DELTA_TOUCHES	3
extern void sfx_delta_touch(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c);
extern int sfx_delta_touches(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c);

/* Move one entry on or back; false at the end. */
extern bool sfx_delta_next(const SfxDelta *d, const SfxNodeAlloc *a, SfxCursor *c);
extern bool sfx_delta_prev(const SfxDelta *d, const SfxNodeAlloc *a, SfxCursor *c);

/*
 * How many entries lie below each of pos[0..n), which ascend (key NULL: all).  Counted by leaves,
 * and so exact, where that takes few of them from the position before or to the end; else about, as
 * if all nodes of a level were equally full.  below ascends, too.
 */
extern void sfx_delta_ranks(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, int n, double *below);

/*
 * Order, links, counts, and that the filter knows every key.  SFX_OK, or SFX_CORRUPT with *why;
 * SFX_DISORDER if it is comparator order alone that does not hold.
 */
extern int sfx_delta_verify(const SfxDelta *d, const SfxNodeAlloc *a, const char **why);

/* ---- filters (delta_filter.c) ---- */

/* Certainly no entry has the key with that hash (sfx_hash_key).  Without a filter: false. */
extern bool sfx_delta_absent(const SfxDelta *d, const SfxNodeAlloc *a, uint64_t hash);

/*
 * Would a filter, or a larger one, be worth its room?  Not for a single node, which is searched as
 * fast.
 */
extern bool sfx_delta_filter_due(const SfxDelta *d);

/* How many nodes sfx_delta_filter_grow takes at this size. */
extern uint32_t sfx_delta_filter_nodes(const SfxDelta *d);

/*
 * Make a filter over the entries that there are, with room for as many again, in place of the one
 * that there is: one walk over all leaves.  SFX_OK, or SFX_NOMEM with nothing changed.
 */
extern int sfx_delta_filter_grow(SfxDelta *d, const SfxNodeAlloc *a);

/* Give back the filter's nodes. */
extern void sfx_delta_filter_free(SfxDelta *d, const SfxNodeAlloc *a);

#endif							/* SFX_DELTA_H */
