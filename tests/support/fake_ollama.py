"""A fake Ollama: the answers of the real one for chat and for its models, after ollama's own `server/routes.go`.

In a test it runs on the test's loop; `python -m tests.support.fake_ollama` runs it as a process of its own, which
prints its port and ends with its input. test_fake_ollama.py lets the types of the official client judge it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from tests.support.fake_pull import pull_lines
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tests.support.http_server import Request, Responder

VERSION = "0.12.6"
DEFAULT_CONTEXT = 4096
_TIME = "2026-01-02T03:04:05.123456789Z"
_MEBIBYTE = 1024 * 1024
_VALID_NAME = re.compile(r"[\w.-]+(/[\w.-]+)*(:[\w.-]+)?")
_INVALID = {"/api/pull": "invalid model name", "/api/delete": "name {} is invalid"}


@dataclass(frozen=True)
class Model:
    """A model that was pulled."""

    name: str
    context_length: int = 8192
    capabilities: tuple[str, ...] = ("completion", "tools")
    size: int = 258 * _MEBIBYTE
    family: str = "llama"


@dataclass(frozen=True)
class Say:
    """A piece of text."""

    text: str


@dataclass(frozen=True)
class Think:
    """A piece of the model's thoughts."""

    text: str


@dataclass(frozen=True)
class Call:
    """A complete tool call."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Done:
    """The end of an answer, where it is not the usual one."""

    reason: str = "stop"


@dataclass(frozen=True)
class Fail:
    """An error in the middle of an answer that began well."""

    message: str


@dataclass(frozen=True)
class Die:
    """The server is killed."""


Step: TypeAlias = Say | Think | Call | Done | Fail | Die


def words(text: str) -> list[Step]:
    """A text as a model says it: one word after the other."""
    first, *others = text.split(" ")
    return [Say(first), *(Say(f" {word}") for word in others)]


def echo(request: dict[str, Any]) -> Sequence[Step]:
    return words(f"You said: {request['messages'][-1].get('content', '')}")


class FakeOllama:
    """An Ollama server. `answer` decides what the model says; with a `pace`, each step waits for a release.

    Models of the `library` can be pulled, as long as the `space` on the disk lasts.
    """

    def __init__(
        self,
        models: Iterable[Model] = (Model("smollm2:135m"),),
        answer: Callable[[dict[str, Any]], Sequence[Step]] = echo,
        pace: asyncio.Semaphore | None = None,
        library: Iterable[Model] = (),
        space: int | None = None,
    ) -> None:
        self.models = {model.name: model for model in models}
        self.library = {model.name: model for model in library}
        self.space = space
        self.loaded: dict[Model, int] = {}
        """The context length of each model in memory."""
        self.answer = answer
        self.pace = pace
        self.http = HttpServer(self._handle)

    @property
    def url(self) -> str:
        return self.http.url

    def bodies(self, path: str = "/api/chat") -> list[Any]:
        """The bodies of all requests to a path."""
        return [request.json for request in self.http.requests if request.path == path]

    async def __aenter__(self) -> Self:
        await self.http.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.http.__aexit__(*error)

    async def _handle(self, request: Request, responder: Responder) -> None:
        match request.method, request.path:
            case (("GET" | "HEAD"), "/"):
                await responder.whole(200, "Ollama is running", {"Content-Type": "text/plain; charset=utf-8"})
            case "GET", "/api/version":
                await responder.json(200, {"version": VERSION})
            case "GET", "/api/tags":
                await responder.json(200, {"models": [_listed(model) for model in self.models.values()]})
            case "GET", "/api/ps":
                running = [_running(model, context) for model, context in self.loaded.items()]
                await responder.json(200, {"models": running})
            case ("POST", "/api/show" | "/api/chat" | "/api/pull") | ("DELETE", "/api/delete"):
                await self._of_model(request, responder)
            case _:
                await responder.whole(404, "404 page not found", {"Content-Type": "text/plain"})

    async def _of_model(self, request: Request, responder: Responder) -> None:
        try:
            body: Any = json.loads(request.body)
        except ValueError as error:
            await responder.json(400, {"error": str(error) if request.body else "missing request body"})
            return
        name = body.get("model", "")
        model = self.models.get(name) or self.models.get(f"{name}:latest")
        if request.path in _INVALID and not _VALID_NAME.fullmatch(name):
            await responder.json(400, {"error": _INVALID[request.path].format(json.dumps(name))})
        elif not name:
            await responder.json(400, {"error": "model is required"})
        elif request.path == "/api/pull":
            await self._pull(name if ":" in name else f"{name}:latest", body, responder)
        elif model is None:
            await responder.json(404, {"error": f"model '{name}' not found"})
        elif request.path == "/api/show":
            await responder.json(200, _shown(model))
        elif request.path == "/api/delete":
            del self.models[model.name]
            await responder.whole(200, b"")
        else:
            await self._chat(model, body, responder)

    async def _chat(self, model: Model, body: dict[str, Any], responder: Responder) -> None:
        messages: list[dict[str, Any]] = body.get("messages") or []
        options: dict[str, Any] = body.get("options") or {}
        tokens = sum(-(-len(message.get("content", "")) // 4) + 4 for message in messages)
        tokens += len(json.dumps(body.get("tools") or [])) // 4
        context = min(options.get("num_ctx", DEFAULT_CONTEXT), model.context_length)
        if body.get("tools") and "tools" not in model.capabilities:
            await responder.json(400, {"error": f"registry.ollama.ai/library/{model.name} does not support tools"})
            return
        if tokens > context and body.get("truncate") is False:
            await responder.json(400, {"error": "the input length exceeds the context length"})
            return
        self.loaded[model] = context
        if messages:
            steps = [*self.answer(body)]
            steps = steps if isinstance(steps[-1], Done | Fail | Die) else [*steps, Done()]
            limit = options.get("num_predict", -1)
            if 0 <= limit < len(steps) - 1:
                steps = [*steps[:limit], Done("length")]
        else:
            steps = [Done("load")]
        send = self._stream if body.get("stream", True) else self._whole
        await send(_Lines(body["model"], prompt_tokens=min(tokens, context)), steps, responder)

    async def _pull(self, name: str, body: dict[str, Any], responder: Responder) -> None:
        model = self.library.get(name) or self.models.get(name)
        lines = [*pull_lines(name, model.size if model else None, self.space)]
        if body.get("stream", True):
            await responder.head(200, {"Content-Type": "application/x-ndjson"})
            for line in lines:
                if self.pace is not None:
                    await self.pace.acquire()
                await responder.write(json.dumps(line) + "\n")
            await responder.end()
        else:
            await responder.json(500 if "error" in lines[-1] else 200, lines[-1])
        if model is not None and "error" not in lines[-1]:
            self.models[name] = model

    async def _stream(self, lines: _Lines, steps: Sequence[Step], responder: Responder) -> None:
        await responder.head(200, {"Content-Type": "application/x-ndjson"})
        for step in steps:
            if self.pace is not None:
                await self.pace.acquire()
            if isinstance(step, Die):
                responder.reset()
                return
            await responder.write(json.dumps(lines.line(step), ensure_ascii=False) + "\n")
        await responder.end()

    async def _whole(self, lines: _Lines, steps: Sequence[Step], responder: Responder) -> None:
        """Everything in one object, as the real one does it."""
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        for step in steps:
            match step:
                case Die():
                    responder.reset()
                    return
                case Fail(error):
                    await responder.json(500, {"error": error})
                    return
                case Done():
                    await responder.json(200, lines.line(step) | {"message": message})
                case _:
                    for key, value in lines.line(step)["message"].items():
                        if key != "role":
                            message[key] = message[key] + value if message.get(key) else value


class _Lines:
    """The JSON objects of one answer, with its counts."""

    def __init__(self, model: str, prompt_tokens: int) -> None:
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._tokens = 0
        self._calls = 0

    def line(self, step: Say | Think | Call | Done | Fail) -> dict[str, Any]:
        self._tokens += 1
        match step:
            case Say(text):
                return self._of(content=text)
            case Think(text):
                return self._of(content="", thinking=text)
            case Call(name, arguments):
                function = {"index": self._calls, "name": name, "arguments": arguments}
                self._calls += 1
                return self._of(content="", tool_calls=[{"id": f"call_fake{self._calls:04}", "function": function}])
            case Fail(message):
                return {"error": message}
            case Done("load"):
                return self._of(content="") | {"done": True, "done_reason": "load"}
            case Done(reason):
                return self._of(content="") | {
                    "done": True,
                    "done_reason": reason,
                    "total_duration": 174_560_334,
                    "load_duration": 101_397_084,
                    "prompt_eval_count": self._prompt_tokens,
                    "prompt_eval_duration": 13_074_791,
                    "eval_count": self._tokens,
                    "eval_duration": 52_479_709,
                }

    def _of(self, **message: Any) -> dict[str, Any]:
        return {
            "model": self._model,
            "created_at": _TIME,
            "message": {"role": "assistant", **message},
            "done": False,
        }


def _details(model: Model) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.family,
        "families": [model.family],
        "parameter_size": "134.52M",
        "quantization_level": "F16",
    }


def _listed(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": _TIME,
        "size": model.size,
        "digest": "9077fe9d2ae1a4a41a868836b56b8163731a8fe16621397028c2c76f838c6907",
        "details": _details(model),
    }


def _running(model: Model, context: int) -> dict[str, Any]:
    listed = {key: value for key, value in _listed(model).items() if key != "modified_at"}
    return listed | {"expires_at": _TIME, "size_vram": model.size, "context_length": context}


def _shown(model: Model) -> dict[str, Any]:
    return {
        "license": "Apache License 2.0",
        "modelfile": f"FROM {model.name}\n",
        "parameters": 'stop                           "<|im_end|>"',
        "template": "{{ .Prompt }}",
        "details": _details(model),
        "model_info": {
            "general.architecture": model.family,
            "general.parameter_count": 134_515_008,
            f"{model.family}.block_count": 30,
            f"{model.family}.context_length": model.context_length,
            f"{model.family}.rope.freq_base": 100_000.5,
            "tokenizer.ggml.tokens": None,
        },
        "capabilities": list(model.capabilities),
        "modified_at": _TIME,
    }


async def _run(answer: str | None, *, paced: bool) -> None:
    """Serve until the input ends. With a pace, each line of input releases one step."""
    pace = asyncio.Semaphore(0) if paced else None
    steps = words(answer) if answer is not None else None
    async with FakeOllama(answer=lambda request: steps or echo(request), pace=pace) as fake:
        print(fake.http.port, flush=True)  # noqa: T201 (that is how its starter hears of it)
        while await asyncio.to_thread(sys.stdin.readline):
            if pace is not None:
                pace.release()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answer", help="what the model always says; without it, it repeats the question")
    parser.add_argument("--paced", action="store_true", help="say one word for each line of input")
    arguments = parser.parse_args()
    asyncio.run(_run(arguments.answer, paced=arguments.paced))


if __name__ == "__main__":
    main()
