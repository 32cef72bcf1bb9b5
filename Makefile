# SPDX-License-Identifier: Apache-2.0
# The front door. The build itself is Meson's; each target says in one line what it is for.
#
#   SAN=asan|tsan   build and test with sanitizers, in a folder of its own
#   CC=clang        build and test with clang, in a folder of its own
#   SUITE=name      run one suite of tests only (unit, threads, cli, conformance, fuzz-corpus, …);
#                   for 'make conformance' a folder with cases
#   TIDY=30         lint: clang-tidy only for what the last 30 commits touched; none: not at all

SAN ?=
SUITE ?=
TIDY ?=
LINT_BUILD ?= build-clang
FUZZ_SECONDS ?= 60
SEEDS ?= 1000
INSTANCES ?= 1000000

ifeq ($(origin CC),default)
CC := gcc
endif

BUILD := build$(if $(filter clang,$(CC)),-clang)$(if $(SAN),-$(SAN))

SAN_FLAGS_ := --buildtype=debugoptimized
SAN_FLAGS_asan := -Db_sanitize=address,undefined -Db_lundef=false
SAN_FLAGS_tsan := -Db_sanitize=thread -Db_lundef=false
ifeq ($(origin SAN_FLAGS_$(SAN)),undefined)
$(error SAN must be asan or tsan, not '$(SAN)')
endif
SETUP := $(SAN_FLAGS_$(SAN))

# Where npm puts Elsa Studio.
STUDIO := build-studio/node_modules/@elsa-workflows/elsa-studio-wasm

# Tests are configured only where their libraries are: `make` and `make demo` need none of them.
WITH_TESTS = $(shell pkgconf --exists cmocka jansson 2>/dev/null && echo true || echo false)

.PHONY: all studio demo test test-loaded test-fast test-browser conformance conformance-sqlite conformance-postgres sim \
    model mutants soak chaos chaos-locks hostile \
    bench bench-must bench-million bench-peers fuzz lint format clean help

all: ## build the binary: build/pawl
	@tools/install-packages build
	@tools/build $(BUILD) CC=$(CC) -Dtests=$(WITH_TESTS) $(SETUP)

studio: ## fetch Elsa Studio, for 'pawl serve --studio'
	@tools/install-packages build
	@tools/fetch-npm tools/studio build-studio
	@echo 'build/pawl serve --studio $(STUDIO)'

demo: ## install what is missing, build, kill a server and finish its workflow on another
	@tools/install-packages build demo
	@tools/build build CC=gcc -Dtests=$(WITH_TESTS)
	-@[ ! -t 1 ] || { echo 'Fetching Elsa Studio for the end of the demonstration, once.'; \
	    tools/fetch-npm tools/studio build-studio; }
	@tools/demo build/pawl $(STUDIO)

test: ## install what the tests need, build, run all tests
	@tools/install-packages build test
	-@tests/servers/npm/fetch build-npm
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@tools/run-tests $(BUILD) $(SUITE)

test-loaded: ## the same beside four busy loops
	@tools/install-packages build test
	-@tests/servers/npm/fetch build-npm
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@tools/test-loaded $(BUILD) $(SUITE)

test-fast: ## every program with threads 20 times (TIMES=20), for what fails now and then
	@tools/install-packages build test
	-@tests/servers/npm/fetch build-npm
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@TIMES=$(or $(TIMES),20) tools/run-tests $(BUILD) threads

test-browser: ## drive Elsa Studio on a server in Chromium; pictures in build-browser/out; ONLY=editor: some steps
	@tools/install-packages build browser
	@tools/fetch-npm tools/studio build-studio
	@tools/fetch-npm tests/browser build-browser
	@tools/build $(BUILD) CC=$(CC) -Dtests=$(WITH_TESTS) $(SETUP)
	@node tests/browser/run.mjs $(BUILD)/pawl $(STUDIO) build-browser build-browser/out ../shared $(ONLY)

conformance: ## run the cases in the folder SUITE (../shared/conformance) on the runtime
	@tools/install-packages build test
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@tools/conformance --build $(BUILD) $(or $(SUITE),../shared/conformance)

conformance-sqlite: ## all cases in SQLite, another node after every step
	@tools/install-packages build test
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@set -e; for suite in $(or $(SUITE),tests/conformance/cases \
	    $(wildcard $(addprefix ../shared/,conformance generated migration))); do \
	    tools/conformance --build $(BUILD) $$suite --store sqlite; done

conformance-postgres: ## all cases in PostgreSQL, another node after every step; EVERY=10: a tenth of them
	@tools/install-packages build test
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@set -e; for suite in $(or $(SUITE),tests/conformance/cases \
	    $(wildcard $(addprefix ../shared/,conformance generated migration))); do \
	    tools/conformance --build $(BUILD) $$suite --store postgres --every $(or $(EVERY),1); done

sim: ## simulate SEEDS=1000 clusters from seed FROM=0, and ten times as many stores; DELIVERY=direct|rows
	@tools/install-packages build test
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@SIM_FROM=$(FROM) SIM_CLUSTER_SEEDS=$(SEEDS) SIM_DELIVERY=$(DELIVERY) $(BUILD)/tests/sim/test-sim-cluster
	@SIM_FROM=$(FROM) SIM_SEEDS=$(SEEDS)0 $(BUILD)/tests/sim/test-sim-seeds

