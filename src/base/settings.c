/*-------------------------------------------------------------------------
 * settings.c - settings, storage parameters, and whether the library was preloaded
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "filter.h"
#include "hope.h"
#include "intcodec.h"
#include "settings.h"
#include "shared_use.h"
#include "surf.h"

#include "access/nbtree.h"
#include "access/reloptions.h"
#include "utils/guc.h"
#include "utils/rel.h"

#define SFX_VERSION			"1.0.0" /* as META.json has it */

bool		sfx_preloaded = false;
static char *version;

static int	guc_delta_size = 8192;	/* kB */
static double guc_merge_ratio = 0.1;
int			sfx_guc_log_merge_min_duration = -1;
static double guc_run_ratio = 0.05;
int			sfx_guc_idle_flush = 300;
double		sfx_guc_merge_cost_delay = 0;
int			sfx_guc_merge_cost_limit = 200;
int			sfx_guc_max_merge_workers = 3;
int			sfx_guc_merge_worker_idle = 500;
int			sfx_guc_delta_memory = 65536;
int			sfx_guc_read_ahead = 32;
int			sfx_guc_keys = SFX_LEAVES_FULL;
int			sfx_guc_size_budget = 0;
int			sfx_guc_budget_interval = 30;
bool		sfx_guc_autotune = false;
bool		sfx_guc_auto_merge = true;

/* Limits of the settings and of the storage parameters of the same name. */
#define MIN_DELTA_SIZE		64	/* kB */
#define MAX_DELTA_SIZE		1048576
#define MIN_SIZE_LIMIT		64	/* kB */
#define MAX_SIZE_LIMIT		INT_MAX
#define MIN_MERGE_RATIO		0.001
#define MAX_MERGE_RATIO		10.0
#define DEFAULT_HASH_BITS	0
#define DEFAULT_REAL_BITS	4
#define UNSET				(-1)	/* the storage parameter is not given: the setting counts */

static relopt_kind sfx_relopt_kind;

static relopt_enum_elt_def filter_kinds[] = {
	{"none", SFX_FILTER_NONE},
	{"bloom", SFX_FILTER_BLOOM},
	{"surf", SFX_FILTER_SURF},
	{NULL}
};

void
sfx_require_preload(Relation index)
{
	if (sfx_preloaded)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot use surfidx index \"%s\" because the library was not loaded at server start",
					RelationGetRelationName(index)),
			 errhint("Add \"surfidx\" to shared_preload_libraries and restart the server.")));
}

/*
 * For the install script: the user who creates the extension is told now, not by the first index.
 */
PG_FUNCTION_INFO_V1(surfidx_preload_warning);

Datum
surfidx_preload_warning(PG_FUNCTION_ARGS)
{
	if (!sfx_preloaded)
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("surfidx was not loaded at server start: "
						"its indexes can be neither made nor used"),
				 errhint("Add \"surfidx\" to shared_preload_libraries and restart the server.")));
	PG_RETURN_VOID();
}

/*
 * See settings.h.  By a function of ours, not by name or OID: the access method may have been
 * created under any name.
 */
bool
sfx_is_ours(const IndexAmRoutine *am)
{
	return am != NULL && am->amoptions == sfx_options;
}

/* ------------------------------------------------------------------ storage parameters */

/*
 * What rd_options points to.  fillfactor and deduplicate_items are btree's: they are accepted, so
 * that statements written for btree work, and ignored, because leaves are always packed and
 * duplicates always share their key.
 */
typedef struct StoredOptions
{
	SfxOptions	opt;
	int			fillfactor;
	bool		deduplicate_items;
	/* offsets of strings */
	int			delta_size;
	int			size_limit;
	int			access_method;
} StoredOptions;

/* Validator of the storage parameter access_method (Q1). */
static void
check_method(const char *value)
{
	if (value != NULL && strcmp(value, SFX_METHOD) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for parameter \"%s\": \"%s\"", SFX_METHOD_OPTION, value),
				 errhint("Its only value is %s.", SFX_METHOD)));
}

#define SIZES_ARE	"It is a number of kB, or a number with a unit, such as '10 MB'."

