/*-------------------------------------------------------------------------
 * advise.c - surfidx_estimate(): what a btree index would weigh as surfidx, from a sample of it;
 * surfidx_estimate_cut(): the same with keys = cut
 *
 * The sample is made of chains of neighbouring btree leaves, begun at random blocks: neighbours
 * keep the distances between keys, on which compression lives, where single rows drawn at random
 * would not.  Each chain goes through the packer that builds use; what the packer writes is counted
 * and thrown away.
 *
 * Keys are encoded for a relation that does not exist: a copy of the btree's relation descriptor,
 * with surfidx's operator classes in place of btree's.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "dict.h"
#include "dict_train.h"
#include "encode.h"
#include "hope.h"
#include "index_open.h"
#include "key.h"
#include "leaf.h"
#include "meta.h"
#include "order.h"
#include "page.h"
#include "payload.h"
#include "recover.h"
#include "settings.h"
#include "sql_rows.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relation.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(surfidx_estimate);
PG_FUNCTION_INFO_V1(surfidx_estimate_cut);
PG_FUNCTION_INFO_V1(surfidx_advise_nothing);

#define ESTIMATE_COLUMNS	5
#define SAMPLE_CHAINS		64	/* chains of btree leaves */
#define CHAIN_PAGES			32	/* btree leaves in a chain, at most */
#define CHAIN_LEAVES		2	/* a chain ends when it has filled so many of ours */
#define CHAIN_TRIES			4	/* blocks looked at to begin one */
/* What is not leaves: metapage, gates, and inner pages at one for some hundred leaves. */
#define FIXED_PAGES			SFX_FIRST_BLKNO
#define INNER_SHARE			0.005

/*
 * What btree leaves held and became.  A chain that compresses well has more of them than another
 * one before it ends, so chains are made equal, leaf for leaf, before they are summed up.
 */
typedef struct Yield
{
	double		pages;			/* btree leaves read */
	double		entries;		/* in them */
	double		packed;			/* of these: what went through the packer */
	double		bytes;			/* of our leaves, without a dictionary */
	double		rests;			/* of them: what front coding leaves of keys, as it is in these, */
	double		stored;			/* and as it is stored */
} Yield;

typedef struct Sample
{
	Relation	btree;
	Relation	model;			/* as if it were surfidx */
	SfxKeyDesc	kd;
	const SfxOrder *order;
	BufferAccessStrategy strategy;
	bool		cut;			/* leaves are to have cut keys */
	SfxPacker  *packer;			/* of the chain at hand */
	void	   *packmem;
	MemoryContext rowcxt;
	PGAlignedBlock page;
	uint8		key[SFX_MAX_ENTRY];
	uint8		payload[SFX_MAX_ENTRY];
	uint8		prev[SFX_MAX_ENTRY];
	int			prevlen;		/* -1: first entry of a chain */
	uint64		prevtid;
	/* what was seen */
	double		tries;			/* blocks looked at to begin a chain */
	double		hits;			/* ... that were leaves */
	double		entries;		/* in all chains */
	Yield		chain;			/* of the chain at hand */
	Yield		mean;			/* per btree leaf, summed over chains */
	int			nchains;
	SfxRestSample *sample;		/* of rests */
	int			chainleaves;
	uint32		lastlen;		/* bytes of the body of the last one */
} Sample;

/* ---- the model of the index ---- */

/*
 * Our operator class for the input type that has btree's comparison function; Oid of its family, or
 * InvalidOid.
 */
static Oid
find_family(Oid am, Oid type, Oid cmp)
{
	CatCList   *list = SearchSysCacheList1(CLAAMNAMENSP, ObjectIdGetDatum(am));
	Oid			family = InvalidOid;

	for (int i = 0; i < list->n_members && !OidIsValid(family); i++)
	{
		Form_pg_opclass opc = (Form_pg_opclass) GETSTRUCT(&list->members[i]->tuple);

		if (opc->opcintype == type && get_opfamily_proc(opc->opcfamily, type, type, 1) == cmp)
			family = opc->opcfamily;
	}
	ReleaseSysCacheList(list);
	return family;
}

