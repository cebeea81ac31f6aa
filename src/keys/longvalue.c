/*-------------------------------------------------------------------------
 * longvalue.c - encoded values that are too long to stand in a key as they are
 *
 * What an encoding writes is stored as it is up to SFX_LONG_PLAIN bytes.  Of more bytes the first
 * SFX_LONG_PLAIN are stored so; the others are compressed, in a way that keeps their order
 * (tailcode.c):
 *
 *	SFX_LONG_PLAIN	the first bytes
 *	.				the code of the others, 00 as 01 01 and 01 as 01 02
 *	1				00
 *	3				the number of bytes in all, big-endian
 *
 * So memcmp's order of stored values is that of the encoded ones.  Of two that agree in the first
 * bytes, either both go on, and then the codes decide; or one ends there, and so does the other (no
 * encoded value is a prefix of another one).  Equal values have equal bytes.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "encode.h"
#include "raw.h"
#include "tailcode.h"
#include "varlena.h"

#include "access/detoast.h"
#include "utils/memutils.h"

#define CODE_END		0x00
#define CODE_ESCAPE		0x01
#define COUNT_BYTES		3

/* No encoding makes more than two bytes of one. */
#define MAX_ENCODED		(2 * SFX_LONG_MAX + 64)

StaticAssertDecl(MAX_ENCODED < 1 << 24, "the count has three bytes");

/*
 * The model of tailcode.c, 150 kB.  It is kept for the backend's life, since half of it is the same
 * for every value.
 */
static SfxTailModel *
tail_model(void)
{
	static SfxTailModel *model = NULL;

	if (model == NULL)
	{
		model = MemoryContextAlloc(TopMemoryContext, sizeof(SfxTailModel));
		sfx_tail_init(model);
	}
	return model;
}

void
sfx_long_damaged(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("surfidx index key holds a damaged compressed value"),
			 errhint("Please REINDEX the index.")));
}

/* All bytes of an encoded value, palloc'd, *n of them; NULL if the value is too long. */
static uint8 *
encode_all(const SfxColumn *col, Datum value, int *n)
{
	Size		raw = toast_raw_datum_size(value) - VARHDRSZ;
	struct varlena *v;
	uint8	   *bytes;

	if (raw > SFX_LONG_MAX)
		return NULL;
	v = PG_DETOAST_DATUM_PACKED(value);
	bytes = palloc(2 * raw + 64);
	*n = col->enc->encode(PointerGetDatum(v), bytes, (int) (2 * raw + 64));
	sfx_free_copy(v, value);
	return bytes;
}

/*
 * Write the first bytes as they are, the code of the others, and the end; returns the length, -1 if
 * there is no room.
 */
static int
put_code(const uint8 *bytes, int n, uint8 *buf, int maxlen)
{
	int			room = maxlen - SFX_LONG_PLAIN - 1 - COUNT_BYTES;
	uint8	   *code;
	int			codelen;
	uint8	   *p = buf + SFX_LONG_PLAIN;

	if (room < 1)
		return -1;
	code = palloc(room);
	codelen = sfx_tail_encode(tail_model(), bytes, SFX_LONG_PLAIN, n, code, room);
	memcpy(buf, bytes, SFX_LONG_PLAIN);
	for (int i = 0; i < codelen && room >= 0; i++)
	{
		bool		escape = code[i] <= CODE_ESCAPE;

		room -= escape ? 2 : 1;
		if (room < 0)
			break;
		if (escape)
			*p++ = CODE_ESCAPE;
		*p++ = code[i] + escape;
	}
	pfree(code);
	if (codelen < 0 || room < 0)
		return -1;
	*p++ = CODE_END;
	for (int shift = 8 * (COUNT_BYTES - 1); shift >= 0; shift -= 8)
		*p++ = (uint8) (n >> shift);
	return p - buf;
}

int
sfx_long_put(const SfxColumn *col, Datum value, uint8 *buf, int maxlen)
{
	uint8	   *bytes;
	int			n,
				len = -1;

	if (col->typlen != -1 || maxlen <= SFX_LONG_PLAIN || (bytes = encode_all(col, value, &n)) == NULL)
		return -1;
	if (n > SFX_LONG_PLAIN)
		len = put_code(bytes, n, buf, maxlen);
	pfree(bytes);
	return len;
}

int
sfx_long_length(const uint8 *p, int avail, bool desc)
{
	const uint8 *code = p + SFX_LONG_PLAIN;
	const uint8 *end = avail > SFX_LONG_PLAIN ? memchr(code, desc ? 0xFF ^ CODE_END : CODE_END, avail - SFX_LONG_PLAIN) : NULL;
	int			len = end ? (int) (end - p) + 1 + COUNT_BYTES : -1;

	return len <= avail ? len : -1;
}

uint8 *
sfx_long_get(const uint8 *p, int len, int *n)
{
	const uint8 *end = p + len - COUNT_BYTES - 1;
	uint8		code[SFX_MAX_ENTRY];
	int			codelen = 0;
	uint8	   *bytes;

	*n = len > SFX_LONG_PLAIN + COUNT_BYTES && len <= SFX_MAX_ENTRY ? end[1] << 16 | end[2] << 8 | end[3] : 0;
	if (*n <= SFX_LONG_PLAIN || *n > MAX_ENCODED || *end != CODE_END)
		sfx_long_damaged();
	for (const uint8 *c = p + SFX_LONG_PLAIN; c < end; c++)
		code[codelen++] = *c == CODE_ESCAPE ? *++c - 1 : *c;
	bytes = palloc(*n);
	memcpy(bytes, p, SFX_LONG_PLAIN);
	sfx_tail_decode(tail_model(), code, codelen, bytes, SFX_LONG_PLAIN, *n);
	return bytes;
}
