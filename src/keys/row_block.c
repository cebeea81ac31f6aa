/*-------------------------------------------------------------------------
 * row_block.c - the values of many rows of a decoded block at once
 *
 * Index-only scans whose next rows stand in one block have their values made together, straight in
 * the form that a slot takes: no tuple is formed and taken apart.  Each key is read once, however
 * many entries it has.  Keys of fixed width are read column by column, others key by key: numbers
 * and short texts here, numeric and addresses by their encoding's short way (SfxEncoding.take),
 * all else by its decode function.  What is long or of a rare form is left to row.c.
 *
 * Values by reference stand in memory of their own, which the next call uses again, or where they
 * are in the block, if they need no alignment.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "row_block.h"
#include "encode.h"
#include "key.h"
#include "payload.h"
#include "raw.h"
#include "sound.h"

#include <math.h>

#include "port/pg_bswap.h"

/* How a column's value is read. */
typedef enum Form
{
	FORM_NUMBER,				/* by value: big-endian, some bits flipped */
	FORM_FLOAT,					/* the same, but zeros and NaN have rests */
	FORM_BYTES,					/* fixed width by reference: the bytes themselves */
	FORM_TEXT,					/* bytes up to an end mark */
	FORM_PLAIN,					/* the same, if it has no escaped ones (raw strings) */
	FORM_TAKEN,					/* by the encoding's take */
	FORM_COUNTED,				/* raw bytes after their number */
	FORM_CALLED					/* by decode, restore, or as raw */
} Form;

typedef struct Column
{
	Form		form;
	bool		floating;
	bool		desc;
	bool		in_place;		/* BYTES: the value may stand anywhere */
	bool		shortens;		/* TEXT: may have a short header */
	uint8		width;			/* of fixed ones */
	uint8		null;			/* the marker of NULL */
	uint16		from;			/* keys of fixed width: the marker's place */
	uint64		flip;			/* NUMBER, FLOAT: bits to flip */
	const SfxColumn *col;
} Column;

struct SfxRowsOfBlock
{
	Relation	index;
	const SfxKeyDesc *kd;
	int			natts;
	Datum	   *value;
	bool	   *isnull;
	bool		fixed;			/* keys without NULL have one length, and no rests */
	uint32		keylen;			/* fixed: that */
	bool		grows;			/* some column's values may take more than their bytes and slack */
	int			slack;			/* memory that a key's values take beyond its bytes, usually */
	MemoryContext cxt;
	char	   *room;			/* values by reference, ... */
	Size		room_size;
	char	   *at;				/* ... the next one of keys, ... */
	char	   *stop;			/* ... and where their memory ends */
	Column		column[INDEX_MAX_KEYS];
};

/* A column whose value has to wait for its rest. */
typedef struct Waiting
{
	int			column;
	int			len;
	const uint8 *p;
} Waiting;

/* What a decode function may use beyond the value's bytes (see sfx_value_make). */
#define CALL_SLACK	128

/* What varlenas and alignment add. */
#define VALUE_SLACK	16

/* More for the values of a block that are longer than their bytes. */
#define ROOM_TO_GROW	(32 * 1024)

/* ---- the plan ---- */

static void
plan_number(Column *c, const SfxColumn *col, Form form)
{
	c->form = form;
	c->flip = 0;
	if (col->enc->direct == SFX_DIRECT_SIGNED)
		c->flip = UINT64CONST(1) << (8 * col->enc->width - 1);
	if (col->desc)
		c->flip = ~c->flip;
	c->floating = form == FORM_FLOAT;
}

static Form
form_of(const SfxColumn *col)
{
	if (col->raw && col->typlen == -1)
		return col->counted ? FORM_COUNTED : col->structure == NULL ? FORM_PLAIN : FORM_CALLED;
	if (col->raw)
		return FORM_CALLED;
	if (col->enc->direct == SFX_DIRECT_TEXT && !col->desc)
		return FORM_TEXT;
	if (col->enc->take)
		return FORM_TAKEN;
	if (col->enc->direct == SFX_DIRECT_BYTES && col->enc->width == col->typlen)
		return FORM_BYTES;
	if (!col->typbyval || col->enc->width != col->typlen)
		return FORM_CALLED;
	if (col->enc->direct == SFX_DIRECT_FLOAT)
		return FORM_FLOAT;
	return col->enc->direct == SFX_DIRECT_SIGNED || col->enc->direct == SFX_DIRECT_UNSIGNED ?
		FORM_NUMBER : FORM_CALLED;
}

