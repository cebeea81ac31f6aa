/*-------------------------------------------------------------------------
 * leaf_format.h - constants of the leaf body, shared by its readers (leaf_block.h) and the packer
 * (leaf_write.c) and private to them
 *
 * The layout, with byte offsets, is described at the top of leaf.c.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_LEAF_FORMAT_H
#define SFX_LEAF_FORMAT_H

#include "block_format.h"
#include "leaf.h"

#define SFX_LEAF_VERSION		1
#define SFX_LEAF_HEADER			16
#define SFX_LEAF_SLOT			4	/* bytes of a directory slot */

/* header flags */
#define SFX_LEAF_HIGH_INF		0x01
#define SFX_LEAF_LOW_TID		0x02
#define SFX_LEAF_HIGH_TID		0x04
#define SFX_LEAF_ORDER			0x08	/* comparator order */
#define SFX_LEAF_DICT			0x10	/* some block's keys are coded with a dictionary */
#define SFX_LEAF_CUT			0x20	/* a key may be the beginning of a longer one */
#define SFX_LEAF_FLAGS			0x3F

#define SFX_SLOT_TID			0x8000	/* in a slot's separator offset: the last six bytes are a TID */

/* block flags */
#define SFX_BLK_KIND			0x03
#define SFX_BLK_ONE				0	/* a single key: it is the block's prefix */
#define SFX_BLK_FIXED			1
#define SFX_BLK_STRING			2
#define SFX_BLK_BITS			3	/* in leaves with cut keys: they end between two bits */
#define SFX_BLK_DUPS			0x04	/* some key has several TIDs */
#define SFX_BLK_PAYLOAD			0x08
#define SFX_BLK_NENT_HI			0x10	/* bit 8 of (entries - 1) */
#define SFX_BLK_FLAGS			0x1F

#endif							/* SFX_LEAF_FORMAT_H */
