/*-------------------------------------------------------------------------
 * leaf_write.c - packer: a stream of entries in, full leaf pages out (format in leaf.c)
 *
 * Entries gather in *pending* until it holds a full block and the next entry is known, since the
 * high fence (and the next block's separator) depends on both.  Then the block is encoded and tried
 * on the page: exactly, with the fences that the page would have.  If it fits, it is committed.  If
 * not, the page's last block gets as many entries as fit, found by interpolation and bisection; the
 * page is emitted, and the other entries stay pending for the next page.
 *
 * The page's shared prefix P is known only when the page is closed, but it only gets shorter as the
 * high fence moves up.  (In comparator order it is empty.)  So an encoded block keeps its prefix
 * separately, without the bytes that P had at the time; the bytes that P gives back are found in
 * the low fence.  The same holds for separators.
 *
 * Invariants: the committed blocks fit with the fence that follows them (pend.sep); at least one
 * entry is pending once any was added; a single entry fits on an empty page whatever the fences
 * are.
 *-------------------------------------------------------------------------
 */
#include "leaf_packer.h"

size_t
sfx_packer_size(void)
{
	return sizeof(SfxPacker);
}

SfxPacker *
sfx_packer_init(void *mem, uint32_t capacity, const SfxPos *low, SfxLeafEmit emit, void *ctx,
				const SfxOrder *order)
{
	SfxPacker  *p = mem;

	p->capacity = capacity > MAX_CAPACITY ? MAX_CAPACITY : capacity;
	p->pages = 0;
	p->emit = emit;
	p->ctx = ctx;
	p->order = order;
	memset(p->dict, 0, sizeof(p->dict));
	p->ndicts = p->at = 0;
	p->dictno = 0;
	p->coded = false;
	p->sample = NULL;
	p->coder.dict = NULL;
	p->coder.packing = true;
	p->coder.nsymbols = 0;
	sfx_coder_restart(&p->coder);
	p->coder.cut = 0;
	p->cutmost = p->pagemost = 0;
	p->come_whole = false;
	if (low->len)
		memcpy(p->lowkey, low->key, low->len);
	p->low = (SfxPos) {p->lowkey, low->len, low->tid};
	p->nentries = 0;
	p->nblocks = 0;
	p->used = 0;
	p->sumprefix = p->sumsize = 0;
	p->lastent = p->lastsize = 0;
	p->best = 0;
	p->codec = 0;
	p->codes = NULL;
	p->pend.known.bytes = p->pend.codes;
	p->pend.codesused = 0;
	p->pend.nkeys = p->pend.cached = 0;
	p->pend.nent = 0;
	p->pend.keyoff[0] = 0;
	p->pend.payoff[0] = 0;
	return p;
}

void
sfx_packer_set_codec(SfxPacker *p, int codec)
{
	p->codec = codec;
}

void
sfx_packer_add_dict(SfxPacker *p, const SfxHope *dict, uint32_t number)
{
	p->at = p->ndicts++;
	p->dict[p->at].dict = p->coder.dict = dict;
	p->dict[p->at].number = p->dictno = number;
}

void
sfx_packer_set_packing(SfxPacker *p, bool packing)
{
	p->coder.packing = packing;
}

void
sfx_packer_cut_keys(SfxPacker *p, uint32_t most)
{
	p->cutmost = p->order == NULL ? most : 0;
	p->coder.dict = NULL;
	p->ndicts = p->at = 0;
	p->dictno = 0;
	p->sample = NULL;
}

void
sfx_packer_keys_whole(SfxPacker *p)
{
	p->come_whole = true;
}

void
sfx_packer_part(SfxPacker *p, uint32_t most)
{
	p->pagemost = most;
}

void
sfx_packer_set_sample(SfxPacker *p, SfxRestSample *s)
{
	p->sample = s;
}

void
sfx_packer_rests(const SfxPacker *p, uint32_t number, uint64_t *raw, uint64_t *stored)
{
	*raw = *stored = 0;
	for (int i = 0; i < SFX_PACKER_DICTS; i++)
		if (number == 0 || p->dict[i].number == number)
		{
			*raw += p->dict[i].raw;
			*stored += p->dict[i].stored;
		}
}

/* ---- pending entries ---- */

