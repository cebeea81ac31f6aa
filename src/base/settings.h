/*-------------------------------------------------------------------------
 * settings.h - storage parameters and settings
 *-------------------------------------------------------------------------
 */
#ifndef SURFIDX_SETTINGS_H
#define SURFIDX_SETTINGS_H

/*
 * The storage parameters of an index, as rd_options begins with them.  Other modules use the
 * functions below, which apply the defaults.
 */
typedef struct SfxOptions
{
	int32		vl_len_;		/* varlena header */
	int			filter;			/* SfxFilterKind */
	int			surf_hash_bits;
	int			surf_real_bits;
	int			delta_size;		/* kB of log before a merge; -1: surfidx.delta_size */
	double		merge_ratio;	/* entries of the delta for each of the tree; -1:
								 * surfidx.merge_ratio */
	double		run_ratio;		/* a delta of fewer for each of the tree makes a run; -1:
								 * surfidx.run_ratio */
	int			size_limit;		/* kB of trees and log; -1: none */
	int			codec;			/* SfxIntCodec for the integers of keys; 0: the best */
	int			hope;			/* SfxHopeScheme, SFX_HOPE_OFF or SFX_HOPE_AUTO */
	int			keys;			/* SfxLeafKeys; -1: surfidx.keys */
} SfxOptions;

/* What leaves have of their keys. */
typedef enum SfxLeafKeys
{
	SFX_LEAVES_FULL,
	SFX_LEAVES_CUT,				/* what tells them from their neighbours: recover.h */
	SFX_LEAVES_BOUND			/* either, leaf by leaf, as size_limit and size_budget ask */
} SfxLeafKeys;

/* *spec: the filters that the storage parameters ask for. */
struct SfxFilterSpec;
extern void sfx_opt_filter(Relation index, struct SfxFilterSpec *spec);

#define SFX_MAX_MERGE_WORKERS	64

extern int	sfx_guc_delta_memory;	/* kB of shared memory for images */
extern bool sfx_guc_auto_merge; /* start workers */
extern int	sfx_guc_idle_flush; /* s; -1: never */
extern double sfx_guc_merge_cost_delay; /* ms that a worker sleeps ... */
extern int	sfx_guc_merge_cost_limit;	/* ... for so many of vacuum_cost_page_...; 0 ms: never */
extern int	sfx_guc_max_merge_workers;	/* at once in the server */
extern int	sfx_guc_merge_worker_idle;	/* ms */
extern int	sfx_guc_log_merge_min_duration; /* ms; -1: never */
extern int	sfx_guc_read_ahead; /* pages of the table asked for at once; 0: none */
extern int	sfx_guc_keys;		/* SfxLeafKeys */
extern int	sfx_guc_size_budget;	/* kB of all indexes of the database; 0: none */
extern int	sfx_guc_budget_interval;	/* s */
extern bool sfx_guc_autotune;

/* As the storage parameter keys says; without it, size_limit or size_budget; else, the setting. */
extern SfxLeafKeys sfx_opt_keys(Relation index);
extern int	sfx_opt_size_limit(Relation index); /* kB; 0: none */
extern int	sfx_opt_delta_size(Relation index); /* kB */
extern double sfx_opt_merge_ratio(Relation index);
extern double sfx_opt_run_ratio(Relation index);
extern int	sfx_opt_codec(Relation index);

/* How rests of keys are coded: an SfxHopeScheme, or one of these. */
#define SFX_HOPE_OFF	0
#define SFX_HOPE_AUTO	(-1)
extern int	sfx_opt_hope(Relation index);
extern bool sfx_opt_packing(Relation index);	/* may rests be packed instead, where that is
												 * smaller? */

/* The storage parameter's word for such a value. */
extern const char *sfx_hope_name(int value);

/*
 * ERROR, with the remedy in the hint, unless the library was preloaded.  Every AM function that
 * reads or writes calls it first.
 */
extern void sfx_require_preload(Relation index);
extern bool sfx_preloaded;		/* set by _PG_init */

/* The access method's name, and the storage parameter by which constraints ask for it (rule Q1). */
#define SFX_METHOD			"surfidx"
#define SFX_METHOD_OPTION	"access_method"

/* Is this our access method? */
extern bool sfx_is_ours(const struct IndexAmRoutine *am);
extern void sfx_define_gucs(bool preloading);	/* called once, by _PG_init */

/* In a worker, once it is connected: override settings that are meant for sessions. */
extern void sfx_worker_settings(void);
extern void sfx_define_reloptions(void);	/* called once, by _PG_init */

/* amoptions: parse and check the storage parameters. */
extern bytea *sfx_options(Datum reloptions, bool validate);

#endif							/* SURFIDX_SETTINGS_H */
