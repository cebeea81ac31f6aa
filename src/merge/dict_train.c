/*-------------------------------------------------------------------------
 * dict_train.c - making dictionaries: samples of rests, the choice of a scheme, whether it pays
 *
 * A dictionary is trained on rests: what front coding leaves of keys that stand among their
 * neighbors.  A merge has rests at hand.  A build has none before it writes its first leaf, so it
 * estimates them.  It samples keys from blocks all over the table and sorts them.  From each key it
 * removes the bytes shared with the previous key, and those that would be shared if all keys were
 * there.  The latter are extrapolated: shared bytes grow by about the same number each time the
 * number of keys doubles, and halving the sample shows that number.  (It is halved by blocks: if
 * neighbors in the table are neighbors in the index, the sample has true neighbors already, and
 * halving changes nothing.)
 *
 * What a scheme saves is measured on rests that it was not trained on.
 *
 * Bytes and time: one percent of a key's bytes, rest and lengths, is taken to be worth 1.5 ns when
 * the key is read.  FSST takes some 6 ns more than no dictionary, so it has to save 4 %.  Codes of
 * bits, which are read bit by bit, take 10 to 20 ns more than FSST, so they have to save a tenth
 * more than FSST.  They can for random symbols of a small alphabet: digits, base 64.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "column.h"
#include "cpu.h"
#include "dict.h"
#include "dict_kinds.h"
#include "dict_train.h"
#include "hope.h"
#include "key.h"
#include "leaf.h"
#include "merge_lock.h"
#include "meta.h"
#include "settings.h"
#include "stats.h"
#include "strblock.h"

#include <math.h>

#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define LIMIT_GRAM		16384	/* intervals of a dictionary: decoding tables of this size fit in
								 * the processor's second-level cache */
#define LIMIT_ALM		4096
#define TEST_SHARE		4		/* one rest in so many is kept for measuring */
#define MIN_RESTS		512
#define MIN_GAIN		0.04	/* of key and rest headers, if the user has not asked for a
								 * dictionary */
#define ENTRY_OVERHEAD	2.0		/* bytes of a key beside its rest, roughly */
#define SLOWER_GAIN		0.10	/* share that a code of bits has to save over one of whole bytes */
#define NEW_GAIN		0.10	/* share that a new dictionary has to save over the previous one */
#define PACKED_KEYS		200.0	/* of a block, roughly */
#define PACKED_RUN		16.0
#define PAYS_PAGES		2.0		/* times its own size that a dictionary has to save */

/* When a merge trains a dictionary. */
#define REVIEW_BYTES	65536	/* bytes of rests in the sample, before the end of the merge */
#define KEPT_FOR_LATER	2		/* dictionaries that a review before the merge's end leaves room
								 * for: it has seen the smallest keys only */
#define MIN_ASKED_RESTS	64		/* rests in the sample, if the user has asked for a scheme */
#define DRIFT			1.15	/* times the rate that the dictionary promised */
#define LOOK_MERGES		8		/* a new one is tried every so many merges, ... */
#define LOOK_SHARE		0.25	/* ... or if one merge brought so many of all entries */

/* The sample of a build. */
#define SAMPLE_KEYS		16384
#define SAMPLE_BYTES	(2 * 1024 * 1024)
#define SAMPLE_SHARE	32		/* one entry in so many, so that training stays a small part of a
								 * build */
#define MIN_ENTRIES		(SAMPLE_SHARE * MIN_RESTS)

/* Bytes of a rest of that length with the length byte's extension, as in strblock.c. */
static inline uint32
stored_size(uint32 len)
{
	return len < 15 ? len : len < 15 + 224 ? len + 1 : len + 2;
}

/* ---- measuring ---- */

static double
raw_mean(const SfxHopeKey *rests, uint32 n)
{
	double		sum = 0;

	for (uint32 i = 0; i < n; i++)
		sum += stored_size(rests[i].len);
	return sum / Max(n, 1);
}

/*
 * The distinct bytes of rests, numbered; bits: in a number, 0 if there are too many to be packed.
 */
typedef struct Alphabet
{
	uint32		n;
	unsigned	bits;
	uint8		number[256];
} Alphabet;

