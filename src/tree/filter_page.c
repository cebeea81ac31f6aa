/*-------------------------------------------------------------------------
 * filter_page.c - is a page the live filter of a position? (F3)
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "filter.h"
#include "filter_page.h"
#include "page.h"

bool
sfx_filter_page_open(Relation index, const SfxOrder *order, uint64 build_id, uint32 run,
					 BlockNumber blkno, Page page,
					 const SfxPos *pos, bool before, SfxFilter *f)
{
	SfxPageTail *tail;

	if (!sfx_page_check(index, blkno, page))
		return false;
	tail = SfxPageGetTail(page);
	if (tail->kind != SFX_PAGE_FILTER || tail->build_id != build_id || tail->owner != run)
		return false;
	if (sfx_filter_open(f, SfxPageBody(page), SfxPageBodyLen(page), order) < 0)
		sfx_corrupt(index, blkno, "filter header");
	if (SFX_MUTANT("no fences of filters"))
		return true;
	if (!before)
		return sfx_filter_cmp_fences(f, pos) == 0;
	if (!f->high_inf && (pos->key == NULL || sfx_order_cmp_pos(order, &f->high, pos) < 0))
		return false;
	return pos->key == NULL || sfx_order_cmp_pos(order, &f->low, pos) < 0;
}
