# Configuration, environment of the jobs, wildcards, and the names of files.
import os
import sys

sys.path.insert(0, f"{workflow.basedir}/workflow")
os.environ |= {
    # Jobs import the package from here, so they run uninstalled, with --directory, on a cluster.
    "PYTHONPATH": os.pathsep.join(
        filter(None, [f"{workflow.basedir}/workflow", os.environ.get("PYTHONPATH")])
    ),
    # Idle threads of one job must not spin on the core of another (25 times slower otherwise).
    "OMP_WAIT_POLICY": "PASSIVE",
}
# Read by the Slurm executor alone; as an option it would be relative to --directory.
os.environ.setdefault(
    "SNAKEMAKE_SLURM_PARTITIONS", f"{workflow.basedir}/profiles/slurm/partitions.yaml"
)

from private_ensembles.configuration import check as settings
from private_ensembles.configuration import datasets as dataset_config
from private_ensembles.configuration import dpbag as dpbag_config
from private_ensembles.configuration import nzc, pate
from private_ensembles.configuration.naming import (
    NUMBER,
    delta_of,
    instance,
    multiply,
    parse_instance,
)
from private_ensembles.experiments.grid_points import prior_points, shape_points
from private_ensembles.jobs import announce
from private_ensembles.jobs.fingerprint import fingerprint
from private_ensembles.mechanisms import names
from private_ensembles.teachers.slices import slice_names

# In place: scripts and later rules see the checked values, and nothing else.
settings.check_or_exit(
    config,
    settings.standpoints(workflow.overwrite_workdir, workflow.basedir),
    settings.sources(workflow.configfiles, workflow.config_settings.config),
    names(),
)


wildcard_constraints:
    dataset="|".join([*config["datasets"], *config["synthetic_votes"]]),
    file=dataset_config.file_pattern(config),
    kind="private|plain",
    profile="|".join(config["synthetic_votes"]) or "none",
    K=r"\d+",
    seed=r"\d+",
    slice=r"\d+of\d+",
    m=NUMBER,
    shape_figure="|".join(settings.SHAPE_FIGURES),
    epsilon=NUMBER,
    Delta=NUMBER,
    delta=NUMBER,
    prior=r"[a-z-]+:[\d.]+",
    prior_end=r"[\d.]+",
    accuracy_table="table1|table6|table8|table10",
    loss_table="table2|table5|table7|table9",
    task="|".join(config["pate"]["tasks"]),
    aggregator=r"lnmax-\d+|confident",
    nzc_task="|".join(config["nzc"]["tasks"]),


# One name for each thing that more than one rule speaks of. ------------------------------------

# The names of instances, as `instance` writes them ("prior=uniform:0.5,1"). A wildcard for each
# part, because on a cluster Snakemake hands them over in a list that a comma would cut.
GRID_POINT = "K={K},m={m},epsilon={epsilon},Delta={Delta},delta={delta},prior={prior},{prior_end}"
SWEEP_POINT = "K={K},epsilon={epsilon},Delta={Delta}"
GNMAX_POINT = "mechanism=gnmax,K={K},epsilon={epsilon},delta={delta}"

