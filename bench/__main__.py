"""`python -m bench [--full] [PART…]` measures, `--check` compares with known ratios, `--publish` writes the page."""

import asyncio
import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from bench import (
    check,
    context,
    edits,
    figure,
    flood,
    million,
    pace,
    page,
    parallel,
    peers,
    profile,
    result,
    search,
    start,
    store,
    tokens,
)
from bench.effort import Effort
from bench.result import Result
from bench.table import table

BASELINE = Path(__file__).parent / "baseline.json"
PARTS = {
    "start": ("Cold start and idle memory", start.measure),
    "tokens": ("CPU per token at full speed", tokens.measure),
    "pace": ("Latency of a token at an even pace", pace.measure),
    "flood": ("During a stream at full speed", flood.measure),
    "parallel": ("Parallel chats", parallel.measure),
    "million": ("Memory over a long stream", million.measure),
    "edits": ("didChange, CPU of a keystroke", edits.measure),
    "context": ("Assembling the context, CPU", context.measure),
    "search": ("search_text", search.measure),
    "store": ("The store of conversations, CPU", store.measure),
    "profile": ("Where the CPU of a token goes", profile.measure),
}
TITLES = {name: title for name, (title, _) in PARTS.items()}


async def measured(names: Sequence[str], effort: Effort) -> tuple[Result, list[str]]:
    """The result, and the parts that failed."""
    about = {**result.circumstances(), "peers": peers.versions()}
    parts: dict[str, figure.Findings] = {}
    failed: list[str] = []
    for number, name in enumerate(names, 1):
        title, measure = PARTS[name]
        began = monotonic()
        print(f"[{number}/{len(names)}] {title} …", flush=True)
        try:
            parts[name] = await measure(effort)
        except Exception:  # noqa: BLE001 (the other parts can still be measured)
            traceback.print_exc()
            failed.append(name)
        else:
            print(table(f"{title} ({monotonic() - began:.0f} s)", parts[name]), end="\n\n", flush=True)
    is_full = effort.is_full and effort.most is None and list(parts) == list(PARTS)
    return Result(parts, about, is_full), failed


def measure(names: Sequence[str], effort: Effort) -> int:
    began = monotonic()
    found, failed = asyncio.run(measured(names, effort))
    print(f"{monotonic() - began:.0f} s, {found.save()}")
    print(table("What must hold", found.must_hold({name: name for name in found.parts})), end="\n\n")
    for name in failed:
        print(f"FAILED: {name}")
    for name in found.missed:
        print(f"MISSED: {name}")
    if found.is_full:
        publish(found)
    return 1 if failed or found.missed else 0


def compare(names: Sequence[str]) -> int:
    """Measure, and measure once more what seems to have become worse: a busy moment does not come twice."""
    before = result.load(BASELINE).parts
    known = [name for name in names if name in before and check.compared(before[name], before[name])]
    found, failed = asyncio.run(measured(known, Effort(is_full=False)))
    worse = [name for name, findings in found.parts.items() if check.regressions(findings, before[name])]
    if worse:
        print(f"Worse than before, so measured again: {', '.join(worse)}")
        again, failed_again = asyncio.run(measured(worse, Effort(is_full=False)))
        failed += failed_again
        for name, findings in again.parts.items():
            for regression in check.regressions(findings, before[name]):
                print(f"REGRESSION in {name}: {regression}")
                failed.append(name)
    for name in dict.fromkeys(failed):
        print(f"FAILED: {name}")
    count = sum(check.compared(findings, before[name]) for name, findings in found.parts.items())
    print(f"{count} ratios compared with {BASELINE.name}")
    return 1 if failed or not count else 0


def publish(found: Result) -> None:
    BASELINE.write_text(found.as_json())
    # From the committed figures, which are rounded: so anybody can make the same page of them.
    for path, text in page.pages(result.load(BASELINE), TITLES).items():
        path.write_text(text)
        print(f"Written: {path.relative_to(page.ROOT)}")


def main() -> int:
    parser = ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; without any, all")
    parser.add_argument("--full", action="store_true", help="all peers, sizes and rounds; then the page is written")
    parser.add_argument("--rounds", type=int, help="no more rounds than that, to try it out; the page stays as it is")
    parser.add_argument("--check", action="store_true", help="compare with the committed ratios")
    parser.add_argument("--publish", action="store_true", help="write the page from the newest full result")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if chosen.publish:
        newest = result.newest_full()
        if newest is None:
            parser.error("there is no full result yet: make bench-full")
        publish(result.load(newest))
        return 0
    if chosen.check:
        return compare(chosen.parts or list(PARTS))
    return measure(chosen.parts or list(PARTS), Effort(chosen.full, chosen.rounds))


if __name__ == "__main__":
    sys.exit(main())