/* NULL if a column's type has no operator class of ours. */
static Relation
make_model(Relation btree)
{
	int			natts = IndexRelationGetNumberOfAttributes(btree);
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(btree);
	Oid			am = get_index_am_oid("surfidx", false);
	Relation	model = palloc(sizeof(RelationData));

	*model = *btree;
	model->rd_indam = GetIndexAmRoutineByAmId(am, false);
	model->rd_opfamily = palloc0(sizeof(Oid) * natts);
	model->rd_support = palloc0(sizeof(RegProcedure) * natts * SFX_NPROCS);
	model->rd_supportinfo = palloc0(sizeof(FmgrInfo) * natts * SFX_NPROCS);
	model->rd_opcoptions = NULL;
	model->rd_indexcxt = CurrentMemoryContext;
	model->rd_amcache = NULL;
	for (int i = 0; i < nkeys; i++)
	{
		Oid			type = btree->rd_opcintype[i];
		Oid			family = find_family(am, type, index_getprocid(btree, i + 1, BTORDER_PROC));

		if (!OidIsValid(family))
			return NULL;
		model->rd_opfamily[i] = family;
		for (int p = 1; p <= SFX_NPROCS; p++)
			model->rd_support[i * SFX_NPROCS + p - 1] = get_opfamily_proc(family, type, type, p);
	}
	return model;
}

/* ---- one chain ---- */

static int
count_leaf(void *ctx, const SfxLeafOut *out)
{
	Sample	   *s = ctx;

	s->chain.bytes += BLCKSZ;
	s->lastlen = out->len;
	s->chainleaves++;
	return SFX_OK;
}

/* A packer whose first page begins there. */
static void
begin_packer(Sample *s, const uint8 *key, int keylen, uint64 tid)
{
	SfxPos		low = {key, keylen, tid};

	s->packer = sfx_packer_init(s->packmem, SFX_BODY_CAPACITY, &low, count_leaf, s, s->order);
	if (s->cut)
		sfx_packer_cut_keys(s->packer, SFX_CUT_MOST);
	else
		sfx_packer_set_sample(s->packer, s->sample);
}

/*
 * The last leaf of a chain is as full as the chain made it.  Like the others it has a high fence,
 * which comes after the last entry.
 */
static void
end_packer(Sample *s, bool whole)
{
	SfxPos		high = {s->prev, s->prevlen, s->prevtid + 1};
	uint64		rests,
				stored;
	int			rc = sfx_packer_finish(s->packer, whole ? NULL : &high);

	if (rc < 0)
		elog(ERROR, "surfidx: leaf packer failed with %d", rc);
	s->chain.bytes += (double) s->lastlen * BLCKSZ / SFX_BODY_CAPACITY - BLCKSZ;
	sfx_packer_rests(s->packer, 0, &rests, &stored);
	s->chain.rests = rests;
	s->chain.stored = stored;
}

static void
add_entry(Sample *s, int keylen, int paylen, ItemPointer htid)
{
	SfxEntry	e;
	int			rc;

	e.key = s->key;
	e.keylen = keylen;
	e.payload = s->payload;
	e.paylen = paylen;
	e.tid = SFX_TID(ItemPointerGetBlockNumberNoCheck(htid), ItemPointerGetOffsetNumberNoCheck(htid));
	s->chain.entries++;

	/*
	 * btree orders equal values by TID, we by their bytes first: leave out what is in another
	 * order here.
	 */
	if (s->order == NULL && s->prevlen >= 0)
	{
		int			c = memcmp(s->prev, s->key, Min(s->prevlen, keylen));

		if (c > 0 || (c == 0 && (s->prevlen != keylen || s->prevtid >= e.tid)))
			return;
	}
	memcpy(s->prev, s->key, keylen);
	s->prevlen = keylen;
	s->prevtid = e.tid;
	if (s->packer == NULL)
		begin_packer(s, s->key, keylen, e.tid);
	if ((rc = sfx_packer_add(s->packer, &e)) < 0)
		elog(ERROR, "surfidx: leaf packer failed with %d", rc);
	s->chain.packed++;
}

