/*-------------------------------------------------------------------------
 * leaf_sum.c - numbers in the keys of a coded block
 *-------------------------------------------------------------------------
 */
#include "leaf_sum.h"

#include "bits.h"
#include "leaf_block.h"

/* The form of keys whose bytes are those of two prefixes and of a word. */
typedef struct Form
{
	const SfxLeaf *leaf;
	const Block *block;
	uint32_t	prefixlen;		/* of both */
	uint32_t	width;			/* bytes of the word, its first ones: 0 to 8 */
	uint64_t	vary;			/* bits of the word that differ between keys */
	uint64_t	value;			/* the others */
} Form;

/* How a word becomes a number: the bits of the number that do not vary are constant. */
typedef struct Numbers
{
	bool		vary;			/* false: all bits are constant */
	uint64_t	constant;		/* bits that all numbers have */
	unsigned	up;				/* that many first bits of the word are not the number's, ... */
	unsigned	down;			/* ... and that many last bits of the remaining ones */
} Numbers;

static bool
find_form(const SfxLeaf *l, const Block *k, const SfxPlace *place, Form *f)
{
	f->leaf = l;
	f->block = k;
	f->prefixlen = l->priv[PV_PREFIXLEN] + k->prefixlen;
	f->width = 0;
	f->vary = f->value = 0;
	if (k->kind == SFX_BLK_FIXED && k->fix.width <= 8)
	{
		f->width = (uint32_t) k->fix.width;
		f->vary = k->fix.vary[0];
		f->value = k->fix.value[0];
	}
	else if (k->kind != SFX_BLK_ONE)
		return false;
	return f->prefixlen + f->width == place->keylen;
}

/* Byte i of every key.  False: it differs between keys. */
static bool
constant_byte(const Form *f, uint32_t i, uint8_t *byte)
{
	uint32_t	p = f->leaf->priv[PV_PREFIXLEN];
	unsigned	shift;

	if (i < p)
		*byte = f->leaf->body[f->leaf->priv[PV_PREFIX] + i];
	else if (i < f->prefixlen)
		*byte = f->block->prefix[i - p];
	else
	{
		shift = 56 - 8 * (i - f->prefixlen);
		*byte = (uint8_t) (f->value >> shift);
		return (uint8_t) (f->vary >> shift) == 0;
	}
	return true;
}

static bool
find_numbers(const Form *f, const SfxPlace *place, Numbers *m)
{
	uint32_t	end = place->at + place->width;
	uint32_t	begin = place->at < f->prefixlen ? f->prefixlen : place->at;
	uint32_t	inside = end > begin ? end - begin : 0; /* bytes of the number in the word */
	uint64_t	word = f->value;
	uint8_t		byte;

	if (end > place->keylen || !constant_byte(f, place->at - 1, &byte) || byte != place->mark)
		return false;
	m->constant = 0;
	for (uint32_t i = place->at; i < end && i < f->prefixlen; i++)
	{
		if (!constant_byte(f, i, &byte))
			return false;
		m->constant = m->constant << 8 | byte;
	}
	m->vary = inside > 0;
	m->up = m->down = 0;
	if (!m->vary)
		return true;
	m->up = 8 * (begin - f->prefixlen);
	m->down = 64 - 8 * inside;
	word = word << m->up >> m->down;
	m->constant = inside == 8 ? word : m->constant << 8 * inside | word;
	return true;
}

/*
 * Shift the bits of a block's integers, v, to where the number has them; they are there already if
 * all that varies are the number's last bits.
 */
static void
shift_into_place(const Form *f, const Numbers *m, uint64_t *v, int n)
{
	unsigned	bits = sfx_popcount(f->vary);

	if (m->up == 0 && f->vary == sfx_mask(bits) << m->down)
		return;
	sfx_kernels->deposit(v, n, f->vary, 0);
	for (int i = 0; i < n; i++)
		v[i] = v[i] << m->up >> m->down;
}

