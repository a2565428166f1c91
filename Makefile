# make demo and make test set up all they need; a second call reuses what is there.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS := cli,files,frames,h5ad,report,serve,team,paper,dask
NATIVE := $(wildcard native/*.* native/bindings/*) CMakeLists.txt pyproject.toml

# Prepared sets, where they are beside the project and nobody names another folder.
ifneq ($(wildcard ../shared/data),)
export RAMODO_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test test-quick test-oldest test-spark test-mlflow test-portable docs wheels system-packages lint bench bench-all experiments fuzz sanitize stubs clean

demo: $(VENV)/installed
	$(BIN)/python -m ramodo.demo

# In two processes.
test: system-packages $(VENV)/tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The unit tier, in under a minute: no cluster, browser, server or command.
QUICK := $(wildcard tests/test_*.py) \
         $(addprefix tests/,data estimators explain files fitting formats insight kernels model project stages terminal web)
test-quick: $(VENV)/tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(QUICK)

# A browser and PostgreSQL from Debian, or what else a target names: says what is missing, and installs it for root unless SYSTEM_PACKAGES=no.
export SYSTEM_PACKAGES
NEEDS := browser postgres
system-packages:
	@$(PYTHON) tests/support/system_packages.py $(NEEDS)

# The example for Spark, which takes Java and half a gigabyte of packages.
test-spark: NEEDS := java
test-spark: system-packages $(VENV)/spark
	$(BIN)/python -m pytest tests/spark

# The example for MLflow, whose packages are many.
test-mlflow: $(VENV)/mlflow
	$(BIN)/python -m pytest tests/with_mlflow

lint: $(VENV)/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/zizmor --offline --quiet .github

# One table each; the run at Webspam's shape needs 16 GB and several minutes, so it is asked for by name.
BENCHMARKS := accuracy suite needles margins instances cutoffs discoveries labels logs triage triage_load triage_refit framework files explanations reasons peers kernels news20 growth dense scale imports serving frames
bench: $(addprefix bench-,$(BENCHMARKS))
bench-all: bench bench-webspam bench-million
bench-explanations: $(VENV)/bench
bench-serving bench-triage_load bench-triage_refit: $(VENV)/tests
bench-scale: $(VENV)/tests
bench-%: $(VENV)/installed
	$(BIN)/python -m benchmarks.$*

# Section 6 of the paper, with the numbers of this machine.
experiments: $(VENV)/tests
	$(BIN)/ramodo experiments all --output docs/experiments --page docs/experiments.md

# Damaged files, in all about half an hour: of every format; odd ones, by every command; svmlight against a slow reader, and under clang's sanitizers; models.
FUZZER := build/fuzz/read_svmlight
fuzz: NEEDS := clang
fuzz: system-packages $(VENV)/tests $(FUZZER)
	$(BIN)/python tests/fuzz/fuzz_files.py --count 100000 --seconds 300 --keep build/fuzz/bad
	$(BIN)/python tests/fuzz/fuzz_files.py --odd --seconds 900 --keep build/fuzz/bad
	$(BIN)/python tests/fuzz/fuzz_svmlight.py --seconds 300
	$(BIN)/python tests/fuzz/fuzz_models.py --seconds 120
	$(BIN)/python tests/fuzz/fuzz_requests.py --count 5000
	$(BIN)/python tests/fuzz/fuzz_requests.py --count 3000 --json
	mkdir -p build/fuzz/found
	$(FUZZER) -max_total_time=300 -max_len=4096 -print_final_stats=1 build/fuzz/found tests/fuzz/seeds

$(FUZZER): tests/fuzz/read_svmlight.cpp native/svmlight.hpp native/numbers.hpp native/threads.hpp
	mkdir -p $(@D)
	clang++ -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Inative $< -o $@

# The native module under gcc's sanitizers: a driver of all that runs on several threads under that for threads, then the
# tests of what calls the module under those for addresses and undefined behaviour. libstdc++ comes with libasan, which
# looks for its functions before Python has loaded it; what Python itself leaves behind at its end is no concern here.
SANITIZED := build/sanitize
SANITIZED_TESTS := tests/kernels tests/formats tests/explain/test_explanation.py tests/explain/test_explanation_memory.py \
                   tests/stages/test_phi.py tests/stages/test_scoring.py tests/model/test_representation.py \
                   tests/data/test_rows.py tests/data/test_rows_damaged.py tests/data/test_rows_refused.py \
                   tests/fitting/test_training.py
sanitize: $(VENV)/tests $(SANITIZED)/built
	$(BIN)/python -m pytest tests/sanitize
	ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so.6)" \
	$(BIN)/python tests/sanitize/run.py $(SANITIZED)/package/ramodo/kernels/_native.*.so $(SANITIZED_TESTS)

$(SANITIZED)/built: $(NATIVE) $(VENV)/build
	rm -rf $(SANITIZED)/package
	CXX=g++ $(INSTALL) --no-deps --target $(SANITIZED)/package \
	  -C build-dir=$(SANITIZED)/tree -C cmake.define.RAMODO_SANITIZE=address,undefined .
	touch $@

# The documentation, into build/site: open build/site/index.html. A warning, or a link to nothing, is an error.
docs: $(VENV)/tests
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

# The sdist, a wheel made of it without an index, repaired; then both kinds of wheel tried in an environment of each Python
# of this machine, with the lowest and the newest versions of what they need.
wheels: $(VENV)/wheels
	$(BIN)/python tests/wheels/build.py dist
	$(BIN)/python tests/wheels/try_wheels.py dist

# The module without what only GCC and clang have (native/compiler.hpp), and what calls it. Instructions of the machine are
# chosen for the ordinary module alone, so that recorded bits are those of its baseline.
PORTABLE := build/portable
test-portable: $(VENV)/tests $(PORTABLE)/built
	$(BIN)/python tests/sanitize/run.py $(PORTABLE)/package/ramodo/kernels/_native.*.so tests/kernels tests/formats tests/properties

$(PORTABLE)/built: $(NATIVE) $(VENV)/build
	rm -rf $(PORTABLE)/package
	$(INSTALL) --no-deps --target $(PORTABLE)/package \
	  -C build-dir=$(PORTABLE)/tree -C cmake.define.RAMODO_PORTABLE=ON .
	touch $@

# The type stub of the native module; a test compares it with the module.
STUB := src/ramodo/kernels/_native.pyi
stubs: $(VENV)/lint
	$(BIN)/python -m nanobind.stubgen -m ramodo.kernels._native -o $(STUB)
	$(BIN)/ruff format --quiet $(STUB)
	$(BIN)/ruff check --quiet --fix $(STUB)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# What pyproject.toml's [build-system] needs, and CMake and Ninja where the machine has none. pip would put these into a new
# temporary folder for each install, and a compiler that finds its headers elsewhere has to compile everything again.
$(VENV)/build: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $$($(BIN)/python -c \
	  'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	$(BIN)/python -m pip install --quiet scikit-build-core $$($(BIN)/python -c \
	  'from scikit_build_core.build import get_requires_for_build_editable as requires; print(*requires())')
	touch $@

INSTALL := $(BIN)/python -m pip install --quiet --no-build-isolation

$(VENV)/installed: $(NATIVE) $(VENV)/build
	$(INSTALL) --editable '.[cli,files,report]'
	touch $@

$(VENV)/tests: $(NATIVE) $(VENV)/build
	$(INSTALL) --editable '.[$(EXTRAS)]' --group test --group docs
	touch $@ $(VENV)/installed

# PySpark is built from its sources, and the setuptools of Python 3.11 need wheel for that.
$(VENV)/spark: $(VENV)/tests
	$(BIN)/python -m pip install --quiet setuptools wheel
	$(INSTALL) --editable '.[$(EXTRAS),spark]'
	touch $@

$(VENV)/wheels $(VENV)/bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group $(@F)
	touch $@

$(VENV)/mlflow $(VENV)/lint: $(VENV)/tests
	$(BIN)/python -m pip install --quiet --group $(@F)
	touch $@

# The tests with the lowest versions that pyproject.toml allows, each exactly, in an environment of its own. Versions of
# that age warn of what the newer packages under them will drop, which is not ours to mend.
OLDEST        := .venv-oldest
OLDEST_PYTHON ?= python3.11
test-oldest: system-packages $(OLDEST)/installed
	$(OLDEST)/bin/python -m pytest -n 2 --dist worksteal -W default::DeprecationWarning -W default::PendingDeprecationWarning

$(OLDEST)/installed: $(NATIVE) tests/support/oldest_versions.py
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(OLDEST)/bin/python tests/support/oldest_versions.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --editable '.[$(EXTRAS)]' --group test --config-settings build-dir=build/oldest \
	  --constraint $(OLDEST)/constraints.txt --build-constraint $(OLDEST)/constraints.txt
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) build
