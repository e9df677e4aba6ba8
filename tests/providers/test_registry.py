"""The registry: providers by name, built when first used, kept while used, closed once."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.providers.embedded import EmbeddedProvider
from ollm_lsp.providers.ollama import OllamaProvider
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.providers.registry import Registry, build
from ollm_lsp.settings.resolved import EmbeddedSettings, OllamaSettings, OpenAISettings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from ollm_lsp.core.ports import Provider
    from ollm_lsp.settings.resolved import ProviderSettings

names = st.text(min_size=1, max_size=8)
sets_of_names = st.lists(names, unique=True, max_size=6)


class Built:
    """A provider that knows whether it was closed."""

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self.closings = 0

    @property
    def name(self) -> str:
        return self.settings.name

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.closings += 1


class Workshop:
    """Builds providers and remembers them."""

    def __init__(self) -> None:
        self.built: list[Built] = []

    def build(self, settings: ProviderSettings) -> Provider:
        self.built.append(Built(settings))
        return cast("Provider", self.built[-1])


def ollama(name: str, port: int = 1) -> OllamaSettings:
    return OllamaSettings(name, f"http://127.0.0.1:{port}")


def registry_of(*registered: str, default: str | None = None) -> tuple[Registry, Workshop]:
    workshop = Workshop()
    registry = Registry(workshop.build, default)
    for name in registered:
        registry.register(ollama(name))
    return registry, workshop


async def leased(registry: Registry, name: str | None = None) -> Built:
    async with registry.lease(name) as provider:
        return cast("Built", provider)


@pytest.mark.prop("core-1")
@pytest.mark.prop("core-2")
@settings(max_examples=100, deadline=None)
@given(sets_of_names)
def test_exactly_the_registered_names_are_listed_and_found(registered: list[str]) -> None:
    async def scenario() -> None:
        registry, _ = registry_of(*registered)
        assert registry.names == tuple(registered)
        for name in registered:
            assert (await leased(registry, name)).name == name
        await registry.close()

    asyncio.run(scenario())


@pytest.mark.prop("core-1")
@settings(max_examples=100, deadline=None)
@given(sets_of_names.filter(bool), st.data())
def test_a_name_that_is_taken_is_refused_and_the_first_stays(registered: list[str], data: st.DataObject) -> None:
    async def scenario() -> None:
        registry, _ = registry_of(*registered)
        again = data.draw(st.sampled_from(registered))
        with pytest.raises(SettingsError) as caught:
            registry.register(ollama(again, port=2))
        assert again in caught.value.message
        assert caught.value.remedy
        assert (await leased(registry, again)).settings == ollama(again)
        assert registry.names == tuple(registered)

    asyncio.run(scenario())


@pytest.mark.prop("core-2")
@pytest.mark.prop("core-3")
@settings(max_examples=100, deadline=None)
@given(sets_of_names, names)
def test_a_name_that_is_missing_is_refused_with_those_that_exist(registered: list[str], name: str) -> None:
    async def scenario() -> None:
        others = [one for one in registered if one != name]
        registry, workshop = registry_of(*others, default=None)
        for registry.default, asked in ((None, name), (name, None)):
            with pytest.raises(SettingsError) as caught:
                await leased(registry, asked)
            assert f"'{name}'" in caught.value.message
            assert (", ".join(others) or "none") in caught.value.remedy
        assert workshop.built == []

    asyncio.run(scenario())


@pytest.mark.prop("core-3")
@settings(max_examples=100, deadline=None)
@given(sets_of_names.filter(bool), st.data())
def test_without_a_name_the_default_is_used(registered: list[str], data: st.DataObject) -> None:
    async def scenario() -> None:
        default = data.draw(st.sampled_from(registered))
        registry, _ = registry_of(*registered, default=default)
        assert (await leased(registry)).name == default

    asyncio.run(scenario())


@pytest.mark.prop("core-3")
async def test_without_a_name_and_a_default_the_error_says_what_to_set() -> None:
    registry, _ = registry_of("a")
    with pytest.raises(SettingsError) as caught:
        await leased(registry)
    assert "`model`" in caught.value.remedy


async def test_a_provider_is_built_when_it_is_first_used_and_only_once() -> None:
    registry, workshop = registry_of("a", "b")
    assert workshop.built == []
    assert await leased(registry, "a") is await leased(registry, "a")
    assert [one.name for one in workshop.built] == ["a"]


def waiting_for(event: threading.Event) -> Callable[[ProviderSettings], None]:
    def load(_: ProviderSettings) -> None:
        event.wait()

    return load


async def test_two_who_wait_for_the_same_import_get_the_same_provider() -> None:
    go_on = threading.Event()
    workshop = Workshop()
    registry = Registry(workshop.build, load=waiting_for(go_on))
    registry.register(ollama("a"))
    both = asyncio.gather(leased(registry, "a"), leased(registry, "a"))
    await asyncio.sleep(0)
    assert workshop.built == []
    go_on.set()
    first, second = await both
    assert first is second
    assert len(workshop.built) == 1


async def test_a_provider_that_is_changed_while_it_is_imported_is_closed_after_its_use() -> None:
    go_on = threading.Event()
    workshop = Workshop()
    registry = Registry(workshop.build, load=waiting_for(go_on))
    registry.register(ollama("a"))
    leasing = asyncio.ensure_future(leased(registry, "a"))
    await asyncio.sleep(0)
    await registry.update({"a": ollama("a", 2)})
    go_on.set()
    old = await leasing
    assert (old.settings, old.closings) == (ollama("a"), 1)
    assert (await leased(registry, "a")).settings == ollama("a", 2)


async def test_an_update_keeps_what_is_the_same_and_its_connections() -> None:
    registry, workshop = registry_of("a", "b")
    kept = await leased(registry, "a")
    await registry.update({"b": ollama("b", 2), "a": ollama("a"), "c": ollama("c")})
    assert sorted(registry.names) == ["a", "b", "c"]
    assert await leased(registry, "a") is kept
    assert [one.closings for one in workshop.built] == [0]


async def test_an_update_closes_what_has_changed_or_gone_when_nobody_uses_it() -> None:
    registry, _ = registry_of("a", "b")
    changed, gone = await leased(registry, "a"), await leased(registry, "b")
    await registry.update({"a": ollama("a", 2)})
    assert (changed.closings, gone.closings) == (1, 1)
    assert registry.names == ("a",)
    assert (await leased(registry, "a")).settings == ollama("a", 2)
    with pytest.raises(SettingsError):
        await leased(registry, "b")


async def test_a_provider_that_is_used_is_closed_only_after_its_last_user() -> None:
    registry, _ = registry_of("a")
    async with registry.lease("a") as first:
        async with registry.lease("a") as second:
            old = cast("Built", first)
            assert second is first
            await registry.update({"a": ollama("a", 2)})
            assert old.closings == 0
            assert await leased(registry, "a") is not old
        assert old.closings == 0
    assert old.closings == 1
    await registry.close()
    assert old.closings == 1


async def test_a_chat_that_fails_or_is_cancelled_gives_its_provider_back() -> None:
    registry, _ = registry_of("a")

    async def chat(end: BaseException) -> None:
        async with registry.lease("a"):
            raise end

    with pytest.raises(ZeroDivisionError):
        await chat(ZeroDivisionError())
    with pytest.raises(asyncio.CancelledError):
        await chat(asyncio.CancelledError())
    old = await leased(registry, "a")
    await registry.update({})
    assert old.closings == 1


async def test_a_provider_that_is_imported_while_all_are_closed_is_closed_by_its_user() -> None:
    go_on = threading.Event()
    workshop = Workshop()
    registry = Registry(workshop.build, load=waiting_for(go_on))
    registry.register(ollama("a"))
    leasing = asyncio.ensure_future(leased(registry, "a"))
    await asyncio.sleep(0)
    await registry.close()
    go_on.set()
    assert (await leasing).closings == 1


async def test_closing_closes_all_that_were_built_also_those_in_use() -> None:
    registry, workshop = registry_of("a", "b", "c")
    async with registry.lease("a"):
        await leased(registry, "b")
        await registry.update({"b": ollama("b"), "c": ollama("c")})
        await registry.close()
        assert [(one.name, one.closings) for one in workshop.built] == [("a", 1), ("b", 1)]
    assert [one.closings for one in workshop.built] == [1, 1]
    assert registry.names == ()


class Registries(RuleBasedStateMachine):
    """Leases and updates in any order: nothing in use is closed, nothing unused and gone stays open."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.registry, self.workshop = registry_of()
        self.wanted: dict[str, ProviderSettings] = {}
        self.leases: list[tuple[AbstractAsyncContextManager[Provider], Built]] = []

    @rule(ports=st.dictionaries(st.sampled_from("abc"), st.integers(1, 2)))
    def update(self, ports: dict[str, int]) -> None:
        self.wanted = {name: ollama(name, port) for name, port in ports.items()}
        self.loop.run_until_complete(self.registry.update(self.wanted))

    @precondition(lambda self: self.wanted)
    @rule(data=st.data())
    def lease(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.wanted)))
        lease = self.registry.lease(name)
        provider = cast("Built", self.loop.run_until_complete(lease.__aenter__()))
        assert provider.settings == self.wanted[name]
        self.leases.append((lease, provider))

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        lease, _ = self.leases.pop(data.draw(st.integers(0, len(self.leases) - 1)))
        self.loop.run_until_complete(lease.__aexit__(None, None, None))

    @invariant()
    def closed_are_exactly_those_that_are_neither_used_nor_wanted(self) -> None:
        used = {id(provider) for _, provider in self.leases}
        assert set(self.registry.names) == set(self.wanted)
        for provider in self.workshop.built:
            newest = [one for one in self.workshop.built if one.name == provider.name][-1]
            wanted = provider is newest and self.wanted.get(provider.name) == provider.settings
            if id(provider) in used:
                assert provider.closings == 0
            elif not wanted:
                assert provider.closings == 1

    def teardown(self) -> None:
        self.loop.run_until_complete(self.registry.close())
        assert all(provider.closings == 1 for provider in self.workshop.built)
        for lease, _ in self.leases:
            self.loop.run_until_complete(lease.__aexit__(None, None, None))
        assert all(provider.closings == 1 for provider in self.workshop.built)
        self.loop.close()


Registries.TestCase.settings = settings(max_examples=100, stateful_step_count=12, deadline=None)
TestRegistries = Registries.TestCase


@pytest.fixture
async def three(tmp_path: Path) -> AsyncGenerator[Registry]:
    registry = Registry(lambda one: build(one, tmp_path))
    for one in (
        ollama("a"),
        OpenAISettings("b", "http://127.0.0.1:1/v1"),
        EmbeddedSettings("c", tmp_path / "no.gguf"),
    ):
        registry.register(one)
    yield registry
    await registry.close()


@pytest.mark.parametrize(("name", "kind"), [("a", OllamaProvider), ("b", OpenAIProvider), ("c", EmbeddedProvider)])
async def test_each_kind_of_settings_builds_its_kind_of_provider(
    three: Registry, name: str, kind: type[object]
) -> None:
    async with three.lease(name) as provider:
        assert type(provider) is kind
        assert provider.name == name


async def test_settings_that_differ_only_in_a_limit_are_a_change() -> None:
    registry, _ = registry_of("a")
    old = await leased(registry, "a")
    limits = replace(old.settings.limits, idle=1.0)
    await registry.update({"a": replace(ollama("a"), limits=limits)})
    assert old.closings == 1
