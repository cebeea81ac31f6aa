/*-------------------------------------------------------------------------
 * leaf_read.c - decoding the entries between two positions, and counting them
 *-------------------------------------------------------------------------
 */
#include "leaf_block.h"
#include "tidvisible.h"

/* ---- ranges ---- */

/* Returns the number of keys in block b that are < hi; the first from keys are < lo. */
static int
find_hi(const SfxLeaf *l, int b, const Block *k, int from, const SfxPos *hi, bool *equal)
{
	Target		t;
	SfxPos		sep;

	if (l->order == NULL)
	{
		t = make_target(l, hi);
		return sfx_leaf_search(k, &t, equal);
	}
	/* in most blocks of a long scan, one comparison is enough */
	*equal = false;
	if (b + 1 < l->nblocks)
	{
		if (!separator(l, b + 1, &sep))
			return SFX_CORRUPT;
		if (sfx_order_cmp_pos(l->order, &sep, hi) <= 0)
			return k->nkeys;
	}
	return sfx_leaf_search_order(l, k, from, SFX_SEEK_NEAR, hi, equal);
}

int
sfx_leaf_find_range(const SfxLeaf *l, int b, const Block *k, const SfxPos *lo, const SfxPos *hi,
					SfxKeyRange *r)
{
	bool		eqlo = false,
				eqhi = false;
	bool		point;

	r->from = 0;
	r->to = k->nkeys;
	r->lo = 0;
	r->hi = UINT64_MAX;
	r->key = NULL;
	r->keylen = 0;
	/* a point lookup has the same key in both bounds */
	point = lo && hi && sfx_same_bytes(lo->key, lo->len, hi->key, hi->len);
	if (lo)
	{
		r->from = sfx_leaf_find_lo(l, k, point ? SFX_SEEK_EXACT : SFX_SEEK_PLACE, lo, &eqlo);
		if (r->from < 0)
			return SFX_CORRUPT;
		if (eqlo)
			r->lo = lo->tid;
	}
	if (hi)
	{
		if (point)
		{
			r->to = r->from;
			eqhi = eqlo;
		}
		else
		{
			r->to = find_hi(l, b, k, r->from, hi, &eqhi);
			if (r->to < 0)
				return SFX_CORRUPT;
		}
		if (eqhi && hi->tid > 0)
		{
			r->to++;
			r->hi = hi->tid;
		}
	}
	/* (with loose bits, the bytes are not the whole key) */
	if (r->to == r->from + 1 && (eqlo || r->hi != UINT64_MAX) && k->kind != SFX_BLK_BITS &&
		k->loose == NULL)
	{
		r->key = eqlo ? lo->key : hi->key;
		r->keylen = eqlo ? lo->len : hi->len;
	}
	return SFX_OK;
}

/* Nothing of the block is in the range; the next entry would be number first. */
static int
empty_block(const Block *k, int first, SfxBlock *out)
{
	out->nent = 0;
	out->nkeys = 0;
	out->first = first;
	out->total = k->nent;
	out->width = 0;
	out->dups = false;
	out->haspay = false;
	out->keyless = out->tidless = out->bits = false;
	out->keyoff[0] = 0;
	return SFX_OK;
}

void
sfx_leaf_empty_block(const Block *k, SfxBlock *out)
{
	(void) empty_block(k, 0, out);
}

/* Keys are not asked for: each entry has the empty one. */
static int
leave_keys_out(SfxBlock *out)
{
	out->keyless = true;
	out->bits = false;
	out->nkeys = 1;
	out->dups = out->haspay = false;
	out->width = 0;
	out->keyoff[0] = out->keyoff[1] = 0;
	return SFX_OK;
}

/* Fill entry -> key for entries [first, first + n), counted from key from on. */
static void
fill_keyno(const Lists *s, int from, int first, int n, uint16_t *keyno)
{
	int			k = from;

	for (int i = 0; i < n;)
	{
		int			stop = s->ends[k] - first;

		if (stop > n)
			stop = n;
		while (i < stop)
			keyno[i++] = (uint16_t) (k - from);
		k++;
	}
}

/* Do the bounds divide a posting list? */
static inline bool
cuts_list(const SfxKeyRange *r)
{
	return r->lo > 0 || r->hi != UINT64_MAX;
}

/*
 * Decode the TIDs of keys [r->from, r->to), if there is room for them (tid), and cut off those that
 * the bounds exclude.  *first: number of the first entry that is left.  Returns how many are left,
 * or SFX_CORRUPT.
 */
