"""Runs the torture and prints what it did: `python -m tests.torture --seed 1 --size small [PART …]`."""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.torture import edits, gates, lives, messages, mutants, options, soak, streams, victims
from tests.torture.run import SIZES, Run, Tally

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS: dict[str, Callable[[Run], Tally]] = {
    "streams": streams.fuzz,
    "messages": messages.fuzz,
    "lives": lives.fuzz,
    "settings": options.fuzz,
    "edits": edits.fuzz,
    "faults": gates.marked,
    "kills": gates.kills,
    "families": victims.kill_families,
    "soak": soak.soak,
    "mutants": mutants.check,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all of them when none is named")
    parser.add_argument("--seed", type=int, default=None, help="the same seed gives the same input")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--soak", type=float, help="seconds of the soak, instead of those of the size: 3600 is an hour")
    given = parser.parse_args()
    seed = random.randrange(1 << 31) if given.seed is None else given.seed
    size = SIZES[given.size]
    run = Run(seed, size if given.soak is None else replace(size, soak_seconds=given.soak))
    print(f"torture: seed {seed}, size {run.size.name}", flush=True)
    tallies = [_timed(name, run) for name in given.parts or PARTS]
    print(f"\n{'part':<24}{'time':>8}  {'failed':>6}  counts")
    for tally in tallies:
        counts = ", ".join(f"{number:,} {what}" for what, number in tally.counts.items())
        print(f"{tally.name:<24}{tally.seconds:>6.0f} s  {len(tally.failures):>6}  {counts}")
    failed = any(tally.failures for tally in tallies)
    print(f"\nseed {seed}, size {run.size.name}: {'FAILED' if failed else 'nothing was lost'}")
    return int(failed)


def _timed(name: str, run: Run) -> Tally:
    began = time.monotonic()
    try:
        tally = PARTS[name](run)
    except Exception as error:  # noqa: BLE001 (the other parts are run all the same)
        tally = Tally(name, failures=[f"the part itself broke: {type(error).__name__}: {error}"])
    tally.seconds = time.monotonic() - began
    print(
        f"{name}: {tally.seconds:.0f} s", *(f"  FAILED {failure}" for failure in tally.failures), sep="\n", flush=True
    )
    return tally


if __name__ == "__main__":
    sys.exit(main())
