"""Tests of ollm-lsp."""
