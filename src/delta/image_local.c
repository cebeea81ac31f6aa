/*-------------------------------------------------------------------------
 * image_local.c - images in this backend's own memory: those of temporary relations, and others
 * where shared memory has no room
 *
 * They end as those in shared memory do: with their generation (sfx_image_forget), with their file,
 * or as the least recently used when there are too many.  gone.h does not tell of files of
 * temporary relations.  But a relation that gets another file, or is dropped, is invalidated before
 * that; so images of an invalidated relation are freed at the end of the transaction.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "delta.h"
#include "image.h"
#include "image_impl.h"
#include "meta.h"
#include "settings.h"

#include "access/xact.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/rel.h"

#define LOCAL_IMAGES		64

static SfxImage local_images[LOCAL_IMAGES];
static int	nlocal = 0;			/* in use */
static uint64 uses = 0;			/* so far: the clock of last_used */
static bool suspects = false;	/* some image is marked as suspect */

static inline uint64
last_use(SfxImage *img)
{
	return pg_atomic_read_u64(&img->last_used);
}

static void
end_image(SfxImage *img)
{
	nlocal--;
	sfx_image_end_local(img);
}

/*
 * All private images together may take as much as the buffers of temporary tables, or as the images
 * in shared memory.
 */
static Size
most_bytes(void)
{
	return Max((Size) num_temp_buffers * BLCKSZ, (Size) sfx_guc_delta_memory * 1024);
}

/*
 * A place for a new image.  Frees the least recently used ones until there is one, and all others
 * together take less than most_bytes().
 */
static SfxImage *
free_place(void)
{
	for (;;)
	{
		SfxImage   *unused = NULL;
		SfxImage   *oldest = NULL;
		Size		bytes = 0;

		for (int i = 0; i < LOCAL_IMAGES; i++)
		{
			SfxImage   *img = &local_images[i];

			if (!img->used)
				unused = img;
			else
			{
				bytes += sfx_image_local_bytes(img);
				if (oldest == NULL || last_use(img) < last_use(oldest))
					oldest = img;
			}
		}
		if (unused != NULL && (oldest == NULL || bytes < most_bytes()))
			return unused;
		end_image(oldest);
	}
}

SfxImage *
sfx_image_local_find(const SfxImageKey *key)
{
	for (int i = 0; nlocal > 0 && i < LOCAL_IMAGES; i++)
		if (sfx_image_is(&local_images[i], key))
		{
			pg_atomic_write_u64(&local_images[i].last_used, ++uses);
			return &local_images[i];
		}
	return NULL;
}

SfxImage *
sfx_image_local_make(Relation index, const SfxImageKey *key)
{
	SfxImage   *img = free_place();

	memset(img, 0, sizeof(*img));
	sfx_image_begin_local(img);
	img->key = *key;
	img->index = RelationGetRelid(index);
	img->blkno = InvalidBlockNumber;
	pg_atomic_init_u64(&img->last_used, ++uses);
	img->used = true;
	nlocal++;
	return img;
}

void
sfx_image_local_outdated(const SfxLocator *file, uint64 build_id, uint32 oldest_gen)
{
	for (int i = 0; nlocal > 0 && i < LOCAL_IMAGES; i++)
	{
		SfxImage   *img = &local_images[i];

		if (img->used && SfxLocatorEquals(img->key.loc, *file) &&
			(img->key.build_id != build_id || img->key.gen < oldest_gen))
			end_image(img);
	}
}

void
sfx_image_local_forget(const SfxImageKey *key)
{
	SfxImage   *img = sfx_image_local_find(key);

	if (img)
		end_image(img);
}

/*
 * Relcache callback: mark the images of that index (InvalidOid: all of them).  Freeing waits for
 * the end of the transaction, since an image may be in use at the time of the invalidation.
 */
static void
relation_changed(Datum arg, Oid relid)
{
	for (int i = 0; nlocal > 0 && i < LOCAL_IMAGES; i++)
		if (local_images[i].used && (!OidIsValid(relid) || local_images[i].index == relid))
			local_images[i].suspect = suspects = true;
}

/* Transaction callback: free the marked images. */
static void
at_end(XactEvent event, void *arg)
{
	if (!suspects ||
		(event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE))
		return;
	suspects = false;
	for (int i = 0; nlocal > 0 && i < LOCAL_IMAGES; i++)
		if (local_images[i].used && local_images[i].suspect)
			end_image(&local_images[i]);
}

void
sfx_image_init(void)
{
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	RegisterXactCallback(at_end, NULL);
}
