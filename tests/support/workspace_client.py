"""An editor with a workspace: the real server, files on the disk, buffers, and a user who decides.

It makes edits as editors do, by positions in UTF-16 and on the version they name, in buffers that the user saves.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.editor import Editor

EDITS: dict[str, Any] = {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]}
LITERALS: dict[str, Any] = {
    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor", "source"]}}
}
ACTIONS: dict[str, Any] = {"codeAction": LITERALS}
ALL_OF_ACTIONS: dict[str, Any] = {"codeAction": {**LITERALS, "disabledSupport": True, "tagSupport": {"valueSet": [1]}}}
RICH: dict[str, Any] = {
    "textDocument": ALL_OF_ACTIONS,
    "workspace": {"applyEdit": True, "workspaceEdit": EDITS},
    "experimental": {"ollm": {"permission": True}},
}
CONFIRMING: dict[str, Any] = {
    "textDocument": ALL_OF_ACTIONS,
    "workspace": {"applyEdit": True, "workspaceEdit": {**EDITS, "changeAnnotationSupport": {}}},
}
PLAIN: dict[str, Any] = {"textDocument": ACTIONS, "workspace": {"applyEdit": True, "workspaceEdit": EDITS}}
"""As eglot: it makes edits, and does not say that it can be asked anything."""
HELIX: dict[str, Any] = {
    "textDocument": {"codeAction": {**LITERALS, "disabledSupport": True}},
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": False},
        "workspaceEdit": {**EDITS, "failureHandling": "abort", "normalizesLineEndings": False},
        "workspaceFolders": True,
        "fileOperations": {"willRename": True, "didRename": True},
    },
    "window": {
        "workDoneProgress": True,
        "showDocument": {"support": True},
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
    },
}
"""What Helix 25.07 announces, as far as it matters. `tests/editors` asserts it of the real one."""
CLIENTS = {"rich": RICH, "confirming": CONFIRMING, "helix": HELIX, "plain": PLAIN}
"""By the rung of the permission ladder on which each of them stands."""


def path_of(uri: str) -> Path:
    return Path(unquote(uri.removeprefix("file://")))


@dataclass
class WorkspaceClient:
    """One window. `decides` is the user: a word such as `allow_once`, or an error for the server."""

    editor: Editor
    folder: Path
    capabilities: dict[str, Any]
    decides: Callable[[str], str] = lambda _title: "allow_once"
    buffers: dict[Path, TextBuffer] = field(default_factory=dict[Path, TextBuffer])
    versions: dict[Path, int] = field(default_factory=dict[Path, int])
    asked: list[str] = field(default_factory=list[str])
    """What the user was shown."""
    applied: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _marked: set[Path] = field(default_factory=set[Path])
    """Files that begin with a byte-order mark, which is not in their buffers."""

    async def start(self) -> None:
        self.editor.answer |= {
            "workspace/applyEdit": self._apply,
            "ollm/permission": self._permission,
            "window/showMessageRequest": self._message,
            "window/showDocument": lambda _: {"result": {"success": True}},
            "window/workDoneProgress/create": lambda _: {"result": None},
            "workspace/configuration": lambda params: {"result": [None] * len(params["items"])},
        }
        folder = {"uri": self.folder.as_uri(), "name": self.folder.name}
        await self.editor.initialize(capabilities=self.capabilities, workspaceFolders=[folder])

    @property
    def _encoding(self) -> PositionEncoding:
        offered = self.capabilities.get("general", {}).get("positionEncodings", ())
        return PositionEncoding.UTF8 if "utf-8" in offered else PositionEncoding.UTF16

    def open(self, name: str) -> TextBuffer:
        """Open a file in a buffer."""
        path = self.folder / name
        data = path.read_bytes()
        self._marked = self._marked - {path} | ({path} if data.startswith(BOM_UTF8) else set[Path]())
        self.buffers[path] = buffer = TextBuffer(data.decode("utf-8-sig"), self._encoding)
        self.versions[path] = 1
        self.editor.open(path.as_uri(), buffer.text)
        return buffer

    def type(self, name: str, text: str) -> None:
        """Type at the beginning of an open file."""
        start = Position(0, 0)
        self._edit(self.folder / name, [(Range(start, start), text)])

    def replace(self, name: str, text: str) -> None:
        """Type a whole new text into an open file."""
        start, end = Position(0, 0), Position(len(self.text(name).splitlines()) + 1, 0)
        self._edit(self.folder / name, [(Range(start, end), text)])

    def text(self, name: str) -> str:
        return self.buffers[self.folder / name].text

    def close(self, name: str) -> None:
        """Close a file; what was not saved is gone."""
        path = self.folder / name
        del self.buffers[path]
        self.editor.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def save_all(self) -> None:
        for path, buffer in self.buffers.items():
            mark = BOM_UTF8 if path in self._marked else b""
            path.write_bytes(mark + buffer.text.encode())

    def files(self) -> dict[str, str]:
        """What is on the disk after everything was saved."""
        self.save_all()
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes().decode() for path in found}

    async def decide_pending(self) -> None:
        """For who cannot be asked: the user sees hints, asks for code actions, and runs one."""
        uri, hint = (await self.editor.until(self.hints))[0]
        context: dict[str, Any] = {"diagnostics": [hint]}
        params: dict[str, Any] = {"textDocument": {"uri": uri}, "range": hint["range"], "context": context}
        actions = await self.editor.request("textDocument/codeAction", params)
        title = hint["message"]
        self.asked.append(title)
        verb = "Accept:" if self.decides(title).startswith("allow") else "Reject:"
        chosen = next(action for action in actions if action["title"].startswith(verb))
        await self.editor.request("workspace/executeCommand", chosen["command"])

    def hints(self) -> list[tuple[str, dict[str, Any]]]:
        """The hints that are shown now, with their documents."""
        newest = {params["uri"]: params for params in self.editor.notified("textDocument/publishDiagnostics")}
        return [(uri, hint) for uri, params in newest.items() for hint in params["diagnostics"]]

    def _permission(self, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(f"{params['title']}\n{params['detail']}")
        return self._answer(params["title"], lambda option: {"optionId": option})

    def _message(self, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(params["message"])
        labels = {"allow_once": "Allow once", "reject_once": "Reject"}
        return self._answer(params["message"], lambda option: {"title": labels[option]})

    def _answer(self, title: str, result: Callable[[str], Any]) -> dict[str, Any]:
        decision = self.decides(title)
        if decision == "error":
            return {"error": {"code": -32603, "message": "no"}}
        return {"result": None if decision == "dismiss" else result(decision)}

    def _apply(self, params: dict[str, Any]) -> dict[str, Any]:
        edit = params["edit"]
        if "changeAnnotations" in edit:
            self.asked.append(params["label"])
            decision = self.decides(params["label"])
            if decision == "error":
                return {"error": {"code": -32603, "message": "no"}}
            if not decision.startswith("allow"):
                return {"result": {"applied": False}}
        self.applied.append(edit)
        whole = [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits}
            for uri, edits in edit.get("changes", {}).items()
        ]
        for number, step in enumerate(edit.get("documentChanges", whole)):
            try:
                self._step(step)
            except OSError as error:
                return {"result": {"applied": False, "failureReason": str(error), "failedChange": number}}
        return {"result": {"applied": True}}

    def _step(self, step: dict[str, Any]) -> None:
        match step.get("kind"):
            case "create":
                path_of(step["uri"]).touch(exist_ok=False)
            case "rename":
                old, new = path_of(step["oldUri"]), path_of(step["newUri"])
                if new.exists():
                    raise FileExistsError(str(new))
                old.rename(new)
                if buffer := self.buffers.pop(old, None):
                    self.editor.notify("textDocument/didClose", {"textDocument": {"uri": old.as_uri()}})
                    self.buffers[new], self.versions[new] = buffer, 1
                    self._marked |= {new} if old in self._marked else set[Path]()
                    self.editor.open(new.as_uri(), buffer.text)
            case "delete":
                path = path_of(step["uri"])
                path.unlink()
                if self.buffers.pop(path, None):
                    self.editor.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
            case _:
                path = path_of(step["textDocument"]["uri"])
                version = step["textDocument"]["version"]
                if path not in self.buffers:
                    self.open(str(path.relative_to(self.folder)))
                elif version is not None and version != self.versions[path]:
                    raise OSError(f"version {version} is not {self.versions[path]}")
                self._edit(path, [(_range(one["range"]), one["newText"]) for one in step["edits"]])

    def _edit(self, path: Path, edits: list[tuple[Range, str]]) -> None:
        buffer = self.buffers[path]
        # From the end, so that earlier positions stay true.
        for place, text in sorted(edits, key=lambda one: one[0].start, reverse=True):
            buffer.edit(place, text)
        self.versions[path] += 1
        document = {"uri": path.as_uri(), "version": self.versions[path]}
        self.editor.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": buffer.text}]}
        )


def _range(raw: dict[str, Any]) -> Range:
    start, end = (Position(raw[side]["line"], raw[side]["character"]) for side in ("start", "end"))
    return Range(start, end)
