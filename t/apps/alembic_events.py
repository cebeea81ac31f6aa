"""SQLAlchemy and Alembic: a revision by autogenerate, up and down; ORM, upserts, pages by key.

Connects as libpq's variables say.
"""

import contextlib
import io
import os
import tempfile

import alembic
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert

print("version: %s, Alembic %s" % (sa.__version__, alembic.__version__))
url = "postgresql+psycopg:///?host=%(PGHOST)s&port=%(PGPORT)s&user=%(PGUSER)s&dbname=%(PGDATABASE)s" \
    % os.environ
where = tempfile.mkdtemp()


class Base(orm.DeclarativeBase):
    pass


class Source(Base):
    __tablename__ = "source"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(40), unique=True, nullable=False)


class Event(Base):
    __tablename__ = "event"
    id = sa.Column(sa.BigInteger, primary_key=True)
    source_id = sa.Column(sa.ForeignKey("source.id", ondelete="CASCADE"), index=True)
    kind = sa.Column(sa.Text, nullable=False)
    at = sa.Column(sa.DateTime, nullable=False)
    __table_args__ = (sa.Index("event_kind_at", "kind", "at"),
                      sa.Index("event_lower", sa.text("lower(kind)")))


open(where + "/env.py", "w").write("""
from alembic import context
connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=context.config.attributes["metadata"])
with context.begin_transaction():
    context.run_migrations()
""")
open(where + "/script.py.mako", "w").write("""
import sqlalchemy as sa
from alembic import op
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
def upgrade():
    ${upgrades if upgrades else "pass"}
def downgrade():
    ${downgrades if downgrades else "pass"}
""")
os.mkdir(where + "/versions")
engine = sa.create_engine(url)


def run(step, *args, **kwargs):
    config = Config()
    config.set_main_option("script_location", where)
    with engine.begin() as connection, contextlib.redirect_stdout(io.StringIO()):
        config.attributes["connection"] = connection
        config.attributes["metadata"] = Base.metadata
        step(config, *args, **kwargs)


run(command.revision, message="first", autogenerate=True)
run(command.upgrade, "head")
with orm.Session(engine) as session:
    session.add_all(Source(id=i, name="s%d" % i) for i in range(20))
    session.flush()
    session.execute(sa.insert(Event), [
        {"id": i, "source_id": i % 20, "kind": "kind %d" % (i % 9),
         "at": "2026-01-01 00:%02d:%02d" % (i // 60 % 60, i % 60)}
        for i in range(3000)])
    session.commit()
    upsert = insert(Source).values(id=99, name="s7").on_conflict_do_update(
        index_elements=["name"], set_={"name": "seven"}).returning(Source.id, Source.name)
    print(session.execute(upsert).all())
    last, pages = -1, 0
    while rows := session.execute(sa.select(Event.id).where(Event.id > last).order_by(Event.id)
                                  .limit(400)).scalars().all():
        last, pages = rows[-1], pages + 1
    print(pages, last)
    print(session.execute(sa.select(Event.kind, sa.func.count(), sa.func.max(Event.at))
                          .group_by(Event.kind).order_by(Event.kind)).all()[:3])
    print(session.execute(sa.select(sa.func.count()).where(sa.func.lower(Event.kind) == "kind 3"))
          .scalar())
    session.execute(sa.delete(Source).where(Source.id < 5))
    session.commit()
    print(session.scalar(sa.select(sa.func.count(Event.id))))
# a model that changes
sa.Index("event_at", Event.__table__.c.at)
Event.__table__.append_column(sa.Column("note", sa.Text, index=True))
run(command.revision, message="second", autogenerate=True)
run(command.upgrade, "head")
with engine.connect() as connection:
    left = [c for c in compare_metadata(MigrationContext.configure(connection), Base.metadata)]
    print("left:", [c[0] for c in left])
    print(sorted(i["name"] for i in sa.inspect(connection).get_indexes("event")))
run(command.downgrade, "base")
with engine.connect() as connection:
    print(sa.inspect(connection).get_table_names())
run(command.upgrade, "head")
