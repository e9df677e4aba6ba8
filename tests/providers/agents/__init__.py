"""Tests of the CLI agents."""
