"""Where the CPU time of a token goes, by the functions in which it is spent."""

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.client import running
from bench.effort import Effort
from bench.figure import Findings, Share
from bench.program import HERE, ollm_lsp, settings_for
from bench.provider_process import provider

TOKENS = 500_000
SHOWN = 15


async def measure(effort: Effort) -> Findings:
    tokens = TOKENS if effort.is_full else TOKENS // 5
    with TemporaryDirectory() as folder:
        file = Path(folder, "samples.json")
        async with provider() as port:
            with ollm_lsp(settings=settings_for(port)) as ours:
                command = (sys.executable, "-I", str(HERE / "sampled_server.py"), str(file))
                async with running(replace(ours, command=command)) as client:
                    await client.begin()
                    await client.answer(f"bench:{tokens}")
        samples = _read(file)
    whole = samples.total()
    shares = [Share(name, count / whole) for name, count in samples.most_common(SHOWN)]
    return Findings(shares=shares, notes=[f"{whole:,} samples over {tokens:,} tokens, the start included."])


def _read(file: Path) -> Counter[str]:
    samples: Counter[str] = Counter()
    for place, count in json.loads(file.read_text()).items():
        samples[_short(place)] += count
    return samples


def _short(place: str) -> str:
    """A function as `package/module.py: name`, wherever the package is installed."""
    path, _, name = place.rpartition(":")
    for mark in ("site-packages/", f"{HERE.parent}/", f"python3.{sys.version_info.minor}/"):
        path = path.rpartition(mark)[2]
    return f"{path}: {name}"
