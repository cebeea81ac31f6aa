/*-------------------------------------------------------------------------
 * validate.c - operator classes: amvalidate(), and what their members depend on
 *
 * A class has btree's five operators, a comparison function (1) and a byte encoding (7); the other
 * support functions (sort support, in_range, equalimage, options, skip support) are optional.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "am.h"
#include "catalog_rows.h"
#include "encode.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/xact.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#define SKIPSUPPORT_PROC	6	/* core has a name for it since 18 only */

#define ALL_STRATEGIES \
	(1 << BTLessStrategyNumber | 1 << BTLessEqualStrategyNumber | 1 << BTEqualStrategyNumber | \
	 1 << BTGreaterEqualStrategyNumber | 1 << BTGreaterStrategyNumber)

typedef struct Validation
{
	Oid			opcintype;
	const char *opcname;
	const char *famname;
	CatCList   *operators;
	CatCList   *functions;
	bool		ok;
} Validation;

/* Report a fault; "what" continues the sentence after the family's name. */
static void
fault(Validation *v, const char *what)
{
	v->ok = false;
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("surfidx operator family \"%s\" %s", v->famname, what)));
}

/*
 * Has a support function the signature that its number requires?  False also for a number that does
 * not exist.
 */
static bool
function_fits(Form_pg_amproc f)
{
	switch (f->amprocnum)
	{
		case BTORDER_PROC:
			return check_amproc_signature(f->amproc, INT4OID, true, 2, 2, f->amproclefttype, f->amprocrighttype);
		case BTSORTSUPPORT_PROC:
		case SKIPSUPPORT_PROC:
			return check_amproc_signature(f->amproc, VOIDOID, true, 1, 1, INTERNALOID);
		case BTINRANGE_PROC:
			return check_amproc_signature(f->amproc, BOOLOID, true, 5, 5, f->amproclefttype, f->amproclefttype,
										  f->amprocrighttype, BOOLOID, BOOLOID);
		case BTEQUALIMAGE_PROC:
			return check_amproc_signature(f->amproc, BOOLOID, true, 1, 1, OIDOID);
		case BTOPTIONS_PROC:
			return check_amoptsproc_signature(f->amproc);
		case SFX_ENCODING_PROC:
			return check_amproc_signature(f->amproc, INTERNALOID, true, 1, 1, INTERNALOID);
		default:
			return false;
	}
}

static void
validate_functions(Validation *v)
{
	for (int i = 0; i < v->functions->n_members; i++)
	{
		Form_pg_amproc f = (Form_pg_amproc) GETSTRUCT(&v->functions->members[i]->tuple);

		if (f->amprocnum < 1 || f->amprocnum > SFX_NPROCS)
			fault(v, psprintf("contains function %s with support number %d, which does not exist",
							  format_procedure(f->amproc), f->amprocnum));
		else if (!function_fits(f))
			fault(v, psprintf("contains function %s, whose signature is wrong for support number %d",
							  format_procedure(f->amproc), f->amprocnum));
	}
}

static void
validate_operators(Validation *v)
{
	for (int i = 0; i < v->operators->n_members; i++)
	{
		Form_pg_amop o = (Form_pg_amop) GETSTRUCT(&v->operators->members[i]->tuple);

		if (o->amopstrategy < 1 || o->amopstrategy > BTMaxStrategyNumber)
			fault(v, psprintf("contains operator %s with strategy number %d, which does not exist",
							  format_operator(o->amopopr), o->amopstrategy));
		if (o->amoppurpose != AMOP_SEARCH || OidIsValid(o->amopsortfamily))
			fault(v, psprintf("contains operator %s for ORDER BY, which is not supported",
							  format_operator(o->amopopr)));
		if (!check_amop_signature(o->amopopr, BOOLOID, o->amoplefttype, o->amoprighttype))
			fault(v, psprintf("contains operator %s, whose signature is wrong", format_operator(o->amopopr)));
	}
}

/* Check the operators and functions that a pair of types must have. */
static void
validate_group(Validation *v, const OpFamilyOpFuncGroup *g)
{
	const char *left = format_type_be(g->lefttype);
	const char *right = format_type_be(g->righttype);

	if (g->operatorset != ALL_STRATEGIES)
		fault(v, psprintf("lacks operators for types %s and %s", left, right));
	if ((g->functionset & (1 << BTORDER_PROC)) == 0)
		fault(v, psprintf("lacks support function %d for types %s and %s", BTORDER_PROC, left, right));
}

