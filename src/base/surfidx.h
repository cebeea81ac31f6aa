/*-------------------------------------------------------------------------
 * surfidx.h - what the PostgreSQL side shares: page formats, relation state, the modules' faces
 *
 * One section per module, in the order of the layers: keys, pages, metapage, log,
 * images, tree, reader, merge.  A module calls only those above it.
 *
 * LOCK ORDER (each may be taken while holding those above it, never the reverse)
 *
 *	1. unique partition lock		heavyweight object lock (unique.c)
 *	2. merge lock					heavyweight object lock (merge.c)
 *	3. image directory lock			LWLock (image.c)
 *	4. image lock					LWLock (image.c)
 *	5. buffers: inner page, its right neighbours, leaves left to right, metapage, log tail, new pages
 *
 * Readers hold one buffer lock at a time; except that with a leaf's they may take the metapage's, and a page's of a dictionary, one at
 * a time, to open the dictionary that the leaf needs (nobody waits for a leaf with one of those in hand).  A gate page is pinned, never
 * locked, except by VACUUM, which takes its cleanup lock holding nothing else.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_H
#define SURFIDX_H

#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/itup.h"
#include "access/sdir.h"
#include "access/xlogreader.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

#include "compat.h"
#include "delta.h"
#include "inner.h"
#include "leaf.h"
#include "sfx.h"
#include "stop.h"

/* ------------------------------------------------------------------ keys
 *
 * Ordered bytes: column by column a marker byte and, unless NULL, the encoded value:
 *
 *	NULL with NULLS FIRST	00
 *	not NULL				01 value		(value bytes complemented if DESC)
 *	NULL with NULLS LAST	02
 *
 * Value encodings are order-preserving and self-delimiting.  Behind the last column stand the rests of those columns whose
 * encoding has any (see SfxEncoding): what tells values apart that are equal.
 */
#define SFX_MARK_NULL_FIRST	0x00
#define SFX_MARK_VALUE		0x01
#define SFX_MARK_NULL_LAST	0x02
/* Only in bounds of the comparator key space, behind the last column of a bound: */
#define SFX_MARK_BEFORE		0xFD	/* below every key that starts with columns equal to these */
#define SFX_MARK_AFTER		0xFF	/* above every key that starts with columns equal to these */

/* Values that are pass-by-value integers in all but name: read and written without a call. */
typedef enum SfxDirect
{
	SFX_DIRECT_NO,
	SFX_DIRECT_SIGNED,			/* big-endian, sign bit flipped */
	SFX_DIRECT_UNSIGNED,		/* big-endian */
	SFX_DIRECT_FLOAT,			/* big-endian, the sign bit flipped or, of negative ones, all; zeros and NaN have rests */
	SFX_DIRECT_BYTES,			/* fixed width, by reference: the value's own bytes */
	SFX_DIRECT_TEXT				/* varlena: its bytes, then 00 */
} SfxDirect;

/*
 * What the opclass's support function SFX_ENCODING_PROC returns (a pointer to a static one).
 *
 * Where values can be equal and yet different (-0 and 0, 1.0 and 1.00), encode gives the bytes that equal ones share. What tells
 * the original is the value's *rest*: a key ends with the rests of its columns, behind all values, where they
 * have no part in the order of the columns.  A rest's length follows from the value's bytes and its own, and
 * its first byte is below SFX_REST_LIMIT.
 */
typedef struct SfxEncoding
{
	/* bytes of every encoded value; 0 = varying */
	int			width;
	/* encode and decode do no more than this says (width 1, 2, 4 or 8): a shortcut, used where the type is passed by value */
	SfxDirect	direct;
	/* Append the value's bytes to buf (room for maxlen bytes); the length, or -1 if they do not fit. */
	int			(*encode) (Datum value, uint8 *buf, int maxlen);
	/* Read a value back from exactly the bytes that encode wrote.  Pass-by-reference values go to out, which is
	 * MAXALIGNed and has room bytes: len + NAMEDATALEN + 16 at least, so that only those that grow have to look.
	 * Returns the Datum; *outlen = bytes used of out. Throws ERRCODE_INDEX_CORRUPTED on bytes that encode cannot have written. */
	Datum		(*decode) (const uint8 *buf, int len, char *out, int room, int *outlen);
	/* Varying width: the length of the value that starts at buf including its end mark, -1 if there is none within avail.
	 * NULL for fixed width. "desc" says that the bytes are complemented. */
	int			(*length) (const uint8 *buf, int avail, bool desc);
	/* Convert a value of another type of the family (subtype) to a bound: see SfxBoundKind.  NULL: only the own type. */
	int			(*bound) (Oid subtype, Datum value, Datum *own, Datum *above);
	/* Append the value's rest, as encode does.  NULL: equal values are the same, and so for the next two. */
	int			(*rest) (Datum value, uint8 *buf, int maxlen);
	/* The length of the rest that starts at rest of a value whose bytes (not complemented) are buf; -1 if not within avail. */
	int			(*rest_length) (const uint8 *buf, int len, const uint8 *rest, int avail);
	/* As decode, with the rest: the original. Without a rest decode returns some value equal to it. */
	Datum		(*restore) (const uint8 *buf, int len, const uint8 *rest, int restlen, char *out, int room, int *outlen);
	/* Where values can be much longer than their bytes: what decode or restore needs of out, at least. */
	int64		(*room) (const uint8 *buf, int len, const uint8 *rest, int restlen);
	/* true: only byte-comparing collations (C, POSIX) keep this order */
	bool		needs_c_collation;
} SfxEncoding;