static void
plan_column(SfxRowsOfBlock *rows, int i)
{
	const SfxColumn *col = &rows->kd->col[i];
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rows->index), i);
	Column	   *c = &rows->column[i];

	memset(c, 0, sizeof(*c));
	c->col = col;
	c->desc = col->desc;
	c->null = col->nulls_first ? SFX_MARK_NULL_FIRST : SFX_MARK_NULL_LAST;
	c->width = col->raw ? 0 : col->enc->width;
	c->from = rows->keylen;
	c->form = form_of(col);
	c->shortens = att->attstorage != TYPSTORAGE_PLAIN;
	c->in_place = c->form == FORM_BYTES && !col->desc && att->attalign == TYPALIGN_CHAR;
	if (c->form == FORM_NUMBER || c->form == FORM_FLOAT)
		plan_number(c, col, c->form);
	else
		rows->slack += c->form == FORM_CALLED ? CALL_SLACK : c->in_place ? 0 : VALUE_SLACK;
	rows->fixed &= c->form <= FORM_BYTES;
	rows->keylen += 1 + c->width;
	rows->grows |= c->form >= FORM_TAKEN;
}

SfxRowsOfBlock *
sfx_rows_of_block_begin(Relation index, const SfxKeyDesc *kd)
{
	SfxRowsOfBlock *rows = palloc(sizeof(SfxRowsOfBlock));

	rows->index = index;
	rows->kd = kd;
	rows->natts = kd->natts;
	rows->value = palloc(sizeof(Datum) * SFX_BLOCK_ENTRIES * kd->natts);
	rows->isnull = palloc0(sizeof(bool) * SFX_BLOCK_ENTRIES * kd->natts);
	rows->fixed = true;
	rows->grows = false;
	rows->keylen = 0;
	rows->slack = 0;
	rows->cxt = CurrentMemoryContext;
	rows->room = rows->at = rows->stop = NULL;
	rows->room_size = 0;
	for (int i = 0; i < kd->nkeys; i++)
		plan_column(rows, i);
	return rows;
}

void
sfx_rows_of_block_end(SfxRowsOfBlock *rows)
{
	if (rows->room)
		pfree(rows->room);
	pfree(rows->value);
	pfree(rows->isnull);
	pfree(rows);
}

Datum *
sfx_rows_of_block_values(SfxRowsOfBlock *rows)
{
	return rows->value;
}

bool *
sfx_rows_of_block_nulls(SfxRowsOfBlock *rows)
{
	return rows->isnull;
}

void
sfx_rows_of_block_unread(SfxRowsOfBlock *rows)
{
	memset(rows->isnull, true, sizeof(bool) * SFX_BLOCK_ENTRIES * rows->natts);
}

/* ---- values ---- */

static pg_always_inline Datum
number_of_width(int width, uint64 flip, bool floating, const uint8 *p)
{
	uint64		v8;
	uint32		v4;
	uint16		v2;

	/* as fetch_att has them */
	switch (width)
	{
		case 8:
			memcpy(&v8, p, 8);
			v8 = pg_ntoh64(v8) ^ flip;
			if (floating)
				v8 ^= (int64) v8 < 0 ? UINT64CONST(1) << 63 : ~UINT64CONST(0);
			return (Datum) v8;
		case 4:
			memcpy(&v4, p, 4);
			v4 = pg_ntoh32(v4) ^ (uint32) flip;
			if (floating)
				v4 ^= (int32) v4 < 0 ? (uint32) 1 << 31 : ~(uint32) 0;
			return Int32GetDatum((int32) v4);
		case 2:
			memcpy(&v2, p, 2);
			return Int16GetDatum((int16) (pg_ntoh16(v2) ^ (uint16) flip));
		default:
			return CharGetDatum((char) (*p ^ (uint8) flip));
	}
}

/* Is there so much memory left, in whose place a value begins? */
static inline bool
has_room(SfxRowsOfBlock *rows, Size size)
{
	rows->at = (char *) MAXALIGN(rows->at);
	return rows->at + size <= rows->stop;
}

static inline bool
make_bytes(SfxRowsOfBlock *rows, const Column *c, const uint8 *p, Datum *value)
{
	if (c->in_place)
	{
		*value = PointerGetDatum(p);
		return true;
	}
	if (!has_room(rows, c->width))
		return false;
	for (int i = 0; i < c->width; i++)
		rows->at[i] = c->desc ? ~p[i] : p[i];
	*value = PointerGetDatum(rows->at);
	rows->at += c->width;
	return true;
}

