"""Slash commands that are answered without a model, one module per family."""
