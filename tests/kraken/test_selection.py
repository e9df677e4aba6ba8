"""Selection: the name that was given, else the best of those that are allowed, there, and able."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import AuthenticationFailed, LoginRequired, OllmError, SettingsError
from ollm_lsp.core.kraken import KrakenKind
from ollm_lsp.kraken.selection import Candidate, Complexity, Domain, Hint, choose, rank
from ollm_lsp.settings.kraken_settings import KrakenSettings, PolicySettings
from tests.core.values import patient

ON = KrakenSettings(enabled=True)
CLAUDE = Candidate("claude", KrakenKind.CLI, "sonnet", 200_000)
GEMINI = Candidate("gemini", KrakenKind.CLI, "gemini-2.5-pro", 1_000_000)
GPT = Candidate("gpt", KrakenKind.API, "gpt-4o", 128_000)
MINI = Candidate("mini", KrakenKind.API, "gpt-5-mini", 400_000)
ALL = (GPT, MINI, CLAUDE, GEMINI)
GONE = replace(CLAUDE, is_available=False, error="It is not logged in.", remedy="Run `claude` and then /login.")

names = st.sampled_from(["a", "b", "c", "d", "e"])
candidates = st.lists(
    st.builds(
        Candidate,
        names,
        st.sampled_from(KrakenKind),
        st.none() | st.sampled_from(["gpt-4o", "gpt-5-mini", "claude-haiku-4"]),
        st.none() | st.integers(1, 1000),
        st.booleans(),
    ),
    unique_by=lambda candidate: candidate.name,
)
hints = st.builds(Hint, st.sampled_from(Complexity), st.sampled_from(Domain), st.integers(0, 1000), st.booleans())
settings_ = st.builds(
    KrakenSettings,
    enabled=st.just(value=True),
    default_provider=st.none() | names,
    policies=st.builds(PolicySettings, allowed_providers=st.none() | st.frozensets(names)),
)


@pytest.mark.prop("krk-14")
@pytest.mark.prop("krk-16")
@pytest.mark.prop("krk-17")
@patient
@given(candidates, settings_, hints)
def test_of_those_who_may_be_used_whoever_can_read_it_all_comes_first_and_the_preferred_one_before_others(
    candidates: list[Candidate], settings: KrakenSettings, hint: Hint
) -> None:
    ranked = rank(candidates, settings, hint)
    usable = {one.name: one for one in candidates if one.is_available and settings.policies.allows(one.name)}
    assert {one.name for one in ranked} == set(usable)
    can_read = [one.can_read(hint.tokens) for one in ranked]
    assert can_read == sorted(can_read, reverse=True)
    preferred = usable.get(settings.default_provider or "")
    if preferred and preferred.can_read(hint.tokens):
        assert ranked[0] == preferred


@pytest.mark.prop("krk-17")
@pytest.mark.prop("krk-18")
@patient
@given(candidates, settings_, hints, st.none() | names)
def test_a_name_wins_else_the_first_of_the_ranking_is_taken_and_nobody_else_ever(
    candidates: list[Candidate], settings: KrakenSettings, hint: Hint, name: str | None
) -> None:
    ranked = rank(candidates, settings, hint)
    expected = [one for one in ranked if name in (None, one.name)]
    if expected:
        assert choose(candidates, settings, hint, name) == expected[0]
    else:
        with pytest.raises(SettingsError) as nobody:
            choose(candidates, settings, hint, name)
        assert nobody.value.remedy


@pytest.mark.prop("krk-15")
def test_agents_come_before_apis_for_the_sake_of_cost() -> None:
    assert [one.name for one in rank(ALL, ON, Hint())] == ["claude", "gemini", "gpt", "mini"]
    assert [one.name for one in rank(ALL, ON, Hint(prefer_cli=False))] == ["gpt", "claude", "gemini", "mini"]


@pytest.mark.prop("krk-14")
@pytest.mark.parametrize(
    ("hint", "name"),
    [
        (Hint(tokens=150_000), "claude"),
        (Hint(tokens=300_000), "gemini"),
        (Hint(tokens=5_000_000), "gemini"),
        (Hint(Complexity.SIMPLE, prefer_cli=False), "mini"),
        (Hint(Complexity.EXPERT, prefer_cli=False), "claude"),
        (Hint(Complexity.EXPERT, tokens=130_000, prefer_cli=False), "claude"),
        (Hint(Complexity.COMPLEX, Domain.CREATIVE, prefer_cli=False), "gpt"),
    ],
)
def test_a_task_goes_to_whom_it_fits(hint: Hint, name: str) -> None:
    assert choose((MINI, CLAUDE, GEMINI, GPT), ON, hint).name == name


@pytest.mark.prop("krk-18")
@pytest.mark.parametrize(
    ("candidates", "settings", "name", "words"),
    [
        (ALL, KrakenSettings(), None, "enabled: true"),
        ((), ON, None, "enabled: true"),
        ((), ON, "gpt", "enabled: true"),
        (ALL, ON, "grok", "Use one of: gpt, mini, claude, gemini."),
        (ALL, replace(ON, policies=PolicySettings(allowed_providers=frozenset())), None, "allowedProviders"),
        (ALL, replace(ON, policies=PolicySettings(allowed_providers=frozenset({"gpt"}))), "mini", "allowedProviders"),
        ((GONE,), ON, None, "claude: It is not logged in. Run `claude` and then /login."),
        ((GONE,), ON, "claude", "It is not logged in. Run `claude` and then /login."),
    ],
)
def test_when_nobody_is_left_the_error_says_what_to_do(
    candidates: tuple[Candidate, ...], settings: KrakenSettings, name: str | None, words: str
) -> None:
    with pytest.raises(SettingsError) as error:
        choose(candidates, settings, Hint(), name)
    assert words in str(error.value)


@pytest.mark.prop("krk-11")
@pytest.mark.parametrize("name", ["claude", None])
def test_where_a_login_is_all_that_is_missing_the_error_says_so(name: str | None) -> None:
    away = replace(GONE, needs_login=True)
    with pytest.raises(LoginRequired, match=r"It is not logged in\.") as caught:
        choose([away], ON, Hint(), name)
    assert caught.value.remedy == GONE.remedy
    keyless = replace(GPT, is_available=False, needs_login=True)
    with pytest.raises(AuthenticationFailed):
        choose([keyless], ON, Hint())
    with pytest.raises(SettingsError):
        choose([away, replace(GPT, is_available=False)], ON, Hint())


@pytest.mark.prop("krk-11")
def test_where_one_thing_is_wrong_with_all_of_them_the_error_has_its_code() -> None:
    missing = replace(CLAUDE, is_available=False, code="cli_not_found")
    unreachable = replace(GPT, is_available=False, code="connection")
    for candidates, name, code in (
        ([missing, unreachable], "claude", "cli_not_found"),
        ([missing, unreachable], "gpt", "connection"),
        ([missing, replace(missing, name="gemini")], None, "cli_not_found"),
        ([missing, unreachable], None, "settings"),
    ):
        with pytest.raises(OllmError) as caught:
            choose(candidates, ON, Hint(), name)
        assert caught.value.code == code
