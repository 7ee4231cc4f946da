# `make demo` and `make test` need python >= 3.11 (with venv), git and make; no engine.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
HIO_LAB ?= /opt/hio-lab

.PHONY: demo test lint check compiled lab test-lab clean

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "hio needs python 3.11 or newer: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed
	@PATH="$(abspath $(BIN)):$$PATH" sh docs/demo.sh

test: lint check compiled
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: $(VENV)/installed
	$(BIN)/hio schema --check
	$(BIN)/python -m hio_validate.compile --check
	$(BIN)/python docs/pages.py --check
	$(BIN)/python docs/predictions.py --check

lab:
	HIO_LAB=$(HIO_LAB) tests/lab/build.sh

# Only the files with such a test are read: importing all others takes longer than many a test.
test-lab: compiled
	HIO_LAB=$(HIO_LAB) $(BIN)/python -m pytest -m lab $$(grep -rl 'mark\.lab' tests --include='test_*.py')

# The tests start hundreds of processes. Where PYTHONDONTWRITEBYTECODE is set, each would compile every module again.
compiled: $(VENV)/installed
	@$(BIN)/python -m compileall -q hio_validate tests/*.py $(filter-out tests/rules/,$(wildcard tests/*/))

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