/* ERROR unless it is a size between these, in kB. */
static void
check_size(const char *option, const char *value, int min, int max)
{
	const char *hint = NULL;
	int			size;

	if (value == NULL)
		return;
	if (!parse_int(value, &size, GUC_UNIT_KB, &hint))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"", option, value),
				 errhint("%s", hint ? _(hint) : SIZES_ARE)));
	if (size < min || size > max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value \"%s\" out of bounds for option \"%s\"", value, option),
				 errdetail("Valid values are between \"%dkB\" and \"%dkB\".", min, max),
				 errhint("%s", SIZES_ARE)));
}

static void
check_delta_size(const char *value)
{
	check_size("delta_size", value, MIN_DELTA_SIZE, MAX_DELTA_SIZE);
}

static void
check_size_limit(const char *value)
{
	check_size("size_limit", value, MIN_SIZE_LIMIT, MAX_SIZE_LIMIT);
}

/* Of what was checked; UNSET: not given. */
static int
size_of(const char *value)
{
	int			size;

	return value != NULL && parse_int(value, &size, GUC_UNIT_KB, NULL) ? size : UNSET;
}

static relopt_enum_elt_def hope_values[] = {
	{"auto", SFX_HOPE_AUTO},
	{"off", SFX_HOPE_OFF},
	{"single", SFX_HOPE_SINGLE},
	{"double", SFX_HOPE_DOUBLE},
	{"3grams", SFX_HOPE_GRAM3},
	{"4grams", SFX_HOPE_GRAM4},
	{"alm", SFX_HOPE_ALM},
	{"alm_improved", SFX_HOPE_ALM_IMPROVED},
	{"fsst", SFX_FSST},
	{NULL}
};

static relopt_enum_elt_def keys_values[] = {
	{"full", SFX_LEAVES_FULL},
	{"cut", SFX_LEAVES_CUT},
	{NULL}
};

static const struct config_enum_entry keys_setting[] = {
	{"full", SFX_LEAVES_FULL, false},
	{"cut", SFX_LEAVES_CUT, false},
	{NULL}
};

void
sfx_define_reloptions(void)
{
	/* core keeps a reference */
	static relopt_enum_elt_def codecs[] = {
		{"auto", 0}, {"plain", SFX_INT_PLAIN}, {"for", SFX_INT_FOR}, {"lfor", SFX_INT_LFOR}, {"ef", SFX_INT_EF},
		{"dbp", SFX_INT_DBP}, {"pdbp", SFX_INT_PDBP}, {"vbyte", SFX_INT_VBYTE}, {"varintgb", SFX_INT_VARINTGB},
		{"streamvbyte", SFX_INT_STREAMVBYTE}, {"decimals", SFX_INT_DECIMAL}, {NULL, 0}
	};
	const LOCKMODE lock = ShareUpdateExclusiveLock;

	sfx_relopt_kind = add_reloption_kind();
	add_enum_reloption(sfx_relopt_kind, "filter",
					   "Filter pages that tell which keys leaves do not have: none, bloom (single keys), surf (keys and ranges).",
					   filter_kinds, SFX_FILTER_NONE,
					   "Valid values are \"none\", \"bloom\" and \"surf\".", lock);
	add_int_reloption(sfx_relopt_kind, "surf_hash_bits",
					  "Bits of a key's hash in a filter of kind surf: fewer wrong answers for single keys.",
					  DEFAULT_HASH_BITS, 0, SFX_SURF_MAXBITS, lock);
	add_int_reloption(sfx_relopt_kind, "surf_real_bits",
					  "Bits of a key behind those that tell it from others in a filter of kind surf: fewer wrong answers for keys and ranges.",
					  DEFAULT_REAL_BITS, 0, SFX_SURF_MAXBITS, lock);
	add_string_reloption(sfx_relopt_kind, "delta_size",
						 "Size (kB, or a unit) of the delta at which a merge is due.",
						 NULL, check_delta_size, lock);
	add_real_reloption(sfx_relopt_kind, "merge_ratio",
					   "Entries of the delta for each of the tree at which a merge is due.",
					   UNSET, MIN_MERGE_RATIO, MAX_MERGE_RATIO, lock);
	add_real_reloption(sfx_relopt_kind, "run_ratio",
					   "A delta with fewer entries for each of the tree goes into a run; 0 never does.",
					   UNSET, 0.0, MAX_MERGE_RATIO, lock);
	add_enum_reloption(sfx_relopt_kind, "codec",
					   "Codec for the integers of keys, where it applies; for experiments.",
					   codecs, 0,
					   "Valid values are \"auto\", \"plain\", \"for\", \"lfor\", \"ef\", \"dbp\", \"pdbp\", \"vbyte\", \"varintgb\", \"streamvbyte\", and \"decimals\".",
					   lock);
	add_enum_reloption(sfx_relopt_kind, "hope",
					   "Dictionary with which leaves code keys.",
					   hope_values, SFX_HOPE_AUTO,
					   "Valid values are \"auto\", \"off\", \"single\", \"double\", \"3grams\", \"4grams\", \"alm\", \"alm_improved\" and \"fsst\".",
					   lock);
	add_enum_reloption(sfx_relopt_kind, "keys",
					   "What leaves have of keys: full, or cut to what tells them apart.",
					   keys_values, UNSET, "Valid values are \"full\" and \"cut\".", lock);
	add_string_reloption(sfx_relopt_kind, "size_limit",
						 "Size (kB, or a unit) near which leaves are cut that are read least.",
						 NULL, check_size_limit, lock);
	add_int_reloption(sfx_relopt_kind, "fillfactor",
					  "Accepted for compatibility with btree and ignored.",
					  BTREE_DEFAULT_FILLFACTOR, BTREE_MIN_FILLFACTOR, 100, lock);
	add_bool_reloption(sfx_relopt_kind, "deduplicate_items",
					   "Accepted for compatibility with btree and ignored.",
					   true, lock);
	add_string_reloption(sfx_relopt_kind, SFX_METHOD_OPTION,
						 "Makes the index of a PRIMARY KEY or UNIQUE constraint one of this access method.",
						 NULL, check_method, AccessExclusiveLock);
}

