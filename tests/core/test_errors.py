"""The tree of errors: what its docstring draws is what there is."""

from __future__ import annotations

import inspect
import re

import pytest

from ollm_lsp.core import errors
from ollm_lsp.core.errors import InternalError, InvalidMessage, ModelNotFound, OllmError, ProviderError, RateLimited

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, OllmError)]
LEAVES = [kind for kind in KINDS if not kind.__subclasses__()]
INNER = {OllmError, ProviderError}


def drawn() -> dict[str, tuple[str, str]]:
    """Each error in the docstring's tree, with its code and its parent."""
    lines = re.findall(r"^    (│   )?[├└]── (\w+) +([a-z_]+)  +\S.*$", inspect.getdoc(errors) or "", re.MULTILINE)
    return {name: (code, "ProviderError" if deeper else "OllmError") for deeper, name, code in lines}


@pytest.mark.prop("eng-7")
def test_the_docstring_draws_every_error_with_its_code_and_its_place() -> None:
    there = {kind.__name__: (kind.code, kind.__mro__[1].__name__) for kind in KINDS if kind not in INNER}
    assert drawn() == there


@pytest.mark.prop("eng-7")
def test_no_two_errors_share_a_code() -> None:
    codes = [kind.code for kind in LEAVES]
    assert sorted(set(codes)) == sorted(codes)


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("kind", LEAVES, ids=lambda kind: kind.__name__)
def test_every_error_says_what_went_wrong_and_what_to_do(kind: type[OllmError]) -> None:
    error = kind("It broke.", remedy="Mend it.")
    assert error.code
    assert (error.message, error.remedy) == ("It broke.", "Mend it.")
    assert str(error) == "It broke. Mend it."
    if isinstance(error, ProviderError):
        assert error.status is None


@pytest.mark.prop("eng-7")
def test_an_error_without_a_remedy_cannot_be_raised() -> None:
    with pytest.raises(TypeError, match="remedy"):
        InternalError("It broke.")  # pyright: ignore[reportCallIssue] (that is the point)


@pytest.mark.prop("eng-7")
def test_errors_carry_what_helps_to_go_on() -> None:
    assert RateLimited("m", remedy="r", status=429, retry_after=1.5).retry_after == 1.5
    missing = ModelNotFound("m", remedy="r", status=404, available=["a", "b"])
    assert (missing.status, missing.available) == (404, ("a", "b"))


def test_an_invalid_message_is_a_mistake_of_the_caller_not_of_the_user() -> None:
    assert not issubclass(InvalidMessage, OllmError)
    assert issubclass(InvalidMessage, ValueError)
