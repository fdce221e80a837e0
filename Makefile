# Everything here is a thin front of CMake, Ninja and the scripts in scripts/ and tests/.
# On a fresh Debian 12 machine `make run` and `make test` need nothing else.

PORT ?= 8000
DATA ?= dolmen-data
ARGS ?=
MODELS ?= $(foreach name,shop pornspot figureforge asset-creator kinex-fit,models/$(name)/$(name).dolmen)
PREFIX ?= /usr/local
DESTDIR ?=
NINJA = ninja $(if $(CI),--quiet)

.PHONY: help run build check test secured asan tsan fuzz bench mutation mutation-code torture format tidy install clean
.DEFAULT_GOAL := help

help:
	@echo 'make run      build and serve the example models on port $(PORT), data in $(DATA)/'
	@echo '              (PORT=, DATA=, ARGS=; MODELS= serves none, or names others)'
	@echo 'make test     build and run every test, with real clients (SUITES= for some of them)'
	@echo 'make secured  the suites of clients once more, over TLS, with signatures that count (SUITES=)'
	@echo 'make check    format, lint, layers, headers, unit and golden tests: under a minute'
	@echo 'make build    build/dolmen, libdolmen and the tests'
	@echo 'make asan     every test on the address and undefined-behaviour sanitizers'
	@echo 'make tsan     every test on the thread sanitizer'
	@echo 'make fuzz     search with a fuzz target (T=name TIME=seconds; without T, names them)'
	@echo 'make bench    what a request costs, and beside other servers (FULL=1, REPORT=1)'
	@echo 'make mutation break the models in every way (make test: in 180 each), and list what no test notices'
	@echo 'make mutation-code  break the code that judges rules, likewise (FILE=src/…, SAMPLE=)'
	@echo 'make torture  kills, power losses and disk faults under load, damaged files, rules (ROUNDS=, DAMAGES=, SEED=)'
	@echo 'make format   clang-format over all C files'
	@echo 'make tidy     clang-tidy over src/'
	@echo 'make install  binary, library, header and pkg-config file (PREFIX=, DESTDIR=)'
	@echo 'make clean    remove build/'

run: build/build.ninja
	@$(NINJA) -C build dolmen
	@exec models/serve build/dolmen $(PORT) $(DATA) '$(MODELS)' $(ARGS)

build: build/build.ninja
	@$(NINJA) -C build

check: deps-check build
	@scripts/check build

test: deps-test build
	@tests/run --build build $(SUITES)

secured: deps-test build
	@tests/run --build build --secured $(SUITES)

asan tsan: %: deps-test build/%/build.ninja
	@$(NINJA) -C build/$@
	@tests/run --build build/$@ $(SUITES)

fuzz: deps-fuzz build/fuzz/build.ninja
	@$(if $(T),$(NINJA) -C build/fuzz fuzz_$(T))
	@tests/fuzz/search $(T) $(TIME)

bench: deps-bench build/build.ninja
	@$(NINJA) -C build dolmen
	@bench/getitem-cost build
	@bench/guard build
	@bench/rules build
	@bench/pattern build
	@bench/policy build
	@bench/tls --build build
	@bench/run build $(if $(FULL),--full) $(if $(REPORT),--report)
	@bench/publish --build build
	@bench/objects --build build
	@bench/live --build build
	@bench/project
	@bench/features build $(if $(REPORT),--report)
	@bench/bystander build $(if $(REPORT),--report)

mutation: deps-test build/build.ninja
	@$(NINJA) -C build dolmen
	@DOLMEN_BIN=build/dolmen tests/model/mutation/run --full --show

mutation-code: deps-test build
	@tests/model/mutation/code --build build $(if $(SAMPLE),--sample $(SAMPLE)) $(FILE)

torture: deps-test build/build.ninja
	@$(NINJA) -C build dolmen
	@DOLMEN_BIN=build/dolmen ROUNDS='$(ROUNDS)' SEED='$(SEED)' tests/torture/run --full
	@DOLMEN_BIN=build/dolmen DAMAGES='$(DAMAGES)' SEED='$(SEED)' tests/damage/run --full
	@DOLMEN_BIN=build/dolmen SEED='$(SEED)' tests/torture/rules/run --writes 1000000
	@DOLMEN_BIN=build/dolmen SEED='$(SEED)' tests/torture/project/run --writes 1000000 --changes 20
	@DOLMEN_BIN=build/dolmen tests/torture/objects/run --full $(if $(SEED),--seed $(SEED))
	@OBJECTS_LARGE=1024 tests/run --build build api/objects
	@DOLMEN_BIN=build/dolmen tests/api/memory/run --full
	@DOLMEN_BIN=build/dolmen SEED='$(SEED)' tests/policy/run --full

format: deps-check
	@scripts/format

tidy: deps-tidy build
	@scripts/tidy

install: build
	@DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX) --strip

clean:
	@rm -rf build

# Ninja runs CMake again by itself when a CMakeLists.txt changes.
build/build.ninja: | deps-build
	@cmake --preset release $(if $(CI),>/dev/null)
build/%/build.ninja: | deps-build
	@cmake --preset $* $(if $(CI),>/dev/null)

.PHONY: deps-build deps-check deps-test deps-fuzz deps-bench deps-tidy
deps-build deps-check deps-test deps-fuzz deps-bench deps-tidy: deps-%:
	@scripts/deps $*
