# surfidx: build with PGXS; tests and demo install what they need first.
#
#	make [PG_CONFIG=/path/to/pg_config]		build the extension
#	make install							as root or with sudo
#	make test [ONLY=core|regress|isolation|tap|stops]	build, install, run all tests on throw-away clusters
#	make lint								gcc and clang with -Wall -Wextra -Werror, cppcheck, layers, tidy, indentation
#	make test-mutants						break each rule that a test guards, and see that the test fails
#	make nightly [NIGHTLY="storm sqlsmith"]	scripts/nightly.sh: what takes hours, a line each
#	make test-core PGSRC=/path/to/source	PostgreSQL's own tests with surfidx in place of btree: scripts/test_core.sh
#	make test-versions [VERSIONS="17 18"]	the same on PostgreSQL 15 to 19, on Debian as root
#	make test-package						build Debian packages, unpack and try one
#	make demo								build, install, run scripts/demo.sh
#	make demo-shards						the same with scripts/demo_shards.sh: a table over three shards
#	make bench [BENCH_ARGS="--rows 100000 int8"]	build, install, run bench/run.sh: surfidx beside btree
#	make bench-full [BENCH_ARGS="--rows 100000 load"]	bench/full.sh, for hours: larger tables, writing, pgbench's clients, more than memory, other access methods
#	make bench-core [ENTRIES=1000000]		the codecs and leaves of src/core, without a server
#	make fuzz NAME=delta [SECS=60] [KEEP=keep]	run one fuzz target of src/core

EXTENSION = surfidx
MODULE_big = surfidx
DATA = $(sort $(wildcard surfidx--*.sql))
# Into surfidx/ below the server's documents: HINTs name them.
DOCS = $(sort $(wildcard docs/*.md docs/*.svg))
PGFILEDESC = "surfidx - compressed ordered index"

# A folder of src may include itself and those before it: scripts/layers.pl.  CORE needs no server.
CORE = core/processor core/integers core/strings core/tries core/filters core/blocks core/leaves core/image
LAYERS = base before18 types keys pages delta tree merge ddl elastic schedule vacuum scankey count read group exec estimate offset check inspect am
CORE_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard $(CORE:%=src/%/*.c))))
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard $(LAYERS:%=src/%/*.c)))) $(CORE_OBJS)
PG_CPPFLAGS = $(CORE:%=-Isrc/%) $(LAYERS:%=-Isrc/%)
# 15's headers declare functions as (), any arguments; in C23, gcc 15's default, that means none.
PG_CFLAGS = $(if $(filter 15,$(MAJORVERSION)),-std=gnu17)
SHLIB_LINK = -Wl,--version-script=src/surfidx.map
EXTRA_CLEAN = build

# For "make installcheck" against a running server that preloads surfidx; "make test" needs no server.
REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
ISOLATION = $(patsubst specs/%.spec,%,$(sort $(wildcard specs/*.spec)))
ISOLATION_OPTS = --load-extension=surfidx

# No bitcode: it would need the very clang that PostgreSQL was built with, and gains nothing here.
override with_llvm = no

.DEFAULT_GOAL := all
.PHONY: test lint nightly test-mutants test-core test-versions test-package demo demo-shards bench bench-full bench-core fuzz

# An empty answer means that there is no PostgreSQL to build against yet.
PG_CONFIG ?= $(shell scripts/pg_config.sh 2>/dev/null)
PGXS := $(if $(PG_CONFIG),$(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null)))

test:
	@scripts/setup.sh
	@scripts/test.sh

lint:
	@scripts/setup.sh gcc clang cppcheck pg_bsd_indent
	@scripts/lint.sh

test-mutants:
	@scripts/setup.sh
	@scripts/mutants.sh

nightly:
	@scripts/setup.sh gcc clang cppcheck pg_bsd_indent sqlsmith
	@scripts/nightly.sh $(NIGHTLY)

test-core:
	@PGSRC='$(PGSRC)' scripts/test_core.sh

test-versions:
	@scripts/versions.sh $(VERSIONS)

test-package:
	@scripts/setup.sh
	@scripts/package.sh

demo:
	@scripts/setup.sh
	@scripts/install.sh
	@scripts/demo.sh

demo-shards:
	@scripts/setup.sh
	@scripts/install.sh
	@scripts/demo_shards.sh

bench:
	@scripts/setup.sh
	@scripts/install.sh
	@bench/run.sh $(BENCH_ARGS)

bench-full:
	@scripts/setup.sh
	@scripts/install.sh
	@bench/full.sh $(BENCH_ARGS)

bench-core:
	@scripts/bench-core.sh $(ENTRIES)

fuzz:
	@scripts/fuzz.sh $(NAME) $(or $(SECS),60) $(KEEP)

ifneq ($(PGXS),)
include $(PGXS)

docmoduledir = surfidx

# PGXS would look for them below docs/, where it has not put them
uninstall: uninstall-docs
.PHONY: uninstall-docs
uninstall-docs:
	rm -rf '$(DESTDIR)$(docdir)/$(docmoduledir)'

# src/core is plain C11 and declares variables where they are first used.
$(CORE_OBJS): override CFLAGS += -Wno-declaration-after-statement
# It knows nothing of the server's headers, one of which says whether that has assertions.
ifneq ($(shell grep -s 'define USE_ASSERT_CHECKING 1' '$(includedir_server)/pg_config.h'),)
$(CORE_OBJS): override CFLAGS += -DSFX_ASSERTS
# A lookup goes through 130 small functions of 40 files.  gcc inlines many of them if it sees all files:
# 12 to 23 % fewer instructions (docs/dev/measured/2026-11-whole-loads.md).  `make LTO=`: one at a time.
else ifneq ($(findstring gcc,$(CC)),)
LTO ?= -flto=auto
override CFLAGS += $(LTO)
endif

# Objects of one server's headers are of no use to another one: the stamp changes with the server.
STAMP = build/pg_config
$(shell mkdir -p build; $(PG_CONFIG) > $(STAMP).new; \
	cmp -s $(STAMP).new $(STAMP) && rm $(STAMP).new || mv $(STAMP).new $(STAMP))
$(OBJS): $(STAMP) Makefile
# The compiler lists the headers that an object includes; without a list, any header counts.
override CFLAGS += -MMD -MP
LISTS = $(OBJS:.o=.d)
-include $(LISTS)
EXTRA_CLEAN += $(LISTS)
$(foreach o,$(OBJS),$(if $(wildcard $(o:.o=.d)),,$(eval $(o): $(wildcard src/*/*.h src/core/*/*.h))))
else
.PHONY: all install uninstall clean installcheck
all install uninstall clean installcheck:
	@echo "No PostgreSQL 15 or later with its server development files was found." >&2
	@echo "Run scripts/setup.sh to install one, or give PG_CONFIG=/path/to/pg_config." >&2
	@exit 1
endif
