"""One look for all figures: fonts, sizes, and one colour per mechanism and gamma family.

Colours are Okabe and Ito's, which every common kind of colour blindness tells apart, except
yellow, which white hides; marks and dashes tell them apart in grey. Files are byte-stable: no
dates, a fixed salt for SVG identifiers.
"""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib import colors
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator
from matplotlib.transforms import offset_copy

from private_ensembles.labels import display_names

# fontTools warns in the terminal of a run that the dates of matplotlib's fonts are old.
logging.getLogger("fontTools").setLevel(logging.ERROR)

COLORS = {
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "black": "#000000",
}
ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE, BLACK = COLORS.values()
WARNING = "#8a1f11"
DOTS = (0, (1, 2))

# These are the looks of what is no mechanism: mechanisms have theirs in the registry.
LOOKS: dict[str, dict[str, object]] = {
    "darrm_const": {"color": GREEN, "marker": "^", "linestyle": "-."},
    "mnist": {"color": BLUE, "marker": "o", "linestyle": "-"},
    "fashion-mnist": {"color": VERMILION, "marker": "s", "linestyle": "--"},
    "moderate": {"color": BLUE, "marker": "o", "linestyle": "-"},
    "aggressive": {"color": VERMILION, "marker": "v", "linestyle": "--"},
    "gamma_dsub": {"color": SKY, "marker": "D", "linestyle": (0, (3, 1.5))},
    "gamma_opt_P": {"color": ORANGE, "marker": "v", "linestyle": (0, (6, 1))},
    "worst_data_set_bound": {"color": BLACK, "marker": "", "linestyle": DOTS},
}
# These names share another's look: a gamma is drawn as the mechanism that uses it.
_SAME = {
    "gamma_opt": "darrm_opt",
    "gamma_opt_U": "darrm_opt",  # Figure 9: the paper's usual prior
    "gamma_sub": "darrm_sub",
    "gamma_const": "darrm_const",
}
# These are the labels of what has none in the registry (mechanisms) or in `display_names` (data
# sets).
LABELS = {
    "gamma_opt": r"$\gamma_{\mathrm{opt}}$ (optimised)",
    "gamma_sub": r"$\gamma_{\mathrm{sub}}$ (subsampling)",
    "gamma_const": r"$\gamma_{\mathrm{const}}$ (randomised response)",
    "gamma_dsub": r"$\gamma_{\mathrm{dsub}}$ (double subsampling)",
    "gamma_opt_U": r"$\gamma_{\mathrm{opt}\mathrm{-}U}$ (optimised for $\mathcal{T}_U$)",
    "gamma_opt_P": r"$\gamma_{\mathrm{opt}\mathrm{-}P}$ (optimised for $\mathcal{T}_P$)",
    "worst_data_set_bound": "Lemma 3.2: bound on the worst data set, not on each $p$",
    # PATE's Figure 5 has two thresholds of one mechanism.
    "moderate": f"{display_names.mechanism_label('confident_gnmax')}, moderate",
    "aggressive": f"{display_names.mechanism_label('confident_gnmax')}, aggressive",
    # Figures say more of these data sets than tables do.
    "glyph": "Glyph-like votes",
    "digits": "scikit-learn's digits",
}
# Sizes, rounds and other things in order are drawn in one hue that darkens.
SEQUENCE = (
    {"color": "#4f93cc", "marker": "^", "linestyle": ":"},
    {"color": "#2a6fb0", "marker": "s", "linestyle": "-."},
    {"color": "#154b85", "marker": "o", "linestyle": "--"},
    {"color": "#0a2547", "marker": "D", "linestyle": "-"},
)
_FALLBACK = {"color": GREEN, "marker": "^", "linestyle": "-."}

RC = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same everywhere
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "figure.dpi": 150,
    "svg.hashsalt": "private-ensembles",
    "pdf.fonttype": 42,  # text stays text
}


def line_style(name: str) -> dict[str, object]:
    """Return colour, mark and dash of a mechanism, gamma family or data set, for ``Axes.plot``."""
    name = _SAME.get(name, name)
    if entry := display_names.find_entry(name):
        color, marker, dash = entry.plot_style
        return {"color": COLORS[color], "marker": marker, "linestyle": dash}
    return dict(LOOKS.get(name, _FALLBACK))


def label(name: str) -> str:
    """Return the name as figures print it: a mechanism's label; an unknown one as it is."""
    return LABELS.get(name) or display_names.mechanism_label(display_names.dataset_label(name))


def short_label(name: str) -> str:
    """Return the label without what is in brackets."""
    return label(name).split(" (")[0]


