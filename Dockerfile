# The official image of PostgreSQL with surfidx in it.
#
#	docker build --build-arg PG=18 -t postgres-surfidx .
#	docker run -e POSTGRES_PASSWORD=secret postgres-surfidx
#
# A new database has the library loaded and the extension created, in the schema surfidx.  For a
# volume that has a database already: ALTER SYSTEM SET shared_preload_libraries = 'surfidx', restart,
# CREATE EXTENSION.

ARG PG=18

FROM postgres:$PG AS build
ARG PG
RUN apt-get update && \
	apt-get install -y --no-install-recommends gcc libc6-dev make "postgresql-server-dev-$PG"
COPY . /surfidx
RUN make -s -C /surfidx -j"$(nproc)" PG_CONFIG="/usr/lib/postgresql/$PG/bin/pg_config" && \
	make -s -C /surfidx install DESTDIR=/out PG_CONFIG="/usr/lib/postgresql/$PG/bin/pg_config"

FROM postgres:$PG
COPY --from=build /out/usr /usr
COPY scripts/docker-init.sh /docker-entrypoint-initdb.d/00-surfidx.sh
