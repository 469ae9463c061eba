"""What notebooks show."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._model import Model
    from ._motion import Motion


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of texts."""
    head = "".join(f"<th>{html.escape(str(x))}</th>" for x in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(x))}</td>" for x in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Picture:
    """A picture as SVG."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


class Page:
    """A page by itself, which a notebook shows in a frame."""

    def __init__(self, text: str, height: int) -> None:
        self.html = text
        self.height = height

    def _repr_html_(self) -> str:
        inside = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{inside}" style="width:100%;height:{self.height}px;border:0"></iframe>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        return f"<page of {len(self.html) / 1e3:.0f} kB>"


def model_view(model: Model) -> str:
    """A model: its title and its text."""
    return f"<p><b>{html.escape(model.title)}</b></p><pre>{html.escape(model.text)}</pre>"


def motion_view(motion: Motion) -> str:
    """A motion: a picture, its last state, and its audit."""
    svg = motion._source().figure([], "t", (480.0, 300.0))
    audit = motion.audit
    rows = []
    if len(motion):
        names = motion.q.names[:8]
        rows = [[name, f"{motion.q[name][-1]:.10g}", f"{motion.v[name][-1]:.10g}"] for name in names]
    colour = {"pass": "#080", "warn": "#a60", "fail": "#c00"}.get(audit.verdict, "#666")
    checks = table(["check", "value", "limit", "verdict"],
                   [[c["name"], _brief(c["value"]), _brief(c["limit"]), c["verdict"]] for c in audit.checks])  # fmt: skip
    stop = f"{motion.stop.reason} at t = {motion.stop.t:.10g}"
    return (
        f"<div><p><b>{html.escape(motion.title)}</b>, {html.escape(motion.principle or 'equations')}, "
        f'{html.escape(stop)}, audit <b style="color:{colour}">{audit.verdict}</b></p>'
        f'<div style="max-width:480px">{svg}</div>{table(["", "position", "velocity"], rows)}'
        f"<details><summary>audit</summary>{checks}</details></div>"
    )


def _brief(x: Any) -> str:
    return "–" if x is None else f"{x:.3g}"
