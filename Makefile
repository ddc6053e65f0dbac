# What a person types; `make help` lists it. CMake does the work, with the presets of CMakePresets.json: this file only remembers
# the order. A build folder is configured once, and only then does tools/install-packages look for missing packages.

PREFIX ?= /usr/local
BUNDLE ?= build/bundle
JOBS ?= $(shell nproc)

# Sources that clang-format and clang-tidy look at; the latter leaves tests aside.
FORMATTED = $(shell find include src apps tests python -name '*.h' -o -name '*.cpp')
FORMATTED_CUDA = $(shell find src -name '*.cu' -o -name '*.cuh')
TIDIED = /(src|apps)/.*(?<!_test)\.cpp$$

.DEFAULT_GOAL := release
.PHONY: release python debug demo test unit gpu-test gpu-check bundle asan asan-quick tsan docs install format check-format tidy tidy-changed clean help
.PRECIOUS: build/%/build.ninja build/%/with-tests

build/%/build.ninja:
	@tools/install-packages
	@cmake --preset $* -D DRIFT_TESTS=OFF

# The same folder, with the tests and what they need.
build/%/with-tests:
	@tools/install-packages --tests
	@cmake --preset $* -D DRIFT_TESTS=ON
	@touch $@

# The library and the command alone: the tests take longer to compile than all the rest, so those who run them build them.
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
	@build/release/drift demo --out drift-demo

test: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS)
	@ctest --preset release --parallel $(JOBS)

unit: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS)
	@ctest --preset release --parallel $(JOBS) --label-regex unit

# On a machine with a GPU; elsewhere every test says why it was left out.
gpu-test: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS) --target test_cuda
	@build/release/test_cuda --gtest_brief=1

gpu-check: build/release/with-tests
	@cmake --build --preset release --parallel $(JOBS) --target test_cuda
	@tools/sanitize-gpu --jobs $(JOBS) build/release/test_cuda

# A folder to be carried to another machine, whatever its GPU: build/bundle/run drift ..., build/bundle/run test_cuda.
bundle: build/release/with-tests
	@cmake --preset release -D DRIFT_CUDA_ARCHITECTURES=all
	@cmake --build --preset release --parallel $(JOBS) --target bundle_programs
	@tools/make-bundle build/release "$(BUNDLE)"

asan tsan: %: build/%/with-tests
	@cmake --build --preset $@ --parallel $(JOBS)
	@ctest --preset $@ --parallel $(JOBS)

# The rooms where memory is handled by hand, or files from anywhere are read, and whose tests take seconds.
QUICK_ROOMS = core math netcdf geo data score features network train engine
asan-quick: build/asan/with-tests
	@cmake --build --preset asan --parallel $(JOBS) --target $(QUICK_ROOMS:%=test_%)
	@ctest --preset asan --parallel $(JOBS) --tests-regex '^($(subst $() ,|,$(strip $(QUICK_ROOMS))))\.'

# The documentation as a site with a search: build/docs/index.html.
docs:
	@tools/install-packages --docs
	@tools/make-docs build/docs

# DESTDIR, where it is set, goes before the prefix, as packagers expect. The Python package is among it if pybind11 is found.
install: release
	@cmake --build --preset release --parallel $(JOBS) --target drift_package
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

format:
	@clang-format -i $(FORMATTED) $(FORMATTED_CUDA)

check-format:
	@clang-format --dry-run -Werror $(FORMATTED) $(FORMATTED_CUDA)

# clang-tidy looks at one source at a time, so it has a folder of its own, in which nothing is built.
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
	@echo "make test       build, then run every test"
	@echo "make unit       build, then run the unit tests alone"
	@echo "make gpu-test   build, then run the GPU engine's tests, on a machine with a GPU"
	@echo "make gpu-check  the same tests under compute-sanitizer's memcheck and racecheck"
	@echo "make bundle     a folder with drift, its GPU tests and libraries for another machine: BUNDLE (build/bundle)"
	@echo "make asan       build with the address and undefined-behaviour sanitizers, then test"
	@echo "make asan-quick  the same for the quick unit tests alone"
	@echo "make tsan       build with the thread sanitizer, then test"
	@echo "make debug      build without optimisation, for a debugger: build/debug/drift"
	@echo "make install    install under PREFIX (/usr/local); DESTDIR is honoured"
	@echo "make docs       the documentation as a site with a search: build/docs/index.html"
	@echo "make format     clang-format every source; make check-format only looks"
	@echo "make tidy       clang-tidy the library and the command; make tidy-changed only what changed lately"
	@echo "make clean      remove build/ and drift-demo/"
	@echo "JOBS=n limits the number of parallel jobs (now $(JOBS))."
