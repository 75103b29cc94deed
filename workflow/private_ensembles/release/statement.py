"""A statement on a release, to hand over: what was released, who is protected, and how to check.

It is one self-contained page of HTML that prints on two sheets. All that it says is a function of
the plan, the entry on the ledger and the labels' file, and of nothing else about the votes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from private_ensembles.base.parameter_names import write_number, write_upper_bound
from private_ensembles.labels.task import Budget
from private_ensembles.release import certificate
from private_ensembles.release.certificate import Proof
from private_ensembles.release.expectation import max_attack_accuracy, max_odds
from private_ensembles.release.release_plan import ReleasePlan

if TYPE_CHECKING:
    from private_ensembles.release.record import Total

CERTIFICATE, STATEMENT = "certificate.json", "statement.html"
# Each law chooses a label like this; the key is its module.
_LAWS = {
    "labels.laws.gaussian": (
        "the class with the most votes wins after Gaussian noise is added to each count"
    ),
    "labels.laws.laplace": (
        "the class with the most votes wins after Laplace noise is added to each count"
    ),
    "labels.laws.gumbel": (
        "each class wins with a probability that grows exponentially with its votes"
    ),
    "labels.laws.exponential": (
        "the class with the most votes wins after exponential noise is added to each count"
    ),
    "labels.laws.ladder": (
        "the class with the most votes wins, unless a coin decides; the closer the vote, the more"
        " often it does"
    ),
    "papers.darrm.law": (
        "the majority's label is given with a probability that depends on how large the majority "
        "is; otherwise a fair coin decides"
    ),
    "papers.darrm.majority": (
        "the class with the most votes wins, without noise, because each teacher's training is "
        "itself private"
    ),
    "papers.darrm.committee_law": (
        "some teachers, drawn at random once, answer by their plain majority, without noise, "
        "because each teacher's training is itself private"
    ),
}
_ADJACENCIES = {
    "replace_one": "the data if one {unit} were replaced by another",
    "add_remove": "the data if one {unit} were added or removed",
}
# The side and the margin of the chart are in its own units.
_SIDE, _EDGE = 220, 46


def documents(plan: ReleasePlan, proof: Proof, charged: LedgerEntry) -> dict[str, str]:
    """Return the files that go beside labels, by name: certificate and statement.

    Args:
        plan: What may be released, and with which noise.
        proof: As `certificate.prove_or_explain` returns it for the plan.
        charged: What is on the ledger.
    """
    checked = certificate.render_certificate(
        plan,
        proof,
        time=charged.time,
        labels_sha256=charged.labels_sha256,
        epsilon=charged.epsilon,
    )
    return {CERTIFICATE: checked, STATEMENT: statement(plan, proof, charged)}


@dataclass(frozen=True)
class LedgerEntry:
    """What is on the ledger of a release or session, beside its plan.

    The statement says of what is left out that it is not on record.

    Attributes:
        epsilon: The cost that is stated.
        delta: Its delta.
        time: The time of the charge.
        labels: How many were released.
        labels_sha256: The hash of their file.
        total: What all releases on the ledger cost together.
        joint: What they cost if as many had been planned from the start (`Record.joint`).
        spent: What a session's labels so far cost at most; None if it is no session.
    """

    epsilon: float
    delta: float
    time: str = ""
    labels: int | None = None
    labels_sha256: str = ""
    total: Total | None = None
    joint: Total | None = None
    spent: float | None = None


def statement(plan: ReleasePlan, proof: Proof, charged: LedgerEntry) -> str:
    """Return the statement as HTML; arguments as `documents` takes them."""
    sections = [
        ("What was released", _released_section(plan, charged)),
        ("Who is protected", _protected_section(plan)),
        ("What is promised", _promise_section(plan, proof, charged.epsilon, charged.delta)),
        ("What all releases cost together", _total_section(charged)),
        ("What is not protected", _limits(plan)),
        ("How to check this", _checks(proof, on_record=bool(charged.time))),
    ]
    warning = ""
    if not plan.task.secure:
        warning = (
            '<p class="warning">This is a rehearsal: whoever knows the seed can compute the noise. '
            "Nothing is promised, and nothing of it may be published.</p>"
        )
    body = "".join(f"<section><h2>{title}</h2>{text}</section>" for title, text in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>Statement on released labels</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>Statement on released labels</h1>{warning}{body}</main></body></html>\n"
    )


def _released_section(plan: ReleasePlan, charged: LedgerEntry) -> str:
    task, entry = plan.task, plan.mechanism.entry
    law = _LAWS[entry.law.rpartition(".")[0]]
    how = f"{escape(entry.label)}: {law}"
    if plan.may_abstain:
        how += ". A noisy threshold decides first whether a query is answered at all"
    number = "not on record" if charged.labels is None else f"{charged.labels:,}"
    labels = f"{number}, of {task.ensemble.classes} classes, for {task.wanted.queries:,} queries"
    rows = [
        ("Labels", labels),
        ("Paid for", f"{plan.labels:,} labels{_explain_most_ones(plan)}"),
        (
            "Teachers",
            f"{task.ensemble.teachers:,} models that voted; their votes were not released",
        ),
        ("Mechanism", how),
        ("When", escape("not on record" if charged.time == "" else charged.time)),
        ("Program", f"private-ensembles {escape(plan.version)}"),
    ]
    if charged.labels_sha256:
        rows.append(("sha256 of labels.csv", f"<code>{escape(charged.labels_sha256)}</code>"))
    return _table(rows)


def _explain_most_ones(plan: ReleasePlan) -> str:
    """Return how many labels one unit can change at most, in words, if teachers vote 1 on few."""
    task = plan.task
    if task.wanted.most_ones is None:
        return ""
    changed = plan.mechanism.charged_task_and_noise(task, plan.parameters)[1].labels
    on_whose_word = ""
    if task.counts_only:
        on_whose_word = ". Counts do not show this; whoever released the labels stated it"
    return (
        f". One unit can change at most {changed:,} of them, because a teacher votes 1 on at most "
        f"{task.wanted.most_ones:,} queries; only these are charged{on_whose_word}"
    )


def _protected_section(plan: ReleasePlan) -> str:
    task, unit = plan.task, plan.task.protection.unit
    reach = task.protection.reach
    if task.protection.privacy_model == "shared_data":
        shards = f"Several teachers, or all, may have learned from the same {unit}."
    elif reach == 1:
        shards = f"No {unit} is in the data of two teachers (disjoint shards)."
    else:
        shards = f"One {unit} is in the data of at most {reach} teachers."
    protected = f"One {unit}"
    rows = [
        ("Protected", escape(protected)),
        (
            "Compared",
            f"the data and {escape(_ADJACENCIES[task.protection.adjacency].format(unit=unit))} "
            f"({task.protection.adjacency})",
        ),
        (
            "On whose word",
            f"{escape(shards)} Whoever released the labels stated this; no program can see it in "
            "the votes.",
        ),
    ]
    if task.ensemble.absent:
        rows.append(
            (
                "Absent ballots",
                "A teacher may have said nothing about a query. Whether it did is protected as its "
                "vote is: between the data that are compared, a vote may appear or vanish. Absent "
                "ballots were given to the classes in turn",
            )
        )
    if plan.mechanism.guarantee.teachers == "private":
        private = task.ensemble.private
        assert isinstance(private, Budget)  # the mechanism does not apply without it
        cost = f"({_format_upper_bound(private.epsilon)}, {_format_upper_bound(private.delta)})"
        rows.append(
            (
                "Teachers",
                f"Each was trained to be {cost}-differentially private by itself; whoever released "
                "the labels stated this",
            )
        )
    return _table(rows)


def _promise_section(plan: ReleasePlan, proof: Proof, epsilon: float, delta: float) -> str:
    entry = plan.mechanism.entry
    unit = plan.task.protection.unit
    points = [*proof.curve, (epsilon, delta)]
    claimed = max_attack_accuracy(epsilon, delta)
    proven = min(max_attack_accuracy(eps, leak) for eps, leak in points)
    cost = f"({_format_upper_bound(epsilon)}, {_format_upper_bound(delta)})"
    words = (
        f"<p>All labels together are <strong>{cost}-differentially "
        f"private</strong>, whatever the votes were.</p>"
        f"<p>In odds: somebody who bets 50:50 on whether the data hold one {escape(unit)} or "
        "another, and then sees all labels, is right "
        f"<strong>at most {_percent_rounded_up(claimed)} of the "
        f"time</strong>. Seeing the labels multiplies the odds by at most e<sup>ε</sup> = "
        f"{_format_upper_bound(max_odds(epsilon))}, except with a probability δ of at most "
        f"{_format_one_in(delta)}.</p>"
    )
    if proven < claimed - 0.005:
        words += (
            "<p>The account proves more than this one pair of numbers: by the whole curve shown "
            f"here, such a guess is right at most {_percent_rounded_up(proven)} of the time.</p>"
        )
    page = escape(entry.origin.proof)
    words += (
        f"<p>Why: the theorem of <code>docs/{page}</code> in the repository of "
        "private-ensembles. It holds for queries that were chosen after seeing earlier labels.</p>"
    )
    drawn = _explain_drawn_noise(plan)
    if drawn:
        words += f"<p>{drawn}</p>"
    return f'<div class="beside"><div>{words}</div>{chart(points)}</div>'


def _explain_drawn_noise(plan: ReleasePlan) -> str:
    """Return in words which noise is drawn and how it is accounted for."""
    law = plan.mechanism.law
    law = getattr(law, "law", law)
    if not plan.task.secure or not plan.mechanism.guarantee.hides_votes:
        return ""
    if law.draws_exact_bernoulli and plan.task.ensemble.classes == 2:
        return (
            "Labels were drawn by exact coins from the operating system's entropy. The account "
            "covers the probabilities of these very coins."
        )
    if getattr(law, "secure_sampler", "") == "whole":
        return (
            "Noise was drawn exactly, in whole numbers, from the operating system's entropy. The "
            "account covers this very noise."
        )
    if getattr(law, "secure_sampler", "") in ("continuous", "coins"):
        return (
            "Continuous noise was drawn from the operating system's entropy, digit by digit until "
            "the largest noisy count was certain. The account covers this very noise."
        )
    return "Labels were drawn by exact dice from the operating system's entropy."


def _total_section(charged: LedgerEntry) -> str:
    total, joint, spent = charged.total, charged.joint, charged.spent
    if spent is not None:
        return (
            "<p>These are labels of a session. The promise above covers all labels that it may "
            f"ever release. Those so far cost at most ε = {_format_upper_bound(spent)} at "
            f"δ = {_format_upper_bound(charged.delta)}. Releases elsewhere of votes on the same "
            "data add to it.</p>"
        )
    if total is None:
        return "<p>This release is not on a record, so what was released before is not known.</p>"
    text = (
        "<p>All releases on this record, this one included, cost at most "
        f"{escape(str(total))} together. This is the sum, which holds whatever led to each of "
        "them.</p>"
    )
    if joint is not None:
        text += (
            "<p>If the number of releases and their sizes were fixed before anybody saw a label, "
            f"they cost at most {escape(str(joint))} together, by the account of all labels.</p>"
        )
    return text + "<p>Releases elsewhere of votes on the same data add to it.</p>"


def _limits(plan: ReleasePlan) -> str:
    unit = escape(plan.task.protection.unit)
    rows = [
        f"Facts about groups: anybody may learn from the labels what is true of many {unit}s, and "
        f"several {unit}s together are protected less.",
        f"What facts about others say about one {unit}, if they are correlated.",
        "The queries, and the numbers of queries, teachers and classes. They count as public.",
        "The votes, their files, logs and rehearsals. They must stay where they are.",
        "Anything else that was made from the same data, such as models, tables and answers.",
        "Whether labels are right.",
    ]
    return "<ul>" + "".join(f"<li>{row}</li>" for row in rows) + "</ul>"


def _checks(proof: Proof, *, on_record: bool) -> str:
    if proof.body["kind"] == "none":
        return (
            "<p>There is no certificate of this release, because "
            f"{escape(proof.body['why'])}. Its account rests on the theorem's proof and on this "
            "program's tests.</p>"
        )
    if not on_record:
        return "<p>Only a release that is on a record has a certificate.</p>"
    return (
        f"<p><code>{CERTIFICATE}</code> beside this page proves the claim of this very release: "
        "it holds the plan, the time of the charge and the hash of <code>labels.csv</code>.</p>"
        f"<pre>private-ensembles verify {CERTIFICATE}</pre>"
        "<p>runs a program of one file that computes with integers and fractions only, shares no "
        "code with what drew the labels, and needs nothing but Python: "
        f"<code>python verify/verify.py {CERTIFICATE}</code>. What it proves, and how, is in "
        "<code>docs/certificates.md</code>. It cannot check that the labels came from this "
        "mechanism, nor what was stated about the data.</p>"
    )


def trade_off(points: Sequence[tuple[float, float]], level: float) -> float:
    """Return the trade-off function: the least rate of misses of a test at a rate of false alarms.

    Args:
        points: Pairs of an epsilon and a delta at which the guarantee holds.
        level: The rate of false alarms, in [0, 1].
    """
    best = 0.0
    for epsilon, delta in points:
        best = max(
            best,
            1 - delta - math.exp(epsilon) * level,
            math.exp(-epsilon) * (1 - delta - level),
        )
    return best


def chart(points: Sequence[tuple[float, float]]) -> str:
    """Return the curve of `trade_off` as SVG, beside the line where labels tell nothing.

    Args:
        points: As in `trade_off`.
    """
    side, edge = _SIDE, _EDGE

    def draw_point(level: float, missed: float) -> str:
        return f"{edge + side * level:.2f},{8 + side * (1 - missed):.2f}"

    # The curve is steep near level 0, so that most points are there.
    levels = sorted({i / 100 for i in range(101)} | {2.0**-k for k in range(1, 20)})
    line = " ".join(draw_point(level, trade_off(points, level)) for level in levels)
    ticks = "".join(
        f'<text x="{edge + side * x:.0f}" y="{side + 22}" text-anchor="middle">{x:g}</text>'
        f'<text x="{edge - 6}" y="{12 + side * (1 - x):.0f}" text-anchor="end">{x:g}</text>'
        for x in (0, 0.5, 1)
    )
    return (
        f'<figure><svg viewBox="0 0 {edge + side + 12} {side + 46}" role="img" '
        'aria-label="Trade-off of wrong accusations and misses">'
        f'<rect x="{edge}" y="8" width="{side}" height="{side}" class="frame"/>'
        f'<polyline points="{draw_point(0, 1)} {draw_point(1, 0)}" class="nothing"/>'
        f'<polyline points="{line}" class="curve"/>{ticks}'
        f'<text x="{edge + side / 2}" y="{side + 40}" text-anchor="middle">wrongly accused</text>'
        f'<text transform="translate(11 {8 + side / 2}) rotate(-90)" text-anchor="middle">missed'
        "</text></svg><figcaption>Somebody tries to tell from the labels which of two data sets "
        "they came from. No test has fewer misses than the curve allows for its wrong accusations. "
        "Dashed: labels that tell nothing.</figcaption></figure>"
    )


def _table(rows: Sequence[tuple[str, str]]) -> str:
    return (
        "<dl>"
        + "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in rows)
        + "</dl>"
    )


def _format_upper_bound(value: float) -> str:
    return escape(write_upper_bound(value))


def _percent_rounded_up(share: float) -> str:
    """Return a share in percent, rounded up."""
    return f"{min(100.0, math.ceil(Fraction(share) * 1000) / 10):g} %"


def _format_one_in(delta: float) -> str:
    """Return a probability as one in so many, rounded up from its decimals."""
    return f"1 in {math.floor(1 / Fraction(write_number(delta))):,}" if delta > 0 else "0"


_STYLE = """
:root{color-scheme:light dark;--ink:#1d2329;--soft:#5a6570;--line:#ccd3da;--paper:#fff;
--blue:#0b5cad}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#a3adb7;--line:#3d4650;--paper:#14181c;
--blue:#7db8f5}}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
main{max-width:46rem;margin:0 auto;padding:1.2rem 1rem}
h1{font-size:1.5rem;margin:0 0 .4rem}h2{font-size:1.05rem;margin:1.1rem 0 .3rem}
p{margin:.35rem 0}ul{margin:.3rem 0;padding-left:1.2rem}dl{margin:0}
dl div{display:grid;grid-template-columns:9.5rem 1fr;gap:.8rem;border-top:1px solid var(--line);
padding:.22rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
code,pre{font:.86em ui-monospace,monospace;overflow-wrap:anywhere}
pre{border:1px solid var(--line);padding:.4rem .6rem;white-space:pre-wrap;margin:.4rem 0}
.beside{display:grid;grid-template-columns:1fr 15rem;gap:1.2rem}figure{margin:0}
figcaption,svg text{color:var(--soft);font-size:12px;fill:var(--soft)}
svg{width:100%;max-width:17rem;display:block}.frame{fill:none;stroke:var(--line)}
.curve{fill:none;stroke:var(--blue);stroke-width:2}
.nothing{fill:none;stroke:var(--soft);stroke-dasharray:4 4}
.warning{border:2px solid #c0392b;padding:.5rem .7rem;font-weight:600}
@media(max-width:560px){.beside{grid-template-columns:1fr}dl div{grid-template-columns:1fr;gap:0}}
@media print{@page{size:A4;margin:16mm}:root{--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;
--blue:#0b5cad}body{font-size:10pt}main{max-width:none;padding:0}section{break-inside:avoid}
.beside{grid-template-columns:1fr 13rem}}
"""
