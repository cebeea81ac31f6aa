/*-------------------------------------------------------------------------
 * row.c - index tuples for index-only scans, formed in place
 *
 * A row is formed for every entry that an index-only scan returns, so it is worth not to go by way
 * of values, nor to allocate, nor to compress what is thrown away at once, as index_form_tuple
 * would.  Three ways, from the shortest on:
 *
 *	fixed	numbers and values of fixed width: a plan of offsets made once per scan, one tuple overwritten (with one column: sfx_row_quick)
 *	direct	the same and text: columns copied one after the other (with one short text: sfx_row_quick)
 *	decoded	everything else: NULLs, INCLUDE columns, raw columns, encodings that need a call
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "encode.h"
#include "key.h"
#include "leaf.h"
#include "payload.h"
#include "row.h"
#include "scratch.h"
#include "varlena.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

/* ---- room ---- */

void
sfx_row_begin(SfxRow *row)
{
	row->room = NULL;
	row->itup = row->few.bytes;
	row->cxt = CurrentMemoryContext;
}

void
sfx_row_end(SfxRow *row)
{
	if (row->room)
		sfx_spare_put(row->room);
}

SfxRowRoom *
sfx_row_room(SfxRow *row)
{
	MemoryContext old;

	if (row->room)
		return row->room;
	old = MemoryContextSwitchTo(row->cxt);
	row->room = sfx_spare_get(SFX_SPARE_ROW, sizeof(SfxRowRoom));
	MemoryContextSwitchTo(old);
	return row->room;
}

/* From now on the tuple may be as long as any. */
static void
need_long_tuple(SfxRow *row)
{
	char	   *itup = sfx_row_room(row)->itup.data;

	if (row->itup == itup)
		return;
	row->itup = itup;
	row->ready = false;
	row->quick = SFX_QUICK_NO;
}

/* ---- fixed ---- */

static inline bool
is_number(const SfxColumn *col)
{
	return !col->raw && col->typbyval && col->enc->width == col->typlen &&
		(col->enc->direct == SFX_DIRECT_SIGNED || col->enc->direct == SFX_DIRECT_UNSIGNED ||
		 col->enc->direct == SFX_DIRECT_FLOAT);
}

static inline bool
is_bytes(const SfxColumn *col)
{
	return !col->raw && !col->typbyval && col->enc->width == col->typlen && col->enc->direct == SFX_DIRECT_BYTES;
}

/* How a value of fixed width is read. */
static void
plan_column(SfxRowColumn *c, const SfxColumn *col)
{
	c->width = col->enc->width;
	c->desc = col->desc;
	c->flip = col->enc->direct == SFX_DIRECT_SIGNED ? UINT64CONST(1) << (8 * c->width - 1) : 0;
	if (col->desc)
		c->flip = ~c->flip;
	c->floating = col->enc->direct == SFX_DIRECT_FLOAT;
}

/* Make the plan.  False: some column is not fixed, or stored in another form. */
static bool
plan_fixed(SfxRow *row, TupleDesc desc, const SfxKeyDesc *kd)
{
	Size		to = MAXALIGN(sizeof(IndexTupleData));
	int			from = 0;

	/* a float that needs a rest makes its key longer than the plan */
	if (kd->natts > kd->nkeys)
		return false;
	for (int i = 0; i < kd->nkeys; i++)
	{
		const SfxColumn *col = &kd->col[i];
		SfxRowColumn *c = &row->col[i];

		if (!is_number(col) && !is_bytes(col))
			return false;
		to = att_align_nominal(to, TupleDescAttr(desc, i)->attalign);
		c->from = from;
		c->to = to;
		c->number = is_number(col);
		plan_column(c, col);
		from += 1 + c->width;
		to += c->width;
	}
	row->keylen = from;
	row->size = MAXALIGN(to);
	return row->size <= SFX_MAX_ITUP_SIZE;
}

