/*-------------------------------------------------------------------------
 * statement.h - what is known of the statements whose rows come to aminsert
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_STATEMENT_H
#define SURFIDX_STATEMENT_H

/*
 * SFX_ROWS_STAY: the statement inserts no row that is taken back before the end of the
 * (sub)transaction, so its entries may wait (D7).
 *
 * SFX_HINT_HOLDS: core's executor runs the statement by itself, so where it says that an index is
 * unchanged by an UPDATE, the statement has assigned no column of the key (U1).
 */
#define SFX_ROWS_STAY	1
#define SFX_HINT_HOLDS	2

/*
 * sfx_statement_note: that is so for the statements whose IndexInfos stand in this memory context.
 * It ends when the context is reset, or with sfx_statement_forget.
 */
extern void sfx_statement_note(MemoryContext context, int what);
extern void sfx_statement_forget(MemoryContext context);

/* Is that known of the statement whose IndexInfos stand in this memory context? */
extern bool sfx_statement_is(MemoryContext context, int what);

#endif							/* SURFIDX_STATEMENT_H */
