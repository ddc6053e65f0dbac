# What a person types; `make help` lists it. CMake does the work, with the presets of CMakePresets.json: this file only remembers
# the order. A build folder is configured once, and only then does tools/install-packages look for missing packages.

PREFIX ?= /usr/local
BUNDLE ?= build/bundle
JOBS ?= $(shell nproc)

# Sources that clang-format and clang-tidy look at; the latter leaves tests aside.
FORMATTED = $(shell find include src apps bench tests -name '*.h' -o -name '*.cpp')
FORMATTED_CUDA = $(shell find src -name '*.cu' -o -name '*.cuh')
TIDIED = /(src|apps)/.*(?<!_test)\.cpp$$

.DEFAULT_GOAL := release
.PHONY: release debug demo test unit gpu-test gpu-check bundle asan tsan install format tidy clean help
.PRECIOUS: build/%/build.ninja

build/%/build.ninja:
	@tools/install-packages
	@cmake --preset $*

# The library and the command alone: the tests take longer to compile than all the rest, so those who run them build them.
release debug: %: build/%/build.ninja
	@cmake --build --preset $@ --parallel $(JOBS) --target drift_command

demo: release
	@build/release/drift demo --out drift-demo

test: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS)
	@ctest --preset release --parallel $(JOBS)

unit: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS)
	@ctest --preset release --parallel $(JOBS) --label-regex unit

# On a machine with a GPU; elsewhere every test says why it was left out.
gpu-test: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS) --target test_cuda
	@build/release/test_cuda --gtest_brief=1

gpu-check: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS) --target test_cuda
	@tools/sanitize-gpu --jobs $(JOBS) build/release/test_cuda

# A folder to be carried to another machine: build/bundle/run drift ..., build/bundle/run test_cuda.
bundle: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS) --target bundle_programs
	@tools/make-bundle build/release "$(BUNDLE)"

asan tsan: %: build/%/build.ninja
	@cmake --build --preset $@ --parallel $(JOBS)
	@ctest --preset $@ --parallel $(JOBS)

# DESTDIR, where it is set, goes before the prefix, as packagers expect.
install: release
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

format:
	@clang-format -i $(FORMATTED) $(FORMATTED_CUDA)

tidy: build/release/build.ninja
	@run-clang-tidy -quiet -p build/release -j $(JOBS) '$(TIDIED)'

clean:
	@rm -rf build drift-demo

help:
	@echo "make            build the library and the command: build/release/drift"
	@echo "make demo       build, then run the demonstration; its results go to drift-demo/"
	@echo "make test       build, then run every test"
	@echo "make unit       build, then run the unit tests alone"
	@echo "make gpu-test   build, then run the GPU engine's tests, on a machine with a GPU"
	@echo "make gpu-check  the same tests under compute-sanitizer's memcheck and racecheck"
	@echo "make bundle     a folder with drift, its GPU tests and libraries for another machine: BUNDLE (build/bundle)"
	@echo "make asan       build with the address and undefined-behaviour sanitizers, then test"
	@echo "make tsan       build with the thread sanitizer, then test"
	@echo "make debug      build without optimisation, for a debugger: build/debug/drift"
	@echo "make install    install under PREFIX (/usr/local); DESTDIR is honoured"
	@echo "make format     clang-format every source"
	@echo "make tidy       clang-tidy the library and the command"
	@echo "make clean      remove build/ and drift-demo/"
	@echo "JOBS=n limits the number of parallel jobs (now $(JOBS))."