static inline void
put_number(const SfxRowColumn *c, char *to, const uint8 *p)
{
	switch (c->width)
	{
		case 8:
			{
				uint64		v;

				memcpy(&v, p, 8);
				v = pg_ntoh64(v) ^ c->flip;
				if (c->floating)
					v ^= (int64) v < 0 ? UINT64CONST(1) << 63 : ~UINT64CONST(0);
				memcpy(to, &v, 8);
				break;
			}
		case 4:
			{
				uint32		v;

				memcpy(&v, p, 4);
				v = pg_ntoh32(v) ^ (uint32) c->flip;
				if (c->floating)
					v ^= (int32) v < 0 ? (uint32) 1 << 31 : ~(uint32) 0;
				memcpy(to, &v, 4);
				break;
			}
		case 2:
			{
				uint16		v;

				memcpy(&v, p, 2);
				v = pg_ntoh16(v) ^ (uint16) c->flip;
				memcpy(to, &v, 2);
				break;
			}
		default:
			*to = (char) (*p ^ (uint8) c->flip);
	}
}

/* How sfx_row_quick may form the row. */
static SfxRowQuick
plan_quick(const SfxRow *row, const SfxKeyDesc *kd)
{
	const SfxRowColumn *c = &row->col[0];

	if (kd->nkeys > 1)
		return SFX_QUICK_NO;
	if (!c->number)
		return c->width == 16 && !c->desc ? SFX_QUICK_BYTES16 : SFX_QUICK_NO;
	if (c->width == 8)
		return c->floating ? SFX_QUICK_FLOAT8 : SFX_QUICK_INT8;
	return c->width == 4 && !c->floating ? SFX_QUICK_INT4 : SFX_QUICK_NO;
}

/* False: a column is NULL, or the entry is damaged. */
static inline bool
form_fixed(SfxRow *row, const SfxKeyDesc *kd, const SfxEntry *e)
{
	char	   *base;

	/* all values have a width, so that a key with a NULL is shorter */
	if (unlikely(e->keylen != row->keylen))
		return false;
	if (unlikely(row->size > SFX_ROW_FEW))
		need_long_tuple(row);
	base = row->itup;
	if (unlikely(!row->ready))
	{
		memset(base, 0, row->size);
		((IndexTuple) base)->t_info = row->size;
		row->ready = true;
		row->quick = plan_quick(row, kd);
	}
	for (int i = 0; i < kd->nkeys; i++)
	{
		const SfxRowColumn *c = &row->col[i];
		const uint8 *p = e->key + c->from;

		if (unlikely(*p++ != SFX_MARK_VALUE))
			return false;
		if (c->number)
			put_number(c, base + c->to, p);
		else if (c->width == 16)
			memcpy(base + c->to, p, 16);	/* uuid: two moves, not a call */
		else
			memcpy(base + c->to, p, c->width);
		if (unlikely(c->desc && !c->number))
			for (int j = 0; j < c->width; j++)
				base[c->to + j] = ~base[c->to + j];
	}
	return true;
}

/* ---- direct ---- */

/* Copy len bytes without a call: a value is short, and how long is only known here. */
static inline void
copy_bytes(char *to, const uint8 *from, int len)
{
	uint64		a,
				b;

	if (len >= 16)
	{
		/* the last step takes some bytes once more, and none after the value */
		for (int i = 0; i < len - 16; i += 16)
			memcpy(to + i, from + i, 16);
		memcpy(to + len - 16, from + len - 16, 16);
	}
	else if (len >= 8)
	{
		memcpy(&a, from, 8);
		memcpy(&b, from + len - 8, 8);
		memcpy(to, &a, 8);
		memcpy(to + len - 8, &b, 8);
	}
	else
		for (int i = 0; i < len; i++)
			to[i] = (char) from[i];
}

/* Copy a value's bytes out of a key. */
static inline void
copy_value(const SfxRowColumn *c, char *to, const uint8 *from, int len)
{
	copy_bytes(to, from, len);
	if (unlikely(c->desc))
		for (int i = 0; i < len; i++)
			to[i] = ~to[i];
}

