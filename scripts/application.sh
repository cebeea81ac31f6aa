#!/bin/bash
# Applications' own tests with btree and with surfidx in its place, once with
# surfidx.in_place_of_btree = off and once with all: those parts of Django's suite that come to
# tables, and what SQLAlchemy's has for each kind of database, and for PostgreSQL.
#
#	application.sh [django|sqlalchemy] [part]...
#									which, default: both; parts as its tests/ or test/ has them
#	DJANGO=version SQLALCHEMY=version
#									from PyPI, 5.2 and 2.1 and what follows them if not said
#
# With all, the lines are in force that docs/integrations.md has for Django's settings.
#
# What fails with surfidx and not with btree has to stand in scripts/application.txt, with the
# reason, for this version of the server ("before 18": constraints stay btree there).  Needs
# python3 with venv, a way to PyPI, and a server with uuid-ossp, as distributions have it; keeps what
# it fetches in build/application.  The last line for each is "same: N tests" or says what differs;
# then the status is 1.

cd "$(dirname "$0")/.." || exit 1
. scripts/common.sh
. scripts/cluster.sh
readonly HERE=$PWD KEPT=$PWD/build/application PYTHON=$PWD/build/application/venv/bin/python
readonly PARTS="aggregation aggregation_regress annotations backends basic bulk_create constraints
	custom_columns custom_pk dates datatypes db_functions defer delete delete_regress
	distinct_on_fields expressions expressions_case expressions_window extra_regress
	filtered_relation fixtures fixtures_regress force_insert_update foreign_object
	generic_relations get_or_create indexes inspectdb introspection known_related_objects lookup
	m2m_intermediary m2m_multiple m2m_recursive m2m_regress m2m_through m2m_through_regress
	many_to_many many_to_one many_to_one_null migrate_signals migrations migrations2 model_fields
	model_indexes model_inheritance model_inheritance_regress multiple_database
	mutually_referential nested_foreign_keys null_fk null_fk_ordering null_queries one_to_one
	order_with_respect_to ordering or_lookups postgres_tests prefetch_related proxy_models
	queries raw_query reserved_names schema select_for_update select_related
	select_related_regress serializers string_lookup swappable_models transaction_hooks
	transactions unmanaged_models update update_only_fields validation"

readonly SQL_PARTS="test/dialect/postgresql test/dialect/test_suite.py test/engine"

# ---- Django ----

fetch_django()
{
	if ! ls -d "$KEPT"/django-*/tests >/dev/null 2>&1; then
		(cd "$KEPT" && "$PYTHON" -m pip -q download --no-deps --no-binary :all: \
			"django==${DJANGO:-5.2.*}" && tar -xzf django-*.tar.gz) || return
	fi
	"$PYTHON" -c 'import django, psycopg_pool, tblib' 2>/dev/null ||
		"$PYTHON" -m pip -q install "psycopg[binary,pool]" tblib "$KEPT"/django-*/
}

# write_settings mode: its baseline is Django as it comes
write_settings()
{
	cat >"$WORK/surfidx_settings.py" <<-END
		def database(name):
		    return {"ENGINE": "django.db.backends.postgresql", "NAME": name, "USER": "postgres",
		            "HOST": "$PGHOST", "PORT": "$PGPORT"}
		DATABASES = {"default": database("app"), "other": database("app_other")}
		SECRET_KEY = "secret"
		PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
		DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
		USE_TZ = False
	END
	[ "$1" = off ] || sed -n '/^    from django.db.backends.postgresql.introspection/,/^[^ ]/s/^    //p' \
		"$HERE/docs/integrations.md" >>"$WORK/surfidx_settings.py"
}

# run_django mode log part...: names of what fails; Django makes its databases anew
run_django()
{
	local log=$2

	write_settings "$1"
	shift 2
	(cd "$KEPT"/django-*/tests && PYTHONPATH=$WORK "$PYTHON" runtests.py \
		--settings=surfidx_settings --noinput --parallel "$(nproc)" "$@") >"$log" 2>&1
	tests=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$log")
	sed -nE 's/^(FAIL|ERROR): [^ ]+ \(([^)]*)\).*/\2/p' "$log"
}

# ---- SQLAlchemy ----

