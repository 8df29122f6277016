# Every target sets up .venv by itself; Python 3.11 or newer and make are all that is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help setup serve test check format bench soak fuzz conformance live live-matrix live-programs clean proto docs
.PHONY: lock test-lowest sbom advisories
.DEFAULT_GOAL := help

help:  ## what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "interp needs Python 3.11 or newer; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

setup: $(READY)  ## the virtual environment, with everything for development

PORT ?= 8443
serve: $(READY)  ## run the webhook with bundled scripts and development certificates: make serve [PORT=…] [FLAGS=…]
	@test -f certs/dev/tls.key || $(BIN)/python -m interp certs make --dir certs/dev
	@mkdir -p var
	@echo "https://localhost:$(PORT)/interpret, once it listens; ask it with:"
	@echo "  curl --cacert certs/dev/ca.crt -H 'Content-Type: application/json' \\"
	@echo "    --data @docs/examples/interpret-request.json 'https://localhost:$(PORT)/interpret?timeout=3s'"
	@$(BIN)/python -m interp serve --port $(PORT) --certificate certs/dev/tls.crt --key certs/dev/tls.key \
		--ledger sqlite:///var/ledger.db $(FLAGS)

SECONDS ?= 60
SEED ?= 0
INPUTS ?= 0
soak: $(READY)  ## mixed traffic with sandbox attacks for a minute: make soak [SECONDS=…]
	$(BIN)/python -m tests.hostile.soak --seconds $(SECONDS)

fuzz: $(READY)  ## readers of hostile input for a minute, guided by coverage: make fuzz [SECONDS=…] [INPUTS=… SEED=…] [TARGETS=…]
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --inputs $(INPUTS) --seed $(SEED) $(TARGETS)

test: $(READY)  ## all tests
	$(BIN)/python -m pytest -n 2 $(TESTS)

check: $(READY)  ## ruff, mypy --strict and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_import_rules.py

format: $(READY)  ## let ruff rewrite the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)  ## what is made from the sources: schemas, tables in docs, READMEs of the bundled kinds, docs/kinds.md, docs/live-matrix.md
	$(BIN)/python -m tests.published

bench: $(READY)  ## figures against the budgets of docs/design.md
	$(BIN)/python -m benchmarks

PROTO_TOOLS := grpcio-tools==1.66.2 setuptools  # the oldest generator whose output every supported protobuf accepts
proto:  ## estimator/service/pb/*_pb2* from the .proto files, with a generator of its own
	$(PYTHON) -m venv build/proto
	build/proto/bin/python -m pip install --quiet --disable-pip-version-check $(PROTO_TOOLS)
	build/proto/bin/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. estimator/service/pb/*.proto
	build/proto/bin/python -m grpc_tools.protoc -I. --grpc_python_out=. estimator/service/pb/service.proto estimator/service/pb/multicomponent.proto

conformance: $(READY)  ## Karmada's own scripts and test data: make conformance KARMADA_SRC=<a Karmada checkout>
	@test -n "$(KARMADA_SRC)" || { echo "usage: make conformance KARMADA_SRC=<a Karmada checkout>"; exit 2; }
	KARMADA_SRC="$(abspath $(KARMADA_SRC))" $(BIN)/python -m pytest tests/interpreters/test_karmada_format.py \
		tests/interpreters/test_karmada_answers.py

# The tag is Karmada's own: its estimator client still speaks a protobuf that Kubernetes is about to drop.
GO_BUILD := nice go build -tags kubernetes_protomessage_one_more_release
KARMADA_PROGRAMS := controller-manager scheduler webhook
live: live-programs  ## a real Karmada meets interp; needs Go, a quarter of an hour the first time: make live [KARMADA_SRC=<a Karmada checkout>]
	KARMADA_SRC="$(abspath $(KARMADA_SRC))" $(BIN)/python -m pytest -vv tests/live/karmada.py tests/live/registering.py tests/live/admission.py tests/live/matrix/part.py

live-matrix: live-programs  ## every kind under every policy against Karmada alone: make live-matrix [KARMADA_SRC=… KARMADA_NAME=… SAMPLES=1]
	KARMADA_SRC="$(abspath $(KARMADA_SRC))" KARMADA_NAME="$(KARMADA_NAME)" SAMPLES="$(SAMPLES)" $(BIN)/python -m pytest -vv -s tests/live/matrix/full.py
	$(BIN)/python -m tests.published

live-programs: $(READY)
	@command -v go >/dev/null || { echo "make live builds Karmada and Kubernetes and needs Go 1.25 or newer"; exit 2; }
	@mkdir -p build/live && cp tests/live/go.mod build/live
ifdef KARMADA_SRC
	cd build/live && $(GO_BUILD) -mod=mod -o bin/ go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver
	cd "$(KARMADA_SRC)" && $(GO_BUILD) -o "$(CURDIR)/build/live/checkout/" $(addprefix ./cmd/,$(KARMADA_PROGRAMS))
else
	cd build/live && $(GO_BUILD) -mod=mod -o bin/ tool
endif

# Tools that only these targets need have an environment of their own, so that they never decide what interp runs with.
DEPENDENCY_TOOLS := build/dependencies
UV := $(DEPENDENCY_TOOLS)/bin/uv
LOCK := pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" pyproject.toml
$(DEPENDENCY_TOOLS): Makefile
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5' 'cyclonedx-bom>=7' 'pip-audit>=2.7'
	@touch $@

lock: $(DEPENDENCY_TOOLS)  ## pin every dependency anew, with hashes: make lock [UPGRADE=--upgrade]
	$(UV) $(LOCK) $(UPGRADE) --output-file requirements.txt
	$(UV) $(LOCK) $(UPGRADE) --extra dev --constraint requirements.txt --output-file requirements-dev.txt

test-lowest: $(DEPENDENCY_TOOLS)  ## all tests with the oldest dependencies that pyproject.toml allows
	$(UV) pip compile --quiet --python-version 3.11 --resolution lowest-direct pyproject.toml --output-file build/lowest.txt
	$(UV) venv --quiet --clear --python $(PYTHON) build/lowest
	$(UV) pip install --quiet --python build/lowest/bin/python --constraint build/lowest.txt --editable '.[dev]'
	build/lowest/bin/python -m pytest -n 2 $(TESTS)

sbom: $(DEPENDENCY_TOOLS)  ## what a release is made of, as CycloneDX: build/sbom.cdx.json
	$(UV) venv --quiet --clear --python $(PYTHON) build/release
	$(UV) pip install --quiet --python build/release/bin/python --require-hashes --requirement requirements.txt
	$(UV) pip install --quiet --python build/release/bin/python --no-deps .
	$(DEPENDENCY_TOOLS)/bin/cyclonedx-py environment --output-reproducible --output-file build/sbom.cdx.json build/release

advisories: $(DEPENDENCY_TOOLS)  ## known vulnerabilities of the pinned dependencies; needs PyPI's advisory feed
	$(DEPENDENCY_TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.txt

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache dist build