#define SFX_REST_LIMIT		0xF0	/* below all end marks of bounds */
/* A value's bytes beyond these are compressed (longvalue.c); its size before encoding, at most. */
#define SFX_LONG_PLAIN		1024
#define SFX_LONG_MAX		(1024 * 1024)
/* A row of an index-only scan has 8,191 bytes: so many for the values of key columns, compressed as in btree's tuples, and INCLUDE columns. */
#define SFX_MAX_ROW_DATA	7600

/* Where a value of another type stands among the column type's values. */
typedef enum SfxBoundKind
{
	SFX_BOUND_EXACT,			/* equal to *own */
	SFX_BOUND_AFTER,			/* strictly between *own and its successor */
	SFX_BOUND_BELOW_ALL,
	SFX_BOUND_ABOVE_ALL,
	SFX_BOUND_NEAR,				/* equal to nothing below *own and nothing above *above; between them the operator has to be asked */
	SFX_BOUND_UNKNOWN			/* cannot tell: the qual must be checked as a filter */
} SfxBoundKind;

typedef struct SfxColumn
{
	const SfxEncoding *enc;
	Oid			type;			/* opcintype */
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	bool		desc;
	bool		nulls_first;
	bool		raw;			/* no byte order: datum bytes, compared by the class's support function 1 */
	int			(*bound) (Oid subtype, Datum value, Datum *own, Datum *above);	/* the encoding's, kept where a collation makes it raw */
	bool		counted;		/* raw, of varying width and not a string: a length stands before the bytes */
	const struct SfxStructure *structure;	/* raw and INCLUDE columns: what to hold values against (sound.h), or NULL */
} SfxColumn;

typedef struct SfxKeyDesc
{
	int			nkeys;			/* key columns */
	int			natts;			/* with INCLUDE columns */
	int			nrests;			/* columns whose values may have rests */
	bool		grows;			/* some column's values may be much longer than their bytes (SfxEncoding.room) */
	bool		comparator;		/* comparator key space: some column is raw */
	bool		image_equal;	/* equal keys have equal bytes, rests aside */
	SfxColumn	col[INDEX_MAX_KEYS];	/* of INCLUDE columns only structure is set */
} SfxKeyDesc;

#define SFX_ENCODING_PROC	7	/* support function number; 1 to 6 are as btree's */
#define SFX_NPROCS			7

/* Fill *kd for an index; parts of it are palloced.  ERROR if a column's collation or class cannot be served. */
extern void sfx_keydesc_init(SfxKeyDesc *kd, Relation index);

/* Encode all key columns; the length.  In the comparator key space long values are compressed if the key is too large
 * otherwise (half of SFX_MAX_ENTRY where there are INCLUDE columns: whether they are follows from the key alone).  Throws ERRCODE_PROGRAM_LIMIT_EXCEEDED with the index's name if
 * the key is larger than SFX_MAX_ENTRY.  buf has SFX_MAX_ENTRY bytes. */
extern int	sfx_key_encode(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull, uint8 *buf);

/* Append a column's marker and value to buf at *len; false if there is no room. */
extern bool sfx_column_encode(const SfxColumn *col, Datum value, bool isnull, uint8 *buf, int *len, int maxlen);
/* As above for a value to search for, which is compressed if only that makes it fit; attno is 0-based. */
extern bool sfx_bound_encode(const SfxKeyDesc *kd, Relation index, int attno, Datum value, uint8 *buf, int *len, int maxlen);
/* Has a stored key a value that is compressed?  Then equal keys need not have equal bytes, whatever image_equal says. */
extern bool sfx_key_is_squeezed(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len);

/* Decode the key columns [0, upto) of a key: the very values if these are all, else perhaps others equal to them; pass-by-reference values go to arena (MAXALIGNed, SFX_ARENA bytes),
 * or, where sfx_key_may_be_long, perhaps to palloced memory, of which much more may be left behind. */
#define SFX_ARENA	(2 * BLCKSZ)
extern void sfx_key_decode(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len, int upto,
						   Datum *values, bool *isnull, char *arena);

/*
 * The order of an index's keys for the core library: NULL for ordered bytes.  Ours until sfx_order_end or until the current memory
 * context is reset; kd and the relation have to live as long.  bulk: for many comparisons (sort support); else cheap to make.
 * Comparisons run the operator class's function and may throw.
 */
extern const SfxOrder *sfx_order_create(Relation index, const SfxKeyDesc *kd, bool bulk);
extern void sfx_order_end(const SfxOrder *order);
/* Are two stored keys equal in all columns, as the comparison function says?  (Not for ordered bytes: see sfx_key_equal_len.) */
extern bool sfx_order_equal(const SfxOrder *order, const uint8 *a, int alen, const uint8 *b, int blen);
/*
 * Compare each raw column's first value of this statement with itself: a type may have a class and yet no order (an array or
 * a row of json), and that must be an error before the entry is in the log, where nobody could read past it.
 */
