/*-------------------------------------------------------------------------
 * raw.c - raw values: the bytes of datums that only a comparison function understands
 *
 * Fixed width: as they are.  cstring and string data: with 00 as 01 01, 01 as 01 02, and a final
 * 00, so they delimit themselves, and neighbours share what their strings share.  Other varlena
 * data, often full of zeros, after its length: one byte below SFX_COUNT_LONG, else two, big-endian.
 *
 * A varlena may be squeezed, so that keys can be as long as btree's: the compressed datum without
 * its header's length word, after
 *
 *	counted		its length | SQUEEZED_COUNT in two bytes, big-endian
 *	else		01 03, its length in two bytes; nothing is escaped in the datum
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "key.h"
#include "raw.h"
#include "varlena.h"

#include "access/tupmacs.h"

static inline void
put_be16(uint8 *p, uint16 v)
{
	p[0] = (uint8) (v >> 8);
	p[1] = (uint8) v;
}

#define SQUEEZED_COUNT	0x4000	/* with SFX_COUNT_LONG: the value is compressed */
#define SQUEEZED_MARK	0x03	/* after 01 */
#define SQUEEZED_HEAD	4

StaticAssertDecl(SFX_MAX_ENTRY < SQUEEZED_COUNT, "a length must leave the flag alone");

/* Write n bytes after their length; returns the length of both, -1 if there is no room. */
static int
put_counted(const uint8 *src, int n, uint8 *buf, int maxlen)
{
	int			head = n < SFX_COUNT_LONG ? 1 : 2;

	if (n > SFX_MAX_ENTRY || head + n > maxlen)
		return -1;
	if (head == 2)
		buf[0] = (uint8) (SFX_COUNT_LONG | n >> 8);
	buf[head - 1] = (uint8) n;
	memcpy(buf + head, src, n);
	return head + n;
}

/* The length of a counted value, count included; -1 if it does not end within avail. */
static int
counted_length(const uint8 *p, int avail)
{
	int			len;

	if (avail < 2)
		return avail == 1 && p[0] == 0 ? 1 : -1;
	len = p[0] < SFX_COUNT_LONG ? 1 + p[0] : 2 + ((p[0] << 8 | p[1]) & (SQUEEZED_COUNT - 1));
	return len <= avail ? len : -1;
}

bool
sfx_raw_is_squeezed(const SfxColumn *col, const uint8 *p, int len)
{
	if (!col->raw || col->typlen != -1 || len < 2)
		return false;
	return col->counted ? (p[0] & 0xC0) == 0xC0 : p[0] == 0x01 && p[1] == SQUEEZED_MARK;
}

/*
 * Write a compressed datum of n bytes, which is without its length word; returns the length, -1 if
 * there is no room.
 */
static int
put_squeezed(const SfxColumn *col, const uint8 *src, int n, uint8 *buf, int maxlen)
{
	int			head = col->counted ? 2 : SQUEEZED_HEAD;

	if (n > SFX_MAX_ENTRY || head + n > maxlen)
		return -1;
	buf[0] = 0x01;
	buf[1] = SQUEEZED_MARK;
	put_be16(buf + head - 2,
			 (uint16) (n | (col->counted ? SFX_COUNT_LONG << 8 | SQUEEZED_COUNT : 0)));
	memcpy(buf + head, src, n);
	return head + n;
}

/* Write n bytes, escaped, and the end mark; returns the length, -1 if there is no room. */
static int
escape_bytes(const uint8 *src, int n, uint8 *buf, int maxlen)
{
	int			len = 0;

	for (int i = 0; i < n; i++)
	{
		if (len + (src[i] <= 0x01 ? 3 : 2) > maxlen)	/* with the end mark */
			return -1;
		if (src[i] <= 0x01)
		{
			buf[len++] = 0x01;
			buf[len++] = src[i] + 1;
		}
		else
			buf[len++] = src[i];
	}
	if (len + 1 > maxlen)
		return -1;
	buf[len++] = 0x00;
	return len;
}

