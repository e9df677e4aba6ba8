"""End-to-end tests in real editors, run by `make test-editors`."""
