"""Params are built when they are needed, and are then what attrs makes of them."""

from __future__ import annotations

from threading import Barrier, Thread

import attrs
import pytest

from ollm_lsp.lsp.late_class import Unbuilt, params


@params
class Inner:
    """Something with a default."""

    name: str
    number: int = 3


@params
class Outer(Inner):
    """The same with more."""

    names: list[str] = attrs.field(factory=list[str])


def is_built(kind: type[object]) -> bool:
    return not isinstance(vars(kind).get("__attrs_attrs__"), Unbuilt)


def test_a_class_is_built_when_it_is_first_created() -> None:
    @params
    class Kind:
        name: str

    assert not is_built(Kind)
    assert repr(Kind("a")).endswith("Kind(name='a')")
    assert is_built(Kind)


def test_a_class_is_built_when_it_is_first_inspected_and_its_base_with_it() -> None:
    assert not is_built(Inner)
    assert not is_built(Outer)
    assert [field.name for field in attrs.fields(Outer)] == ["name", "number", "names"]
    assert is_built(Inner)
    assert Outer("a", names=["b"]) == Outer("a", 3, ["b"]) != Outer("a")
    assert isinstance(Outer("a"), Inner)


def test_params_cannot_be_changed() -> None:
    @params
    class Kind:
        name: str

    kind = Kind("a")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        kind.name = "b"  # pyright: ignore[reportAttributeAccessIssue] (that is the test)


def test_threads_that_need_a_class_at_once_build_it_once() -> None:
    for _ in range(50):

        @params
        class Kind:
            name: str

        barrier, made = Barrier(4), list[Kind]()

        def make(barrier: Barrier = barrier, made: list[Kind] = made, kind: type[Kind] = Kind) -> None:
            barrier.wait()
            made.append(kind("a"))

        threads = [Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [Kind("a")] * 4
