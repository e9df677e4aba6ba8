"""Grants: answers of the user that stand, each bound to everything that it was given for."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Grant:
    """What a standing answer covers. Whatever of it changes, the user is asked again.

    `workspace` tells this folder from every other one, also from another one at the same path; `rules` is the digest
    of the permission rules under which the answer was given.
    """

    tool: str
    scope: str
    workspace: str
    rules: str

    @property
    def digest(self) -> str:
        return sha256(json.dumps(astuple(self)).encode()).hexdigest()
