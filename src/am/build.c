/*-------------------------------------------------------------------------
 * build.c - CREATE INDEX and REINDEX: sort, pack leaves, stack inner pages
 *
 * Phases
 *	1. scan the heap; each row becomes one byte string: key, TID, payload, trailer (build_scan.c)
 *	2. sort the byte strings (spool.c)
 *	3. pack them into leaves, written to consecutive blocks from SFX_FIRST_BLKNO on
 *	4. write the inner levels above them, then the metapage; a level's positions wait in a temporary
 *	   file for the level above (child_file.c)
 *	5. log the whole file at once
 *
 * No other session can use the file before the build commits, so nothing is logged before phase 5,
 * and a crash leaves a file that core removes.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "build.h"
#include "column.h"
#include "dict.h"
#include "dict_train.h"
#include "filter_make.h"
#include "find.h"
#include "hope.h"
#include "inner.h"
#include "image.h"
#include "key.h"
#include "leaf.h"
#include "log.h"
#include "meta.h"
#include "order.h"
#include "recover.h"
#include "page.h"
#include "settings.h"
#include "swap.h"

#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#define LEAST_WINDOW	(4 * SFX_INNER_STEP)	/* children from which an inner page is made */

/* ---- phase 3 ---- */

/*
 * Write the file's next block, which bs->next is.  has_right: its right link is the block after it.
 */
static void
write_page(SfxBuild *bs, SfxPageKind kind, int level, const uint8_t *body, uint32 len, bool has_right)
{
	Buffer		buf = SfxExtendRelation(bs->index);
	Page		page = BufferGetPage(buf);

	if (BufferGetBlockNumber(buf) != bs->next)
		elog(ERROR, "surfidx: block %u of index \"%s\" was expected to be new, got %u",
			 bs->next, RelationGetRelationName(bs->index), BufferGetBlockNumber(buf));
	sfx_page_init(page, kind, bs->meta.build_id, kind == SFX_PAGE_GATE ? 0 : SfxMetaMain(&bs->meta)->id, level);
	sfx_page_set_body(page, body, len);
	bs->next++;
	if (has_right)
		SfxPageGetTail(page)->right = bs->next;
	MarkBufferDirty(buf);
	UnlockReleaseBuffer(buf);
}

/* Add a page of the level that is being written, for the level above. */
static void
add_child(SfxBuild *bs, const SfxPos *low, BlockNumber blkno, uint64 count)
{
	SfxChild	c = {.low = *low,.blkno = blkno,.count = count,.filter = 0};

	sfx_child_file_put(bs->children, &c);
}

/* The packer's output function: writes a leaf. */
static int
emit_leaf(void *ctx, const SfxLeafOut *out)
{
	SfxBuild   *bs = ctx;

	CHECK_FOR_INTERRUPTS();
	add_child(bs, &out->low, bs->next, out->nentries);
	write_page(bs, SFX_PAGE_LEAF, 0, out->body, out->len, !out->high_inf);
	SfxMetaMain(&bs->meta)->leaves++;
	SfxMetaMain(&bs->meta)->entries += out->nentries;
	return SFX_OK;
}

/* ERROR: two rows have this key. */
static void
report_duplicate(SfxBuild *bs, const SfxEntry *e)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *arena = palloc(SFX_ARENA);
	char	   *desc;

	sfx_key_decode(&bs->kd, bs->index, e->key, e->keylen, bs->kd.nkeys, values, isnull, arena);
	desc = BuildIndexValueDescription(bs->index, values, isnull);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"", RelationGetRelationName(bs->index)),
			 desc ? errdetail("Key %s is duplicated.", desc) : errdetail("Duplicate keys exist."),
			 errtableconstraint(bs->heap, RelationGetRelationName(bs->index))));
}

/* The entry before the current one. */
typedef struct PrevKey
{
	int			len;			/* -1: there is none */
	bool		alive;			/* that entry, or one with an equal key before it, counts for
								 * uniqueness */
	uint8		key[SFX_MAX_ENTRY];
} PrevKey;