/* These codes, if the page's dictionary made them; else NULL. */
static inline const SfxCodes *
usable(const SfxPacker *p, const SfxCodes *c)
{
	return c && c->n > 0 && c->dictno == p->dictno ? c : NULL;
}

/* Keep the code of pending key k: the i-th of c, if c has one. */
static void
append_code(Pending *q, int k, const SfxCodes *c, int i)
{
	SfxKnownCodes *known = &q->known;

	known->start[k] = SFX_NO_CODE;
	if (c == NULL || c->len[i] > KNOWN_ROOM - q->codesused)
		return;
	known->start[k] = c->start[i];
	known->cut[k] = (uint8_t) c->cut;
	known->len[k] = c->len[i];
	known->off[k] = q->codesused;
	memcpy(q->codes + q->codesused, c->code[i], c->len[i]);
	q->codesused += c->len[i];
}

/*
 * Forget the codes of the first k keys; nkeys is the number of keys that stay, whose codes follow
 * in order.
 */
static void
drop_codes(Pending *q, int k)
{
	SfxKnownCodes *known = &q->known;
	uint32_t	from = q->codesused;

	for (int i = q->nkeys - 1; i >= 0; i--)
		if (known->start[i + k] != SFX_NO_CODE)
			from = known->off[i + k];
	for (int i = 0; i < q->nkeys; i++)
	{
		known->start[i] = known->start[i + k];
		if (known->start[i] == SFX_NO_CODE)
			continue;
		known->cut[i] = known->cut[i + k];
		known->len[i] = known->len[i + k];
		known->off[i] = known->off[i + k] - from;
	}
	memmove(q->codes, q->codes + from, q->codesused - from);
	q->codesused -= from;
}

/*
 * Append an entry to the pending ones.  newkey: its key is not the last pending one.  lcp: bytes
 * shared with that one.  loose: loose bits of a cut key.  codeno: number of its code in c, if c is
 * not NULL.
 */
static void
append_entry(Pending *q, const SfxEntry *e, bool newkey, uint32_t lcp, unsigned loose,
			 const SfxCodes *c, int codeno)
{
	if (newkey)
	{
		uint32_t	at = q->keyoff[q->nkeys];

		memcpy(q->keys + at, e->key, e->keylen);
		q->lcp[q->nkeys] = (uint16_t) lcp;
		q->loose[q->nkeys] = (uint8_t) loose;
		append_code(q, q->nkeys, c, codeno);
		q->nkeys++;
		q->keyoff[q->nkeys] = at + e->keylen;
	}
	q->tid[q->nent] = e->tid;
	if (e->paylen)
		memcpy(q->pay + q->payoff[q->nent], e->payload, e->paylen);
	q->payoff[q->nent + 1] = q->payoff[q->nent] + e->paylen;
	q->nent++;
	q->ends[q->nkeys - 1] = (uint16_t) q->nent;
}

/* Forget the first n entries; sep, the separator above them, becomes the one below the others. */
static void
drop_pending(Pending *q, int n, const SfxPos *sep)
{
	int			k;
	uint32_t	base;

	q->cached = 0;
	if (n == q->nent)
	{
		q->nkeys = q->nent = 0;
		q->codesused = 0;
		return;
	}
	q->seplen = sep->len;
	q->septid = sep->tid;
	k = key_of_entry(q, n);
	base = q->keyoff[k];
	q->nkeys -= k;
	q->nent -= n;
	drop_codes(q, k);
	memmove(q->keys, q->keys + base, q->keyoff[k + q->nkeys] - base);
	for (int i = 0; i < q->nkeys; i++)
	{
		q->keyoff[i] = q->keyoff[i + k] - base;
		q->lcp[i] = q->lcp[i + k];
		q->loose[i] = q->loose[i + k];
		q->ends[i] = (uint16_t) (q->ends[i + k] - n);
	}
	q->keyoff[q->nkeys] = q->keyoff[q->nkeys + k] - base;
	memmove(q->tid, q->tid + n, (size_t) q->nent * sizeof(uint64_t));
	base = q->payoff[n];
	memmove(q->pay, q->pay + base, q->payoff[n + q->nent] - base);
	for (int i = 0; i <= q->nent; i++)
		q->payoff[i] = q->payoff[i + n] - base;
}