/*
 * Of eight bytes: the highest bit of the first one that is 1, or some bits after that; 0: none is.
 */
static inline uint64
ones_in_word(const uint8 *p)
{
	const uint64 each = UINT64CONST(0x0101010101010101);
	uint64		v;

	memcpy(&v, p, 8);
#ifdef WORDS_BIGENDIAN
	v = pg_bswap64(v);
#endif
	v ^= each;
	return (v - each) & ~v & (each << 7);
}

/* Is there a byte 1, with which raw strings escape?  15 bytes after the len ones may be read. */
static inline bool
has_escape(const uint8 *p, int len)
{
	for (; len > 8; p += 8, len -= 8)
		if (ones_in_word(p) != 0)
			return true;
	return len > 0 && ones_in_word(p) << (64 - 8 * len) != 0;
}

/*
 * A string of len bytes, if none of them is escaped.  Copied in steps of 16 bytes, and so up to 15
 * too many, which are in the block still.
 */
static inline bool
make_string(SfxRowsOfBlock *rows, const Column *c, const SfxBlock *b, const uint8 *p, int len,
			Datum *value)
{
	char	   *to = rows->at;

	if (p + len + 16 > b->keys + sizeof(b->keys) || (c->form == FORM_PLAIN && has_escape(p, len)))
		return false;
	if (c->shortens && len + VARHDRSZ_SHORT <= VARATT_SHORT_MAX)
	{
		if (to + len + VALUE_SLACK > rows->stop)
			return false;
		SET_VARSIZE_SHORT(to, len + VARHDRSZ_SHORT);
		*value = PointerGetDatum(to);
		to += VARHDRSZ_SHORT;
	}
	else
	{
		if (!has_room(rows, len + 2 * VALUE_SLACK))
			return false;
		to = rows->at;
		SET_VARSIZE(to, len + VARHDRSZ);
		*value = PointerGetDatum(to);
		to += VARHDRSZ;
	}
	for (int i = 0; i < len; i += 16)
		memcpy(to + i, p + i, 16);
	rows->at = to + len;
	return true;
}

/* Such a value at p: its bytes with their number, 0: it is long, or compressed. */
static inline int
make_counted(SfxRowsOfBlock *rows, const Column *c, const SfxBlock *b, const uint8 *p,
			 const uint8 *end, Datum *value)
{
	int			len = sfx_counted_short(p, end - p);

	if (len < 0 || p + 1 + len + 16 > b->keys + sizeof(b->keys) ||
		!has_room(rows, len + 2 * VALUE_SLACK))
		return 0;
	SET_VARSIZE(rows->at, len + VARHDRSZ);
	for (int i = 0; i < len; i += 16)
		memcpy(rows->at + VARHDRSZ + i, p + 1 + i, 16);
	*value = PointerGetDatum(rows->at);
	if (c->col->structure)
		sfx_structure_check(c->col->structure, *value);
	rows->at += VARHDRSZ + len;
	return 1 + len;
}

/* A string's bytes with its end mark.  0: it has none, or is long. */
static inline int
string_length(const uint8 *p, const uint8 *end, bool last)
{
	int			avail = (int) (end - p);
	int			len = avail;

	if (!last)
	{
		const uint8 *mark = memchr(p, 0x00, Min(avail, SFX_LONG_PLAIN));

		len = mark ? (int) (mark - p) + 1 : 0;
	}
	else if (avail < 1 || avail > SFX_LONG_PLAIN || end[-1] != 0x00)
		len = 0;
	return len;
}

static inline bool
is_nan(const Column *c, Datum value)
{
	return c->width == 8 ? isnan(DatumGetFloat8(value)) : isnan(DatumGetFloat4(value));
}

/* The value at p by a call, if it needs no rest: its bytes, -1: not this way. */
static int
call_value(SfxRowsOfBlock *rows, int i, const uint8 *p, const uint8 *end, Datum *value,
		   Waiting *waiting, int *nwaiting)
{
	const SfxColumn *col = rows->column[i].col;
	int			len = sfx_value_length(col, rows->index, p, end - p);
	int			restlen;
	int			used;

	if (!col->raw && col->enc->rest)
	{
		waiting[(*nwaiting)++] = (Waiting) {i, len, p};
		return len;
	}
	if (!has_room(rows, 0))
		return -1;
	used = sfx_value_make(col, rows->index, p, len, NULL, 0, &restlen, value, rows->at,
						  rows->stop - rows->at);
	if (used < 0)
		return -1;
	rows->at += used;
	return len;
}