static int
decode_range_tids(const Block *k, const Lists *s, const SfxKeyRange *r, uint64_t *tid, int *first)
{
	int			from = r->from,
				to = r->to;
	int			cut = 0;
	int			n;

	if (k->dups)
	{
		from = r->from > 0 ? s->ends[r->from - 1] : 0;
		to = s->ends[r->to - 1];
	}
	*first = from;
	if (tid == NULL)
		return to - from;
	if (sfx_leaf_decode_tids(k, s, from, to, tid) != SFX_OK)
		return SFX_CORRUPT;
	n = to - from;
	if (r->hi != UINT64_MAX)
	{
		int			start = r->to - 1;	/* first entry of the last key */

		if (k->dups)
			start = r->to > 1 ? s->ends[r->to - 2] : 0;
		while (n > start - from && tid[n - 1] >= r->hi)
			n--;
	}
	if (r->lo > 0)
	{
		int			stop = (k->dups ? s->ends[r->from] : r->from + 1) - from;

		if (stop > n)
			stop = n;
		while (cut < stop && tid[cut] < r->lo)
			cut++;
		if (cut > 0)
			memmove(tid, tid + cut, (size_t) (n - cut) * sizeof(uint64_t));
	}
	*first = from + cut;
	return n - cut;
}

/* What the caller needs of the entries. */
enum
{
	WANT_KEYS = 1,
	WANT_TIDS = 2,
	HAVE_KEYS = 4				/* keys are there already */
};

/* Is no decoded entry larger than entries may be? */
static int
check_sizes(const SfxBlock *b)
{
	for (int i = 0; i < b->nent; i++)
	{
		int			k = sfx_block_keyno(b, i);

		if (b->keyoff[k + 1] - b->keyoff[k] + b->payoff[i + 1] - b->payoff[i] > SFX_MAX_ENTRY)
			return SFX_CORRUPT;
	}
	return SFX_OK;
}

/* Decode the range's entries. */
static int
decode_range(const SfxLeaf *l, const Block *k, SfxKeyRange *r, int want, SfxBlock *out)
{
	Lists		s;
	int			n;
	int			first;
	int			fromkey,
				tokey;

	if (sfx_leaf_open_lists(k, r->from, r->to > r->from ? r->to : r->from, &s) != SFX_OK)
		return SFX_CORRUPT;
	if (r->from >= r->to)
		return empty_block(k, !k->dups ? r->from : r->from > 0 ? s.ends[r->from - 1] : 0, out);
	out->tidless = !(want & WANT_TIDS) && !cuts_list(r);
	n = decode_range_tids(k, &s, r, out->tidless ? NULL : out->tid, &first);
	if (n <= 0)
		return n < 0 ? n : empty_block(k, first, out);

	/* all entries of the first or the last key may have been cut off */
	fromkey = r->from;
	tokey = r->to;
	if (k->dups)
	{
		if (s.ends[fromkey] <= first)
			fromkey++;
		if (tokey > 1 && s.ends[tokey - 2] >= first + n)
			tokey--;
	}
	else
	{
		fromkey = first;
		tokey = first + n;
	}
	out->nent = n;
	out->nkeys = tokey - fromkey;
	out->first = first;
	out->total = k->nent;
	out->dups = k->dups;
	out->haspay = k->haspay;
	out->keyless = false;
	if (!(want & (WANT_KEYS | HAVE_KEYS)) && r->key == NULL)
		return leave_keys_out(out);
	if (r->key != NULL && r->keylen <= SFX_MAX_ENTRY)
	{
		memcpy(out->keys, r->key, r->keylen);
		out->width = r->keylen;
		out->bits = false;
		out->keyoff[0] = 0;
		out->keyoff[1] = r->keylen;
	}
	else if (!(want & HAVE_KEYS) && sfx_leaf_decode_keys(l, k, fromkey, tokey, out) != SFX_OK)
		return SFX_CORRUPT;
	if (k->dups)
		fill_keyno(&s, fromkey, first, n, out->keyno);
	if (k->haspay)
		return sfx_leaf_decode_payloads(k, &s, first, first + n, out) == SFX_OK ?
			check_sizes(out) : SFX_CORRUPT;
	return SFX_OK;
}

int
sfx_leaf_decode_range(const SfxLeaf *l, const Block *k, SfxKeyRange *r, SfxBlock *out)
{
	out->left_from = out->left_to = 0;
	return decode_range(l, k, r, WANT_KEYS | WANT_TIDS, out);
}

