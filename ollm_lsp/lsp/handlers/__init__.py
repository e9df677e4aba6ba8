"""One module per family of LSP methods."""
