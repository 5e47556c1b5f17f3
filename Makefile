# `make help` lists the targets. Everything that Python needs lives in .venv, everything that is produced in target/
# and out/. Stamps in .venv record what was done, so that each step runs only when what it depends on has changed.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV := $(CURDIR)/.venv
# rustup puts cargo in ~/.cargo/bin, which a plain shell may not look into.
export PATH := $(VENV)/bin:$(PATH):$(HOME)/.cargo/bin
export VIRTUAL_ENV := $(VENV)
unexport PYTHONHOME PYTHONPATH

PIP := $(VENV)/bin/python -m pip --disable-pip-version-check --no-input
INSTALL := $(PIP) install --quiet --require-hashes --only-binary :all:
CREATED := $(VENV)/.created
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
# The extension stands in python/weir, whichever profile it was built with. Either stamp says that it is up to date;
# the second that it was built as users get it, which takes minutes. Such a one serves for everything.
BUILT := $(VENV)/.built
RELEASED := $(VENV)/.released
TARGET := $(or $(CARGO_TARGET_DIR),target)
# The data plane: a program of its own, which needs no Python; in release, unless another profile is named.
WEIRD_PROFILE ?= release
DAEMON := $(VENV)/.weird-$(WEIRD_PROFILE)
# What weir is measured against, apart from what it needs itself.
PEERS := out/peers/.installed
# What makes the documentation site, over what the package needs.
SITE := $(VENV)/.site
# What builds a wheel for systems older than this one.
WHEEL := $(VENV)/.wheel
WHEEL_TARGET ?= $(shell uname -m)-unknown-linux-gnu
# What the extension is made of; the Python part is installed in place and needs no building.
SOURCES := Cargo.toml Cargo.lock pyproject.toml python/weir/__init__.py $(shell find $(wildcard crates reproduce) -type f)

##@ Use

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } \
	    /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	    /^[a-z][a-z-]*:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

.PHONY: demo
demo: ## set up, build (minutes), then the tour and a quick reproduction (a minute)
	@test -e $(BUILT) || echo "weir is set up and built first: three to six minutes on two cores"
	@$(MAKE) $(BUILT)
	@mkdir -p out
	@echo "a quick reproduction of the alpha report: some 20 s on two idle cores; then the tour: some seconds"
	@reproduced=$$(weir reproduce alpha --quick --brief); \
	    weir demo --out out/demo.html; echo; echo "reproduced: $$reproduced"

.PHONY: bench
bench: $(RELEASED) ## measure the engines and the disciplines in release (PREFIX=port/: some of them; docs/performance.md)
	$(VENV)/bin/weir bench $(PREFIX)

.PHONY: bench-gate
bench-gate: gate-program ## hold the instructions of 41 short runs against a recorded table; needs valgrind (docs/performance.md)
	$(VENV)/bin/python tests/gate.py

.PHONY: bench-counts
bench-counts: $(CREATED) ## count what benchmarks do in the processor, in release; needs valgrind (PREFIX="packet/ node/": some of them)
	cargo build --quiet --locked --release -p weir-sim --example gate --example cost
	python tests/counts.py $(PREFIX)

.PHONY: bench-web
bench-web: web $(DEV) $(RELEASED) ## measure the engine in a page and natively, in turns; takes minutes
	python tests/web_bench.py

.PHONY: bench-sweep
bench-sweep: $(DEV) $(RELEASED) ## measure what sweeps and calls from Python cost over the engine (PARTS="cells resume": some); takes ten minutes
	python tests/sweep_bench.py $(PARTS)

.PHONY: bench-peers
bench-peers: $(PEERS) $(RELEASED) ## measure an M/M/1 queue in weir, plain C, SimPy and, by CIMBA=SOURCE, Cimba in turns; takes a minute or two
	python tests/peers.py --simpy out/peers/bin/python $(if $(CIMBA),--cimba "$(CIMBA)")

.PHONY: bench-exec
bench-exec: $(CREATED) ## measure weir-exec and other executors in turns; takes minutes
	cargo run --locked --release --manifest-path bench-exec/Cargo.toml

.PHONY: hold-exec
hold-exec: $(CREATED) ## hold the promise of weir-exec for an hour, under SCHED_FIFO; as root
	cargo run --locked --release --manifest-path bench-exec/Cargo.toml -- hold --seconds 3600

.PHONY: study-coverage
study-coverage: $(CREATED) ## count how often intervals cover the truth, and whether runs that are too short say so; takes a quarter of an hour (docs/studies.md)
	cargo run --locked --release -p weir-sim --example coverage

