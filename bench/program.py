"""The language servers that are measured, and the surroundings in which they run."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """How a language server is started."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def asking(self, port: int) -> "Program":
        """The same, told where the fake provider is."""
        return replace(self, environment=self.environment | {"BENCH_URL": f"http://127.0.0.1:{port}/v1"})


@contextmanager
def ollm_lsp(*, settings: str | None = None) -> Generator[Program]:
    """Our server as a new user has it, or with that text as the user's settings file."""
    with TemporaryDirectory(prefix="ollm-bench-") as directory:
        file = Path(directory, "config.yaml")
        if settings is not None:
            file.write_text(settings)
        environment = os.environ | {"OLLM_CONFIG": str(file), "OLLM_STATE_DIR": directory}
        yield Program("ollm-lsp", (sys.executable, "-I", "-m", "ollm_lsp"), environment)


def settings_for(port: int) -> str:
    """Settings in which `bench:NAME` are models of the fake provider, and `local:NAME` the same by Ollama's API."""
    url = f"http://127.0.0.1:{port}"
    bench = f'{{ type: openai, baseUrl: "{url}/v1", contextWindow: 100000 }}'
    local = f'{{ type: ollama, baseUrl: "{url}", contextWindow: 100000 }}'
    return f'model: "bench:full"\nproviders: {{ bench: {bench}, local: {local} }}\n'
