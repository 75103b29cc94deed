"""The page of a plan: what labels to expect of one ensemble, as one file that needs nothing else.

The command writes it where neither templates nor pandas are installed, so it is put together here.
It rests on the stated profile alone, and no script runs in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from private_ensembles.configuration.naming import at_most
from private_ensembles.figures import names

_WIDTH, _HEIGHT = 400, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 384, 14, 240
_DASHES = ("", "7 3", "2 3", "9 3 2 3")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# Colours meet WCAG AA on both grounds, as those of report/page.css.
_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #444; --line: #d4d4d4; --paper: #fff;
  --k0: #0072b2; --k1: #b35900; --k2: #a34a86; --k3: #007a59; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #c4c4c4; --line: #4a4f57;
  --paper: #15181c; --k0: #6bb8ee; --k1: #f0a24a; --k2: #e59bcb; --k3: #4fd0a5; } }
@media print { :root { color-scheme: light; --ink: #000; --soft: #333; --line: #bbb; --paper: #fff;
  --k0: #0072b2; --k1: #b35900; --k2: #a34a86; --k3: #007a59; }
  figure, tr, .lead { break-inside: avoid; } h2 { break-after: avoid; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink);
  background: var(--paper); max-width: 68rem; margin: 0 auto; padding: 1rem;
  overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin: 1.6rem 0 .3rem; }
p, .lead { max-width: 50rem; } .soft { color: var(--soft); font-size: .92rem; }
.lead li { margin: .3rem 0; } .charts { display: flex; flex-wrap: wrap; gap: .5rem 2rem; }
figure { flex: 1 1 20rem; min-width: 0; max-width: 34rem; margin: .5rem 0; }
figcaption { font-weight: 600; } svg { width: 100%; height: auto; display: block; }
svg text { font-size: 12px; fill: var(--soft); } .grid { stroke: var(--line); }
.curve { fill: none; stroke-width: 2.2; } .level { stroke: var(--soft); stroke-dasharray: 1 3; }
.own { stroke: var(--soft); }
.key { list-style: none; padding: 0; margin: .3rem 0; } .key svg { display: inline-block;
  width: 34px; height: 12px; vertical-align: middle; }
.k0 { stroke: var(--k0); } .k1 { stroke: var(--k1); } .k2 { stroke: var(--k2); }
.k3 { stroke: var(--k3); } circle.k0 { fill: var(--k0); } circle.k1 { fill: var(--k1); }
circle.k2 { fill: var(--k2); } circle.k3 { fill: var(--k3); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .92rem; }
th, td { padding: .15rem .7rem .15rem 0; text-align: right; border-bottom: 1px solid var(--line);
  font-variant-numeric: tabular-nums; } th { text-align: right; vertical-align: bottom; }
"""


def build(
    facts: Mapping[str, object],
    lines: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    levels: Mapping[str, float],
    words: Sequence[str],
    notes: Sequence[str],
) -> str:
    """Return the page as HTML.

    facts: teachers, classes, queries, labels, epsilon, delta, privacy_model, adjacency. lines: by
    mechanism, the best first, its points over ``labels`` and over ``epsilon``: x and the share of
    right labels. levels: shares that are drawn as level lines, by what they are. words: the lines
    that matter most. notes: what the numbers rest on.
    """
    called = names.short(lines)
    title = f"A plan for {facts['teachers']:,} teachers, {facts['classes']:,} classes"
    own = {"labels": float(facts["labels"]), "epsilon": float(facts["epsilon"])}
    axes = {
        "labels": f"labels asked for, all together within ε = {_digits(facts['epsilon'])}",
        "epsilon": f"ε of {facts['labels']:,} labels together",
    }
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_asked(facts))}</p>",
        '<ul class="lead">',
        *(f"<li>{escape(line)}</li>" for line in words),
        "</ul>",
        "<h2>Share of right labels</h2>",
        _key(called, levels),
        '<div class="charts">',
        *(
            _chart(
                {at: one[over] for at, one in enumerate(lines.values())}, label, own[over], levels
            )
            for over, label in axes.items()
        ),
        "</div>",
        *(
            f"<h2>Right labels, by {by}</h2>{_table(lines, called, over, facts)}"
            for over, by in {"labels": "labels asked for", "epsilon": "ε"}.items()
        ),
        "<h2>What this rests on</h2>",
        *(f'<p class="soft">{escape(note)}</p>' for note in notes),
    ]
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
    return head + "\n".join(parts) + "\n</main>\n</body>\n</html>\n"


