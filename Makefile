# Every target sets up .venv by itself; Python 3.11 or newer and make are all that is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help setup serve test check format bench soak conformance clean
.DEFAULT_GOAL := help

help:  ## what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "interp needs Python 3.11 or newer; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

setup: $(READY)  ## the virtual environment, with everything for development

serve: $(READY)  ## run the webhook with bundled scripts and development certificates
	@echo "the webhook is not there yet"; exit 1

test: $(READY)  ## all tests
	$(BIN)/python -m pytest -n 2 $(TESTS)

check: $(READY)  ## ruff, mypy --strict and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_import_rules.py

format: $(READY)  ## let ruff rewrite the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## figures against the budgets of docs/design.md
	$(BIN)/python -m benchmarks

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache dist build