int
sfx_raw_put(const SfxColumn *col, Datum value, uint8 *buf, int maxlen)
{
	if (col->typlen > 0)
	{
		if (col->typlen > maxlen)
			return -1;
		if (col->typbyval)
		{
			union
			{
				char		bytes[sizeof(Datum)];
				Datum		align;
			}			byval;

			store_att_byval(byval.bytes, value, col->typlen);
			memcpy(buf, byval.bytes, col->typlen);
		}
		else
			memcpy(buf, DatumGetPointer(value), col->typlen);
		return col->typlen;
	}
	if (col->typlen == -2)
		return escape_bytes((uint8 *) DatumGetCString(value), strlen(DatumGetCString(value)), buf, maxlen);
	else
	{
		struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
		const uint8 *data = (uint8 *) VARDATA_ANY(v);
		int			len = VARSIZE_ANY_EXHDR(v);
		int			n = col->counted ? put_counted(data, len, buf, maxlen) : escape_bytes(data, len, buf, maxlen);

		sfx_free_copy(v, value);
		return n;
	}
}

/* See raw.h. */
int
sfx_raw_squeeze(const SfxColumn *col, Form_pg_attribute att, Datum value, uint8 *buf, int maxlen)
{
	struct varlena *v;
	int			n;

	if (col->typlen != -1)
		return sfx_raw_put(col, value, buf, maxlen);
	v = sfx_storable_varlena(att, (struct varlena *) DatumGetPointer(value));
	if (VARATT_IS_COMPRESSED(v))
		n = put_squeezed(col, (uint8 *) v + VARHDRSZ, VARSIZE_ANY(v) - VARHDRSZ, buf, maxlen);
	else
		n = sfx_raw_put(col, PointerGetDatum(v), buf, maxlen);
	sfx_free_copy(v, value);
	return n;
}

/* See raw.h. */
int
sfx_raw_length(const SfxColumn *col, const uint8 *p, int avail)
{
	const uint8 *end;

	if (col->counted)
		return counted_length(p, avail);
	if (sfx_raw_is_squeezed(col, p, avail))
	{
		int			len = avail < SQUEEZED_HEAD ? -1 : SQUEEZED_HEAD + (p[2] << 8 | p[3]);

		return len <= avail ? len : -1;
	}
	end = avail > 0 ? memchr(p, 0x00, avail) : NULL;
	return end == NULL ? -1 : (int) (end - p) + 1;
}

int
sfx_plain_string(const SfxColumn *col, const uint8 *p, int len)
{
	if (!col->raw || col->typlen != -1 || col->counted || memchr(p, 0x01, len) != NULL)
		return -1;
	return len - 1;
}

/* See raw.h; undoes sfx_raw_put and sfx_raw_squeeze. */
int
sfx_raw_get(const SfxColumn *col, const uint8 *p, int len, Datum *value, char *arena)
{
	char	   *start = col->typlen == -1 ? arena + VARHDRSZ : arena;
	char	   *out = start;

	if (col->typlen > 0)
	{
		memcpy(arena, p, len);
		*value = fetch_att(arena, col->typbyval, col->typlen);
		return col->typbyval ? 0 : len;
	}
	if (sfx_raw_is_squeezed(col, p, len))
	{
		int			head = col->counted ? 2 : SQUEEZED_HEAD;

		if (len - head < (int) (VARHDRSZ_COMPRESSED - VARHDRSZ))
			sfx_long_damaged();
		memcpy(start, p + head, len - head);
		SET_VARSIZE_COMPRESSED(arena, VARHDRSZ + len - head);
		*value = PointerGetDatum(arena);
		return VARHDRSZ + len - head;
	}
	if (col->counted)
	{
		int			head = p[0] < SFX_COUNT_LONG ? 1 : 2;

		memcpy(start, p + head, len - head);
		SET_VARSIZE(arena, VARHDRSZ + len - head);
		*value = PointerGetDatum(arena);
		return VARHDRSZ + len - head;
	}
	while (len > 1)
	{
		const uint8 *escape = memchr(p, 0x01, len - 1);
		int			n = escape ? (int) (escape - p) : len - 1;

		memcpy(out, p, n);
		out += n;
		p += n;
		len -= n;
		if (len > 1)
		{
			*out++ = len > 2 ? p[1] - 1 : p[0];
			p += Min(2, len - 1);
			len -= Min(2, len - 1);
		}
	}
	if (col->typlen == -2)
		*out++ = '\0';
	else
		SET_VARSIZE(arena, out - arena);
	*value = PointerGetDatum(arena);
	return out - arena;
}
