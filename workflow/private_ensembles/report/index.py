"""The page of results: one self-contained HTML file that opens without a network.

A later part of the project adds a `Section` with its items to `sections.SECTIONS` and a caption
to ``workflow/report``; nothing else here needs to change. All text from files is escaped.
"""

import base64
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.naming import link
from private_ensembles.published import ACCURACY_ITEMS, PRIVACY_ITEMS, STATUSES, stand_ins
from private_ensembles.report.sections import SECTIONS, Item

CAPTIONS = Path(__file__).resolve().parents[2] / "report"


_WORDS = {
    "match": "equal to the printed digits, or within the tolerance",
    "explained": "not equal; cause named and tested",
    "differs": "not equal; cause unknown",
    "not_comparable": "same parameters, our own votes",
    "not_run": "not computed in this run",
}
_DATA = {
    "embedded": "Run without downloads (<code>data: embedded</code>): accuracies come from "
    "scikit-learn's digits, a <strong>stand-in</strong> that is never compared with the paper. "
    "What needs no data runs at the paper's full scale.",
    "paper": "Run on the paper's data (<code>data: paper</code>).",
}
_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1a1a1a; background: #fff;
  max-width: 76rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.3rem; margin-top: 2.5rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .3rem; }
nav ul { columns: 22rem; padding-left: 1.2rem; }
.caption, .note { max-width: 46rem; color: #444; font-size: .92rem; }
.note { border-left: 4px solid #0072B2; padding: .3rem .8rem; background: #f2f7fb; }
.scroll { overflow-x: auto; width: fit-content; max-width: 100%; border: 1px solid #ddd;
  margin: .5rem 0; }
.scroll:focus-visible { outline: 2px solid #0072B2; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: left; vertical-align: top; white-space: nowrap; }
td.long { white-space: normal; min-width: 20rem; }
td.number, th.number { text-align: right; }
thead th { background: #f3f3f3; border-bottom: 2px solid #bbb; }
tbody tr + tr { border-top: 1px solid #eee; }
.status { font-weight: 600; } .match { color: #00664b; } .differs { color: #a33b00; }
.explained { color: #005a8f; } .not_run, .not_comparable { color: #555; }
.standin { background: #fff3d6; color: #5c4400; border-radius: 3px; padding: 0 .3rem; }
.secret { color: #8a1f11; font-weight: 600; }
figure { margin: .5rem 0; } img { display: block; width: 100%; min-width: 40rem; height: auto; }
a { color: #005a8f; } code { background: #f3f3f3; padding: 0 .2rem; }
summary { cursor: pointer; }
"""


def build(
    *,
    fidelity: Path | str,
    tables: Iterable[Path | str],
    figures: Iterable[Path | str],
    teachers: Iterable[Path | str],
    audit: Iterable[Path | str] = (),
    data: str,
    captions: Path | str = CAPTIONS,
) -> str:
    """Return the page as HTML.

    fidelity, tables, teachers: CSV files; figures: PNG files; audit: both; an item's stem names it,
    its parent folders its paper (none: the audit). Items that SECTIONS does not name are left out,
    sections without files as well. data: the configuration's switch. Raises OSError for a missing
    file or caption.
    """
    root = Path(fidelity).parent
    compared = pd.read_csv(fidelity, dtype=str, keep_default_na=False)
    files = {}
    for path in map(Path, [*tables, *figures, *teachers, *audit]):
        *folders, _ = path.relative_to(root).parts
        files[folders[0] if folders else "audit", path.stem] = path
    body, contents = [], []
    for section in SECTIONS:
        present = [item for item in section.items if (section.paper, item.name) in files]
        if not present:
            continue
        body.append(f'<h2 id="{escape(section.paper)}">{escape(section.title)}</h2>')
        captioned = {}
        for item in present:
            path = files[section.paper, item.name]
            anchor = f"{section.paper}-{item.name}"
            printed = compared[
                (compared["paper"] == section.paper) & (compared["item"] == item.name)
            ]
            show = _figure if path.suffix == ".png" else _table
            content, title = show(item, path, root, printed, section.paper)
            contents.append(f'<li><a href="#{escape(anchor)}">{escape(title)}</a></li>')
            body += [
                f'<section id="{escape(anchor)}">',
                f"<h3>{escape(title)}</h3>",
                _caption(item, anchor, title, captioned, Path(captions)),
                content,
                "</section>",
            ]
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>Private ensembles: results</title>",
            f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>",
            "<h1>Private ensembles: what label may be released, at what cost, how often right</h1>",
            f'<p class="note">{_DATA.get(data, escape(data))}</p>',
            '<p class="note">A privacy claim holds in a <em>privacy model</em> '
            "(<code>shared_data</code>: every teacher may see every record; "
            "<code>disjoint_shards</code>: a record reaches one teacher only) and for an "
            "<em>adjacency</em> (<code>add_remove</code>: one record more or less; "
            "<code>replace_one</code>: one record becomes another). The tables name both.</p>",
            '<h2 id="fidelity">Agreement with the printed numbers</h2>',
            caption_html(Path(captions) / "fidelity.rst"),
            _summary(compared),
            f'<nav aria-label="Contents"><h2>Contents</h2><ul>{"".join(contents)}</ul></nav>',
            *body,
            '<h2 id="all">All comparisons</h2>',
            f"<details><summary>{len(compared)} printed numbers "
            f"({_file_link(Path(fidelity), root)})</summary>",
            html_table(compared),
            "</details>\n</main>\n</body>\n</html>\n",
        ]
    )


def _caption(item: Item, anchor: str, title: str, seen: dict, folder: Path) -> str:
    """Return the item's caption, or a link to the item of this section that has the same one."""
    if item.caption in seen:
        first, name = seen[item.caption]
        return f'<p class="caption">As for <a href="#{escape(first)}">{escape(name)}</a>.</p>'
    seen[item.caption] = anchor, title.partition(":")[0]
    return caption_html(folder / f"{item.caption}.rst")


def caption_html(path: Path) -> str:
    """Return a caption as HTML: paragraphs, ``code`` and *emphasis* of reStructuredText."""
    paragraphs = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    parts = []
    for paragraph in paragraphs:
        text = escape(" ".join(paragraph.split()))
        text = re.sub(r"``(.+?)``", r"<code>\1</code>", text)
        text = re.sub(r"(?<![\w*])\*([^*]+)\*(?![\w*])", r"<em>\1</em>", text)
        parts.append(f'<p class="caption">{text}</p>')
    return "\n".join(parts)


def html_table(table: pd.DataFrame) -> str:
    """Return a frame as an HTML table inside a box that scrolls sideways on its own."""
    numeric = {
        name: pd.to_numeric(table[name].replace("", None), errors="coerce").notna().any()
        for name in table
    }
    head = "".join(
        f'<th scope="col"{_number_class(numeric[name])}>{escape(str(name))}</th>' for name in table
    )
    rows = []
    for row in table.to_dict("records"):
        cells = (_cell(name, value, numeric[name]) for name, value in row.items())
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    # tabindex: a box that scrolls must be reachable by keyboard.
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="table"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def format_number(value: float) -> str:
    """Write a number for reading: integers in full, others to five significant digits."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.5g}"


def _number_class(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def _cell(name: str, value: object, numeric: bool) -> str:
    if value is None or value == "" or (isinstance(value, float) and value != value):
        return "<td></td>"
    if name == "status":
        return f'<td class="status {escape(str(value))}">{escape(str(value))}</td>'
    if isinstance(value, str):
        # Strings are shown as they are (the printed digits), except numbers of our own.
        if name in ("reproduced", "reproduced_sd", "tolerance"):
            value = float(value)
        else:
            kind = ' class="long"' if len(value) > 40 else _number_class(numeric)
            return f"<td{kind}>{_marked(name, value)}</td>"
    return f"<td{_number_class(True)}>{escape(format_number(float(value)))}</td>"


def _marked(name: str, value: str) -> str:
    """Escape a text cell ; mark stand-ins, synthetic votes and what is not for release."""
    for mark in ("stand-in", "synthetic"):
        if name in ("dataset", "task") and value.endswith(f" ({mark})"):
            bare = escape(value.removesuffix(f" ({mark})"))
            return f'{bare} <span class="standin">{mark}</span>'
    if name == "release" and value == "not for release":
        return '<span class="secret">not for release</span>'
    return escape(value)


def _summary(compared: pd.DataFrame) -> str:
    """Count statuses per item."""
    counts = compared["status"].value_counts()
    words = "".join(
        f'<li><span class="status {status}">{counts.get(status, 0)} {status}</span>: '
        f"{escape(_WORDS[status])}</li>"
        for status in STATUSES
        if counts.get(status, 0)
    )
    table = compared.groupby(["paper", "item"], sort=False)["status"].value_counts().unstack()
    table = table.reindex(columns=[s for s in STATUSES if s in table]).fillna(0).astype(int)
    items = sorted(table.index, key=lambda key: (key[0], *_natural(key[1])))
    return f"<ul>{words}</ul>" + html_table(table.loc[items].reset_index())


def _natural(name: str) -> tuple[str, float]:
    match = re.fullmatch(r"(\D*)([\d.]*)", name)
    return (match[1], float(match[2])) if match and match[2] else (name, 0.0)


def _file_link(path: Path, root: Path) -> str:
    relative = path.relative_to(root)
    return f'<a href="{escape(link(relative.as_posix()))}">{escape(relative.name)}</a>'


def _figure(
    item: Item, path: Path, root: Path, printed: pd.DataFrame, paper: str
) -> tuple[str, str]:
    encoded = base64.b64encode(path.read_bytes()).decode("ascii")
    return (
        '<figure><div class="scroll" tabindex="0" role="region" aria-label="figure">'
        f'<img alt="{escape(item.alt)}" src="data:image/png;base64,{encoded}"></div>'
        f"<figcaption>{_file_link(path, root)}, "
        f"{_file_link(path.with_suffix('.pdf'), root)}</figcaption></figure>",
        item.title,
    )


def _table(
    item: Item, path: Path, root: Path, printed: pd.DataFrame, paper: str
) -> tuple[str, str]:
    table = pd.read_csv(path)
    title = item.title
    if "m" in table and table["m"].nunique() == 1:
        title += f" (m = {format_number(float(table['m'].iloc[0]))})"
    return (
        html_table(beside_printed(item.name, table, printed, paper))
        + _reasons(table)
        + f'<p class="caption">{_file_link(path, root)}</p>',
        title,
    )


def _reasons(table: pd.DataFrame) -> str:
    """List why the tightest totals hold, each reason once with the queries that it is for."""
    if "tightest_reason" not in table:
        return ""
    lines = []
    for reason, group in table.groupby("tightest_reason", sort=False):
        queries = ", ".join(map(str, sorted(group["queries"].unique())))
        lines.append(f"<li>Q = {escape(queries)}: {escape(str(reason))}</li>")
    return f'<div class="caption">Why <em>tightest</em> holds:<ul>{"".join(lines)}</ul></div>'


def beside_printed(
    name: str, table: pd.DataFrame, printed: pd.DataFrame, paper: str = "darrm"
) -> pd.DataFrame:
    """Return the table with the paper's numbers and the status of each beside our own.

    printed: the item's rows of ``fidelity.csv``, as text. A table of another kind comes back as it
    is, with stand-ins marked.
    """
    lookup = {(cell["dataset"], cell["row"], cell["column"]): cell for cell in _records(printed)}
    out = table.copy()
    if paper in ("pate", "nzc"):
        return _pate_beside_printed(table, lookup)
    if name in ACCURACY_ITEMS:
        keys = [(r["dataset"], f"Q={r['queries']}", r["mechanism"]) for r in _records(table)]
        out = table[["dataset", "queries", "mechanism"]].copy()
        out["accuracy (sd)"] = [
            _with_sd(r["accuracy_mean"], r["accuracy_sd"]) for r in _records(table)
        ]
        _add_printed(out, "printed (sd)", keys, lookup)
        out["expected"] = table["expected_accuracy"].map("{:.4f}".format)
        shown = {"stand_in", "m", "accuracy_mean", "accuracy_sd", "expected_accuracy", *out}
        out = out.join(table[[column for column in table if column not in shown]])
    elif name in PRIVACY_ITEMS:
        for column in ("epsilon_total", "delta_total"):
            keys = [(r["dataset"], f"Q={r['queries']}", column) for r in _records(table)]
            at = out.columns.get_loc(column) + 1
            _add_printed(out, f"printed {column}", keys, lookup, at)
        out = out.drop(columns=["stand_in", "m", "tightest_reason"])
        first = ["dataset", "queries", *(c for c in out if "_total" in c and c.count("_") == 1)]
        first += ["tightest", "epsilon_total_optimal", "epsilon_all_teachers"]
        first += ["epsilon_total_gnmax", "epsilon_disjoint_shards"]
        out = out[[*first, *(c for c in out if c not in first)]]
    elif name == "table4":
        for ours, column in (("order_rdp", "lambda"), ("sigma_rdp", "sigma_min")):
            keys = [(r["dataset"], f"m={r['m']}", column) for r in _records(table)]
            _add_printed(out, f"printed {column}", keys, lookup, out.columns.get_loc(ours) + 1)
        out = out.drop(columns=["stand_in", "m"])
    elif name == "table3":
        for column in ("m", "tau", "lambda", "epsilon", "delta"):
            keys = [("simulation", f"M={r['subsamples']}", column) for r in _records(table)]
            _add_printed(out, f"printed {column}", keys, lookup, out.columns.get_loc(column) + 1)
    elif "stand_in" in table:
        out = out.drop(columns="stand_in")
    if "stand_in" in table:
        marks = stand_ins(table).map({True: " (stand-in)", False: ""})
        out["dataset"] = table["dataset"].astype(str) + marks
    return out


def _pate_beside_printed(table: pd.DataFrame, lookup: Mapping) -> pd.DataFrame:
    """Put printed digits behind every column that has some; mark stand-ins and synthetic votes."""
    out = table.copy()
    if "aggregator" not in table:
        return out
    for column in [name for name in table if name in {key[2] for key in lookup}]:
        rows = ["baseline" if column.startswith("baseline") else a for a in table["aggregator"]]
        keys = [(task, row, column) for task, row in zip(table["task"], rows, strict=True)]
        _add_printed(out, f"printed {column}", keys, lookup, out.columns.get_loc(column) + 1)
    for flag, mark in (("stand_in", " (stand-in)"), ("synthetic", " (synthetic)")):
        if flag in out:
            marked = out["task"] + mark
            out["task"] = out["task"].mask(stand_ins(out.assign(stand_in=out[flag])), marked)
            out = out.drop(columns=flag)
    return out


def _records(table: pd.DataFrame) -> list[Mapping[str, object]]:
    return table.to_dict("records")


def _with_sd(value: object, sd: object) -> str:
    if sd == "" or sd != sd:
        return f"{float(value):.3f}"
    return f"{float(value):.3f} ({float(sd):.3f})"


def _add_printed(
    out: pd.DataFrame, title: str, keys: Sequence[tuple], lookup: Mapping, at: int | None = None
) -> None:
    """Insert a text column of printed digits and whether ours agree, if any were printed."""
    at = len(out.columns) if at is None else at
    cells = [lookup.get(key) for key in keys]
    if not any(cells):
        return
    digits = [
        "" if c is None else c["published"] + (f" ({c['published_sd']})" * bool(c["published_sd"]))
        for c in cells
    ]
    words = [
        "" if c is None else digit + ("" if c["status"] == "match" else f", {c['status']}")
        for c, digit in zip(cells, digits, strict=True)
    ]
    out.insert(at, title, words)
