"""What the same labels cost by the accountants that people use, and here.

dp-accounting is in the lock. autodp and PySyft 0.2.9, whose `pate.perform_analysis` is the one of
the PATE papers' first code, are optional, in a folder of their own, without what they depend on:
`pip install --no-deps --target FOLDER autodp==0.2.3.1 syft==0.2.9` and PYTHONPATH=FOLDER. Only one
file of PySyft is loaded, since the package asks for a torch of 2020.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable, Iterator
from importlib import metadata, util
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import add_machine, describe_machine
from benchmarks.writing import format_section, format_table
from private_ensembles import label_epsilon, label_loss_distribution

DELTA, LABELS = 1e-5, 100
# Each case is law, scale, teachers and classes.
LAPLACE = ("lnmax", 20.0, 250, 10)
NORMAL = ("gnmax", 43.0, 250, 10)
SELECTION = ("exponential", 2 / 0.2676, 11, 2)
HERE = "private-ensembles"


def list_calls() -> Iterator[tuple[tuple, str, str, Callable[[], float]]]:
    """Yield a case, a package, what is called, and the call."""
    yield LAPLACE, "syft", "pate.perform_analysis, independent of the votes", _perform_analysis
    yield NORMAL, "autodp", "ExactGaussianMechanism, composed", _autodp_gaussian
    yield NORMAL, "dp-accounting", "GaussianDpEvent of the noisy counts", _dp_accounting_gaussian
    yield SELECTION, "autodp", "ExponentialMechanism, composed", _autodp_exponential
    yield SELECTION, "dp-accounting", "pure DP, as a black box", _dp_accounting_pure
    for case in (LAPLACE, NORMAL, SELECTION):
        yield case, HERE, "label_epsilon", lambda case=case: _label_epsilon(case)
        yield case, HERE, "label_loss_distribution", lambda case=case: _label_loss_epsilon(case)


def _perform_analysis() -> float:
    """Return what PySyft's accountant says.

    Votes do not matter to its second number; these name ten classes, which it counts.
    """
    folder = Path(util.find_spec("syft").origin).parent
    spec = util.spec_from_file_location("pate", folder / "frameworks/torch/dp/pate.py")
    pate = util.module_from_spec(spec)
    spec.loader.exec_module(pate)
    votes = np.zeros((LAPLACE[2], LABELS), dtype=int)
    votes[:10] = np.arange(10)[:, None]
    with contextlib.redirect_stdout(io.StringIO()):
        epsilons = pate.perform_analysis(
            votes, np.arange(LABELS), 1 / LAPLACE[1], DELTA, moments=20
        )
    return float(epsilons[1])


def _autodp(mechanism) -> float:
    from autodp.transformer_zoo import Composition

    return float(Composition()([mechanism], [LABELS]).get_approxDP(DELTA))


def _autodp_gaussian() -> float:
    from autodp.mechanism_zoo import ExactGaussianMechanism

    return _autodp(ExactGaussianMechanism(sigma=NORMAL[1] / math.sqrt(2)))


def _autodp_exponential() -> float:
    from autodp.mechanism_zoo import ExponentialMechanism

    return _autodp(ExponentialMechanism(eps=2 / SELECTION[1]))


def _dp_accounting_gaussian() -> float:
    import dp_accounting

    event = dp_accounting.GaussianDpEvent(NORMAL[1] / math.sqrt(2))
    return dp_accounting.pld.PLDAccountant().compose(event, LABELS).get_epsilon(DELTA)


def _dp_accounting_pure() -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld

    pure = pld.common.DifferentialPrivacyParameters(2 / SELECTION[1], 0.0)
    return pld.from_privacy_parameters(pure).self_compose(LABELS).get_epsilon_for_delta(DELTA)


def _sizes(case: tuple) -> dict:
    return {"labels": LABELS, "teachers": case[2], "classes": case[3]}


def _label_epsilon(case: tuple) -> float:
    return label_epsilon(*case[:2], delta=DELTA, **_sizes(case)).upper


def _label_loss_epsilon(case: tuple) -> float:
    return label_loss_distribution(*case[:2], **_sizes(case)).get_epsilon_for_delta(DELTA)


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return all rows as a tidy frame; no epsilon if a package is not there. quick: the same."""
    rows = []
    for case, package, call, run in list_calls():
        modules = {"dp-accounting": "dp_accounting", HERE: "private_ensembles"}
        is_installed = util.find_spec(modules.get(package, package)) is not None
        row = dict(zip(("law", "scale", "teachers", "classes"), case, strict=True))
        row |= {"labels": LABELS, "delta": DELTA, "package": package, "call": call}
        has_version = is_installed and package != HERE
        row["version"] = metadata.version(package) if has_version else ""
        row["epsilon"] = run() if is_installed else math.nan
        row["skipped"] = "" if is_installed else "not installed"
        rows.append(row)
    return add_machine(rows, describe_machine("numpy", "scipy"))


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    same = data[data["package"] == HERE].pivot(index="law", columns="call", values="epsilon")
    difference = (same["label_loss_distribution"] - same["label_epsilon"]).abs().max()
    ordered = data[data["call"] != "label_loss_distribution"]
    ordered = ordered.sort_values(["law", "epsilon"], ascending=[True, False], kind="stable")
    shown = ordered.assign(
        version=ordered["version"].fillna(""),
        value=[f"{e:.3f}" if e == e else "not installed" for e in ordered["epsilon"]],
    )
    columns = {
        "law": "{law}, scale {scale:.4g}",
        "teachers, classes": "{teachers}, {classes}",
        "package": "{package} {version}",
        "called": "{call}",
        "ε": "{value}",
    }
    return format_section(
        "The same labels by other accountants",
        "accountants",
        f"ε of {LABELS} labels at δ = {DELTA:g} by each package's accountant and here; [what each "
        "charges for](../libraries.md#coming-from-another-accountant). `label_loss_distribution` "
        f"says the same as `label_epsilon`, within {difference:.1g}.",
        data,
        format_table(columns, shown, words=4),
    )
