# Every target sets up what it needs: Python 3.11 or later and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check coverage bench service-load methods tables spam clean

demo: $(READY)  ## train on a built-in data set, compare, interview one case, write demo-report/
	$(BIN)/askless demo --output demo-report

test: check  ## everything that must hold

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist worksteal

coverage: $(READY)  ## the share of the lines that the tests run; fails below the floor
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-report=term:skip-covered --cov-fail-under=96

bench: $(READY)  ## how fast training, roll-outs and one question are; writes docs/performance.md, takes two hours
	$(BIN)/python benchmarks/speed.py

service-load: $(READY)  ## requests a second of the service with wrk (apt-get install wrk); twenty minutes; writes its lines in docs/performance.md
	$(BIN)/python benchmarks/service_load.py

methods: $(READY)  ## every method on the paper's Spam protocol; writes docs/results/methods.md (needs ASKLESS_DATA)
	$(BIN)/python benchmarks/methods.py --again

tables: $(READY)  ## the default fit against boosted trees by hand on public tables; downloads them; takes a day
	$(BIN)/python benchmarks/tables.py --fetch runs/tables-data
	$(BIN)/python benchmarks/tables.py --data runs/tables-data --output runs/tables.jsonl
	$(BIN)/python benchmarks/tables.py --output runs/tables.jsonl --report

spam: $(READY)  ## the paper's Spam protocol; writes docs/results/spam.md (needs ASKLESS_DATA)
	$(BIN)/python benchmarks/spam.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) demo-report dist build
