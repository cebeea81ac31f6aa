/*-------------------------------------------------------------------------
 * strblock_order.c - search of a STRING block in the comparator key space, where keys are not in
 * byte order
 *-------------------------------------------------------------------------
 */
#include "frontrun.h"
#include "strblock_runs.h"

_Static_assert(SFX_STR_GROUP <= SFX_RUN_MAX && SFX_STR_MAXGROUPS <= SFX_RUN_MAX, "a group, or the heads, are one run");

typedef struct OrderSearch
{
	const SfxOrder *order;
	const uint8_t *t;
	uint32_t	tlen;
	int			last;			/* common last byte of the keys, or -1 */
	uint32_t	prefixlen;
	uint32_t	most;			/* most bytes of a key without prefix and last byte */
	uint8_t		key[SFX_MAX_ENTRY];	/* begins with the prefix */
	uint32_t	used;			/* bytes used of pool: the rests of one run, decoded */
	uint8_t		pool[SFX_RUN_MAX * SFX_MAX_ENTRY + SFX_HOPE_SLACK];
} OrderSearch;

/*
 * Returns the bytes of a rest, decoded to the pool if it is coded or packed; NULL if they cannot be
 * decoded.  *len becomes the number of bytes.
 */
static const uint8_t *
raw_rest(const SfxStr *s, OrderSearch *w, const uint8_t *p, uint32_t *len)
{
	uint8_t    *out = w->pool + w->used;
	int			r;

	if (!s->coded && !s->packed)
		return p;
	if ((s->coded && s->dict == NULL) || w->used > sizeof(w->pool) - SFX_MAX_ENTRY - SFX_HOPE_SLACK)
		return NULL;
	if (s->packed)
	{
		if (*len > SFX_MAX_ENTRY)
			return NULL;
		sfx_kernels->symbols(&s->symbols, p, (size_t) (s->limit - p), *len, out);
		w->used += *len;
		return out;
	}
	r = sfx_hope_decode_within(s->dict, p, *len, (size_t) (s->limit - p), out, sizeof(w->pool) - w->used);
	if (r < 0)
		return NULL;
	w->used += (uint32_t) r;
	*len = (uint32_t) r;
	return out;
}

/* Append a run of n keys to r, whose last key is the one that precedes them. */
static bool
parse_run(const SfxStr *s, OrderSearch *w, const uint8_t *p, const uint8_t *end, int n, SfxFrontRun *r)
{
	RunWalk		walk;
	uint32_t	shared,
				rest;

	if (n == 0)
		return true;
	if (!begin_run(s, p, end, &walk))
		return false;
	for (int i = 0; i < n; i++)
	{
		const uint8_t *raw;

		if (!walk_key(&walk, &shared, &p, &rest))
			return false;
		raw = raw_rest(s, w, p, &rest);
		if (raw == NULL || !sfx_run_add(r, shared, raw, rest, w->most))
			return false;
	}
	return true;
}

static bool
parse_heads(const SfxStr *s, OrderSearch *w, SfxFrontRun *r)
{
	const uint8_t *p;
	const uint8_t *key;
	uint32_t	len;

	r->n = 0;
	w->used = 0;
	return first_key(s, &p, &key, &len) && (key = raw_rest(s, w, key, &len)) != NULL &&
		sfx_run_add(r, 0, key, len, w->most) &&
		parse_run(s, w, p, s->heads + s->goff[0], s->ngroups - 1, r);
}

/* Make r of a group and its head, which the caller has put together. */
static bool
parse_group(const SfxStr *s, OrderSearch *w, int g, const uint8_t *head, uint32_t headlen,
			SfxFrontRun *r)
{
	const uint8_t *end;
	const uint8_t *p = group_run(s, g, &end);

	r->n = 0;
	w->used = 0;
	return sfx_run_add(r, 0, head, headlen, w->most) && parse_run(s, w, p, end, group_keys(s, g), r);
}

/* Compare key i of a run with t. */
static int
cmp_run(OrderSearch *w, const SfxFrontRun *r, int i)
{
	uint32_t	len = w->prefixlen + sfx_run_string(r, i, w->key + w->prefixlen);

	if (w->last >= 0)
		w->key[len++] = (uint8_t) w->last;
	return sfx_order_cmp(w->order, w->key, len, w->t, w->tlen);
}

