# Whence. `make` alone lists what can be made.
#
# Nothing but Python >= 3.11 and make is needed: the first target that needs it creates .venv and
# installs the pinned, hashed requirements; afterwards set-up is a look at two timestamps.

VENV := .venv
BIN := $(VENV)/bin
WHENCE := $(BIN)/whence
# uv (pinned and hashed too) installs in seconds what takes pip a minute; where uv cannot reach the
# registry that pip is configured for, pip does it.
install = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check $(1)
HASHED := --require-hashes --only-binary :all: -r
# A venv of its own, $(1), with the requirements $(2). It has no pip, which takes four seconds to install: that of .venv works in it.
fill_venv = $(BIN)/python -m venv --without-pip $(1) && { $(BIN)/uv pip install --quiet $(3) --python $(1)/bin/python $(HASHED) $(2) 2>/dev/null \
	  || $(BIN)/python -m pip --python $(1)/bin/python install --quiet --disable-pip-version-check $(HASHED) $(2); }

# Where this is set, every process compiles every module anew: two seconds of each start of the server.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test test-clients clients-table test-lightrag lightrag-exchange check format test-histories soak bench bench-chunking bench-embedding bench-ingest bench-search bench-peers bench-extract bench-ui pictures demo docs http-docs reference-vectors client ui ui-check audit sbom wheel lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@for python in "$(PYTHON)" python3 python3.14 python3.13 python3.12 python3.11; do \
	  if [ -n "$$python" ] && "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec "$$python" -m venv $(VENV); fi; done; \
	echo "Whence needs Python 3.11 or newer; name one with 'make PYTHON=/path/to/python3'." >&2; exit 1

# What the server needs, and the package itself (hatchling builds it; it is pinned like the rest).
$(VENV)/.run: requirements/run.txt requirements/uv.txt pyproject.toml | $(BIN)/python
	@echo "Installing Whence into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(HASHED) requirements/uv.txt
	@$(call install,$(HASHED) requirements/run.txt)
	@$(call install,--no-build-isolation --no-deps --editable .)
	@touch $@

# What tests and checks need on top.
$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	@echo "Installing the development tools ..."
	@$(call install,$(HASHED) requirements/dev.txt)
	@touch $@

setup: $(VENV)/.dev ## create .venv with everything that is needed

run: $(VENV)/.run ## start the server on the embedded database
	@$(build_pages) || echo "The web pages could not be built; 'make ui' shows why."
	@exec $(WHENCE) serve

# The machine's Node if it is new enough, else one from PyPI. Builds only if the pages are missing or older than their sources.
build_pages = { $(BIN)/python hatch_build.py node || { $(call install,$(HASHED) requirements/node.txt); }; } && $(BIN)/python hatch_build.py

ui: $(VENV)/.dev ## write the pages' types from the OpenAPI document and build the pages
	@$(BIN)/python -m tools.ui_types
	@$(build_pages)

ui-check: ui ## format, lint, types and unit tests of the pages
	@$(BIN)/python hatch_build.py ci --ignore-scripts --silent
	@$(BIN)/python hatch_build.py run --silent check
	@$(BIN)/python hatch_build.py test --silent

# Many tests wait for other processes: six at a time keep two cores busy.
test: $(VENV)/.dev ## run every test
	@exec $(BIN)/python -m pytest -n 6 --dist worksteal $(ARGS)

test-histories: $(VENV)/.dev ## run random histories of the graph: 20 seeds, 8 writers, both cores busy (about 5 minutes)
	@exec $(BIN)/python -m pytest -n 0 tests/store/graph/hammer.py $(ARGS)

soak: $(VENV)/.dev ## mixed load with kills for 10 minutes, then the invariants are checked (ARGS="--minutes 2")
	@exec $(BIN)/python -m benchmarks.soak $(ARGS)

# The import contracts are checked while mypy runs: each keeps one core busy.
check: $(VENV)/.dev ## formatting, lint, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports > $(VENV)/imports.log 2>&1 & imports=$$!; $(BIN)/mypy; types=$$?; \
	  wait $$imports; contracts=$$?; cat $(VENV)/imports.log; exit $$((types || contracts))