static void
add_tuple(Sample *s, IndexTuple itup)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext old = MemoryContextSwitchTo(s->rowcxt);
	int			keylen;
	int			paylen = 0;

	index_deform_tuple(itup, RelationGetDescr(s->btree), values, isnull);
	keylen = sfx_key_encode(&s->kd, s->model, values, isnull, s->key);
	if (s->kd.natts > s->kd.nkeys)
		paylen = sfx_payload_encode(&s->kd, s->model, values, isnull, s->payload, SFX_MAX_ENTRY - keylen);
	MemoryContextSwitchTo(old);
	if (BTreeTupleIsPosting(itup))
	{
		for (int i = 0; i < BTreeTupleGetNPosting(itup); i++)
			add_entry(s, keylen, paylen, BTreeTupleGetPostingN(itup, i));
	}
	else
		add_entry(s, keylen, paylen, &itup->t_tid);
	MemoryContextReset(s->rowcxt);
}

/* Copy a page of the btree to s->page.  Is it a live leaf? */
static bool
read_leaf(Sample *s, BlockNumber blkno)
{
	Buffer		buf = ReadBufferExtended(s->btree, MAIN_FORKNUM, blkno, RBM_NORMAL, s->strategy);
	Page		page = s->page.data;
	BTPageOpaque opaque;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	if (PageIsNew(page) || PageGetSpecialSize(page) != MAXALIGN(sizeof(BTPageOpaqueData)))
		return false;
	opaque = (BTPageOpaque) PageGetSpecialPointer(page);
	return P_ISLEAF(opaque) && !P_IGNORE(opaque);
}

/* The entries of the leaf in s->page. */
static void
add_page(Sample *s)
{
	Page		page = s->page.data;
	BTPageOpaque opaque = (BTPageOpaque) PageGetSpecialPointer(page);
	OffsetNumber max = PageGetMaxOffsetNumber(page);

	for (OffsetNumber off = P_FIRSTDATAKEY(opaque); off <= max; off = OffsetNumberNext(off))
	{
		ItemId		id = PageGetItemId(page, off);

		if (!ItemIdIsDead(id))
			add_tuple(s, (IndexTuple) PageGetItem(page, id));
	}
	s->chain.pages++;
}

/* From the leaf in s->page to the right; all of maxpages, or until some leaves are full. */
static void
add_chain(Sample *s, int maxpages, bool whole)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(s->btree);

	s->packer = NULL;
	if (whole)
		begin_packer(s, (const uint8 *) "", 0, 0);
	s->prevlen = -1;
	s->chainleaves = 0;
	s->chain = (Yield) {0};
	for (int i = 0; i < maxpages; i++)
	{
		BlockNumber next = ((BTPageOpaque) PageGetSpecialPointer(s->page.data))->btpo_next;

		CHECK_FOR_INTERRUPTS();
		add_page(s);
		if (s->chainleaves >= CHAIN_LEAVES && !whole)
			break;
		if (next == P_NONE || next >= nblocks || !read_leaf(s, next))
			break;
	}
	if (s->packer)
		end_packer(s, whole);
	s->entries += s->chain.entries;
	s->mean.entries += s->chain.entries / s->chain.pages;
	s->mean.packed += s->chain.packed / s->chain.pages;
	s->mean.bytes += s->chain.bytes / s->chain.pages;
	s->mean.rests += s->chain.rests / s->chain.pages;
	s->mean.stored += s->chain.stored / s->chain.pages;
	s->nchains++;
}

/*
 * The btree's entries.  Its chains tell about; pg_class does better if that is from when the index
 * was about as large as it is now.  What the chains say of bytes is corrected along: *pages become
 * what the chains would have had to find.
 */
static double
count_entries(const Sample *s, double *pages)
{
	double		sampled = *pages * s->mean.entries / s->nchains;
	double		known = s->btree->rd_rel->reltuples;
	double		grown = RelationGetNumberOfBlocks(s->btree) / Max((double) s->btree->rd_rel->relpages, 1);

	if (s->nchains == 1 || known <= 0 || grown < 0.9 || grown > 1.1 || known * grown < 0.75 * sampled || known * grown > 1.25 * sampled)
		return sampled;
	*pages *= known * grown / sampled;
	return known * grown;
}