static void
find_alphabet(const SfxHopeKey *rests, uint32 n, Alphabet *a)
{
	bool		seen[256] = {false};

	a->n = 0;
	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j < rests[i].len; j++)
		{
			uint8		b = rests[i].key[j];

			if (!seen[b])
				a->number[b] = (uint8) a->n++;
			seen[b] = true;
		}
	a->bits = a->n == 0 || a->n > SFX_SYMBOLS ? 0 : sfx_symbol_bits(a->n);
}

/*
 * Mean size without a dictionary: as they are, or packed if they have few distinct bytes
 * (strblock.h).
 */
static double
plain_mean(const Alphabet *a, const SfxHopeKey *rests, uint32 n)
{
	double		raw = raw_mean(rests, n);
	double		bytes = 0;

	if (a->bits == 0)
		return raw;
	for (uint32 i = 0; i < n; i++)
		bytes += (rests[i].len * a->bits + 7) / 8;
	/* the alphabet is stored once a block, the least length once a run */
	return Min(raw, bytes / Max(n, 1) + (a->n + 1) / PACKED_KEYS + 1.0 / PACKED_RUN);
}

/*
 * Do bytes depend so little on the previous byte that no dictionary can be better than packing?
 * Judged by the conditional entropy, which is underestimated for few rests: then the answer is no.
 */
static bool
packs_best(const Alphabet *a, const SfxHopeKey *rests, uint32 n)
{
	uint32	   *pairs;
	uint32		before[SFX_SYMBOLS] = {0};
	uint64		total = 0;
	double		bits = 0;

	if (a->bits == 0)
		return false;
	pairs = palloc0(SFX_SYMBOLS * SFX_SYMBOLS * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 1; j < rests[i].len; j++)
		{
			uint8		x = a->number[rests[i].key[j - 1]];

			pairs[x * SFX_SYMBOLS + a->number[rests[i].key[j]]]++;
			before[x]++;
			total++;
		}
	for (int i = 0; i < SFX_SYMBOLS * SFX_SYMBOLS; i++)
		if (pairs[i] > 0)
			bits += pairs[i] * log2((double) before[i / SFX_SYMBOLS] / pairs[i]);
	pfree(pairs);
	return total > 0 && bits / total >= (1 - MIN_GAIN) * a->bits;
}

static double
coded_mean(const SfxHope *hope, const SfxHopeKey *rests, uint32 n)
{
	uint8	   *buf = palloc(3 * SFX_MAX_ENTRY + 64);
	double		sum = 0;

	for (uint32 i = 0; i < n; i++)
	{
		int			len = sfx_hope_encode(hope, rests[i].key, rests[i].len, buf, 3 * SFX_MAX_ENTRY + 64);

		sum += len < 0 ? stored_size(rests[i].len) + 1 : stored_size(len);
	}
	pfree(buf);
	return sum / Max(n, 1);
}

/* ---- schemes ---- */

static bool
build_one(SfxHopeScheme scheme, const SfxHopeKey *rests, uint32 n, SfxNewDict *d)
{
	uint32		limit = scheme >= SFX_HOPE_ALM ? LIMIT_ALM : LIMIT_GRAM;
	Size		cap = SFX_HOPE_DICT_BOUND(scheme, limit);
	Size		bytes = 0;
	Size		size;
	void	   *scratch;

	for (uint32 i = 0; i < n; i++)
		bytes += rests[i].len;
	size = sfx_hope_build_size(scheme, limit, bytes);
	scratch = palloc_extended(size, MCXT_ALLOC_HUGE);
	d->bytes = palloc(cap);
	d->scheme = scheme;
	d->len = sfx_hope_build(scheme, limit, rests, n, scratch, size, d->bytes, cap);
	pfree(scratch);
	if (d->len > 0 && d->len <= SFX_DICT_MAX_BYTES)
		return true;
	pfree(d->bytes);
	return false;
}

/*
 * Build a dictionary and measure it on the test rests.  Returns bytes per rest with the
 * dictionary's share (*coded: without it); INFINITY: none was built.
 */
static double
try_scheme(SfxHopeScheme scheme, const SfxHopeKey *learn, uint32 nlearn, const SfxHopeKey *test, uint32 ntest,
		   double entries, SfxNewDict *d, double *coded)
{
	const SfxHope *hope;

	if (!build_one(scheme, learn, nlearn, d))
		return INFINITY;
	hope = sfx_dict_open_new(d);
	if (hope == NULL)
		elog(ERROR, "surfidx: a dictionary just made cannot be opened");
	*coded = coded_mean(hope, test, ntest);
	pfree((void *) hope);
	return *coded + (double) sfx_dict_pages(d->len) * BLCKSZ / entries;
}

