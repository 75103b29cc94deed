"""Nothing that may be published depends on the votes but by the outcome of the mechanism itself.

Two neighbouring vote files, the same coins, the script of the rule as it is: every byte of the
release and of its provenance is equal, wall clock aside, unless the mechanism draws
other labels; and then it is equal once it is made to draw the same.
"""

import pickle
import random
import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from private_ensembles.base import secure
from private_ensembles.base.limits import MOST_CLASSES, MOST_TEACHERS
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner import ranking
from private_ensembles.labels.task import shards_for_privacy_model
from private_ensembles.papers.common import style
from private_ensembles.release import certificate, own_votes
from private_ensembles.report import own_figure as own_figure
from private_ensembles.run import file_names
from private_ensembles.run.check import check
from tests.release import flat

QUERIES = 6
# Teachers and classes: as usual, and all ends of what is accepted.
USUAL = 7, 2
ENDS = [(2, 2), (MOST_TEACHERS, 2), (2, MOST_CLASSES), (MOST_TEACHERS, MOST_CLASSES)]
DRAWN = ("gnmax", "darrm_opt")
DRAW, DRAW_FIGURE = own_votes.draw_labels, own_figure.draw_own
CLOCK = rb'\d{4}-\d\d-\d\dT[\d:]+\+00:00|"mtime_ns": \d+'