/* ---- filling pages ---- */

/*
 * How many of `most` pending entries the page probably has room for, if they take as much as those
 * of the previous block; all, without one.
 */
static int
expected_fit(const SfxPacker *p, uint32_t least, int most)
{
	uint64_t	room = least < p->capacity ? p->capacity - least : 0;
	uint64_t	n = p->lastsize > 0 ? room * p->lastent / p->lastsize : UINT64_MAX;

	return n >= (uint64_t) most ? most : n > 0 ? (int) n : 1;
}

/* Does the last pending key's list continue after the pending entries? */
static bool
list_goes_on(const SfxPacker *p, const SfxPos *above, bool inf)
{
	SfxPos		key = pending_key(&p->pend, p->pend.nkeys - 1);

	return !inf && above->tid != 0 && above->len == key.len &&
		memcmp(above->key, key.key, key.len) == 0;
}

/*
 * The maximal number of pending entries in the next block.  If keys are cut, a list that would
 * continue in the next block begins there; unless it alone is longer than a block, in which case
 * its key is whole.
 */
static int
most_of_block(const SfxPacker *p, const SfxPos *above, bool inf)
{
	const Pending *q = &p->pend;

	if (p->cutmost && q->nkeys > 1 && list_goes_on(p, above, inf))
		return q->ends[q->nkeys - 2];
	return q->nent;
}

/* Of `most` pending entries, how many the page may take by its limit on entries. */
static int
most_of_page(const SfxPacker *p, int most)
{
	uint32_t	room = p->pagemost > p->nentries ? p->pagemost - p->nentries : 0;

	return p->pagemost == 0 || (uint32_t) most < room ? most : (int) room;
}

/*
 * Find how many of the first `most` pending entries fit on the page as its next block: first the
 * expected number, then by interpolation between a number that fits (good) and one that does not
 * (bad).  above: the position after all pending entries.  The best candidate is left in
 * p->cand[p->best]; returns its number of entries (0: not even one fits).
 */
static int
fit_block(SfxPacker *p, int most, const SfxPos *above, bool inf)
{
	SfxPos		here = {p->pend.keys, p->pend.seplen, p->pend.septid};
	uint32_t	least = p->nblocks ? sfx_pack_size(p, &here, false, NULL) : SFX_LEAF_HEADER + p->low.len;
	uint32_t	goodsize = least,
				badsize = 0;	/* 0: not known */
	int			good = 0,
				bad = most + 1;
	int			n = expected_fit(p, least, most);

	if (most == 0)
		return 0;
	for (int tries = 0;; tries++)
	{
		Candidate  *c = &p->cand[!p->best];
		uint64_t	room;

		if (sfx_pack_try(p, c, n, above, inf))
		{
			good = n;
			goodsize = c->size;
			p->best = !p->best;
			/*
			 * another entry of the usual size has no room; proving that would take one or two more
			 * tries
			 */
			if (n == most || (goodsize > least && p->capacity - goodsize < (goodsize - least) / (uint32_t) n))
				return good;
		}
		else
		{
			bad = n;
			badsize = c->size;
		}
		if (bad - good <= 1)
			return good;
		room = goodsize < p->capacity ? p->capacity - goodsize : 0;
		if (bad > most && goodsize > least)
			n = good + (int) (room * (uint64_t) good / (goodsize - least) & INT32_MAX);
		else if (badsize > goodsize && tries < 6)
			n = good + (int) ((uint64_t) (bad - good) * room / (badsize - goodsize));
		else
			n = (good + bad) / 2;
		n = n <= good ? good + 1 : n >= bad ? bad - 1 : n;
	}
}

/* Is the first pending key certainly whole, since an earlier block has a part of its list? */
static bool
list_was_parted(const SfxPacker *p)
{
	const Pending *q = &p->pend;
	SfxPos		key = pending_key(q, 0);

	return q->septid != 0 ||
		(p->nblocks == 0 && p->low.tid != 0 && p->low.len == key.len &&
		 memcmp(p->low.key, key.key, key.len) == 0);
}