/*
 * Split a sample into rests that a dictionary is trained on and rests that it is measured on;
 * returns the number of the latter.  A small sample serves as both.
 */
static uint32
split_sample(const SfxHopeKey *rests, uint32 n, SfxHopeKey *learn, SfxHopeKey *test)
{
	uint32		ntest = 0;

	if (n < MIN_RESTS)
	{
		memcpy(learn, rests, sizeof(SfxHopeKey) * n);
		memcpy(test, rests, sizeof(SfxHopeKey) * n);
		return n;
	}
	for (uint32 i = 0; i < n; i++)
		if (i % TEST_SHARE == TEST_SHARE - 1)
			test[ntest++] = rests[i];
		else
			learn[i - ntest] = rests[i];
	return ntest;
}

bool
sfx_dict_train(int option, const SfxHopeKey *rests, uint32 n, double entries, const SfxHope *old, SfxNewDict *new)
{
	/*
	 * bytes first, since they tell quickly whether there is anything to gain; words never save as
	 * much over FSST as they would have to
	 */
	static const SfxHopeScheme automatic[] = {SFX_HOPE_SINGLE, SFX_FSST, SFX_HOPE_DOUBLE};
	const SfxHopeScheme asked = option;
	const SfxHopeScheme *schemes = option == SFX_HOPE_AUTO ? automatic : &asked;
	int			nschemes = option == SFX_HOPE_AUTO ? lengthof(automatic) : 1;
	SfxHopeKey *learn = palloc(sizeof(SfxHopeKey) * Max(n, 1));
	SfxHopeKey *test = palloc(sizeof(SfxHopeKey) * Max(n, 1));
	uint32		nlearn,
				ntest;
	double		best = INFINITY,
				coded = 0,
				raw;
	Alphabet	alphabet;

	if (option == SFX_HOPE_OFF || n == 0 || (option == SFX_HOPE_AUTO && n < MIN_RESTS))
		return false;
	ntest = split_sample(rests, n, learn, test);
	nlearn = n - ntest > 0 ? n - ntest : n;
	find_alphabet(rests, n, &alphabet);
	if (option == SFX_HOPE_AUTO && packs_best(&alphabet, rests, n))
		return false;
	raw = plain_mean(&alphabet, test, ntest);
	if (old)
		raw = Min(raw, coded_mean(old, test, ntest));
	/* not even the largest possible saving pays for a dictionary */
	if (option == SFX_HOPE_AUTO && raw * entries < PAYS_PAGES * BLCKSZ)
		return false;
	for (int i = 0; i < nschemes; i++)
	{
		SfxNewDict	d;
		double		c = 0,
					gain = schemes[i] == SFX_FSST ? -SLOWER_GAIN : SLOWER_GAIN, /* it is tried after
																				 * bytes, but read
																				 * faster */
					total;

		CHECK_FOR_INTERRUPTS();
		total = try_scheme(schemes[i], learn, nlearn, test, ntest, Max(entries, 1), &d, &c);
		if (total + (best < INFINITY ? gain * (best + ENTRY_OVERHEAD) : 0) >= best)
			continue;
		best = total;
		coded = c;
		*new = d;
		/* if single bytes are hardly compressible, a search for words is not worth it */
		if (option == SFX_HOPE_AUTO && i == 0 && coded > (1 - MIN_GAIN / 2) * raw_mean(test, ntest))
			return false;
	}
	if (best == INFINITY)
		return false;
	if (old && coded > (1 - NEW_GAIN) * raw)
		return false;
	if (option == SFX_HOPE_AUTO &&
		(raw - coded < MIN_GAIN * (raw + ENTRY_OVERHEAD) ||
		 (raw - coded) * entries < PAYS_PAGES * BLCKSZ * sfx_dict_pages(new->len)))
		return false;
	raw = old ? raw_mean(rests, n) : raw_mean(test, ntest);
	pfree(learn);
	pfree(test);
	new->rate = raw > 0 ? (int) Min(1000 * coded / raw, 10000) : 1000;
	return true;
}

