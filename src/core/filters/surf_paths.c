/*-------------------------------------------------------------------------
 * surf_paths.c - SuRF: the different paths, numbered by use, and how their bytes are written
 *
 * A path that only one node has needs no number: the once bits count such nodes, and their paths
 * are in the pool in the order of nodes.
 *-------------------------------------------------------------------------
 */
#include "surf_build.h"

/* Numbers of uses up to this one are told apart when paths are numbered. */
#define USES_MAX	4095
/* Room that a bit with its rank samples takes, in 20ths of a bit. */
#define RANK_BIT20	25

/* Number the paths by falling use. */
static bool
sort_paths(SfxSurfBuild *b, uint32_t n)
{
	SurfPath   *dict = (SurfPath *) b->dict.p;
	uint32_t   *count = surf_vec_zeroed(b, &b->buckets, (USES_MAX + 2) * sizeof(uint32_t)),
			   *order = surf_vec_zeroed(b, &b->order, (size_t) n * sizeof(uint32_t)),
				sum = 0;

	if (count == NULL || order == NULL)
		return false;
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
	return true;
}

/* How the first n paths are numbered. */
typedef struct Widths
{
	uint64_t	cost;			/* in 20ths of a bit */
	uint8_t		shortw;
	uint8_t		longw;
	bool		kinds;
} Widths;

/* Choose numbers of one width, or of two with a bit that tells which: what is smaller. */
static Widths
choose_widths(const SfxSurfBuild *b, uint32_t n)
{
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	const uint32_t *order = (const uint32_t *) b->order.p;
	uint64_t	nodes = 0,
				covered = 0;
	uint32_t	i = 0;
	Widths		best = {0};

	if (n == 0)
		return best;
	for (uint32_t k = 0; k < n; k++)
		nodes += dict[order[k]].uses;
	best.longw = (uint8_t) sfx_bitlen(n - 1);
	best.cost = nodes * best.longw * 20;
	for (unsigned w = 0; (UINT64_C(1) << w) < n; w++)
	{
		unsigned	longw = sfx_bitlen(n - 1 - (UINT32_C(1) << w));
		uint64_t	cost;

		for (; i < UINT32_C(1) << w; i++)
			covered += dict[order[i]].uses;
		cost = nodes * RANK_BIT20 + (covered * w + (nodes - covered) * longw + SURF_RANK * 8) * 20;
		if (cost < best.cost)
			best = (Widths) {.cost = cost, .shortw = (uint8_t) w, .longw = (uint8_t) longw, .kinds = true};
	}
	return best;
}

/* Decide how nodes name their paths. */
static void
plan_numbers(SfxSurfBuild *b, uint32_t n, uint64_t npaths)
{
	SfxSurf    *plan = &b->plan;
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	const uint32_t *order = (const uint32_t *) b->order.p;
	uint32_t	shared = n;
	Widths		all = choose_widths(b, n),
				w;

	while (shared > 0 && dict[order[shared - 1]].uses == 1)
		shared--;
	w = choose_widths(b, shared);
	if (w.cost + npaths * RANK_BIT20 + SURF_RANK * 8 * 20 < all.cost)
		plan->nonce = n - shared;
	else
		w = all;
	plan->shortw = w.shortw;
	plan->longw = w.longw;
	plan->flags |= w.kinds ? SURF_F_KINDS : 0;
}

/* Choose the width of records' lengths, and compute the size of the pool. */
static void
plan_pool(SfxSurfBuild *b, uint32_t n)
{
	SfxSurf    *plan = &b->plan;
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	uint64_t	length[33] = {0},
				best = UINT64_MAX,
				bits = 0,
				longer = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		bits += dict[i].bits;
		length[sfx_bitlen(dict[i].bits + 1)]++;
	}
	for (unsigned w = SURF_LONGLEN; w > 0; w--)
	{
		uint64_t	cost = n * (uint64_t) w + longer * SURF_LONGLEN;

		if (cost <= best)
		{
			best = cost;
			plan->lenw = (uint8_t) w;
		}
		longer += length[w];
	}
	plan->poolsize = (bits + best + 7) / 8;
}

int
surf_plan_paths(SfxSurfBuild *b, uint64_t npaths)
{
	SfxSurf    *plan = &b->plan;
	SurfPath   *dict = (SurfPath *) b->dict.p;
	uint32_t	n = (uint32_t) (b->dict.len / sizeof(SurfPath));
	uint64_t	bits = 0;

	if (n == 0)
		return SFX_OK;
	if (!surf_encode_paths(b, n) || !sort_paths(b, n))
		return SFX_NOMEM;
	plan->ndict = n;
	plan_numbers(b, n, npaths);
	for (uint32_t i = 0; i < n; i++)
		bits += dict[i].bits;
	if (bits / 8 + b->symbols.len < b->pathbytes.len)
	{
		plan->flags |= SURF_F_SYMBOLS;
		plan->symsize = b->symbols.len;
	}
	else
	{
		/* bytes without a code */
		plan->nsymbols = 0;
		for (uint32_t i = 0; i < n; i++)
			dict[i].bits = 8 * dict[i].len;
	}
	plan_pool(b, n);
	return SFX_OK;
}

void
surf_name_once(SfxSurfBuild *b, uint64_t number, const SurfPath *p)
{
	((uint32_t *) b->order.p)[number] = (uint32_t) (p - (const SurfPath *) b->dict.p);
}

/* Append w (<= 56) bits, x, to the pool, which is zeros from bit *at on; *at moves after them. */
static inline void
put_bits(const SfxSurf *s, uint64_t *at, uint64_t x, unsigned w)
{
	uint8_t    *p = (uint8_t *) s->pool + (*at >> 3);

	if (w > 0)
		sfx_store64(p, sfx_load64(p) | __builtin_bswap64(x << (64 - w) >> (*at & 7)));
	*at += w;
}

static void
write_record(const SfxSurfBuild *b, uint64_t *at, const SurfPath *p)
{
	const SfxSurf *s = &b->plan;
	const SurfCode *codes = (const SurfCode *) b->codes.p;
	const uint16_t *cut = (const uint16_t *) b->coded.p + p->off;

	if (p->bits < sfx_mask(s->lenw))
		put_bits(s, at, p->bits, s->lenw);
	else
	{
		put_bits(s, at, sfx_mask(s->lenw), s->lenw);
		put_bits(s, at, p->bits, SURF_LONGLEN);
	}
	if (s->flags & SURF_F_SYMBOLS)
		for (uint32_t i = 0; i < p->ncodes; i++)
			put_bits(s, at, codes[cut[i]].bits, codes[cut[i]].len);
	else
		for (uint32_t i = 0; i < p->len; i++)
			put_bits(s, at, b->pathbytes.p[p->off + i], 8);
}

void
surf_write_paths(SfxSurfBuild *b)
{
	SfxSurf    *s = &b->plan;
	const SurfPath *dict = (const SurfPath *) b->dict.p;
	const uint32_t *order = (const uint32_t *) b->order.p;
	uint64_t	at = 0;

	if (s->ndict == 0)
		return;
	if (s->flags & SURF_F_SYMBOLS)
		memcpy((uint8_t *) s->symbols, b->symbols.p, s->symsize);
	for (uint64_t i = 0; i < s->ndict; i++)
	{
		if (i % SURF_DICTSTEP == 0)
			surf_or_bits((uint8_t *) s->starts, i / SURF_DICTSTEP * surf_start_width(s), at,
						 surf_start_width(s));
		write_record(b, &at, dict + order[i]);
	}
}
