# Every target, with a line each: make help
.DEFAULT_GOAL := help
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# Notebooks on one's own data: make notebooks DATA_FOLDER=~/esci
DATA_FOLDER ?=
# Test processes; each that needs one starts its own Elasticsearch (1 GB) and Jupyter servers.
WORKERS ?= 2
# Jupyter refuses to run as root unless told; containers often have no other user.
ROOT_OPTION := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: help lab env test notebooks bench data elasticsearch environment constraints clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: .venv/env.stamp  ## Set up what is missing and open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks $(ROOT_OPTION) $(LAB_OPTIONS)

env: .venv/env.stamp  ## Create .venv with everything the notebooks need

test: .venv/test.stamp  ## Run all tests, in WORKERS processes
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile $(PYTEST_OPTIONS)

notebooks: .venv/env.stamp  ## Execute all notebooks headless; HTML with outputs goes to build/notebooks
	$(BIN)/python scripts/run_notebooks.py $(if $(DATA_FOLDER),--data-folder $(DATA_FOLDER))

bench: .venv/test.stamp  ## Measure speed and memory; numbers go to build/bench.json
	$(BIN)/python benchmarks/run.py $(BENCH_OPTIONS)

data: .venv/env.stamp  ## Generate the shipped data again (identical to what is in data/)
	$(BIN)/python scripts/make_data.py

elasticsearch:  ## Start a real Elasticsearch on this machine with Docker Compose
	docker compose up --detach --wait

environment: .venv/env.stamp  ## Write environment.yml from pyproject.toml
	$(BIN)/python scripts/environment.py

constraints: .venv/test.stamp  ## Pin what is installed now into constraints.txt
	$(BIN)/python scripts/constraints.py

clean:  ## Delete what was built (not the environment)
	rm -rf build

# Second runs do not reinstall: a stamp is older than its recipe only when a requirement changed.
.venv/env.stamp: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv was not found; install it or set PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt --editable .
	touch $@

.venv/test.stamp: .venv/env.stamp
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt --editable '.[test]'
	touch $@