.PHONY: study-tracking
study-tracking: $(CREATED) ## compare alphas that track the load with fixed ones; takes minutes (docs/studies.md)
	cargo run --locked --release -p weir-sim --example tracking

.PHONY: study-sfq
study-sfq: $(BUILT) ## compare hashed queues with strict ones over flows, hashes and attacks; takes minutes (docs/studies.md)
	@mkdir -p out
	$(VENV)/bin/python -m weir.reproduce.sfq.study --out out/study-sfq.html
	@echo "report: $(CURDIR)/out/study-sfq.html"

.PHONY: study-size
study-size: $(BUILT) ## count how often searches find the answer that a closed form gives; takes minutes
	$(VENV)/bin/python -m weir.sizing.study

##@ Check

.PHONY: check
check: $(DEV) ## check format, clippy of what has changed (BASE=main), unit tests of core and ground floor
	scripts/check-changed

.PHONY: test
test: test-rust test-python ## set up everything and run all tests

.PHONY: test-rust
test-rust: $(CREATED) ## run the tests of the crates and of their documentation
	scripts/check-bpf
	cargo test --workspace --locked --no-fail-fast
	CARGO_TARGET_DIR=target cargo test --locked --manifest-path examples/new-model/Cargo.toml
	CARGO_TARGET_DIR=target cargo test --locked --manifest-path examples/own-crate/Cargo.toml
	CARGO_TARGET_DIR=target cargo test --locked --manifest-path examples/control-loop/Cargo.toml

.PHONY: test-python
test-python: $(DEV) $(BUILT) ## run the tests of the package and of the command line
	pytest

.PHONY: test-full
test-full: test-rust $(DEV) $(BUILT) ## run all tests, those too that are marked slow
	pytest -m "slow or not slow"

.PHONY: frozen
frozen: $(DEV) $(BUILT) ## compare results, refusals, listings and reproductions with what is held (tests/frozen.py)
	cargo test --locked -p weir-core --test frozen
	pytest tests/test_frozen.py -m "slow or not slow"

.PHONY: test-site
test-site: $(SITE) $(DEV) $(BUILT) ## build the documentation site and try it: warnings, links, pages in a browser, search; some minutes
	WEIR_SITE=1 pytest tests/test_site.py

.PHONY: test-web
test-web: web $(DEV) $(BUILT) ## build the engine in a page and try it: the same bytes as the native engine, and the page in a browser
	WEIR_WEB=$(WEB_PROFILE) pytest tests/test_web.py

.PHONY: test-gate
test-gate: gate-program $(DEV) ## run bench-gate as tests, one for each run; they are skipped where counts would be others anyhow
	WEIR_GATE=1 pytest tests/test_gate_counts.py

.PHONY: gate-program
gate-program: $(CREATED) ## build what bench-gate and test-gate count
	cargo build --quiet --locked --profile editing -p weir-sim --example gate

.PHONY: test-live
test-live: $(DEV) $(BUILT) $(DAEMON) ## run the tests with real packets, in namespaces that they make; as root
	pytest tests/live

.PHONY: bench-live
bench-live: $(DEV) $(BUILT) $(DAEMON) ## measure packets, TCP and round trips through the kernel, bare sockets and weird, in turns; as root, takes half an hour
	python tests/live/bench.py

.PHONY: compare-kernel
compare-kernel: $(DEV) $(BUILT) $(DAEMON) ## put the disciplines of a kernel in a virtual machine next to weird's (KERNEL=FILE.deb); as root, takes minutes
	python tests/kernel_vm/compare.py

.PHONY: test-dispatcher
test-dispatcher: $(DEV) $(BUILT) $(DAEMON) ## run the tests of XDP programs next to others' in a virtual machine whose kernel permits them (KERNEL=FILE.deb); as root, takes minutes
	python tests/kernel_vm/dispatcher.py

.PHONY: faults
faults: $(DEV) $(BUILT) $(DAEMON) ## try what goes wrong around a router, and print what each costs (docs/operate.md); as root, takes minutes
	python tests/live/faults.py

.PHONY: test-opensm
test-opensm: $(DEV) $(BUILT) ## run plans and 10,000 mutated files through OpenSM; as root, installs it first; takes minutes
	scripts/install-opensm
	pytest tests/test_opensm.py -m "slow or not slow"

.PHONY: test-mutated
test-mutated: $(DEV) $(BUILT) ## give 40,000 mutated scenarios, traces, requests and captures to the commands; takes half an hour
	pytest -s tests/test_mutated.py -m slow

.PHONY: test-kills
test-kills: $(DEV) $(BUILT) ## kill a sweep of 10,000 cells at 1,000 instants, and hold its set against an undisturbed one; takes an hour
	python tests/sweeps.py 1000 10000

