"""Django, SQLAlchemy and Alembic with surfidx indexes (docs/integrations.md).

scripts/integrations.sh runs it.  Connects as libpq's variables say; the table names are its own.
Ends with an exception if something is not as told.
"""

import datetime
import os

import alembic
import django
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from django.conf import settings

settings.configure(
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ["PGDATABASE"],
        "OPTIONS": {"options": "-c surfidx.in_place_of_btree=all"},
    }},
    INSTALLED_APPS=["django.contrib.contenttypes"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
django.setup()

from django.contrib.postgres.indexes import PostgresIndex
from django.core.paginator import Paginator
from django.db import connection, models


class SurfidxIndex(PostgresIndex):
    suffix = "surfidx"


class Visit(models.Model):
    url = models.CharField(max_length=200, db_index=True)
    at = models.DateTimeField()

    class Meta:
        app_label = "shop"
        indexes = [
            SurfidxIndex(fields=["at", "-url"], name="visit_at", include=["id"]),
            SurfidxIndex(fields=["url"], name="visit_url", condition=models.Q(url__gt="m")),
            models.Index(fields=["at"], name="visit_plain"),
        ]
        constraints = [models.UniqueConstraint(fields=["url", "at"], name="visit_once")]


def methods(table):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.relname, a.amname FROM pg_index x JOIN pg_class i ON i.oid = indexrelid"
            " JOIN pg_am a ON a.oid = i.relam WHERE indrelid = %s::regclass", [table])
        return dict(cursor.fetchall())


def try_django():
    with connection.schema_editor() as editor:
        editor.create_model(Visit)
    made = methods("shop_visit")
    unique = "surfidx" if connection.pg_version >= 180000 else "btree"
    assert made["visit_at"] == made["visit_url"] == made["visit_plain"] == "surfidx", made
    assert made["shop_visit_pkey"] == made["visit_once"] == unique, made
    with connection.cursor() as cursor:
        seen = connection.introspection.get_constraints(cursor, "shop_visit")
    assert seen["visit_at"]["columns"][:2] == ["at", "url"] and seen["visit_at"]["index"], seen
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    Visit.objects.bulk_create(
        Visit(url="u%d" % i, at=start + datetime.timedelta(seconds=i)) for i in range(1000))
    assert Visit.objects.filter(at__gt=start + datetime.timedelta(seconds=600)).count() == 399
    Visit.objects.bulk_create([Visit(url="u1", at=start + datetime.timedelta(seconds=1))],
                              ignore_conflicts=True)
    assert Visit.objects.count() == 1000
    # a page far off: the rows before it are not fetched
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE) shop_visit")
    rows = Visit.objects.order_by("at", "-url")
    pages = Paginator(rows, 20)
    assert (pages.count, pages.page(40)[0].url) == (1000, "u780"), pages.page(40)[0].url
    plan = rows[780:800].explain(analyze=True, timing=False, costs=False)
    assert "visit_at on shop_visit (actual rows=20" in plan.replace(".00", ""), plan
    # migrations: another column type, an index less, one more
    longer = models.CharField(max_length=400, db_index=True)
    longer.set_attributes_from_name("url")
    longer.model = Visit
    with connection.schema_editor() as editor:
        editor.alter_field(Visit, Visit._meta.get_field("url"), longer)
        editor.remove_index(Visit, Visit._meta.indexes[0])
        editor.add_index(Visit, SurfidxIndex(fields=["-at"], name="visit_late"))
    left = methods("shop_visit")
    assert "visit_at" not in left and left["visit_late"] == "surfidx", left
    print("Django %s: ok" % django.get_version())


def metadata():
    data = sa.MetaData()
    sa.Table(
        "event", data, sa.Column("id", sa.Integer, primary_key=True), sa.Column("kind", sa.Text),
        sa.Column("n", sa.Integer),
        sa.Index("event_kind", "kind", "n", postgresql_using="surfidx", postgresql_include=["id"],
                 postgresql_with={"delta_size": "128"}))
    return data


def try_sqlalchemy():
    engine = sa.create_engine("postgresql+psycopg2://")
    data = metadata()
    data.create_all(engine)
    assert methods("event")["event_kind"] == "surfidx"
    event = data.tables["event"]
    with engine.begin() as session:
        session.execute(event.insert(), [{"id": i, "kind": "k%d" % (i % 7), "n": i} for i in range(700)])
    with engine.connect() as session:
        groups = session.execute(
            sa.select(event.c.kind, sa.func.count()).group_by(event.c.kind).order_by(event.c.kind)).all()
        changes = [c for c in compare_metadata(MigrationContext.configure(session), metadata())
                   if "event" in str(c)]
    assert groups == [("k%d" % i, 100) for i in range(7)], groups
    # what autogenerate would change: nothing
    assert not changes, changes
    print("SQLAlchemy %s, Alembic %s: ok" % (sa.__version__, alembic.__version__))


try_django()
try_sqlalchemy()
