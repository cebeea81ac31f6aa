/*-------------------------------------------------------------------------
 * block_copy.c - a decoded block in less memory
 *-------------------------------------------------------------------------
 */
#include "block_copy.h"

#include <stddef.h>
#include <string.h>

bool
sfx_block_copy(const SfxBlock *b, SfxBlock *to, uint32_t room)
{
	int			nkeys = b->keyless || b->nent == 0 ? 0 : b->nkeys;
	uint32_t	key = nkeys > 0 ? b->keyoff[0] : 0;
	uint32_t	keys = nkeys > 0 ? b->keyoff[nkeys] - key : 0;
	uint32_t	pay = b->haspay && b->nent > 0 ? b->payoff[0] : 0;
	uint32_t	pays = b->haspay && b->nent > 0 ? b->payoff[b->nent] - pay : 0;

	if ((uint64_t) keys + pays + SFX_COPY_SLACK > room)
		return false;
	memcpy(to, b, offsetof(SfxBlock, tid));
	memcpy(&to->haspay, &b->haspay, offsetof(SfxBlock, loose) - offsetof(SfxBlock, haspay));
	if (!b->tidless)
		memcpy(to->tid, b->tid, b->nent * sizeof(b->tid[0]));
	if (b->dups)
		memcpy(to->keyno, b->keyno, b->nent * sizeof(b->keyno[0]));
	to->keyoff[0] = to->keyoff[1] = 0;
	for (int k = 1; k <= nkeys; k++)
		to->keyoff[k] = b->keyoff[k] - key;
	if (b->bits)
		memcpy(to->loose, b->loose, nkeys);
	memcpy(to->keys, b->keys + key, keys);
	if (!b->haspay)
		return true;
	for (int i = 0; i <= b->nent; i++)
		to->payoff[i] = b->nent > 0 ? b->payoff[i] - pay : 0;
	to->payload = to->keys + keys;
	if (pays > 0)
		memcpy(to->keys + keys, b->payload + pay, pays);
	return true;
}