extern void sfx_order_prove(const SfxOrder *order, const Datum *values, const bool *isnull);
/* Order of two values of one column, each marker and value and perhaps SFX_MARK_BEFORE or _AFTER. */
extern int	sfx_order_cmp_column(const SfxOrder *order, int col, const uint8 *a, int alen, const uint8 *b, int blen);
/* Neighbours of a sorted sequence that come in the wrong order: the ERROR that names index, column and operator class. */
pg_noreturn extern void sfx_order_contradiction(const SfxOrder *order, const uint8 *a, int alen, const uint8 *b, int blen);
/*
 * The sort of a build in the comparator key space (sortorder.c).  The operator stands for every key column's order in tuplesort_begin_heap,
 * called right after sfx_sort_prepare, whose attributes 1 to nkeys have to be the index's.
 */
extern Oid	sfx_sort_operator(Relation index);
extern void sfx_sort_prepare(Relation index, const SfxKeyDesc *kd);
/* Sort support for a column through the index's own support functions 2 or 1; ssup zeroed but for what callers set. */
extern void sfx_column_sortsupport(Relation index, const SfxKeyDesc *kd, int attno, struct SortSupportData *ssup);
/* The bytes of the value (marker not included) that starts at p; throws if it runs beyond avail. */
extern int	sfx_value_length(const SfxColumn *col, Relation index, const uint8 *p, int avail);
/* The same with the marker, with which it starts. */
extern int	sfx_column_length(const SfxColumn *col, Relation index, const uint8 *p, int avail);
/* The bytes of a raw string as they are, if they stand like that in the key (nothing escaped, not compressed): their number, else -1. */
extern int	sfx_plain_string(const SfxColumn *col, const uint8 *p, int len);
/* Decode one value of a column; returns the bytes of arena (MAXALIGNed) that it took. */
extern int	sfx_value_decode(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena);
/* The bytes of a stored key without the rests: all of it, if the index has none. */
extern int	sfx_key_equal_len(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len);
/* The range [lo, hi) of all keys whose columns all equal key's; buffers of SFX_MAX_ENTRY + 1 bytes; hi->key NULL: to the end. */
extern void sfx_key_range(const SfxKeyDesc *kd, Relation index, const uint8 *key, int len, uint8 *lobuf, SfxPos *lo,
						  uint8 *hibuf, SfxPos *hi);

/* May decoding a key of len bytes allocate? */
static inline bool
sfx_key_may_be_long(const SfxKeyDesc *kd, int len)
{
	return kd->grows || len > SFX_LONG_PLAIN;
}

/* A varlena as rows of index-only scans have it if they would be too large otherwise: compressed, if that makes it smaller; v itself or palloced. */
extern struct varlena *sfx_row_varlena(struct varlena *v);

/* The errors of entries that do not fit (size: what they would need), and of stored ones that cannot be read. */
pg_noreturn extern void sfx_entry_too_large(Relation index, int64 size);
pg_noreturn extern void sfx_entry_damaged(Relation index, const char *what);

/* ------------------------------------------------------------------ payload.c */

/* INCLUDE columns as payload bytes: null bitmap and heap-style data.  Length, or ERROR; 0 if there are none. */
extern int	sfx_payload_encode(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull,
							   uint8 *buf, int maxlen);
/*
 * A varlena as btree would store it: fetched, compressed if it is long and its column allows, its header perhaps yet to be shortened.
 * v itself or palloced.
 */
extern struct varlena *sfx_storable_varlena(Form_pg_attribute att, struct varlena *v);
/* Fills values[nkeys..natts); pass-by-reference Datums point into arena (MAXALIGNed, SFX_ARENA bytes). */
extern void sfx_payload_decode(const SfxKeyDesc *kd, Relation index, const uint8 *payload, int len,
							   Datum *values, bool *isnull, char *arena);

/* ------------------------------------------------------------------ pages
 *
 *	offset	size	what
 *	0		24		PageHeaderData
 *	24		...		body: up to pd_lower
 *	...				free
 *	8168	24		SfxPageTail (special space)
 */
typedef enum SfxPageKind
{
	SFX_PAGE_META = 1,
	SFX_PAGE_GATE,
	SFX_PAGE_LOG,
	SFX_PAGE_LEAF,
	SFX_PAGE_INNER,
	SFX_PAGE_DELETED,			/* unlinked: may be reused at once, see README "Reuse" */
	SFX_PAGE_FILTER,			/* over a few neighbouring leaves (filter_make.h) */
	SFX_PAGE_DICT				/* part of a dictionary, see dict.c */
} SfxPageKind;

typedef struct SfxPageTail
{
	uint64		build_id;		/* the metapage's */
	BlockNumber right;			/* leaf, inner: right neighbour; log, dictionary: its next page */
	uint32		owner;			/* leaf, inner, filter: run id; log: generation; dictionary: its number */
	uint8		kind;			/* SfxPageKind */
	uint8		level;			/* 0 = leaf */
	uint16		flags;			/* SFX_LOG_SEALED; dictionary: number of the page in its chain */
	uint16		version;		/* SFX_FORMAT_VERSION */
	uint16		page_id;		/* SFX_PAGE_ID: last two bytes, for tools */
} SfxPageTail;

#define SFX_FORMAT_VERSION	4
#define SFX_PAGE_ID			0xFF5F
#define SFX_LOG_SEALED		0x0001

#define SfxPageGetTail(page)	((SfxPageTail *) PageGetSpecialPointer(page))
#define SfxPageBody(page)		((uint8 *) PageGetContents(page))
#define SfxPageBodyLen(page)	((uint32) (((PageHeader) (page))->pd_lower - MAXALIGN(SizeOfPageHeaderData)))
#define SFX_BODY_CAPACITY		(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(SfxPageTail)))