def _asked(facts: Mapping) -> str:
    model = {
        "disjoint_shards": "no record is in the data of two of them",
        "shared_data": "all of them may see all records",
    }[facts["privacy_model"]]
    change = {"replace_one": "replacing one record", "add_remove": "adding or removing one record"}
    return (
        f"{facts['labels']:,} labels wanted of {facts['queries']:,} queries; a budget of "
        f"ε = {_digits(facts['epsilon'])}, δ = {_digits(facts['delta'])} for all of them together, "
        f"for {change[facts['adjacency']]}. Teachers: {model}."
    )


def _digits(value: object) -> str:
    return names.powers(at_most(float(value)))


def _key(called: Sequence[str], levels: Mapping[str, float]) -> str:
    items = [
        f'<li><svg viewBox="0 0 34 12" aria-hidden="true"><path class="curve k{at}" '
        f'stroke-dasharray="{_DASHES[at]}" d="M0 6h34"/></svg> {escape(name)}</li>'
        for at, name in enumerate(called)
    ]
    items += [
        f'<li><svg viewBox="0 0 34 12" aria-hidden="true"><path class="level" d="M0 6h34"/></svg> '
        f"{escape(name)}: {share:.0%}</li>".replace("%", " %")
        for name, share in levels.items()
    ]
    return f'<ul class="key">{"".join(items)}</ul>'


def _chart(
    curves: Mapping[int, Sequence[tuple[float, float]]],
    label: str,
    own: float,
    levels: Mapping[str, float],
) -> str:
    """Return a chart of shares over a logarithmic axis; own: where the plan itself stands."""
    xs = [x for points in curves.values() for x, _ in points]
    low, high = min(xs), max(max(xs), min(xs) * 1.01)

    def place(x: float, share: float) -> tuple[float, float]:
        part = math.log(x / low) / math.log(high / low)
        return _LEFT + part * (_RIGHT - _LEFT), _BOTTOM - share * (_BOTTOM - _TOP)

    drawn = []
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        y = place(low, share)[1]
        drawn.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>')
        drawn.append(
            f'<text x="{_LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>'.replace(
                "%<", " %<"
            )
        )
    for x in _ticks(low, high):
        at = place(x, 0)[0]
        drawn.append(f'<path class="grid" d="M{at:.1f} {_TOP}V{_BOTTOM + 4}"/>')
        drawn.append(f'<text x="{at:.1f}" y="{_BOTTOM + 18}" text-anchor="middle">{x:g}</text>')
    for name, share in levels.items():
        y = place(low, share)[1]
        drawn.append(
            f'<path class="level" d="M{_LEFT} {y:.1f}H{_RIGHT}"><title>{escape(name)}</title>'
            "</path>"
        )
    at = place(own, 0)[0]
    drawn.append(f'<path class="own" d="M{at:.1f} {_TOP}V{_BOTTOM}"/>')
    for kind, points in curves.items():
        spots = [place(*point) for point in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
        dashes = f' stroke-dasharray="{_DASHES[kind]}"' if _DASHES[kind] else ""
        drawn.append(f'<path class="curve k{kind}"{dashes} d="M{path}"/>')
        drawn += [
            f'<circle class="k{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"><title>{at:g}: {share:.1%}'
            "</title></circle>".replace("%", " %")
            for (x, y), (at, share) in zip(spots, points, strict=True)
        ]
    middle = (_LEFT + _RIGHT) / 2
    drawn.append(
        f'<text x="{middle:g}" y="{_BOTTOM + 40}" text-anchor="middle">{escape(label)}</text>'
    )
    said = escape(f"Share of right labels over {label}; the tables below have the numbers.")
    return (
        f'<figure><svg role="img" aria-label="{said}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f"{''.join(drawn)}</svg></figure>"
    )


def _right(labels: float) -> str:
    return f"{labels:.2f}" if labels < 10 else f"{labels:.1f}"


def _ticks(low: float, high: float) -> list[float]:
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [float(f"{step}e{ten}") for ten in tens for step in (1, 3)]
    return [value for value in values if low <= value <= high]


def _table(lines: Mapping, called: Sequence[str], over: str, facts: Mapping) -> str:
    known = [dict(one[over]) for one in lines.values()]
    places = sorted({x for one in known for x in one})
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in called)
    rows = []
    for x in places:
        asked = x if over == "labels" else float(facts["labels"])
        cells = "".join(
            f"<td>{_right(one[x] * asked)}</td>" if x in one else "<td></td>" for one in known
        )
        rows.append(f'<tr><th scope="row">{x:,g}</th>{cells}</tr>')
    first = {"labels": "labels", "epsilon": "ε"}[over]
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="Right labels by {first}"><table>'
        f'<thead><tr><th scope="col">{first}</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