/* Have both entries the same key, in all columns? */
static bool
is_equal(SfxBuild *bs, const PrevKey *prev, const SfxEntry *e)
{
	int			len = sfx_key_equal_len(&bs->kd, bs->index, e->key, e->keylen);

	if (bs->order)
		return sfx_order_equal(bs->order, prev->key, prev->len, e->key, e->keylen);
	/* no value is a prefix of another one: a key that begins with these bytes has these values */
	return prev->len >= len && memcmp(prev->key, e->key, len) == 0;
}

/*
 * Two neighbours with one key that both belong to live rows are one too many; NULLs, where they are
 * distinct, do not count.
 */
static void
check_unique(SfxBuild *bs, const SfxEntry *e, uint8 flags, PrevKey *prev)
{
	bool		same = prev->len >= 0 && is_equal(bs, prev, e);
	bool		counts = ((flags & SFX_ITEM_ALIVE) &&
						  (!(flags & SFX_ITEM_HAS_NULL) || bs->plan.nulls_not_distinct));

	if (same && counts && prev->alive)
		report_duplicate(bs, e);
	prev->alive = counts || (same && prev->alive);
}

/*
 * K2: the next entry must not be below the one before, by support function 1.  If it is, the
 * class's functions contradict one another, or the comparison function is no order, and searches
 * would go astray.
 */
static void
check_order(SfxBuild *bs, const SfxEntry *e, PrevKey *prev)
{
	if (bs->proof == NULL)
		return;
	if (prev->len >= 0 && sfx_order_cmp(bs->proof, prev->key, prev->len, e->key, e->keylen) > 0)
		sfx_order_contradiction(bs->proof, prev->key, prev->len, e->key, e->keylen);
}

/* Keep the entry's key for the comparison with the next one. */
static void
remember(PrevKey *prev, const SfxEntry *e)
{
	memcpy(prev->key, e->key, e->keylen);
	prev->len = e->keylen;
}

/* Write a dictionary's pages and enter it into the metapage; returns it opened. */
static const SfxHope *
write_dict(SfxBuild *bs, const SfxNewDict *new)
{
	int			n = sfx_dict_pages(new->len);
	BlockNumber first = bs->next;

	for (int i = 0; i < n; i++)
	{
		Buffer		buf = SfxExtendRelation(bs->index);
		Page		page = BufferGetPage(buf);

		if (BufferGetBlockNumber(buf) != bs->next)
			elog(ERROR, "surfidx: block %u of index \"%s\" was expected to be new, got %u",
				 bs->next, RelationGetRelationName(bs->index), BufferGetBlockNumber(buf));
		sfx_dict_page_init(page, &bs->meta, new, i);
		bs->next++;
		if (i + 1 < n)
			SfxPageGetTail(page)->right = bs->next;
		MarkBufferDirty(buf);
		UnlockReleaseBuffer(buf);
	}
	sfx_dict_enter(&bs->meta, new, first);
	return sfx_dict_open_new(new);
}

