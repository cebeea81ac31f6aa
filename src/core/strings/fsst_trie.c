/*-------------------------------------------------------------------------
 * fsst_trie.c - finding symbols in a string, and dividing it for the shortest code (trie: fsst.h)
 *
 * Nine of ten symbols that share three bytes with a place do not begin there, and the more symbols
 * there are, the more do so.  In a trie all that begin there lie on one way, and one or a few at
 * its end are compared.
 *
 * Cells are as many as symbols, one for each that is entered, and those that come when a list has
 * become a node.  The latter are limited, so that a table of any symbols has its room: from there
 * on lists grow.
 *-------------------------------------------------------------------------
 */
#include "fsst.h"

#define LIST		2			/* symbols in a list, before it becomes a node */

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
	Trie		t = {.f = (Fsst *) f,.cells = (uint64_t *) fsst_cells(f),.next = (uint16_t *) fsst_next(f)};

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
			if (f->slot[s].len > len && f->slot[s].len <= n && memcmp(f->slot[s].byte, p, f->slot[s].len) == 0)
			{
				best = s;
				len = f->slot[s].len;
			}
	return best;
}

uint32_t
sfx_fsst_parse(const Fsst *f, const uint8_t *p, uint32_t n, uint16_t *pick)
{
	uint16_t	cost[FSST_CHUNK + 16];	/* bytes of the code from there on */
	const uint16_t *next = fsst_next(f);
	uint64_t	x = 0,			/* the next 16 bytes */
				y = 0;

	for (uint32_t i = 1; i < 16; i++)
		cost[n + i] = 4 * FSST_CHUNK;	/* what ends there is too long */
	cost[n] = 0;
	for (uint32_t i = n; i-- > 0;)
	{
		uint32_t	best = f->one[p[i]],
					least = cost[i + 1] + 1u + (best >= 256),
					len = 1,
					cell = i + 1 < n ? fsst_cell(f, p[i], p[i + 1]) : 0;

		y = y << 8 | x >> 56;
		x = x << 8 | p[i];
		/* of two ways that cost the same the one with the longer symbol is read faster */
		for (uint32_t d = 2;; d++)
		{
			uint32_t	s = cell & FSST_CELL_SLOT,
						c = cost[i + d] + 1u + (s >= 256) + (s == 0 ? 8 * FSST_CHUNK : 0);

			best = c <= least ? s : best;
			len = c <= least ? d : len;
			least = c <= least ? c : least;
			if ((cell & FSST_CELL_LIST) || cell >> 16 == 0 || i + d >= n)
				break;
			cell = fsst_cell(f, cell >> 16, p[i + d]);
		}
		for (uint32_t s = cell & FSST_CELL_LIST ? cell >> 16 : 0; s != 0; s = next[s])
		{
			uint32_t	k = f->slot[s].len,
						c = cost[i + k] + 1u + (s >= 256);

			if (c < least + (k > len) && fsst_begins(&f->slot[s], x, y))
			{
				best = s;
				len = k;
				least = c;
			}
		}
		cost[i] = (uint16_t) least;
		pick[i] = (uint16_t) best;
	}
	return cost[0];
}