/*
 * The first n pending entries fit on the page, as candidate p->best, and those after them do not.
 * Returns how many of them become its last block: a list whose key may have been cut already is not
 * divided, since the key between its parts must be whole.  A list that has no room on an empty page
 * is divided, if its key is certainly whole; SFX_NOSPACE: it is not.
 */
static int
end_between_keys(SfxPacker *p, int n, const SfxPos *above, bool inf)
{
	const Pending *q = &p->pend;
	int			k = key_of_entry(q, n - 1);
	bool		whole = p->come_whole || pending_key(q, k).len > p->cutmost;

	if (n == q->ends[k] && n < q->nent)
		return n;
	if (k == 0 && (list_was_parted(p) || (q->nkeys == 1 && list_goes_on(p, above, inf))))
		return n;
	if (k == 0 && p->nblocks == 0 && p->pagemost > 0 &&
		sfx_pack_try(p, &p->cand[!p->best], q->ends[0], above, inf))
	{
		p->best = !p->best;
		return q->ends[0];
	}
	for (; k > 0; k--)
		if (sfx_pack_try(p, &p->cand[!p->best], q->ends[k - 1], above, inf))
		{
			p->best = !p->best;
			return q->ends[k - 1];
		}
	if (p->nblocks > 0)
		return 0;
	return whole ? n : SFX_NOSPACE;
}

/*
 * Move pending entries to pages.  above: the fence that would follow them all (inf: none).  If the
 * page has room for as many of them as a block may have, they are committed; otherwise the page is
 * closed.  In both cases some entries may stay pending.
 */
static int
flush_pending(SfxPacker *p, const SfxPos *above, bool inf)
{
	int			most = most_of_block(p, above, inf);
	const Candidate *c;
	SfxPos		high;
	int			r = SFX_OK;
	int			n;

	if (p->nblocks == 0)
		sfx_choose_dict(p);
	n = fit_block(p, most_of_page(p, most), above, inf);
	if (p->cutmost && n > 0 && n < most)
		n = end_between_keys(p, n, above, inf);
	c = &p->cand[p->best];
	if (n > 0)
	{
		sfx_pack_commit(p, c);
		high = c->high;
	}
	else if (n < 0 || p->nblocks == 0)
		return SFX_NOSPACE;		/* the caller has exceeded the limit on entries or capacity */
	else
		high = (SfxPos) {p->pend.keys, p->pend.seplen, p->pend.septid};
	if (n < most)
		r = sfx_pack_close(p, &high, false);
	if (n > 0)
	{
		drop_pending(&p->pend, n, &high);
		sfx_coder_restart(&p->coder);
	}
	return r;
}

/* Is a key with loose bits no beginning of the next one?  The bytes of the two differ at lcp. */
static inline bool
is_apart(const SfxPos *key, unsigned loose, const uint8_t *next, uint32_t lcp)
{
	return loose == 0 || lcp + 1 < key->len || (key->key[lcp] ^ next[lcp]) >> loose != 0;
}

/*
 * Is the entry greater than the last one, as the contract demands?  lcp: bytes that it shares with
 * the last key.  Entries of damaged pages may not be, and the page's prefix would be wrong for
 * them. (Not checked in comparator order, which has no prefix, and where comparisons are
 * expensive.)
 */
static bool
in_order(const SfxPacker *p, const SfxEntry *e, bool newkey, uint32_t lcp)
{
	const Pending *q = &p->pend;
	SfxPos		pos = {e->key, e->keylen, e->tid};
	SfxPos		last;

	if (q->nent > 0 && !newkey)
		return e->tid > q->tid[q->nent - 1];
	if (p->order)
		return true;
	if (q->nent == 0)
		return sfx_cmp_pos(&p->low, &pos) <= 0;
	last = pending_key(q, q->nkeys - 1);
	if (lcp == last.len)
		return p->cutmost == 0 && lcp < e->keylen;
	return lcp < e->keylen && last.key[lcp] < e->key[lcp] &&
		is_apart(&last, q->loose[q->nkeys - 1], e->key, lcp);
}

/* Bytes that two keys of w >= 8 bytes share, if a < b; else w. */
static inline uint32_t
ascending_lcp(const uint8_t *a, const uint8_t *b, uint32_t w)
{
	for (uint32_t at = 0; at < w;)
	{
		uint64_t	x = sfx_load_be64(a + at),
					y = sfx_load_be64(b + at);

		if (x != y)
			return x < y ? at + (uint32_t) __builtin_clzll(x ^ y) / 8 : w;
		/* the last word may overlap the previous one */
		at = at + 8 < w && at + 16 > w ? w - 8 : at + 8;
	}
	return w;
}

