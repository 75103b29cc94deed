"""Ledgers of releases, as tests look at them."""

from pathlib import Path

from private_ensembles.release.certificate import Proof
from private_ensembles.release.ledger_file import Batch
from private_ensembles.release.pool import Names
from private_ensembles.release.record import Record, Release
from private_ensembles.release.release_plan import ReleasePlan
from private_ensembles.release.session_terms import Terms

NOTHING_PROVEN = Proof({"kind": "none", "theorem": "none", "why": "this is a test"})


def make_release(plan: ReleasePlan, epsilon: float) -> Release:
    """Return a release by this plan, as a ledger has it."""
    batch = Batch(1, "0001", 1, 0, plan.queries, plan.labels, epsilon, 0.0, None, [0])
    return Release(batch, Terms(plan, Names(), NOTHING_PROVEN))


def releases(own: str | Path = "results/own") -> list[Release]:
    """Return the releases on the ledger of a folder, its hashes checked; none without a ledger."""
    path = Path(own) / "ledger.sqlite"
    return list(Record.read_verified(path).releases) if path.exists() else []


def seen_is_charged(own: str | Path = "results/own") -> None:
    """Check that all labels that may be published, finished or not, are on the ledger."""
    texts = [one.terms.labels_text(one.batch) for one in releases(own)]
    for path in filter(Path.is_file, Path(own, "release").rglob("*")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "labels" in path.name and text:
            assert any(whole.startswith(text) for whole in texts), path
