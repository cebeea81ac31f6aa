/*-------------------------------------------------------------------------
 * row_block.h - the values of many rows of a decoded block at once
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_ROW_BLOCK_H
#define SURFIDX_ROW_BLOCK_H

#include "column.h"
#include "leaf.h"

/* Values of a block's rows, made by a plan for its columns. */
typedef struct SfxRowsOfBlock SfxRowsOfBlock;

/* Memory: the current context. */
extern SfxRowsOfBlock *sfx_rows_of_block_begin(Relation index, const SfxKeyDesc *kd);
extern void sfx_rows_of_block_end(SfxRowsOfBlock *rows);

/* All columns of entry i, for any of the block, stand at value[i * natts], and so with isnull. */
extern Datum *sfx_rows_of_block_values(SfxRowsOfBlock *rows);
extern bool *sfx_rows_of_block_nulls(SfxRowsOfBlock *rows);

/* Make them NULL, of all entries: nobody reads them. */
extern void sfx_rows_of_block_unread(SfxRowsOfBlock *rows);

/*
 * Make those of n entries from number from on; they are valid until the next call or the block's
 * end.  Of entries whose values cannot be had this way (long ones, rare forms), ready becomes
 * false.  ERROR if one is damaged, unless the entry's ready becomes false.
 */
extern void sfx_rows_of_block_make(SfxRowsOfBlock *rows, const SfxBlock *b, int from, int n,
								   bool *ready);

/* The same for INCLUDE columns only; values of the others mean nothing. */
extern void sfx_rows_of_block_make_payloads(SfxRowsOfBlock *rows, const SfxBlock *b, int from,
											int n);

#endif							/* SURFIDX_ROW_BLOCK_H */