/*
 * Bytes of our leaves for so many of btree's: with a dictionary, if the index would get one (cut
 * leaves have none).
 */
static double
estimate_bytes(const Sample *s, double pages)
{
	double		entries = pages * s->mean.entries / s->nchains;
	double		scale = s->mean.packed > 0 ? pages / s->nchains * s->mean.entries / s->mean.packed : 0;
	double		bytes = s->mean.bytes * scale;
	SfxHopeKey *rests = palloc(sizeof(SfxHopeKey) * SFX_SAMPLE_KEYS);
	SfxNewDict	dict;

	if (!s->cut && sfx_dict_train(SFX_HOPE_AUTO, rests, sfx_sample_keys(s->sample, rests), entries,
								  NULL, &dict))
	{
		bytes -= Max(s->mean.stored - s->mean.rests * dict.rate / 1000.0, 0) * scale * BLCKSZ /
			SFX_BODY_CAPACITY;
		bytes += (double) sfx_dict_pages(dict.len) * BLCKSZ;
	}
	pfree(rests);
	return bytes;
}

/* ---- the sample ---- */

/*
 * The leftmost leaf into s->page; false if there is none.  Looks at one block after the other: for
 * small indexes.
 */
static bool
read_leftmost(Sample *s, BlockNumber nblocks)
{
	for (BlockNumber blkno = 1; blkno < nblocks; blkno++)
	{
		CHECK_FOR_INTERRUPTS();
		s->tries++;
		if (read_leaf(s, blkno))
		{
			s->hits++;
			if (P_LEFTMOST(BTPageGetOpaque(s->page.data)))
				return true;
		}
	}
	return false;
}

/*
 * Make the chains; the number of the btree's leaves, as far as they tell.  A small index is read
 * whole; of a large one SAMPLE_CHAINS parts of the file have a chain each, from a random block on:
 * in a file that a build has written neighbours are alike.
 */
static double
take_sample(Sample *s)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(s->btree);
	pg_prng_state rnd;

	if (nblocks <= SAMPLE_CHAINS * CHAIN_PAGES)
	{
		if (!read_leftmost(s, nblocks))
			return 0;
		add_chain(s, nblocks, true);
		return s->chain.pages;
	}
	pg_prng_seed(&rnd, (uint64) RelationGetRelid(s->btree));	/* the same index, the same answer */
	for (uint64 part = 0; part < SAMPLE_CHAINS; part++)
	{
		BlockNumber first = 1 + (BlockNumber) (part * (nblocks - 1) / SAMPLE_CHAINS);
		BlockNumber last = (BlockNumber) ((part + 1) * (nblocks - 1) / SAMPLE_CHAINS);

		for (int i = 0; i < CHAIN_TRIES; i++)
		{
			CHECK_FOR_INTERRUPTS();
			s->tries++;
			if (!read_leaf(s, (BlockNumber) pg_prng_uint64_range(&rnd, first, last)))
				continue;
			s->hits++;
			add_chain(s, CHAIN_PAGES, false);
			break;
		}
	}
	return (nblocks - 1) * (s->hits / s->tries);
}

static void
begin_sample(Sample *s, Relation btree)
{
	memset(s, 0, sizeof(*s));
	s->btree = btree;
	s->model = make_model(btree);
	if (s->model == NULL)
		return;
	s->order = sfx_order_open(s->model, &s->kd, true);
	s->packmem = palloc(sfx_packer_size());
	s->sample = palloc(sizeof(SfxRestSample));
	sfx_sample_init(s->sample);
	s->strategy = GetAccessStrategy(BAS_BULKREAD);
	s->rowcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx estimate row", ALLOCSET_DEFAULT_SIZES);
}

