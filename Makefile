SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# One value everywhere: switching it rebuilds the generators, a minute's work.
TOOL := CGO_ENABLED=0 go tool -modfile=cmd/gen/tools.mod
LINT := CGO_ENABLED=0 go tool -modfile=cmd/gen/lint.mod golangci-lint

.PHONY: help run build test soak faults crash test-sqlite generate generate-check lint vectors bench sdk-python sdk-python-engines sdk-rust

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## Serve on 127.0.0.1:8080 with ./dwserver.db
	go run ./cmd/dwserver

build: ## Build bin/dwserver, static
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/dwserver ./cmd/dwserver

test: ## Run every test on every engine, with the race detector (needs a C compiler; installs databases on Debian)
	[ -n "$${DW_TEST_ENGINES:-}" ] || [ -n "$${DW_TEST_POSTGRES_URL:-}" -a -n "$${DW_TEST_MYSQL_URL:-}" ] || .ci/databases
	CGO_ENABLED=1 go test -race -short -timeout 40m -json ./... | go run ./cmd/gen/testsum

soak: ## The long forms: torture of 60 s an engine, every fault on every engine, 10,000 activities
	DW_TORTURE=60 DW_TEST_SOAK=1 CGO_ENABLED=1 go test -timeout 120m ./cmd/dwserver ./runtime/...

faults: ## A fault at every statement of carried polls, on every engine
	DW_TEST_SOAK=1 CGO_ENABLED=0 go test -count=1 -timeout 15m -run '^TestCarried$$/.*/Faults' -v ./runtime/carriertest

crash: ## The crash test in full: 100 rounds of SIGKILL under load
	CGO_ENABLED=0 go test -count=1 -timeout 15m -run '^TestCrash' -v ./cmd/dwserver

test-sqlite: ## The same on SQLite alone, without the race detector: needs nothing but Go
	DW_TEST_ENGINES=sqlite CGO_ENABLED=0 go test -timeout 20m -json ./... | go run ./cmd/gen/testsum

generate: ## Bundle the contract, generate gen/, pin the contract in vectors/manifest.json
	go run ./openapi/bundle
	for plane in worker:worker-protocol control:control-plane; do \
	  for part in models server; do \
	    $(TOOL) oapi-codegen -config "openapi/$${plane%%:*}.$$part.yaml" "openapi/$${plane##*:}.yaml"; \
	  done; \
	done
	$(TOOL) sqlc generate
	go run ./cmd/gen/sqliteraw
	go run ./vectors/cmd/manifest

generate-check: generate ## Fail when what is committed is not what is generated
	$(TOOL) sqlc diff
	git diff --exit-code -- gen openapi vectors/manifest.json
	test -z "$$(git ls-files --others --exclude-standard -- gen openapi)"

lint: ## go vet, gofmt, golangci-lint with the import directions
	go vet ./...
	test -z "$$(gofmt -l $$(git ls-files '*.go') | tee /dev/stderr)"
	$(LINT) run ./...

vectors: ## Replay the contract's vectors against a server of its own
	go run ./cmd/dwserver vectors

bench: ## Measure this machine; see docs/benchmarks.md
	go run ./cmd/dwbench

sdk-python: ## Run the published Python SDK against a real server (needs python3 with venv)
	vectors/sdk-python/run.sh

sdk-python-engines: ## The same on SQLite, PostgreSQL and MariaDB
	DW_TEST_SDK=python CGO_ENABLED=0 go test -count=1 -timeout 15m -run '^TestPythonSDK$$' -v ./vectors

sdk-rust: ## Run the published Rust SDK against a real server (needs cargo; not part of .ci/run)
	vectors/sdk-rust/run.sh
