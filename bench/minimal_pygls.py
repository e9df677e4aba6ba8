"""The reference: a language server that does nothing but what pygls does by itself."""

from pygls.lsp.server import LanguageServer

LanguageServer("bare", "0").start_io()