/* The value at p by its encoding's short way: its bytes, 0: not that way. */
static inline int
take_value(SfxRowsOfBlock *rows, int i, const uint8 *p, const uint8 *end, Datum *value,
		   Waiting *waiting, int *nwaiting)
{
	const SfxColumn *col = rows->column[i].col;
	int			len;

	if (!has_room(rows, Min(end - p, SFX_LONG_PLAIN) + VALUE_SLACK))
		return 0;
	len = col->enc->take(p, Min(end - p, SFX_LONG_PLAIN), col->desc ? 0xFF : 0, rows->at);
	if (len <= 0)
		return 0;
	*value = PointerGetDatum(rows->at);
	if (col->enc->take_rest)
		waiting[(*nwaiting)++] = (Waiting) {i, 0, (const uint8 *) rows->at};
	rows->at += col->typlen > 0 ? col->typlen : VARSIZE(rows->at);
	return len;
}

/* The value of column i, which stands at p: its bytes, -1: not this way. */
static inline int
make_value(SfxRowsOfBlock *rows, int i, const SfxBlock *b, const uint8 *p, const uint8 *end,
		   Datum *value, Waiting *waiting, int *nwaiting)
{
	const Column *c = &rows->column[i];
	int			len;

	switch (c->form)
	{
		case FORM_NUMBER:
		case FORM_FLOAT:
			if (c->width > end - p)
				return -1;
			*value = number_of_width(c->width, c->flip, c->floating, p);
			if (c->floating && unlikely(*value == 0 || is_nan(c, *value)))
				break;
			return c->width;
		case FORM_BYTES:
			return c->width <= end - p && make_bytes(rows, c, p, value) ? c->width : -1;
		case FORM_TEXT:
		case FORM_PLAIN:
			len = string_length(p, end, i == rows->kd->nkeys - 1 && rows->kd->nrests == 0);
			if (len > 0 && make_string(rows, c, b, p, len - 1, value))
				return len;
			break;
		case FORM_TAKEN:
			len = take_value(rows, i, p, end, value, waiting, nwaiting);
			if (len > 0)
				return len;
			break;
		case FORM_COUNTED:
			len = make_counted(rows, c, b, p, end, value);
			if (len > 0)
				return len;
			break;
		case FORM_CALLED:
			break;
	}
	return call_value(rows, i, p, end, value, waiting, nwaiting);
}

/* The rests of values, which begin at p.  False: not this way. */
static bool
make_rests(SfxRowsOfBlock *rows, const Waiting *waiting, int n, const uint8 *p, const uint8 *end,
		   Datum *value)
{
	for (const Waiting *w = waiting; w < waiting + n; w++)
	{
		const SfxColumn *col = rows->column[w->column].col;
		int			restlen;
		int			used;

		if (w->len == 0)
		{
			restlen = col->enc->take_rest(p, end - p, (char *) w->p);
			if (restlen < 0)
				return false;
			p += restlen;
			continue;
		}
		if (!has_room(rows, 0))
			return false;
		used = sfx_value_make(col, rows->index, w->p, w->len, p, end - p, &restlen,
							  &value[w->column], rows->at,
							  rows->stop - rows->at);
		if (used < 0)
			return false;
		rows->at += used;
		p += restlen;
	}
	return p == end;
}

/* All values of key k.  False: not this way. */
static bool
make_key(SfxRowsOfBlock *rows, const SfxBlock *b, int k, Datum *value, bool *isnull)
{
	const uint8 *p = b->keys + b->keyoff[k];
	const uint8 *end = b->keys + b->keyoff[k + 1];
	Waiting		waiting[INDEX_MAX_KEYS];
	int			nwaiting = 0;

	for (int i = 0; i < rows->kd->nkeys; i++)
	{
		int			len;

		if (p >= end)
			return false;
		isnull[i] = *p != SFX_MARK_VALUE;
		if (unlikely(isnull[i]))
		{
			if (*p++ != rows->column[i].null)
				return false;
			value[i] = (Datum) 0;
			continue;
		}
		len = make_value(rows, i, b, ++p, end, &value[i], waiting, &nwaiting);
		if (len < 0)
			return false;
		p += len;
	}
	return nwaiting > 0 ? make_rests(rows, waiting, nwaiting, p, end, value) : p == end;
}

