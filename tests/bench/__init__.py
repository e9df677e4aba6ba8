"""Tests of the bench: not of what it measures, but of what it makes of it."""