/* Make page an empty one of that kind. */
extern void sfx_page_init(Page page, SfxPageKind kind, uint64 build_id, uint32 owner, int level);
/* Set the body of a page just made. */
extern void sfx_page_set_body(Page page, const uint8 *body, uint32 len);
/* Is this a page that this code may look into?  ERROR (INDEX_CORRUPTED, index and block named) if it is damaged; false
 * if it is new (all zero). Checks sizes, version, page id. */
extern bool sfx_page_check(Relation index, BlockNumber blkno, Page page);
/* ereport(ERROR, ERRCODE_INDEX_CORRUPTED) naming index and block, with REINDEX in the hint. */
pg_noreturn extern void sfx_corrupt(Relation index, BlockNumber blkno, const char *what);

/* A stored TID as core wants it.  ERROR if it is none, which damaged bytes can bring about and core does not expect. */
pg_noreturn extern void sfx_bad_tid(Relation index, uint64 tid);

/*
 * A number of blocks that the table has, and which is greater than tid's; an error (ERRCODE_INDEX_CORRUPTED) if tid lies beyond the table's end.
 * To be asked before the table is: from 16 on a read beyond the end leaves something in the buffer pool that a table may take
 * for its page when it grows.  Costs a system call if what the backend knows of the size does not do.
 */
extern BlockNumber sfx_heap_end(Relation index, Relation heap, uint64 tid);

static inline void
sfx_tid_pointer(Relation index, uint64 tid, ItemPointer p)
{
	if (unlikely(SFX_TID_OFFSET(tid) == InvalidOffsetNumber))
		sfx_bad_tid(index, tid);
	ItemPointerSet(p, SFX_TID_BLOCK(tid), SFX_TID_OFFSET(tid));
}

/* ------------------------------------------------------------------ metapage */
#define SFX_MAGIC		0x53464958	/* "SFIX" */
#define SFX_META_BLKNO	0
#define SFX_GATE_BLKNO(n)	((BlockNumber) (1 + (n)))
#define SFX_FIRST_BLKNO	3
#define SFX_MAX_GENS	4
#define SFX_MAX_RUNS	8
#define SFX_MAX_DICTS	4

typedef struct SfxGen
{
	uint32		gen;			/* never reused within one build */
	BlockNumber first;			/* InvalidBlockNumber: nothing appended yet */
	BlockNumber tail;			/* last page */
	uint32		pages;
	uint64		sealed;			/* frozen: final number of entries */
} SfxGen;

typedef struct SfxRun
{
	uint32		id;
	BlockNumber root;
	uint32		level;			/* of the root: 0 = the root is a leaf */
	uint32		pad;
	uint64		entries;		/* as of the last merge, roughly */
	uint64		leaves;
} SfxRun;

/*
 * How far a merge has come: what its source has below the position is in other stages already.  A long key is cut off, or the position
 * before it kept: a little is merged twice then.
 */
#define SFX_RESUME_KEY	40

typedef struct SfxResume
{
	uint32		source;			/* generation or run; 0: none */
	uint32		target;			/* the run that it goes into: what is merged twice has to meet itself there */
	TransactionId horizon;		/* SfxHorizon of entries that the merge found no more */
	uint16		catalog;
	uint16		len;
	uint64		tid;
	uint8		key[SFX_RESUME_KEY];
} SfxResume;

/* Which of the metapage's two positions. */
#define SFX_RESUME_GEN	0
#define SFX_RESUME_RUN	1

typedef struct SfxDictRef
{
	uint32		number;			/* never reused within one build; leaves name it */
	BlockNumber first;			/* its first page */
	uint32		len;			/* its bytes */
	uint32		crc;			/* CRC-32C of them */
	uint16		scheme;			/* SfxHopeScheme */
	uint16		rate;			/* bytes stored per 1,000 bytes of rests, when it was new */
} SfxDictRef;

/* What merges have done since the build.  Changed under the merge lock only. */
typedef struct SfxWork
{
	uint64		entries;		/* of generations that were merged */
	uint64		log_pages;		/* that these had */
	uint64		groups;
	uint64		leaves;			/* written */
	uint64		pages;			/* written: leaves, inner pages and filters */
	uint64		usecs;			/* that it took, sleep not counted */
} SfxWork;

typedef struct SfxMeta
{
	uint32		magic;
	uint16		version;
	uint16		min_version;
	uint64		build_id;		/* random, new with every build */
	uint64		epoch;			/* structure epoch: root changes; whatever makes links void that were read before it (truncation) */
	uint64		removals;		/* removal counter: images older than this reread their dead flags */
	uint8		gate;			/* 0 or 1: the gate that new scans pin */
	uint8		carried;		/* bit g: gens[g] may have entries of older ones, which carry.c has put there */
	uint16		shed;			/* dead entries that the last merge of a generation left out, for 1,000 that it brought, or more of them */
	uint32		next_gen;
	uint32		next_run;
	uint16		ngens;			/* gens[0] is active, then frozen, newest first */
	uint8		nruns;			/* newest first; runs[nruns-1] is the main tree */
	uint8		stub_pause;		/* so many merges to come do not look for stubs: the last look was in vain */
	uint64		merges;			/* generations merged so far */
	SfxGen		gens[SFX_MAX_GENS];
	SfxRun		runs[SFX_MAX_RUNS];
	SfxResume	resume[2];		/* of the oldest frozen generation; of the one run that is being merged into an older one */
	SfxWork		work;
	uint32		ndicts;
	uint32		next_dict;
	SfxDictRef	dict[SFX_MAX_DICTS];	/* oldest first; new leaves are written with the last one */
} SfxMeta;