bytea *
sfx_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt table[] = {
		{"filter", RELOPT_TYPE_ENUM, offsetof(StoredOptions, opt.filter)},
		{"surf_hash_bits", RELOPT_TYPE_INT, offsetof(StoredOptions, opt.surf_hash_bits)},
		{"surf_real_bits", RELOPT_TYPE_INT, offsetof(StoredOptions, opt.surf_real_bits)},
		{"delta_size", RELOPT_TYPE_STRING, offsetof(StoredOptions, delta_size)},
		{"merge_ratio", RELOPT_TYPE_REAL, offsetof(StoredOptions, opt.merge_ratio)},
		{"run_ratio", RELOPT_TYPE_REAL, offsetof(StoredOptions, opt.run_ratio)},
		{"codec", RELOPT_TYPE_ENUM, offsetof(StoredOptions, opt.codec)},
		{"hope", RELOPT_TYPE_ENUM, offsetof(StoredOptions, opt.hope)},
		{"keys", RELOPT_TYPE_ENUM, offsetof(StoredOptions, opt.keys)},
		{"size_limit", RELOPT_TYPE_STRING, offsetof(StoredOptions, size_limit)},
		{"fillfactor", RELOPT_TYPE_INT, offsetof(StoredOptions, fillfactor)},
		{"deduplicate_items", RELOPT_TYPE_BOOL, offsetof(StoredOptions, deduplicate_items)},
		{SFX_METHOD_OPTION, RELOPT_TYPE_STRING, offsetof(StoredOptions, access_method)}
	};

	StoredOptions *stored = build_reloptions(reloptions, validate, sfx_relopt_kind,
											 sizeof(StoredOptions), table, lengthof(table));

	if (stored != NULL)
	{
		stored->opt.delta_size = size_of(GET_STRING_RELOPTION(stored, delta_size));
		stored->opt.size_limit = size_of(GET_STRING_RELOPTION(stored, size_limit));
	}
	return (bytea *) stored;
}

int
sfx_opt_delta_size(Relation index)
{
	SfxOptions *opt = (SfxOptions *) index->rd_options;

	return opt && opt->delta_size != UNSET ? opt->delta_size : guc_delta_size;
}

void
sfx_opt_filter(Relation index, SfxFilterSpec *spec)
{
	SfxOptions *opt = (SfxOptions *) index->rd_options;

	spec->kind = opt ? (SfxFilterKind) opt->filter : SFX_FILTER_NONE;
	spec->hashbits = opt ? opt->surf_hash_bits : DEFAULT_HASH_BITS;
	spec->realbits = opt ? opt->surf_real_bits : DEFAULT_REAL_BITS;
}