/* A text at offset off of data: with a short header where it may have one.  The new offset. */
static inline int
form_text(const SfxRowColumn *c, const uint8 *p, int len, char *data, int off)
{
	if (c->packed && len + VARHDRSZ_SHORT <= VARATT_SHORT_MAX)
	{
		SET_VARSIZE_SHORT(data + off, len + VARHDRSZ_SHORT);
		copy_value(c, data + off + VARHDRSZ_SHORT, p, len);
		return off + VARHDRSZ_SHORT + len;
	}
	while (off != TYPEALIGN(ALIGNOF_INT, off))
		data[off++] = 0;
	SET_VARSIZE(data + off, len + VARHDRSZ);
	copy_value(c, data + off + VARHDRSZ, p, len);
	return off + VARHDRSZ + len;
}

/* Make the plan.  False: some column is of neither kind. */
static bool
plan_direct(SfxRow *row, TupleDesc desc, const SfxKeyDesc *kd)
{
	if (kd->natts > kd->nkeys || kd->comparator || kd->nrests > 0)
		return false;
	row->varwidth = 0;
	for (int i = 0; i < kd->nkeys; i++)
	{
		const SfxColumn *col = &kd->col[i];
		Form_pg_attribute att = TupleDescAttr(desc, i);
		SfxRowColumn *c = &row->col[i];

		c->text = col->enc->direct == SFX_DIRECT_TEXT;
		c->number = is_number(col);
		if (!c->text &&!c->number && !is_bytes(col))
			return false;
		c->packed = att->attstorage != TYPSTORAGE_PLAIN;
		c->align = att->attalign;
		if (c->text)
		{
			c->desc = col->desc;
			row->varwidth = INDEX_VAR_MASK;
		}
		else
			plan_column(c, col);
	}
	row->text_only = kd->nkeys == 1 && row->col[0].text &&row->col[0].packed && !row->col[0].desc;
	return true;
}

/*
 * The data area as heap_fill_tuple would make it.  Returns its size, -1 where this way does not
 * work.
 */
static inline int
form_columns(const SfxRow *row, const SfxKeyDesc *kd, const SfxEntry *e, char *data)
{
	const uint8 *p = e->key;
	const uint8 *end = p + e->keylen;
	int			off = 0;

	for (int i = 0; i < kd->nkeys; i++)
	{
		const SfxRowColumn *c = &row->col[i];

		if (p >= end || *p++ != SFX_MARK_VALUE)
			return -1;
		if (c->text)
		{
			uint8		mark = c->desc ? 0xFF : 0x00;
			const uint8 *stop = p == end ? NULL : i == kd->nkeys - 1 ? end - 1 : memchr(p, mark, end - p);

			if (stop == NULL || *stop != mark || stop - p >= SFX_LONG_PLAIN)
				return -1;
			off = form_text(c, p, stop - p, data, off);
			p = stop + 1;
			continue;
		}
		if (c->width > end - p)
			return -1;
		off = att_align_nominal(off, c->align);
		if (c->number)
			put_number(c, data + off, p);
		else
			copy_value(c, data + off, p, c->width);
		off += c->width;
		p += c->width;
	}
	return p == end ? off : -1;
}

/* The same for one short text. */
static inline bool
form_text_only(SfxRow *row, const SfxEntry *e)
{
	IndexTuple	itup = (IndexTuple) row->itup;
	char	   *data = row->itup + MAXALIGN(sizeof(IndexTupleData));
	int			len = (int) e->keylen - 2;

	if (len < 0 || len + VARHDRSZ_SHORT > VARATT_SHORT_MAX || e->key[0] != SFX_MARK_VALUE || e->key[len + 1] != 0x00)
		return false;
	SET_VARSIZE_SHORT(data, len + VARHDRSZ_SHORT);
	copy_bytes(data + VARHDRSZ_SHORT, e->key + 1, len);
	itup->t_info = MAXALIGN(MAXALIGN(sizeof(IndexTupleData)) + VARHDRSZ_SHORT + len) | INDEX_VAR_MASK;
	row->quick = SFX_QUICK_TEXT;
	return true;
}

static inline bool
form_direct(SfxRow *row, const SfxKeyDesc *kd, const SfxEntry *e)
{
	IndexTuple	itup;
	int			size;

	if (row->text_only && form_text_only(row, e))
		return true;
	need_long_tuple(row);
	itup = (IndexTuple) row->itup;
	size = form_columns(row, kd, e, row->itup + MAXALIGN(sizeof(IndexTupleData)));
	if (size < 0)
		return false;
	itup->t_info = MAXALIGN(MAXALIGN(sizeof(IndexTupleData)) + size) | row->varwidth;
	return true;
}

