"""What a run makes: the tables, figures and pages that its configuration asks for."""

from importlib import import_module

from private_ensembles.papers.all import ALL
from private_ensembles.papers.darrm import targets as darrm
from private_ensembles.run import file_names
from private_ensembles.run.configuration import Configuration


def _ask(settings: Configuration, paper: str, what: str, *more) -> list:
    """Return what a paper's module `targets` says of its section: nothing if it lacks the name."""
    module = import_module(f"private_ensembles.papers.{paper}.targets")
    answer = getattr(module, what, None)
    return answer(getattr(settings, paper), *more) if answer else []


def tables(settings: Configuration) -> dict[str, list[str]]:
    """The tables of each paper that are made, whether or not the run covers the paper."""
    return {paper.name: _ask(settings, paper.name, "tables") for paper in ALL}


def figures(settings: Configuration) -> dict[str, list[str]]:
    """The figures of each paper that are made, whether or not the run covers the paper."""
    return {paper.name: _ask(settings, paper.name, "figures") for paper in ALL}


def table_files(settings: Configuration, *papers: str) -> list[str]:
    """Every table of these papers, by default of those that the run covers."""
    items, papers = tables(settings), papers or settings.papers
    return [f"results/{paper}/tables/{item}.csv" for paper in papers for item in items[paper]]


def other_tables(settings: Configuration, *papers: str) -> list[str]:
    """Tables of these papers that lie elsewhere, by default of those that the run covers."""
    papers = papers or settings.papers
    return [file for paper in papers for file in _ask(settings, paper, "other_tables")]


def figure_files(settings: Configuration, *papers: str) -> list[str]:
    """Every figure of these papers, by default of those that the run covers."""
    items, papers = figures(settings), papers or settings.papers
    return [f"results/{paper}/figures/{item}.png" for paper in papers for item in items[paper]]


def paper_files(settings: Configuration, paper: str) -> list[str]:
    """Everything of one paper that this workflow reproduces."""
    others = other_tables(settings, paper) + _ask(settings, paper, "other_files")
    return others + table_files(settings, paper) + figure_files(settings, paper)


def claims(settings: Configuration) -> dict[str, dict]:
    """What the printed numbers of each paper rest on, as this run has it."""
    return {
        paper.name: dict(_ask(settings, paper.name, "claims", paper.name in settings.papers))
        for paper in ALL
    }


def counted_dataset_files(settings: Configuration) -> dict[str, list[str]]:
    """The data sets whose sizes a paper prints, by paper; none of one that the run leaves out."""
    return {
        paper.name: [
            file_names.dataset(name)
            for name in _ask(settings, paper.name, "datasets")
            if paper.name in settings.papers
        ]
        for paper in ALL
    }


def sizes(settings: Configuration) -> dict[str, list[dict]]:
    """What papers print of sizes that the configuration says, as rows by paper; as `counted`."""
    return {
        paper.name: _ask(settings, paper.name, "sizes") if paper.name in settings.papers else []
        for paper in ALL
    }


def audited_gammas(settings: Configuration) -> dict[str, str]:
    """The optimised noise functions of the ledger, by the name of their budget."""
    names = settings.ledger()["budgets"]
    return dict(zip(names, darrm.gamma_files(settings.darrm, settings.gammas()), strict=True))


def ledger(settings: Configuration) -> dict[str, list[str]]:
    """The audit of all papers: its ledger, totals and figure; nothing if it is left out."""
    made = settings.audit is not None
    return {
        "ledger": ["results/privacy_ledger.csv"] * made,
        "totals": ["results/audit/tables/totals.csv"] * made,
        "figures": ["results/audit/figures/claimed_exact.png"] * made,
    }


def planner() -> dict[str, list[str]]:
    """What the planner of mechanisms makes: its tables, the audit of its labels, and its figure."""
    return {
        "tables": [f"results/planner/tables/{name}.csv" for name in ("planner", "fewer_labels")],
        "audit": ["results/planner/tables/audit.csv"],
        "figures": ["results/planner/figures/correct_labels.png"],
    }


def page_inputs(settings: Configuration) -> dict[str, list[str]]:
    """What the page of results shows, by the name that its script knows it by."""
    audit, plans = ledger(settings), planner()
    tables = [*table_files(settings), *other_tables(settings), *audit["totals"]]
    return {
        "tables": [*tables, *plans["tables"], *plans["audit"]],
        "figures": [*figure_files(settings), *audit["figures"], *plans["figures"]],
        "ledger": audit["ledger"],
    }


def published_files(settings: Configuration) -> dict[str, list[str]]:
    """The tables and figures that publish_docs copies."""
    audit, plans = ledger(settings), planner()
    tables = [*other_tables(settings), *audit["ledger"], *audit["totals"], *plans["tables"]]
    return {
        "tables": [*tables, *table_files(settings)],
        "figures": [*audit["figures"], *plans["figures"], *figure_files(settings)],
    }


def page(settings: Configuration) -> str:
    """Where a run ends: the page to open. Own votes take the papers' place; a batch has labels."""
    if settings.own.session.file:
        return file_names.session_batch(settings)["labels"]
    return file_names.own_votes(settings)["page"] if settings.own.votes else "results/index.html"


def default_targets(settings: Configuration) -> list[str]:
    """What the default target asks for."""
    if settings.own.votes:
        return [page(settings)]
    papers = [file for paper in settings.papers for file in paper_files(settings, paper)]
    audit = ledger(settings)
    return [
        *papers,
        *audit["ledger"],
        *audit["figures"],
        "results/fidelity.csv",
        page(settings),
    ]