#define SfxPageGetMeta(page)	((SfxMeta *) PageGetContents(page))
#define SfxMetaMain(m)			(&(m)->runs[(m)->nruns - 1])
#define SfxMetaOldestGen(m)		((m)->gens[(m)->ngens - 1].gen)

/* The number of the run with that id in m->runs; -1 if it was dropped. */
static inline int
sfx_meta_find_run(const SfxMeta *m, uint32 id)
{
	for (int i = 0; i < m->nruns; i++)
		if (m->runs[i].id == id)
			return i;
	return -1;
}

/* The run with that id, which must be there: for writers, who hold the merge lock. */
extern SfxRun *sfx_meta_run(Relation index, const SfxMeta *m, uint32 id);

/* Copy the metapage's contents, checked.  One share lock. */
extern void sfx_meta_read(Relation index, SfxMeta *meta);
/* The same for who can do without: false, and no error, where the page is there but no metapage that this code may follow. */
extern bool sfx_meta_try_read(Relation index, SfxMeta *meta);
/* As sfx_meta_read for many times: *buf (invalid at first) keeps the metapage pinned until the caller releases it. */
extern void sfx_meta_reread(Relation index, SfxMeta *meta, Buffer *buf);
/* As sfx_meta_read, leaving the metapage exclusively locked in *buf for a change. */
extern void sfx_meta_lock(Relation index, SfxMeta *meta, Buffer *buf);
/* Write *meta into the (locked, in action; restored, in redo) metapage. No logging.  Voids all glances. */
extern void sfx_meta_store(Page page, const SfxMeta *meta);

/* metacache.c: a metapage, kept by this backend for the planner until some metapage of the server has changed. */
typedef struct SfxGlance
{
	Oid			index;
	uint64		changes;		/* metapages' changes seen by then; 0: not kept */
	bool		sound;			/* the metapage is damaged if not: no reason not to plan */
	SfxMeta		meta;			/* if sound */
} SfxGlance;

/* The index is locked by the caller, or by who plans for him.  Valid until the next call. Errors: the metapage cannot be read. */
extern const SfxGlance *sfx_glance(Oid index);
/* Levels of the main tree above its leaves; 1 where the metapage is damaged. */
extern int	sfx_tree_height(Relation index);
/* A metapage has changed, and is still locked. */
extern void sfx_glance_void(void);
extern void sfx_glance_init(void);	/* once, by _PG_init */
extern Size sfx_glance_shmem_size(void);
extern void sfx_glance_shmem_startup(void);

/* As ReadBuffer, faster where this backend has read the page lately (bufhint.c). */
extern Buffer sfx_read_page(Relation index, BlockNumber blkno);
/* As PrefetchBuffer; where the page is in memory, its first bytes are fetched into the processor (bufhint.c). */
extern void sfx_prefetch_page(Relation index, BlockNumber blkno);

/* A new or reused block, exclusively locked, contents undefined (all zero or an old free page). Takes a
 * page from the free space map only if its state says that it is free: the map may lie. */
extern Buffer sfx_page_alloc(Relation index, const SfxMeta *meta);
/* The same for the next page of the active generation's log (log_place.c). */
extern Buffer sfx_page_alloc_log(Relation index, const SfxMeta *meta);
/* A new block at the file's end, exclusively locked. */
extern Buffer sfx_page_extend(Relation index);
/* May this page (locked by the caller) be given a new life?  New, unlinked, or of a dropped generation or run.  meta may be outdated:
 * what was dropped by then stays so. */
extern bool sfx_page_is_free(Page page, const SfxMeta *meta);
extern void sfx_page_release_free(Relation index, BlockNumber blkno);	/* tell the free space map */
/* That block, exclusively locked and gone from the free space map; InvalidBuffer if it is not free or if somebody is using it. */
extern Buffer sfx_page_claim(Relation index, BlockNumber blkno, const SfxMeta *meta);
/* ------------------------------------------------------------------ dead entries (dead_rows.c) */

/* Removed entries' rows may be seen by a standby's snapshots up to this transaction; invalid: by none. */
typedef struct SfxHorizon
{
	TransactionId xid;
	bool		catalog;		/* logical decoding reads the table */
} SfxHorizon;

extern void sfx_horizon_raise(SfxHorizon *horizon, const SfxHorizon *by);

/* ------------------------------------------------------------------ delta log
 *
 * Body of a log page: SfxLogHeader, then entries, unaligned, up to pd_lower:
 *
 *	0	1	SFX_LOG_ flags
 *	1	0-2	key length: as the page's first entry's; 1 byte if SFX_LOG_LEN1; 2 if SFX_LOG_LEN2
 *	.	2	TID: heap block less that of the page's first entry plus SFX_LOG_BACK (7 bits), offset (9 bits), as a number;
 *		6	or big-endian if SFX_LOG_TID
 *	.	2	payload length, if SFX_LOG_PAYLOAD
 *	.	.	key, payload
 *
 * The first entry of a page has SFX_LOG_LEN2 and SFX_LOG_TID.  Rows that are inserted together lie together, and a record of
 * some 60 bytes is shorter by a tenth for it.
 */