/*
 * For a key of 8 to 16 bytes as two words, its first and its last eight bytes: the number of bytes
 * that it shares with its predecessor, which is head and rest, if it is greater; else its length w.
 */
static inline uint32_t
words_ascend(uint64_t head, uint64_t rest, uint64_t nexthead, uint64_t nextrest, uint32_t w)
{
	if (nexthead != head)
		return nexthead > head ? (uint32_t) __builtin_clzll(nexthead ^ head) / 8 : w;
	return nextrest > rest ? w - 8 + (uint32_t) __builtin_clzll(nextrest ^ rest) / 8 : w;
}

/*
 * Of n consecutive keys of w >= 8 bytes at `key`, how many ascend, starting from `last`?  The
 * number of bytes that each shares with its predecessor goes to lcp.
 */
static int
count_ascending(const uint8_t *last, const uint8_t *key, int n, uint32_t w, uint16_t *lcp)
{
	uint64_t	head = sfx_load_be64(last),
				rest = sfx_load_be64(last + w - 8);

	for (int i = 0; i < n; i++, last = key, key += w)
	{
		uint64_t	nexthead = sfx_load_be64(key),
					nextrest = sfx_load_be64(key + w - 8);
		uint32_t	l = w <= 16 ? words_ascend(head, rest, nexthead, nextrest, w) :
			ascending_lcp(last, key, w);

		if (l == w)
			return i;
		lcp[i] = (uint16_t) l;
		head = nexthead;
		rest = nextrest;
	}
	return n;
}

/*
 * Fast path of sfx_packer_add for dense keys: append an entry with a new key of the last key's
 * width and no payload, for which the pending block has room.  False: it is not such an entry, and
 * nothing was done.
 */
static inline bool
append_next(SfxPacker *p, const SfxEntry *e)
{
	Pending    *q = &p->pend;
	int			k = q->nkeys;
	uint32_t	w = e->keylen,
				at = q->keyoff[k],
				lcp;
	uint64_t	head,
				rest;

	if (q->nent == 0 || q->nent == SFX_BLOCK_ENTRIES || k == SFX_BLOCK_KEYS || w < 8 || w > 16 ||
		at - q->keyoff[k - 1] != w || e->paylen > 0 || p->order || p->codes ||
		q->loose[k - 1] != 0 || at + w > SFX_BLOCK_RAW || q->payoff[q->nent] > 0)
		return false;
	/*
	 * loading bytes that were just stored in other pieces would stall the processor for longer than
	 * the rest of this function takes
	 */
	if (q->cached != k)
	{
		q->head = sfx_load_be64(q->keys + at - w);
		q->rest = sfx_load_be64(q->keys + at - 8);
	}
	head = sfx_load_be64(e->key);
	rest = sfx_load_be64(e->key + w - 8);
	lcp = words_ascend(q->head, q->rest, head, rest, w);
	q->cached = k;
	if (lcp == w)
		return false;
	memcpy(q->keys + at, e->key, 8);
	memcpy(q->keys + at + w - 8, e->key + w - 8, 8);
	q->lcp[k] = (uint16_t) lcp;
	q->loose[k] = 0;
	q->known.start[k] = SFX_NO_CODE;
	q->tid[q->nent++] = e->tid;
	q->payoff[q->nent] = 0;
	q->ends[k] = (uint16_t) q->nent;
	q->keyoff[k + 1] = at + w;
	q->nkeys = q->cached = k + 1;
	q->head = head;
	q->rest = rest;
	return true;
}

int
sfx_packer_add(SfxPacker *p, const SfxEntry *e)
{
	return append_next(p, e) ? SFX_OK : sfx_packer_add_cut(p, e, 0);
}

