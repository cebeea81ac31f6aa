/*-------------------------------------------------------------------------
 * format.c - what may not change without a new version of the page format (rule P5)
 *
 * If this file no longer compiles, a change has altered what stands in pages: docs/dev/format.md
 * says what has to be done first; the numbers here are changed last.  What has no size or count,
 * such as the bytes of a key's encoding, is checked by t/format.pl, with files of each version,
 * which must remain readable for ever.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "bitblock.h"
#include "filter.h"
#include "hope.h"
#include "intcodec.h"
#include "leaf.h"
#include "leaf_format.h"
#include "log_format.h"
#include "meta.h"
#include "page.h"
#include "strblock.h"
#include "surf_format.h"
#include "tidcodec.h"
#include "wal.h"

StaticAssertDecl(SFX_FORMAT_VERSION == 1, "the list below is of this version");

/* pages */
StaticAssertDecl(sizeof(SfxPageTail) == 24 && offsetof(SfxPageTail, right) == 8 &&
				 offsetof(SfxPageTail, owner) == 12 && offsetof(SfxPageTail, kind) == 16 &&
				 offsetof(SfxPageTail, flags) == 18 && offsetof(SfxPageTail, version) == 20 &&
				 offsetof(SfxPageTail, page_id) == 22, "page tail");
StaticAssertDecl(SFX_PAGE_DICT == 8, "kinds of pages");

/* the metapage */
StaticAssertDecl(sizeof(SfxGen) == 24 && sizeof(SfxRun) == 32 && sizeof(SfxResume) == 64 &&
				 sizeof(SfxDictRef) == 20 && sizeof(SfxWork) == 48, "parts of the metapage");
StaticAssertDecl(SFX_MAX_GENS == 4 && SFX_MAX_RUNS == 8 && SFX_MAX_DICTS == 4 &&
				 SFX_RESUME_KEY == 40, "how many the metapage has of them");
StaticAssertDecl(sizeof(SfxMeta) == 672 && offsetof(SfxMeta, removals) == 24 &&
				 offsetof(SfxMeta, gens) == 56 && offsetof(SfxMeta, runs) == 152 &&
				 offsetof(SfxMeta, resume) == 408 && offsetof(SfxMeta, work) == 536 &&
				 offsetof(SfxMeta, dict) == 592, "metapage");

/* the log */
StaticAssertDecl(sizeof(SfxLogHeader) == 16 && offsetof(SfxLogHeader, nentries) == 4 &&
				 offsetof(SfxLogHeader, before) == 8 && SFX_LOG_SEALED == 0x0001,
				 "headers of log pages");
StaticAssertDecl(SFX_LOG_DEAD == 0x80 && SFX_LOG_PAYLOAD == 0x40 && SFX_LOG_UNCHANGED == 0x20 &&
				 SFX_LOG_LEN1 == 0x01 && SFX_LOG_LEN2 == 0x02 && SFX_LOG_TID == 0x04 &&
				 SFX_LOG_BACK == 32 && SFX_LOG_OFFSET_BITS == 9, "entries of the log");

/* WAL records, which a newer library replays */
StaticAssertDecl(sizeof(SfxXlExtend) == 32 && offsetof(SfxXlExtend, gen) == 16 &&
				 sizeof(SfxXlGroup) == 12 && offsetof(SfxXlGroup, horizon) == 8 &&
				 sizeof(SfxXlMeta) == 8 && offsetof(SfxXlMeta, horizon) == 4 &&
				 XLOG_SFX_BATCH == 0x70 && SFX_META_EPOCH == 7, "WAL records");

/* leaves, dictionaries, filters */
StaticAssertDecl(SFX_LEAF_VERSION == 1 && SFX_LEAF_HEADER == 16 && SFX_LEAF_SLOT == 4 &&
				 SFX_LEAF_FLAGS == 0x3F && SFX_BLK_FLAGS == 0x1F && SFX_STR_FLAGS == 0x0F &&
				 SFX_STR_COLUMN == 0x10 && SFX_COLUMN_HEAD == 7 && SFX_COLUMN_SYMBOLS == 8192,
				 "leaves");
StaticAssertDecl(SFX_FIX_ALL == 0x80 && SFX_FIX_MAXWIDTH == 64 && SFX_FIX_MAXBITS == 16,
				 "keys of one width");
StaticAssertDecl(SFX_BITS_ENDED == 0x40 && SFX_BITS_STRINGS == 0x80 && SFX_BITS_LESS == 48 &&
				 SFX_BITS_MAXWIDTH == 8, "keys cut between bits");
StaticAssertDecl(SFX_BLOCK_KEYS == 256 && SFX_BLOCK_ENTRIES == 512, "blocks");
StaticAssertDecl(SFX_KEYS_CODECS == 17 && SFX_INT_CODECS == 11 && SFX_TID_CODECS == 7, "codecs");
StaticAssertDecl(SFX_FSST == 7, "schemes of dictionaries");
StaticAssertDecl(SFX_FILTER_SURF == 2 && SURF_VERSION == 3, "filters");
