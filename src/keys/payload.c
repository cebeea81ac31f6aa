/*-------------------------------------------------------------------------
 * payload.c - INCLUDE columns to bytes and back
 *
 *	offset	size	what
 *	0		n/8		null bitmap, bit i % 8 of byte i / 8 set: INCLUDE column i is NULL; n rounded up to 8
 *	.		.		the columns that are not NULL, in order, unaligned:
 *						fixed width		its bytes
 *						varlena			with its header, short where the type allows, perhaps compressed
 *						cstring			with its final zero
 *
 * As in btree's tuples, long compressible values are compressed and nothing stays out of line.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "damage.h"
#include "payload.h"
#include "sound.h"
#include "varlena.h"

#include "access/tupmacs.h"

static inline int
bitmap_size(const SfxKeyDesc *kd)
{
	return (kd->natts - kd->nkeys + 7) / 8;
}

/* Write a varlena at buf if it takes at most room bytes; returns its size in any case. */
static Size
put_varlena(Form_pg_attribute att, Datum value, uint8 *buf, int64 room)
{
	struct varlena *v = sfx_storable_varlena(att, (struct varlena *) DatumGetPointer(value));
	Size		size;

	if (att->attstorage != TYPSTORAGE_PLAIN && VARATT_CAN_MAKE_SHORT(v))
	{
		size = VARATT_CONVERTED_SHORT_SIZE(v);
		if ((int64) size <= room)
		{
			SET_VARSIZE_SHORT(buf, size);
			memcpy(buf + VARHDRSZ_SHORT, VARDATA(v), size - VARHDRSZ_SHORT);
		}
	}
	else
	{
		size = VARSIZE_ANY(v);
		if ((int64) size <= room)
			memcpy(buf, v, size);
	}
	sfx_free_copy(v, value);
	return size;
}

/* Write a value of any type at buf if it takes at most room bytes; returns its size in any case. */
static Size
put_attribute(Form_pg_attribute att, Datum value, uint8 *buf, int64 room)
{
	union
	{
		char		bytes[sizeof(Datum)];
		Datum		align;
	}			byval;
	const void *src = DatumGetPointer(value);
	Size		size;

	if (att->attlen == -1)
		return put_varlena(att, value, buf, room);
	if (att->attlen == -2)
		size = strlen(DatumGetCString(value)) + 1;
	else
		size = att->attlen;
	if (att->attbyval)
	{
		store_att_byval(byval.bytes, value, att->attlen);
		src = byval.bytes;
	}
	if ((int64) size <= room)
		memcpy(buf, src, size);
	return size;
}

int
sfx_payload_encode(const SfxKeyDesc *kd, Relation index, const Datum *values, const bool *isnull,
				   uint8 *buf, int maxlen)
{
	int64		total = bitmap_size(kd);

	if (kd->natts == kd->nkeys)
		return 0;
	if (total <= maxlen)
		memset(buf, 0, total);
	for (int i = kd->nkeys; i < kd->natts; i++)
	{
		int			n = i - kd->nkeys;

		if (!isnull[i])
			total += put_attribute(TupleDescAttr(RelationGetDescr(index), i), values[i],
								   buf + Min(total, maxlen), maxlen - total);
		else if (bitmap_size(kd) <= maxlen)
			buf[n / 8] |= 1 << (n % 8);
	}
	if (total > maxlen)
		sfx_entry_too_large(index, total + SFX_MAX_ENTRY - maxlen);
	return (int) total;
}

/*
 * The size of the varlena that starts at the unaligned p.  ERROR unless put_varlena can have
 * written it within avail.
 */
static Size
stored_varlena_size(Relation index, const uint8 *p, Size avail)
{
	varattrib_4b head = {{0}};
	Size		size = 0;

	if (avail > 0 && VARATT_IS_1B(p))
		size = VARATT_IS_1B_E(p) ? 0 : VARSIZE_1B(p);
	else if (avail >= VARHDRSZ)
	{
		memcpy(&head, p, VARHDRSZ);
		size = VARSIZE_4B(&head);
		if (size < (VARATT_IS_4B_C(&head) ? VARHDRSZ_COMPRESSED : VARHDRSZ))
			size = 0;
	}
	if (size == 0 || size > avail)
		sfx_entry_damaged(index, "an INCLUDE column has an impossible length");
	return size;
}

/* The size of the stored value that starts at p.  ERROR if it does not end within avail. */
static Size
stored_size(Relation index, Form_pg_attribute att, const uint8 *p, Size avail)
{
	const uint8 *zero;

	if (att->attlen == -1)
		return stored_varlena_size(index, p, avail);
	if (att->attlen >= 0)
	{
		if (avail < (Size) att->attlen)
			sfx_entry_damaged(index, "an INCLUDE column is cut off");
		return att->attlen;
	}
	zero = avail > 0 ? memchr(p, 0, avail) : NULL;
	if (zero == NULL)
		sfx_entry_damaged(index, "an INCLUDE column has no end");
	return zero - p + 1;
}

static void
payload_error_context(void *arg)
{
	errcontext("reading an INCLUDE column of surfidx index \"%s\"", RelationGetRelationName((Relation) arg));
}

/* ERROR unless the value has the layout of its type (P2). */
static void
check_value(const SfxKeyDesc *kd, Relation index, int attno, Datum value)
{
	ErrorContextCallback context = {.callback = payload_error_context,.arg = index,.previous = error_context_stack};

	error_context_stack = &context;
	sfx_structure_check(kd->col[attno].structure, value);
	error_context_stack = context.previous;
}

/* May the value be used where it is, unaligned? */
static inline bool
may_stay(Form_pg_attribute att, const uint8 *p)
{
	if (att->attbyval)
		return false;
	return att->attalign == TYPALIGN_CHAR || (att->attlen == -1 && VARATT_IS_1B(p));
}

/*
 * Decode all INCLUDE columns.  stay: values that may be used where they are are not copied.
 * Returns the end of what was used of the arena.
 */
static inline char *
decode_columns(const SfxKeyDesc *kd, Relation index, const uint8 *payload, int len, Datum *values,
			   bool *isnull, char *arena, bool stay)
{
	Size		off = bitmap_size(kd);

	if (len < (int) off || len > SFX_MAX_ENTRY)
		sfx_entry_damaged(index, "INCLUDE columns have an impossible length");
	for (int i = kd->nkeys; i < kd->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), i);
		int			n = i - kd->nkeys;
		Size		size;

		isnull[i] = (payload[n / 8] & (1 << (n % 8))) != 0;
		values[i] = (Datum) 0;
		if (isnull[i])
			continue;
		size = stored_size(index, att, payload + off, len - off);
		if (stay && may_stay(att, payload + off))
			values[i] = PointerGetDatum(payload + off);
		else
		{
			memcpy(arena, payload + off, size);
			values[i] = fetch_att(arena, att->attbyval, att->attlen);
			arena += MAXALIGN(size);
		}
		if (kd->col[i].structure)
			check_value(kd, index, i, values[i]);
		off += size;
	}
	if (off != (Size) len)
		sfx_entry_damaged(index, "INCLUDE columns are followed by stray bytes");
	return arena;
}

void
sfx_payload_decode(const SfxKeyDesc *kd, Relation index, const uint8 *payload, int len,
				   Datum *values, bool *isnull, char *arena)
{
	(void) decode_columns(kd, index, payload, len, values, isnull, arena, false);
}

char *
sfx_payload_in_place(const SfxKeyDesc *kd, Relation index, const uint8 *payload, int len,
					 Datum *values, bool *isnull, char *arena)
{
	return decode_columns(kd, index, payload, len, values, isnull, arena, true);
}
