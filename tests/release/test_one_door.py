"""API, command and workflow do the same between the plan and the labels: their calls are traced.

Traced are the calls of functions of `release/`, and of what draws in `labels/`, while a release is
planned (`own_votes.choose_mechanism`) and made (`own_votes.charge_and_release`). The workflow's
script is run as it is.
"""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from private_ensembles.command.main import main
from private_ensembles.labels import release_gate as door
from private_ensembles.labels.task import Budget, Protection, Rehearsal
from private_ensembles.release import (
    ledger_file,
    own_votes,
    pool,
    record,
    session_terms,
    transaction,
)
from private_ensembles.release.api import release_labels
from private_ensembles.report import own_figure as own_figure
from private_ensembles.run import file_names
from private_ensembles.run.check import check
from tests.release import flat

HOUSE = Path(own_votes.__file__).parents[1]
DRAWS = ("release_gate", "mechanism", "task", "parameters", "registry", "laws", "accounts")
ROOMS = tuple(f"{HOUSE}/labels/{part}" for part in DRAWS)
ROOMS += tuple(str(path) for path in (HOUSE / "release").glob("*.py"))
# These modules keep the ledger and write labels, which the API does not, except for one function.
MODULES = (record, transaction, ledger_file, session_terms, pool)
LEDGER = {module.__file__ for module in MODULES}
OF_NO_LEDGER = {"release_once"}
# These make tables and facts for the page out of a plan; no label depends on them.
BESIDE = {
    "applicable_plans",
    "public_rows",
    "chosen_row",
    "public_table",
    "labels_and_budgets_table",
    "private_table",
}
BESIDE |= {"public_facts", "plan_for", "plan_of", "_evenly_spaced_queries"}
# These say or write something about labels, and draw none but made-up ones.
SAID = {"summarize", "_prepare_release", "_labels", "Terms.to_json", "Record.read"}
# The estimate of how long planning takes asks for this size of a task, too.
OF_SIZES = {"Task.group_size"}
BUDGET = {"epsilon": 5.0, "delta": 1e-5}


class Trace:
    """Notes calls, in their order, as (file, function).

    parts: what was called while a release was planned, and while it was served. beside: functions
    of `release/own_votes.py` that were called at other times.
    """

    def __init__(self):
        self.parts, self.beside = {"choose_mechanism": [], "charge_and_release": []}, set()
        self._frame, self._calls, self._saying = None, None, None

    def __enter__(self):
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _note(self, frame, event, _):
        code = frame.f_code
        if self._saying is not None:
            if event == "return" and frame is self._saying:
                self._saying = None
            return
        if event == "call" and self._calls is not None and SAID & {code.co_name, code.co_qualname}:
            self._saying = frame
            return
        if event == "return" and frame is self._frame:
            self._frame = self._calls = None
        generated = code.co_name in ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
        if event != "call" or generated or not code.co_filename.startswith(ROOMS):
            return
        if code.co_qualname in OF_SIZES:
            return
        if self._calls is None and code.co_filename == own_votes.__file__:
            if code.co_name in self.parts:
                self._frame, self._calls = frame, self.parts[code.co_name]
            else:
                self.beside.add(code.co_name)
        if self._calls is not None:
            self._calls.append((code.co_filename, code.co_qualname))

    def leave_out_ledger(self):
        """Return the parts without what reads and keeps the ledger."""
        return {
            part: [call for call in calls if (call[0] not in LEDGER or call[1] in OF_NO_LEDGER)]
            for part, calls in self.parts.items()
        }