/* Phase 3: take the items in order, check them, and pack them into leaves. */
static void
pack_leaves(SfxBuild *bs)
{
	SfxPacker  *packer = sfx_packer_init(palloc(sfx_packer_size()), SFX_BODY_CAPACITY, &SFX_POS_FIRST, emit_leaf, bs, bs->order);
	PrevKey    *prev = palloc(sizeof(PrevKey));
	const uint8 *item;
	int			len;
	int64		done = 0;
	SfxNewDict	new;
	uint64		raw,
				stored;
	bool		cut = sfx_cut_wanted(bs->index, bs->order);
	int			rc;

	sfx_packer_set_codec(packer, sfx_opt_codec(bs->index));
	sfx_packer_set_packing(packer, sfx_opt_packing(bs->index));
	if (cut)
		sfx_packer_cut_keys(packer, SFX_CUT_MOST);
	else if (sfx_dict_train_from_heap(bs->heap, bs->index, bs->info, &bs->kd, bs->indtuples, &new))
	{
		const SfxHope *dict = write_dict(bs, &new);

		sfx_packer_add_dict(packer, dict, bs->meta.dict[0].number);
	}
	prev->len = -1;
	prev->alive = false;
	while ((item = sfx_spool_next(bs->spool, &len)) != NULL)
	{
		SfxEntry	e;
		uint8		flags;

		sfx_build_parse_item(bs, item, len, &e, &flags);
		if (bs->plan.unique)
			check_unique(bs, &e, flags, prev);
		check_order(bs, &e, prev);
		remember(prev, &e);
		if ((rc = sfx_packer_add(packer, &e)) < 0)
			elog(ERROR, "surfidx: leaf packer failed with %d on index \"%s\"", rc, RelationGetRelationName(bs->index));
		if ((++done & 1023) == 0)
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
	}
	if ((rc = sfx_packer_finish(packer, NULL)) < 0)
		elog(ERROR, "surfidx: leaf packer failed with %d on index \"%s\"", rc, RelationGetRelationName(bs->index));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
	sfx_packer_rests(packer, 0, &raw, &stored);
	if (bs->meta.ndicts > 0 && raw > 0)
		bs->meta.dict[0].rate = Min(stored * 1000 / raw, 10000);
	if (cut)
		SfxMetaMain(&bs->meta)->cut = SfxMetaMain(&bs->meta)->leaves;
	pfree(prev);
}

/* ---- phase 4 ---- */

/*
 * A page that takes no more than half of a window comes out as if the whole level below were in the
 * window.  For sfx_inner_fit tries all of a window but SFX_INNER_STEP (1 + 2 of 4 steps, 1 + 2 + 4
 * of 8, ...): had these fitted, the page would have more children, even without those of a filter
 * (F1).
 */
StaticAssertDecl(LEAST_WINDOW == 4 * SFX_INNER_STEP &&
				 LEAST_WINDOW / 2 >= SFX_INNER_STEP + SFX_INNER_MAXFILTERED,
				 "windows hold all that is looked at");

/*
 * Write the level above bs->children, whose place its pages take.  Of the level below, as much is
 * in memory as a page needs (A3).
 */
static void
write_inner_level(SfxBuild *bs, int level)
{
	SfxChildFile *below = bs->children;
	SfxChildWindow w;
	int			want = LEAST_WINDOW;
	uint8	   *body = palloc(SFX_BODY_CAPACITY);
	void	   *scratch = palloc(sfx_inner_scratch_size());

	bs->children = sfx_child_file_create(bs->index);
	sfx_child_window_begin(&w, below);
	for (sfx_child_window_fill(&w, want); w.n > 0; sfx_child_window_fill(&w, want))
	{
		int			len;
		int			take = sfx_tree_first_page(bs->index, bs->order, w.child, w.n, NULL, false, body, scratch, &len);
		uint64		count = 0;

		CHECK_FOR_INTERRUPTS();
		if (w.unread > 0 && take > want / 2 && want <= SFX_INNER_MAXCHILDREN)
		{
			want = Min(2 * want, SFX_INNER_MAXCHILDREN + 1);
			continue;
		}
		for (int i = 0; i < take; i++)
			count += w.child[i].count;
		add_child(bs, &w.child[0].low, bs->next, count);
		write_page(bs, SFX_PAGE_INNER, level, body, len, take < w.n);
		sfx_child_window_drop(&w, take);
	}
	sfx_child_window_end(&w);
	sfx_child_file_end(below);
	pfree(body);
	pfree(scratch);
}

/* The block of a level's only page; the level is freed. */
static BlockNumber
only_child(SfxBuild *bs)
{
	SfxChildWindow w;
	BlockNumber blkno;

	sfx_child_window_begin(&w, bs->children);
	sfx_child_window_fill(&w, 1);
	blkno = w.child[0].blkno;
	sfx_child_window_end(&w);
	sfx_child_file_end(bs->children);
	bs->children = NULL;
	return blkno;
}

