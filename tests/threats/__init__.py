"""Threats and faults: what each of them is called, and the tests of those that no single area owns."""
