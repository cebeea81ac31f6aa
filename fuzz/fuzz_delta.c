/*
 * fuzz_delta.c - sequences of operations on the delta against a sorted array, in an order that the
 * first byte chooses; comparisons that fail in between must change nothing
 *
 *	make fuzz NAME=delta
 */
#include "delta.h"
#include "hash.h"
#include "../src/core/test/orders.h"
#include <stdlib.h>

#define NNODES	24
#define MAXREF	4096

static uint8_t *nodes[NNODES + 1];

static uint32_t
fz_available(void *ctx)
{
	uint32_t	n = 0;

	(void) ctx;
	for (int i = 1; i <= NNODES; i++)
		n += nodes[i] == NULL;
	return n;
}

/* Each node is a block of its own, so that a read past its end is seen. */
static uint32_t
fz_alloc(void *ctx)
{
	(void) ctx;
	for (uint32_t i = 1; i <= NNODES; i++)
		if (!nodes[i])
		{
			nodes[i] = malloc(SFX_NODE_SIZE);
			return i;
		}
	return SFX_NODE_NULL;
}

static void
fz_free(void *ctx, uint32_t ref)
{
	(void) ctx;
	if (!nodes[ref])
		abort();
	free(nodes[ref]);
	nodes[ref] = NULL;
}

static void *
fz_addr(void *ctx, uint32_t ref)
{
	(void) ctx;
	if (ref == 0 || ref > NNODES || !nodes[ref])
		abort();
	return nodes[ref];
}

typedef struct Ref
{
	uint32_t	len;
	uint32_t	paylen;
	uint8_t		fill;
	uint64_t	tid;
	uint8_t		key[SFX_MAX_ENTRY];
} Ref;

static Ref *ref[MAXREF];
static int	nref;
static const SfxOrder *order;

static int
lower(const SfxPos *p)
{
	int			i = 0;

	while (i < nref)
	{
		SfxPos		r = {ref[i]->key, ref[i]->len, ref[i]->tid};

		if (sfx_order_cmp_pos(order, &r, p) >= 0)
			break;
		i++;
	}
	return i;
}

static bool
at(int i, const SfxPos *p)
{
	return i < nref && ref[i]->len == p->len && ref[i]->tid == p->tid &&
		(p->len == 0 || memcmp(ref[i]->key, p->key, p->len) == 0);
}

static void
same(const SfxDelta *d, const SfxNodeAlloc *a, const SfxCursor *c, int i)
{
	SfxEntry	e;
	SfxPos		p;

	sfx_delta_get(d, a, c, &e);
	p = (SfxPos) {e.key, e.keylen, e.tid};
	if (!at(i, &p) || e.paylen != ref[i]->paylen)
		abort();
	for (uint32_t j = 0; j < e.paylen; j++)
		if (e.payload[j] != ref[i]->fill)
			abort();
}

/* An insert whose at-th comparison fails; if it does not come to that, none at all. */
static void
try_insert(SfxDelta *d, const SfxNodeAlloc *a, const SfxEntry *e, uint64_t at)
{
	SfxDelta	was = *d;
	SfxPos		p = {e->key, e->keylen, e->tid};
	SfxCursor	c;

	if (order == NULL || at == 0)
		return;
	order_calls = 0;
	sfx_delta_seek(d, a, &p, &c);
	if (order_calls < at)
		return;
	order_calls = 0;
	order_fail_at = at;
	if (setjmp(order_failed) == 0)
	{
		sfx_delta_insert(d, a, e);
		abort();
	}
	if (memcmp(&was, d, sizeof(was)) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SfxNodeAlloc a = {NULL, fz_alloc, fz_free, fz_addr, fz_available, NULL};
	SfxDelta	d = {0};
	SfxCursor	c;
	const char *why;
	static uint8_t pay[SFX_MAX_ENTRY];

	nref = 0;
	if (size < 1)
		return 0;
	order = data[0] % (NORDERS + 1) ? &orders[data[0] % (NORDERS + 1) - 1].base : NULL;
	a.order = order;
	data++;
	size--;
	/* operation, shape, TID, payload, two bytes of length, three of key */
	for (; size >= 9; data += 9, size -= 9)
	{
		uint8_t    *key;
		uint32_t	len = data[1] & 1 ? sfx_get16(data + 4) % (SFX_MAX_ENTRY + 1) : data[4] % 24;
		uint32_t	paylen = data[1] & 2 ? data[3] * 11u : 0;
		SfxPos		p;
		int			i,
					rc;

		if (len + paylen > SFX_MAX_ENTRY)
			paylen = SFX_MAX_ENTRY - len;
		key = malloc(len ? len : 1);
		memset(key, data[1] >> 6, len);
		for (uint32_t j = 0; j < 3 && j < len; j++)
			key[data[1] & 4 ? len - 1 - j : j] = data[6 + j];
		p = (SfxPos) {key, len, data[2]};
		i = lower(&p);

		switch (data[0] % 5)
		{
			case 0:
			case 1:
			case 2:
				if (nref == MAXREF)
					break;
				memset(pay, data[3], paylen);
				SfxEntry	e = {key, len, paylen, pay, data[2]};

				try_insert(&d, &a, &e, data[1] >> 3);
				rc = sfx_delta_insert(&d, &a, &e);
				if (rc == SFX_NOMEM)
				{
					if (fz_available(NULL) >= d.height + 2)
						abort();
					break;
				}
				if (rc != at(i, &p))
					abort();
				if (rc == 0)
				{
					memmove(&ref[i + 1], &ref[i], (size_t) (nref - i) * sizeof(ref[0]));
					nref++;
					ref[i] = malloc(sizeof(Ref));
					ref[i]->len = len;
					ref[i]->tid = data[2];
					memcpy(ref[i]->key, key, len);
				}
				ref[i]->paylen = paylen;
				ref[i]->fill = data[3];
				break;
			case 3:
				rc = sfx_delta_remove(&d, &a, &p);
				if (rc != at(i, &p))
					abort();
				if (rc == 1)
				{
					free(ref[i]);
					nref--;
					memmove(&ref[i], &ref[i + 1], (size_t) (nref - i) * sizeof(ref[0]));
				}
				break;
			default:
				if (sfx_delta_seek(&d, &a, &p, &c) != (i < nref))
					abort();
				if (i < nref)
					same(&d, &a, &c, i);
				if (sfx_delta_seek_before(&d, &a, &p, &c) != (i > 0))
					abort();
				if (i > 0)
					same(&d, &a, &c, i - 1);
				/* a filter may be made anew at any time, and denies nothing that is there */
				if (data[0] / 5 % 4 == 3)
					sfx_delta_filter_grow(&d, &a);
				if (at(i, &p) && sfx_delta_absent(&d, &a, sfx_hash_key(key, len)))
					abort();
		}
		free(key);
	}
	if (sfx_delta_verify(&d, &a, &why) != SFX_OK || d.nentries != (uint64_t) nref)
		abort();
	bool		more = sfx_delta_seek(&d, &a, NULL, &c);

	for (int i = 0; i < nref; i++, more = sfx_delta_next(&d, &a, &c))
	{
		if (!more)
			abort();
		same(&d, &a, &c, i);
	}
	if (more)
		abort();
	sfx_delta_free(&d, &a);
	if (fz_available(NULL) != NNODES)
		abort();
	while (nref > 0)
		free(ref[--nref]);
	return 0;
}