# The data sets whose labels are released: the paper's, or their stand-in.
LABEL_DATASETS = settings.label_datasets(config)
# The tables that the configuration asks for (a null leaves one out), with their m.
TABLES = {item: m for item, m in config["darrm"]["tables"].items() if m is not None}
# Figures of gamma's shape, and all figures, that the configuration asks for.
SHAPES = [name for name in settings.SHAPE_FIGURES if config["darrm"][name]]
FIGURES = [*SHAPES, *["figure9"] * bool(config["darrm"]["figure9"]), "figure10", "objectives"]
# Figures 7 and 8 are those of pure privacy, where Theorem 4.1 holds.
PURE = [name for name in ("figure7", "figure8") if config["darrm"][name]]
# Every table that is made: the simulations' beside those of `darrm.tables`.
ALL_TABLES = [*TABLES, *["table3"] * ("figure6" in SHAPES), *["amplification"] * bool(PURE)]
# Labels are released for every m of the list and of the accuracy tables.
LABEL_ALLOWANCES = settings.label_allowances(config)
# PATE's tasks of this configuration, those with a student, and the tables and figures they fill.
TASKS = pate.tasks(config, lambda dataset: dataset_config.available(config, dataset))
STUDENT_TASKS = [task for task in TASKS if config["pate"]["tasks"][task]["student"]]
FIGURE1_TASK = next((task for task in config["pate"]["figure1"] or [] if task in TASKS), None)
PATE_FIGURES = [name for name in ("figure4", "figure5") if config["pate"][name]]
PATE_FIGURES = [*["figure1"] * bool(FIGURE1_TASK), *PATE_FIGURES]
PATE_TABLES = [*["table1", "table2"] * bool(TASKS), "printed_arithmetic", "small_print"]
EQUAL_BUDGET = ["equal_budget"] * bool(TASKS and config["pate"]["equal_budget"])
PATE_TABLES = [*PATE_TABLES, *EQUAL_BUDGET]
# NZC's tasks of this configuration, and what they fill; the audit of all papers.
NZC_TASKS = nzc.tasks(config, lambda dataset: dataset_config.available(config, dataset))
NZC_TABLES = [*["table1", "table2"] * bool(NZC_TASKS), "leads"]
NZC_FIGURES = ["figure2"] * bool(NZC_TASKS)
LEDGER = ["results/privacy_ledger.csv"] * bool(config["audit"])
AUDIT = [*LEDGER, *["results/audit/figures/claimed_exact.png"] * bool(LEDGER)]
TOTALS = ["results/audit/tables/totals.csv"] * bool(LEDGER)
# What the accountant of DaRRM's private teachers says, where that paper is covered.
TEACHERS = ["results/darrm/privacy/teachers.csv"] * ("darrm" in config["papers"])
# The tables of the models that this configuration trains, and the records that are counted.
DPBAG_TABLES = [t for kind in ("students", "labels") for t in dpbag_config.tables(config, kind)]
# Drawn from those tables, of all models at once.
DPBAG_FIGURES = ["label_counts", "student_accuracy"] * bool(DPBAG_TABLES)
BAGGED_RECORDS = [f"results/datasets/{config['dpbag']['dataset']}.npz"] * (
    "dpbag" in config["papers"] and config["data"] == "paper"
)
# Where a run ends: the page to open.
PAGES = ["results/own/index.html" if config["votes"] else "results/index.html"]
# A GPU is asked of the scheduler only where the configuration insists on one.
GPUS = int(config["device"] == "cuda")
# With --cache, data sets, teachers and votes are shared by all checkouts, known by data, parameters
# and code. Nothing here has an environment of its own that could tell the software.
SHARED = "omit-software" if workflow.enable_cache else False


def growing(mem_mb):
    """A request for memory (MB) that doubles with every attempt; profiles/slurm makes three.

    About twice the peak measured on the paper's data, which each job's log tells, and 300 MB for
    Snakemake itself where Slurm runs the job. tests/workflow/test_resources.py compares.
    """
    return lambda wildcards, attempt: mem_mb * 2 ** (attempt - 1)


def teacher_cost(dataset):
    """(epsilon, Delta) of one private teacher, as the configuration claims it."""
    cost = settings.dataset_settings(config, dataset)
    return cost["epsilon"], cost["Delta"]


def teacher_files(wildcards):
    """The teachers of one ensemble: one file, or one for each slice that a job trains."""
    ensemble = instance(kind=wildcards.kind, K=int(wildcards.K), seed=int(wildcards.seed))
    slices = slice_names(int(wildcards.K), config["teachers"]["per_job"])
    names = [f"{ensemble},slice={name}" for name in slices] or [ensemble]
    return [f"results/teachers/{wildcards.dataset}/{name}.pt" for name in names]


def votes_file(dataset, kind, seed):
    """The votes of one ensemble on the test images."""
    ensemble = instance(kind=kind, K=config["darrm"]["K"], seed=seed)
    return f"results/votes/{dataset}/{ensemble}.npz"