typedef struct SfxLogHeader
{
	uint32		seq;			/* 0 for the first page of a generation */
	uint32		nentries;		/* on this page */
	uint64		before;			/* entries of the generation on earlier pages */
} SfxLogHeader;

#define SFX_LOG_DEAD	0x80
#define SFX_LOG_PAYLOAD	0x40
#define SFX_LOG_UNCHANGED	0x20	/* of an UPDATE that changed no key: an older version has the same one */
#define SFX_LOG_LEN1	0x01
#define SFX_LOG_LEN2	0x02
#define SFX_LOG_TID		0x04
#define SFX_LOG_BACK	32
#define SFX_LOG_MIN_ENTRY	3	/* bytes: flags and a short TID, of an entry as long as the first one, which damage can make empty */

/* One entry of a log page parsed at *off (bytes from the body's start); advances *off.  False at the end.  ERROR if damaged. */
extern bool sfx_log_parse(Relation index, BlockNumber blkno, Page page, uint32 *off, SfxEntry *e, bool *dead);
/* Is this page (locked) one of that generation? */
extern bool sfx_log_page_is(Relation index, BlockNumber blkno, Page page, uint64 build_id, uint32 gen);
/* Append one entry to the active generation: one page, one record.  unchanged: SFX_LOG_UNCHANGED.  True if the log grew by a page: the caller
 * asks sfx_merge_pressure then, once it holds no lock. */
extern bool sfx_log_append(Relation index, const SfxEntry *e, bool unchanged);
/* A build has replaced the index's contents: this backend's memory of the tail is void. */
extern void sfx_log_forget_tail(Relation index);
/*
 * Seal the active generation and open the next; needs the merge lock.  *meta: the metapage after.  carry: the new one may be given entries of
 * older ones (carry.h).  False: nothing to freeze.
 */
extern bool sfx_log_freeze(Relation index, bool carry, SfxMeta *meta);

/* ------------------------------------------------------------------ images: the delta in order, in memory */
typedef struct SfxImage SfxImage;

/*
 * Lock the image of generation meta->gens[g] for reading, complete up to the log's end now, with dead
 * flags not older than meta->removals.  NULL: the generation is gone; read the metapage again.
 * Between acquire and release: no buffer access, no error that is not FATAL-safe; only copying out.
 */
extern SfxImage *sfx_image_acquire(Relation index, const SfxOrder *order, const SfxMeta *meta, int g);
extern const SfxDelta *sfx_image_delta(SfxImage *img, const SfxNodeAlloc **alloc);
/* The image has certainly no entry of the key with that hash (sfx_hash_key): its filter says so. */
extern bool sfx_image_absent(const SfxImage *img, uint64 hash);
/*
 * A search for a key found nothing.  True: a filter is due, and would pay; the caller asks for it once he has released the image.
 */
extern bool sfx_image_wants_filter(SfxImage *img);
/* Make a filter for the image of generation meta->gens[g], or a larger one, if it is due (no image held). */
extern void sfx_image_grow_filter(Relation index, const SfxMeta *meta, int g);
/* Log entries that went into it, dead ones included. */
extern uint64 sfx_image_seen(const SfxImage *img);
extern void sfx_image_release(SfxImage *img);
/*
 * Has nobody appended for surfidx.idle_flush, as far as this statement can tell without asking the clock?  True once in that time: the caller, once he has
 * released the image, asks for a merge.  The worker looks more closely (no image held).
 */
extern bool sfx_image_idle(SfxImage *img);
extern bool sfx_delta_is_idle(Relation index, const SfxMeta *meta);
/* Are there entries of UPDATEs that changed no key? */
extern bool sfx_image_unchanged(const SfxImage *img);
/*
 * For estimates, as sfx_delta_ranks of generation meta->gens[g].  No page is read, and no error thrown but by the order's functions.  False: there is no image in shared memory, or the log
 * has gone on by a page since it was looked at.
 */
extern bool sfx_image_glance(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, const SfxPos *pos, int n, double *below);
/* Entries taken out by sfx_image_kill; *horizon is raised to theirs. */
extern uint64 sfx_image_killed(const SfxImage *img, SfxHorizon *horizon);
/*
 * Take entries out of the image of generation meta->gens[g] that the heap has confirmed to be dead to everybody.  entries[i] counts if
 * its TID is in dead[0..ndead), ascending.  The caller holds no image and pins the gate (README "Dead entries").
 */
extern void sfx_image_kill(Relation index, const SfxOrder *order, const SfxMeta *meta, int g, SfxEntry *const *entries, int n,
						   const uint64 *dead, int ndead, const SfxHorizon *horizon);
/* The generation was dropped: free its image's memory now rather than when room is needed. */
extern void sfx_image_forget(Relation index, const SfxMeta *meta, uint32 gen);

/* ------------------------------------------------------------------ reader: all stages as one ordered stream
 *
 * The only way in which anything reads the index by key: scans, unique checks,
 * VACUUM's validation of counts.  It keeps the protocol of README "Reading".
 */
typedef struct SfxReader SfxReader;

/* A reader begins with this: entries of a decoded block that it would return next without a look at anything else. */
typedef struct SfxStretch
{
	const SfxBlock *block;
	int			at;				/* the next one's number in block */
	int			end;			/* at: none */
	int			step;			/* the direction: 1 or -1 */
} SfxStretch;