int
sfx_leaf_decode_entries(const SfxLeaf *l, const Block *k, int key, SfxBlock *out)
{
	SfxKeyRange r = {.from = key, .to = key + 1, .hi = UINT64_MAX};

	out->left_from = out->left_to = 0;
	return decode_range(l, k, &r, HAVE_KEYS | WANT_TIDS, out);
}

/*
 * Number of keys, at that end of the range, that have limit entries, or SFX_CORRUPT.  The range is
 * not empty.
 */
static int
keys_of_entries(const Block *k, const SfxKeyRange *r, int limit, bool backward)
{
	Lists		s;
	int			most = limit < r->to - r->from ? limit : r->to - r->from;
	int			from = backward ? r->to - most : r->from;
	int			to = from + most;
	int			n = 1;

	if (sfx_leaf_open_lists(k, from, to, &s) != SFX_OK)
		return SFX_CORRUPT;
	if (backward)
		while (n < most && s.ends[to - 1] - s.ends[to - 1 - n] < limit)
			n++;
	else
		while (n < most && s.ends[from + n - 1] - (from > 0 ? s.ends[from - 1] : 0) < limit)
			n++;
	return n;
}

/*
 * Leave what exceeds limit entries (0: no limit) of the range for later: whole groups of keys of a
 * front-coded block, of others only if few entries are needed.
 */
static int
limit_range(const Block *k, SfxKeyRange *r, int limit, bool backward, SfxBlock *out)
{
	int			group = k->kind == SFX_BLK_STRING ? SFX_STR_GROUP : 1;

	out->left_from = out->left_to = r->to;
	out->left_lo = r->lo;
	out->left_hi = r->hi;
	if (limit <= 0 || (group == 1 && limit > SFX_FEW_KEYS) || r->from >= r->to)
		return SFX_OK;
	if (k->dups && group > 1)
		limit = keys_of_entries(k, r, limit, backward);
	if (limit < 0 || r->to - r->from < limit + group)
		return limit < 0 ? limit : SFX_OK;
	if (backward)
	{
		out->left_from = r->from;
		out->left_to = r->from = (r->to - limit) / group * group;
		out->left_hi = UINT64_MAX;
		r->lo = 0;
		return SFX_OK;
	}
	out->left_from = (r->from + limit + group - 1) / group * group;
	out->left_lo = 0;
	r->to = out->left_from;
	r->hi = UINT64_MAX;
	return SFX_OK;
}

int
sfx_leaf_decode_limit(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int limit, bool backward, SfxBlock *out)
{
	Block		k;
	SfxKeyRange		r;

	if (sfx_leaf_open_block(l, b, &k) != SFX_OK ||
		sfx_leaf_find_range(l, b, &k, lo, hi, &r) != SFX_OK ||
		limit_range(&k, &r, limit, backward, out) != SFX_OK)
		return SFX_CORRUPT;
	return decode_range(l, &k, &r, WANT_KEYS | WANT_TIDS, out);
}

int
sfx_leaf_decode(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, SfxBlock *out)
{
	return sfx_leaf_decode_limit(l, b, lo, hi, 0, false, out);
}

int
sfx_leaf_decode_left(const SfxLeaf *l, int b, int limit, bool backward, SfxBlock *out)
{
	Block		k;
	SfxKeyRange		r = {out->left_from, out->left_to, out->left_lo, out->left_hi, NULL, 0};

	if (sfx_leaf_open_block(l, b, &k) != SFX_OK || r.to > k.nkeys ||
		limit_range(&k, &r, limit, backward, out) != SFX_OK)
		return SFX_CORRUPT;
	return decode_range(l, &k, &r, WANT_KEYS | WANT_TIDS, out);
}

/* Decode the wanted part of the entries between two positions. */
static int
decode_part(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, int wanted, SfxBlock *out)
{
	Block		k;
	SfxKeyRange		r;

	if (sfx_leaf_open_block(l, b, &k) != SFX_OK ||
		sfx_leaf_find_range(l, b, &k, lo, hi, &r) != SFX_OK)
		return SFX_CORRUPT;
	out->left_from = out->left_to = 0;
	return decode_range(l, &k, &r, wanted, out);
}

int
sfx_leaf_decode_keyless(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, SfxBlock *out)
{
	return decode_part(l, b, lo, hi, WANT_TIDS, out);
}

int
sfx_leaf_decode_tidless(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, SfxBlock *out)
{
	return decode_part(l, b, lo, hi, WANT_KEYS, out);
}

