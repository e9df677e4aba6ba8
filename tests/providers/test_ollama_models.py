"""Ollama's models by the words of its own server: pulled with a percentage, shown, removed, and every failure named."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    IncompleteAnswer,
    ModelNotFound,
    ProviderError,
    ServerFailed,
    Unsupported,
)
from ollm_lsp.core.events import Activity
from ollm_lsp.core.ports import ManagesModels
from ollm_lsp.providers.ollama_models import OllamaModels
from ollm_lsp.providers.ollama_pull import size_in_words
from tests.core.values import patient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

MANIFEST = {"status": "pulling manifest"}
VERIFY, WRITE, SUCCESS = ({"status": status} for status in ("verifying sha256 digest", "writing manifest", "success"))
TAGS = {"models": [{"name": "qwen3:4b", "size": 2_500_000_000}, {"name": "b:latest", "size": 7}]}
SHOWN = {
    "license": "\n                                 Apache License\n                           Version 2.0",
    "details": {"family": "qwen3", "parameter_size": "4.0B", "quantization_level": "Q4_K_M"},
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
    "capabilities": ["completion", "tools", "thinking", "insert"],
}


def layer(name: str, total: int, completed: int = 0) -> dict[str, Any]:
    line = {"status": f"pulling {name}", "digest": f"sha256:{name}", "total": total}
    return line | {"completed": completed} if completed else line  # Ollama leaves a zero out


class FakeEndpoint:
    """Answers by path; a pull says its lines, then fails when there is an error."""

    def __init__(self, *lines: dict[str, Any], error: ProviderError | None = None, **answers: Any) -> None:
        self._lines = lines
        self._error = error
        self._answers = answers
        self.asked: list[tuple[str, Any]] = []
        self.closed = 0

    async def get(self, path: str) -> Any:
        return await self.post(path, {})

    async def delete(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self.post(path, body)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        self.asked.append((path, body))
        answer = self._answers.get(path.removeprefix("/api/"))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def lines(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        self.asked.append((path, body))
        try:
            for line in self._lines:
                yield line
            if self._error is not None:
                raise self._error
        finally:
            self.closed += 1


async def pulled(endpoint: FakeEndpoint, *times: float) -> list[Activity]:
    clock = iter(times)
    models = OllamaModels(endpoint, "ollama", lambda: next(clock, 0.0))
    return [activity async for activity in models.pull("qwen3:4b")]


async def refusal(endpoint: FakeEndpoint) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await pulled(endpoint)
    return caught.value


def test_it_is_what_the_port_asks_for() -> None:
    assert isinstance(OllamaModels(FakeEndpoint(), "ollama"), ManagesModels)


async def test_a_pull_tells_bytes_pace_and_percentage_over_all_layers() -> None:
    gigabyte = 1_000_000_000
    lines = [
        MANIFEST,
        layer("a", 4 * gigabyte),
        layer("a", 4 * gigabyte, gigabyte),
        layer("a", 4 * gigabyte, 3 * gigabyte),
        layer("b", gigabyte, gigabyte),
        VERIFY,
        WRITE,
        SUCCESS,
    ]
    endpoint = FakeEndpoint(*lines)
    assert await pulled(endpoint, 0, 0.5, 20, 40) == [
        Activity("Looking for the model", 0),
        Activity("0 B of 4.0 GB", 0),
        Activity("1.0 GB of 4.0 GB", 25),
        Activity("3.0 GB of 4.0 GB, 150 MB/s", 75),
        Activity("4.0 GB of 5.0 GB, 100 MB/s", 80),
        Activity("Verifying what came", 80),
        Activity("Finishing", 80),
        Activity("Done", 100),
    ]
    assert endpoint.asked == [("/api/pull", {"model": "qwen3:4b", "stream": True})]
    assert endpoint.closed == 1


async def test_what_an_earlier_pull_left_behind_is_no_pace() -> None:
    endpoint = FakeEndpoint(layer("a", 1000, 900), layer("a", 1000, 950), SUCCESS)
    assert [activity.message for activity in await pulled(endpoint, 10, 15)] == [
        "900 B of 1 kB",
        "950 B of 1 kB, 10 B/s",
        "Done",
    ]


async def test_lines_that_say_nothing_new_are_not_repeated() -> None:
    endpoint = FakeEndpoint(MANIFEST, MANIFEST, *[layer("a", 10**10, 10**9 + step) for step in range(9)], SUCCESS)
    assert len(await pulled(endpoint)) == 3


COUNTS = st.one_of(st.integers(-5, 10**13), st.sampled_from([None, "much", 0.5]))
PROGRESS = st.fixed_dictionaries(
    {"status": st.just("pulling"), "digest": st.sampled_from("abc"), "total": COUNTS, "completed": COUNTS}
)
LINES: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    PROGRESS | st.fixed_dictionaries({"status": st.text(max_size=9)}), max_size=12
)


@patient
@given(lines=LINES)
async def test_percentages_never_go_back_and_only_the_end_is_100(lines: list[dict[str, Any]]) -> None:
    lines = [line for line in lines if line["status"] != "success"]
    percentages = [activity.percentage or 0 for activity in await pulled(FakeEndpoint(*lines, SUCCESS))]
    assert percentages == sorted(percentages)
    assert percentages[-1] == 100
    assert all(0 <= percentage < 100 for percentage in percentages[:-1])


async def test_closing_a_pull_closes_the_connection() -> None:
    endpoint = FakeEndpoint(MANIFEST, SUCCESS)
    async with aclosing(OllamaModels(endpoint, "ollama").pull("x")) as activities:
        await anext(activities)
        assert endpoint.closed == 0
    assert endpoint.closed == 1


BLOB = f"/usr/share/ollama/{'very-' * 40}long/models/blobs/sha256-4c27e0f5b5ad-partial"


@pytest.mark.parametrize(
    ("said", "kind", "remedy"),
    [
        ("pull model manifest: file does not exist", ModelNotFound, "ollama.com/library"),
        ("invalid model name", ModelNotFound, "ollama.com/library"),
        (f"write {BLOB}: no space left on device", ServerFailed, "OLLAMA_MODELS"),
        (r"write C:\x-partial: There is not enough space on the disk.", ServerFailed, "OLLAMA_MODELS"),
        (
            "pull model manifest: 412: \n\nThe model you are attempting to pull requires a newer version of Ollama.",
            Unsupported,
            "Update Ollama",
        ),
        ("unauthorized: access denied", AuthenticationFailed, "ollama signin"),
        ("digest mismatch, file must be downloaded again: want a, got b", ServerFailed, "thrown away"),
        (
            'max retries exceeded: Get "https://x/v2": dial tcp: lookup x: no such host',
            ServerFailed,
            "HTTPS_PROXY",
        ),
        ("the moon is in the wrong phase", ServerFailed, "log"),
    ],
)
@pytest.mark.prop("eng-7")
async def test_what_ollama_says_of_a_failed_pull_becomes_an_error_with_a_remedy(
    said: str, kind: type[ProviderError], remedy: str
) -> None:
    error = await refusal(FakeEndpoint(MANIFEST, {"error": said}))
    assert type(error) is kind
    assert remedy in error.remedy
    assert "\n" not in error.message
    if kind is ModelNotFound:
        assert error.message == "Ollama's library has no model 'qwen3:4b'."


async def test_a_refusal_before_the_first_line_is_explained_in_the_same_way() -> None:
    answered = ServerFailed("http://x answered 400: invalid model name", remedy="?", status=400)
    error = await refusal(FakeEndpoint(error=answered))
    assert (type(error), error.status) == (ModelNotFound, 400)


async def test_an_ollama_that_is_not_there_is_not_taken_for_one_that_cannot_reach_its_library() -> None:
    gone = ConnectionFailed("Cannot reach http://x (no such host).", remedy="Start Ollama.")
    assert await refusal(FakeEndpoint(error=gone)) is gone


async def test_a_pull_that_ends_without_success_is_incomplete() -> None:
    endpoint = FakeEndpoint(MANIFEST, layer("a", 10, 5))
    assert type(await refusal(endpoint)) is IncompleteAnswer


async def test_show_tells_the_facts_that_people_ask_for() -> None:
    endpoint = FakeEndpoint(show=SHOWN, tags=TAGS)
    details = await OllamaModels(endpoint, "home").show("qwen3:4b")
    assert details.facts == {
        "family": "qwen3",
        "parameters": "4.0B",
        "quantization": "Q4_K_M",
        "context length": "40,960 tokens",
        "capabilities": "completion, tools, thinking, insert",
        "size": "2.5 GB",
        "license": "Apache License",
    }
    assert str(details.info.id) == "home:qwen3:4b"
    assert details.info.size_bytes == 2_500_000_000
    can = details.info.capabilities
    assert (can.tools, can.reasoning, can.vision, can.audio) == (True, True, False, False)
    assert (can.context_window, can.extensions) == (40960, ("insert",))


async def test_show_finds_the_size_of_a_name_without_a_tag_and_bears_its_absence() -> None:
    assert (await OllamaModels(FakeEndpoint(show={}, tags=TAGS), "o").show("b")).info.size_bytes == 7
    silent = FakeEndpoint(show={"details": [], "license": 5}, tags=ServerFailed("x", remedy="y"))
    details = await OllamaModels(silent, "o").show("b")
    assert (details.info.size_bytes, details.facts) == (None, {})


async def test_delete_names_the_model() -> None:
    endpoint = FakeEndpoint()
    await OllamaModels(endpoint, "ollama").delete("qwen3:4b")
    assert endpoint.asked == [("/api/delete", {"model": "qwen3:4b"})]


async def test_a_model_that_is_not_there_is_not_found_with_those_that_are() -> None:
    missing = ModelNotFound("x", remedy="y", status=404)
    models = OllamaModels(FakeEndpoint(show=missing, delete=missing, tags=TAGS), "home")
    with pytest.raises(ModelNotFound) as shown:
        await models.show("llama9")
    assert "`ollm-lsp models pull home:llama9`" in shown.value.remedy
    with pytest.raises(ModelNotFound) as deleted:
        await models.delete("llama9")
    for error in (shown.value, deleted.value):
        assert (error.message, error.status) == ("home has no model 'llama9'.", 404)
        assert error.available == ("qwen3:4b", "b:latest")
        assert "qwen3:4b, b:latest" in error.remedy


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (1500, "1 kB"), (258_000_000, "258 MB"), (4_683_087_332, "4.7 GB")],
)
def test_sizes_are_in_words(size: int, words: str) -> None:
    assert size_in_words(size) == words
