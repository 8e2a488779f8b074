# Faultline. `make up` runs the product on this machine, `make test` runs every test.
SHELL := /bin/bash
.DEFAULT_GOAL := help

GO       ?= go
DATA     ?= data
BINARIES := faultline faultline-collector faultline-correlator faultline-provisioner faultline-lab
TRIM     ?= -trimpath
export CGO_ENABLED := 0

.PHONY: loki soak-loki bench-loki lab-alerts page dashboards truth lab-matrix lab-score help up build test test-stories test-ocb scenarios openstack wrappers bench-verdict lint bench bench-identity bench-store bench-live bench-pages bench-requests bench-durability bench-provisioner bench-dashboards examples clean bench-throughput bench-ingest $(addprefix bin/,$(BINARIES))

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

up: ## build, set up and run everything on this machine; Ctrl-C stops it
	@echo "faultline: building (the first time takes some minutes)"
	@$(MAKE) --no-print-directory build
	@exec bin/faultline up --data $(DATA)

build: page ## the page and the five programs, in bin/
	@$(MAKE) --no-print-directory $(addprefix bin/,$(BINARIES))

# The page is a build of its own; npm ci only when the lock changed, vite only when a source did.
PAGE      := api/web
page_made := $(PAGE)/dist/index.html
page_from := $(shell find $(PAGE)/src -type f ! -name '*.test.ts' 2>/dev/null) $(addprefix $(PAGE)/,index.html vite.config.ts tsconfig.json package.json)

page: ## the page, built for embedding; without Node.js the programs are built without it
	@if ! command -v npm >/dev/null || ! node -e 'const [a,b]=process.versions.node.split(".").map(Number);process.exit(a>20||a==20&&b>=19?0:1)'; then \
	  echo "SKIPPED: the page needs Node.js 20.19 or newer and npm; what is built now says so where the page would be"; \
	else $(MAKE) -s --no-print-directory $(page_made); fi

$(PAGE)/node_modules/.package-lock.json: $(PAGE)/package-lock.json
	@echo "  the page's packages"
	@cd $(PAGE) && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json

$(page_made): $(PAGE)/node_modules/.package-lock.json $(page_from)
	@cd $(PAGE) && rm -rf dist/assets dist/index.html* && npm run --silent build -- --logLevel warn && touch dist/index.html
	@echo "  $(PAGE)/dist"

# Dashboards are committed as they are generated: Node.js is needed to change and to check them, not to build.
GRAFANA := dashboards/grafana

dashboards: $(GRAFANA)/node_modules/.package-lock.json ## Grafana's dashboards, anew from their sources
	@cd $(GRAFANA) && npm run --silent generate

$(GRAFANA)/node_modules/.package-lock.json: $(GRAFANA)/package-lock.json
	@echo "  the dashboards' packages"
	@cd $(GRAFANA) && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json

$(addprefix bin/,$(BINARIES)): bin/%:
	@begun=$$(date +%s); said=0; $(GO) build $(TRIM) -o $@ ./cmd/$* & build=$$!; \
	while kill -0 $$build 2>/dev/null; do sleep 0.2; took=$$(( ($$(date +%s) - begun) / 10 * 10 )); \
	  if [ $$took -gt $$said ]; then said=$$took; echo "  $@ … $$took s"; fi; done; \
	wait $$build && echo "  $@ ($$(( $$(date +%s) - begun )) s)"

