# make demo and make test set up all they need; a second call reuses what is there.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS := cli,files,h5ad,report,serve,team,experiments,peers,dask
NATIVE := $(wildcard native/*.* native/bindings/*) CMakeLists.txt pyproject.toml

# Prepared sets, where they are beside the project and nobody names another folder.
ifneq ($(wildcard ../shared/data),)
export RAMODO_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test test-oldest test-spark test-mlflow test-portable docs wheels browser postgres lint bench bench-all experiments fuzz sanitize stubs clean

demo: $(VENV)/installed
	$(BIN)/python -m ramodo.demo

# In two processes.
test: $(VENV)/tests browser postgres
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Debian's PostgreSQL, for the tests of stores for a team; where it cannot be installed, those skip and say so.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	{ [ "$$(id -u)" = 0 ] && apt-get update -qq && \
	  apt-get install -y -qq --no-install-recommends postgresql; } >/dev/null 2>&1 || true

# The example for Spark, which takes Java and half a gigabyte of packages: with Debian's Java, where there is none.
test-spark: $(VENV)/spark
	@command -v java >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends default-jre-headless; }
	$(BIN)/python -m pytest tests/spark

# The example for MLflow, whose packages are many.
test-mlflow: $(VENV)/mlflow
	$(BIN)/python -m pytest tests/with_mlflow

# Debian's browser, for the tests of the report; where it is missing and cannot be installed, those skip and say so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	{ [ "$$(id -u)" = 0 ] && apt-get update -qq && \
	  apt-get install -y -qq --no-install-recommends chromium chromium-driver; } >/dev/null 2>&1 || true

lint: $(VENV)/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One table each; the run at Webspam's shape needs 16 GB and several minutes, so it is asked for by name.
BENCHMARKS := accuracy rankings instances discoveries labels logs triage triage_load triage_refit framework files explanations reasons peers kernels news20 growth dense scale imports serving
bench: $(addprefix bench-,$(BENCHMARKS))
bench-all: bench bench-webspam
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
fuzz: $(VENV)/tests $(FUZZER)
	$(BIN)/python tests/fuzz/fuzz_files.py --count 100000 --seconds 300 --keep build/fuzz/bad
	$(BIN)/python tests/fuzz/fuzz_files.py --odd --seconds 900 --keep build/fuzz/bad
	$(BIN)/python tests/fuzz/fuzz_svmlight.py --seconds 300
	$(BIN)/python tests/fuzz/fuzz_models.py --seconds 120
	mkdir -p build/fuzz/found
	$(FUZZER) -max_total_time=300 -max_len=4096 -print_final_stats=1 build/fuzz/found tests/fuzz/seeds

$(FUZZER): tests/fuzz/read_svmlight.cpp native/svmlight.hpp native/numbers.hpp native/threads.hpp
	mkdir -p $(@D)
	clang++ -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Inative $< -o $@

# The native module under gcc's sanitizers: a driver of all that runs on several threads under that for threads, then the
# tests of what calls the module under those for addresses and undefined behaviour. libstdc++ comes with libasan, which
# looks for its functions before Python has loaded it; what Python itself leaves behind at its end is no concern here.
SANITIZED := build/sanitize
SANITIZED_TESTS := tests/kernels tests/formats tests/test_explanation.py tests/test_explanation_memory.py \
                   tests/test_lazy_adadelta.py tests/test_phi.py tests/test_representation.py tests/test_rows.py \
                   tests/test_rows_damaged.py tests/test_rows_refused.py tests/test_scoring.py tests/test_training.py
sanitize: $(VENV)/tests $(SANITIZED)/built
	$(BIN)/python -m pytest tests/sanitize
	ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so.6)" \
	$(BIN)/python tests/sanitize/run.py $(SANITIZED)/package/ramodo/kernels/_native.*.so $(SANITIZED_TESTS)

$(SANITIZED)/built: $(NATIVE) | $(BIN)/python
	rm -rf $(SANITIZED)/package
	CXX=g++ $(BIN)/python -m pip install --quiet --no-deps --target $(SANITIZED)/package \
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

$(VENV)/wheels: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --group wheels
	touch $@

# The module without what only GCC and clang have (native/compiler.hpp), and what calls it. Instructions of the machine are
# chosen for the ordinary module alone, so that recorded bits are those of its baseline.
PORTABLE := build/portable
test-portable: $(VENV)/tests $(PORTABLE)/built
	$(BIN)/python tests/sanitize/run.py $(PORTABLE)/package/ramodo/kernels/_native.*.so tests/kernels tests/formats tests/properties

$(PORTABLE)/built: $(NATIVE) | $(BIN)/python
	rm -rf $(PORTABLE)/package
	$(BIN)/python -m pip install --quiet --no-deps --target $(PORTABLE)/package \
	  -C build-dir=$(PORTABLE)/tree -C cmake.define.RAMODO_PORTABLE=ON .
	touch $@

# The type stub of the native module; a test compares it with the module.
stubs: $(VENV)/lint
	$(BIN)/python -m nanobind.stubgen -m ramodo.kernels._native -o src/ramodo/kernels/_native.pyi

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: $(NATIVE) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[cli,files,report]'
	touch $@

$(VENV)/tests: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]' --group test --group docs
	touch $@

$(VENV)/spark: $(VENV)/tests pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS),spark]' --group test
	touch $@

$(VENV)/mlflow: $(VENV)/tests pyproject.toml
	$(BIN)/python -m pip install --quiet --group mlflow
	touch $@

$(VENV)/bench: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable . --group bench
	touch $@

$(VENV)/lint: $(VENV)/tests pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]' --group test --group lint
	touch $@

# The tests with the lowest versions that pyproject.toml allows, each exactly, in an environment of its own. Versions of
# that age warn of what the newer packages under them will drop, which is not ours to mend.
OLDEST        := .venv-oldest
OLDEST_PYTHON ?= python3.11
test-oldest: $(OLDEST)/installed browser postgres
	$(OLDEST)/bin/python -m pytest -n 2 --dist worksteal -W default::DeprecationWarning -W default::PendingDeprecationWarning

$(OLDEST)/installed: $(NATIVE) tests/oldest_versions.py
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(OLDEST)/bin/python tests/oldest_versions.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --editable '.[$(EXTRAS)]' --group test --config-settings build-dir=build/oldest \
	  --constraint $(OLDEST)/constraints.txt --build-constraint $(OLDEST)/constraints.txt
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) build
