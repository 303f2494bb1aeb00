"""Medians by size, both on scales where ten times as much is one step: what grows with the size goes along the dashed line."""

from collections.abc import Mapping
from math import log10
from pathlib import Path

WIDTH, HEIGHT, MARGIN = 480, 300, 56
_STYLE = "font: 12px sans-serif; fill: #444"


def in_text(medians: Mapping[int, float]) -> str:
    """A bar for each size, as long as the median."""
    longest = max(medians.values())
    rows = [
        f"{size:>11,} chunks {'█' * round(40 * taken / longest):<40} {taken:6.1f} ms"
        for size, taken in medians.items()
    ]
    return "\n".join(rows)


def write_svg(medians: Mapping[int, float], file: Path) -> None:
    file.write_text(_svg(medians), encoding="utf-8")


def _svg(medians: Mapping[int, float]) -> str:
    sizes, times = list(medians), list(medians.values())
    steps = log10(sizes[-1] / sizes[0]) or 1.0
    floor = 10 ** int(log10(min(times)))

    def place(size: float, taken: float) -> tuple[float, float]:
        across = log10(size / sizes[0]) / steps
        up = log10(taken / floor) / (steps + 1)
        return MARGIN + across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)

    def line(points: list[tuple[float, float]], style: str) -> str:
        joined = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        return f'<polyline points="{joined}" fill="none" {style}/>'

    parts = [
        line([place(sizes[0], times[0]), place(sizes[-1], times[0] * sizes[-1] / sizes[0])], _DASHED),
        line([place(*one) for one in medians.items()], 'stroke="#1a66cc" stroke-width="2"'),
        line([(MARGIN, MARGIN / 2), place(sizes[0], floor), place(sizes[-1], floor)], 'stroke="#444"'),
    ]
    for size, taken in medians.items():
        x, y = place(size, taken)
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="#1a66cc"/>')
        parts.append(_label(x, y + 20, f"{taken:.1f} ms"))
        parts.append(_label(x, place(size, floor)[1] + 18, f"{size:,}"))
    parts.append(_label(WIDTH / 2, HEIGHT - 12, "chunks in the project"))
    parts.append(_label(WIDTH / 2, 20, "hybrid search, median; dashed: as the size grows"))
    inside = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
        f'  <rect width="100%" height="100%" fill="white"/>\n  {inside}\n</svg>\n'
    )


_DASHED = 'stroke="#999" stroke-dasharray="5 4"'


def _label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" style="{_STYLE}">{text}</text>'
