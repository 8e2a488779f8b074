# Faultline. `make up` runs the product on this machine, `make test` runs every test.
SHELL := /bin/bash
.DEFAULT_GOAL := help

GO       ?= go
DATA     ?= data
BINARIES := faultline faultline-collector faultline-correlator faultline-provisioner faultline-lab
export CGO_ENABLED := 0

.PHONY: truth lab-matrix lab-score help up build test test-stories test-ocb scenarios openstack wrappers bench-verdict lint bench bench-identity bench-store bench-live bench-durability bench-provisioner examples clean bench-throughput bench-ingest $(addprefix bin/,$(BINARIES))

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

up: ## build, set up and run everything on this machine; Ctrl-C stops it
	@echo "faultline: building (the first time takes some minutes)"
	@$(MAKE) --no-print-directory build
	@exec bin/faultline up --data $(DATA)

build: $(addprefix bin/,$(BINARIES)) ## the five programs, in bin/

$(addprefix bin/,$(BINARIES)): bin/%:
	@begun=$$(date +%s); said=0; $(GO) build -trimpath -o $@ ./cmd/$* & build=$$!; \
	while kill -0 $$build 2>/dev/null; do sleep 0.2; took=$$(( ($$(date +%s) - begun) / 10 * 10 )); \
	  if [ $$took -gt $$said ]; then said=$$took; echo "  $@ … $$took s"; fi; done; \
	wait $$build && echo "  $@ ($$(( $$(date +%s) - begun )) s)"

test: ## every test
	@$(GO) run ./cmd/faultline setup
	$(GO) test -timeout 20m ./...

test-stories: ## every scenario through the store, not just every fifth, stamped and unstamped; half an hour
	FAULTLINE_EVERY_STORY=both $(GO) test -count=1 -timeout 90m -run TestTheStoreAndTheFileAgree ./correlator/clickhouse

test-ocb: ## build the Collector Builder's manifests and run what comes out (ordinary tests do, too)
	$(GO) test -count=1 -v -run 'TestAnyonesBuild|TestOurOwnManifest' ./collector

lint: ## go vet, golangci-lint (imports by depguard), formatting
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod golangci-lint run

scenarios: ## the scoreboard: every story in every variant, beside four naive heuristics
	FAULTLINE_SCOREBOARD=1 $(GO) test -count=1 -v -run TestScoreboard ./correlator

openstack: ## real OpenStack runs with a known owner, where the data lies beside the project
	$(GO) test -count=1 -v -run "TestOpenStack(Faults|Attribution)" ./correlator

truth: ## stories by others and real incidents, as the rules judge them now; then the scenarios and real OpenStack runs
	@$(GO) run ./cmd/faultline-lab truth correlator/testdata/scenarios truth/testdata/round-* $(wildcard ../shared/data/incidents)
	@$(if $(wildcard ../shared/data/incidents),,echo "SKIPPED: the incidents are not beside the project")
	@$(MAKE) --no-print-directory scenarios openstack wrappers

wrappers: ## real lines whose words name another layer than the cause
	FAULTLINE_WRAPPERS=1 $(GO) test -count=1 -v -run TestWrapperErrors ./correlator

bench-verdict: ## what a verdict costs, by size of the allocation, up to a million events
	FAULTLINE_VERDICT_RUNS=100 FAULTLINE_VERDICT_RECORDS=1000000 $(GO) test -count=1 -v -run 'TestVerdictSpeed|TestLargeAllocations' ./correlator

bench: build ## the figures of docs/benchmarks.md: all of it from end to end, the identity processor, verdicts, the store; half an hour
	bin/faultline-lab bench
	$(MAKE) --no-print-directory bench-identity bench-verdict bench-store

bench-identity: ## the identity processor beside its rivals; memory, churn; 10,000 schedules against the oracle and beside "now"
	cd bench && $(GO) run .
	FAULTLINE_SCHEDULES=10000 $(GO) test -count=1 -v -timeout 30m -run 'TestManySchedules|TestNowIsNotThen' ./internal/identity
	$(GO) test -count=1 -v -run TestAllocationsPerRecord ./processors/identityprocessor

bench-throughput: bin/faultline bin/faultline-collector ## records a CPU second of a real Collector, with the identity processor and without
	cd bench && $(GO) run . -only throughput -bin ../bin

bench-ingest: bin/faultline ## a record's way through a whole Collector into the store, beside the contrib exporter
	cd bench && $(GO) run . -only ingest -bin ../bin

bench-durability: bin/faultline-collector ## 200 kills under load, an outage of six minutes at ten times the hour's rate, a loss of power
	FAULTLINE_KILLS=200 FAULTLINE_OUTAGE=1800000 FAULTLINE_COLLECTOR_BINARY=$(CURDIR)/bin/faultline-collector \
	  $(GO) test -count=1 -v -timeout 90m -run 'TestKilledAtRandom|TestLongOutage|TestLossOfPower|TestDisk' ./collector

bench-provisioner: ## 2,000 allocations at once on SQLite and 10,000 on PostgreSQL, 500 kills of each, what telemetry adds to a move
	$(GO) run ./soak/bench $(ARGS)

bench-live: ## judging as records arrive: 10,000 live allocations, 2,000 events/s, without a store and with one
	FAULTLINE_LIVE=1 $(GO) test -count=1 -v -timeout 20m -run 'TestLiveLoad|TestLiveStore' ./correlator/live
	FAULTLINE_LIVE=1 $(GO) test -count=1 -v -run TestAWorkingSetIsBounded ./correlator/live
bench-store: build ## the store beside the contrib exporter's tables; ROWS=10000000 for the full size, DIR for its data
	bin/faultline-lab bench store --rows $(or $(ROWS),1000000) $(if $(DIR),--dir $(DIR))

lab-matrix: build ## freeze and kill every process, and silence every layer, in a platform that runs: nobody else may be blamed; 50 minutes
	bin/faultline-lab matrix

lab-score: build ## every fault that the lab can make, beside healthy load, and what is said of it; half an hour
	bin/faultline-lab score

examples: build ## make examples/ anew, with the lab
	bin/faultline-lab examples examples

clean: ## remove bin/ and data/
	rm -rf bin $(DATA)