fetch_sqlalchemy()
{
	if ! ls -d "$KEPT"/sqlalchemy-*/test >/dev/null 2>&1; then
		(cd "$KEPT" && "$PYTHON" -m pip -q download --no-deps --no-binary :all: \
			"sqlalchemy==${SQLALCHEMY:-2.1.*}" && tar -xzf sqlalchemy-*.tar.gz) || return
	fi
	"$PYTHON" -c 'import sqlalchemy, psycopg, pytest, xdist' 2>/dev/null ||
		"$PYTHON" -m pip -q install "psycopg[binary]" "pytest<10" pytest-xdist "$KEPT"/sqlalchemy-*/
}

# Its database may have nothing in it but the schemas that it asks for: ours are in one of their own.
make_database()
{
	psql -X -q -d template1 -v ON_ERROR_STOP=1 -c "DROP DATABASE IF EXISTS sa" \
		-c "CREATE DATABASE sa ENCODING 'UTF8' TEMPLATE template0" &&
		psql -X -q -d sa -v ON_ERROR_STOP=1 -c "CREATE SCHEMA surfidx" \
			-c "CREATE EXTENSION surfidx SCHEMA surfidx" \
			-c "CREATE SCHEMA test_schema" -c "CREATE SCHEMA test_schema_2" \
			-c "ALTER DATABASE sa SET default_text_search_config = 'pg_catalog.english'"
}

# run_sqlalchemy mode log part...: names of what fails, without the server's version
run_sqlalchemy()
{
	local log=$2

	shift 2
	make_database || die "no database"
	(cd "$KEPT"/sqlalchemy-*/ && "$PYTHON" -m pytest -q -n "$(nproc)" --maxfail=10000 -p no:cacheprovider \
		--backend-only --dburi "postgresql+psycopg://postgres@/sa?host=$PGHOST&port=$PGPORT" \
		"$@") >"$log" 2>&1
	tests=$(sed -nE 's/^.*[ =]([0-9]+) passed.*/\1/p' "$log" | tail -1)
	sed -nE 's/^(FAILED|ERROR) (test[^ ]*).*/\2/p' "$log" | sed -E 's/_postgresql\+psycopg[0-9_]*//'
}

# ---- both ----

# Of each test that scripts/application.txt explains, its name.
explained()
{
	sed -n 's/^\([^#\t ][^\t]*\)\t.*/\1/p' "$HERE/scripts/application.txt" | sort -u
}

# try application part...: with both settings; status 1 where they differ
try()
{
	local application=$1 mode log

	shift
	for mode in off all; do
		log=$KEPT/$application.$mode.log
		sql -c "ALTER ROLE postgres SET surfidx.in_place_of_btree = '$mode'"
		tests=
		"run_$application" "$mode" "$log" "$@" >"$WORK/failed"
		[ -n "$tests" ] || { tail -20 "$log"; die "the tests did not end: $log"; }
		sort -u "$WORK/failed" >"$WORK/$mode.failed"
		echo "$application, $mode: $tests tests, $(wc -l <"$WORK/$mode.failed") fail"
	done
	comm -13 "$WORK/off.failed" "$WORK/all.failed" >"$WORK/new"
	explained | comm -23 "$WORK/new" - >"$WORK/differs"
	if [ -s "$WORK/differs" ]; then
		echo "with surfidx these fail, too ($log):"
		cat "$WORK/differs"
		return 1
	fi
	echo "same: $tests tests, but for $(wc -l <"$WORK/new") that are explained"
}

which="django sqlalchemy"
case $1 in
	django | sqlalchemy)
		which=$1
		shift
		;;
	?*) die "first comes django or sqlalchemy, then its parts" ;;
esac
mkdir -p "$KEPT"
[ -x "$PYTHON" ] || python3 -m venv "$KEPT/venv" || die "python3 has no venv"
for application in $which; do
	"fetch_$application" || die "could not get $application"
done
make_workdir
trap cluster_cleanup EXIT
find_postgres
[ -f "$("$PG_CONFIG" --sharedir)/extension/uuid-ossp.control" ] ||
	die "Django wants uuid-ossp, which this server lacks: $PG_CONFIG"
scripts/install.sh >/dev/null || die "could not build and install surfidx"
cluster_start application "surfidx.unique_notice = off" "max_prepared_transactions = 10" ||
	die "no server"
psql -X -q -d template1 -c "CREATE EXTENSION surfidx"
failed=0
for application in $which; do
	parts=$PARTS
	[ "$application" = django ] || parts=$SQL_PARTS
	# shellcheck disable=SC2086
	try "$application" ${*:-$parts} || failed=1
done
if grep -E 'TRAP:|PANIC:|was terminated by signal' "$CLUSTER_LOG"; then
	die "the server fell"
fi
cluster_stop
exit $failed