/* ---- decoded ---- */

static inline bool
any_null(const SfxRow *row, int natts)
{
	for (int i = 0; i < natts; i++)
		if (row->isnull[i])
			return true;
	return false;
}

/* Key columns' values compressed, as row_fits in key.c has foreseen. */
static void
compress_values(SfxRow *row, TupleDesc desc, const SfxKeyDesc *kd)
{
	for (int i = 0; i < kd->nkeys; i++)
		if (!row->isnull[i] && !kd->col[i].raw && kd->col[i].typlen == -1)
			row->values[i] = PointerGetDatum(sfx_row_varlena((struct varlena *) DatumGetPointer(row->values[i])));
}

static void
form_decoded(SfxRow *row, Relation index, const SfxKeyDesc *kd, const SfxEntry *e)
{
	TupleDesc	desc = RelationGetDescr(index);
	bool		has_null;
	unsigned short info;
	Size		hoff,
				len,
				size;
	char	   *base;
	uint16		heapinfo = 0;

	need_long_tuple(row);
	base = row->itup;
	sfx_key_decode(kd, index, e->key, e->keylen, kd->nkeys, row->values, row->isnull, row->room->key_arena->data);
	if (kd->natts > kd->nkeys)
		sfx_payload_decode(kd, index, e->payload, e->paylen, row->values, row->isnull, row->room->pay_arena->data);
	has_null = any_null(row, kd->natts);
	info = has_null ? INDEX_NULL_MASK : 0;
	hoff = IndexInfoFindDataOffset(info);
	len = heap_compute_data_size(desc, row->values, row->isnull);
	size = MAXALIGN(hoff + len);
	if (size > SFX_MAX_ITUP_SIZE)
	{
		compress_values(row, desc, kd);
		len = heap_compute_data_size(desc, row->values, row->isnull);
		size = MAXALIGN(hoff + len);
	}
	if (size > SFX_MAX_ITUP_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row of %zu bytes from index \"%s\" exceeds the maximum of %d for an index-only scan",
						size, RelationGetRelationName(index), SFX_MAX_ITUP_SIZE),
				 errhint("Set enable_indexonlyscan to off for this query.")));
	memset(base, 0, size);
	heap_fill_tuple(desc, row->values, row->isnull, base + hoff, len,
					&heapinfo, has_null ? (uint8 *) (base + sizeof(IndexTupleData)) : NULL);
	if (heapinfo & HEAP_HASVARWIDTH)
		info |= INDEX_VAR_MASK;
	((IndexTuple) base)->t_info = info | size;
	row->ready = false;			/* the fixed plan's padding was overwritten */
	row->quick = SFX_QUICK_NO;
}

void
sfx_row_init(SfxRow *row, Relation index, const SfxKeyDesc *kd)
{
	row->ready = false;
	row->quick = SFX_QUICK_NO;
	row->kind = plan_fixed(row, RelationGetDescr(index), kd) ? SFX_ROW_FIXED :
		plan_direct(row, RelationGetDescr(index), kd) ? SFX_ROW_DIRECT : SFX_ROW_DECODED;
}

void
sfx_row_nulls(SfxRow *row)
{
	Size		size = MAXALIGN(sizeof(IndexTupleData) + sizeof(IndexAttributeBitMapData));

	memset(row->itup, 0, size);
	((IndexTuple) row->itup)->t_info = size | INDEX_NULL_MASK;
	row->ready = false;
	row->quick = SFX_QUICK_NO;
}

IndexTuple
sfx_row_form(SfxRow *row, Relation index, const SfxKeyDesc *kd, const SfxEntry *e)
{
	if (!(row->kind == SFX_ROW_FIXED && form_fixed(row, kd, e)) &&
		!(row->kind == SFX_ROW_DIRECT && form_direct(row, kd, e)))
		form_decoded(row, index, kd, e);
	return (IndexTuple) row->itup;
}
