# Two commands do everything: `make quickstart` (environment, dependencies, the whole job) and `make test`.

VENV := .venv
BIN := $(VENV)/bin
# The first interpreter that the pinned dependencies support; override with: make PYTHON=/path/to/python
PYTHON ?= $(shell for p in python3.11 python3.12 python3.10 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && echo $$p && break; done)

.PHONY: quickstart test check docs lock clean help

help: ## Show the targets.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

quickstart: $(VENV)/.installed ## Set up, then train a small model and show that it improved (about 10 minutes).
	$(BIN)/code-rlvr quickstart $(ARGS)

test: $(VENV)/.installed ## Set up, then run every test, two files at a time; those of the sandbox alone, for they mind the clock.
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --ignore tests/sandbox $(ARGS)
	$(BIN)/python -m pytest tests/sandbox $(ARGS)

check: $(VENV)/.installed ## Linter, formatter and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed ## The guide as a site in build/docs; any warning is an error (Python 3.11 or later).
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs
	@echo "open build/docs/index.html"

lock: ## Resolve constraints.txt anew (needs uv on the PATH).
	@echo '# Pinned versions of everything, for `make`; made by `make lock`.' > constraints.txt
	uv pip compile --quiet --universal --python-version 3.10 --no-annotate --no-header --upgrade \
		--extra data --extra train --extra report --extra docs --extra dev --constraint pins.txt pyproject.toml >> constraints.txt

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "code-rlvr needs Python 3.10, 3.11 or 3.12; install one, or run: make PYTHON=/path/to/python"; exit 1; }
	@echo "Installing into $(VENV) with $(PYTHON): about 2 GB, 3 minutes."
	@$(PYTHON) -m venv $(VENV) || { echo "this Python cannot make environments; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[data,train,report,docs,dev]'
	@touch $@

clean: ## Remove the environment and all caches; runs stay.
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
