/*-------------------------------------------------------------------------
 * heat.c - how often leaves are read, for size_limit and size_budget
 *
 * There is one byte of shared memory for each leaf, at a place computed from file and block.  Each
 * file has an odd stride of its own, so leaves of one index share a place only if it has more
 * blocks than there are places, and of a cold index only some share one with leaves of a hot one.  A visit
 * adds one with probability 2^-h, so a byte counts visits on a logarithmic scale, and the byte of a
 * leaf that is read constantly is rarely written.  A bit of it tells whether the leaf was cut when
 * it was read or changed.  Bytes are read and written without a lock: of concurrent visits one may
 * be lost.  After a restart all leaves are cold.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "heat.h"
#include "settings.h"

#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "utils/rel.h"

#define LEAST_PLACES	65536
#define PLACES_A_KB		16		/* for each kB of surfidx.delta_memory */
#define CUT				0x80
#define HEAT			0x7f

static uint8 *places = NULL;
static uint32 nplaces;			/* a power of two */

static Size
area_size(void)
{
	Size		n = LEAST_PLACES;

	while (n < (Size) sfx_guc_delta_memory * PLACES_A_KB && n < (Size) 1 << 30)
		n *= 2;
	return n;
}

static void
attach_area(bool made)
{
	nplaces = (uint32) area_size();
	if (made)
		memset(places, 0, nplaces);
}

const SfxSharedArea sfx_heat_area = {
	.name = "surfidx heat of leaves",.shared = (void **) &places,.size = area_size,.attach = attach_area
};

static volatile uint8 *
place_of(Relation index, BlockNumber leaf)
{
	uint32		h = murmurhash32(SfxLocatorNumber(SfxRelLocator(index)));

	return &places[(h + leaf * (h | 1)) & (nplaces - 1)];
}

bool
sfx_heat_touch(Relation index, BlockNumber leaf, bool cut, int times)
{
	volatile uint8 *place;
	uint8		was;
	int			heat;
	bool		hotter;

	if (places == NULL)
		return false;
	place = place_of(index, leaf);
	was = *place;
	heat = was & HEAT;
	hotter = heat < SFX_HEAT_MAX &&
		(int) (pg_prng_uint32(&pg_global_prng_state) & ((1U << heat) - 1)) < times;
	if (hotter || cut != ((was & CUT) != 0))
		*place = (uint8) ((heat + hotter) | (cut ? CUT : 0));
	return hotter;
}

int
sfx_heat_of(Relation index, BlockNumber leaf)
{
	return places ? *place_of(index, leaf) & HEAT : 0;
}

bool
sfx_heat_is_cut(Relation index, BlockNumber leaf)
{
	return places && (*place_of(index, leaf) & CUT) != 0;
}

void
sfx_heat_set(Relation index, BlockNumber leaf, bool cut, int heat)
{
	if (places != NULL)
		*place_of(index, leaf) = (uint8) (heat | (cut ? CUT : 0));
}

void
sfx_heat_age(Relation index, BlockNumber leaf)
{
	volatile uint8 *place;

	if (places == NULL)
		return;
	place = place_of(index, leaf);
	if ((*place & HEAT) > 0)
		(*place)--;
}
