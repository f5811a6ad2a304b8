# Six verbs. CI calls the same ones.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install fix check test demo bench

install: $(VENV)/.installed

# The stamp makes the install a file like any other: made again when what it depends on changes.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "jointmatch needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

fix: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check
	PYTHONHASHSEED=0 $(BIN)/python -m pytest --numprocesses 2

demo: install
	$(BIN)/jointmatch demo --output runs/demo

# Needs the benchmarks' data: JOINTMATCH_DATA=FOLDER make bench
bench: install
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,bench]'
	$(BIN)/jointmatch benchmark run benchmarks/demo.toml
	$(BIN)/jointmatch benchmark run benchmarks/ag_news_lite.toml
	$(BIN)/python -m benchmarks.feature_speed
	$(BIN)/python benchmarks/predict_memory.py