int
sfx_leaf_add_keys(const SfxLeaf *l, int b, SfxBlock *out)
{
	Block		k;
	Lists		s;
	int			from = out->first,
				to = out->first + out->nent;

	if (!out->keyless)
		return SFX_OK;
	if (sfx_leaf_open_block(l, b, &k) != SFX_OK || to > k.nent || sfx_leaf_open_lists(&k, 0, k.nkeys, &s) != SFX_OK)
		return SFX_CORRUPT;
	if (k.dups)
	{
		for (from = 0; s.ends[from] <= out->first;)
			from++;
		for (to = from; s.ends[to] < out->first + out->nent;)
			to++;
		to++;
	}
	if (sfx_leaf_decode_keys(l, &k, from, to, out) != SFX_OK)
		return SFX_CORRUPT;
	out->keyless = false;
	out->nkeys = to - from;
	out->dups = k.dups;
	if (k.dups)
		fill_keyno(&s, from, out->first, out->nent, out->keyno);
	return SFX_OK;
}

/* Hidden TIDs of entries [from, to) of a block, all of which are in the range. */
static int
hidden_tids(const Block *k, const Lists *s, int from, int to, const SfxVisMap *map,
			uint64_t *hidden)
{
	if (k->nent > 1)
		return sfx_tid_hidden(s->tids, (size_t) (k->end - s->tids), k->nent, s->endsarg, s->nlists,
							  from, to, map, hidden);
	if (sfx_leaf_decode_tids(k, s, from, to, hidden) != SFX_OK)
		return SFX_CORRUPT;
	return sfx_kernels->hidden(map, hidden, to - from, hidden);
}

int
sfx_leaf_hidden(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, const SfxVisMap *map,
				uint64_t *hidden, int *n)
{
	Block		k;
	SfxKeyRange		r;
	Lists		s;
	int			from,
				to;

	*n = 0;
	if (sfx_leaf_open_block(l, b, &k) != SFX_OK ||
		sfx_leaf_find_range(l, b, &k, lo, hi, &r) != SFX_OK)
		return SFX_CORRUPT;
	if (r.from >= r.to)
		return 0;
	if (sfx_leaf_open_lists(&k, r.from, r.to, &s) != SFX_OK)
		return SFX_CORRUPT;
	if (cuts_list(&r))
	{
		*n = decode_range_tids(&k, &s, &r, hidden, &from);
		return *n < 0 ? SFX_CORRUPT : sfx_kernels->hidden(map, hidden, *n, hidden);
	}
	from = r.from;
	to = r.to;
	if (k.dups)
	{
		from = r.from > 0 ? s.ends[r.from - 1] : 0;
		to = s.ends[r.to - 1];
	}
	*n = to - from;
	return hidden_tids(&k, &s, from, to, map, hidden);
}

/* Is a block's first key < t (1) or not (0)?  *equal: it is t itself.  Or SFX_CORRUPT. */
static int
search_first_key(const SfxLeaf *l, const Block *k, const SfxPos *pos, bool *equal)
{
	uint8_t		key[SFX_MAX_ENTRY + 64];
	uint32_t	off[2] = {0, k->prefixlen};
	int			c;

	if (k->prefixlen > 0)
		memcpy(key, k->prefix, k->prefixlen);
	if (k->kind == SFX_BLK_STRING &&
		sfx_str_decode(&k->str, 0, 1, k->prefixlen, key, sizeof(key), off, l->body + l->len) != SFX_OK)
		return SFX_CORRUPT;
	c = sfx_order_cmp(l->order, key, off[1], pos->key, pos->len);
	*equal = c == 0;
	return c < 0;
}

int
sfx_leaf_find_block_before(const SfxLeaf *l, const SfxPos *pos)
{
	Target		t = make_target(l, pos);
	Block		k;
	Lists		s;
	bool		equal;
	uint64_t	tid;
	int			b,
				n;

	if (t.side < 0 || l->nblocks == 0)
		return l->nblocks;
	if (t.side > 0)
		return l->nblocks - 1;
	b = sfx_leaf_count_separators(l, &t, false);
	if (b < 0)
		return b;
	b--;
	/* the separator is < pos; whether the block's first entry is, must be looked at */
	if (sfx_leaf_open_block(l, b, &k) != SFX_OK)
		return SFX_CORRUPT;
	n = l->order ? search_first_key(l, &k, pos, &equal) : sfx_leaf_search(&k, &t, &equal);
	if (n < 0)
		return SFX_CORRUPT;
	if (n > 0)
		return b;
	if (equal)
	{
		if (sfx_leaf_open_lists(&k, 0, 0, &s) != SFX_OK || sfx_leaf_decode_tids(&k, &s, 0, 1, &tid) != SFX_OK)
			return SFX_CORRUPT;
		if (tid < t.tid)
			return b;
	}
	return b > 0 ? b - 1 : l->nblocks;
}

