/*-------------------------------------------------------------------------
 * meta.c - reading and changing the metapage
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bufhint.h"
#include "meta.h"
#include "page.h"
#include "shared_area.h"

#include "port/atomics.h"
#include "utils/rel.h"

StaticAssertDecl(sizeof(SfxGen) == 24, "generation is 24 bytes on disk");
StaticAssertDecl(sizeof(SfxRun) == 32, "run is 32 bytes on disk");
StaticAssertDecl(sizeof(SfxResume) == 64, "merge position is 64 bytes on disk");
StaticAssertDecl(sizeof(SfxWork) == 48, "counters of merges are 48 bytes on disk");
StaticAssertDecl(sizeof(SfxMeta) <= SFX_BODY_CAPACITY, "metapage fits");

static pg_atomic_uint64 *changes = NULL;	/* of all metapages, from 1 on; in shared memory */

/* ---- that there was a change ---- */

static void
attach_area(bool made)
{
	if (made)
		pg_atomic_init_u64(changes, 1);
}

const SfxSharedArea sfx_meta_area = {
	.name = "surfidx metapage changes",.shared = (void **) &changes,.head = sizeof(pg_atomic_uint64),
	.attach = attach_area
};

void
sfx_meta_count_change(void)
{
	if (changes && !SFX_MUTANT("metapages change unseen"))
		pg_atomic_fetch_add_u64(changes, 1);
}

uint64
sfx_meta_changes(void)
{
	return changes ? pg_atomic_read_u64(changes) : 0;
}

/* ---- the page ---- */

SfxRun *
sfx_meta_run(Relation index, const SfxMeta *m, uint32 id)
{
	int			r = sfx_meta_find_run(m, id);

	if (r < 0)
		sfx_corrupt(index, SFX_META_BLKNO, psprintf("run %u is not listed", id));
	return unconstify(SfxRun *, &m->runs[r]);
}

uint64
sfx_meta_entries(const SfxMeta *m)
{
	uint64		n = 0;

	for (int r = 0; r < m->nruns; r++)
		n += m->runs[r].entries;
	return n;
}

uint64
sfx_meta_leaves(const SfxMeta *m)
{
	uint64		n = 0;

	for (int r = 0; r < m->nruns; r++)
		n += m->runs[r].leaves;
	return n;
}

uint64
sfx_meta_log_pages(const SfxMeta *m)
{
	uint64		n = 0;

	for (int g = 0; g < m->ngens; g++)
		n += m->gens[g].pages;
	return n;
}

/* ERROR: not a metapage that this code knows the layout of. */
static void
layout_check(Relation index, Page page)
{
	SfxMeta    *m = SfxPageGetMeta(page);

	if (m->magic == SFX_MAGIC_BEFORE_1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" was made by a build from before surfidx 1.0",
						RelationGetRelationName(index)),
				 errhint("REINDEX it.")));
	if (!sfx_page_check(index, SFX_META_BLKNO, page) ||
		SfxPageGetTail(page)->kind != SFX_PAGE_META ||
		SfxPageBodyLen(page) < sizeof(SfxMeta))
		sfx_corrupt(index, SFX_META_BLKNO, "no metapage");
	if (m->magic != SFX_MAGIC)
		sfx_corrupt(index, SFX_META_BLKNO, "wrong magic number");
	if (m->min_version > SFX_FORMAT_VERSION)
		sfx_format_unknown(index, SFX_META_BLKNO, m->min_version);
	if (m->build_id != SfxPageGetTail(page)->build_id)
		sfx_corrupt(index, SFX_META_BLKNO, "page of another build");
}

static void
meta_check(Relation index, Page page)
{
	const char *fault;

	layout_check(index, page);
	fault = sfx_meta_fault(SfxPageGetMeta(page));
	if (fault != NULL)
		sfx_corrupt(index, SFX_META_BLKNO, fault);
}

void
sfx_meta_copy(Relation index, Buffer buf, SfxMeta *meta)
{
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	meta_check(index, BufferGetPage(buf));
	sfx_meta_assign(meta, SfxPageGetMeta(BufferGetPage(buf)));
}

void
sfx_meta_reread(Relation index, SfxMeta *meta, Buffer *buf)
{
	if (!BufferIsValid(*buf))
		*buf = sfx_read_page(index, SFX_META_BLKNO);
	sfx_meta_copy(index, *buf, meta);
	LockBuffer(*buf, BUFFER_LOCK_UNLOCK);
}

void
sfx_meta_read(Relation index, SfxMeta *meta)
{
	Buffer		buf = InvalidBuffer;

	sfx_meta_reread(index, meta, &buf);
	ReleaseBuffer(buf);
}

bool
sfx_meta_try_read(Relation index, SfxMeta *meta)
{
	Buffer		buf = sfx_read_page(index, SFX_META_BLKNO);
	Page		page = BufferGetPage(buf);
	bool		sound;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	sound = !PageIsNew(page) && sfx_page_fault(page) == NULL &&
		sfx_format_is_read(SfxPageGetTail(page)->version) &&
		SfxPageGetTail(page)->kind == SFX_PAGE_META && SfxPageBodyLen(page) >= sizeof(SfxMeta) &&
		SfxPageGetTail(page)->build_id == SfxPageGetMeta(page)->build_id;
	if (sound)
		sfx_meta_assign(meta, SfxPageGetMeta(page));
	UnlockReleaseBuffer(buf);
	return sound && meta->magic == SFX_MAGIC && meta->min_version <= SFX_FORMAT_VERSION &&
		sfx_meta_fault(meta) == NULL;
}

const char *
sfx_meta_look(Relation index, SfxMeta *meta)
{
	Buffer		buf = sfx_read_page(index, SFX_META_BLKNO);
	const char *fault;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	layout_check(index, BufferGetPage(buf));
	sfx_meta_assign(meta, SfxPageGetMeta(BufferGetPage(buf)));
	UnlockReleaseBuffer(buf);
	fault = sfx_meta_fault(meta);
	meta->ngens = Min(meta->ngens, SFX_MAX_GENS);
	meta->nruns = Min(meta->nruns, SFX_MAX_RUNS);
	meta->ndicts = Min(meta->ndicts, SFX_MAX_DICTS);
	return fault;
}

void
sfx_meta_lock(Relation index, SfxMeta *meta, Buffer *buf)
{
	*buf = ReadBuffer(index, SFX_META_BLKNO);
	LockBuffer(*buf, BUFFER_LOCK_EXCLUSIVE);
	meta_check(index, BufferGetPage(*buf));
	memcpy(meta, SfxPageGetMeta(BufferGetPage(*buf)), sizeof(SfxMeta));
	/* from now on there may be pages that an older library does not know */
	meta->version = meta->min_version = SFX_FORMAT_VERSION;
}

void
sfx_meta_store(Page page, const SfxMeta *meta)
{
	memcpy(SfxPageGetMeta(page), meta, sizeof(SfxMeta));
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData) + sizeof(SfxMeta);
	sfx_meta_count_change();
}
