"""Which numbered properties of the requirements the tests guard: `python -m tests.properties`."""

from __future__ import annotations

import sys

from tests.marks import Register

FAMILIES = {"core": 35, "eng": 7, "krk": 48, "lsp": 6}

PROPERTIES = Register(
    mark="prop",
    singular="property",
    plural="properties",
    titles={f"{family}-{number}": "" for family, last in FAMILIES.items() for number in range(1, last + 1)},
)

if __name__ == "__main__":
    sys.exit(PROPERTIES.main())