/* Bytes of a scan's bound, at most: a prefix, one more value, an end mark. */
#define SFX_BOUND_MAX	(2 * SFX_MAX_ENTRY + 8)

/* Leaves that this session's readers have read so far. */
extern uint64 sfx_leaves_read;

/* Filters asked in front of leaves; those that said no; those that said yes of a leaf in which there was nothing for the step. */
typedef struct SfxFilterCounts
{
	uint64		asked;
	uint64		denied;
	uint64		wrong;
} SfxFilterCounts;

/* This session's (counters.c). */
extern SfxFilterCounts sfx_filter_counts;

/* gate: pin the current gate page while entries are in hand (index-only and non-MVCC scans). Memory: current context. */
extern SfxReader *sfx_reader_begin(Relation index, const SfxOrder *order, bool gate);

/* For whom it reads: steps throw where this snapshot has expired.  NULL, as at first: they do not. */
extern void sfx_reader_snapshot(SfxReader *r, Snapshot snapshot);

/*
 * From the next step on the caller needs no keys or payloads (true) or does again: those of leaves are not decoded where a step has nothing to merge with a leaf's
 * entries, which show an empty key then.  sfx_reader_last has the key of the entry last returned all the same (no payload).
 */
extern void sfx_reader_tids_only(SfxReader *r, bool tids_only);

/* Position on the range [lo, hi) (hi->key NULL: to the end; lo->len 0: from the start).  Entries come
 * ascending with ForwardScanDirection first, descending with BackwardScanDirection first. Cheap: nothing is read yet, nor
 * copied: the bounds' bytes have to stay until the next seek or reset. */
extern void sfx_reader_seek(SfxReader *r, const SfxPos *lo, const SfxPos *hi);

/* The same for one more range of a scan, for the same snapshot: it may be read from the leaf that was read last, where nothing has come into the tree since. */
extern void sfx_reader_seek_on(SfxReader *r, const SfxPos *lo, const SfxPos *hi);

/* The range just sought is next to never empty: do not ask filters for it. */
extern void sfx_reader_no_filters(SfxReader *r);

/* The first entry of [lo, hi), for who wants no other: less is decoded.  The reader stands nowhere afterwards.  *e as from sfx_reader_next. */
extern bool sfx_reader_first(SfxReader *r, const SfxPos *lo, const SfxPos *hi, SfxEntry *e);

/* May the range just sought hold an entry?  False is certain.  True is certain where no filter was asked. */
extern bool sfx_reader_may_hold(SfxReader *r);

/*
 * The next entry in that direction after the last one returned (from the respective end of the range at first).
 * A change of direction is allowed at any call: the entry last returned is not returned again.
 * When the end was hit, moving the other way returns the last entry in that direction again, as btree's scans do.
 * *e points into the reader's memory, valid until the next call.  False at the end.
 */
extern bool sfx_reader_next(SfxReader *r, ScanDirection dir, SfxEntry *e);

/*
 * The short way to the next entry, as sfx_reader_next would return it: it is number *i in *block.  False: not this way.
 * sfx_block_entry makes an entry of it, valid until the next call.
 */
static inline bool
sfx_reader_stretch(SfxReader *r, ScanDirection dir, const SfxBlock **block, int *i)
{
	SfxStretch *s = (SfxStretch *) r;

	if (s->at == s->end || s->step != (int) dir)
		return false;
	*i = s->at;
	*block = s->block;
	s->at = *i + (int) dir;
	return true;
}

/* The entry last returned by whichever way.  There has to be one. */
extern void sfx_reader_last(SfxReader *r, SfxEntry *e);

/* Continue just after (before) this position in the current range, for restored marks: the next call to
 * sfx_reader_next returns the first entry beyond pos in its direction; with inclusive, pos itself can come too. */
extern void sfx_reader_reposition(SfxReader *r, const SfxPos *pos, bool inclusive);

/*
 * For parallel scans, in place of sfx_reader_next: one step from *from on (NULL: from the range's start) in that direction.  sfx_reader_take then
 * returns the step's entries.  True: there is more of the range, from *stop on (bytes valid until the next
 * step); false: this step ends it.
 */
extern bool sfx_reader_step(SfxReader *r, ScanDirection dir, const SfxPos *from, SfxPos *stop);
extern bool sfx_reader_take(SfxReader *r, SfxEntry *e);

/*
 * The row of the entry last returned is dead to everybody, as heap has told.  Once the step in hand is done with, its entry is removed where that is
 * cheap (README "Dead entries").  Not in recovery.
 */
extern void sfx_reader_kill(SfxReader *r, Relation heap);

/* The leaf of the main tree that the step in hand has copied from: tells whether a seek has led anywhere else. */
extern BlockNumber sfx_reader_leaf(const SfxReader *r);

/* The range is at its end and no other one follows for now: let go of the gate, or VACUUM would wait for the scan's end. */
extern void sfx_reader_release_gate(SfxReader *r);
/* Drop the batch in hand and the gate's pin; nothing is found until the next seek. The metapage stays pinned. */
extern void sfx_reader_rewind(SfxReader *r);
/* The same, and no pin is left. */
extern void sfx_reader_reset(SfxReader *r);
extern void sfx_reader_end(SfxReader *r);

