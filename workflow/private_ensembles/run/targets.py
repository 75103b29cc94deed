"""What a run makes: the tables, figures and pages that its configuration asks for."""

from importlib import import_module

from private_ensembles.papers.all import ALL
from private_ensembles.papers.darrm import targets as darrm
from private_ensembles.run import file_names
from private_ensembles.run.configuration import Configuration


def _call_targets(settings: Configuration, paper: str, name: str, *arguments) -> list:
    """Return what a function of a paper's module `targets` says of its section.

    The result is empty if the module lacks the function.
    """
    module = import_module(f"private_ensembles.papers.{paper}.targets")
    function = getattr(module, name, None)
    return function(getattr(settings, paper), *arguments) if function else []


def table_names(settings: Configuration) -> dict[str, list[str]]:
    """Return the names of each paper's tables, whether or not the run covers the paper."""
    return {paper.name: _call_targets(settings, paper.name, "tables") for paper in ALL}


def figure_names(settings: Configuration) -> dict[str, list[str]]:
    """Return the names of each paper's figures, whether or not the run covers the paper."""
    return {paper.name: _call_targets(settings, paper.name, "figures") for paper in ALL}


def table_files(settings: Configuration, *papers: str) -> list[str]:
    """Return the files of all tables of these papers, by default of those that the run covers."""
    names, papers = table_names(settings), papers or settings.papers
    return [f"results/{paper}/tables/{name}.csv" for paper in papers for name in names[paper]]


def tables_in_other_folders(settings: Configuration, *papers: str) -> list[str]:
    """Return tables of these papers in other folders, by default of those that the run covers."""
    papers = papers or settings.papers
    return [file for paper in papers for file in _call_targets(settings, paper, "other_tables")]


def figure_files(settings: Configuration, *papers: str) -> list[str]:
    """Return the files of all figures of these papers, by default of those that the run covers."""
    names, papers = figure_names(settings), papers or settings.papers
    return [f"results/{paper}/figures/{name}.png" for paper in papers for name in names[paper]]


def paper_files(settings: Configuration, paper: str) -> list[str]:
    """Return all files of one paper that this workflow reproduces."""
    others = tables_in_other_folders(settings, paper) + _call_targets(
        settings, paper, "other_files"
    )
    return others + table_files(settings, paper) + figure_files(settings, paper)


def printed_number_settings(settings: Configuration) -> dict[str, dict]:
    """Return what the printed numbers of each paper rest on in this run, by paper."""
    return {
        paper.name: dict(
            _call_targets(settings, paper.name, "claims", paper.name in settings.papers)
        )
        for paper in ALL
    }


def dataset_files_of_printed_sizes(settings: Configuration) -> dict[str, list[str]]:
    """Return the data sets whose sizes a paper prints, by paper.

    A paper that the run leaves out has none.
    """
    return {
        paper.name: [
            file_names.dataset(name)
            for name in _call_targets(settings, paper.name, "datasets")
            if paper.name in settings.papers
        ]
        for paper in ALL
    }


def size_rows(settings: Configuration) -> dict[str, list[dict]]:
    """Return rows of the sizes that a paper prints and the configuration states, by paper.

    A paper that the run leaves out has none.
    """
    return {
        paper.name: (
            _call_targets(settings, paper.name, "sizes") if paper.name in settings.papers else []
        )
        for paper in ALL
    }


def audited_gammas(settings: Configuration) -> dict[str, str]:
    """Return the files of the ledger's optimised noise functions, by the name of their budget."""
    names = settings.ledger()["budgets"]
    return dict(zip(names, darrm.gamma_files(settings.darrm, settings.gammas()), strict=True))


def audit_files(settings: Configuration) -> dict[str, list[str]]:
    """Return the files of the audit: ledger, totals and figure; none if it is left out."""
    audited = settings.audit is not None
    return {
        "ledger": ["results/privacy_ledger.csv"] * audited,
        "totals": ["results/audit/tables/totals.csv"] * audited,
        "figures": ["results/audit/figures/claimed_exact.png"] * audited,
    }


def planner_files() -> dict[str, list[str]]:
    """Return the planner's files: its tables, the audit of its labels, and its figure."""
    return {
        "tables": [f"results/planner/tables/{name}.csv" for name in ("planner", "fewer_labels")],
        "audit": ["results/planner/tables/audit.csv"],
        "figures": ["results/planner/figures/correct_labels.png"],
    }


def page_inputs(settings: Configuration) -> dict[str, list[str]]:
    """Return the files that the page of results shows, by their names in the page's script."""
    audit, plans = audit_files(settings), planner_files()
    tables = [*table_files(settings), *tables_in_other_folders(settings), *audit["totals"]]
    return {
        "tables": [*tables, *plans["tables"], *plans["audit"]],
        "figures": [*figure_files(settings), *audit["figures"], *plans["figures"]],
        "ledger": audit["ledger"],
    }


def published_files(settings: Configuration) -> dict[str, list[str]]:
    """Return the tables and figures that publish_docs copies."""
    audit, plans = audit_files(settings), planner_files()
    tables = [
        *tables_in_other_folders(settings),
        *audit["ledger"],
        *audit["totals"],
        *plans["tables"],
    ]
    return {
        "tables": [*tables, *table_files(settings)],
        "figures": [*audit["figures"], *plans["figures"], *figure_files(settings)],
    }


def final_file(settings: Configuration) -> str:
    """Return the file with which a run ends, a page to open or the labels of a batch.

    Own votes have a page in place of that of the papers.
    """
    if settings.own.session.file:
        return file_names.session_batch(settings)["labels"]
    return file_names.own_votes(settings)["page"] if settings.own.votes else "results/index.html"


def default_targets(settings: Configuration) -> list[str]:
    """Return the files that the default target asks for."""
    if settings.own.votes:
        return [final_file(settings)]
    papers = [file for paper in settings.papers for file in paper_files(settings, paper)]
    audit = audit_files(settings)
    return [
        *papers,
        *audit["ledger"],
        *audit["figures"],
        "results/fidelity.csv",
        final_file(settings),
    ]