class FixedCoins:
    """Stands for `secrets`, `os` and OpenDP's sampler in `base.secure`: coins from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.randbelow, self.choice = self.random.randrange, self.random.choice
        self.randbits = self.random.getrandbits
        self.SystemRandom = lambda: self.random
        self.token_bytes = self.urandom = self.random.randbytes

    def gaussian(self, sigma):
        return lambda counts: [each + round(self.random.gauss(0, sigma)) for each in counts]


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory):
    """Return a folder with files of votes: one teacher votes otherwise on every query, or never."""
    known = {}

    def outcome_of(teachers, classes):
        if (teachers, classes) not in known:
            known[teachers, classes] = folder = tmp_path_factory.mktemp("votes")
            generator = np.random.default_rng(0)
            votes = (generator.random((QUERIES, teachers)) < 0.6).astype(np.uint32)
            if (teachers, classes) != USUAL:  # all votes, a tie, one vote, and a power of two
                first = [teachers, teachers // 2 + 1, 1, min(teachers, 1 << 16)]
                votes[:4] = np.arange(teachers) >= np.array(first)[:, None]
                votes[4:, 0] = classes - 1
            other = votes.copy()
            other[:, 0] = votes[:, 0] == 0
            gone = votes.astype(np.int64)
            gone[:, 0] = -1
            truth = generator.integers(0, classes, QUERIES)
            for name, array in {"one": votes, "two": other, "gone": gone}.items():
                (folder / name).mkdir()
                np.savez(folder / name / "votes.npz", votes=array, labels=truth)
        return known[teachers, classes]

    return outcome_of


def settings_for(name, size, *, absent=False):
    """The checked configuration in which this mechanism alone serves the votes; None if it none."""
    config = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text())
    config |= {
        "votes": "votes.npz",
        "n_teachers": size[0],
        "n_classes": size[1],
        "epsilon": 2,
        "delta": 1e-5,
        "absent": absent,
    }
    mechanism = load_mechanism(name)
    model = sorted(mechanism.guarantee.privacy_models)[0]
    # Labels of little use are released like the rest.
    config |= {"shards": shards_for_privacy_model(model), "unit": "patient", "anyway": True}
    private = mechanism.guarantee.teachers == "private"
    config["planner"] |= {"mechanisms": [name], "privacy_model": model}
    config |= {
        "adjacency": "add_remove" if private else "replace_one",
        "teacher_epsilon": 0.3 if private else None,
    }
    config["labels_wanted"] = 3
    if mechanism.refusal(_task(config, size)) is not None:
        config["labels_wanted"] = 1
    if mechanism.refusal(_task(config, size)) is not None:
        return None
    return check(config)


def _task(config, size):
    return own_votes.planning.build_task(
        config["planner"],
        config["epsilon"],
        config["delta"],
        queries=QUERIES,
        labels=config["labels_wanted"],
        n_teachers=size[0],
        n_classes=size[1],
        secure=True,
        absent=config["absent"],
        adjacency=config["adjacency"],
        teacher_epsilon=config["teacher_epsilon"],
    )


@pytest.fixture
def drawn_once(request, tmp_path):
    """Draw the figure of each content once; copy it where that content is drawn again.

    Of most mechanisms its content stands for the figure, which then would show any difference in
    it: the drawing itself knows nothing else, and figures/test_own_votes.py says that it is the
    same for the same content.
    """
    known = {}

    def draw(table, curves, profile, *paths):
        given = pickle.dumps((table.to_dict("list"), curves.to_dict("list"), dict(profile)))
        if request.getfixturevalue("name") not in DRAWN:
            for path in paths:
                Path(path).write_bytes(given)
            return
        if given not in known:
            DRAW_FIGURE(table, curves, profile, *paths)
            known[given] = [shutil.copy(path, tmp_path / Path(path).name) for path in paths]
            return
        for kept, path in zip(known[given], paths, strict=True):
            shutil.copy(kept, path)

    return draw


@pytest.fixture
def searched_once(monkeypatch):
    """Search for a mechanism's best parameters once for each task and votes to plan by.

    Were these the votes that came from somebody, each file of them would be searched by itself. A
    plan is proven once, too: whoever proves it is handed the plan alone.
    """
    known, search, prove = {}, ranking.best_parameters, certificate.prove_or_explain

    def best_parameters(mechanism, *given):
        key = pickle.dumps((mechanism.name, *given))
        if key not in known:
            known[key] = search(mechanism, *given)
        return known[key]

    def prove_or_explain(plan, epsilon=None):
        key = plan.to_json(), epsilon
        if key not in known:
            known[key] = prove(plan, epsilon)
        return known[key]

    monkeypatch.setattr(ranking, "best_parameters", best_parameters)
    monkeypatch.setattr(certificate, "prove_or_explain", prove_or_explain)


@pytest.fixture
def published(searched_once, drawn_once, root, neighbours, fake_snakemake, monkeypatch):
    """Run the script on one of the files; return what may leave, by name, and the outcome."""

    def publish(name, which, outcome=None, size=USUAL, *, absent=False):
        folder = neighbours(*size) / which
        monkeypatch.chdir(folder)
        settings = settings_for(name, size, absent=absent)
        own = file_names.own_votes(settings)
        assert own["page"].startswith("results/own/release/")  # secure noise is the default
        params = flat.params_of(settings)
        snakemake = fake_snakemake(inputs={"votes": "votes.npz"}, params=params)
        snakemake.output = type(snakemake.output)(**own)
        snakemake.config = settings.to_dict()
        snakemake.config["own"]["release"]["again"] = True
        coins = FixedCoins(1)
        monkeypatch.setattr(secure, "secrets", coins)
        monkeypatch.setattr(secure, "os", coins)
        monkeypatch.setattr(secure, "_gaussian", coins.gaussian)
        kept = []

        def release(*given):
            kept.append(DRAW(*given) if outcome is None else outcome)
            return kept[0]

        monkeypatch.setattr(own_votes, "draw_labels", release)
        # Letters drawn one by one: to cut fonts for PDFs would take most of the time. A figure of
        # what has been drawn before is copied: figures/test_own_votes.py says that it is the same.
        monkeypatch.setitem(style.RC, "pdf.fonttype", 3)
        monkeypatch.setattr(own_figure, "draw_own", drawn_once)
        script = root / "workflow" / "scripts" / "release" / "apply_votes.py"
        runpy.run_path(str(script), {"snakemake": snakemake})
        left = filter(Path.is_file, Path("results/own/release").rglob("*"))
        left = [*left, *Path("results/provenance").rglob("*.json")]
        found = {str(path): re.sub(CLOCK, b"", path.read_bytes()) for path in left}
        shutil.rmtree("results/own")  # as in a new folder
        return found, kept[0]

    return publish


def check_published(publish, name, size=USUAL, second="two", *, absent=False):
    """Compare what two neighbours publish, byte for byte."""
    one, outcome = publish(name, "one", size=size, absent=absent)
    two, other = publish(name, second, size=size, absent=absent)
    if not np.array_equal(outcome, other):
        assert one != two
        two, _ = publish(name, second, outcome, size=size, absent=absent)
    names = {Path(path).name for path in one}
    told = {"statement.html", "certificate.json"}
    assert {"index.html", "labels.csv", "mechanisms.csv", "mechanisms.png"} | told < names
    assert set(one) == set(two)
    assert [path for path in one if one[path] != two[path]] == []


@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_votes_change_nothing_that_is_published_but_the_labels(published, name):
    check_published(published, name)


@pytest.mark.parametrize("name", ["gnmax_exact", "majority_private"])
def test_who_was_absent_changes_nothing_that_is_published_but_the_labels(published, name):
    check_published(published, name, second="gone", absent=True)


# The whole job, which also plans and draws, for laws of noise and the ladder; the others take many
# minutes here. tests/claims/test_ends.py has the releases of all mechanisms at all ends.
AT_THE_ENDS = [
    name
    for name in registry.offered_mechanisms()
    if name.startswith(("gnmax", "lnmax", "exponential", "permute", "ladder"))
]


@pytest.mark.slow
@pytest.mark.parametrize("size", ENDS, ids=str)
@pytest.mark.parametrize("name", AT_THE_ENDS)
def test_nor_do_they_at_the_ends_of_what_is_accepted(
    published, neighbours, monkeypatch, name, size
):
    """Who refuses an ensemble refuses it by its size: whatever the votes, all others publish."""
    monkeypatch.chdir(neighbours(*size) / "one")
    if settings_for(name, size) is not None:
        check_published(published, name, size)
