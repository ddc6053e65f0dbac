# Shortcuts for common tasks; `make help` lists them. CMake does the work, with the presets of CMakePresets.json. A build folder is
# configured once, and only then does tools/install-packages look for missing packages.

PREFIX ?= /usr/local
BUNDLE ?= build/bundle
JOBS ?= $(shell nproc)

# Sources checked by clang-format and clang-tidy; the latter skips tests.
FORMATTED = $(shell find include src apps tests fuzz python -name '*.h' -o -name '*.cpp')
FORMATTED_CUDA = $(shell find src -name '*.cu' -o -name '*.cuh')
TIDIED = /(src|apps)/.*(?<!_test)\.cpp$$

.DEFAULT_GOAL := release
.PHONY: release python debug demo experiments test unit gpu-test gpu-check bundle asan asan-quick tsan fuzz soak docs install format check-format tidy tidy-changed settings-table clean help
.PRECIOUS: build/%/build.ninja build/%/with-tests

build/%/build.ninja:
	@tools/install-packages
	@cmake --preset $* -D DRIFT_TESTS=OFF

# The same folder, with the tests and their packages.
build/%/with-tests:
	@tools/install-packages --tests
	@cmake --preset $* -D DRIFT_TESTS=ON
	@touch $@

# The library and the command alone: the tests take longer to compile than everything else.
release: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS) --target drift_command drift_manual

# The Python package in build/release/python, for PYTHONPATH; pip install . puts it into an environment.
python: build/release/build.ninja
	@tools/install-packages --python
	@cmake --preset release -D DRIFT_PYTHON=ON
	@cmake --build --preset release --parallel $(JOBS) --target drift_python

debug: build/debug/with-tests
	@cmake --build --preset debug --parallel $(JOBS) --target drift_command

demo: release
	@tools/install-packages --run
	@build/release/drift demo --out drift-demo

# Every small experiment, resumed where it stopped; then the pages.
experiments: release
	@tools/experiments all

test: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS)
	@ctest --preset release --parallel $(JOBS)

unit: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS)
	@ctest --preset release --parallel $(JOBS) --label-regex unit

# On a machine with a GPU; elsewhere every test is skipped with a reason.
gpu-test: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS) --target test_cuda
	@build/release/test_cuda --gtest_brief=1

gpu-check: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS) --target test_cuda
	@tools/sanitize-gpu --jobs $(JOBS) build/release/test_cuda

# A folder that runs on another machine, whatever its GPU: build/bundle/run drift ..., build/bundle/run test_cuda.
bundle: build/release/with-tests
	@cmake --preset release -D DRIFT_CUDA_ARCHITECTURES=all
	@cmake --build --preset release --parallel $(JOBS) --target bundle_programs
	@tools/make-bundle build/release "$(BUNDLE)"

asan tsan: %: build/%/with-tests
	@cmake --build --preset $@ --parallel $(JOBS)
	@ctest --preset $@ --parallel $(JOBS)

# Rooms that manage memory by hand or parse foreign files, and whose tests take seconds; and the kept inputs of their fuzz targets.
QUICK_ROOMS = core netcdf data network fuzz_quick
asan-quick: build/asan/with-tests
	@cmake --build --preset asan --parallel $(JOBS) --target $(QUICK_ROOMS:%=test_%)
	@ctest --preset asan --parallel $(JOBS) --tests-regex '^($(subst $() ,|,$(strip $(QUICK_ROOMS))))\.'

# Every parser, SECONDS each, from the kept inputs; findings go to build/fuzz/findings.
SECONDS ?= 60
build/fuzz/build.ninja:
	@tools/install-packages --fuzz
	@cmake --preset fuzz
fuzz: build/fuzz/build.ninja
	@cmake --build --preset fuzz --parallel $(JOBS)
	@tools/fuzz build/fuzz $(SECONDS)

# Kills and injected faults for SECONDS in all: SECONDS=7200 for two hours.
soak: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS) --target drift_command drift_faults
	@tools/soak build/release $(SECONDS)

# Documentation site with search: build/docs/index.html.
docs:
	@tools/install-packages --docs
	@tools/make-docs build/docs

# DESTDIR, if set, precedes the prefix, as packagers expect. Includes the Python package if pybind11 is found.
install: release
	@cmake --build --preset release --parallel $(JOBS) --target drift_package
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

# The table of settings in docs/run-file.md, from the library's list, and of options in docs/verbs, from the command's help.
settings-table: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS) --target settings_table drift_command
	@build/release/tests/docs/settings_table build/release/drift docs

format:
	@clang-format -i $(FORMATTED) $(FORMATTED_CUDA)

check-format:
	@clang-format --dry-run -Werror $(FORMATTED) $(FORMATTED_CUDA)

# clang-tidy checks one source at a time, so it has its own folder, in which nothing is built.
build/tidy/compile_commands.json: build/release/with-tests
	@cmake --preset tidy >/dev/null

tidy: build/tidy/compile_commands.json
	@run-clang-tidy -quiet -p build/tidy -j $(JOBS) '$(TIDIED)'

tidy-changed: build/tidy/compile_commands.json
	@tools/tidy-changed build/tidy

clean:
	@rm -rf build drift-demo

help:
	@echo "make            build the library and the command: build/release/drift"
	@echo "make python     build the Python package: PYTHONPATH=build/release/python"
	@echo "make demo       build, then run the demonstration; its results go to drift-demo/"
	@echo "make experiments  build, then run the small experiments and write their pages (an hour on two cores)"
	@echo "make test       build, then run every test"
	@echo "make unit       build, then run the unit tests alone"
	@echo "make gpu-test   build, then run the GPU engine's tests, on a machine with a GPU"
	@echo "make gpu-check  run the same tests under compute-sanitizer's memcheck and racecheck"
	@echo "make bundle     make a folder with drift, its GPU tests and libraries for another machine: BUNDLE (build/bundle)"
	@echo "make asan       build with the address and undefined-behaviour sanitizers, then test"
	@echo "make asan-quick  the same, quick unit tests only"
	@echo "make tsan       build with the thread sanitizer, then test"
	@echo "make fuzz       fuzz every parser for SECONDS (60) each; needs clang"
	@echo "make soak       kill the command and let its system calls fail at random for SECONDS (60)"
	@echo "make debug      build without optimisation, for a debugger: build/debug/drift"
	@echo "make install    install under PREFIX (/usr/local); DESTDIR is honoured"
	@echo "make docs       build the documentation site: build/docs/index.html"
	@echo "make settings-table  write the tables of settings and options in docs/run-file.md and docs/verbs"
	@echo "make format     clang-format every source; make check-format only checks"
	@echo "make tidy       clang-tidy the library and the command; make tidy-changed: recently changed sources only"
	@echo "make clean      remove build/ and drift-demo/"
	@echo "JOBS=n sets the number of parallel jobs (now $(JOBS))."