@pytest.fixture
def ways(root, tmp_path, monkeypatch, fake_snakemake):
    """Return the three ways to labels of a mechanism, each a function that returns them."""
    monkeypatch.chdir(tmp_path)
    # The workflow's figure is drawn before labels are, and knows nothing of them.
    monkeypatch.setattr(
        own_figure,
        "draw_own",
        lambda table, curves, profile, *paths: [
            Path(path).write_bytes(b"a figure") for path in paths
        ],
    )

    def api(name, counts, noise):
        rehearsal = None if noise == "secure" else Rehearsal()
        asked = Budget(**BUDGET), Protection.disjoint()
        return release_labels(counts, *asked, mechanism=name, rehearsal=rehearsal).labels

    def command(name, counts, noise):
        words = [f"--{key}={value}" for key, value in BUDGET.items()]
        words += ["--teachers", str(counts[0].sum()), "--classes", str(counts.shape[1])]
        words += ["--mechanism", name, "--noise", noise]
        words += ["--shards", "disjoint"]
        assert main(["release", "votes.npz", *words, "--out", "command"]) == 0
        (path,) = Path("command").glob("re*/**/*labels.csv")
        return _read(path, len(counts))

    def workflow(name, counts, noise):
        config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
        config |= {"votes": "votes.npz", "n_classes": counts.shape[1], "noise": noise, **BUDGET}
        config |= {"shards": "disjoint", "n_teachers": int(counts[0].sum())}
        config["planner"] |= {"mechanisms": [name]}
        settings = check(config)
        own = file_names.own_votes(settings)
        params = flat.params_of(settings)
        snakemake = fake_snakemake(inputs={"votes": "votes.npz"}, params=params)
        snakemake.output = type(snakemake.output)(**own)
        snakemake.config = settings.to_dict()
        script = root / "workflow" / "scripts" / "release" / "apply_votes.py"
        runpy.run_path(str(script), {"snakemake": snakemake})
        return _read(own["labels"], len(counts))

    return {"api": api, "command": command, "workflow": workflow}


def _read(path, queries):
    rows = np.loadtxt(path, dtype=int, delimiter=",", skiprows=1)
    labels = np.full(queries, -1)
    labels[rows[:, 0]] = rows[:, 1]
    return labels


@pytest.mark.parametrize(
    ("name", "classes", "noise"),
    [("gnmax_analytic", 3, "secure"), ("permute_and_flip", 2, "reproducible")],
)
def test_api_command_and_workflow_execute_the_same_functions(ways, name, classes, noise):
    shares = {2: [0.8, 0.2], 3: [0.7, 0.2, 0.1]}[classes]
    counts = np.random.default_rng(0).multinomial(60, shares, 20)
    np.savez("votes.npz", counts=counts)
    ways["api"](name, counts, "reproducible")  # what is found once in a process is found here
    ways["api"](name, counts, noise)
    labels, traces = {}, {}
    for way, release in ways.items():
        with Trace() as traces[way]:
            labels[way] = release(name, counts, noise)
    api, command, workflow = traces.values()
    assert command.parts == workflow.parts
    assert api.leave_out_ledger() == workflow.leave_out_ledger()
    if noise == "reproducible":  # the labels are the seed's
        assert (labels["api"] == labels["command"]).all()
        assert (labels["api"] == labels["workflow"]).all()
    # The plan is made and the labels are drawn in these parts, and not beside them.
    for trace in traces.values():
        assert (door.__file__, "release_from_votes") in trace.parts["charge_and_release"]
        assert any(
            function.endswith("calibrate") for _, function in trace.parts["choose_mechanism"]
        )
        assert trace.beside <= BESIDE


def test_labels_drawn_beside_the_door_would_be_seen(ways, monkeypatch):
    """The test can tell: a way that draws by itself has another trace."""
    counts = np.random.default_rng(0).multinomial(60, [0.8, 0.2], 20)
    with Trace() as usual:
        ways["api"]("gnmax_analytic", counts, "reproducible")
    monkeypatch.setattr(
        own_votes,
        "charge_and_release",
        lambda plan, query_pool, seed, **_: transaction.Labels(
            query_pool.to_csv(own_votes.draw_labels(plan, query_pool.votes, seed))
        ),
    )
    with Trace() as other:
        ways["api"]("gnmax_analytic", counts, "reproducible")
    assert other.parts["choose_mechanism"] == usual.parts["choose_mechanism"]
    assert other.parts["charge_and_release"] != usual.parts["charge_and_release"]
    assert not other.beside <= BESIDE
