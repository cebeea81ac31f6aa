/*-------------------------------------------------------------------------
 * tidruns.h - the runs of a RUNS block of TIDs, one by one (layout: tidcodec_format.h)
 *-------------------------------------------------------------------------
 */
#ifndef SFX_TIDRUNS_H
#define SFX_TIDRUNS_H

#include "tidcodec_format.h"

#define MAX_VARINT	6			/* bytes: 42 bits, more than any field has */

typedef struct SfxRunReader
{
	const uint8_t *p;
	const uint8_t *end;
	uint64_t	start;			/* of the current run */
	uint64_t	length;
	unsigned	repeats;		/* number of runs like it that follow */
} SfxRunReader;

/* Read a varint.  UINT64_MAX (which no sound field has): there is none. */
static inline uint64_t
run_varint(SfxRunReader *r)
{
	uint64_t	x = 0;

	for (int i = 0; i < MAX_VARINT && r->p < r->end; i++)
	{
		uint8_t		b = *r->p++;

		x |= (uint64_t) (b & 0x7F) << 7 * i;
		if (b < 0x80)
			return x;
	}
	return UINT64_MAX;
}

/* Step to the next run, which has at least one TID, and at most room.  SFX_OK or SFX_CORRUPT. */
static inline int
sfx_run_next(SfxRunReader *r, uint64_t room)
{
	uint64_t	last = r->start + r->length - 1,
				next = ((last >> 16) + 1) << 16 | 1,
				block,
				x;
	unsigned	c;

	if (r->repeats > 0)
	{
		r->repeats--;
		r->start = next;
		return r->length <= room && next + r->length - 1 <= SFX_MAX_TID ? SFX_OK : SFX_CORRUPT;
	}
	if (r->p >= r->end)
		return SFX_CORRUPT;
	c = *r->p++;
	switch (c & 3)
	{
		case RUN_NEXT:
			r->start = next;
			r->length = c >> 2 ? c >> 2 : run_varint(r);
			break;
		case RUN_AGAIN:
			r->start = next;
			r->repeats = c >> 2;
			break;
		case RUN_GAP:
			x = c >> 2 & 3 ? c >> 2 & 3 : run_varint(r);
			if (x > 0xFFFF)
				return SFX_CORRUPT;
			r->start = last + 1 + x;
			r->length = c >> 4 ? c >> 4 : run_varint(r);
			break;
		default:
			r->length = c >> 2 ? c >> 2 : run_varint(r);
			x = run_varint(r);
			block = (last >> 16) + unzigzag(x);
			x = run_varint(r);
			if (block > UINT32_MAX || x > 0xFFFF)
				return SFX_CORRUPT;
			r->start = block << 16 | x;
			break;
	}
	if (r->length < 1 || r->length > room || r->start + r->length - 1 > SFX_MAX_TID)
		return SFX_CORRUPT;
	return SFX_OK;
}

static inline void
sfx_runs_start(SfxRunReader *r, const uint8_t *in, size_t len)
{
	r->p = in + 1;
	r->end = in + len;
	/* the run before the first one ends at TID 0 and repeats nothing */
	r->start = 1;
	r->length = 0;
	r->repeats = 0;
}

#endif							/* SFX_TIDRUNS_H */
