"""What results share: tables as frames and HTML, pages in notebooks, files that are whole."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ._engine import Path

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def save(text: str, path: Path) -> None:
    """Writes a file that appears when it is whole; what is there and no file, such as a pipe, is written to."""
    path = os.path.realpath(os.fsdecode(path))
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    part = f"{path}.{os.getpid()}-{threading.get_ident()}.part"
    try:
        with open(part, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise


def framed(html: str) -> str:
    """A page in a notebook: in a frame without any rights but to run its script, for what it shows is hostile."""
    style = "width: 100%; height: 720px; border: 1px solid #8888"
    return f'<iframe sandbox="allow-scripts" srcdoc="{escape(html)}" style="{style}"></iframe>'


class Tables:
    """A result that has a table."""

    def rows(self) -> list[dict[str, Any]]:
        """The table as dicts."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a frame of pandas."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_polars(self) -> polars.DataFrame:
        """The table as a frame of polars."""
        import polars

        return polars.DataFrame(self.rows(), infer_schema_length=None)

    def to_arrow(self) -> pyarrow.Table:
        """The table as one of Arrow, for Parquet and `datasets`."""
        import pyarrow

        return pyarrow.Table.from_pylist(_same_keys(self.rows()))


def _same_keys(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    keys = dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key) for key in keys} for row in rows]


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """A table; every cell is hostile."""
    titles = "".join(f"<th>{escape(title.replace('_', ' '))}</th>" for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