int
sfx_packer_add_cut(SfxPacker *p, const SfxEntry *e, unsigned loose)
{
	Pending    *q = &p->pend;
	SfxPos		sep = {e->key, e->keylen, e->tid};
	bool		sepdone = p->order == NULL;
	bool		newkey = true;
	uint32_t	lcp = 0;
	int			r;

	if (q->nent > 0)
	{
		SfxPos		last = pending_key(q, q->nkeys - 1);

		lcp = sfx_lcp(last.key, last.len, e->key, e->keylen);
		newkey = lcp < e->keylen || lcp < last.len;
		if (lcp < e->keylen && p->order == NULL)
			sep = (SfxPos) {e->key, lcp + 1, 0};
	}
	else if (p->pages == 0 && p->nblocks == 0)
	{
		/* the very first entry: no separator is needed below it */
		q->seplen = 0;
		q->septid = 0;
	}
	if (!in_order(p, e, newkey, lcp))
		return SFX_CORRUPT;
	while (q->nent > 0 &&
		   (q->nent == SFX_BLOCK_ENTRIES || (newkey && q->nkeys == SFX_BLOCK_KEYS) ||
			q->keyoff[q->nkeys] + e->keylen > SFX_BLOCK_RAW || q->payoff[q->nent] + e->paylen > SFX_BLOCK_RAW))
	{
		if (!sepdone)
		{
			SfxPos		last = pending_key(q, q->nkeys - 1);

			sep = sfx_order_separator(p->order, &last, &sep);
			sepdone = true;
		}
		r = flush_pending(p, &sep, false);
		if (r < 0)
			return r;
		if (q->nent == 0)
		{
			q->seplen = sep.len;
			q->septid = sep.tid;
			newkey = true;
		}
	}
	append_entry(q, e, newkey, lcp, loose, usable(p, p->codes), p->codeno);
	return SFX_OK;
}

/*
 * May entries of the block be added to the pending one without examining each?  Only if all keys
 * are distinct, there is no payload, and the order is that of bytes.
 */
static inline bool
is_plain(const SfxPacker *p, const SfxBlock *b)
{
	return !b->dups && !b->haspay && p->order == NULL && p->pend.nent > 0;
}

/* Of n more entries of w bytes or more, so many at least have room in the pending block. */
static inline int
run_room(const Pending *q, int n, uint32_t w)
{
	uint32_t	at = q->keyoff[q->nkeys];

	n = n < SFX_BLOCK_KEYS - q->nkeys ? n : SFX_BLOCK_KEYS - q->nkeys;
	n = n < SFX_BLOCK_ENTRIES - q->nent ? n : SFX_BLOCK_ENTRIES - q->nent;
	return at >= SFX_BLOCK_RAW ? 0 : n < (int) ((SFX_BLOCK_RAW - at) / w) ? n : (int) ((SFX_BLOCK_RAW - at) / w);
}

/* Append the keys of entries [from, from + n), whose offsets are set already, and their TIDs. */
static inline void
copy_run(Pending *q, const SfxBlock *b, int from, int n)
{
	memcpy(q->keys + q->keyoff[q->nkeys], b->keys + b->keyoff[from], b->keyoff[from + n] - b->keyoff[from]);
	memcpy(q->tid + q->nent, b->tid + from, (size_t) n * sizeof(uint64_t));
	q->nkeys += n;
	q->nent += n;
}

/*
 * Set offsets and counts for n more pending keys of w bytes with one entry each; not lcp and loose.
 */
static void
note_fixed(Pending *q, int n, uint32_t w)
{
	uint32_t   *off = q->keyoff + q->nkeys + 1,
			   *pay = q->payoff + q->nent + 1;
	uint16_t   *ends = q->ends + q->nkeys;
	uint32_t	at = q->keyoff[q->nkeys],
				paid = q->payoff[q->nent];

	memset(q->known.start + q->nkeys, 0xFF, (size_t) n * sizeof(uint16_t));
	for (int i = 0; i < n; i++)
	{
		off[i] = at += w;
		pay[i] = paid;
		ends[i] = (uint16_t) (q->nent + i + 1);
	}
}

/*
 * Append entries [from, to) of b, whose keys have one width, as long as they belong to the pending
 * block.  Returns how many were appended.
 */
