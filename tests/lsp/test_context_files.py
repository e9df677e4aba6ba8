"""Files in the context: mentions, imports, what git leaves out, secrets, and the open buffer before every file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.decision import Decision
from ollm_lsp.lsp.buffer import Position, Range
from ollm_lsp.lsp.standard import ContentChange
from ollm_lsp.settings.resolved import ContextSettings, ToolsSettings
from tests.support.surroundings import Place, codes, names, sources

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for path, text in {
        "src/app.py": "from pkg.util import helper\nimport os\nfrom . import near\n",
        "src/near.py": "near_on_disk = 1\n",
        "src/pkg/util.py": "def helper():\n    return 'on disk'\n",
        "web/main.ts": "import { x } from './lib'\nexport * from '../outside/../../etc'\n",
        "web/lib/index.ts": "export const x = 1\n",
        "notes.md": "notes on disk\n",
        "build/made.py": "made = True\n",
        "id_rsa": "PRIVATE",
        ".gitignore": "build/\n*.log\n",
    }.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


async def test_a_mentioned_file_that_is_not_open_is_read_by_its_path(top: Path) -> None:
    context = await Place(top).ask("See #file:notes.md, please")
    assert (names(context), sources(context)) == (["notes.md"], ["attached"])
    assert context.text.startswith("notes.md:\n```markdown\nnotes on disk\n")


@pytest.mark.threat("F21")
@pytest.mark.prop("lsp-2")
async def test_of_a_mentioned_file_that_is_open_only_the_unsaved_text_is_sent(top: Path) -> None:
    here = Place(top)
    here.open(top / "notes.md", "unsaved")
    for text in ("#file:notes.md", f"#file:{top}/notes.md", "Why?"):
        context = await here.ask(text)
        assert "unsaved" in context.text
        assert "on disk" not in context.text
    assert sources(await here.ask("#file:notes.md")) == ["attached"]


@pytest.mark.threat("T14")
@pytest.mark.prop("lsp-2")
async def test_attached_files_that_are_not_open_are_read_inside_the_workspace_only(top: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("canary")
    here = Place(top)
    context = await here.ask(files=[(top / "notes.md").as_uri(), outside.as_uri()])
    assert names(context) == ["notes.md"]
    assert codes(context) == ["not_open"]
    assert "canary" not in context.text


@pytest.mark.parametrize("path", ["nothing.py", "../outside.py", "/etc/hosts", "src"])
async def test_a_mention_of_no_file_is_a_warning(top: Path, path: str) -> None:
    context = await Place(top).ask(f"#file:{path}")
    assert not context.parts
    assert codes(context) == ["not_found"]
    assert context.warnings[0].remedy


async def test_a_mention_is_found_in_any_folder_of_the_workspace_and_by_the_end_of_an_open_path(
    top: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / "only_here.py").write_text("second = 2\n")
    here = Place(top, second)
    assert "second = 2" in (await here.ask("#file:only_here.py")).text
    assert "second = 2" in (await here.ask("#file:second/only_here.py")).text
    here.open(tmp_path / "elsewhere" / "deep" / "open.py", "elsewhere")
    assert sources(await here.ask("#file:deep/open.py")) == ["attached"]


async def test_what_is_mentioned_twice_or_active_is_sent_once(top: Path) -> None:
    here = Place(top)
    uri = here.open(top / "notes.md", "unsaved")
    context = await here.ask("#file:notes.md #file:./notes.md #buffer", uri=uri, files=[uri])
    assert sources(context) == ["activeDocument"]


async def test_what_the_active_document_imports_comes_with_it(top: Path) -> None:
    here = Place(top)
    uri = here.open(top / "src" / "app.py", (top / "src" / "app.py").read_text())
    context = await here.ask(uri=uri)
    assert sources(context) == ["import", "import", "activeDocument"]
    assert names(context) == ["near.py", "util.py", "app.py"]
    assert "on disk" in context.text
    script = here.open(top / "web" / "main.ts", (top / "web" / "main.ts").read_text())
    assert "index.ts" in names(await here.ask(uri=script))


@pytest.mark.prop("lsp-2")
async def test_an_imported_document_that_is_open_is_taken_from_its_buffer(top: Path) -> None:
    here = Place(top)
    here.open(top / "src" / "pkg" / "util.py", "")
    here.documents.change((top / "src" / "pkg" / "util.py").as_uri(), 2, [ContentChange("unsaved\n")])
    uri = here.open(top / "src" / "app.py", "import pkg.util\n")
    context = await here.ask(uri=uri)
    assert names(context) == ["util.py", "app.py"]
    assert "unsaved" in context.text
    assert "on disk" not in context.text


@pytest.mark.threat("F21")
@pytest.mark.prop("lsp-2")
@given(
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["x", "import c\n", "from b import d\n"])),
    st.none() | st.sampled_from("abcd"),
    st.lists(st.sampled_from("abcd"), max_size=2),
    st.lists(st.sampled_from("abcd"), max_size=2),
)
def test_no_file_is_read_where_a_buffer_is_open_whatever_is_named_or_imported(
    tmp_path_factory: pytest.TempPathFactory,
    opened: dict[str, str],
    active: str | None,
    attached: list[str],
    mentioned: list[str],
) -> None:
    top = tmp_path_factory.getbasetemp() / "four"
    top.mkdir(exist_ok=True)
    for name in "abcd":
        (top / f"{name}.py").write_text(f"import a, b, c, d\n# {name} on disk\n")
    here = Place(top)
    for name, text in opened.items():
        here.open(top / f"{name}.py", f"{text}# {name} unsaved\n")
    wanted: dict[str, Any] = {"files": [(top / f"{name}.py").as_uri() for name in attached]}
    if active:
        wanted["uri"] = (top / f"{active}.py").as_uri()
    context = asyncio.run(here.ask(" ".join(f"#file:{name}.py" for name in mentioned), **wanted))
    for name in "abcd":
        is_named = name in attached or name in mentioned or name == active
        assert (f"# {name} unsaved" in context.text) == (name in opened)
        assert f"# {name} on disk" not in context.text or name not in opened
        assert f"# {name} on disk" in context.text or name in opened or not is_named
        assert context.text.count(f"# {name} ") <= 1


@pytest.mark.parametrize("settings", [ContextSettings(imports=False), ContextSettings(open_buffers=False)])
async def test_imports_can_be_switched_off(top: Path, settings: ContextSettings) -> None:
    here = Place(top, settings=settings)
    uri = here.open(top / "src" / "app.py", "import pkg.util\n")
    assert sources(await here.ask(uri=uri)) == ["activeDocument"]


async def test_of_a_long_import_only_the_heads_are_sent(top: Path) -> None:
    body = "    value = 1\n" * 30
    (top / "src" / "near.py").write_text("".join(f"def function_{number}():\n{body}\n" for number in range(50)))
    here = Place(top)
    uri = here.open(top / "src" / "app.py", "from . import near\n")
    context = await here.ask(uri=uri)
    part = context.parts[0]
    assert part.source == "import"
    assert part.tokens <= 10_000 // 8
    assert "def function_48():\n… 31 lines left out …\n" in part.text


async def test_open_buffers_that_git_leaves_out_are_sent_only_when_they_are_named_or_active(top: Path) -> None:
    here = Place(top)
    log = here.open(top / "run.log", "logged")
    made = here.open(top / "build" / "made.py", "made")
    here.open(top / "notes.md", "notes")
    assert names(await here.ask()) == ["notes.md"]
    assert names(await here.ask(uri=log, files=[made])) == ["notes.md", "made.py", "run.log"]


async def test_an_import_that_git_leaves_out_is_not_read(top: Path) -> None:
    here = Place(top)
    uri = here.open(top / "app.py", "import build.made\n")
    assert names(await here.ask(uri=uri)) == ["app.py"]


@pytest.mark.threat("T26")
@pytest.mark.prop("krk-41")
@pytest.mark.parametrize("is_external", [True, False])
async def test_a_secret_file_goes_to_no_model_unless_it_is_named_to_one_on_this_machine(
    top: Path, is_external: bool
) -> None:
    here = Place(top, is_external=is_external)
    key = here.open(top / "id_rsa", "PRIVATE")
    outside = here.open("file:///home/me/.ssh/config", "PRIVATE")
    unasked = [await here.ask(), await here.ask(uri=key), await here.ask(uri=outside)]
    assert not any("PRIVATE" in context.text for context in unasked)
    assert [codes(context) for context in unasked] == [[], *[["denied" if is_external else "not_named"]] * 2]
    selection = Range(Position(0, 0), Position(0, 7))
    named = [
        await here.ask("#file:id_rsa"),
        await here.ask(files=[key]),
        await here.ask(files=[outside]),
        await here.ask(uri=key, range=selection),
    ]
    assert [("PRIVATE" in context.text) for context in named] == [not is_external] * 4
    assert [codes(context) for context in named] == [["denied"] if is_external else []] * 4


@pytest.mark.threat("T26")
async def test_a_secret_file_on_the_disk_is_not_read_even_when_it_is_named(top: Path) -> None:
    for is_external in (True, False):
        context = await Place(top, is_external=is_external).ask("#file:id_rsa")
        assert not context.parts
        assert codes(context) == ["denied" if is_external else "not_open"]


async def test_a_rule_of_the_user_about_a_file_counts_for_the_context_too(top: Path) -> None:
    rules = ToolsSettings(permissions=(("**/notes.md", Decision.DENY), ("**/id_rsa", Decision.ALLOW)))
    here = Place(top, tools=rules, is_external=True)
    here.open(top / "notes.md", "secret plans")
    here.open(top / "id_rsa", "allowed by a rule")
    context = await here.ask("#file:notes.md")
    assert names(context) == ["id_rsa"]
    assert codes(context) == ["denied"]


async def test_chats_as_files_and_texts_that_were_shown_are_no_context_of_the_next_question(
    top: Path, tmp_path: Path
) -> None:
    here = Place(top, own=[tmp_path / "state"])
    chat = here.open(top / "talk.ollm.md", "## You")
    here.open(tmp_path / "state" / "shown" / "1.md", "what was sent before")
    assert not (await here.ask()).parts
    assert names(await here.ask(files=[chat])) == ["talk.ollm.md"]


@pytest.mark.threat("F38")
async def test_no_folder_is_searched_however_many_files_there_are(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a folder is listed")

    monkeypatch.setattr("ollm_lsp.tools.walk.scan", refuse)
    here = Place(top)
    uri = here.open(top / "src" / "app.py", "import pkg.util\n")
    assert sources(await here.ask("#file:notes.md", uri=uri)) == ["import", "attached", "activeDocument"]
