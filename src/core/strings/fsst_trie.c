/*-------------------------------------------------------------------------
 * fsst_trie.c - finding symbols in a string, and dividing it for the shortest code (trie: fsst.h)
 *
 * Nine of ten symbols that share three bytes with a place do not begin there, and the more symbols
 * there are, the more do so.  In a trie all that begin there lie on one way, and one or a few at
 * its end are compared.
 *
 * A string is divided from its front on, by dynamic programming over the places that symbols lead
 * to: of those that begin at one the longest three are tried.  Where there are many symbols, which
 * take longer to be found, places that others have left behind at no more cost are passed over: a
 * third of the time less, and codes some 1 % longer.  With few symbols that took a tenth more bytes
 * where words are longer than symbols.
 *
 * Cells are as many as symbols, one for each that is entered, and those that come when a list has
 * become a node.  The latter are limited, so that a table of any symbols has its room: from there
 * on lists grow.
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

#define LIST		2			/* symbols in a list, before it becomes a node */
#define LONGEST		3			/* symbols that are tried at a place */
#define AHEAD		2			/* bytes farther at no more cost: a place is passed over */
#define MANY		4608		/* slots that a table of 4,096 symbols has: with more of them */

/* What making a trie knows. */
typedef struct Trie
{
	Fsst	   *f;
	uint64_t   *cells;
	uint16_t   *next;
	uint32_t	spare;			/* cells that nodes may take beyond one for each symbol */
} Trie;

/* The lower half of a cell that is there, or becomes so. */
static uint64_t *
have_cell(Trie *t, uint32_t from, uint8_t byte)
{
	uint32_t	key = from << 8 | byte;
	uint64_t   *c = &t->cells[fsst_cell_at(t->f, key)];

	*c |= (uint64_t) key << 32;
	return c;
}

/* Enter a symbol into a cell that is d bytes deep and leads to no node. */
static void
enter(Trie *t, uint64_t *cell, uint32_t slot, unsigned d)
{
	uint32_t	more = (uint32_t) *cell >> 16;

	if (t->f->slot[slot].len == d)
		*cell = (*cell & ~(uint64_t) FSST_CELL_SLOT) | slot;
	else
	{
		t->next[slot] = (uint16_t) more;
		*cell = (*cell & ~UINT64_C(0xFFFF0000)) | slot << 16 | FSST_CELL_LIST;
	}
}

/* Make a node of a list that has become too long, if there are cells for it. */
static void
spread(Trie *t, uint64_t *cell, unsigned d)
{
	uint32_t	first = (uint32_t) *cell >> 16,
				node = FSST_FIRST_NODE + t->f->nodes - 1,
				n = 0,
				next;

	for (uint32_t s = first; s != 0; s = t->next[s])
		n++;
	if (n < LIST || n > t->spare || node > UINT16_MAX)
		return;
	t->spare -= n;
	t->f->nodes++;
	*cell = (*cell & ~UINT64_C(0xFFFF8000)) | node << 16;
	for (uint32_t s = first; s != 0; s = next)
	{
		next = t->next[s];
		enter(t, have_cell(t, node, t->f->slot[s].byte[d]), s, d + 1);
	}
}

static void
add_symbol(Trie *t, uint32_t slot)
{
	const FsstSlot *s = &t->f->slot[slot];
	uint64_t   *cell = have_cell(t, s->byte[0], s->byte[1]);
	unsigned	d = 2;

	for (; d < s->len && (uint32_t) *cell >> 16 != 0; d++)
	{
		if (*cell & FSST_CELL_LIST)
			spread(t, cell, d);
		if (*cell & FSST_CELL_LIST)
			break;
		cell = have_cell(t, (uint32_t) *cell >> 16, s->byte[d]);
	}
	enter(t, cell, slot, d);
}

void
sfx_fsst_prepare(const Fsst *f)
{
	/* only this is not const of a table, and is of no account to those who decode */
	Trie		t = {(Fsst *) f, (uint64_t *) fsst_cells(f), (uint16_t *) fsst_next(f), 0};

	if (f->nodes > 0)
		return;
	memset(t.cells, 0, sizeof(uint64_t) << f->cell_bits);
	t.spare = (1u << f->cell_bits) / 4 * 3 - f->shape.nintervals;
	t.f->nodes = 1;
	for (uint32_t s = 1; s < f->nslots; s++)
		if (f->slot[s].len > 1)
			add_symbol(&t, s);
}