/* ---- blocks ---- */

static inline int
key_number(const SfxBlock *b, int i)
{
	return b->dups ? b->keyno[i] : i;
}

static pg_always_inline bool
numbers_of_width(const Column *c, const SfxBlock *b, int from, int n, int width, bool floating,
				 Datum *value, int natts)
{
	bool		all = true;

	for (int i = from; i < from + n; i++)
	{
		const uint8 *p = b->keys + b->keyoff[key_number(b, i)] + c->from;

		all &= *p == SFX_MARK_VALUE;
		value[i * natts] = number_of_width(width, c->flip, floating, p + 1);
	}
	return all;
}

/* A column of keys of fixed width.  False: some value is NULL. */
static bool
make_fixed(SfxRowsOfBlock *rows, const Column *c, const SfxBlock *b, int from, int n, Datum *value)
{
	bool		all = true;

	if (c->form == FORM_BYTES)
	{
		for (int i = from; i < from + n; i++)
		{
			const uint8 *p = b->keys + b->keyoff[key_number(b, i)] + c->from;

			all &= *p == SFX_MARK_VALUE && make_bytes(rows, c, p + 1, &value[i * rows->natts]);
		}
		return all;
	}
	if (c->width == 8)
		return c->floating ? numbers_of_width(c, b, from, n, 8, true, value, rows->natts) :
			numbers_of_width(c, b, from, n, 8, false, value, rows->natts);
	if (c->width == 4)
		return c->floating ? numbers_of_width(c, b, from, n, 4, true, value, rows->natts) :
			numbers_of_width(c, b, from, n, 4, false, value, rows->natts);
	return numbers_of_width(c, b, from, n, c->width, false, value, rows->natts);
}

/* Keys of the fixed width, column by column.  False: there is something odd about one. */
static bool
make_columns(SfxRowsOfBlock *rows, const SfxBlock *b, int from, int n)
{
	bool		all = true;

	for (int i = 0; i < rows->kd->nkeys; i++)
		all &= make_fixed(rows, &rows->column[i], b, from, n, rows->value + i);
	memset(rows->isnull + from * rows->natts, false, n * rows->natts);
	return all;
}

/* The value of a key of one column, taken.  False: make_key may know it. */
static inline bool
take_alone(SfxRowsOfBlock *rows, const SfxBlock *b, int k, Datum *value)
{
	const Column *c = &rows->column[0];
	const SfxEncoding *enc = c->col->enc;
	const uint8 *p = b->keys + b->keyoff[k];
	const uint8 *end = b->keys + b->keyoff[k + 1];
	int			len;

	if (end - p < 2 || *p++ != SFX_MARK_VALUE || !has_room(rows, end - p + VALUE_SLACK))
		return false;
	len = enc->take(p, end - p, c->desc ? 0xFF : 0, rows->at);
	if (len <= 0)
		return false;
	p += len;
	if (enc->take_rest && (len = enc->take_rest(p, end - p, rows->at)) >= 0)
		p += len;
	if (p != end)
		return false;
	*value = PointerGetDatum(rows->at);
	rows->at += c->col->typlen > 0 ? c->col->typlen : VARSIZE(rows->at);
	return true;
}

/* A key's only column, a short string whose bytes are all there.  False: make_key may know it. */
static inline bool
make_short_string(SfxRowsOfBlock *rows, const SfxBlock *b, int k, bool raw, Datum *value)
{
	const uint8 *p = b->keys + b->keyoff[k];
	int			len = (int) (b->keyoff[k + 1] - b->keyoff[k]) - 2;
	char	   *to = rows->at;

	if ((unsigned) len > VARATT_SHORT_MAX - VARHDRSZ_SHORT || p[0] != SFX_MARK_VALUE ||
		p[len + 1] != 0x00 || b->keyoff[k + 1] + 16 > sizeof(b->keys) ||
		to + len + VALUE_SLACK > rows->stop || (raw && has_escape(p + 1, len)))
		return false;
	SET_VARSIZE_SHORT(to, len + VARHDRSZ_SHORT);
	for (int i = 0; i < len; i += 16)
		memcpy(to + VARHDRSZ_SHORT + i, p + 1 + i, 16);
	*value = PointerGetDatum(to);
	rows->at = to + VARHDRSZ_SHORT + len;
	return true;
}

