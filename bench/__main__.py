"""`python -m bench [NAME…]` measures everything, or the named parts."""

import asyncio
import sys
from time import monotonic

from bench import edits, flood, memory, pace, report, search, start, tokens

PARTS = {
    "start": ("Cold start", start.measure),
    "edits": ("One-character edit, CPU", edits.measure),
    "flood": ("During a stream at full speed", flood.measure),
    "pace": ("During a stream of 200 tokens a second", pace.measure),
    "search": ("search_text", search.measure),
    "tokens": ("CPU per token of a stream at full speed", tokens.measure),
    "memory": ("Memory over a stream of a million tokens", memory.measure),
}


async def main(names: list[str]) -> int:
    began = monotonic()
    figures: dict[str, list[report.Figure]] = {}
    for name in names:
        title, measure = PARTS[name]
        figures[name] = await measure()
        print(report.table(title, figures[name]), end="\n\n", flush=True)
    print(f"{monotonic() - began:.0f} s, {report.save(figures)}")
    missed = report.missed(figures)
    for figure in missed:
        print(f"MISSED: {figure.name}")
    return 1 if missed else 0


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(PARTS)
    if unknown := set(chosen) - set(PARTS):
        sys.exit(f"There is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}.")
    sys.exit(asyncio.run(main(chosen)))
