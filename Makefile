# iwdump: what can be done with the project. `make help` lists it.

GO       ?= go
BIN      := bin
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 1m
TOOL     := $(GO) tool -modfile=tools/go.mod
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

.PHONY: help build demo test race lint fuzz bench install dist clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: ## build bin/iwdump
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/iwdump ./cmd/iwdump

demo: build ## build, and read a capture of a real NVMe-oF session
	$(BIN)/iwdump read -c 40 testdata/pcaps/nvme-rdma-read4k.pcap
	$(BIN)/iwdump read -q testdata/pcaps/nvme-rdma-read4k.pcap

test: ## run all tests
	$(GO) test ./...

# Not the packages without a goroutine that take long, nor the command: its tests
# run the program that they build, which has no detector in it.
race: ## run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race $$($(GO) list ./... | grep -v '/cmd/\|/dissect/ulp/\|/capture/filter')

lint: ## gofmt, go vet, staticcheck, and govulncheck where its database can be reached
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	@out=$$($(TOOL) govulncheck ./... 2>&1); status=$$?; echo "$$out" | tail -n 20; \
	if [ $$status -ne 0 ] && ! echo "$$out" | grep -q 'fetching vulnerabilities\|dial tcp\|no such host\|Forbidden\|connection refused'; then exit $$status; fi

fuzz: ## run each fuzz target for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$f"; \
			$(GO) test $$pkg -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x; \
		done; \
	done

bench: build ## measure iwdump against the least that reading and CRCs take, and run the Go benchmarks
	$(GO) run ./internal/bench $(BENCHFLAGS)
	$(GO) run ./internal/bench -growth $(BENCHFLAGS)
	$(GO) test -run '^$$' -bench . -benchmem ./...

install: ## install iwdump into GOBIN
	CGO_ENABLED=0 $(GO) install -trimpath -ldflags '$(LDFLAGS)' ./cmd/iwdump

dist: ## build static binaries for all platforms into dist/
	@set -e; for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; ext=; [ $$os = windows ] && ext=.exe; \
		echo "dist/iwdump-$(VERSION)-$$os-$$arch$$ext"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o dist/iwdump-$(VERSION)-$$os-$$arch$$ext ./cmd/iwdump; \
	done

clean: ## remove what was built
	rm -rf $(BIN) dist
