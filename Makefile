# make prints the targets.
help: ## print the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

# ./... passes over folders that begin with a dot.
TOOLS := ./.ci/bench ./.ci/mutate
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)

build: ## build ./ax, one static binary
	CGO_ENABLED=0 go build -ldflags '-s -w -X main.version=$(VERSION)' -o ax ./cmd/ax

test: ## run all tests, with the race detector
	go test -race -parallel 4 -timeout 20m ./... $(TOOLS)

check: ## gofmt, vet, staticcheck, and lint and layout of the shipped workflows
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }
	go vet ./... $(TOOLS)
	go tool staticcheck ./... $(TOOLS)
	CGO_ENABLED=0 go build ./...
	go run ./cmd/ax lint --strict workflows
	@go run ./cmd/ax fmt --check workflows || { echo 'not laid out: run "ax fmt workflows"'; exit 1; }

bench: ## measure every figure, with peers, and write docs/benchmarks.md (about 15 minutes, on a quiet machine)
	go run ./.ci/bench

mutate: ## plant bugs (IN=machine, or IN=engine) and see that the tests, or the simulation, find each
	go run ./.ci/mutate -in $${IN:-machine}

soak: ## kill ax serve at random moments, AX_SOAK times (200): nothing may be lost or done twice
	AX_SOAK=$${AX_SOAK:-200} go test -count=1 -timeout 60m -v -run 'AgainAndAgain|WithItsSupervisorAn' ./cmd/ax

# Most of what a seed allocates is soon garbage: the collector need not run so often.
seeds: ## have engines live through AX_SEEDS (10000) random scenarios, and hold what came of it against the promises
	GOGC=400 AX_SEEDS=$${AX_SEEDS:-10000} go test -count=1 -timeout 60m -run Promises ./runtime/sim

sim: ## compare AX_SEEDS (10000) random runs with the model of the language, and engines in trouble with their promises
	GOGC=400 AX_SEEDS=$${AX_SEEDS:-10000} go test -count=1 -timeout 60m -run 'MixesAll|Promises' ./runtime ./runtime/sim

fmt: ## format the code
	gofmt -w .

.PHONY: help build test check bench mutate soak seeds sim fmt
