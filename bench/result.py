"""A run with its circumstances, as JSON."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from bench.figure import Findings, findings_from

RESULTS = Path(__file__).parent / "results"
LIBRARIES = ("ollm-lsp", "pygls", "lsprotocol", "aiohttp", "attrs", "cattrs")


@dataclass(frozen=True)
class Result:
    """What all parts found, by their names."""

    parts: Mapping[str, Findings]
    circumstances: Mapping[str, Any]
    is_full: bool
    """Whether all parts were measured in their whole size."""

    @property
    def missed(self) -> list[str]:
        return [f"{part}: {name}" for part, findings in self.parts.items() for name in findings.missed]

    def must_hold(self, titles: Mapping[str, str]) -> Findings:
        """All binding goals, and all growth, each with the title of its part."""
        parts = [(titles[part], findings) for part, findings in self.parts.items()]
        return Findings(
            [replace(one, name=f"{title}: {one.name}") for title, part in parts for one in part.figures if one.binding],
            [growth for _, part in parts for growth in part.growths],
        )

    def save(self) -> Path:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{'full' if self.is_full else 'part'}.json"
        path.write_text(self.as_json())
        return path

    def as_json(self) -> str:
        parts = {name: _rounded(asdict(findings)) for name, findings in self.parts.items()}
        whole = {"circumstances": dict(self.circumstances), "is_full": self.is_full, "parts": parts}
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def load(path: Path) -> Result:
    data = json.loads(path.read_text())
    parts = {name: findings_from(findings) for name, findings in data["parts"].items()}
    return Result(parts, data["circumstances"], data["is_full"])


def newest_full() -> Path | None:
    return max(RESULTS.glob("*-full.json"), default=None)


def circumstances() -> dict[str, Any]:
    """The machine, and the versions of what ran on it."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "platform": platform.platform(),
        "python": platform.python_version(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "versions": {name: version(name) for name in LIBRARIES},
    }


def _commit() -> str:
    try:
        words = ("git", "describe", "--always", "--dirty")
        return subprocess.run(words, cwd=RESULTS.parent, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _rounded(value: Any) -> Any:
    """Five digits that count: samples of a clock have more, and mean no more."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType] (JSON)
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]  # pyright: ignore[reportUnknownVariableType] (JSON)
    return value