/*
 * Which of n dictionaries codes the rests in the fewest bytes?  -1: n is 0.  *coded: that mean.
 */
static int
best_choice(const SfxDictChoice *choice, int n, const SfxHopeKey *rests, uint32 nrests,
			double *coded)
{
	int			best = -1;

	for (int i = 0; i < n; i++)
	{
		double		mean = coded_mean(choice[i].hope, rests, nrests);

		if (best >= 0 && mean >= *coded)
			continue;
		best = i;
		*coded = mean;
	}
	return best;
}

/*
 * Make dictionaries from a sample of n rests in the order of their keys, at most `most`: one for
 * each kind, unless one that there is, in old or just made, will do.  Adds to raw and stored of
 * those in old that do what the sample's rests take.  Returns how many were made.
 */
static int
train_kinds(int option, const SfxHopeKey *rests, uint32 n, double entries, SfxDictChoice *old,
			int nold, SfxNewDict *new, int most)
{
	SfxDictChoice choice[2 * SFX_MAX_DICTS];
	SfxHopeKey *some = palloc(sizeof(SfxHopeKey) * Max(n, 1));
	uint8	   *kind = palloc(Max(n, 1));
	int			kinds = sfx_rest_kinds(rests, n, most, kind);
	int			made = 0;

	memcpy(choice, old, sizeof(SfxDictChoice) * nold);
	for (int k = 0; k < kinds; k++)
	{
		uint32		nsome = 0;
		double		coded = 0;
		int			best;

		for (uint32 i = 0; i < n; i++)
			if (kind[i] == k)
				some[nsome++] = rests[i];
		best = best_choice(choice, nold + made, some, nsome, &coded);
		if (sfx_dict_train(option, some, nsome, entries * nsome / n,
						   best >= 0 ? choice[best].hope : NULL, &new[made]))
		{
			choice[nold + made].hope = sfx_dict_open_new(&new[made]);
			made++;
		}
		else if (best >= 0 && best < nold)
		{
			old[best].raw += raw_mean(some, nsome) * nsome;
			old[best].stored += coded * nsome;
		}
	}
	for (int i = 0; i < made; i++)
		pfree((void *) choice[nold + i].hope);
	pfree(some);
	pfree(kind);
	return made;
}

/* Keys of fixed length mostly are integers, and the others have few bytes in common. */
bool
sfx_dict_possible(Relation index, const SfxKeyDesc *kd)
{
	if (!sfx_dict_wanted(index))
		return false;
	for (int i = 0; i < kd->nkeys; i++)
		if (kd->col[i].raw ? kd->col[i].typlen < 0 : kd->col[i].enc->width == 0)
			return true;
	return false;
}

/* ---- merges ---- */

/*
 * Is another dictionary tried even though those used keep their promises?  They may have
 * promised little, for keys that are few by now.  Yes for one merge in LOOK_MERGES, and for a merge that
 * brought more than LOOK_SHARE of the entries.
 */
static bool
is_looked_at(const SfxMeta *meta, const SfxMergeStats *stats)
{
	return meta->merges % LOOK_MERGES == LOOK_MERGES - 1 ||
		stats->taken > sfx_meta_entries(meta) * LOOK_SHARE;
}