uint32_t
sfx_fsst_longest(const Fsst *f, const uint8_t *p, size_t n)
{
	uint32_t	best = f->one[p[0]],
				len = 1,
				cell = n > 1 ? fsst_cell(f, p[0], p[1]) : 0;
	unsigned	d = 2;

	for (;; d++)
	{
		if ((cell & FSST_CELL_SLOT) != 0)
		{
			best = cell & FSST_CELL_SLOT;
			len = d;
		}
		if ((cell & FSST_CELL_LIST) || cell >> 16 == 0 || d >= n)
			break;
		cell = fsst_cell(f, cell >> 16, p[d]);
	}
	if (cell & FSST_CELL_LIST)
		for (uint32_t s = cell >> 16; s != 0; s = fsst_next(f)[s])
		{
			uint32_t	k = f->slot[s].len;

			if (k > len && k <= n && memcmp(f->slot[s].byte, p, k) == 0)
			{
				best = s;
				len = k;
			}
		}
	return best;
}

/* ---- dividing a string ---- */

/* A symbol that begins at a place. */
typedef struct Match
{
	uint16_t	slot;
	uint16_t	len;
} Match;

/* The symbols that begin the n > 0 bytes at p, the shortest first: how many. */
static inline uint32_t
find_matches(const Fsst *f, const uint8_t *p, uint32_t n, Match m[FSST_MAXSYM])
{
	uint32_t	found = 1,
				listed,
				cell = n > 1 ? fsst_cell(f, p[0], p[1]) : 0;

	m[0] = (Match) {f->one[p[0]], 1};
	for (uint32_t d = 2;; d++)
	{
		m[found] = (Match) {(uint16_t) (cell & FSST_CELL_SLOT), (uint16_t) d};
		found += (cell & FSST_CELL_SLOT) != 0;
		if ((cell & FSST_CELL_LIST) || cell >> 16 == 0 || d >= n)
			break;
		cell = fsst_cell(f, cell >> 16, p[d]);
	}
	listed = found;
	for (uint32_t s = cell & FSST_CELL_LIST ? cell >> 16 : 0; s != 0; s = fsst_next(f)[s])
	{
		uint32_t	len = f->slot[s].len,
					i = found;

		if (len > n || memcmp(f->slot[s].byte + 2, p + 2, len - 2) != 0)
			continue;
		while (i > listed && m[i - 1].len > len)
			i--;
		/* of the same bytes, in a table that is not of our making, one is enough */
		if (i > listed && m[i - 1].len == len)
			continue;
		memmove(m + i + 1, m + i, sizeof(*m) * (found - i));
		m[i] = (Match) {(uint16_t) s, (uint16_t) len};
		found++;
	}
	return found;
}

/*
 * At a place where the code has c bytes: where it is then with each of these symbols; and where it is
 * farthest with that many bytes.
 */
static inline void
take_matches(FsstWays *w, uint32_t at, uint32_t c, const Match *m, uint32_t n)
{
	uint32_t	one = w->reach[c + 1] > w->reach[c] ? w->reach[c + 1] : w->reach[c],
				two = w->reach[c + 2];

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	to = at + m[i].len,
					then = c + 1 + (m[i].slot >= 256),
					way = then << 19 | (FSST_MAXSYM - m[i].len) << 15 | m[i].slot;

		w->last[to] = way < w->last[to] ? way : w->last[to];
		one = then == c + 1 && to > one ? to : one;
		two = to > two ? to : two;
	}
	w->reach[c + 1] = (uint8_t) one;
	w->reach[c + 2] = (uint8_t) (two > one ? two : one);
}

uint32_t
sfx_fsst_parse(const Fsst *f, const uint8_t *p, uint32_t n, FsstWays *w)
{
	Match		m[FSST_MAXSYM + 1];
	bool		many = f->nslots > MANY;

	memset(w->last, 0xFF, sizeof(w->last[0]) * (n + 1));
	memset(w->reach, 0, 2 * n + 3);
	w->last[0] = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	c = w->last[i] >> 19,
					found;

		if (w->last[i] == UINT32_MAX ||
			(many && (w->reach[c] >= i + AHEAD || (c > 0 && w->reach[c - 1] > i))))
			continue;
		found = find_matches(f, p + i, n - i, m);
		if (found > LONGEST)
			take_matches(w, i, c, m + found - LONGEST, LONGEST);
		else
			take_matches(w, i, c, m, found);
	}
	return w->last[n] >> 19;
}
