/*-------------------------------------------------------------------------
 * delta.h - the ordered structure of an image: a B+tree of byte-string entries
 *
 * Nodes are SFX_NODE_SIZE bytes, named by 32-bit references that an allocator hands out, so the
 * tree can be in shared memory, in private memory, or anywhere else (no pointer is stored).
 *
 * Locking is up to the caller: a writer needs an exclusive lock, readers and cursors a shared one.
 * A cursor is invalid as soon as the lock was released.
 *
 * Invariants: entries are unique by (key, TID); nodes of a level are linked both ways; every node
 * except the root has at least one entry; a failed insert changes nothing.
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
	/* number of alloc() calls that will certainly succeed; may return INT32_MAX */
	uint32_t	(*available) (void *ctx);
	/* order of the keys, the same in every call for one tree; NULL: byte order */
	const SfxOrder *order;
} SfxNodeAlloc;

/* A Bloom filter over the keys of a tree (delta_filter.c).  All zero: there is none. */
typedef struct SfxDeltaFilter
{
	uint32_t	root;			/* the node of its bits; if there are several, a node that names
								 * them */
	uint32_t	nodes;			/* nodes of bits */
	uint64_t	keys;			/* number of keys added, equal ones counted each time */
} SfxDeltaFilter;

/* Plain data: may be in shared memory.  All zero = empty. */
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
 * Insert a copy of e.  SFX_OK; 1 if (key, TID) was there already (its payload is replaced, and its
 * dead flag ends); SFX_NOMEM with nothing changed, which can happen if fewer than height + 2 nodes
 * are available; SFX_NOSPACE if keylen + paylen > SFX_MAX_ENTRY.
 */
extern int sfx_delta_insert(SfxDelta *d, const SfxNodeAlloc *a, const SfxEntry *e);

/*
 * The same for many entries, one after the other: an entry that belongs near the last one finds its
 * place there without a descent.  finger: 0 at first, and after anything else changed the tree.
 */
extern int sfx_delta_insert_near(SfxDelta *d, const SfxNodeAlloc *a, const SfxEntry *e, uint32_t *finger);

/* Remove (key, TID).  1 if it was there, else 0. */
extern int sfx_delta_remove(SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos);

/* Free all nodes, the filter's too; d is empty then. */
extern void sfx_delta_free(SfxDelta *d, const SfxNodeAlloc *a);

typedef struct SfxCursor
{
	uint32_t	node;			/* SFX_NODE_NULL: at the end */
	int			slot;
} SfxCursor;

/* Move to the first entry >= pos (NULL: the first of all).  False if there is none. */
extern bool sfx_delta_seek(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, SfxCursor *c);

/* Move to the last entry < pos (NULL: the last of all).  False if there is none. */
extern bool sfx_delta_seek_before(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, SfxCursor *c);

/* The entry at the cursor; its pointers point into the node. */
extern void sfx_delta_get(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c, SfxEntry *e);

/*
 * Flag the entry at the cursor as dead, until it is inserted again; true: it was not yet.  A shared
 * lock is enough, since nothing else changes under one.  Nothing here depends on the flag.
 */
extern bool sfx_delta_set_dead(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c);
extern bool sfx_delta_dead(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c);

/* Move to the next or the previous entry; false at the end. */
extern bool sfx_delta_next(const SfxDelta *d, const SfxNodeAlloc *a, SfxCursor *c);
extern bool sfx_delta_prev(const SfxDelta *d, const SfxNodeAlloc *a, SfxCursor *c);

/*
 * Set below[i] to the number of entries below pos[i], for pos[0..n), which ascend (key NULL: all
 * entries).  The number is counted by leaves, and so exact, if there are few leaves from the
 * previous position or to the end; otherwise it is an estimate, as if all nodes of a level were
 * equally full. below ascends, too.
 */
extern void sfx_delta_ranks(const SfxDelta *d, const SfxNodeAlloc *a, const SfxPos *pos, int n, double *below);

/*
 * Check order, links and counts, and that the filter has every key.  SFX_OK, or SFX_CORRUPT with
 * *why; or SFX_DISORDER if only comparator order does not hold.
 */
extern int sfx_delta_verify(const SfxDelta *d, const SfxNodeAlloc *a, const char **why);

/* ---- filters (delta_filter.c) ---- */

/* Is there certainly no entry of the key with that hash (sfx_hash_key)?  False without a filter. */
extern bool sfx_delta_absent(const SfxDelta *d, const SfxNodeAlloc *a, uint64_t hash);

/*
 * Is a filter, or a larger one, worth its room?  Not for a single node, which is searched as fast.
 */
extern bool sfx_delta_filter_due(const SfxDelta *d);

/* Number of nodes that sfx_delta_filter_grow takes at the current size. */
extern uint32_t sfx_delta_filter_nodes(const SfxDelta *d);

/*
 * Make a filter over all entries, with room for as many again, in place of the old one, in one walk
 * over all leaves.  SFX_OK, or SFX_NOMEM with nothing changed.
 */
extern int sfx_delta_filter_grow(SfxDelta *d, const SfxNodeAlloc *a);

/* Free the filter's nodes. */
extern void sfx_delta_filter_free(SfxDelta *d, const SfxNodeAlloc *a);

#endif							/* SFX_DELTA_H */