test: ## every test
	@$(MAKE) --no-print-directory page
	@$(GO) run ./cmd/faultline setup
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(GRAFANA)/node_modules/.package-lock.json; \
	else echo "SKIPPED: no npm; the dashboards are NOT compared with what generates them"; fi
	@command -v npm >/dev/null && { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null || \
	  echo "SKIPPED: no npm or no chromium; the page is NOT tested"
	$(GO) test -vet=off -timeout 20m ./... # make lint vets

test-stories: ## every scenario through the store, not just every tenth, stamped and unstamped; half an hour
	FAULTLINE_EVERY_STORY=both $(GO) test -count=1 -timeout 90m -run TestTheStoreAndTheFileAgree ./correlator/clickhouse

test-ocb: ## build the Collector Builder's manifests and run what comes out (ordinary tests do, too)
	$(GO) test -count=1 -v -run 'TestAnyonesBuild|TestOurOwnManifest' ./collector

lint: ## golangci-lint (go vet and, by depguard, imports among it), formatting
	$(GO) tool -modfile=tools/go.mod golangci-lint run
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(PAGE)/node_modules/.package-lock.json $(GRAFANA)/node_modules/.package-lock.json && \
	  (cd $(PAGE) && npm run --silent lint) && cd $(GRAFANA) && npm run --silent lint; \
	else echo "SKIPPED: no npm; the page and the dashboards are NOT linted"; fi

loki: ## Loki, for the tests and benchmarks that need one: built once, some minutes, kept in the user's cache
	$(GO) run ./internal/lokitest/build

scenarios: ## the scoreboard: every story in every variant, beside four naive heuristics
	FAULTLINE_SCOREBOARD=1 $(GO) test -count=1 -v -run TestScoreboard ./correlator

openstack: ## real OpenStack runs with a known owner, where the data lies beside the project
	$(GO) test -count=1 -v -run "TestOpenStack(Faults|Attribution)" ./correlator

truth: ## stories by others and real incidents, as the rules judge them now and at first sight; then the scenarios and real OpenStack runs
	@$(GO) run ./cmd/faultline-lab truth --first docs/truth.md correlator/testdata/scenarios truth/testdata/claims truth/testdata/round-* $(wildcard ../shared/data/incidents)
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

bench-loki: build loki ## the way to Loki beside otlp_http, and what Loki reads for one allocation; a quarter of an hour
	bin/faultline-lab bench loki

soak-loki: loki ## the way to Loki with 20 kills and half an hour without Loki (stopped, then killed), then without the gateway before it; 100 minutes
	FAULTLINE_KILLS=20 FAULTLINE_LOKI_AWAY=30m FAULTLINE_LOKI_STOPS=1 $(GO) test -count=1 -v -timeout 90m -run TestLokiKilledAtRandom ./collector
	FAULTLINE_KILLS=20 FAULTLINE_LOKI_AWAY=30m $(GO) test -count=1 -v -timeout 150m -run 'TestLokiKilledAtRandom|TestLokiGatewayKilled' ./collector

bench-provisioner: ## 2,000 allocations at once on SQLite and 10,000 on PostgreSQL, 500 kills of each, what telemetry adds to a move
	$(GO) run ./soak/bench $(ARGS)

bench-dashboards: ## the rows that each panel of the dashboards reads at ten million records; ROWS, DSN of a store that has them
	FAULTLINE_GRAFANA_ROWS=$(or $(ROWS),10000000) FAULTLINE_GRAFANA_DSN=$(DSN) $(GO) test -count=1 -v -timeout 60m -run TestRowsRead ./dashboards/grafana

bench-requests: ## 100,000 requests made of the API's description, hostile ones too, to a correlator with a store; half an hour
	FAULTLINE_REQUESTS=$(or $(REQUESTS),100000) $(GO) test -count=1 -v -timeout 90m -run TestGeneratedRequests ./api

bench-pages: ## pages of records beside 2,000 inserted a second: what was skipped, what stood in two; LASTS=60s
	FAULTLINE_PAGING=$(or $(LASTS),60s) $(GO) test -count=1 -v -timeout 60m -run TestPagesUnderLoad ./correlator/clickhouse

bench-live: ## judging as records arrive: 10,000 live allocations, 2,000 events/s, without a store and with one
	FAULTLINE_LIVE=1 $(GO) test -count=1 -v -timeout 20m -run 'TestLiveLoad|TestLiveStore' ./correlator/live
	FAULTLINE_LIVE=1 $(GO) test -count=1 -v -run TestAWorkingSetIsBounded ./correlator/live
bench-store: build ## the store beside the contrib exporter's tables; ROWS=10000000 for the full size, DIR for its data
	bin/faultline-lab bench store --rows $(or $(ROWS),1000000) $(if $(DIR),--dir $(DIR))

lab-matrix: build ## freeze and kill every process, and silence every layer, in a platform that runs: nobody else may be blamed; 50 minutes
	bin/faultline-lab matrix

lab-alerts: build ## a fault of each layer, three times: how long until Alertmanager calls its owner, and until that is over; an hour
	bin/faultline-lab alerts --rounds 3 --faults $(or $(FAULTS),cert_expired,ingress_route_missing,auth_policy_missing,api_5xx,db_lock,outbox_poison,agent_stop,node_disk_full,bad_rollout)

lab-score: build ## every fault that the lab can make, beside healthy load, and what is said of it; half an hour
	bin/faultline-lab score

examples: build ## make examples/ anew, with the lab
	bin/faultline-lab examples examples

clean: ## remove bin/ and data/
	rm -rf bin $(DATA)
