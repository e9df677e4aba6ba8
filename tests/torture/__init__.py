"""Hostile input, faults and kills, by a seed: `make torture SEED=1 SIZE=small`."""
