"""What a run makes: the tasks, tables, figures and pages that its configuration asks for."""

from collections.abc import Mapping

from private_ensembles.configuration import check, datasets, dpbag, files, nzc, pate

LEDGER = "results/privacy_ledger.csv"
LEDGER_FIGURE = "results/audit/figures/claimed_exact.png"
TOTALS = "results/audit/tables/totals.csv"


def pate_tasks(config: Mapping) -> list[str]:
    """PATE's tasks whose data sets are of this configuration and at hand."""
    return pate.tasks(config, lambda dataset: datasets.available(config, dataset))


def student_tasks(config: Mapping) -> list[str]:
    """PATE's tasks that train students."""
    return [task for task in pate_tasks(config) if config["pate"]["tasks"][task]["student"]]


def figure1_task(config: Mapping) -> str | None:
    """The task that PATE's Figure 1 shows: the first of its list that is run; None without one."""
    tasks = pate_tasks(config)
    return next((task for task in config["pate"]["figure1"] or [] if task in tasks), None)


def pate_votes(config: Mapping) -> dict[str, str]:
    """The votes of every task of PATE's, by its name."""
    return {task: files.pate_votes(config, task) for task in pate_tasks(config)}


def nzc_tasks(config: Mapping) -> list[str]:
    """NZC's tasks whose data sets are of this configuration and at hand."""
    return nzc.tasks(config, lambda dataset: datasets.available(config, dataset))


def nzc_votes(config: Mapping) -> dict[str, dict[int, str]]:
    """The votes of every ensemble of every task of NZC's, by task and number of teachers."""
    return {task: files.nzc_votes(config, task) for task in nzc_tasks(config)}


def shapes(config: Mapping) -> list[str]:
    """DaRRM's figures of gamma's shape that the configuration asks for (a null leaves one out)."""
    return [name for name in check.SHAPE_FIGURES if config["darrm"][name]]


def pure_shapes(config: Mapping) -> list[str]:
    """DaRRM's figures of pure privacy, where Theorem 4.1 holds."""
    return [name for name in ("figure7", "figure8") if config["darrm"][name]]


def tables(config: Mapping) -> dict[str, list[str]]:
    """The tables of each paper that are made, whether or not the run covers the paper."""
    darrm = [item for item, m in config["darrm"]["tables"].items() if m is not None]
    if "figure6" in shapes(config):
        darrm.append("table3")  # its parameters
    if pure_shapes(config):
        darrm.append("amplification")
    pate_items = ["printed_arithmetic", "small_print"]
    if pate_tasks(config):
        pate_items = ["table1", "table2", *pate_items]
        if config["pate"]["equal_budget"]:
            pate_items.append("equal_budget")
    return {
        "darrm": darrm,
        "pate": pate_items,
        "dpbag": [*_bagged_items(config), "labels", "conjecture"],
        "nzc": ["table1", "table2", "leads"] if nzc_tasks(config) else ["leads"],
    }


def _bagged_items(config: Mapping) -> list[str]:
    return [*dpbag.tables(config, "students"), *dpbag.tables(config, "labels")]


def bagged_tables(config: Mapping, kind: str) -> list[str]:
    """DPBag's tables of the `students`, or of the `labels`, of the models that are trained."""
    return [f"results/dpbag/tables/{item}.csv" for item in dpbag.tables(config, kind)]


def figures(config: Mapping) -> dict[str, list[str]]:
    """The figures of each paper that are made, whether or not the run covers the paper."""
    darrm = shapes(config)
    if config["darrm"]["figure9"]:
        darrm.append("figure9")
    pate_items = [name for name in ("figure4", "figure5") if config["pate"][name]]
    if figure1_task(config):
        pate_items.insert(0, "figure1")
    return {
        "darrm": [*darrm, "figure10", "objectives"],
        "pate": pate_items,
        "dpbag": ["label_counts", "student_accuracy"] if _bagged_items(config) else [],
        "nzc": ["figure2"] if nzc_tasks(config) else [],
    }


def table_files(config: Mapping, papers: list[str] | None = None) -> list[str]:
    """Every table of these papers, by default of those that the run covers."""
    items = tables(config)
    covered = config["papers"] if papers is None else papers
    return [f"results/{paper}/tables/{item}.csv" for paper in covered for item in items[paper]]


def figure_files(config: Mapping, papers: list[str] | None = None) -> list[str]:
    """Every figure of these papers, by default of those that the run covers."""
    items = figures(config)
    covered = config["papers"] if papers is None else papers
    return [f"results/{paper}/figures/{item}.png" for paper in covered for item in items[paper]]


def paper_files(config: Mapping, paper: str) -> list[str]:
    """Everything of one paper that this workflow reproduces."""
    made = table_files(config, [paper]) + figure_files(config, [paper])
    if paper == "darrm":
        allowances = check.label_allowances(config)
        labels = [file for m in allowances for file in files.labels(config, m)]
        return [files.TEACHERS_COST, *labels, *made]
    if paper == "pate":
        return [f"results/pate/privacy/task={task}.csv" for task in pate_tasks(config)] + made
    return made


def teachers_cost(config: Mapping) -> list[str]:
    """What the accountant of DaRRM's private teachers says, where that paper is covered."""
    return [files.TEACHERS_COST] if "darrm" in config["papers"] else []


def label_datasets(config: Mapping) -> list[str]:
    """The data sets whose labels DaRRM releases, where that paper is covered."""
    names = check.label_datasets(config) if "darrm" in config["papers"] else []
    return [f"results/datasets/{name}.npz" for name in names]


def bagged_records(config: Mapping) -> list[str]:
    """DPBag's own data set, whose records are counted; nothing where a stand-in is used."""
    if "dpbag" in config["papers"] and config["data"] == "paper":
        return [f"results/datasets/{config['dpbag']['dataset']}.npz"]
    return []


def ledger(config: Mapping) -> dict[str, list[str]]:
    """The audit of all papers: its ledger, totals and figure; nothing where it is left out."""
    parts = {"ledger": [LEDGER], "totals": [TOTALS], "figures": [LEDGER_FIGURE]}
    return parts if config["audit"] else {part: [] for part in parts}


def published(config: Mapping) -> dict[str, list[str]]:
    """The tables and figures that publish_docs copies."""
    audit = ledger(config)
    tables = [*teachers_cost(config), *audit["ledger"], *audit["totals"], *table_files(config)]
    return {"tables": tables, "figures": [*audit["figures"], *figure_files(config)]}


def page(config: Mapping) -> str:
    """Where a run ends: the page to open. Own votes take the papers' place."""
    return "results/own/index.html" if config["votes"] else "results/index.html"


def everything(config: Mapping) -> list[str]:
    """What the default target asks for."""
    if config["votes"]:
        return [page(config)]
    papers = [file for paper in config["papers"] for file in paper_files(config, paper)]
    audit = ledger(config)
    return [*papers, *audit["ledger"], *audit["figures"], "results/fidelity.csv", page(config)]
