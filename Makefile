# Each target sets itself up: a virtual environment in .venv, made anew when the dependencies change.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
THIRDPARTY := .venv-thirdparty
OPERATORS := .venv-operators
VERSIONS ?= .versions
SOURCES := dycl tests bench examples
MINUTES ?= 30

.DEFAULT_GOAL := help
.PHONY: help demo test test-thirdparty test-versions test-operators test-python-semantics format lint typecheck cases conformance constructs bench fuzz clean

help:
	@echo "make demo       train an early-exit classifier, compile it, compare it with PyTorch"
	@echo "make test       formatter, linter, type checker and tests: all that a change must pass"
	@echo "make test-thirdparty  compile models of other people's packages and compare them with PyTorch"
	@echo "make test-versions    all tests with every version of Python and PyTorch, or with ONLY=torch2.15-py3.13"
	@echo "make test-operators   compile every operator of PyTorch's database and compare it with PyTorch"
	@echo "make test-python-semantics  run Python's own tests of its language, interpreted by DyCL"
	@echo "make format     format the code and sort its imports"
	@echo "make lint       look for likely mistakes"
	@echo "make typecheck  check every type"
	@echo "make cases      write the expected half of the case files anew, and the layers in docs/architecture.md"
	@echo "make conformance  write the conformance cases anew"
	@echo "make constructs write docs/constructs.md anew"
	@echo "make bench      measure small networks in every way there is, in under ten minutes"
	@echo "make fuzz       compile random programs and compare them with PyTorch, for MINUTES=30"
	@echo "make clean      remove everything that make made"

demo: $(READY)
	@$(BIN)/dycl demo

test: $(READY)
	$(BIN)/ruff format --check --output-format concise $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/pytest -n auto --maxprocesses 4

test-thirdparty: $(THIRDPARTY)/ready
	$(THIRDPARTY)/bin/pytest -W ignore tests/thirdparty

# Environments of several GB each, made when first needed; FILES=tests/rewrite runs these tests alone.
test-versions:
	$(PYTHON) -m tests.versions --folder $(VERSIONS) --only "$(ONLY)" $(FILES)

# Ten minutes; REGENERATE=--regenerate writes the list of what is refused, and docs/operations.md, anew.
test-operators: $(OPERATORS)/ready
	OMP_NUM_THREADS=1 $(OPERATORS)/bin/python -m tests.operators $(REGENERATE)

# Half an hour; REGENERATE=--regenerate writes the list of what is refused anew. The Python must come with its tests.
test-python-semantics: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.python_semantics $(REGENERATE)

format: $(READY)
	$(BIN)/ruff check --select I --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

lint: $(READY)
	$(BIN)/ruff check $(SOURCES)

typecheck: $(READY)
	$(BIN)/mypy

cases: $(READY)
	$(BIN)/pytest tests/cases tests/optimize/test_passes.py tests/rewrite/test_layers.py --regenerate

conformance: $(READY)
	$(BIN)/python -m tests.conformance.make

constructs: $(READY)
	$(BIN)/pytest tests/constructs --regenerate

bench: $(READY)
	$(BIN)/dycl bench --quick

fuzz: $(READY)
	$(BIN)/python -m tests.generated --minutes $(MINUTES)

clean:
	rm -rf $(VENV) $(THIRDPARTY) $(OPERATORS) .versions build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (a few minutes the first time)"
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "DyCL needs Python 3.11 or newer, this is " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(THIRDPARTY)/ready: tests/thirdparty/requirements.txt pyproject.toml constraints.txt
	@echo "setting up $(THIRDPARTY) (a few minutes the first time)"
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "DyCL needs Python 3.11 or newer, this is " + sys.version'
	$(PYTHON) -m venv $(THIRDPARTY)
	$(THIRDPARTY)/bin/python -m pip install --quiet --quiet --disable-pip-version-check -c constraints.txt -r tests/thirdparty/requirements.txt -e '.[dev]'
	@touch $@

$(OPERATORS)/ready: pyproject.toml constraints.txt
	@echo "setting up $(OPERATORS) (a few minutes the first time)"
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "DyCL needs Python 3.11 or newer, this is " + sys.version'
	$(PYTHON) -m venv $(OPERATORS)
	$(OPERATORS)/bin/python -m pip install --quiet --quiet --disable-pip-version-check -c constraints.txt -e '.[operators]'
	@touch $@
