/*-------------------------------------------------------------------------
 * inspect_page.c - surfidx_page_stats() and surfidx_page_items(): one page of an index, as rows
 *
 * Pages are copied, and the copy is looked at; nothing is verified (surfidx_check does that).
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "alloc.h"
#include "column.h"
#include "dict.h"
#include "filter.h"
#include "index_open.h"
#include "inner.h"
#include "inspect.h"
#include "key.h"
#include "leaf.h"
#include "log.h"
#include "meta.h"
#include "order.h"
#include "page.h"
#include "sql_rows.h"

#include "access/relation.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(surfidx_page_stats);
PG_FUNCTION_INFO_V1(surfidx_page_items);

#define STATS_COLUMNS	20
#define ITEM_COLUMNS	10

static const char *const kind_name[] = {
	"new", "meta", "gate", "log", "leaf", "inner", "deleted", "filter", "dictionary"
};

static const char *const keycodec_name[SFX_KEYS_CODECS] = {
	"one", "plain", "for", "lfor", "ef", "dbp", "pdbp", "vbyte", "varintgb", "streamvbyte", "front", "hope",
	"packed", "bits", "column", "ended", "decimals"
};

static const char *const tidcodec_name[SFX_TID_CODECS] = {
	"one", "plain", "runs", "for", "zigzag", "posting", "patched"
};

/* ---- shared ---- */

