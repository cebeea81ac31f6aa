/*-------------------------------------------------------------------------
 * damage.c - errors of entries that do not fit, and of stored ones that cannot be read
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "damage.h"

#include "utils/rel.h"

void
sfx_entry_too_large(Relation index, int64 size)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("index row requires %lld bytes, maximum is %d in surfidx index \"%s\"",
					(long long) size, SFX_MAX_ENTRY, RelationGetRelationName(index)),
			 errhint("Values larger than this cannot be indexed.\n"
					 "Consider an index on a hash or on a prefix of the value, or fewer INCLUDE columns.")));
}

void
sfx_entry_damaged(Relation index, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("surfidx index \"%s\" contains a damaged entry: %s", RelationGetRelationName(index), what),
			 errhint("Please REINDEX it.")));
}
