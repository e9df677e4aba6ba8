"""Permission rules: what is allowed, asked and denied, and that nothing makes them milder than they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.decision import Decision, strictest
from ollm_lsp.core.tool import ToolKind
from ollm_lsp.settings.resolved import ToolsSettings
from ollm_lsp.tools.permission_rules import PermissionRules, Ruling
from tests.core.values import patient

ALLOW, ASK, DENY = Decision
EXAMPLE = {"*": ASK, "read_*": ALLOW, "**/.env*": DENY}
LOOKS = (ToolKind.READ, ToolKind.SEARCH)
ORDER = [ALLOW, ASK, DENY]

patterns = st.sampled_from(["*", "read_*", "edit_file", "edit_*", "src/**", "*.py", "**/.env*", "/docs/*", "a.py"])
rules = st.dictionaries(patterns, st.sampled_from(Decision), max_size=5)
tools = st.sampled_from([("read_file", ToolKind.READ), ("edit_file", ToolKind.EDIT), ("run_command", ToolKind.EXECUTE)])
paths = st.lists(st.sampled_from(["src/a.py", "docs/a.md", ".env", "a.py", ".git/config", "x/.Env"]), max_size=2)


def of(permissions: dict[str, Decision], restrictions: dict[str, Decision] | None = None) -> PermissionRules:
    return PermissionRules(ToolsSettings(tuple(permissions.items()), tuple((restrictions or {}).items())))


def decision(
    permissions: dict[str, Decision], tool: str, kind: ToolKind, *where: str, is_external: bool = False
) -> Decision:
    return of(permissions).decide(tool, kind, where, is_external=is_external).decision


@pytest.mark.parametrize("kind", ToolKind)
def test_without_rules_looking_is_allowed_and_everything_else_asks(kind: ToolKind) -> None:
    assert decision({}, "some_tool", kind, "src/a.py") is (ALLOW if kind in LOOKS else ASK)
    assert decision({}, "some_tool", kind) is (ALLOW if kind in LOOKS else ASK)


@pytest.mark.parametrize(
    ("permissions", "tool", "kind", "path", "expected"),
    [
        (EXAMPLE, "read_file", ToolKind.READ, "a.py", ALLOW),
        (EXAMPLE, "search_text", ToolKind.SEARCH, "a.py", ASK),
        (EXAMPLE, "edit_file", ToolKind.EDIT, "a.py", ASK),
        (EXAMPLE, "read_file", ToolKind.READ, "deep/.env.local", DENY),
        (EXAMPLE, "edit_file", ToolKind.EDIT, ".ENV", DENY),
        ({"docs/**": ALLOW}, "edit_file", ToolKind.EDIT, "docs/a.md", ALLOW),
        ({"docs/**": ALLOW}, "edit_file", ToolKind.EDIT, "src/a.md", ASK),
        ({"/docs/**": ALLOW}, "edit_file", ToolKind.EDIT, "sub/docs/a.md", ASK),
        ({"docs/**": ALLOW, "edit_file": DENY}, "edit_file", ToolKind.EDIT, "docs/a.md", DENY),
        ({"docs/**": ALLOW, "docs/secret/**": ASK}, "edit_file", ToolKind.EDIT, "docs/secret/a", ASK),
        ({"docs/secret/**": ALLOW, "docs/**": ASK}, "edit_file", ToolKind.EDIT, "docs/secret/a", ALLOW),
        ({"docs/secret/**": ALLOW, "docs/**": DENY}, "edit_file", ToolKind.EDIT, "docs/secret/a", DENY),
        ({"read_file": ASK, "read_*": ALLOW}, "read_file", ToolKind.READ, "a", ASK),
        ({"*": DENY, "read_file": ALLOW}, "read_file", ToolKind.READ, "a", DENY),
        ({"*.py": ASK}, "read_file", ToolKind.READ, "src/a.py", ASK),
        ({"*": ALLOW}, "run_command", ToolKind.EXECUTE, "a", ASK),
        ({"run_command": ALLOW}, "run_command", ToolKind.EXECUTE, "a", ASK),
        ({"*": ALLOW, "**/*": ALLOW}, "edit_file", ToolKind.EDIT, ".git/config", ASK),
        ({"*": ALLOW}, "read_file", ToolKind.READ, ".github/workflows/a.yml", ALLOW),
    ],
)
def test_the_rules_mean_what_the_documentation_says(
    permissions: dict[str, Decision], tool: str, kind: ToolKind, path: str, expected: Decision
) -> None:
    assert decision(permissions, tool, kind, path) is expected


@patient
@given(rules, tools, paths, st.booleans())
def test_a_rule_that_denies_always_wins(
    permissions: dict[str, Decision], tool: tuple[str, ToolKind], where: list[str], is_external: bool
) -> None:
    for pattern in (tool[0], *where):
        if pattern != "run_command" or not where:
            denying = {**permissions, (pattern if pattern == tool[0] else f"/{pattern}"): DENY}
            assert decision(denying, *tool, *where, is_external=is_external) is DENY


@patient
@given(rules, rules, tools, paths, st.booleans())
def test_restrictions_never_make_anything_milder(
    own: dict[str, Decision], others: dict[str, Decision], tool: tuple[str, ToolKind], where: list[str], is_folder: bool
) -> None:
    alone = of(own).decide(*tool, where, is_folder=is_folder)
    both = of(own, others).decide(*tool, where, is_folder=is_folder)
    assert ORDER.index(both.decision) >= ORDER.index(alone.decision)
    assert both.may_stand <= alone.may_stand


@patient
@given(rules, tools, paths)
def test_a_second_path_never_makes_anything_milder(
    permissions: dict[str, Decision], tool: tuple[str, ToolKind], where: list[str]
) -> None:
    each = [decision(permissions, *tool, path) for path in where]
    if each:
        assert decision(permissions, *tool, *where) is strictest(each, ALLOW)


@pytest.mark.threat("T26")
def test_secrets_are_read_only_by_a_rule_about_the_file() -> None:
    for path in (".env", "deep/key.pem", ".ssh/config", "id_rsa"):
        for permissions in ({}, {"*": ALLOW, "read_*": ALLOW}):
            assert decision(permissions, "read_file", ToolKind.READ, path) is ASK
            assert decision(permissions, "read_file", ToolKind.READ, path, is_external=True) is DENY
        assert decision({f"**/{path}": ALLOW}, "read_file", ToolKind.READ, path, is_external=True) is ALLOW
    ruling = of({}).decide("read_file", ToolKind.READ, [".env"], is_external=True)
    assert ruling == Ruling(DENY, False, "The rules do not allow this file, because it may hold secrets.")
    assert decision({}, "read_file", ToolKind.READ, "src/a.py", is_external=True) is ALLOW


@pytest.mark.threat("T9")
def test_an_allowing_rule_covers_no_other_spelling_but_a_denying_one_does() -> None:
    assert decision({"docs/**": ALLOW}, "edit_file", ToolKind.EDIT, "docs\\evil.py") is ASK
    assert decision({"docs/**": DENY}, "edit_file", ToolKind.EDIT, "docs\\evil.py") is DENY
    assert decision({"secret.txt": DENY}, "read_file", ToolKind.READ, "s\u200becret.txt") is DENY
    assert decision({"secret.txt": DENY}, "read_file", ToolKind.READ, "secret.txt. ") is DENY


@pytest.mark.threat("T8")
def test_changing_a_whole_folder_always_asks_and_no_answer_stands() -> None:
    ruling = of({"*": ALLOW, "src/**": ALLOW}).decide("rename_file", ToolKind.MOVE, ["src/a", "src/b"], is_folder=True)
    assert ruling == Ruling(ASK, may_stand=False)


def test_tools_can_be_switched_off() -> None:
    assert not PermissionRules(ToolsSettings()).is_enabled("run_command")
    assert PermissionRules(ToolsSettings(run_command=True)).is_enabled("run_command")
    assert not PermissionRules(ToolsSettings(run_command=True, disabled=("run_*",))).is_enabled("run_command")
    settings = ToolsSettings(disabled=("delete_file",))
    assert [PermissionRules(settings).is_enabled(name) for name in ("delete_file", "edit_file")] == [False, True]


def test_other_rules_have_another_digest() -> None:
    one = [of({}), of({"*": ASK}), of({"*": DENY}), of({}, {"*": ASK}), of({"a.py": ASK, "*": ASK})]
    assert len({each.digest for each in one}) == len(one)
    assert of({"*": ASK}).digest == of({"*": ASK}).digest
