# Everything about building and testing. `make` alone lists what there is.

SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: runbooks chart-test bench-move restore-demo dashboard-test pictures chaos cluster-demo docs package package-test rolling simulate help demo test setup setup-test build samples lint reference fuzz fuzz-api bench bench-guests bench-console bench-peers bench-scale bench-worklist clean soak

help: ## List what there is to make
	@echo "Wedflow. What there is to make:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: ## Install what is missing, build, and run the papers' flow to its final state
	@scripts/demo.sh

test: ## Run every check and every test, the fast ones first
	@scripts/test.sh

setup: ## Install what building needs and this machine lacks
	@scripts/setup.sh build

setup-test: ## Install what the tests need besides
	@scripts/setup.sh test

build: ## Build the program `wed` and the sample transitions
	@scripts/build.sh

samples: ## Build the sample transitions only
	@scripts/build.sh samples

package: ## Build the packages: tarball, Debian package, wheel, npm, SDKs, bill of materials (PROGRAM: a ready wed)
	@scripts/package.sh all $(PROGRAM)

package-test: ## Install the packages into empty roots, run the demo there, build a transition with each SDK
	@scripts/package-test.sh

dashboard-test: ## Look at the dashboard and the alert rules with a host's live figures, through Prometheus
	@scripts/dashboard-test.py

chart-test: ## Lint the Helm chart, look at what it renders with the schemas of Kubernetes
	@scripts/chart-test.sh

docs: ## Make the book of docs/, searchable and offline, in target/book
	@scripts/docs.sh

lint: ## Check formatting, licences, links; run clippy, build the documentation
	@scripts/test.sh lint

reference: ## Write the reference pages that are generated
	@WEDFLOW_WRITE_REFERENCE=1 cargo test --release --workspace --locked --test acceptance -- reference::

pictures: ## Take the pictures of docs/ from the running product (WEDFLOW_CONSOLE_PICTURES=FOLDER: of every page)
	@for tests in console:: authoring::a_shadow_run worklist::inbox::inbox_shows; do \
	  WEDFLOW_WRITE_PICTURES=1 cargo test --release --workspace --locked --test acceptance -- "$$tests" || exit 1; \
	done

fuzz: ## Try a million random SQL fragments against the guard and a server
	@WEDFLOW_FUZZ=$${WEDFLOW_FUZZ:-1000000} cargo test --release --workspace --locked --test acceptance -- guard::fuzz --nocapture

simulate: ## Try hosts' protocol and decisions under SEEDS seeds for each fault (SEED, FAULT); a line of JSON each
	@WEDFLOW_SEEDS=$${SEEDS:-100} WEDFLOW_SEED=$${SEED:-1} $${FAULT:+WEDFLOW_FAULT=$$FAULT} cargo test --release --workspace --locked --test acceptance -- recovery::simulation --nocapture

fuzz-api: ## Fuzz the HTTP API for MINUTES by its own description
	@WEDFLOW_FUZZ_API_SECONDS=$$(( $${MINUTES:-10} * 60 )) cargo test --release --workspace --locked --test acceptance -- interface::a_fuzzer --nocapture

chaos: ## Break hosts, servers, disks and links RUNS times by kind (SEED, KIND); a line of JSON for each kind
	@WEDFLOW_CHAOS_RUNS=$${RUNS:-5} WEDFLOW_SEED=$${SEED:-1} $${KIND:+WEDFLOW_CHAOS_KIND=$$KIND} cargo test --release --workspace --locked --test acceptance -- recovery::chaos --nocapture

rolling: ## Replace hosts of an earlier revision, OLD (main~50), by this one's under load
	@scripts/rolling.sh $${OLD:-main~50}

cluster-demo: ## Move a tenant between two clusters and kill a primary, ROUNDS times under load; prints a table
	@scripts/cluster-demo.py

runbooks: ## Follow the runbooks of many clusters and of a restore once, on throw-away servers
	@scripts/runbooks.sh

restore-demo: ## Lose a server under load and restore it to a moment, from a base backup and its archive; prints a table
	@scripts/restore-point.py

bench: ## Measure the commit path (see docs/reference/benchmarks.md)
	@scripts/bench.sh

soak: ## Run a host under full load for MINUTES; figures by minute in bench/results, with a picture
	@scripts/bench.sh soak --minutes $${MINUTES:-60} --jsonl bench/results/soak.jsonl --svg bench/results/soak.svg

bench-worklist: ## Measure lists, claims and notices with 10 000 people and 100 000 open items
	@scripts/bench.sh worklist

bench-console: ## Measure the first paint of the console over a million instances, and its live pages
	@scripts/bench-console.sh

bench-peers: ## Measure other durable executors next to ours (see docs/reference/benchmarks.md)
	@scripts/bench-peers.sh

bench-scale: ## Measure 1, 2, 4 clusters and 1, 2, 4, 8 hosts with fixed shares of a processor; a model of what comes next
	@scripts/bench-scale.py

bench-move: ## Measure for how long a tenant rests while it moves, under load (SIZES, ROUNDS)
	@scripts/bench-move.py

bench-guests: ## Measure a call in every language (see docs/guide/guests.md)
	@scripts/bench-guests.sh

clean: ## Remove everything that was built
	@scripts/clean.sh
