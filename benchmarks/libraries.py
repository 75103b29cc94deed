"""Other packages' selections, vote steps and accounts on trial: what each claims, and what is true.

Each package is installed at a pinned version in an environment of its own
(`benchmarks/environments.py`), and a short reproducer runs its own code there and prints numbers.
What is exact is worked out here, by this project's audit and accounts. A package that cannot be
installed or run has a row that says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

import pandas as pd

from benchmarks import environments, selections, vote_steps
from benchmarks.measuring import add_machine, describe_machine
from benchmarks.writing import format_section, format_table
from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    two_class_dominating_pairs,
)
from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.audit.histograms import both_counts
from private_ensembles.labels.laws import gumbel as exponential_mechanism
from private_ensembles.labels.noisy_counts import rho_to_epsilon

# The composition is of a hundred of DaRRM's labels at m = 3.
LABELS, LABEL_EPSILON, DELTA, TEACHERS = 100, 0.2676, 1e-5, 11


@dataclass(frozen=True)
class Package:
    """A package on trial: its reproducer, the pins of its environment, and who judges its answer.

    Attributes:
        pins: name of a list in `benchmarks/reproducers`; its first line says what is installed.
        judge: returns the rows of what the reproducer printed.
    """

    name: str
    version: str
    script: str
    pins: str
    judge: Callable[[dict], list[dict]]


PACKAGES = (
    Package("opendp", "0.16.0", "opendp", "opendp-0.16", selections.judge),
    Package("opendp", "0.15.1", "opendp", "opendp-0.15", selections.judge),
    Package("diffprivlib", "0.6.6", "diffprivlib", "diffprivlib", selections.judge),
    Package("autodp", "0.2.3.1", "autodp", "autodp", vote_steps.judge_autodp),
    Package("invink", "0.1.0", "invink", "invink", vote_steps.judge_invink),
    Package(
        "llama-index-packs-diff-private-simple-dataset",
        "0.4.1",
        "llama_index_pack",
        "llama_index_pack",
        vote_steps.judge_llama_index_pack,
    ),
    Package(
        "smartnoise-synth",
        "1.0.8",
        "smartnoise_synth",
        "smartnoise_synth",
        vote_steps.judge_smartnoise,
    ),
    Package("synthcity", "0.2.12", "synthcity", "synthcity", vote_steps.judge_synthcity),
)


def run_trial(package: Package) -> list[dict]:
    """Return rows of one package: claims and observations, or the reason why there are none."""
    facts = {"library": package.name, "version": package.version}
    answer = environments.run_script(package.script, package.pins)
    if isinstance(answer, environments.Skipped):
        return [facts | {"part": "skipped", "verdict": "skipped", "note": answer.reason}]
    if answer["version"] != package.version:
        reason = f"version {answer['version']} was found"
        return [facts | {"part": "skipped", "verdict": "skipped", "note": reason}]
    facts["installed"] = environments.read_installation_note(package.pins)
    return [facts | row for row in package.judge(answer)]


def compare_compositions() -> list[dict]:
    """Return epsilon of a hundred exponential labels by what each account knows of them."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    pure = pld.common.DifferentialPrivacyParameters(LABEL_EPSILON, 0.0)
    black_box = pld.from_privacy_parameters(pure).self_compose(LABELS)
    probabilities = exponential_mechanism.label_probabilities(
        both_counts(TEACHERS), LABEL_EPSILON / 2
    )
    dominating_pairs = two_class_dominating_pairs(probabilities[:, 1], probabilities[:, 0])
    epsilons = {
        "dp-accounting: pure DP, as a black box": black_box.get_epsilon_for_delta(DELTA),
        "optimal composition of pure DP": optimal_composition(
            LABEL_EPSILON, 0.0, LABELS, DELTA
        ).epsilon,
        "bounded range, as zCDP": rho_to_epsilon(LABELS * LABEL_EPSILON**2 / 8, DELTA, "improved"),
        "the labels themselves": adaptive_epsilon(dominating_pairs, LABELS, DELTA).upper,
    }
    version = metadata.version("dp-accounting")
    return [
        {"library": "dp-accounting", "version": version, "mechanism": name, "exact": value}
        for name, value in epsilons.items()
    ]


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return all rows as a tidy frame. quick: only what this environment has already."""
    facts = describe_machine("numpy", "scipy")
    rows = [row for package in PACKAGES[:1] if quick for row in run_trial(package)]
    rows += [row for package in PACKAGES if not quick for row in run_trial(package)]
    rows += [{"part": "another law"} | row for row in selections.list_other_law()]
    rows += [{"part": "composition"} | row for row in compare_compositions()]
    return add_machine(rows, facts)


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    parts = dict(list(data.groupby("part", sort=False)))
    blocks = []
    if "claim" in parts:
        claims = _choose_claims(parts["claim"])
        symbols = {"epsilon": "ε", "rho": "ρ", "Rényi divergence": "D"}
        claims = claims.assign(
            symbol=claims["measure"].map(symbols),
            true=[
                _format_bounds(*pair) for pair in zip(claims["lower"], claims["exact"], strict=True)
            ],
        )
        columns = {
            "package": "{library} {version}",
            "what": "{mechanism}",
            "neighbours": "{neighbours}",
            "verdict": "{verdict}",
            "claim": "{symbol} = {claimed:.4g}",
            "exact": "{true}",
        }
        observed = data.loc[data["part"] == "observation", "verdict"]
        verdicts = parts["claim"]["verdict"].value_counts()
        said = ", ".join(f"{count} *{verdict}*" for verdict, count in verdicts.items())
        blocks += [
            format_table(columns, claims, words=4),
            f"All {len(parts['claim'])} claims: {said}. Of {len(observed)} observations of how a "
            f"package's own code ran, {(observed == 'as expected').sum()} are as expected.",
        ]
    if "skipped" in parts:
        columns = {"package": "{library} {version}", "skipped because": "{note}"}
        blocks.append(format_table(columns, parts["skipped"], words=2))
    (other_rho,) = parts["another law"]["exact"]
    zero_concentrated = selections.EPSILON**2 / 8
    return format_section(
        "Other libraries on trial",
        "libraries",
        "What packages claim that a selection (from three candidates by integer scores from 0 to "
        f"{selections.HIGHEST}), a noisy vote or tokens cost, beside the exact value or bounds on "
        "it: of each package the claim that fares worst ([what it means for their "
        "users](../libraries.md#other-packages-on-trial)). A selection's claim holds only if draws "
        "also fit the documented law and no other (errors of probability "
        f"{selections.ERROR:g}). Reproducers: `benchmarks/reproducers`.",
        data,
        *blocks,
        "OpenDP's issue 2911 (26 August 2026, of 0.15.1) says that `make_noisy_max` draws by "
        f"permute-and-flip under zCDP, too. Then its claim of ρ = {zero_concentrated:g} would be "
        f"{other_rho / zero_concentrated:.3g} times too small, but the draws of both versions are "
        "as the exponential mechanism has it.",
    )


def _choose_claims(claims: pd.DataFrame) -> pd.DataFrame:
    """Return for each package the claim of which the exact cost is the largest share."""
    share = (claims["exact"] / claims["claimed"]).rename("share")
    return claims.loc[sorted(share.groupby([claims["library"], claims["version"]]).idxmax())]


def _format_bounds(lower: float, upper: float) -> str:
    """Return a number, or the bounds on it if they differ in the digits shown."""
    shown = f"{lower:.4g}", f"{upper:.4g}"
    return shown[1] if shown[0] == shown[1] else f"{shown[0]} to {shown[1]}"