/* Keys of one column. */
static void
make_single(SfxRowsOfBlock *rows, const SfxBlock *b, int from, int n, bool *ready)
{
	const Column *c = &rows->column[0];
	int			natts = rows->natts;
	bool		taken = c->form == FORM_TAKEN;
	bool		raw = c->form == FORM_PLAIN;
	bool text = (raw || c->form == FORM_TEXT) && c->shortens;
	int			last = -1;

	memset(rows->isnull + from * natts, false, n * natts);
	for (int i = from; i < from + n; i++)
	{
		int			k = key_number(b, i);
		Datum	   *value = rows->value + i * natts;

		if (k == last)
		{
			*value = value[-natts];
			rows->isnull[i * natts] = rows->isnull[(i - 1) * natts];
			ready[i] = ready[i - 1];
		}
		else if (!(text &&make_short_string(rows, b, k, raw, value)) &&
				 !(taken && take_alone(rows, b, k, value)))
			ready[i] = make_key(rows, b, k, value, rows->isnull + i * natts);
		last = k;
	}
}

/* Key by key. */
static void
make_keys(SfxRowsOfBlock *rows, const SfxBlock *b, int from, int n, bool *ready)
{
	int			nkeys = rows->kd->nkeys;
	int			last = -1;

	for (int i = from; i < from + n; i++)
	{
		int			k = key_number(b, i);
		Datum	   *value = rows->value + i * rows->natts;
		bool	   *isnull = rows->isnull + i * rows->natts;

		if (k != last)
			ready[i] = make_key(rows, b, k, value, isnull);
		else
		{
			ready[i] = ready[i - 1];
			for (int c = 0; c < nkeys; c++)
			{
				value[c] = value[c - rows->natts];
				isnull[c] = isnull[c - rows->natts];
			}
		}
		last = k;
	}
}

/* INCLUDE columns. */
static void
make_payloads(SfxRowsOfBlock *rows, const SfxBlock *b, int from, int n)
{
	char	   *at = rows->stop;

	for (int i = from; i < from + n; i++)
		at = sfx_payload_in_place(rows->kd, rows->index, b->payload + b->payoff[i],
								  b->payoff[i + 1] - b->payoff[i],
								  rows->value + i * rows->natts, rows->isnull + i * rows->natts,
								  at);
}

/* Memory for what these entries' values may take, and more for what is rarely longer. */
static void
get_room(SfxRowsOfBlock *rows, const SfxBlock *b, int from, int n)
{
	int			first = key_number(b, from);
	int			last = key_number(b, from + n - 1);
	Size		keys = 2 * CALL_SLACK + (rows->grows ? ROOM_TO_GROW : 0);
	Size		payloads = 0;

	if (rows->slack > 0)
		keys += b->keyoff[last + 1] - b->keyoff[first] + (last + 1 - first) * rows->slack;
	keys = MAXALIGN(keys);
	if (b->haspay)
		payloads = b->payoff[from + n] - b->payoff[from] +
			n * (rows->natts - rows->kd->nkeys) * MAXIMUM_ALIGNOF;
	if (keys + payloads > rows->room_size)
	{
		if (rows->room)
			pfree(rows->room);
		rows->room = NULL;
		rows->room = MemoryContextAlloc(rows->cxt, keys + payloads);
		rows->room_size = keys + payloads;
	}
	rows->at = rows->room;
	rows->stop = rows->room + keys;
}

void
sfx_rows_of_block_make(SfxRowsOfBlock *rows, const SfxBlock *b, int from, int n, bool *ready)
{
	ErrorContextCallback context;

	get_room(rows, b, from, n);
	if (!rows->fixed || b->width != rows->keylen || !make_columns(rows, b, from, n))
	{
		context.callback = sfx_key_error_context;
		context.arg = rows->index;
		context.previous = error_context_stack;
		error_context_stack = &context;
		rows->at = rows->room;
		if (rows->kd->nkeys == 1)
			make_single(rows, b, from, n, ready);
		else
			make_keys(rows, b, from, n, ready);
		error_context_stack = context.previous;
	}
	if (rows->natts > rows->kd->nkeys)
		make_payloads(rows, b, from, n);
}

void
sfx_rows_of_block_make_payloads(SfxRowsOfBlock *rows, const SfxBlock *b, int from, int n)
{
	get_room(rows, b, from, n);
	make_payloads(rows, b, from, n);
}
