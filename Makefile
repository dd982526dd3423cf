# Every target creates .venv and installs what it needs; stamp files make the next time quick.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet
QUIET  := TF_CPP_MIN_LOG_LEVEL=3

# The tests start hundreds of processes: compile our modules once, not in each of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test corpus test-versions test-fast lint format bench bench-quick docs docs-serve test-browser screenshots cause index clean

help:
	@echo "make demo           diagnose a broken training program that ships with the package"
	@echo "make test           lint, then every test (with TensorFlow)"
	@echo "make test-fast      the tests that need no TensorFlow"
	@echo "make test-versions  the catalogue under Keras 2, and part of the tests on TensorFlow 2.16 with Keras 3.3"
	@echo "make corpus         run the whole corpus and compare with the recorded verdicts (half an hour)"
	@echo "make lint           ruff, ruff format --check, mypy --strict"
	@echo "make format         let ruff fix and format"
	@echo "make bench          every benchmark; writes benchmarks/results.json"
	@echo "make bench-quick    the same in two minutes"
	@echo "make docs           the documentation as HTML in site/"
	@echo "make docs-serve     show the documentation on http://127.0.0.1:8000, playground included"
	@echo "make test-browser   the documentation and the report in Chromium"
	@echo "make screenshots    the pictures in the README, from real runs (needs Chromium)"
	@echo "make cause FAMILY=labels SLUG=my-slug   create a new cause"
	@echo "make index          after changing causes: record again which programs need them"

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fitdoctor needs Python 3.11 or later: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.made
	$(PIP) --editable '.[dev]'
	@touch $@

# tf_keras asks for the package `tensorflow`, which would come beside `tensorflow-cpu`: so without its dependencies.
$(VENV)/.tensorflow: pyproject.toml | $(VENV)/.made
	$(PIP) --editable '.[examples]'
	$(PIP) --no-deps "tf_keras==$$($(BIN)/python -c 'from importlib.metadata import version; print(".".join(version("tensorflow-cpu").split(".")[:2]))').*"
	@touch $@

# The playground needs Pyodide, from npm. Without npm the documentation is built without it.
NODE := scripts/documentation
$(VENV)/.docs: pyproject.toml $(NODE)/package.json | $(VENV)/.made
	$(PIP) --editable '.[docs]'
	@npm install --prefix $(NODE) --no-package-lock --no-audit --no-fund --loglevel=error \
	|| echo "Pyodide could not be installed with npm: the documentation is built without its playground"
	@touch $@

demo: $(VENV)/.tensorflow
	@$(BIN)/fitdoctor demo

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: lint $(VENV)/.tensorflow $(VENV)/.docs
	$(QUIET) $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not versions"

# Keras 2 as a whole, then an older TensorFlow with an older Keras 3, in an environment of its own.
OLD      := .venv-2.16
OLD_PIP  := $(OLD)/bin/python -m pip --disable-pip-version-check install --quiet
OLD_PART := tests/catalogue/test_causes.py tests/keras_2 tests/collect tests/runner/test_run_training.py \
	'tests/documentation/test_programs.py::test_it_runs[keras_3/which_keras.py]'

$(OLD)/.made: pyproject.toml
	$(PYTHON) -m venv $(OLD)
	$(OLD_PIP) --editable '.[dev]' 'tensorflow-cpu==2.16.*' 'keras==3.3.*' 'pandas<3' scikit-learn
	$(OLD_PIP) --no-deps 'tf_keras==2.16.*'
	@touch $@

test-versions: $(VENV)/.dev $(VENV)/.tensorflow $(OLD)/.made
	$(QUIET) $(BIN)/python -m pytest -n 2 --dist loadgroup -m versions
	$(QUIET) $(OLD)/bin/python -m pytest -n 2 --dist loadgroup -r xX -m "tf and not versions" $(OLD_PART)

test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 -m "not tf and not versions and not browser"

corpus: $(VENV)/.dev $(VENV)/.tensorflow
	$(QUIET) $(BIN)/python -m scripts.corpus --run

bench: $(VENV)/.dev $(VENV)/.tensorflow
	$(QUIET) $(BIN)/python -m benchmarks

bench-quick: $(VENV)/.dev $(VENV)/.tensorflow
	$(QUIET) $(BIN)/python -m benchmarks --quick

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "the documentation is in site/index.html; its playground needs a server: make docs-serve"

docs-serve: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

test-browser: $(VENV)/.dev $(VENV)/.docs
	$(BIN)/python -m pytest -m browser tests/documentation tests/report

screenshots: $(VENV)/.dev $(VENV)/.tensorflow
	$(PIP) --editable '.[screenshots]'
	$(BIN)/python -m scripts.screenshots

cause: $(VENV)/.dev
	@$(BIN)/python scripts/new_cause.py "$(FAMILY)" "$(SLUG)"

index: $(VENV)/.dev
	@$(BIN)/python -m scripts.index_causes

clean:
	rm -rf $(VENV) $(OLD) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