void
sfx_dict_review(Relation index, SfxMeta *meta, SfxMergeStats *stats, bool last)
{
	SfxRestSample *sample = stats->sample;
	int			option = sfx_opt_hope(index);
	bool		drifted = stats->stored > DRIFT * stats->promised;
	double		entries = sfx_meta_entries(meta);
	SfxDictChoice old[SFX_MAX_DICTS];
	SfxNewDict	new[SFX_MAX_DICTS];
	SfxHopeKey *rests;
	int			room = SFX_MAX_DICTS - (int) meta->ndicts;
	int			nold,
				nnew;

	Assert(sfx_merge_lock_held(index));
	if (sample == NULL || stats->rests == 0 || room == 0 ||
		(!last && stats->rests < (uint64) REVIEW_BYTES << stats->reviews) ||
		sample->nkeys < (option == SFX_HOPE_AUTO ? MIN_RESTS : MIN_ASKED_RESTS))
		return;
	stats->rests = stats->stored = stats->promised = 0;
	nold = sfx_dicts_for_writing(index, meta, old);
	if (nold > 0 && option != SFX_HOPE_AUTO && option != sfx_hope_scheme(old[0].hope))
		nold = 0;
	if (nold > 0 && !drifted && !(last && stats->whole && is_looked_at(meta, stats)))
		return;
	/* training takes tens of milliseconds */
	stats->reviews++;
	/* before the merge's end, another dictionary has to pay by the leaves written so far */
	if (nold > 0 && !last)
		entries = Min(entries, (double) sample->seen * SFX_STR_GROUP);
	rests = palloc(sizeof(SfxHopeKey) * SFX_SAMPLE_KEYS);
	nnew = train_kinds(option, rests, sfx_sample_keys(sample, rests), Max(entries, 1), old, nold,
					   new, last ? room : Max(room - KEPT_FOR_LATER, 1));
	for (int i = 0; i < nnew; i++)
		(void) sfx_dict_add(index, meta, &new[i]);
	for (int i = 0; i < nold; i++)
		if (old[i].raw > 0)
			sfx_dict_set_rate(index, meta, old[i].number, Min(old[i].stored * 1000 / old[i].raw, 10000));
}

/* ---- the sample of a build ---- */

typedef struct Sample
{
	Relation	index;
	const SfxKeyDesc *kd;
	int			n;
	uint32		used;
	uint8	   *bytes;			/* keys, one after the other */
	struct SampleKey
	{
		uint8	   *key;
		uint32		len;
		BlockNumber block;		/* number of the visit to its block */
	}		   *key;
	BlockNumber block;
	MemoryContext rowcxt;		/* for what the encoding of a row allocates */
} Sample;

static void
sample_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	Sample	   *s = arg;
	MemoryContext old;
	int			len;

	if (s->n == SAMPLE_KEYS || s->used + SFX_MAX_ENTRY > SAMPLE_BYTES)
		return;
	old = MemoryContextSwitchTo(s->rowcxt);
	len = sfx_key_encode(s->kd, s->index, values, isnull, s->bytes + s->used);
	MemoryContextSwitchTo(old);
	MemoryContextReset(s->rowcxt);
	s->key[s->n].key = s->bytes + s->used;
	s->key[s->n].len = len;
	s->key[s->n].block = s->block;
	s->n++;
	s->used += len;
}

static int
cmp_keys(const void *a, const void *b)
{
	const struct SampleKey *x = a;
	const struct SampleKey *y = b;

	return sfx_cmp_bytes(x->key, x->len, y->key, y->len);
}

/*
 * By how many bytes does the prefix that a key shares with its predecessor grow if the number of
 * keys doubles?  Keys of even and of odd blocks are two halves; the result is the mean of what keys
 * share with their predecessor among all, less what they share with the predecessor in their own
 * half.  The same keys are compared both times, since two halves never have the same mixture of
 * keys.
 */
static double
shared_by_doubling(const Sample *s)
{
	const struct SampleKey *prev = NULL;
	uint32		among_own[2] = {0, 0};	/* least prefix shared since the last key of a half */
	bool		seen[2] = {false, false};
	double		sum = 0;
	int			n = 0;

	for (int i = 0; i < s->n; i++)
	{
		const struct SampleKey *k = &s->key[i];
		int			half = k->block % 2;
		uint32		lcp = prev ? sfx_lcp(prev->key, prev->len, k->key, k->len) : 0;

		if (prev && lcp == k->len)
			continue;
		prev = k;
		among_own[0] = Min(among_own[0], lcp);
		among_own[1] = Min(among_own[1], lcp);
		if (seen[half])
		{
			sum += lcp - among_own[half];
			n++;
		}
		seen[half] = true;
		among_own[half] = PG_UINT32_MAX;
	}
	return n > 0 ? sum / n : 0;
}

/*
 * The last byte, if all keys have the same one, is stored once for each block and is part of no
 * rest: 1 then, else 0.
 */
static uint32
common_end(const Sample *s)
{
	for (int i = 0; i < s->n; i++)
		if (s->key[i].len == 0 || s->key[i].key[s->key[i].len - 1] != s->key[0].key[s->key[0].len - 1])
			return 0;
	return 1;
}

/*
 * Estimate the rests that the sample's keys would have among so many entries, into rests (pointers
 * into the keys); returns their number.
 */
