/*-------------------------------------------------------------------------
 * row.h - index tuples for index-only scans, formed in place
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ROW_H
#define SURFIDX_ROW_H

#include "column.h"
#include "encode.h"
#include "key.h"
#include "leaf.h"

#include "port/pg_bswap.h"

/* An index tuple's size has 13 bits. */
#define SFX_MAX_ITUP_SIZE	INDEX_SIZE_MASK

/* Where a fixed column's value lies in the key and goes to in the tuple. */
typedef struct SfxRowColumn
{
	uint16		from;			/* the marker's offset in the key */
	uint16		to;				/* the value's in the tuple */
	uint8		width;
	bool		number;			/* big-endian in the key; else the bytes themselves */
	bool		desc;			/* bytes: complemented */
	uint64		flip;			/* number: bits to flip */
	bool		floating;		/* positive ones have their sign bit set, negative ones are
								 * complemented */
	bool text;					/* DIRECT: bytes up to an end mark */
	bool		packed;			/* text: may have a short header */
	char		align;			/* DIRECT: attalign */
} SfxRowColumn;

typedef enum SfxRowKind
{
	SFX_ROW_FIXED,				/* every column at a fixed place of key and tuple, if none is NULL */
	SFX_ROW_DIRECT,				/* columns are copied one after the other, unless one turns out not
								 * to allow it */
	SFX_ROW_DECODED				/* by way of values */
} SfxRowKind;

/* Rows of one column: what its value takes. */
typedef enum SfxRowQuick
{
	SFX_QUICK_NO,
	SFX_QUICK_INT4,
	SFX_QUICK_INT8,
	SFX_QUICK_FLOAT8,
	SFX_QUICK_BYTES16,
	SFX_QUICK_TEXT				/* short: with one byte of header */
} SfxRowQuick;

/* What rows need that are not all short. */
typedef struct SfxRowRoom
{
	PGAlignedBlock key_arena[SFX_ARENA / BLCKSZ];
	PGAlignedBlock pay_arena[SFX_ARENA / BLCKSZ];	/* INCLUDE columns */
	PGAlignedBlock itup;
} SfxRowRoom;

/* Bytes of a tuple of one short text, and of most tuples of fixed width. */
#define SFX_ROW_FEW		192

/* The tuple that index-only scans hand out, formed in place for every row. */
typedef struct SfxRow
{
	SfxRowQuick quick;			/* NO while the tuple in place is not one that only lacks its value
								 * (TEXT: and size) */
	SfxRowKind	kind;
	bool		ready;			/* FIXED: header and padding are in place */
	uint16		size;			/* FIXED: of the tuple */
	uint32		keylen;			/* FIXED: of every key without NULLs */
	uint16		varwidth;		/* DIRECT: INDEX_VAR_MASK or 0 */
	bool		text_only;		/* DIRECT: one ascending column of text that may have a short
								 * header */
	SfxRowColumn col[INDEX_MAX_KEYS];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *itup;			/* an IndexTuple: few, or the room's */
	SfxRowRoom *room;			/* NULL: not needed yet */
	MemoryContext cxt;
	union
	{
		uint64		align;
		char		bytes[SFX_ROW_FEW];
	}			few;
} SfxRow;

StaticAssertDecl(MAXALIGN(SFX_MAX_ITUP_SIZE) <= BLCKSZ, "an index tuple fits a block");

/* Begin without room, which will be of the current context; give it back. */
extern void sfx_row_begin(SfxRow *row);
extern void sfx_row_end(SfxRow *row);

/*
 * The room.  Its arenas, and the row's values, are free for others between two calls of
 * sfx_row_form.
 */
extern SfxRowRoom *sfx_row_room(SfxRow *row);

/* Look at the index's columns, once per scan. */
extern void sfx_row_init(SfxRow *row, Relation index, const SfxKeyDesc *kd);

/*
 * The row of an entry, valid until the next call; its t_tid means nothing.  ERROR if the row is
 * larger than an index tuple may be, or the entry is damaged.
 */
extern IndexTuple sfx_row_form(SfxRow *row, Relation index, const SfxKeyDesc *kd, const SfxEntry *e);

/* Make row->itup a row whose columns are all NULL, for a caller that reads none of them. */
extern void sfx_row_nulls(SfxRow *row);

/*
 * A text of at most 126 bytes as a tuple's only column.  Copied in steps of 16 bytes, and so up to
 * 15 too many, which are in the block still.  False: the key is not such a text, or too near to the
 * block's end.
 */
static inline bool
sfx_row_quick_text(SfxRow *row, const SfxBlock *b, uint32 from, uint32 to)
{
	const uint8 *key = b->keys + from;
	int			len = (int) (to - from) - 2;
	char	   *data = row->itup + MAXALIGN(sizeof(IndexTupleData));

	if (unlikely((unsigned) len > VARATT_SHORT_MAX - VARHDRSZ_SHORT || to + 16 > sizeof(b->keys) || key[0] != SFX_MARK_VALUE || key[len + 1] != 0x00))
		return false;
	SET_VARSIZE_SHORT(data, len + VARHDRSZ_SHORT);
	for (int i = 0; i < len; i += 16)
		memcpy(data + VARHDRSZ_SHORT + i, key + 1 + i, 16);
	((IndexTuple) row->itup)->t_info = MAXALIGN(MAXALIGN(sizeof(IndexTupleData)) + VARHDRSZ_SHORT + len) | INDEX_VAR_MASK;
	return true;
}

/*
 * The shortest way to the row of entry i of a block: what remains of sfx_row_form where all rows
 * differ in one value only, of fixed width or a short text. False: not this way.  True: the row
 * that sfx_row_form has returned last is the new one.
 */
static inline bool
sfx_row_quick(SfxRow *row, const SfxBlock *b, int i)
{
	int			k = b->dups ? b->keyno[i] : i;
	const uint8 *key = b->keys + b->keyoff[k];
	char	   *to = row->itup + MAXALIGN(sizeof(IndexTupleData));
	uint64		v;
	uint32		w;

	if (row->quick == SFX_QUICK_TEXT)
		return sfx_row_quick_text(row, b, b->keyoff[k], b->keyoff[k + 1]);
	if (unlikely(row->quick == SFX_QUICK_NO || b->width != row->keylen || key[0] != SFX_MARK_VALUE))
		return false;
	switch (row->quick)
	{
		case SFX_QUICK_INT8:
		case SFX_QUICK_FLOAT8:
			memcpy(&v, key + 1, 8);
			v = pg_ntoh64(v) ^ row->col[0].flip;
			if (row->quick == SFX_QUICK_FLOAT8)
				v ^= (int64) v < 0 ? UINT64CONST(1) << 63 : ~UINT64CONST(0);
			memcpy(to, &v, 8);
			return true;
		case SFX_QUICK_INT4:
			memcpy(&w, key + 1, 4);
			w = pg_ntoh32(w) ^ (uint32) row->col[0].flip;
			memcpy(to, &w, 4);
			return true;
		default:
			memcpy(to, key + 1, 16);
			return true;
	}
}

#endif							/* SURFIDX_ROW_H */
