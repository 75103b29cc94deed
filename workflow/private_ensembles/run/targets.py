"""What a run makes: the tasks, tables, figures and pages that its configuration asks for."""

from private_ensembles.papers.darrm.section import ACCURACY_TABLES, SHAPE_FIGURES
from private_ensembles.run import names_of_files
from private_ensembles.run.configuration import Configuration


def student_tasks(settings: Configuration) -> list[str]:
    """PATE's tasks that train students."""
    return [task for task in settings.pate.running() if settings.pate.tasks[task].student]


def figure1_task(settings: Configuration) -> str | None:
    """The task that PATE's Figure 1 shows: the first of its list that is run; None without one."""
    tasks = settings.pate.running()
    return next((task for task in settings.pate.figure1 or [] if task in tasks), None)


def pate_votes(settings: Configuration) -> dict[str, str]:
    """The votes of every task of PATE's, by its name."""
    return {task: names_of_files.pate_votes(settings, task) for task in settings.pate.running()}


def nzc_votes(settings: Configuration) -> dict[str, dict[int, str]]:
    """The votes of every ensemble of every task of NZC's, by task and number of teachers."""
    return {task: names_of_files.nzc_votes(settings, task) for task in settings.nzc.running()}


def pure_shapes(settings: Configuration) -> list[str]:
    """DaRRM's figures of pure privacy, for which Theorem 4.1 holds."""
    return [name for name in ("figure7", "figure8") if getattr(settings.darrm, name)]


def tables(settings: Configuration) -> dict[str, list[str]]:
    """The tables of each paper that are made, whether or not the run covers the paper."""
    darrm = [item for item, m in settings.darrm.tables if m is not None]
    darrm += [f"{item}_by_training" for item in darrm if item in ACCURACY_TABLES]
    if settings.darrm.figure6:
        darrm.append("table3")  # its parameters
    if pure_shapes(settings):
        darrm.append("amplification")
    pate_items = ["printed_arithmetic", "small_print"]
    if settings.pate.running():
        pate_items = ["table1", "table2", *pate_items]
    if settings.pate.figure5:
        pate_items.append("equal_answers")
    bagged = [*settings.dpbag.run_tables("students"), *settings.dpbag.run_tables("labels")]
    bagged += [f"{item}_by_split" for item in bagged]
    return {
        "darrm": darrm,
        "pate": pate_items,
        "dpbag": [*bagged, "labels", "conjecture"],
        "nzc": ["table1", "table2", "figure2", "leads"] if settings.nzc.running() else ["leads"],
    }


def figures(settings: Configuration) -> dict[str, list[str]]:
    """The figures of each paper that are made, whether or not the run covers the paper."""
    shapes = [name for name in (*SHAPE_FIGURES, "figure9") if getattr(settings.darrm, name)]
    pate_items = [name for name in ("figure4", "figure5") if getattr(settings.pate, name)]
    if figure1_task(settings):
        pate_items.insert(0, "figure1")
    return {
        "darrm": [*shapes, "figure2_region", "figure10", "objectives"],
        "pate": pate_items,
        "dpbag": ["label_counts", "student_accuracy"] if settings.dpbag.used.models() else [],
        "nzc": ["figure2"] if settings.nzc.running() else [],
    }


def table_files(settings: Configuration, *papers: str) -> list[str]:
    """Every table of these papers, by default of those that the run covers."""
    items, papers = tables(settings), papers or settings.papers
    return [f"results/{paper}/tables/{item}.csv" for paper in papers for item in items[paper]]


def figure_files(settings: Configuration, *papers: str) -> list[str]:
    """Every figure of these papers, by default of those that the run covers."""
    items, papers = figures(settings), papers or settings.papers
    return [f"results/{paper}/figures/{item}.png" for paper in papers for item in items[paper]]


def paper_files(settings: Configuration, paper: str) -> list[str]:
    """Everything of one paper that this workflow reproduces."""
    made = table_files(settings, paper) + figure_files(settings, paper)
    if paper == "darrm":
        allowances = settings.darrm.label_allowances()
        labels = [file for m in allowances for file in names_of_files.labels(settings, m)]
        return [names_of_files.TEACHERS_COST, *labels, *made]
    if paper == "pate":
        return [f"results/pate/privacy/task={task}.csv" for task in settings.pate.running()] + made
    return made


def teachers_cost(settings: Configuration) -> list[str]:
    """What the accountant of DaRRM's private teachers says, if that paper is covered."""
    return [names_of_files.TEACHERS_COST] if "darrm" in settings.papers else []


def label_datasets(settings: Configuration) -> list[str]:
    """The data sets whose labels DaRRM releases, if that paper is covered."""
    names = settings.darrm.label_datasets() if "darrm" in settings.papers else []
    return [names_of_files.dataset(name) for name in names]


def bagged_records(settings: Configuration) -> list[str]:
    """DPBag's own data set, whose records are counted; nothing if a stand-in is used."""
    if "dpbag" in settings.papers and settings.data == "paper":
        return [names_of_files.dataset(settings.dpbag.dataset)]
    return []


def ledger(settings: Configuration) -> dict[str, list[str]]:
    """The audit of all papers: its ledger, totals and figure; nothing if it is left out."""
    made = settings.audit is not None
    return {
        "ledger": ["results/privacy_ledger.csv"] * made,
        "totals": ["results/audit/tables/totals.csv"] * made,
        "figures": ["results/audit/figures/claimed_exact.png"] * made,
    }


def published(settings: Configuration) -> dict[str, list[str]]:
    """The tables and figures that publish_docs copies."""
    audit = ledger(settings)
    tables = [*teachers_cost(settings), *audit["ledger"], *audit["totals"]]
    tables += [f"results/planner/tables/{name}.csv" for name in ("planner", "fewer_labels")]
    figures = [*audit["figures"], "results/planner/figures/correct_labels.png"]
    figures += figure_files(settings)
    return {"tables": [*tables, *table_files(settings)], "figures": figures}


def page(settings: Configuration) -> str:
    """Where a run ends: the page to open. Own votes take the papers' place; a batch has labels."""
    if settings.own.session.file:
        return names_of_files.session_batch(settings)["labels"]
    return (
        names_of_files.own_votes(settings)["page"] if settings.own.votes else "results/index.html"
    )


def everything(settings: Configuration) -> list[str]:
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
