/*-------------------------------------------------------------------------
 * louds_format.h - the bytes of a page-local LOUDS-DS trie, for its writer and its reader
 *
 * Layout of a trie (offsets from its start; k2 = 2-byte samples):
 *
 *	off	size	what
 *	0	2	nodes
 *	2	2	edges of sparse nodes
 *	4	2	bytes in the pool of paths (0: no pool)
 *	6	2	bytes in the pool of tails (0: no pool)
 *	8	2	has-child bits in dense nodes
 *	10	1	dense nodes: nodes 0 .. this - 1
 *	11	1	bits 0-3 select shift of the LOUDS bits; bit 4: string-ends-here bits are present
 *	12	1	pool of paths: bits 0-3 low bits of a start, bits 4-7 select shift
 *	13	1	the same for the pool of tails
 *	14	66 * dense		dense nodes: 256 label bits, 256 has-child bits, 2 bytes has-child bits before
 *		edges/8			has-child bits
 *		k2				their rank samples
 *		edges/8			LOUDS bits: 1 at the first edge of each sparse node
 *		k2				their select samples
 *		edges			labels, ascending within a node
 *		packed			bases of nodes 1 .. nodes - 1, as wide as the number of strings needs
 *		nodes/8			string-ends-here bits
 *		pool			paths
 *		pool			tails
 *
 * A pool: packed low bits of n + 1 starts; upper bits; k2 select samples; bytes.
 *-------------------------------------------------------------------------
 */
#ifndef SFX_LOUDS_FORMAT_H
#define SFX_LOUDS_FORMAT_H

#include "louds.h"

#define TRIE_HEADER		14
#define TRIE_HAS_PK		0x10
#define MAXEDGES		(2 * SFX_TRIE_MAXKEYS)

/* Number of samples that a bit string has. */
static inline uint32_t
select_samples(uint32_t ones, uint32_t shift)
{
	return (ones + (1u << shift) - 1) >> shift;
}

static inline uint32_t
rank_samples(uint32_t nbits)
{
	return nbits / SFX_RANK_BITS + 1;
}

#endif							/* SFX_LOUDS_FORMAT_H */