format: $(VENV)/.dev ## format the code and mend what lint can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# The packages of others live apart: nothing else needs them. Some do not accept the newest of OpenAI's own yet.
.clients-venv/.ready: requirements/clients.txt requirements/clients-openai2.txt tests/clients/vercel/package-lock.json clients/typescript/package-lock.json $(VENV)/.run
	@echo "Installing the clients of others into .clients-venv ..."
	@$(call fill_venv,.clients-venv,requirements/clients.txt)
	@$(call fill_venv,.clients-venv/openai2,requirements/clients-openai2.txt)
	@for folder in tests/clients/vercel clients/typescript; do npm ci --prefix $$folder --ignore-scripts --silent \
	  || echo "Without npm, the client in $$folder is not tested."; done
	@touch $@

test-clients: $(VENV)/.dev .clients-venv/.ready ## ask a server with the real clients of others
	@$(BIN)/python -m pytest -q -n 0 tests/api/test_real_clients.py $(ARGS)

clients-table: $(VENV)/.dev .clients-venv/.ready ## write the table of clients in docs/clients.md anew
	@CLIENTS_TABLE=write $(BIN)/python -m pytest -q -n 0 tests/api/test_real_clients.py

# The server of LightRAG: half a gigabyte that only this test needs. CI plays the recorded exchange.
.lightrag-venv/.ready: requirements/lightrag.txt $(VENV)/.run
	@echo "Installing LightRAG into .lightrag-venv ..."
	@$(call fill_venv,.lightrag-venv,$<)
	@touch $@

test-lightrag: $(VENV)/.dev .lightrag-venv/.ready ## chat beside the real server of LightRAG
	@$(BIN)/python -m pytest -q -n 0 tests/api/test_real_lightrag.py

lightrag-exchange: $(VENV)/.dev .lightrag-venv/.ready ## record what the real server of LightRAG answers, for the other tests
	@RECORD_LIGHTRAG=1 $(BIN)/python -m pytest -q -n 0 tests/api/test_real_lightrag.py

bench: $(VENV)/.dev ## measure the HTTP server against bare SQL, print the ratios
	@$(BIN)/python -m benchmarks.chunk_api $(ARGS)

# The peers live apart: nothing else needs them. One of them refuses files that are linked twice, as uv's are.
.bench-venv/.chunking: requirements/bench-chunking.txt $(VENV)/.run
	@echo "Installing the peers into .bench-venv ..."
	@$(call fill_venv,.bench-venv,$<,--link-mode copy)
	@touch $@

bench-chunking: .bench-venv/.chunking ## measure the chunkers beside their peers, print the ratios
	@PYTHONPATH=src .bench-venv/bin/python benchmarks/chunking.py $(ARGS)

bench-embedding: $(VENV)/.dev ## measure how many chunks are embedded in a second
	@$(BIN)/python -m benchmarks.embedding $(ARGS)

bench-ingest: $(VENV)/.dev ## measure ingest beside the bare embedder, and what it takes of memory
	@$(BIN)/python -m benchmarks.ingest $(ARGS)

.bench-venv/.search: requirements/bench-search.txt .bench-venv/.chunking
	@$(call fill_venv,.bench-venv,$<,--link-mode copy)
	@touch $@

bench-peers: .bench-venv/.search $(VENV)/.dev ## measure hybrid search beside vector stores
	@$(BIN)/python -m benchmarks.search --only peers $(ARGS)

bench-search: $(VENV)/.dev ## measure how good search is, and what it costs beside the bare SQL
	@$(BIN)/python -m benchmarks.search $(ARGS)

bench-extract: $(VENV)/.dev ## measure what extraction with context is worth, and what it costs beside its model
	@$(BIN)/python -m benchmarks.extraction $(ARGS)

