/*-------------------------------------------------------------------------
 * surf_paths.c - SuRF: the different paths, numbered by use, and how their bytes are written
 *-------------------------------------------------------------------------
 */
#include "surf_build.h"

/* Uses that are told apart when paths are numbered. */
#define USES_MAX	65535

/* Sort the paths by falling use; in "order". */
static uint32_t *
sort_paths(SfxSurfBuild *b, uint32_t n)
{
	SurfPath   *dict = (SurfPath *) b->dict.p;
	uint32_t   *count = surf_vec_zeroed(b, &b->buckets, (USES_MAX + 2) * sizeof(uint32_t)),
			   *order = surf_vec_zeroed(b, &b->order, n * sizeof(uint32_t)),
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

/* Append a record to the pool. */
static bool
put_record(SfxSurfBuild *b, const uint8_t *p, uint32_t len)
{
	uint8_t    *out = surf_vec_push(b, &b->coded, len + (len < 255 ? 1 : 3));

	if (out == NULL)
		return false;
	*out++ = (uint8_t) (len < 255 ? len : 255);
	if (len >= 255)
	{
		sfx_put16(out, (uint16_t) len);
		out += 2;
	}
	memcpy(out, p, len);
	return true;
}

int
surf_plan_paths(SfxSurfBuild *b, uint64_t npaths)
{
	SfxSurf    *plan = &b->plan;
	uint32_t	n = (uint32_t) (b->dict.len / sizeof(SurfPath));
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	uint32_t   *order;

	if (n == 0)
		return SFX_OK;
	order = sort_paths(b, n);
	if (order == NULL)
		return SFX_NOMEM;
	choose_widths(b, order, n, npaths);
	for (uint32_t i = 0; i < n; i++)
	{
		const SurfPath *p = &dict[order[i]];

		/* from here on "order" has the starts of records */
		order[i] = (uint32_t) b->coded.len;
		if (!put_record(b, b->pathbytes.p + p->off, p->len))
			return SFX_NOMEM;
	}
	plan->ndict = n;
	plan->poolsize = b->coded.len;
	return SFX_OK;
}

void
surf_write_paths(SfxSurfBuild *b)
{
	SfxSurf    *s = &b->plan;
	const uint32_t *start = (const uint32_t *) b->order.p;

	for (uint64_t i = 0; i < s->ndict; i += SURF_DICTSTEP)
		sfx_put32((uint8_t *) s->starts + i / SURF_DICTSTEP * 4, start[i]);
	if (s->poolsize > 0)
		memcpy((uint8_t *) s->pool, b->coded.p, s->poolsize);
}
