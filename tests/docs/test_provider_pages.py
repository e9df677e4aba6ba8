"""The pages about providers: their examples work, their options exist, their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ollm_lsp.settings.options import Options, section_at
from ollm_lsp.settings.provider_options import KINDS
from ollm_lsp.settings.section import Section, keys, subsection
from ollm_lsp.settings.source import SettingsSource
from tests.support.pages import fences, prose

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "providers"
OVERVIEW = FOLDER / "README.md"
PAGES = sorted(FOLDER.glob("*.md"))
EDITORS = sorted((ROOT / "docs" / "editors").glob("*.md"))
AGENTS = FOLDER / "cli-agents.md"
SERVERS = [page for page in PAGES if page not in (OVERVIEW, AGENTS)]
_CODE = re.compile(r"`([^`\n]+)`")
_CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b")
_LINK = re.compile(r"\]\(([^)]+)\)")


def name_of(page: Path) -> str:
    return page.name


def known_keys() -> set[str]:
    sections: list[type[Section]] = [Options, *KINDS.values()]
    found: set[str] = set()
    for section in sections:
        for key, field in keys(section).items():
            found.add(key)
            sections += filter(None, [subsection(field)])
    return found


EXAMPLES = [(page, text) for page in PAGES for text in fences(page, "yaml")]


@pytest.mark.prop("krk-38")
@pytest.mark.parametrize(("page", "text"), EXAMPLES, ids=lambda value: value.name if isinstance(value, Path) else "")
def test_every_example_is_a_settings_file_without_a_problem(page: Path, text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text, encoding="utf-8")
    resolution = SettingsSource(file, embedded_available=True).current()
    assert resolution.problems == ()
    assert resolution.settings.model.provider in resolution.settings.providers
    assert f'model: "{resolution.settings.model}"' in text, f"{page.name} chooses no model"


def options_named_on(page: Path) -> set[str]:
    """What stands there as code and looks like an option: `camelCase`, or `key: value`."""
    code = _CODE.findall(prose(page))
    named = {word for piece in code for word in _CAMEL.findall(piece)}
    return named | {match[1] for piece in code if (match := re.match(r"(\w+): ", piece))}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_option_that_a_page_names_exists(page: Path) -> None:
    assert options_named_on(page) - known_keys() == set()


def test_the_pages_name_the_options_that_every_server_has() -> None:
    named = set[str]().union(*map(options_named_on, PAGES))
    assert named >= {"baseUrl", "apiKey", "allowInsecure", "contextWindow", "maxRetries", "firstToken", "maxTokens"}


@pytest.mark.parametrize("page", [*PAGES, *EDITORS, ROOT / "README.md", ROOT / "docs" / "settings.md"], ids=name_of)
def test_every_relative_link_leads_to_a_file_and_its_heading(page: Path) -> None:
    links = [link for link in _LINK.findall(prose(page)) if not link.startswith("https://")]
    assert links
    for link in links:
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        headings = re.findall(r"^#+ (.+)$", prose(target), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, link


@pytest.mark.parametrize("page", SERVERS, ids=name_of)
def test_every_page_answers_the_same_questions(page: Path) -> None:
    headings = re.findall(r"^## (.+)$", prose(page), re.MULTILINE)
    assert headings == ["Start", "Settings", "What is found out", "Tokens", "When it fails"]
    assert fences(page, "sh")
    failures = prose(page).partition("## When it fails")[2]
    rows = [row.strip("|").split(" | ") for row in failures.splitlines() if row.startswith("| ")]
    assert len(rows) > 4
    assert all(len(row) == 3 and all(cell.strip() for cell in row) for row in rows)


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_of_provider_has_its_page_with_an_example(kind: str, tmp_path: Path) -> None:
    (example, *_) = fences(FOLDER / f"{kind}.md", "yaml")
    file = tmp_path / "config.yaml"
    file.write_text(example, encoding="utf-8")
    settings = SettingsSource(file, embedded_available=True).current().settings
    provider = settings.providers[settings.model.provider]
    section = section_at(["providers", "x", kind])
    assert section is not None
    assert type(provider).__name__.removesuffix("Settings") == section.__name__.removesuffix("Options")


@pytest.mark.parametrize("page", [*SERVERS, AGENTS], ids=name_of)
def test_the_overview_leads_to_every_page(page: Path) -> None:
    assert f"]({page.name})" in prose(OVERVIEW)
    assert "](docs/providers/README.md)" in prose(ROOT / "README.md")
