/*-------------------------------------------------------------------------
 * log_format.h - what stands in the pages of the delta's log (log.h)
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_LOG_FORMAT_H
#define SURFIDX_LOG_FORMAT_H

/*
 * Body of a log page: SfxLogHeader, then entries, unaligned, up to pd_lower:
 *
 *	0	1	SFX_LOG_ flags
 *	1	0-2	key length: as the page's first entry's; 1 byte if SFX_LOG_LEN1; 2 if SFX_LOG_LEN2
 *	.	2	TID: heap block less that of the page's first entry plus SFX_LOG_BACK, offset
 *			(SFX_LOG_OFFSET_BITS), as a number;
 *		6	or big-endian if SFX_LOG_TID
 *	.	2	payload length, if SFX_LOG_PAYLOAD
 *	.	.	key, payload
 *
 * The first entry of a page has SFX_LOG_LEN2 and SFX_LOG_TID.  Rows that are inserted together lie
 * together, and a record of some 60 bytes is shorter by a tenth for it.
 */
typedef struct SfxLogHeader
{
	uint32		seq;			/* 0 for the first page of a generation */
	uint32		nentries;		/* on this page */
	uint64		before;			/* entries of the generation on earlier pages */
} SfxLogHeader;

/* flags */
#define SFX_LOG_DEAD	0x80
#define SFX_LOG_PAYLOAD	0x40
#define SFX_LOG_UNCHANGED	0x20	/* of an UPDATE that changed no key: an older version has the
									 * same one */
#define SFX_LOG_LEN1	0x01
#define SFX_LOG_LEN2	0x02
#define SFX_LOG_TID		0x04

#define SFX_LOG_BACK	32
#define SFX_LOG_OFFSET_BITS	9	/* of a short TID's 16 */
#define SFX_LOG_MIN_ENTRY	3	/* bytes: flags and a short TID, of an entry as long as the first
								 * one, which damage can make empty */

#endif							/* SURFIDX_LOG_FORMAT_H */
