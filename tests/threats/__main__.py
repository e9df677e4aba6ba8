"""Which threats and faults the tests guard against: `python -m tests.threats`."""

from __future__ import annotations

import sys

from tests.threats.catalogue import THREATS

if __name__ == "__main__":
    sys.exit(THREATS.main())
