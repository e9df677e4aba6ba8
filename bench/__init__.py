"""How fast the server is, as ratios: `make bench`, or `python -m bench start edits` for parts.

How it measures, so that a busy machine does not decide the outcome:

- every figure that can be compared has a reference in the same run, and goals are ratios to it;
- one process per variant and round, the variants interleaved, the first round thrown away, medians of the rest;
- CPU time of the process, to the nanosecond and over all its threads, comes first; wall time is information;
- the client announces what VS Code announces, the provider is a process of its own with one HTTP chunk per token;
- pings are sent every 20 ms whether or not the last one was answered;
- peers are installed into environments of their own; one that cannot be had is left out, with the reason.

Each run leaves its figures and their samples in `bench/results/`. A missed goal makes the exit status 1; a target that
is missed is only shown. A whole run (`make bench-full`) also writes `docs/performance.md` and `bench/baseline.json`,
with which `make bench-check` compares.
"""