/*
 * Check that each pair of types is complete, and that all pairs are there: the planner derives
 * conditions across types only as far as families go.
 */
static void
validate_groups(Validation *v)
{
	List	   *types = NIL;
	int			npairs = 0;
	bool		found = false;

	foreach_ptr(OpFamilyOpFuncGroup, g, identify_opfamily_groups(v->operators, v->functions))
	{
		/* the offset type of in_range (interval) need not be a type of the family */
		if (g->operatorset == 0 && g->functionset == (1 << BTINRANGE_PROC))
			continue;
		npairs++;
		types = list_append_unique_oid(types, g->lefttype);
		types = list_append_unique_oid(types, g->righttype);
		if (g->lefttype == v->opcintype && g->righttype == v->opcintype)
			found = true;
		validate_group(v, g);
	}
	if (!found)
		fault(v, psprintf("lacks the operators and functions of operator class \"%s\"", v->opcname));
	if (npairs != list_length(types) * list_length(types))
		fault(v, "lacks operators between some of its types");
}

bool
sfx_validate(Oid opclass)
{
	Validation	v = {0};
	HeapTuple	classtup = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	HeapTuple	famtup;
	Form_pg_opclass class;

	if (!HeapTupleIsValid(classtup))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class = (Form_pg_opclass) GETSTRUCT(classtup);
	famtup = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(class->opcfamily));
	if (!HeapTupleIsValid(famtup))
		elog(ERROR, "cache lookup failed for operator family %u", class->opcfamily);

	v.ok = true;
	v.opcintype = class->opcintype;
	v.opcname = NameStr(class->opcname);
	v.famname = NameStr(((Form_pg_opfamily) GETSTRUCT(famtup))->opfname);
	v.operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(class->opcfamily));
	v.functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(class->opcfamily));

	validate_functions(&v);
	validate_operators(&v);
	validate_groups(&v);

	ReleaseCatCacheList(v.functions);
	ReleaseCatCacheList(v.operators);
	ReleaseSysCache(famtup);
	ReleaseSysCache(classtup);
	return v.ok;
}

/* ------------------------------------------------------------------ dependencies */

/*
 * Is the member one that a class cannot do without, and that belongs to one type?  Then it is
 * dropped with the class.  All others are loosely tied to the family, and can be dropped on their
 * own.
 */
static bool
is_essential(const OpFamilyMember *m)
{
	if (m->lefttype != m->righttype)
		return false;
	return !m->is_func || m->number == BTORDER_PROC || m->number == SFX_ENCODING_PROC;
}

static Oid
family_am(Oid opfamily)
{
	FormData_pg_opfamily row;

	if (!sfx_row_get(OPFAMILYOID, opfamily, &row, sizeof(row)))
		elog(ERROR, "cache lookup failed for operator family %u", opfamily);
	return row.opfmethod;
}

static void
adjust_member(OpFamilyMember *m, Oid opfamily, Oid opclass, Oid opcintype)
{
	Oid			owner = InvalidOid;

	if (is_essential(m))
		owner = OidIsValid(opclass) && m->lefttype == opcintype ? opclass :
			opclass_for_family_datatype(family_am(opfamily), opfamily, m->lefttype);
	m->ref_is_hard = OidIsValid(owner);
	m->ref_is_family = !OidIsValid(owner);
	m->refobjid = OidIsValid(owner) ? owner : opfamily;
}

void
sfx_adjustmembers(Oid opfamily, Oid opclass, List *operators, List *functions)
{
	Oid			opcintype = InvalidOid;

	if (OidIsValid(opclass))
	{
		/* the class was made by the command that is running */
		CommandCounterIncrement();
		opcintype = get_opclass_input_type(opclass);
	}
	foreach_ptr(OpFamilyMember, m, operators)
		adjust_member(m, opfamily, opclass, opcintype);
	foreach_ptr(OpFamilyMember, m, functions)
		adjust_member(m, opfamily, opclass, opcintype);
}