def gamma_file(K, m, epsilon, Delta, delta=None, prior=config["darrm"]["prior"]):
    """The optimised noise function at one grid point; delta by default as in DaRRM section 6.1."""
    point = instance(
        K=K,
        m=m,
        epsilon=epsilon,
        Delta=Delta,
        delta=delta_of(m, Delta) if delta is None else delta,
        prior=prior,
    )
    return f"results/darrm/gamma/{point}.json"


def sigma_file(dataset, m):
    """GNMax's sigma for (m epsilon, m Delta), DaRRM appendix D.2.1."""
    epsilon, Delta = teacher_cost(dataset)
    point = instance(
        mechanism="gnmax",
        K=config["darrm"]["K"],
        epsilon=multiply(m, epsilon),
        delta=multiply(m, Delta),
    )
    return f"results/darrm/privacy/{point}.csv"


def labels_file(dataset, m, suffix="csv"):
    """Released labels and their accuracy for one data set and one m."""
    return f"results/darrm/labels/{instance(dataset=dataset, m=m)}.{suffix}"


def sweep_files():
    """Every point of the sweeps: all m of one K, epsilon and Delta in one job."""
    grid = config["darrm"]["sweeps"]
    points = [
        instance(K=K, epsilon=epsilon, Delta=Delta)
        for K in grid["K"]
        for epsilon in grid["epsilon"]
        for Delta in grid["Delta"]
    ]
    return collect("results/darrm/sweeps/{point}.json", point=points)


def pate_dataset_file(task):
    """The data set of one of PATE's tasks."""
    return f"results/datasets/{config['pate']['tasks'][task]['dataset']}.npz"


def pate_votes_file(task):
    """The votes of a task's ensemble on all test images or records."""
    ensemble = instance(**pate.ensemble(config, task))
    return f"results/votes/{config['pate']['tasks'][task]['dataset']}/{ensemble}.npz"


def synthetic_votes_file(K):
    """Synthetic votes of K teachers, as the figures need them."""
    ensemble = instance(kind="synthetic", K=K, seed=config["pate"]["training_seed"])
    return f"results/votes/glyph/{ensemble}.npz"


def student_files(task, suffix="csv"):
    """Summaries (or histories) of all students of one task."""
    students = [
        instance(task=task, aggregator=aggregator, seed=seed)
        for aggregator in pate.aggregators(config, task)
        for seed in pate.student_seeds(config, task)
    ]
    return collect(f"results/pate/students/{{student}}.{suffix}", student=students)


def baseline_files(task):
    """Summaries of the non-private baselines of one task."""
    seeds = pate.student_seeds(config, task)
    return collect(f"results/pate/baselines/task={task},seed={{seed}}.csv", seed=seeds)


def nzc_votes_file(task, K):
    """Votes of one of a task's ensembles."""
    dataset = config["nzc"]["tasks"][task]["dataset"]
    return f"results/votes/{dataset}/{instance(**nzc.ensemble(config, K))}.npz"


def nzc_student_files(task):
    """Summaries of all students of one task."""
    seeds = nzc.student_seeds(config, task)
    return collect(f"results/nzc/students/task={task},seed={{seed}}.csv", seed=seeds)


def _made(folder, items):
    """Names of the tables or figures of all papers that the configuration covers."""
    return [
        f"results/{paper}/{folder.format(item=item)}"
        for paper in config["papers"]
        for item in items[paper]
    ]


def table_files():
    """Every table of the papers covered."""
    tables = {"darrm": ALL_TABLES, "pate": PATE_TABLES}
    tables["dpbag"] = [*DPBAG_TABLES, "labels", "conjecture"]
    tables["nzc"] = NZC_TABLES
    return _made("tables/{item}.csv", tables)


def figure_files():
    """Every figure of the papers covered."""
    figures = {"darrm": FIGURES, "pate": PATE_FIGURES}
    figures |= {"dpbag": DPBAG_FIGURES, "nzc": NZC_FIGURES}
    return _made("figures/{item}.png", figures)


def docs_file(path):
    """Where publish_docs copies a result to: results/pate/tables/x.csv to docs/pate/x.csv."""
    _, *folders, name = path.split("/")
    return f"docs/{folders[0]}/{name}" if folders else f"docs/{name}"
