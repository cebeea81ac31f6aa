/*-------------------------------------------------------------------------
 * surf_paths.c - SuRF: the different paths, numbered by use, and how their bytes are written
 *-------------------------------------------------------------------------
 */
#include "surf_build.h"

/* Uses that are told apart when paths are numbered. */
#define USES_MAX	65535
/* A table of symbols pays only for that many bytes of different paths. */
#define SYMBOLS_FROM	8192

/* Sort the paths by falling use; in "order". */
static uint32_t *
sort_paths(SfxSurfBuild *b, uint32_t n)
{
	SurfPath   *dict = (SurfPath *) b->dict.p;
	uint32_t   *count = surf_vec_zeroed(b, &b->buckets, (USES_MAX + 2) * sizeof(uint32_t)),
			   *order = surf_vec_zeroed(b, &b->order, 2 * (size_t) n * sizeof(uint32_t)),
				sum = 0;

	if (count == NULL || order == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		count[dict[i].uses < USES_MAX ? dict[i].uses : USES_MAX]++;
	for (uint32_t u = USES_MAX + 1; u-- > 0;)
	{
		sum += count[u];
		count[u] = sum - count[u];
	}
	for (uint32_t i = 0; i < n; i++)
	{
		dict[i].number = count[dict[i].uses < USES_MAX ? dict[i].uses : USES_MAX]++;
		order[dict[i].number] = i;
	}
	return order;
}

/* Numbers of one width, or of two with a bit that tells which: whichever is smaller. */
static void
choose_widths(SfxSurfBuild *b, const uint32_t *order, uint32_t n, uint64_t npaths)
{
	SfxSurf    *plan = &b->plan;
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	uint64_t	covered = 0,
				best = npaths * sfx_bitlen(n - 1);
	uint32_t	i = 0;

	plan->longw = (uint8_t) sfx_bitlen(n - 1);
	for (unsigned w = 0; (UINT64_C(1) << w) < n; w++)
	{
		unsigned	longw = sfx_bitlen(n - 1 - (UINT32_C(1) << w));
		uint64_t	cost;

		for (; i < UINT32_C(1) << w; i++)
			covered += dict[order[i]].uses;
		cost = npaths + npaths / 8 + covered * w + (npaths - covered) * longw + SURF_RANK * 8;
		if (cost < best)
		{
			best = cost;
			plan->shortw = (uint8_t) w;
			plan->longw = (uint8_t) longw;
			plan->flags |= SURF_F_KINDS;
		}
	}
}

/* Append a record to the pool, in symbols if there are any. */
static bool
put_record(SfxSurfBuild *b, const SurfTrainer *t, const SurfPath *p)
{
	const uint8_t *s = b->pathbytes.p + p->off;
	uint8_t    *out = surf_vec_room(b, &b->coded, 2 * (size_t) p->len + 3);
	uint32_t	len;

	if (out == NULL)
		return false;
	len = p->len;
	if (t != NULL)
		len = surf_encode_path(t, s, len, out + 3);
	else
		memcpy(out + 3, s, len);
	if (len >= 255)
	{
		out[0] = 255;
		sfx_put16(out + 1, (uint16_t) len);
		b->coded.len += 3 + len;
		return true;
	}
	out[0] = (uint8_t) len;
	memmove(out + 1, out + 3, len);
	b->coded.len += 1 + len;
	return true;
}

/* Write the pool, in order; start[i]: where record i begins. */
static bool
write_pool(SfxSurfBuild *b, const SurfTrainer *t, const uint32_t *order, uint32_t *start, uint32_t n)
{
	b->coded.len = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		start[i] = (uint32_t) b->coded.len;
		if (b->coded.len > UINT32_MAX || !put_record(b, t, (const SurfPath *) b->dict.p + order[i]))
			return false;
	}
	return true;
}

int
surf_plan_paths(SfxSurfBuild *b, uint64_t npaths)
{
	SfxSurf    *plan = &b->plan;
	uint32_t	n = (uint32_t) (b->dict.len / sizeof(SurfPath)),
			   *order,
			   *start;
	const SurfTrainer *t = NULL;

	if (n == 0)
		return SFX_OK;
	order = sort_paths(b, n);
	if (order == NULL)
		return SFX_NOMEM;
	choose_widths(b, order, n, npaths);
	start = order + n;
	plan->ndict = n;
	if (b->pathbytes.len >= SYMBOLS_FROM)
	{
		t = surf_train(b, n);
		if (t == NULL || !write_pool(b, t, order, start, n))
			return SFX_NOMEM;
		plan->flags |= SURF_F_SYMBOLS;
	}
	if (t == NULL || b->coded.len + SURF_SYMBOLS >= b->pathbytes.len + n)
	{
		plan->flags &= (uint8_t) ~SURF_F_SYMBOLS;
		if (!write_pool(b, NULL, order, start, n))
			return SFX_NOMEM;
	}
	plan->poolsize = b->coded.len;
	return SFX_OK;
}

void
surf_write_paths(SfxSurfBuild *b)
{
	SfxSurf    *s = &b->plan;
	const uint32_t *start;

	if (s->ndict == 0)
		return;
	start = (const uint32_t *) b->order.p + s->ndict;
	for (uint64_t i = 0; i < s->ndict; i += SURF_DICTSTEP)
		sfx_put32((uint8_t *) s->starts + i / SURF_DICTSTEP * 4, start[i]);
	if (s->flags & SURF_F_SYMBOLS)
		memcpy((uint8_t *) s->symbols, b->symbols.p, SURF_SYMBOLS);
	memcpy((uint8_t *) s->pool, b->coded.p, s->poolsize);
}
