"""The command ``m3``."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command line of this process; returns its exit code."""
    from . import _engine

    # The command hears signals itself: Python's handler would note Ctrl-C, and act on it only afterwards.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code: int = _engine.native().main(["m3", *sys.argv[1:]])
    return code
