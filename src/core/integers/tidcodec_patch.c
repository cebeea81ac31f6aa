/*-------------------------------------------------------------------------
 * tidcodec_patch.c - PATCHED: TIDs that are regular except for a few, which are stored separately
 *
 * A table that was loaded in order and had some updates: most TIDs are runs or small steps, and a
 * few may be anything.  Each of the two parts is a TID block of its own, of the codec that suits
 * it.
 *-------------------------------------------------------------------------
 */
#include "tidcodec_format.h"

/* ---- decoding ---- */

typedef struct Patched
{
	int			nout;			/* exceptions */
	int			nlow;			/* exceptions at places below 256 */
	const uint8_t *places;
	const uint8_t *out;			/* block of the exceptions */
	const uint8_t *in;			/* block of the others, with an end of its own */
} Patched;

/* Returns the length of an inner block, which is not PATCHED itself; or SFX_CORRUPT. */
static int
inner_size(const uint8_t *in, size_t len, int n)
{
	if (len < 1 || (in[0] & 7) == SFX_TID_PATCHED)
		return SFX_CORRUPT;
	return sfx_tid_size(in, len, n, NULL, 0);
}

/* SFX_OK or SFX_CORRUPT. */
static int
open_patched(const uint8_t *in, size_t len, int n, Patched *b)
{
	size_t		pos = n > 256 ? 3 : 2;
	int			r;

	if (len < pos || in[0] != SFX_TID_PATCHED)
		return SFX_CORRUPT;
	b->nout = in[1];
	b->nlow = n > 256 ? in[2] : b->nout;
	if (b->nout < 1 || b->nout >= n || b->nlow > b->nout || len < pos + (size_t) b->nout)
		return SFX_CORRUPT;
	b->places = in + pos;
	pos += (size_t) b->nout;
	b->out = in + pos;
	r = inner_size(b->out, len - pos, b->nout);
	if (r < 0 || (size_t) r >= len - pos)
		return SFX_CORRUPT;
	b->in = b->out + r;
	return (b->in[0] & 7) == SFX_TID_PATCHED ? SFX_CORRUPT : SFX_OK;
}

static inline int
place(const Patched *b, int e)
{
	return b->places[e] + (e < b->nlow ? 0 : 256);
}

int
sfx_tid_patched_size(const uint8_t *in, size_t len, int n)
{
	Patched		b;
	int			r;

	if (open_patched(in, len, n, &b) < 0)
		return SFX_CORRUPT;
	r = inner_size(b.in, len - (size_t) (b.in - in), n - b.nout);
	return r < 0 ? SFX_CORRUPT : (int) (b.in - in) + r;
}

int
sfx_tid_patched_decode(const uint8_t *in, size_t len, int n, int from, int to, uint64_t *out)
{
	uint64_t	regular[SFX_TID_MAXN];
	Patched		b;
	int			lo = 0,
				hi = 0,
				last = -1,
				r = 0,
				i = from;

	if (open_patched(in, len, n, &b) < 0)
		return SFX_CORRUPT;
	/* exceptions [lo, hi) are among those asked for; later ones are not looked at */
	for (; hi < b.nout && place(&b, hi) < to; hi++)
	{
		if (place(&b, hi) <= last)
			return SFX_CORRUPT;
		last = place(&b, hi);
		lo += last < from;
	}
	if (sfx_tid_decode(b.in, (size_t) (in + len - b.in), n - b.nout, NULL, 0, from - lo, to - hi, regular) != SFX_OK)
		return SFX_CORRUPT;
	for (int e = lo; e < hi; e++)
	{
		int			stop = place(&b, e);

		memcpy(out + (i - from), regular + r, 8 * (size_t) (stop - i));
		r += stop - i;
		if (sfx_tid_decode(b.out, (size_t) (in + len - b.out), b.nout, NULL, 0, e, e + 1, out + (stop - from)) != SFX_OK)
			return SFX_CORRUPT;
		i = stop + 1;
	}
	memcpy(out + (i - from), regular + r, 8 * (size_t) (to - i));
	return SFX_OK;
}

/* ---- encoding ---- */

/*
 * Returns the greatest step that counts as regular: sixteen times the median one.  0 if that is no
 * small part of the whole range.
 */
static uint64_t
window(const uint64_t *tid, int n)
{
	uint64_t	step[17],
				min = UINT64_MAX,
				max = 0,
				win;
	int			m = 0,
				stride = n / 16 + 1;

	for (int i = 1; i < n && m < 17; i += stride)
	{
		uint64_t	at = position(tid[i]),
					x = distance(at, position(tid[i - 1]));
		int			j = m++;

		for (; j > 0 && step[j - 1] > x; j--)
			step[j] = step[j - 1];
		step[j] = x;
		min = at < min ? at : min;
		max = at > max ? at : max;
	}
	win = step[m / 2] < MIN_WINDOW / 16 ? MIN_WINDOW : 16 * step[m / 2];
	return win < (max - min) / 8 || win == MIN_WINDOW ? win : 0;
}

/*
 * Find the exceptions: TIDs too far from the last regular one, unless the next TID is near, so that
 * a new sequence begins here.  Returns their number.
 */
static int
find_exceptions(const uint64_t *tid, int n, uint64_t win, bool *out)
{
	int			nout = 0,
				last = -1;

	for (int i = 0; i < n; i++)
	{
		bool		near = last < 0 ? i + 1 == n || distance(position(tid[i]), position(tid[i + 1])) <= win :
			distance(position(tid[i]), position(tid[last])) <= win ||
			(i + 2 < n && distance(position(tid[i]), position(tid[i + 1])) <= win &&
			 distance(position(tid[i + 1]), position(tid[i + 2])) <= win);

		out[i] = !near;
		if (near)
			last = i;
		else
			nout++;
	}
	return nout;
}

int
sfx_tid_patched_encode(const uint64_t *tid, int n, uint8_t *buf, size_t limit)
{
	uint64_t	part[2][SFX_TID_MAXN];
	bool		out[SFX_TID_MAXN];
	uint64_t	win;
	int			count[2] = {0, 0},
				nout,
				r;
	uint8_t    *p;

	if (n < 16 || (win = window(tid, n)) == 0)
		return SFX_NOSPACE;
	nout = find_exceptions(tid, n, win, out);
	if (nout < 1 || nout > n / 4 || nout > 255 || limit < 3 + (size_t) nout)
		return SFX_NOSPACE;
	p = buf + (n > 256 ? 3 : 2);
	buf[0] = SFX_TID_PATCHED;
	buf[1] = (uint8_t) nout;
	if (n > 256)
		buf[2] = 0;
	for (int i = 0; i < n; i++)
	{
		part[out[i]][count[out[i]]++] = tid[i];
		if (!out[i])
			continue;
		*p++ = (uint8_t) i;
		if (n > 256 && i < 256)
			buf[2]++;
	}
	for (int k = 1; k >= 0; k--)
	{
		r = sfx_tid_encode_simple(part[k], count[k], p, limit - (size_t) (p - buf));
		if (r < 0)
			return r;
		p += r;
	}
	return (int) (p - buf);
}
