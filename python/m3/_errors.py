"""What can go wrong, as exceptions that say what, where and what to do."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import _Problem


_OF_THE_COMMAND = re.compile(r"\n\n(Usage: .*|For more information, .*|  tip: .*)")
_OPTION = re.compile(
    r"""(?:(?P<quote>['`])|^  )--(?P<name>[a-z][a-z-]+)(?:[ =](?P<value>[^'`\n]*))?(?(quote)['`]|$)""", re.MULTILINE
)


def visible(text: str) -> str:
    """A text for people: what would steer a terminal, or reorder what is read, as an escape; line breaks are kept."""
    if text.isprintable():
        return text
    return "".join(it if it.isprintable() or it in "\n\t" or _is_space(it) else _escaped(it) for it in text)


def _is_space(character: str) -> bool:
    return unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()


def in_python(text: str) -> str:
    """What the command says, with its options called as they are here."""

    def as_keyword(found: re.Match[str]) -> str:
        name, value = found["name"].replace("-", "_"), found["value"]
        name += "_" if keyword.iskeyword(name) else ""
        return f"`{name}`" if not value or value.startswith("<") else f'`{name}="{value}"`'

    return _OPTION.sub(as_keyword, _OF_THE_COMMAND.sub("", text))


def named(text: str, memory: str | None) -> str:
    """A text in which what was handed over is called by its name; `memory` is how the paths of its files start."""
    return text if memory is None else re.sub(re.escape(memory) + r"([\w-]+)(?:\.jsonl)?", r"\1", text)


@dataclass(frozen=True)
class Problem:
    """A problem in predictions or references, and its place."""

    file: str
    """The file as it was named, or `predictions` or `references` for what was handed over."""
    row: int | None
    """The row, from 0, of what was handed over as a list or a frame."""
    line: int | None
    """The line, from 1, of a file of JSON Lines, or of a syntax error."""
    id: str | None
    """The trajectory's id, where it is known."""
    pointer: str
    """JSON pointer (RFC 6901) from the top of the file, the line or the row."""
    message: str
    """What is wrong and, if possible, what to do."""

    def __str__(self) -> str:
        place = self.file
        if self.row is not None:
            place += f"[{self.row}]"
        elif self.line is not None:
            place += f":{self.line}"
        place += f" {self.pointer}" if self.pointer else ""
        place += f" (id `{self.id}`)" if self.id is not None else ""
        return visible(f"{place}: {self.message}")

    @classmethod
    def _of(cls, row: _Problem, memory: str | None = None) -> Problem:
        file, line, id, pointer, message = row
        message = in_python(message)
        if memory is not None and file.startswith(memory):
            return cls(named(file, memory), None if line is None else line - 1, None, id, pointer, message)
        return cls(file, None, line, id, pointer, message)


class InputError(ValueError):
    """The input, or an option, is wrong.

    `problems` lists every problem that has a place in predictions or references. What would steer a terminal is escaped
    in the message, and in a problem as text; the members of a problem are as they were found.
    """

    def __init__(self, message: str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(visible(message))
        self.problems = list(problems)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.problems))


class UnavailableError(RuntimeError):
    """Something that m3 needs is missing on this machine, such as the encoder or space on the disk."""


class InputWarning(UserWarning):
    """The input is odd; the message says how it is read."""