SfxPageTail *
sfx_inspect_copy(Relation index, const SfxMeta *meta, BlockNumber blkno, BufferAccessStrategy strategy, Page page)
{
	Buffer		buf = ReadBufferExtended(index, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	if (!sfx_page_check(index, blkno, page))
		return NULL;
	if (SfxPageGetTail(page)->build_id != meta->build_id)
		sfx_corrupt(index, blkno, "page of another build");
	return SfxPageGetTail(page);
}

void
sfx_inspect_leaf(Relation index, const SfxOrder *order, BlockNumber blkno, Page page, SfxLeafSums *sums)
{
	SfxLeaf		leaf;

	if (sfx_leaf_open(&leaf, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
		sfx_corrupt(index, blkno, "leaf header or directory");
	sums->entries += leaf.nentries;
	sums->cut_entries += leaf.cut ? leaf.nentries : 0;
	sums->blocks += leaf.nblocks;
	sums->bytes += leaf.len;
	for (int b = 0; b < leaf.nblocks; b++)
	{
		SfxBlockInfo info;

		if (sfx_leaf_block_info(&leaf, b, &info) < 0)
			sfx_corrupt(index, blkno, "leaf block");
		sums->keys += info.nkeys;
		sums->key_bytes += info.keys;
		sums->tid_bytes += info.lists + info.tids;
		sums->payload_bytes += info.payload;
		sums->keycodec[info.keycodec]++;
		if (info.tidcodec < SFX_TID_CODECS)
			sums->tidcodec[info.tidcodec]++;
		else
			sfx_corrupt(index, blkno, "leaf block");
	}
}

int64
sfx_inspect_log(Relation index, BlockNumber blkno, Page page, int64 *dead)
{
	uint32		off = 0;
	SfxEntry	e;
	bool		isdead;
	int64		n = 0;

	*dead = 0;
	if (SfxPageBodyLen(page) < sizeof(SfxLogHeader))
		sfx_corrupt(index, blkno, "log page without header");
	while (sfx_log_parse(index, blkno, page, &off, &e, &isdead))
	{
		n++;
		*dead += isdead;
	}
	return n;
}

bool
sfx_inspect_attach(Relation index, BlockNumber blkno, Page page, SfxLeaf *leaf)
{
	Buffer		buf = ReadBuffer(index, blkno);
	bool		same;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	same = memcmp(BufferGetPage(buf), page, BLCKSZ) == 0;
	if (same)
		sfx_dict_attach(index, blkno, page, leaf, NULL);
	UnlockReleaseBuffer(buf);
	return same;
}

static void
append_counts(StringInfo out, const char *what, const int64 *count, const char *const *name, int n)
{
	const char *sep = "";

	appendStringInfo(out, "\"%s\": {", what);
	for (int i = 0; i < n; i++)
		if (count[i] > 0)
		{
			appendStringInfo(out, "%s\"%s\": " INT64_FORMAT, sep, name[i], count[i]);
			sep = ", ";
		}
	appendStringInfoChar(out, '}');
}

Datum
sfx_inspect_codecs(const SfxLeafSums *sums)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfoChar(&out, '{');
	append_counts(&out, "keys", sums->keycodec, keycodec_name, SFX_KEYS_CODECS);
	appendStringInfoString(&out, ", ");
	append_counts(&out, "tids", sums->tidcodec, tidcodec_name, SFX_TID_CODECS);
	appendStringInfoChar(&out, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

/* ---- a page ---- */

/* The page that a function was asked for. */
typedef struct Look
{
	Relation	index;
	SfxKeyDesc	kd;
	const SfxOrder *order;
	SfxMeta		meta;
	BlockNumber blkno;
	SfxPageTail *tail;			/* NULL: the page is new */
	PGAlignedBlock page;
} Look;

static Look *
look_at(FunctionCallInfo fcinfo)
{
	Look	   *look = palloc(sizeof(Look));
	int64		blkno = PG_GETARG_INT64(1);

	look->index = sfx_open_index(PG_GETARG_OID(0), AccessShareLock);
	if (blkno < 0 || blkno >= RelationGetNumberOfBlocks(look->index))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index \"%s\" has no block " INT64_FORMAT, RelationGetRelationName(look->index), blkno),
				 errhint("Its blocks are 0 to %u.", RelationGetNumberOfBlocks(look->index) - 1)));
	look->order = sfx_order_open(look->index, &look->kd, false);
	sfx_meta_read(look->index, &look->meta);
	look->blkno = (BlockNumber) blkno;
	look->tail = sfx_inspect_copy(look->index, &look->meta, look->blkno, NULL, look->page.data);
	return look;
}

static void
look_end(Look *look)
{
	sfx_order_end(look->order);
	relation_close(look->index, AccessShareLock);
}

/* A row of either function; first all its columns are NULL. */
typedef struct Row
{
	Datum		values[STATS_COLUMNS];
	bool		nulls[STATS_COLUMNS];
} Row;

static void
put(Row *row, int column, Datum value)
{
	row->values[column] = value;
	row->nulls[column] = false;
}

/* A bytea, which is made as a text is. */
static Datum
make_bytea(const uint8 *bytes, uint32 len)
{
	return PointerGetDatum(cstring_to_text_with_len((const char *) bytes, (int) len));
}

/* ---- surfidx_page_stats ---- */

enum
{
	PS_BLOCK, PS_KIND, PS_FREE, PS_LSN, PS_OWNER, PS_LEVEL, PS_RIGHT, PS_SEALED, PS_BODY, PS_ROOM, PS_ITEMS, PS_DEAD, PS_BLOCKS,
	PS_KEYS, PS_KEY_BYTES, PS_TID_BYTES, PS_PAYLOAD_BYTES, PS_CODECS, PS_LOW, PS_HIGH
};

StaticAssertDecl(PS_HIGH + 1 == STATS_COLUMNS, "columns of surfidx_page_stats");

static void
put_fences(const SfxPos *low, const SfxPos *high, bool high_inf, Row *row)
{
	put(row, PS_LOW, make_bytea(low->key, low->len));
	if (!high_inf)
		put(row, PS_HIGH, make_bytea(high->key, high->len));
}

static void
leaf_stats(Look *look, Row *row)
{
	Page		page = look->page.data;
	uint8	   *lowbuf = palloc(SFX_MAX_ENTRY + 8);
	uint8	   *highbuf = palloc(SFX_MAX_ENTRY + 8);
	SfxLeafSums sums = {0};
	SfxLeaf		leaf;
	SfxPos		low;
	SfxPos		high;
	bool		high_inf;

	sfx_inspect_leaf(look->index, look->order, look->blkno, page, &sums);
	if (sfx_leaf_open(&leaf, SfxPageBody(page), SfxPageBodyLen(page), look->order) < 0 ||
		sfx_leaf_fences(&leaf, lowbuf, &low, highbuf, &high, &high_inf) < 0)
		sfx_corrupt(look->index, look->blkno, "leaf fences");
	put_fences(&low, &high, high_inf, row);
	put(row, PS_ITEMS, Int64GetDatum(sums.entries));
	put(row, PS_BLOCKS, Int32GetDatum((int32) sums.blocks));
	put(row, PS_KEYS, Int32GetDatum((int32) sums.keys));
	put(row, PS_KEY_BYTES, Int32GetDatum((int32) sums.key_bytes));
	put(row, PS_TID_BYTES, Int32GetDatum((int32) sums.tid_bytes));
	put(row, PS_PAYLOAD_BYTES, Int32GetDatum((int32) sums.payload_bytes));
	put(row, PS_CODECS, sfx_inspect_codecs(&sums));
}

static void
inner_stats(Look *look, Row *row)
{
	Page		page = look->page.data;
	uint8	   *lowbuf = palloc(SFX_MAX_ENTRY + 8);
	uint8	   *highbuf = palloc(SFX_MAX_ENTRY + 8);
	SfxInner	inner;
	SfxPos		low;
	SfxPos		high;
	bool		high_inf;

	if (sfx_inner_open(&inner, SfxPageBody(page), SfxPageBodyLen(page), look->order) < 0 ||
		sfx_inner_fences(&inner, lowbuf, &low, highbuf, &high, &high_inf) < 0)
		sfx_corrupt(look->index, look->blkno, "inner page header");
	put_fences(&low, &high, high_inf, row);
	put(row, PS_ITEMS, Int64GetDatum(inner.nchildren));
}

static void
filter_stats(Look *look, Row *row)
{
	Page		page = look->page.data;
	SfxFilter	f;

	if (sfx_filter_open(&f, SfxPageBody(page), SfxPageBodyLen(page), look->order) < 0)
		sfx_corrupt(look->index, look->blkno, "filter header");
	put_fences(&f.low, &f.high, f.high_inf, row);
	put(row, PS_KEYS, Int32GetDatum((int32) f.nkeys));
}

static void
log_stats(Look *look, Row *row)
{
	int64		dead;

	put(row, PS_ITEMS, Int64GetDatum(sfx_inspect_log(look->index, look->blkno, look->page.data, &dead)));
	put(row, PS_DEAD, Int64GetDatum(dead));
	put(row, PS_SEALED, BoolGetDatum((look->tail->flags & SFX_LOG_SEALED) != 0));
}

/* Has the page's body something that a reader may still use? */
static bool
is_live(Look *look)
{
	return look->tail != NULL && !sfx_page_is_free(look->page.data, &look->meta);
}

Datum
surfidx_page_stats(PG_FUNCTION_ARGS)
{
	Look	   *look = look_at(fcinfo);
	PageHeader	ph = (PageHeader) look->page.data;
	Row			row;

	memset(row.nulls, true, sizeof(row.nulls));
	put(&row, PS_BLOCK, Int64GetDatum(look->blkno));
	put(&row, PS_KIND, CStringGetTextDatum(kind_name[look->tail ? look->tail->kind : 0]));
	put(&row, PS_FREE, BoolGetDatum(!is_live(look)));
	if (look->tail)
	{
		put(&row, PS_LSN, LSNGetDatum(PageGetLSN(look->page.data)));
		put(&row, PS_OWNER, Int64GetDatum(look->tail->owner));
		put(&row, PS_LEVEL, Int32GetDatum(look->tail->level));
		if (look->tail->right != InvalidBlockNumber)
			put(&row, PS_RIGHT, Int64GetDatum(look->tail->right));
		put(&row, PS_BODY, Int32GetDatum((int32) SfxPageBodyLen(look->page.data)));
		put(&row, PS_ROOM, Int32GetDatum(ph->pd_special - ph->pd_lower));
	}
	if (is_live(look))
	{
		if (look->tail->kind == SFX_PAGE_LEAF)
			leaf_stats(look, &row);
		else if (look->tail->kind == SFX_PAGE_INNER)
			inner_stats(look, &row);
		else if (look->tail->kind == SFX_PAGE_FILTER)
			filter_stats(look, &row);
		else if (look->tail->kind == SFX_PAGE_LOG)
			log_stats(look, &row);
	}
	look_end(look);
	return sfx_one_row(fcinfo, STATS_COLUMNS, row.values, row.nulls);
}

/* ---- surfidx_page_items ---- */

enum
{
	PI_ITEM, PI_PART, PI_KEY, PI_DATA, PI_TID, PI_PAYLOAD, PI_DEAD, PI_CHILD, PI_ENTRIES, PI_FILTER
};

StaticAssertDecl(PI_FILTER + 1 == ITEM_COLUMNS, "columns of surfidx_page_items");

typedef struct Items
{
	Look	   *look;
	ReturnSetInfo *rsinfo;
	int			n;
	bool		readable;		/* keys can be shown as values */
	FmgrInfo	output[INDEX_MAX_KEYS];
	char	   *arena;
	MemoryContext rowcxt;
	MemoryContext outercxt;
} Items;

/*
 * Keys are shown as values where that is safe: they are decoded from bytes that may be damaged.
 * Encodings check theirs, and strings can be any bytes; but other raw values of varying width
 * belong to their types, which trust them.
 */
static void
items_init(Items *it, Look *look, ReturnSetInfo *rsinfo)
{
	it->look = look;
	it->rsinfo = rsinfo;
	it->n = 0;
	it->readable = true;
	it->arena = palloc(SFX_ARENA);
	it->rowcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx page items", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < look->kd.nkeys; i++)
	{
		Oid			output;
		bool		isvarlena;

		if (look->kd.col[i].raw && look->kd.col[i].counted)
			it->readable = false;
		getTypeOutputInfo(look->kd.col[i].type, &output, &isvarlena);
		fmgr_info(output, &it->output[i]);
	}
}

/* "(a, b)": the columns of a stored key, as text. */
static Datum
key_text(Items *it, const uint8 *key, uint32 len)
{
	Look	   *look = it->look;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	StringInfoData out;

	sfx_key_decode(&look->kd, look->index, key, (int) len, look->kd.nkeys, values, isnull, it->arena);
	initStringInfo(&out);
	for (int i = 0; i < look->kd.nkeys; i++)
	{
		appendStringInfoString(&out, i == 0 ? "(" : ", ");
		appendStringInfoString(&out, isnull[i] ? "null" : OutputFunctionCall(&it->output[i], values[i]));
	}
	appendStringInfoChar(&out, ')');
	return CStringGetTextDatum(out.data);
}

/* Begin the next item's row; what is made for it lives until put_item. */
static void
begin_item(Items *it, Row *row)
{
	CHECK_FOR_INTERRUPTS();
	MemoryContextReset(it->rowcxt);
	it->outercxt = MemoryContextSwitchTo(it->rowcxt);
	memset(row->nulls, true, sizeof(row->nulls));
	put(row, PI_ITEM, Int32GetDatum(++it->n));
}

static void
put_item(Items *it, Row *row)
{
	tuplestore_putvalues(it->rsinfo->setResult, it->rsinfo->setDesc, row->values, row->nulls);
	MemoryContextSwitchTo(it->outercxt);
}

/* Return a row for an entry.  part: the number of its block in a leaf; -1: none. */
static void
put_entry(Items *it, int part, const SfxEntry *e, bool dead)
{
	ItemPointer tid;
	Row			row;

	begin_item(it, &row);
	tid = palloc(sizeof(ItemPointerData));
	sfx_tid_pointer(it->look->index, SFX_MAX_OFFSET, e->tid, tid);
	if (part >= 0)
		put(&row, PI_PART, Int32GetDatum(part));
	put(&row, PI_KEY, make_bytea(e->key, e->keylen));
	put(&row, PI_TID, PointerGetDatum(tid));
	put(&row, PI_DEAD, BoolGetDatum(dead));
	if (it->readable)
		put(&row, PI_DATA, key_text(it, e->key, e->keylen));
	if (e->paylen > 0)
		put(&row, PI_PAYLOAD, make_bytea(e->payload, e->paylen));
	put_item(it, &row);
}

static void
leaf_items(Items *it)
{
	Look	   *look = it->look;
	SfxBlock   *block = palloc(sizeof(SfxBlock));
	SfxLeaf		leaf;

	if (sfx_leaf_open(&leaf, SfxPageBody(look->page.data), SfxPageBodyLen(look->page.data), look->order) < 0)
		sfx_corrupt(look->index, look->blkno, "leaf header or directory");
	if (leaf.dictno != 0 && !sfx_inspect_attach(look->index, look->blkno, look->page.data, &leaf))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("block %u of index \"%s\" was rewritten at this moment", look->blkno, RelationGetRelationName(look->index)),
				 errhint("Ask again.")));
	it->readable = it->readable && !leaf.cut;
	for (int b = 0; b < leaf.nblocks; b++)
	{
		if (sfx_leaf_decode(&leaf, b, NULL, NULL, block) < 0)
			sfx_corrupt(look->index, look->blkno, "leaf block");
		for (int i = 0; i < block->nent; i++)
		{
			SfxEntry	e;

			sfx_block_entry(block, i, &e);
			put_entry(it, b, &e, false);
		}
	}
}

