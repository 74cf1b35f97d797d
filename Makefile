# Every chore, one target each. `make` alone prints them.

PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
.DEFAULT_GOAL := help
ifeq ($(wildcard chores/environment.py),)
$(error The chores run in the root of the clone: cd there, or say make -C /path/of/the/clone)
endif
.PHONY: help demo test check proof bench soak rows release-check experiments reference archive screenshots docs serve worker format clean

help:  ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo:  ## Run a real study on this machine and list the best configs (PORT=8010 chooses the port)
	@$(PYTHON) chores/environment.py server worker
	@$(BIN)/thiessen demo --port $(PORT)

test:  ## Run every test, on SQLite and on a real PostgreSQL
	@$(PYTHON) chores/environment.py server worker dev
	@$(PYTHON) chores/browser.py
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --max-worker-restart 1 --durations 25

check: docs  ## Lint, types, import rules, dangerous calls, known vulnerabilities, documentation
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy
	@$(BIN)/python $(BIN)/lint-imports
	@$(BIN)/python -m bandit --quiet --configfile pyproject.toml --recursive thiessen app worker optimizers
	@$(BIN)/python chores/audit.py

proof:  ## Run tests/chaos, which make test leaves out: kills, long stateful runs, all of schemathesis, old and new numpy
	@$(PYTHON) chores/environment.py server worker dev
	@$(BIN)/python -m pytest tests/chaos

bench:  ## Measure beside peers; prints tables, fails nothing
	@$(PYTHON) chores/environment.py server worker dev
	@$(BIN)/python benchmarks/start
	@$(BIN)/python benchmarks/search_cost
	@$(BIN)/python benchmarks/comparison_coverage --comparisons 2000
	@$(BIN)/python benchmarks/worker

soak:  ## Print what mutation tests and random orders found; chores/soak.py --help says how to go on
	@$(PYTHON) chores/environment.py server worker dev soak
	@$(BIN)/python chores/soak.py

release-check:  ## Do all that a release needs in a fresh clone of what is committed: hours
	@$(PYTHON) chores/release_check.py

rows:  ## Check that every capability in docs/reference/capabilities.md has a passing test
	@$(PYTHON) chores/environment.py server worker dev
	@PYTHONPATH=. OMP_NUM_THREADS=1 $(BIN)/python chores/rows.py -n auto --dist loadfile

experiments:  ## Run every experiment of docs/experiments at its small size and write their pages
	@$(PYTHON) chores/environment.py server worker dev
	@$(BIN)/python -m experiments run

reference:  ## Write what docs/reference has from the code: names, calls, tables of tasks, tests of capabilities
	@$(PYTHON) chores/environment.py server worker dev
	@PYTHONPATH=. $(BIN)/python chores/reference.py
	@PYTHONPATH=. $(BIN)/python chores/tasks.py
	@PYTHONPATH=. $(BIN)/python chores/python.py
	@PYTHONPATH=. $(BIN)/python chores/capabilities.py

archive:  ## Write the newest schema's archived databases into tests/storage/archive
	@$(PYTHON) chores/environment.py server worker dev
	@PYTHONPATH=. $(BIN)/python chores/archive.py

screenshots:  ## Write docs/images: every page of the dashboard, light and dark, on a desk and on a phone; a landscape that grows
	@$(PYTHON) chores/environment.py server worker dev
	@$(PYTHON) chores/browser.py
	@PYTHONPATH=. $(BIN)/python chores/screenshots.py
	@PYTHONPATH=. $(BIN)/python chores/animation.py

docs:  ## Build the documentation into site/, warnings are errors
	@$(PYTHON) chores/environment.py server worker dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

serve:  ## Serve on http://127.0.0.1:8000
	@$(PYTHON) chores/environment.py server worker
	@$(BIN)/thiessen serve

worker:  ## Work for the server on this machine
	@$(PYTHON) chores/environment.py server worker
	@$(BIN)/thiessen worker

format:  ## Format the code and fix what can be fixed
	@$(PYTHON) chores/environment.py server worker dev
	@$(BIN)/python -m ruff format .
	@$(BIN)/python -m ruff check --fix .

clean:  ## Remove the environment and everything that was built
	@rm -rf .venv site dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