bench-ui: $(VENV)/.dev ## measure the web pages in Chromium: script, first words, highlighted page, long list, large graph
	@$(build_pages)
	@$(BIN)/python -m benchmarks.ui

pictures: $(VENV)/.dev ## take the pictures of the web pages in docs/images, in Chromium
	@$(build_pages)
	@$(BIN)/python -m tools.pictures

demo: $(VENV)/.run ## load a demo document, show the chunk API with curl's requests, grow a graph, ask, write an evidence file
	@$(BIN)/python examples/demo.py
	@$(BIN)/python examples/graph.py
	@$(BIN)/python examples/ask.py

http-docs: $(VENV)/.dev ## write docs/http.md from the OpenAPI document
	@$(BIN)/python -m tools.http_reference

reference-vectors: $(VENV)/.dev ## write the local model's vectors of the reference texts into the package
	@$(BIN)/python -m tools.reference_vectors

client: $(VENV)/.dev ## write the generated modules of clients/python from the OpenAPI document
	@$(BIN)/python -m tools.client_types

.docs-venv/.ready: requirements/docs.txt $(VENV)/.run
	@echo "Installing the site generator into .docs-venv ..."
	@$(call fill_venv,.docs-venv,$<)
	@touch $@

docs: .docs-venv/.ready ## build the documentation as a searchable site into site/, checking its links
	@.docs-venv/bin/zensical build --clean --strict
	@echo "Open site/index.html"

.audit-venv/.ready: requirements/audit.txt $(VENV)/.run
	@echo "Installing pip-audit into .audit-venv ..."
	@$(call fill_venv,.audit-venv,$<)
	@touch $@

audit: .audit-venv/.ready ## look for known vulnerabilities in the pinned packages; needs the network
	@.audit-venv/bin/pip-audit --strict --progress-spinner off --disable-pip --require-hashes -r requirements/run.txt 2> .audit-venv/errors; \
	  code=$$?; cat .audit-venv/errors >&2; if grep -q '^ERROR' .audit-venv/errors; then \
	  echo "Not audited: the list of known vulnerabilities cannot be reached from here. Run this where PyPI can be reached." >&2; exit 2; fi; exit $$code

sbom: $(VENV)/.run ## write the bill of materials (CycloneDX) to dist/, list the licences
	@$(BIN)/python -m tools.sbom dist/whence-sbom.json

wheel: $(VENV)/.run ## build the wheel into dist/
	@$(build_pages)
	@rm -rf dist
	@$(BIN)/uv build --quiet --wheel --no-build-isolation --python $(BIN)/python --out-dir dist .
	@ls dist/*.whl

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade
lock: $(VENV)/.dev ## pin the requirements anew from pyproject.toml
	@echo uv | $(COMPILE) - -o requirements/uv.txt
	@$(COMPILE) pyproject.toml requirements/build.in -o requirements/run.txt
	@$(COMPILE) --extra ocr -c requirements/run.txt pyproject.toml -o requirements/ocr.txt
	@$(COMPILE) requirements/bench-chunking.in -o requirements/bench-chunking.txt
	@$(COMPILE) -c requirements/bench-chunking.txt requirements/bench-search.in -o requirements/bench-search.txt
	@$(COMPILE) requirements/docs.in -o requirements/docs.txt
	@$(COMPILE) requirements/clients.in -o requirements/clients.txt
	@$(COMPILE) requirements/clients-openai2.in -o requirements/clients-openai2.txt
	@$(COMPILE) requirements/lightrag.in -o requirements/lightrag.txt
	@$(COMPILE) requirements/node.in -o requirements/node.txt
	@$(COMPILE) requirements/audit.in -o requirements/audit.txt
	@$(COMPILE) --group dev -c requirements/run.txt pyproject.toml requirements/build.in -o requirements/dev.txt

clean: ## remove .venv and every cache
	@rm -rf $(VENV) ui/node_modules tests/clients/vercel/node_modules clients/typescript/node_modules clients/typescript/dist src/whence/web/static .bench-venv .docs-venv .clients-venv .lightrag-venv .audit-venv site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