static void
write_meta(SfxBuild *bs)
{
	Buffer		buf = ReadBuffer(bs->index, SFX_META_BLKNO);

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	sfx_page_init(BufferGetPage(buf), SFX_PAGE_META, bs->meta.build_id, 0, 0);
	sfx_meta_store(BufferGetPage(buf), &bs->meta);
	MarkBufferDirty(buf);
	UnlockReleaseBuffer(buf);
}

/* Phase 4. */
static void
write_tree(SfxBuild *bs)
{
	int			level = 0;

	SFX_STOP("build stacks");
	bs->children = sfx_filters_build(bs->index, bs->order, &bs->meta, bs->children, &bs->next);
	while (sfx_child_file_count(bs->children) > 1)
		write_inner_level(bs, ++level);
	SfxMetaMain(&bs->meta)->root = only_child(bs);
	SfxMetaMain(&bs->meta)->level = level;
	write_meta(bs);
}

/* ---- the whole ---- */

/* The metapage of an empty index. */
static void
meta_init(SfxMeta *meta)
{
	memset(meta, 0, sizeof(*meta));
	meta->magic = SFX_MAGIC;
	meta->version = meta->min_version = SFX_FORMAT_VERSION;
	if (!pg_strong_random(&meta->build_id, sizeof(meta->build_id)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random build id")));
	meta->ngens = 1;
	meta->gens[0].gen = 1;
	meta->gens[0].first = meta->gens[0].tail = InvalidBlockNumber;
	meta->next_gen = 2;
	meta->nruns = 1;
	meta->runs[0].id = 1;
	meta->next_run = 2;
	meta->next_dict = 1;
}

/* Phases 1 and 2: leaves the items, sorted, in bs->spool.  Returns the number of rows seen. */
static double
scan_and_sort(SfxBuild *bs)
{
	double		rows;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SFX_PHASE_SCAN);
	if (!sfx_build_parallel(bs, &rows))
	{
		bs->spool = sfx_spool_begin(bs, bs->plan.workmem, NULL);
		rows = sfx_build_scan(bs, NULL, true);
	}
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, (int64) bs->indtuples);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SFX_PHASE_SORT);
	SFX_STOP("build sorts");
	sfx_spool_perform(bs->spool);
	return rows;
}

/*
 * ERROR where a type for which btree has a class of its own, but we have none, would get the class
 * of a type that it can be cast to: citext that of text.  Such an index would have another idea of
 * equality.  A class that the user has named is the user's choice.
 */
static void
require_own_classes(Relation index)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(index), i)->atttypid);
		Oid			ours;
		Oid			btree;

		if (type == index->rd_opcintype[i])
			continue;
		ours = GetDefaultOpClass(type, index->rd_rel->relam);
		btree = GetDefaultOpClass(type, BTREE_AM_OID);
		if (OidIsValid(ours) && get_opclass_family(ours) == index->rd_opfamily[i] && get_opclass_input_type(ours) == index->rd_opcintype[i] &&
			OidIsValid(btree) && get_opclass_input_type(btree) == type)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("data type %s has no operator class for access method \"surfidx\"", format_type_be_qualified(type)),
					 errdetail("Index \"%s\" would compare its values as type %s.", RelationGetRelationName(index),
							   format_type_be(index->rd_opcintype[i])),
					 errhint("Create an operator class from the type's functions for btree, or index an expression that casts to type %s.",
							 format_type_be(index->rd_opcintype[i]))));
	}
}

/*
 * Phase 5: log the whole file.  The pages of one record are pinned together: as many as other
 * backends can spare.
 */
static void
log_file(Relation index)
{
	BlockNumber n = RelationGetNumberOfBlocks(index);
	BlockNumber piece = Max(1, Min(XLR_MAX_BLOCK_ID, NBuffers / 8));

	for (BlockNumber b = 0; b < n; b += piece)
		log_newpage_range(index, MAIN_FORKNUM, b, Min(b + piece, n), true);
}

