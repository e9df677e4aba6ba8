"""One language server that gives every editor an LLM assistant."""

__version__ = "0.1.0"