static void
log_items(Items *it)
{
	Look	   *look = it->look;
	uint32		off = 0;
	SfxEntry	e;
	bool		dead;

	if (SfxPageBodyLen(look->page.data) < sizeof(SfxLogHeader))
		sfx_corrupt(look->index, look->blkno, "log page without header");
	while (sfx_log_parse(look->index, look->blkno, look->page.data, &off, &e, &dead))
		put_entry(it, -1, &e, dead);
}

/* Return a row for a downlink of an inner page.  A fence without a TID has none. */
static int
put_child(void *ctx, int i, const SfxChild *child)
{
	Items	   *it = ctx;
	Row			row;

	begin_item(it, &row);
	put(&row, PI_KEY, make_bytea(child->low.key, child->low.len));
	put(&row, PI_CHILD, Int64GetDatum(child->blkno));
	put(&row, PI_ENTRIES, Int64GetDatum((int64) child->count));
	if (child->filter != 0)
		put(&row, PI_FILTER, Int64GetDatum(child->filter));
	if (SFX_TID_OFFSET(child->low.tid) != InvalidOffsetNumber)
	{
		ItemPointer tid = palloc(sizeof(ItemPointerData));

		sfx_tid_pointer(it->look->index, SFX_MAX_OFFSET, child->low.tid, tid);
		put(&row, PI_TID, PointerGetDatum(tid));
	}
	put_item(it, &row);
	return SFX_OK;
}

static void
inner_items(Items *it)
{
	Look	   *look = it->look;
	SfxInner	inner;

	if (sfx_inner_open(&inner, SfxPageBody(look->page.data), SfxPageBodyLen(look->page.data), look->order) < 0 ||
		sfx_inner_each(&inner, put_child, it) < 0)
		sfx_corrupt(look->index, look->blkno, "inner page header or separators");
}

Datum
surfidx_page_items(PG_FUNCTION_ARGS)
{
	Items	   *it = palloc(sizeof(Items));
	ReturnSetInfo *rsinfo = sfx_many_rows(fcinfo, ITEM_COLUMNS);
	Look	   *look = look_at(fcinfo);

	items_init(it, look, rsinfo);
	if (is_live(look))
	{
		if (look->tail->kind == SFX_PAGE_LEAF)
			leaf_items(it);
		else if (look->tail->kind == SFX_PAGE_INNER)
			inner_items(it);
		else if (look->tail->kind == SFX_PAGE_LOG)
			log_items(it);
	}
	look_end(look);
	return (Datum) 0;
}