IndexBuildResult *
sfx_build(Relation heap, Relation index, IndexInfo *info)
{
	SfxBuild   *bs = palloc(sizeof(SfxBuild));
	IndexBuildResult *result = palloc(sizeof(*result));

	sfx_require_preload(index);
	require_own_classes(index);
	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
	if (!ReindexIsProcessingIndex(RelationGetRelid(index)))
	{
		sfx_filter_notice(index);
		sfx_cut_notice(index);
	}
	sfx_build_begin(bs, heap, index, info, NULL);
	sfx_key_check_inside(&bs->kd, index);
	meta_init(&bs->meta);
	sfx_log_forget_tail(index);
	/* the file may be an old one, truncated in the transaction that made it */
	sfx_image_forget_file(&SfxRelLocator(index));
	result->heap_tuples = scan_and_sort(bs);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SFX_PHASE_WRITE);
	SFX_STOP("build writes");
	for (int i = 0; i < SFX_FIRST_BLKNO; i++)
		write_page(bs, SFX_PAGE_GATE, 0, (const uint8_t *) "", 0, false);	/* block 0 becomes the
																			 * metapage */
	bs->children = sfx_child_file_create(index);
	pack_leaves(bs);
	sfx_spool_end(bs->spool);
	sfx_build_parallel_end(bs);
	write_tree(bs);

	if (RelationNeedsWAL(index))
		log_file(index);
	result->index_tuples = bs->indtuples;
	return result;
}

/* ---- the init fork of an unlogged index ---- */

/* Write and log a page of the init fork; blkno: the block that it has to be. */
static void
init_fork_page(Relation index, BlockNumber blkno, const SfxMeta *meta, SfxPageKind kind, int owner,
			   const uint8_t *body, uint32 len)
{
	Buffer		buf = ReadBufferExtended(index, INIT_FORKNUM, P_NEW, RBM_NORMAL, NULL);

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	Assert(BufferGetBlockNumber(buf) == blkno);
	START_CRIT_SECTION();
	sfx_page_init(BufferGetPage(buf), kind, meta->build_id, owner, 0);
	if (kind == SFX_PAGE_META)
		sfx_meta_store(BufferGetPage(buf), meta);
	else
		sfx_page_set_body(BufferGetPage(buf), body, len);
	MarkBufferDirty(buf);
	log_newpage_buffer(buf, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buf);
}

/* The body of an empty leaf. */
typedef struct InitLeaf
{
	uint32		len;
	uint8		body[BLCKSZ];
} InitLeaf;

/* The packer's output function: keeps the leaf. */
static int
keep_leaf(void *ctx, const SfxLeafOut *out)
{
	InitLeaf   *l = ctx;

	l->len = out->len;
	memcpy(l->body, out->body, out->len);
	return SFX_OK;
}

void
sfx_buildempty(Relation index)
{
	SfxMeta		meta;
	SfxPos		low = {(const uint8_t *) "", 0, 0};
	InitLeaf   *leaf = palloc(sizeof(InitLeaf));
	SfxPacker  *packer;
	SfxKeyDesc	kd;

	sfx_require_preload(index);
	sfx_keydesc_init(&kd, index);
	packer = sfx_packer_init(palloc(sfx_packer_size()), SFX_BODY_CAPACITY, &low, keep_leaf, leaf,
							 sfx_order_create(index, &kd, true));
	meta_init(&meta);
	meta.runs[0].root = SFX_FIRST_BLKNO;
	meta.runs[0].leaves = 1;
	(void) sfx_packer_finish(packer, NULL);
	init_fork_page(index, 0, &meta, SFX_PAGE_META, 0, NULL, 0);
	init_fork_page(index, 1, &meta, SFX_PAGE_GATE, 0, (const uint8_t *) "", 0);
	init_fork_page(index, 2, &meta, SFX_PAGE_GATE, 0, (const uint8_t *) "", 0);
	init_fork_page(index, 3, &meta, SFX_PAGE_LEAF, meta.runs[0].id, leaf->body, leaf->len);
}