.PHONY: test-wheel
test-wheel: $(DEV) wheel sdist ## install the wheel from dist in an empty environment without Rust and run it, then build from the sdist; takes minutes
	WEIR_WHEEL=$$(echo dist/*.whl) pytest tests/test_package.py --durations=0
	rm -rf $(TARGET)/sdist && mkdir -p $(TARGET)/sdist
	tar -C $(TARGET)/sdist --strip-components=1 -xzf dist/weir-*.tar.gz
	CARGO_TARGET_DIR=$(abspath $(TARGET))/from-sdist MATURIN_PEP517_ARGS="--profile editing" \
		$(PIP) wheel --quiet --no-build-isolation --no-index --no-deps --wheel-dir $(TARGET)/sdist/dist $(TARGET)/sdist

.PHONY: test-loom
test-loom: $(CREATED) ## try every order in which threads may wake a task of weir-exec
	RUSTFLAGS="--cfg weir_loom" cargo test --locked --release --target-dir $(TARGET)/loom -p weir-exec --lib loom_tests

# RUSTC_BOOTSTRAP: the option is unstable, and stable Rust brings the library that it links.
.PHONY: test-sanitizers
test-sanitizers: $(CREATED) ## run the tests of weir-exec under the address and leak sanitizers; needs llvm-symbolizer
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address LSAN_OPTIONS=suppressions=$(CURDIR)/crates/weir-exec/leaks.supp \
		cargo test --locked --target-dir $(TARGET)/sanitizers --target x86_64-unknown-linux-gnu -p weir-exec --lib --tests

.PHONY: lint
lint: lint-rust lint-python lint-stub lint-repository audit ## run all checks that are not tests

.PHONY: lint-rust
lint-rust: $(CREATED) ## check format, clippy and documentation of the crates; a warning is an error
	scripts/check-bpf
	cargo fmt --all --check
	cargo fmt --manifest-path examples/new-model/Cargo.toml --check
	cargo fmt --manifest-path examples/own-crate/Cargo.toml --check
	cargo fmt --manifest-path examples/control-loop/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	CARGO_TARGET_DIR=target cargo clippy --manifest-path examples/new-model/Cargo.toml --all-targets --locked -- -D warnings
	CARGO_TARGET_DIR=target cargo clippy --manifest-path examples/own-crate/Cargo.toml --all-targets --locked -- -D warnings
	CARGO_TARGET_DIR=target cargo clippy --manifest-path examples/control-loop/Cargo.toml --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

.PHONY: lint-python
lint-python: $(DEV) ## check format, style and types of the Python files
	ruff check
	ruff format --check
	mypy

.PHONY: audit
audit: ## check unsafe code against its record, and where dependencies come from
	scripts/audit

.PHONY: lint-stub
lint-stub: $(DEV) $(BUILT) ## check the stub _weir.pyi against the compiled module
	python -m mypy.stubtest weir._weir --allowlist tests/stub-exceptions.txt

.PHONY: lint-repository
lint-repository: ## check that every target is explained and that no file names a package registry
	scripts/check-repository

.PHONY: fmt
fmt: $(DEV) ## format Rust and Python
	cargo fmt --all
	cargo fmt --manifest-path examples/new-model/Cargo.toml
	cargo fmt --manifest-path examples/own-crate/Cargo.toml
	cargo fmt --manifest-path examples/control-loop/Cargo.toml
	ruff check --fix
	ruff format

.PHONY: fuzz
fuzz: $(CREATED) ## run every fuzz target for a short while (SECONDS_EACH=30); needs cargo-fuzz
	@cargo fuzz --version >/dev/null 2>&1 || { echo "error: cargo-fuzz is missing: run 'cargo install --locked cargo-fuzz'" >&2; exit 2; }
	for target in $$(cargo fuzz list); do cargo fuzz run --sanitizer none "$$target" -- -max_total_time=$${SECONDS_EACH:-30}; done

.PHONY: fuzz-long
fuzz-long: $(CREATED) ## give each parser of what comes from outside 100,000,000 inputs (RUNS=, SECONDS_EACH=, TARGETS=); hours
	nice -n 19 scripts/fuzz-long $(TARGETS)

.PHONY: flood
flood: $(CREATED) ## let ten million flows come next to one, under every discipline, and print what it is left with; minutes
	cargo test --locked -p weir-plane --lib -- --ignored --nocapture ten_million_flows

##@ Build

.PHONY: setup
setup: $(DEV) ## create .venv with everything that is needed to build, test and check

.PHONY: build
build: $(BUILT) ## build the extension, quickly, and install the package in .venv

.PHONY: release
release: $(RELEASED) ## build the extension as users get it, and install the package in .venv

.PHONY: weird
weird: $(DAEMON) ## build the daemon (WEIRD_PROFILE=release) and put it in .venv/bin; needs clang and libelf

.PHONY: wheel
wheel: $(WHEEL) ## build the wheel in dist, for glibc 2.17 and later; minutes (WHEEL_TARGET=: for another machine, whose Rust library rustup adds)
	@rm -f dist/*.whl
	maturin build --profile release --strip --zig --compatibility manylinux2014 --compression-level 9 --target $(WHEEL_TARGET) --out dist

.PHONY: sdist
sdist: $(RUNTIME) ## pack the sources of the package in dist
	@rm -f dist/weir-*.tar.gz
	maturin sdist --out dist

.PHONY: tarball
tarball: $(DAEMON) ## pack the daemon with units, dashboards, manual pages and completions in dist
	scripts/tarball $(VENV)/bin/weird dist

.PHONY: crates
crates: $(CREATED) ## pack weir-core, weir-recording and weir-exec, and compile each from its package; nothing is sent
	cargo publish --dry-run --allow-dirty --locked -p weir-core -p weir-recording -p weir-exec

.PHONY: docs
docs: $(DEV) $(BUILT) ## run the examples of the documents anew; write the reference of crates and package to out/docs
	python tests/documents.py
	python tests/pictures.py
	cargo doc --workspace --no-deps --locked
	pdoc --docformat numpy --output-directory out/docs/python weir
	rm -rf out/docs/rust && cp -r $(TARGET)/doc out/docs/rust
	@echo "crates:  $(CURDIR)/out/docs/rust/weir_core/index.html"
	@echo "package: $(CURDIR)/out/docs/python/weir.html"

.PHONY: site
site: $(SITE) $(BUILT) ## build the documentation site in out/site, and check its links; about a minute
	python website/make.py out/site

# The page is smaller and faster as users get it; tests take the profile that is compiled faster.
WEB_PROFILE ?= web

.PHONY: web
web: $(CREATED) ## build the page with the engine in it, out/web/index.html, which `make site` takes; some minutes
	$(VENV)/bin/python website/engine.py "$$(scripts/build-web $(WEB_PROFILE))" out/web/index.html --home ../index.html

.PHONY: lock
lock: $(DEV) ## lock the Python requirements anew, hashes included (UPGRADE=1: take the newest versions)
	scripts/lock-requirements $(if $(UPGRADE),--upgrade)

.PHONY: clean
clean: ## remove everything that was built or installed here
	rm -rf .venv target out dist python/weir/*.so .pytest_cache .mypy_cache .ruff_cache
	find python tests -name __pycache__ -prune -exec rm -rf {} +

$(CREATED): scripts/bootstrap
	scripts/bootstrap $(VENV)
	@touch $@

$(RUNTIME): requirements/runtime.txt requirements/build.txt | $(CREATED)
	$(INSTALL) -r requirements/build.txt
	$(INSTALL) -r requirements/runtime.txt
	@touch $@

$(WHEEL): requirements/wheel.txt | $(RUNTIME)
	$(INSTALL) -r requirements/wheel.txt
	@touch $@

$(DEV): requirements/dev.txt | $(RUNTIME)
	$(INSTALL) -r requirements/dev.txt
	@touch $@

$(SITE): requirements/site.txt | $(RUNTIME)
	$(INSTALL) -r requirements/site.txt
	@touch $@

$(PEERS): requirements/peers.txt | $(CREATED)
	$(VENV)/bin/python -m venv --clear $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes --only-binary :all: -r $<
	@touch $@

$(DAEMON): Cargo.toml Cargo.lock $(shell find crates bpf -type f) $(CREATED)
	scripts/check-bpf
	cargo build --locked --profile $(WEIRD_PROFILE) -p weir-live
	install -m 755 $(TARGET)/$(WEIRD_PROFILE)/weird $(VENV)/bin/weird
	@rm -f $(VENV)/.weird-*
	@touch $@

# The locked maturin does the work: without build isolation, index or dependencies nothing unlocked is fetched.
INSTALL_HERE := $(PIP) install --quiet --no-build-isolation --no-index --no-deps --editable .

# The profile is that of pyproject.toml for an installation in place.
$(BUILT): $(SOURCES) $(RUNTIME)
	$(INSTALL_HERE)
	@rm -f $(RELEASED)
	@touch $@

$(RELEASED): $(SOURCES) $(RUNTIME)
	MATURIN_PEP517_ARGS="--profile release" $(INSTALL_HERE)
	@touch $(BUILT) $@