/* The bytes that the index would have; *entries: of the btree. */
static int64
measure(Sample *s, double *entries)
{
	double		pages = take_sample(s);
	double		leaves = 1;

	*entries = 0;
	if (s->nchains > 0)
	{
		*entries = count_entries(s, &pages);
		leaves = Max(1, ceil(estimate_bytes(s, pages) / BLCKSZ));
	}
	return (int64) (FIXED_PAGES + leaves + (leaves > 1 ? ceil(leaves * INNER_SHARE) : 0)) * BLCKSZ;
}

/* ---- SQL ---- */

/* Open the btree; NULL if it is gone, or being dropped. */
static Relation
open_btree(Oid relid)
{
	Relation	rel = sfx_open_if_there(relid);

	if (rel == NULL)
		return NULL;
	if (rel->rd_rel->relkind != RELKIND_INDEX || rel->rd_rel->relam != BTREE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a btree index", RelationGetRelationName(rel)),
				 errhint("surfidx_estimate() says what a btree index would weigh as surfidx.")));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" is a temporary one of another session", RelationGetRelationName(rel))));
	/* (one that is to be dropped CONCURRENTLY is first not valid, and then not ready) */
	if (!rel->rd_index->indisready)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready", RelationGetRelationName(rel)),
				 errhint("REINDEX it first.")));
	sfx_require_contents(rel);
	return rel;
}

/*
 * surfidx_estimate(btree regclass) returns (btree_bytes, entries, surfidx_bytes, ordered_bytes,
 * sampled): size of the btree and its entries (estimated unless it is small), the size that it
 * would have as surfidx (NULL: a column's type has no operator class), whether in the ordered-bytes
 * key space, and the entries looked at.  AccessShareLock on the index.
 */
Datum
surfidx_estimate(PG_FUNCTION_ARGS)
{
	Relation	btree = open_btree(PG_GETARG_OID(0));
	Sample	   *s = palloc(sizeof(Sample));
	Datum		values[ESTIMATE_COLUMNS] = {0};
	bool		nulls[ESTIMATE_COLUMNS] = {0};

	if (btree == NULL)
		PG_RETURN_NULL();
	values[0] = Int64GetDatum((int64) RelationGetNumberOfBlocks(btree) * BLCKSZ);
	begin_sample(s, btree);
	if (s->model == NULL)
		nulls[1] = nulls[2] = nulls[3] = nulls[4] = true;
	else
	{
		double		entries;

		values[2] = Int64GetDatum(measure(s, &entries));
		values[1] = Int64GetDatum((int64) (entries + 0.5));
		values[3] = BoolGetDatum(s->order == NULL);
		values[4] = Int64GetDatum((int64) s->entries);
	}
	relation_close(btree, AccessShareLock);
	return sfx_one_row(fcinfo, ESTIMATE_COLUMNS, values, nulls);
}

/*
 * surfidx_estimate_cut(btree regclass) returns bigint: the size that it would have with keys = cut;
 * NULL: its keys cannot be cut.  AccessShareLock on the index.
 */
Datum
surfidx_estimate_cut(PG_FUNCTION_ARGS)
{
	Relation	btree = open_btree(PG_GETARG_OID(0));
	Sample	   *s = palloc(sizeof(Sample));
	int64		bytes = 0;
	double		entries;

	if (btree == NULL)
		PG_RETURN_NULL();
	begin_sample(s, btree);
	s->cut = s->model != NULL && sfx_cut_possible(btree, s->order != NULL);
	if (s->cut)
		bytes = measure(s, &entries);
	relation_close(btree, AccessShareLock);
	if (!s->cut)
		PG_RETURN_NULL();
	PG_RETURN_INT64(bytes);
}

/* surfidx_advise_nothing(min_bytes bigint): surfidx_advise() says why it has no rows; false. */
Datum
surfidx_advise_nothing(PG_FUNCTION_ARGS)
{
	int64		min_bytes = PG_GETARG_INT64(0);

	ereport(NOTICE,
			(errmsg("there is nothing to advise on: no btree index of this database has %lld bytes",
					(long long) Max(min_bytes, 1)),
			 min_bytes <= 0 ? 0 :
			 errhint("In smaller ones there is little to save. surfidx_advise(0) tells of them.")));
	PG_RETURN_BOOL(false);
}