model: ## check the models of the core with Spin, to the end; SMALL=1: in a minute
	@tools/install-packages build test
	@tools/run-model $(if $(SMALL),--small)

mutants: ## plant bugs one at a time: tests must find each; ONLY=NAME, SAMPLE=5, RUNS=3, REST=1 goes on; an hour
	@tools/install-packages build test
	-@tests/servers/npm/fetch build-npm
	@tools/build build CC=gcc -Dtests=true --buildtype=debugoptimized
	@tools/mutants $(if $(SAMPLE),--sample $(SAMPLE) --trust,--record) $(if $(REST),--rest) --runs $(or $(RUNS),1) $(ONLY)

chaos-locks: ## kill and stop processes that hold locks, CHAOS_SECONDS=60 for each service
	@tools/install-packages build test
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@tools/chaos-locks $(BUILD) $(or $(CHAOS_SECONDS),60)

soak: ## known problems of workflow engines, in the long form: half an hour
	@tools/install-packages build test
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@PAINS_LONG=1 meson test -C $(BUILD) --suite pains --timeout-multiplier 0 --print-errorlogs

chaos: ## stress three nodes: CHAOS_ORDERS=10000 orders, CHAOS_SECONDS=120 at least, on each ground
	@tools/install-packages build test
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@CHAOS_LEASES=1 CHAOS_FAULTS=$(or $(CHAOS_FAULTS),3) \
	    CHAOS_ORDERS=$(or $(CHAOS_ORDERS),10000) CHAOS_SECONDS=$(or $(CHAOS_SECONDS),120) \
	    meson test -C $(BUILD) --suite chaos --timeout-multiplier 0 --print-errorlogs -v

hostile: ## attacks in the long form: COPIES=100 of each beside 1,000 honest instances; PAIRS=1000000 of scripts
	@tools/install-packages build test
	@tools/build $(BUILD) CC=$(CC) -Dtests=true $(SETUP)
	@tests/hostile/run $(BUILD)/pawl --long --copies $(or $(COPIES),100)
	@PAWL_LEAK_PAIRS=$(or $(PAIRS),1000000) $(BUILD)/tests/unit/test-expressions-javascript_leaks

lint: ## formatting, layers, banned calls, sizes, globals, clang-tidy
	@tools/install-packages build test lint
	@tools/build build CC=gcc -Dtests=true
	@[ "$(TIDY)" = none ] || [ -f $(LINT_BUILD)/build.ninja ] || \
	    tools/build build-clang CC=clang -Dtests=true
	@tools/lint build $(LINT_BUILD) $(TIDY)

format: ## put all sources into the one style
	@tools/install-packages lint
	@tools/lint --format

# Stores of a bench are on a disk: their syncs are what is measured against.
bench bench-must bench-million bench-peers: export PAWL_TEST_FOLDER = /tmp

bench: ## measure against the floor and against peers, as ratios in one run
	@tools/install-packages build bench test
	@tools/build build-bench CC=gcc --buildtype=release -Dtests=false -Dbench=true
	@tools/run-bench build-bench

bench-must: ## what commits and resumes must show, as one table: W1 to W3 over single rows, on both stores; 2 minutes
	@tools/install-packages build bench test
	@tools/build build-bench CC=gcc --buildtype=release -Dtests=false -Dbench=true
	@build-bench/bench/bench-store must $(SECONDS) $(ROUNDS)

bench-million: ## ready, memory, resumes and lists with INSTANCES (1,000,000) suspended instances; minutes
	@tools/install-packages build bench test
	@tools/build build-bench CC=gcc --buildtype=release -Dtests=false -Dbench=true
	@build-bench/bench/bench-million $(INSTANCES)

bench-peers: ## W1s, W2, W3 beside DBOS and Restate in one run: PEERS_SECONDS=2 each, PEERS_ROUNDS=3
	@tools/install-packages build bench test
	@tools/build build-bench CC=gcc --buildtype=release -Dtests=false -Dbench=true
	@node bench/peers/run.mjs build-bench build-peers $(or $(PEERS_SECONDS),2) $(or $(PEERS_ROUNDS),3)

fuzz: ## run every fuzz target for FUZZ_SECONDS (60) each, from the saved corpus; FUZZ_TOTAL=60: all together
	@tools/install-packages build test
	@TARGET=fuzzers tools/build build-fuzz CC=clang -Dfuzz=true -Dtests=false
	@tools/run-fuzz build-fuzz $(if $(FUZZ_TOTAL),$(FUZZ_TOTAL) --total,$(FUZZ_SECONDS))

clean: ## remove all build folders
	rm -rf build build-*

help: ## show this list
	@echo 'Targets:'
	@sed -n 's/^\([a-z-]*\): ## \(.*\)/  make \1\t\2/p' Makefile | expand -t 30
	@sed -n 's/^#   /  /p' Makefile
