"""Tests of the Kraken."""
