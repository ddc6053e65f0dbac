"""Figures as SVG: one measure of every row against another, or against the number `x` of the row, with error bars over seeds; hollow
circles are the paper's own numbers."""

import html
import math

from .claims import number_text
from .results import MEASURES, mean_sd, measure, table_rows

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 260, 36, 50
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#444444", "#7f5fa8", "#8c564b", "#2f4f4f")


class Axis:
    def __init__(self, values, low_pixel, high_pixel, log):
        self.log = log
        low, high = (self.position(value) for value in (min(values), max(values)))
        margin = 0.06 * (high - low) or 0.1 * abs(high) or 0.1
        self.low, self.high = low - margin, high + margin
        self.low_pixel, self.high_pixel = low_pixel, high_pixel

    def position(self, value):
        return math.log10(value) if self.log else value

    def pixel(self, value):
        share = (self.position(value) - self.low) / (self.high - self.low)
        return self.low_pixel + share * (self.high_pixel - self.low_pixel)

    def ticks(self):
        if self.log:
            decades = range(math.floor(self.low), math.ceil(self.high) + 1)
            marks = [factor * 10.0**decade for decade in decades for factor in (1, 2, 5)]
        else:
            step = 10.0 ** math.floor(math.log10(self.high - self.low))
            step *= next(factor for factor in (0.1, 0.2, 0.5, 1.0) if (self.high - self.low) / (factor * step) <= 7 or factor == 1.0)
            marks = [step * i for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        return [mark for mark in marks if self.low <= self.position(mark) <= self.high]


def points_of(description, results, size, figure):
    """(name, x, y, sd of y) of every row that has both."""
    out = []
    for row, worked, _, _ in table_rows(description, results, size, figure["data"]):
        if "rows" in figure and row["name"] not in figure["rows"]:
            continue
        ys = [value for record in worked if (value := measure(record, figure["y"])) is not None]
        if figure["x"] == "row":
            xs = [row["x"]] if "x" in row else []
        else:
            xs = [value for record in worked if (value := measure(record, figure["x"])) is not None]
        if xs and ys:
            out.append((row["name"], mean_sd(xs)[0], *mean_sd(ys)))
    return out


def paper_points(description, figure):
    """(name, x, y) of the paper's rows that have both."""
    table = next((table for table in description.tables.get("paper_tables", []) if table["title"] == figure.get("paper_table")), None)
    if table is None:
        return []
    at_x, at_y = (1 + table["columns"].index(column) for column in ("minutes", figure["y"]))
    rows = [row for row in table["rows"] if row[at_x] and row[at_y]]
    return [(f"{row[0]}, the paper's", *(float(row[at].split(" ±")[0].replace("−", "-")) for at in (at_x, at_y))) for row in rows]


def text_at(x, y, text, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(text)}</text>'


def frame(figure, x_axis, y_axis, right, height=HEIGHT):
    x_title = figure.get("x_title") or MEASURES[figure["x"]][0]
    y_title = figure.get("y_title") or MEASURES[figure["y"]][0]
    bottom = height - BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        text_at(LEFT, 20, figure["title"], "start", ' font-weight="bold"'),
        f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" stroke="#888"/>',
        text_at((LEFT + right) / 2, height - 12, x_title),
        text_at(16, (TOP + bottom) / 2, y_title, extra=f' transform="rotate(-90 16 {(TOP + bottom) / 2:.1f})"'),
    ]
    for tick in x_axis.ticks():
        x = x_axis.pixel(tick)
        lines += [f'<path d="M{x:.1f} {bottom}v4" stroke="#888"/>', text_at(x, bottom + 17, tick_text(tick))]
    for tick in y_axis.ticks():
        y = y_axis.pixel(tick)
        lines += [f'<path d="M{LEFT} {y:.1f}h-4M{LEFT} {y:.1f}H{right}" stroke="#888" stroke-opacity=".25"/>']
        lines += [text_at(LEFT - 7, y + 4, tick_text(tick), "end")]
    return lines


def tick_text(tick):
    return f"{round(tick, 10):g}" if abs(tick) < 1e5 else number_text(tick)


def scatter(figure, points):
    """Plain points, such as observations along a track."""
    x_axis = Axis([x for x, _ in points], LEFT, WIDTH - 20, False)
    y_axis = Axis([y for _, y in points], HEIGHT - BOTTOM, TOP, False)
    dots = "".join(f"M{x_axis.pixel(x):.1f} {y_axis.pixel(y):.1f}h0" for x, y in points)
    lines = frame(figure, x_axis, y_axis, WIDTH - 20)
    return "\n".join([*lines, f'<path d="{dots}" stroke="{COLOURS[0]}" stroke-width="2.5" stroke-linecap="round"/>', "</svg>"]) + "\n"


def svg(description, results, size, figure):
    """The figure's text; empty: there is nothing to draw."""
    points = points_of(description, results, size, figure)
    if len(points) < 2:
        return ""
    own = len(points)
    points += [(*point, 0.0) for point in paper_points(description, figure)]
    height = max(HEIGHT, TOP + 18 * len(points) + BOTTOM)
    ys = [value for _, _, y, sd in points for value in (y - sd, y + sd)]
    if figure.get("y_log"):
        ys = [y for _, _, y, _ in points]
    x_axis = Axis([x for _, x, _, _ in points], LEFT, WIDTH - RIGHT, figure.get("x_log", False))
    y_axis = Axis(ys, height - BOTTOM, TOP, figure.get("y_log", False))
    lines = frame(figure, x_axis, y_axis, WIDTH - RIGHT, height)
    if figure.get("line"):
        path = " ".join(f"{x_axis.pixel(x):.1f},{y_axis.pixel(y):.1f}" for _, x, y, _ in sorted(points, key=lambda point: point[1]))
        lines.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[0]}" stroke-opacity=".5"/>')
    for i, (name, x, y, sd) in enumerate(points):
        colour = COLOURS[0 if figure.get("line") else (i if i < own else i - own) % len(COLOURS)]
        px, py = x_axis.pixel(x), y_axis.pixel(y)
        if sd > 0.0 and not figure.get("y_log"):
            lines.append(f'<path d="M{px:.1f} {y_axis.pixel(y - sd):.1f}V{y_axis.pixel(y + sd):.1f}" stroke="{colour}"/>')
        fill = f'fill="{colour}"' if i < own else f'fill="white" stroke="{colour}" stroke-width="1.5"'
        lines.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5" {fill}/>')
        if not figure.get("line"):
            key = TOP + 10 + 18 * i
            lines.append(f'<circle cx="{WIDTH - RIGHT + 14}" cy="{key}" r="4.5" {fill}/>')
            lines.append(text_at(WIDTH - RIGHT + 24, key + 4, name, "start", ' font-size="11"'))
    return "\n".join([*lines, "</svg>"]) + "\n"