bool
sfx_block_drop(SfxBlock *b, const uint16_t *places, int n)
{
	uint32_t	w = b->width;
	int			to = n > 0 ? places[0] : b->nent;
	uint8_t    *key = b->keys + (uint32_t) to * w;

	if (b->dups || b->haspay || b->keyless || b->tidless || b->bits || w < 8 || w > 16)
		return false;
	for (int k = 0; k < n; k++)
	{
		int			end = k + 1 < n ? places[k + 1] : b->nent;

		for (int i = places[k] + 1; i < end; i++, key += w)
		{
			uint64_t	head,
						rest;

			memcpy(&head, b->keys + (uint32_t) i * w, 8);
			memcpy(&rest, b->keys + (uint32_t) i * w + w - 8, 8);
			memcpy(key, &head, 8);
			memcpy(key + w - 8, &rest, 8);
			b->tid[to++] = b->tid[i];
		}
	}
	b->nent = b->nkeys = to;
	return true;
}

/* ---- counting ---- */

/* Number of entries in block b, which its head tells, or SFX_CORRUPT. */
static int
block_entries(const SfxLeaf *l, int b)
{
	uint32_t	at = sfx_get16(slot(l, b));
	const uint8_t *p = l->body + at;
	int			one;

	if (at < l->priv[PV_BLOCKS] || at + 3 > l->len)
		return SFX_CORRUPT;
	one = (*p & SFX_BLK_KIND) == SFX_BLK_ONE;
	if (*p & SFX_BLK_DUPS)
		return 1 + p[2 - one] + (*p & SFX_BLK_NENT_HI ? 256 : 0);
	return one ? 1 : 1 + p[1];
}

int
sfx_leaf_rank(const SfxLeaf *l, int b, const SfxPos *pos, bool *equal)
{
	uint64_t	tid[SFX_BLOCK_ENTRIES];
	Block		k;
	Lists		s;
	int			key,
				from,
				to,
				less = 0;

	*equal = false;
	if (sfx_leaf_open_block(l, b, &k) != SFX_OK)
		return SFX_CORRUPT;
	key = sfx_leaf_find_lo(l, &k, SFX_SEEK_PLACE, pos, equal);
	if (key < 0 || sfx_leaf_open_lists(&k, key, key + 1 < k.nkeys ? key + 1 : k.nkeys, &s) != SFX_OK)
		return SFX_CORRUPT;
	from = !k.dups ? key : key > 0 ? s.ends[key - 1] : 0;
	if (key == k.nkeys)
		*equal = false;
	if (!*equal)
		return from;
	to = k.dups ? s.ends[key] : from + 1;
	if (to < from || sfx_leaf_decode_tids(&k, &s, from, to, tid) != SFX_OK)
		return SFX_CORRUPT;
	while (less < to - from && tid[less] < pos->tid)
		less++;
	*equal = less < to - from && tid[less] == pos->tid;
	return from + less;
}

int
sfx_leaf_count_blocks(const SfxLeaf *l, int from, int to)
{
	int			n = 0;

	for (int b = from; b < to; b++)
	{
		int			r = block_entries(l, b);

		if (r < 0)
			return SFX_CORRUPT;
		n += r;
	}
	return n;
}

/* Number of entries of the leaf that are < pos (NULL: all). */
static int
count_below(const SfxLeaf *l, const SfxPos *pos)
{
	int			b = pos ? sfx_leaf_find_block(l, pos) : l->nblocks,
				n = sfx_leaf_count_blocks(l, 0, b),
				r;
	bool		equal;

	if (b < 0 || n < 0 || b == l->nblocks)
		return b < 0 ? SFX_CORRUPT : n;
	r = sfx_leaf_rank(l, b, pos, &equal);
	return r < 0 ? SFX_CORRUPT : n + r;
}

int
sfx_leaf_count(const SfxLeaf *l, const SfxPos *lo, const SfxPos *hi)
{
	int			below = lo ? count_below(l, lo) : 0,
				all = count_below(l, hi);

	if (below < 0 || all < 0)
		return SFX_CORRUPT;
	return all > below ? all - below : 0;
}
