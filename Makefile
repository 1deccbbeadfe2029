# Targets for people; `cmake --preset NAME` is below them. Each does the set-up that it needs.
.DEFAULT_GOAL := help
.PHONY: help demo test check nightly build gpu-test zoo bench conformance format clean fuzz \
	packages test-packages check-packages python-build python-demo python-test python-zoo release install \
	wheel sdist fetch-demo compile-installed

VENV := .venv/bin
UNSTARVE := build/release/src/cli/unstarve
ARGS ?=
ONLY ?=
MINUTES ?=
SECONDS_EACH ?= 60
PREFIX ?= /usr/local
# What people run, without tests and benchmarks.
INSTALLED := unstarve unstarve_python unstarve_stand_ins
PYTHON ?= python3

help:  ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: packages python-build  ## the whole loop on real images: observe, diagnose, predict, fix, verify [ARGS=--json]
	@$(MAKE) --no-print-directory -j 2 fetch-demo compile-installed
	@scripts/link_build.sh
	@$(UNSTARVE) demo $(ARGS)

# PyTorch is fetched while the compiler works. Ninja is to take every core, not this make's two jobs.
fetch-demo:
	@scripts/setup_python.sh demo
compile-installed:
	@MAKEFLAGS= scripts/build.sh release $(INSTALLED)

test: test-packages python-test  ## the tests (C++, Python, the pages in a browser), less those that take long for what they show
	@scripts/build.sh release
	@scripts/link_build.sh
	@scripts/run_tests.sh

check: packages check-packages python-test  ## what a change must pass beside the tests [ONLY=a,b MINUTES=N]
	@$(VENV)/python tools/run_checks.py $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES))

nightly: test check-packages  ## what a release must pass: every test, every check
	@$(VENV)/python tools/run_checks.py --nightly $(if $(ONLY),--only $(ONLY))

build: release  ## the release build in build/release

install: packages python-build  ## the command and the package into a prefix [PREFIX=/usr/local DESTDIR=]
	@scripts/build.sh release $(INSTALLED)
	@cmake --install build/release --prefix "$(PREFIX)" --component unstarve --strip >/dev/null
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/unstarve"

wheel: packages  ## a wheel that needs nothing but Python, in build/wheel/dist [PYTHON=python3.12]
	@scripts/build_wheel.sh $(PYTHON)

sdist: packages  ## an archive of sources, libraries included, for `pip install`
	@scripts/build_wheel.sh --sdist $(PYTHON)

gpu-test: packages python-test  ## the tests that need a GPU, where there is one
	@scripts/build.sh release
	@scripts/link_build.sh
	@scripts/gpu_test.sh

zoo: packages python-zoo  ## verdicts on jobs with planted causes: which are right [ARGS="--set A --only NAME"]
	@scripts/build.sh release $(INSTALLED)
	@scripts/link_build.sh
	@PYTHONPATH=build/release/python $(VENV)/python tests/starving/run_zoo.py $(ARGS)

bench: release  ## the loader's speed on a folder of JPEGs [SRC=folder ARGS='--threads 1']
	@test -n "$(SRC)" || { echo "name a folder of JPEGs: make bench SRC=folder" >&2; exit 2; }
	@$(UNSTARVE) bench $(SRC) $(if $(ARGS),$(ARGS),--task rrc224 --threads 1)

conformance: packages python-test  ## PyTorch's own tests of DataLoader, with torch's and with unstarve's
	@scripts/build.sh release
	@scripts/link_build.sh
	@scripts/conformance.sh $(ARGS)

fuzz: packages check-packages python-demo  ## run every fuzz target [SECONDS_EACH=60]
	@scripts/build.sh fuzz
	@scripts/fuzz.sh $(SECONDS_EACH)

format: check-packages python-test  ## apply clang-format and ruff format
	@git ls-files -co --exclude-standard '*.h' '*.cpp' | xargs clang-format -i
	@$(VENV)/ruff format --quiet .

clean:  ## remove the builds (.venv stays)
	@rm -rf build

release: packages python-demo
	@scripts/build.sh release
	@scripts/link_build.sh

packages:
	@scripts/install_packages.sh build

test-packages: packages
	@scripts/install_packages.sh test

check-packages:
	@scripts/install_packages.sh check

python-build: packages
	@scripts/setup_python.sh build

python-demo: packages
	@scripts/setup_python.sh demo

python-test: packages
	@scripts/setup_python.sh test

python-zoo: packages
	@scripts/setup_python.sh zoo
