"""``python -m m3`` is the command ``m3``."""

import sys

from ._command import main

sys.exit(main())
