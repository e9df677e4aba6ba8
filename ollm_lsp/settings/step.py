"""Step: what every section needs to be narrowed by one more layer, with a problem for each try to widen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel

from ollm_lsp.settings.problems import Problem

if TYPE_CHECKING:
    from ollm_lsp.settings.section import Section


@dataclass(frozen=True, slots=True)
class Step:
    """One layer on top of others. Sections are named as people write them, options as the program does."""

    source: str
    user_source: str
    problems: list[Problem]

    def refuse(self, key: str, message: str) -> None:
        self.problems.append(Problem(self.source, key, message, f"Set it in {self.user_source}."))

    def off(self, section: str, settings: Any, options: Section, *names: str) -> dict[str, Any]:
        """Switches that can only be put off."""
        for name in given(options, *names):
            if getattr(options, name) and not getattr(settings, name):
                self.refuse(f"{section}.{to_camel(name)}", "It can only be switched off here.")
        return {name: False for name in given(options, *names) if not getattr(options, name)}

    def on(self, section: str, settings: Any, options: Section, *names: str) -> dict[str, Any]:
        """Switches that can only be put on."""
        for name in given(options, *names):
            if getattr(settings, name) and not getattr(options, name):
                self.refuse(f"{section}.{to_camel(name)}", "It can only be switched on here.")
        return {name: True for name in given(options, *names) if getattr(options, name)}

    def lowered(self, section: str, settings: Any, options: Section, *names: str) -> dict[str, Any]:
        """Numbers that can only become smaller; where there is none yet, any is smaller."""
        return {
            name: self.smaller(f"{section}.{to_camel(name)}", getattr(settings, name), getattr(options, name))
            for name in given(options, *names)
        }

    def smaller(self, key: str, limit: Any, wanted: Any) -> Any:
        """The smaller of two numbers, either of which may be missing."""
        if wanted is None or (limit is not None and wanted > limit):
            if wanted is not None:
                self.refuse(key, "It can only be lowered here.")
            return limit
        return wanted


def given(options: Section, *names: str) -> list[str]:
    """Those of the options that somebody wrote."""
    return [name for name in names if name in options.model_fields_set]