double
sfx_opt_merge_ratio(Relation index)
{
	SfxOptions *opt = (SfxOptions *) index->rd_options;

	return opt && opt->merge_ratio >= 0 ? opt->merge_ratio : guc_merge_ratio;
}

double
sfx_opt_run_ratio(Relation index)
{
	SfxOptions *opt = (SfxOptions *) index->rd_options;

	return opt && opt->run_ratio >= 0 ? opt->run_ratio : guc_run_ratio;
}

int
sfx_opt_codec(Relation index)
{
	SfxOptions *opt = (SfxOptions *) index->rd_options;

	return opt ? opt->codec : 0;
}

SfxLeafKeys
sfx_opt_keys(Relation index)
{
	SfxOptions *opt = (SfxOptions *) index->rd_options;

	if (opt && opt->keys != UNSET)
		return (SfxLeafKeys) opt->keys;
	if ((opt && opt->size_limit != UNSET) || sfx_guc_size_budget > 0)
		return SFX_LEAVES_BOUND;
	return (SfxLeafKeys) sfx_guc_keys;
}

int
sfx_opt_size_limit(Relation index)
{
	SfxOptions *opt = (SfxOptions *) index->rd_options;

	return opt && opt->size_limit != UNSET ? opt->size_limit : 0;
}

const char *
sfx_hope_name(int value)
{
	for (relopt_enum_elt_def *e = hope_values; e->string_val; e++)
		if (e->symbol_val == value)
			return e->string_val;
	return "unknown";
}

int
sfx_opt_hope(Relation index)
{
	SfxOptions *opt = (SfxOptions *) index->rd_options;

	return opt ? opt->hope : SFX_HOPE_AUTO;
}

/* See settings.h: a user who names a scheme wants its codes. */
bool
sfx_opt_packing(Relation index)
{
	int			hope = sfx_opt_hope(index);

	return hope == SFX_HOPE_AUTO || hope == SFX_HOPE_OFF;
}

/* ------------------------------------------------------------------ settings */

#define KB_A_PLACE		16		/* kB of surfidx.delta_memory for a place: two nodes of an image */
#define MIN_PLACES		64
#define MAX_PLACES		65536

int
sfx_shared_places(void)
{
	return Min(Max(sfx_guc_delta_memory / KB_A_PLACE, MIN_PLACES), MAX_PLACES);
}

/* Settings that are numbers.  Their variables hold the defaults. */
static const struct
{
	const char *name,
			   *what,
			   *more;
	int		   *variable;
	int			min,
				max;
	GucContext	context;
	int			flags;
}			numbers[] = {

	{"surfidx.delta_size", "Size of an index's delta at which a merge is due.",
		"The storage parameter delta_size overrides it.",
	&guc_delta_size, MIN_DELTA_SIZE, MAX_DELTA_SIZE, PGC_SIGHUP, GUC_UNIT_KB},
	{"surfidx.idle_flush",
		"Time without inserts after which a delta that is read is merged; -1 never.",
		"Readers ask for it: where nobody reads nobody waits.",
	&sfx_guc_idle_flush, -1, INT_MAX / 1000, PGC_SIGHUP, GUC_UNIT_S},
	{"surfidx.merge_cost_limit", "Page costs after which a merge worker sleeps.", NULL,
	&sfx_guc_merge_cost_limit, 1, 10000, PGC_SIGHUP, 0},
	{"surfidx.max_merge_workers", "Merge workers that may run at once in the server.",
		"Each takes one of max_worker_processes.",
	&sfx_guc_max_merge_workers, 1, SFX_MAX_MERGE_WORKERS, PGC_SIGHUP, 0},
	{"surfidx.merge_worker_idle",
		"Time that a merge worker waits for more to merge before it ends.",
		"It ends sooner if another database needs its place, or its own is to be dropped.",
	&sfx_guc_merge_worker_idle, 0, 3600000, PGC_SIGHUP, GUC_UNIT_MS},
	{"surfidx.log_merge_min_duration", "Merges that take so long are logged; -1 none.", NULL,
	&sfx_guc_log_merge_min_duration, -1, INT_MAX, PGC_SUSET, GUC_UNIT_MS},
	{"surfidx.read_ahead", "Pages of the table that a scan asks for before it visits their rows.",
		"A higher effective_io_concurrency raises it; 0 disables it.",
	&sfx_guc_read_ahead, 0, 256, PGC_USERSET, 0},
	{"surfidx.size_budget", "Size of all indexes of a database near which leaves are cut; 0 none.",
		"It is set for the server or for a database: workers see to it.",
	&sfx_guc_size_budget, 0, MAX_KILOBYTES, PGC_SUSET, GUC_UNIT_KB},
	{"surfidx.budget_interval",
		"Time between looks of workers for surfidx.size_budget and autotune.",
		"Only if indexes are read or written meanwhile.",
	&sfx_guc_budget_interval, 1, 86400, PGC_SIGHUP, GUC_UNIT_S},
	/* the size of shared memory is fixed at server start */
	{"surfidx.delta_memory", "Shared memory for the deltas of all surfidx indexes.",
		"Deltas beyond it are read from their pages, which is slower.",
	&sfx_guc_delta_memory, 1024, MAX_KILOBYTES, PGC_POSTMASTER, GUC_UNIT_KB},
};

