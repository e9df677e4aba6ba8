"""The budget: admits what every limit covers, to the micro-dollar, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.budget import Account, Balance, Limits, Span
from ollm_lsp.core.errors import BudgetExceeded
from ollm_lsp.core.money import in_dollars
from tests.core.values import patient

amounts = st.integers(0, 10**7)
balances = st.builds(Balance, amounts, amounts)
accounts = st.builds(Account, balances, balances)
limits_ = st.builds(Limits, st.none() | amounts, st.none() | amounts, st.none() | amounts)


@pytest.mark.prop("krk-26")
@patient
@given(accounts, limits_, amounts)
def test_exactly_what_every_limit_covers_is_admitted(account: Account, limits: Limits, micros: int) -> None:
    sums = [(limits.session, account.session.gone), (limits.day, account.day.gone)]
    is_covered = limits.request is None or micros <= limits.request
    is_covered &= all(limit is None or gone + micros <= limit for limit, gone in sums if micros)
    try:
        account.admit(limits, micros)
    except BudgetExceeded:
        assert not is_covered
    else:
        assert is_covered


@pytest.mark.prop("krk-27")
@patient
@given(accounts, limits_)
def test_what_remains_can_be_spent_and_no_more(account: Account, limits: Limits) -> None:
    remaining = account.remaining(limits)
    if remaining is None:
        assert limits == Limits(None, None, None)
        account.admit(limits, 10**15)
    else:
        account.admit(limits, remaining)
        with pytest.raises(BudgetExceeded):
            account.admit(limits, remaining + 1)


@pytest.mark.prop("krk-26")
@patient
@given(accounts, limits_, amounts, amounts)
def test_money_that_is_held_already_is_not_asked_for_again(
    account: Account, limits: Limits, held: int, more: int
) -> None:
    without_request = Limits(None, limits.session, limits.day)
    account.admit(without_request, held, held=held)
    remaining = account.remaining(without_request)
    is_covered = remaining is None or more <= remaining
    try:
        account.admit(without_request, held + more, held=held)
    except BudgetExceeded:
        assert not is_covered
    else:
        assert is_covered


@pytest.mark.prop("krk-26")
def test_a_refusal_tells_the_numbers_and_what_to_do() -> None:
    account = Account(Balance(9_000_000, 500_000), Balance(9_000_000, 500_000))
    with pytest.raises(BudgetExceeded) as refused:
        account.admit(Limits(session=10_000_000), 750_001)
    error = refused.value
    assert error.code == "budget_exceeded"
    assert (error.span, error.limit, error.spent, error.reserved, error.wanted) == (
        Span.SESSION,
        10_000_000,
        9_000_000,
        500_000,
        750_001,
    )
    assert error.message == (
        "This may cost $0.750001, and of the $10.00 for this session $0.50 are left. "
        "$0.50 are reserved for requests that still run."
    )
    assert "kraken.maxCostPerSession" in error.remedy


@pytest.mark.parametrize(
    ("limits", "setting", "words"),
    [
        (Limits(request=1), "kraken.maxCostPerRequest", "a request may cost $0.000001"),
        (Limits(day=1), "kraken.maxCostPerDay", "for today $0.00 are left"),
    ],
)
def test_a_refusal_names_the_limit_that_it_is_about(limits: Limits, setting: str, words: str) -> None:
    with pytest.raises(BudgetExceeded) as refused:
        Account(Balance(), Balance(5)).admit(limits, 2)
    assert setting in refused.value.remedy
    assert words in refused.value.message


def test_what_costs_nothing_goes_on_when_the_budget_is_overdrawn() -> None:
    overdrawn = Account(Balance(100), Balance(100))
    overdrawn.admit(Limits(session=50, day=50), 0)
    assert overdrawn.remaining(Limits(session=50)) == 0


def test_the_tightest_limit_is_the_one_of_which_the_least_is_left() -> None:
    account = Account(Balance(5), Balance(90))
    assert account.tightest(Limits(session=50, day=100)) == (Span.DAY, 100, Balance(90))
    assert account.tightest(Limits(session=14, day=100)) == (Span.SESSION, 14, Balance(5))
    assert account.tightest(Limits(session=None)) is None


@pytest.mark.parametrize(
    ("micros", "text"),
    [(0, "$0.00"), (1, "$0.000001"), (10_000, "$0.01"), (1_500_000, "$1.50"), (-2_345_600, "-$2.3456")],
)
def test_amounts_are_shown_exactly(micros: int, text: str) -> None:
    assert in_dollars(micros) == text