static int
append_fixed(SfxPacker *p, const SfxBlock *b, int from, int to)
{
	Pending    *q = &p->pend;
	uint32_t	w = b->width;
	const uint8_t *key,
			   *last;
	int			n;

	if (!is_plain(p, b) || pending_key(q, q->nkeys - 1).len != w)
		return 0;
	key = b->keys + b->keyoff[from];
	last = q->keys + q->keyoff[q->nkeys - 1];
	n = count_ascending(last, key, run_room(q, to - from, w), w, q->lcp + q->nkeys);
	if (!b->bits && q->loose[q->nkeys - 1] == 0)
		memset(q->loose + q->nkeys, 0, (size_t) n);
	else
		for (int i = 0; i < n; i++, last = key, key += w)
		{
			int			k = q->nkeys + i;

			if (!is_apart(&(SfxPos) {last, w, 0}, q->loose[k - 1], key, q->lcp[k]))
			{
				n = i;
				break;
			}
			q->loose[k] = (uint8_t) sfx_block_loose(b, from + i);
		}
	note_fixed(q, n, w);
	copy_run(q, b, from, n);
	return n;
}

/* The same for keys of any lengths, with their codes, if there are any. */
static int
append_strings(SfxPacker *p, const SfxBlock *b, int from, int to, const SfxCodes *codes)
{
	Pending    *q = &p->pend;
	SfxPos		last;
	uint32_t	at;
	int			n,
				i;

	if (!is_plain(p, b))
		return 0;
	at = q->keyoff[q->nkeys] - b->keyoff[from];
	n = run_room(q, to - from, 1);
	last = pending_key(q, q->nkeys - 1);
	for (i = 0; i < n; i++)
	{
		SfxPos		key = {b->keys + b->keyoff[from + i], b->keyoff[from + i + 1] - b->keyoff[from + i], 0};
		/* the leaf has left out of a rest what its key shares with the previous key */
		bool		told = codes != NULL && i > 0 && (from + i) % SFX_STR_GROUP != 0;
		uint32_t	lcp = told ? codes->start[from + i] : sfx_lcp(last.key, last.len, key.key, key.len);

		if (lcp == key.len || (lcp < last.len ? last.key[lcp] > key.key[lcp] : p->cutmost > 0) ||
			(lcp < last.len && !is_apart(&last, q->loose[q->nkeys + i - 1], key.key, lcp)) ||
			at + b->keyoff[from + i + 1] > SFX_BLOCK_RAW)
			break;
		q->lcp[q->nkeys + i] = (uint16_t) lcp;
		q->keyoff[q->nkeys + i + 1] = at + b->keyoff[from + i + 1];
		q->ends[q->nkeys + i] = (uint16_t) (q->nent + i + 1);
		q->payoff[q->nent + i + 1] = q->payoff[q->nent];
		append_code(q, q->nkeys + i, codes, from + i);
		q->loose[q->nkeys + i] = (uint8_t) sfx_block_loose(b, from + i);
		last = key;
	}
	copy_run(q, b, from, i);
	return i;
}

int
sfx_packer_add_run(SfxPacker *p, const SfxBlock *b, int from, int to, const SfxCodes *codes)
{
	while (from < to)
	{
		const SfxCodes *known = usable(p, codes);
		int			n = b->width >= 8 && known == NULL ? append_fixed(p, b, from, to) : append_strings(p, b, from, to, known);

		if (n == 0)
		{
			SfxEntry	e;
			int			r;

			sfx_block_entry(b, from, &e);
			p->codes = codes;
			p->codeno = b->dups ? b->keyno[from] : from;
			r = sfx_packer_add_cut(p, &e, sfx_block_loose(b, from));
			p->codes = NULL;
			if (r < 0)
				return r;
			n = 1;
		}
		from += n;
	}
	return SFX_OK;
}

int
sfx_packer_finish(SfxPacker *p, const SfxPos *high)
{
	if (high && p->order == NULL && p->pend.nent > 0)
	{
		SfxPos		last = pending_key(&p->pend, p->pend.nkeys - 1);

		last.tid = p->pend.tid[p->pend.nent - 1];
		if (sfx_cmp_pos(&last, high) >= 0)
			return SFX_CORRUPT;
	}
	while (p->pend.nent > 0)
	{
		int			r = flush_pending(p, high, high == NULL);

		if (r < 0)
			return r;
	}
	return sfx_pack_close(p, high, high == NULL);
}
