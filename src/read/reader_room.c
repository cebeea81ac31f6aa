/*-------------------------------------------------------------------------
 * reader_room.c - memory that a reader takes when it needs it
 *
 * A whole block and a page are large, and a lookup needs neither once it has its rows.  A reader
 * that is alone keeps what it has taken; statements with many scans would fill the memory of the
 * server, and spend their time on page faults.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "dict.h"
#include "leaf.h"
#include "reader_impl.h"

#define FEW(s)	((SfxBlock *) (s)->few.bytes)

#ifdef USE_ASSERT_CHECKING
uint32		sfx_readers_asked = 0;
#endif

uint8 *
sfx_reader_bound_bytes(SfxReader *r, BoundRoom *room, uint32 len)
{
	if (len <= BOUND_FEW)
		return room->few;
	if (room->more == NULL)
		room->more = get_spare(r, SFX_SPARE_BOUND, SFX_BOUND_MAX);
	return room->more;
}

static inline void
clear_block(SfxBlock *b)
{
	b->nent = b->nkeys = b->first = b->total = 0;
	b->dups = b->haspay = b->keyless = b->bits = b->tidless = false;
	b->left_from = b->left_to = 0;
}

void
sfx_reader_begin_cursor(LeafCursor *s)
{
	s->dict = NULL;
	s->entries = 0;
	s->page = NULL;
	s->have_page = false;
	s->block = FEW(s);
	clear_block(s->block);
}

void
sfx_reader_take_page(SfxReader *r, LeafCursor *s)
{
	if (s->page == NULL)
		s->page = get_spare(r, SFX_SPARE_PAGE, sizeof(PGAlignedBlock));
}

static void
put_page(LeafCursor *s)
{
	if (s->page)
		sfx_spare_put(s->page);
	s->page = NULL;
}

static void
put_block(LeafCursor *s)
{
	if (s->block != FEW(s))
		sfx_spare_put(s->block);
	s->block = FEW(s);
}

void
sfx_reader_end_cursor(LeafCursor *s)
{
	sfx_dict_unpin(&s->dict);
	put_page(s);
	put_block(s);
}

void
sfx_reader_take_whole(SfxReader *r, LeafCursor *s)
{
	s->block = get_spare(r, SFX_SPARE_BLOCK, sizeof(SfxBlock));
	if (FEW(s)->nent == 0 && !sfx_block_left(FEW(s)))
		clear_block(s->block);
	else
		(void) sfx_block_copy(FEW(s), s->block, sizeof(s->block->keys));
}

bool
sfx_readers_are_many(void)
{
	return are_many();
}

void
sfx_reader_make_small(SfxReader *r, LeafCursor *s)
{
	if (s->leaf.cut || !sfx_block_copy(s->block, FEW(s), READER_FEW_KEYS))
		return;
	put_block(s);
	/* blocks to come are read from the page, and keys that were left out */
	if (!s->have_page && !s->block->keyless && !(s == &r->main && r->kept.valid))
		put_page(s);
}

void
sfx_reader_shrink_batch(Batch *b)
{
	if (b->entry != b->few)
	{
		pfree(b->entry);
		pfree(b->bytes);
	}
	b->room = READER_BATCH_FIRST;
	b->entry = b->few;
	b->bytes = b->few_bytes;
}

void
sfx_reader_give_all_back(SfxReader *r)
{
	r->kept.valid = false;
	put_page(&r->main);
	put_block(&r->main);
	for (int i = 0; i < SFX_MAX_RUNS && r->run[i]; i++)
	{
		put_page(r->run[i]);
		put_block(r->run[i]);
	}
	/* those that were found dead are removed later */
	for (int i = 0; r->dead.in_batches == 0 && i < READER_BATCHES && r->delta.batch[i]; i++)
		sfx_reader_shrink_batch(r->delta.batch[i]);
}