/* ------------------------------------------------------------------ storage parameters and settings */
typedef struct SfxOptions
{
	int32		vl_len_;		/* varlena header */
	int			filter;			/* SfxFilterKind */
	int			surf_hash_bits;
	int			surf_real_bits;
	int			delta_size;		/* kB of log before a merge; -1: surfidx.delta_size */
	double		merge_ratio;	/* delta entries per static entry before a merge; -1: surfidx.merge_ratio */
	double		run_ratio;		/* fewer than so many make a run; -1: surfidx.run_ratio */
	int			codec;			/* SfxIntCodec for the integers of keys; 0: the best */
	int			hope;			/* SfxHopeScheme, SFX_HOPE_OFF or SFX_HOPE_AUTO */
	bool		merge_cold;		/* merges leave behind what is read often */
} SfxOptions;

struct SfxFilterSpec;
extern void sfx_opt_filter(Relation index, struct SfxFilterSpec *spec);

extern int	sfx_guc_delta_size; /* kB */
extern double sfx_guc_merge_ratio;
extern double sfx_guc_run_ratio;
extern int	sfx_guc_delta_memory;	/* kB of shared memory for images */
extern bool sfx_guc_auto_merge;		/* start workers */
extern int	sfx_guc_idle_flush;		/* s; -1: never */
extern double sfx_guc_merge_cost_delay; /* ms that a worker sleeps ... */
extern int	sfx_guc_merge_cost_limit;	/* ... for so many of vacuum_cost_page_...; 0 ms: never */
extern int	sfx_opt_delta_size(Relation index); /* kB */
extern double sfx_opt_merge_ratio(Relation index);
extern double sfx_opt_run_ratio(Relation index);
extern int	sfx_opt_codec(Relation index);
extern bool sfx_opt_merge_cold(Relation index);
/* How keys are coded: an SfxHopeScheme, or one of these. */
#define SFX_HOPE_OFF	0
#define SFX_HOPE_AUTO	(-1)
extern int	sfx_opt_hope(Relation index);
/* The storage parameter's word for it. */
extern const char *sfx_hope_name(int value);

/* ERROR with the remedy in the hint unless the library was preloaded. Call at the door of every AM function that reads or writes. */
extern void sfx_require_preload(Relation index);
extern bool sfx_preloaded;		/* set by _PG_init */
/* Is it our access method? */
extern bool sfx_is_ours(const struct IndexAmRoutine *am);
extern void sfx_define_gucs(bool preloading);	/* called once, by _PG_init */
extern void sfx_define_reloptions(void);	/* called once, by _PG_init */
extern void sfx_planner_define_gucs(void);	/* called once, by _PG_init, before sfx_define_gucs */
extern void sfx_estimate_define_gucs(void);

/* ------------------------------------------------------------------ the AM's functions */
extern IndexBuildResult *sfx_build(Relation heap, Relation index, IndexInfo *info);
extern void sfx_buildempty(Relation index);
extern bool sfx_insert(Relation index, Datum *values, bool *isnull, ItemPointer ht_ctid, Relation heap,
					   IndexUniqueCheck checkUnique, bool indexUnchanged, IndexInfo *info);
extern IndexBulkDeleteResult *sfx_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *sfx_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);
extern bool sfx_canreturn(Relation index, int attno);
extern void sfx_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup, Cost *total,
							 Selectivity *selectivity, double *correlation, double *pages);
extern bytea *sfx_options(Datum reloptions, bool validate);
extern char *sfx_buildphasename(int64 phase);
/* subphases of CREATE INDEX beyond PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE (1) */
#define SFX_PHASE_SCAN	2		/* table scan and encoding of keys */
#define SFX_PHASE_SORT	3
#define SFX_PHASE_WRITE	4		/* leaves, then inner pages */
extern bool sfx_validate(Oid opclass);
extern void sfx_adjustmembers(Oid opfamily, Oid opclass, List *operators, List *functions);
extern IndexScanDesc sfx_beginscan(Relation index, int nkeys, int norderbys);
extern void sfx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys);
extern bool sfx_gettuple(IndexScanDesc scan, ScanDirection dir);
extern int64 sfx_getbitmap(IndexScanDesc scan, TIDBitmap *tbm);
extern void sfx_endscan(IndexScanDesc scan);
extern void sfx_markpos(IndexScanDesc scan);
extern void sfx_restrpos(IndexScanDesc scan);
extern Size sfx_estimateparallelscan(SfxEstimateParallelArgs);
extern void sfx_initparallelscan(void *target);
extern void sfx_parallelrescan(IndexScanDesc scan);

/* ------------------------------------------------------------------ start-up, from _PG_init while preloading */
extern void sfx_wal_init(void);		/* registers the resource manager */
extern void sfx_shmem_init(void);	/* shared memory request and start-up hooks */
extern void sfx_planner_init(void); /* planner and executor hooks */
extern void sfx_estimate_init(void);	/* the planner's hook for statistics */

/* ------------------------------------------------------------------ subxact.c */

/*
 * Run work(arg) in a subtransaction.  NULL, or what it threw, in the caller's memory; all that it had done, locks taken included, is undone then.  What
 * may not be swallowed, a cancel first of all, is for the caller to ReThrowError().  Not in parallel mode, which has no subtransactions.
 */
extern ErrorData *sfx_attempt(void (*work) (void *arg), void *arg);

#endif							/* SURFIDX_H */
