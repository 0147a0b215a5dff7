"""The native half. Use :mod:`m3`."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from typing_extensions import Self

METRICS: tuple[str, ...]
VERSION: str

_Problem: TypeAlias = tuple[str, int | None, str | None, str, str]
_Message: TypeAlias = tuple[str, str, _Problem | None]

class Failed(Exception):
    args: tuple[bool, str, list[_Problem]]

class PairScorer:
    def __new__(cls, options: Sequence[str]) -> Self: ...
    def read_file(self, path: str) -> list[str]: ...
    def score(
        self, pairs: Sequence[tuple[bytes | None, bytes]]
    ) -> list[tuple[str | None, tuple[str, list[_Problem]] | None]]: ...
    def audit(self, pair: tuple[bytes | None, bytes]) -> tuple[str, str]: ...
    def fidelity(
        self,
        tool: str,
        predicted: bytes,
        reference: bytes,
        question: str | None = None,
        schema: bytes | None = None,
    ) -> str: ...

def main(arguments: Sequence[str]) -> int: ...
def set_installed(encoder_dir: str | None, runtime_library: str | None, program: Sequence[str]) -> None: ...
def call(
    arguments: Sequence[str], progress: Callable[[str, int, int], object] | None = None
) -> tuple[int, bytes, list[_Message]]: ...
def add_sums(sums: Sequence[str]) -> str: ...
def aggregate(sums: str, left_out: int, profile: str) -> str: ...
def plain_json(value: object) -> bytes | None: ...