/* Returns the first of keys [lo, hi) of a run that is not < t; hi if all are. */
static int
bisect_run(OrderSearch *w, const SfxFrontRun *r, int lo, int hi, bool *equal)
{
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;
		int			c = cmp_run(w, r, mid);

		if (c == 0)
		{
			*equal = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The same if it is probably near lo: in steps that double. */
static int
gallop_run(OrderSearch *w, const SfxFrontRun *r, int lo, int hi, bool *equal)
{
	for (int step = 1; lo < hi; step *= 2)
	{
		int			at = step < hi - lo ? lo + step - 1 : hi - 1;
		int			c = cmp_run(w, r, at);

		if (c > 0)
			return bisect_run(w, r, lo, at, equal);
		if (c == 0)
		{
			*equal = true;
			return at;
		}
		lo = at + 1;
	}
	return hi;
}

/*
 * Look for t in group g, whose head is another key.  Returns its number there, 0 if t is not there,
 * or SFX_CORRUPT.
 */
static int
find_in_group(const SfxStr *s, const OrderSearch *w, int g, const uint8_t *head, uint32_t headlen)
{
	const uint8_t *t = w->t + w->prefixlen;
	uint32_t	tlen = w->tlen - w->prefixlen;
	bool		equal = false;
	uint32_t	lcp;
	int			i;

	if (w->tlen < w->prefixlen + (s->last >= 0) || sfx_memcmp(w->t, w->key, w->prefixlen) != 0 ||
		(s->last >= 0 && t[tlen - 1] != s->last))
		return 0;
	lcp = sfx_lcp(head, headlen, t, tlen - (s->last >= 0));
	i = sfx_str_find_in_group(s, g, lcp, t, tlen, &equal);
	return i < 0 ? SFX_CORRUPT : equal ? i + 1 : 0;
}

int
sfx_str_search_order(const SfxStr *s, const uint8_t *prefix, uint32_t prefixlen,
					 int from, SfxSeek seek, const SfxOrder *o, const uint8_t *t, uint32_t tlen, bool *equal)
{
	bool		near = seek == SFX_SEEK_NEAR;
	OrderSearch w;
	SfxFrontRun run;
	uint8_t		head[SFX_MAX_ENTRY];
	uint32_t	headlen;
	int			lo = (from + SFX_STR_GROUP - 1) / SFX_STR_GROUP;	/* the first head that may not be < t */
	int			g,
				i;

	*equal = false;
	if (s->column)
		return SFX_CORRUPT;
	if (from >= s->n)
		return s->n;
	if (prefixlen + (s->last >= 0) > SFX_MAX_ENTRY)
		return SFX_CORRUPT;
	w.order = o;
	w.t = t;
	w.tlen = tlen;
	w.last = s->last;
	w.prefixlen = prefixlen;
	w.most = SFX_MAX_ENTRY - prefixlen - (s->last >= 0);
	if (prefixlen > 0)
		memcpy(w.key, prefix, prefixlen);
	if (!parse_heads(s, &w, &run))
		return SFX_CORRUPT;
	/* a scan that comes from the previous block is done after one comparison */
	if (from == 0 && seek != SFX_SEEK_EXACT)
	{
		lo = bisect_run(&w, &run, 0, 1, equal);
		if (lo == 0)
			return 0;
	}
	i = near ? gallop_run(&w, &run, lo, s->ngroups, equal) : bisect_run(&w, &run, lo, s->ngroups, equal);
	if (*equal)
		return i * SFX_STR_GROUP;
	if (i == 0)
		return 0;
	g = i - 1;
	headlen = sfx_run_string(&run, g, head);
	if (seek == SFX_SEEK_EXACT)
	{
		lo = find_in_group(s, &w, g, head, headlen);
		*equal = lo > 0;
		return lo < 0 ? lo : g * SFX_STR_GROUP + (*equal ? lo : 1);
	}
	if (!parse_group(s, &w, g, head, headlen, &run))
		return SFX_CORRUPT;
	i = g * SFX_STR_GROUP;
	lo = from > i + 1 ? from - i : 1;
	return i + (near ? gallop_run(&w, &run, lo, run.n, equal) : bisect_run(&w, &run, lo, run.n, equal));
}