static uint32
estimate_rests(Sample *s, double entries, SfxHopeKey *rests)
{
	double		more;
	uint32		n = 0;
	uint32		cut = common_end(s);

	qsort(s->key, s->n, sizeof(*s->key), cmp_keys);
	more = shared_by_doubling(s) * log2(Max(entries / Max(s->n, 1), 1));
	for (int i = 1; i < s->n; i++)
	{
		const struct SampleKey *k = &s->key[i];
		uint32		lcp = sfx_lcp(k[-1].key, k[-1].len, k->key, k->len);
		uint32		len = k->len - Min(cut, k->len);

		/* the fraction of `more` is spread over the keys */
		uint32		from = lcp + (uint32) (more + (i % 16) / 16.0);

		if (lcp == k->len)
			continue;
		/* a rest keeps a byte at least, by which its key differs */
		from = len > 0 ? Min(from, len - 1) : 0;
		rests[n].key = k->key + from;
		rests[n].len = len - from;
		n++;
	}
	return n;
}

/*
 * A stride of some 0.618 n that is coprime to n: multiples of it modulo n visit every number below
 * n, and the first of them, however few, are spread over all.
 */
static BlockNumber
scattering_stride(BlockNumber n)
{
	for (BlockNumber stride = (BlockNumber) (n * 0.6180339887);; stride++)
	{
		BlockNumber a = n,
					b = stride;

		while (b > 0)
		{
			BlockNumber rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return stride;
	}
}

/*
 * Read blocks evenly spread over the table until the sample is large enough.  Long keys may fill
 * the sample before all chosen blocks were read.  Therefore blocks are visited in scattered order
 * and not from the table's beginning: rows loaded last may be of another kind.
 */
static void
sample_heap(Relation heap, Relation index, const IndexInfo *info, double entries, Sample *s)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(heap);
	IndexInfo	copy = *info;
	double		want = Min(Max(entries / SAMPLE_SHARE, MIN_RESTS), SAMPLE_KEYS);
	double		per_block = Max(entries / Max(nblocks, 1), 0.1);
	BlockNumber take = (BlockNumber) Min(ceil(want / per_block), (double) nblocks);
	BlockNumber stride = scattering_stride(Max(take, 1));

	/* reading rows must not wait for other transactions, as a uniqueness check would */
	copy.ii_Unique = false;
	copy.ii_ExclusionOps = NULL;
	for (BlockNumber i = 0; i < take; i++)
	{
		uint64		place = (uint64) i * stride % take;
		BlockNumber blkno = (BlockNumber) (place * nblocks / take);

		CHECK_FOR_INTERRUPTS();
		s->block = i;			/* in order of visits, so that even and odd ones are alike wherever
								 * the sampling ends */
		table_index_build_range_scan(heap, index, &copy, false, false, false, blkno, 1,
									 sample_row, s, NULL);
		if (s->n == SAMPLE_KEYS || s->used + SFX_MAX_ENTRY > SAMPLE_BYTES)
			break;
	}
}

bool
sfx_dict_train_from_heap(Relation heap, Relation index, const IndexInfo *info, const SfxKeyDesc *kd, double entries,
						 SfxNewDict *new)
{
	Sample		s = {.index = index,.kd = kd};
	SfxHopeKey *rests;
	bool		made;

	if (!sfx_dict_possible(index, kd) || entries < 1 ||
		(sfx_opt_hope(index) == SFX_HOPE_AUTO && entries < MIN_ENTRIES) ||
		heap->rd_tableam != GetHeapamTableAmRoutine())
		return false;
	s.bytes = palloc(SAMPLE_BYTES);
	s.key = palloc(sizeof(*s.key) * SAMPLE_KEYS);
	s.rowcxt = AllocSetContextCreate(CurrentMemoryContext, "surfidx sample row", ALLOCSET_DEFAULT_SIZES);
	sample_heap(heap, index, info, entries, &s);
	rests = palloc(sizeof(SfxHopeKey) * Max(s.n, 1));
	made = sfx_dict_train(sfx_opt_hope(index), rests, estimate_rests(&s, entries, rests), entries, NULL, new);
	pfree(rests);
	pfree(s.key);
	pfree(s.bytes);
	MemoryContextDelete(s.rowcxt);
	return made;
}
