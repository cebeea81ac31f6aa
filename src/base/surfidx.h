/*-------------------------------------------------------------------------
 * surfidx.h - what every .c file of the PostgreSQL side begins with
 *
 * As with postgres.h in core, headers include neither this one nor what it includes.
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_H
#define SURFIDX_H

#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/itup.h"
#include "access/sdir.h"
#include "access/xlogreader.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

#include "compat.h"
#include "sfx.h"
#include "stop.h"

#endif							/* SURFIDX_H */