static void
define_ratios(void)
{
	DefineCustomRealVariable("surfidx.merge_ratio",
							 "Entries of the delta for each of the tree at which a merge is due.",
							 "The storage parameter merge_ratio overrides it.",
							 &guc_merge_ratio, guc_merge_ratio,
							 MIN_MERGE_RATIO, MAX_MERGE_RATIO,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("surfidx.run_ratio",
							 "A delta with fewer entries for each of the tree goes into a run, a smaller tree.",
							 "0 disables runs. The storage parameter run_ratio overrides it.",
							 &guc_run_ratio, guc_run_ratio, 0.0, MAX_MERGE_RATIO,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("surfidx.merge_cost_delay",
							 "Time that a merge worker sleeps each time its page costs reach surfidx.merge_cost_limit; 0 never.",
							 "Page costs are those of vacuum_cost_page_hit, _miss and _dirty.",
							 &sfx_guc_merge_cost_delay, sfx_guc_merge_cost_delay, 0, 100,
							 PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
}

void
sfx_define_gucs(bool preloading)
{
	for (int i = 0; i < lengthof(numbers); i++)
		if (preloading || numbers[i].context != PGC_POSTMASTER)
			DefineCustomIntVariable(numbers[i].name, numbers[i].what, numbers[i].more,
									numbers[i].variable, *numbers[i].variable,
									numbers[i].min, numbers[i].max, numbers[i].context,
									numbers[i].flags, NULL, NULL, NULL);
	define_ratios();
	DefineCustomBoolVariable("surfidx.autotune",
							 "Workers set what surfidx_tune() proposes, if it is unset.",
							 "One at a time; the server log tells which, and how to undo it.",
							 &sfx_guc_autotune, false,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("surfidx.auto_merge",
							 "Starts background workers for merges that are due.", NULL,
							 &sfx_guc_auto_merge, sfx_guc_auto_merge,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("surfidx.keys",
							 "What leaves have of keys: full, or cut to what tells them apart.",
							 "The storage parameter keys overrides it.",
							 &sfx_guc_keys, sfx_guc_keys, keys_setting,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("surfidx.version",
							   "Version of the library that the server has loaded.",
							   NULL, &version, SFX_VERSION, PGC_INTERNAL,
							   GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, NULL, NULL, NULL);
	/* a prefix can be reserved only when all its settings are defined */
	if (preloading)
		MarkGUCPrefixReserved("surfidx");
}

/* ---- workers ---- */

/*
 * See settings.h.  Here are settings that an administrator or a database may have set for sessions.
 * A snapshot must not outlive the question to the table for which it was taken (dead_rows.c), no
 * timeout may end a merge, and the statistics must not be as old as the worker's transaction.
 */
void
sfx_worker_settings(void)
{
	static const char *const settings[][2] = {
		{"default_transaction_isolation", "read committed"},
		{"stats_fetch_consistency", "none"},
		{"statement_timeout", "0"},
		{"lock_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		SFX_MORE_TIMEOUTS
	};

	for (int i = 0; i < lengthof(settings); i++)
		SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_OVERRIDE);
}