def darken_for_text(color: object) -> tuple[float, float, float]:
    """Return a colour darkened until words in it can be read on white (contrast of WCAG AA: 4.5).

    >>> darken_for_text(BLACK), darken_for_text(BLUE) == colors.to_rgb(BLUE)
    ((0.0, 0.0, 0.0), True)
    """
    dark = colors.to_rgb(color)
    while _contrast(dark) < 4.5:
        dark = tuple(0.97 * channel for channel in dark)
    return dark


def _contrast(rgb: tuple[float, float, float]) -> float:
    """Return the contrast with white, by WCAG 2.1's formula."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    return 1.05 / (0.05 + 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def format_number(value: float) -> str:
    """Write a small or plain number as people do.

    >>> format_number(1e-05), format_number(0.0003), format_number(2.5e-07), format_number(1)
    ('10⁻⁵', '0.0003', '2.5·10⁻⁷', '1')
    """
    return display_names.format_powers(f"{value:g}")


def draw_line(axis: Axes, x, y, name: str, **options) -> None:
    """Draw one line of a mechanism, gamma family or data set in its look, named in the legend."""
    axis.plot(x, y, label=label(name), **(line_style(name) | options))


def shade_band(axis: Axes, x, lower, upper, color: object, alpha: float) -> None:
    """Shade what is between two lines."""
    axis.fill_between(x, lower, upper, color=color, alpha=alpha, linewidth=0)


def add_legend(
    drawn: Figure, axis: Axes, position: str, ncols: int, *, reverse: bool = False
) -> None:
    """Put one legend of one panel's lines above or below all panels.

    Args:
        drawn: the figure.
        axis: the panel.
        position: ``"upper"`` or ``"lower"``.
        ncols: columns of the legend.
        reverse: whether the last line comes first.
    """
    step = -1 if reverse else 1
    handles, names = (entries[::step] for entries in axis.get_legend_handles_labels())
    drawn.legend(handles, names, loc=f"outside {position} center", ncols=ncols)


def label_line_ends(axis: Axes, ends: list[tuple[float, float, str, object]], gap: float) -> None:
    """Write each line's name to the right of its end, in its colour.

    Args:
        axis: the panel.
        ends: (x, y, name, colour) of each line.
        gap: least distance of two names, in units of a linear vertical axis; names are pushed down.
    """
    right = max(x for x, *_ in ends)
    transform = offset_copy(axis.transData, axis.figure, x=8, y=0, units="points")
    height = float("inf")
    for _, y, name, color in sorted(ends, key=lambda end: -end[1]):
        height = min(y, height - gap)
        axis.text(
            right, height, name, transform=transform, va="center", color=darken_for_text(color)
        )


def set_plain_ticks(axis: Axis, positions, *, hide_minor: bool = False) -> None:
    """Put numbers at these positions of a logarithmic axis only.

    Args:
        axis: the axis.
        positions: of the numbers.
        hide_minor: whether ticks stand there only, too.
    """
    axis.set_major_locator(FixedLocator(positions))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())
    if hide_minor:
        axis.set_minor_locator(NullLocator())


def add_warning(drawn: Figure, text: str) -> None:
    """Say below the panels what must be known of the data, such as that it is not for release."""
    drawn.supxlabel(text, fontsize=8, color=WARNING)


@contextlib.contextmanager
def open_figure(
    *shape: int, size: tuple[float, float], **options
) -> Iterator[tuple[Figure, object]]:
    """Open a figure in the shared style, and close it in the end.

    Args:
        shape: rows and columns, as in ``plt.subplots``.
        size: width and height in inches.
        options: as in ``plt.subplots``.
    """
    with matplotlib.rc_context(RC):
        drawn, axes = plt.subplots(*shape, figsize=size, layout="constrained", **options)
        try:
            yield drawn, axes
        finally:
            plt.close(drawn)


def save_figure(drawn: Figure, *paths: Path | str) -> None:
    """Write the figure once per path; equal figures are equal bytes.

    Args:
        drawn: the figure.
        paths: of the files, with the suffix .png, .pdf or .svg.

    Raises:
        ValueError: a path has another suffix.
    """
    # The layout is made once: savefig would make it before every file, by a drawing of its own.
    drawn.get_layout_engine().execute(drawn)
    drawn.set_layout_engine(None)
    for path in map(Path, paths):
        metadata = {
            ".png": {"Software": None},
            ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
            ".svg": {"Date": None},
        }.get(path.suffix)
        if metadata is None:
            raise ValueError(f"figure {path}: suffix must be .png, .pdf or .svg")
        drawn.savefig(path, metadata=metadata)
