"""`python -m ollm_lsp` is the same as `ollm-lsp`."""

import sys

from ollm_lsp.cli import main

sys.exit(main())
