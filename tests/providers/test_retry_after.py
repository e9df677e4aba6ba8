"""How long a server asks to wait, in every spelling of its headers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from math import isfinite

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from multidict import CIMultiDict

from ollm_lsp.providers.retry_after import retry_after
from tests.core.values import patient


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"RETRY-AFTER": " 0.5 "}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"Retry-After-Ms": "1500"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wednesday, 21-Oct-15 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 99 Foo 2026 07:28:00 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 -0000"}, None),
    ],
    ids=str,
)
def test_the_headers_say_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(CIMultiDict(headers)) == seconds


@pytest.mark.prop("krk-8")
def test_a_date_is_so_many_seconds_away() -> None:
    before = datetime.now(UTC)
    wait = retry_after({"retry-after": format_datetime(before + timedelta(hours=1), usegmt=True)})
    passed = (datetime.now(UTC) - before).total_seconds()
    assert wait is not None
    assert 3599 - passed <= wait <= 3600


def dated(moment: datetime, zone: str) -> str:
    return f"{format_datetime(moment)[:-5]}{zone}"


_zones = st.sampled_from(["GMT", "-0000", "+0000", "+2359", "-9999", "+99999999", "Z", "EST", ""])
_dates = st.builds(dated, st.datetimes(timezones=st.just(UTC)), _zones)


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@patient
@given(st.text() | st.floats().map(str) | st.integers().map(str) | _dates, st.text() | st.floats().map(str))
@example("1" * 5000, "")
@example("", "1e308")
@example("1_0", "")
@example("Mon, 01 Jan 0001 00:00:00 +2359", "")
@example("Fri, 31 Dec 9999 23:59:59 -9999", "")
@example("Mon, 16 Nov 2026 25:61:61 GMT", "")
def test_any_header_is_no_wait_or_a_finite_one(header: str, milliseconds: str) -> None:
    for headers in ({"retry-after": header}, {"retry-after": header, "retry-after-ms": milliseconds}):
        wait = retry_after(headers)
        assert wait is None or (isfinite(wait) and wait >= 0)
