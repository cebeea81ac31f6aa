/*-------------------------------------------------------------------------
 * block_copy.h - a decoded block in less memory
 *-------------------------------------------------------------------------
 */
#ifndef SFX_BLOCK_COPY_H
#define SFX_BLOCK_COPY_H

#include "leaf.h"

/* The size of a block whose keys have room for so many bytes. */
#define SFX_BLOCK_SIZE(room)	(offsetof(SfxBlock, keys) + (room))

/*
 * Copy a decoded block to one that has room for so many bytes of keys, with its payloads: they come
 * after the keys.  SFX_COPY_SLACK bytes stay free, for readers that go by steps.  False: there is
 * no room, and nothing was done.
 */
#define SFX_COPY_SLACK	64
extern bool sfx_block_copy(const SfxBlock *b, SfxBlock *to, uint32_t room);

#endif							/* SFX_BLOCK_COPY_H */