static void
find_bounds(const uint64_t *v, int n, SfxSum *sum)
{
	uint64_t	least = v[0],
				most = v[0];

	for (int i = 1; i < n; i++)
	{
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	sum->least += least;
	sum->most += most;
}

/*
 * Add up the numbers of keys [from, to), v, without their constant bits.  s: NULL if there are no
 * duplicates.
 */
static void
add_up(const uint64_t *v, const Lists *s, int from, int to, SfxSum *sum)
{
	uint64_t	low,
				high;

	if (s == NULL)
	{
		sfx_kernels->sum_halves(v, to - from, &low, &high);
		sum->low += low;
		sum->high += high;
		return;
	}
	for (int i = from; i < to; i++)
	{
		uint64_t	times = (uint64_t) (s->ends[i] - (i > 0 ? s->ends[i - 1] : 0));

		sum->low += (uint32_t) v[i - from] * times;
		sum->high += (v[i - from] >> 32) * times;
	}
}

/*
 * Read what is needed of the numbers of a range of keys, and sum up.  The caller adds the constant
 * bits to `least` and `most`.
 */
static int
read_numbers(const Form *f, const Numbers *m, const Lists *s, const SfxKeyRange *r, int want,
			 SfxSum *sum)
{
	uint64_t	v[SFX_INT_MAX];
	const SfxInt *ints = &f->block->fix.ints;
	int			n = r->to - r->from;

	if ((want & (SFX_WANT_SUM | SFX_WANT_BOUNDS)) == 0)
	{
		/* only the ends */
		if (sfx_int_at(ints, r->from, &v[0]) != SFX_OK ||
			sfx_int_at(ints, r->to - 1, &v[1]) != SFX_OK)
			return SFX_CORRUPT;
		n = 2;
	}
	else if (sfx_int_read(ints, r->from, r->to, v) != SFX_OK)
		return SFX_CORRUPT;
	shift_into_place(f, m, v, n);
	if (want & SFX_WANT_SUM)
		add_up(v, s, r->from, r->to, sum);
	if (want & SFX_WANT_BOUNDS)
		find_bounds(v, n, sum);
	else
	{
		sum->least += v[0];
		sum->most += v[n - 1];
	}
	return SFX_OK;
}

int
sfx_leaf_sum(const SfxLeaf *l, int b, const SfxPos *lo, const SfxPos *hi, const SfxPlace *place,
			 int want, SfxSum *sum)
{
	Block		k;
	Form		f;
	Numbers		m = {0};
	SfxKeyRange r;
	Lists		s;

	memset(sum, 0, sizeof(SfxSum));
	if (sfx_leaf_open_block(l, b, &k) != SFX_OK)
		return SFX_CORRUPT;
	if (!find_form(l, &k, place, &f) || (place->at > 0 && !find_numbers(&f, place, &m)))
		return 0;
	if (sfx_leaf_find_range(l, b, &k, lo, hi, &r) != SFX_OK)
		return SFX_CORRUPT;
	if (r.from >= r.to)
		return 1;
	/* a bound divides a posting list */
	if (r.lo > 0 || r.hi != UINT64_MAX)
		return 0;
	if (k.dups && sfx_leaf_open_lists(&k, r.from, r.to, &s) != SFX_OK)
		return SFX_CORRUPT;
	sum->n = k.dups ? s.ends[r.to - 1] - (r.from > 0 ? s.ends[r.from - 1] : 0) : r.to - r.from;
	if (place->at == 0 || want == 0)
		return 1;
	if (m.vary && read_numbers(&f, &m, k.dups ? &s : NULL, &r, want, sum) != SFX_OK)
		return SFX_CORRUPT;
	sum->low += (uint64_t) sum->n * (uint32_t) m.constant;
	sum->high += (uint64_t) sum->n * (m.constant >> 32);
	sum->least += m.constant;
	sum->most += m.constant;
	return 1;
}
