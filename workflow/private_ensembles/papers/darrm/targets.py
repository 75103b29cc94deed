"""What a run makes of DaRRM: which tables and figures, and the names of its files."""

from collections.abc import Iterable, Mapping

from private_ensembles.base.parameter_names import join_parameters, m_fold_delta
from private_ensembles.papers.darrm.section import ACCURACY_TABLES, SHAPE_FIGURES, Darrm

# Rules write the points of a grid like this, as `join_parameters` does. The prior is two wildcards,
# because on a cluster Snakemake hands wildcards over in a list that a comma would cut.
GAMMA_POINT = "K={K},m={m},epsilon={epsilon},Delta={Delta},delta={delta},prior={prior},{prior_end}"
SIGMA_POINT = "mechanism=gnmax,K={K},epsilon={epsilon},delta={delta}"
SWEEP_POINT = "K={K},epsilon={epsilon},Delta={Delta}"
TEACHERS_COST = "results/darrm/privacy/teachers.csv"


def pure_shapes(darrm: Darrm) -> list[str]:
    """Return the figures of pure privacy, for which Theorem 4.1 holds."""
    return [name for name in ("figure7", "figure8") if getattr(darrm, name)]


def tables(darrm: Darrm) -> list[str]:
    """Return the tables that are made."""
    items = [item for item, m in darrm.tables if m is not None]
    items += [f"{item}_by_training" for item in items if item in ACCURACY_TABLES]
    if darrm.figure6:
        items.append("table3")  # its parameters
    if pure_shapes(darrm):
        items.append("amplification")
    return items


def other_tables(darrm: Darrm) -> list[str]:
    """Return what the accountant of the private teachers says."""
    return [TEACHERS_COST]


def figures(darrm: Darrm) -> list[str]:
    """Return the figures that are made."""
    shapes = [name for name in (*SHAPE_FIGURES, "figure9") if getattr(darrm, name)]
    return [*shapes, "figure2_region", "figure10", "objectives"]


def other_files(darrm: Darrm) -> list[str]:
    """Return the released labels of every m that a table shows."""
    return [file for m in darrm.label_allowances() for file in label_files(darrm, m)]


def datasets(darrm: Darrm) -> list[str]:
    """Return the data sets whose labels are released."""
    return darrm.label_datasets()


def claims(darrm: Darrm, covered: bool) -> dict:
    """Return what the printed numbers rest on; nothing if the run does not cover them."""
    return darrm.claims() if covered else {}


def gamma_file(darrm: Darrm, *, K, m, epsilon, Delta, delta=None, prior=None) -> str:
    """Return the file of the optimised gamma at one point; delta as in section 6.1 if None."""
    name = join_parameters(
        K=K,
        m=m,
        epsilon=epsilon,
        Delta=Delta,
        delta=m_fold_delta(m, Delta) if delta is None else delta,
        prior=darrm.prior if prior is None else prior,
    )
    return f"results/darrm/gamma/{name}.json"


def gamma_files(darrm: Darrm, points: Iterable[Mapping]) -> list[str]:
    """Return the files of the optimised gammas at several points."""
    return [gamma_file(darrm, **point) for point in points]


def sigma_file(darrm: Darrm, dataset: str, m: int) -> str:
    """Return the file of GNMax's sigma for (m epsilon, m Delta) on one data set."""
    cost = darrm.query_cost(dataset, m)
    budget = {"epsilon": cost["epsilon_query"], "delta": cost["delta_query"]}
    name = join_parameters(mechanism="gnmax", K=darrm.K, **budget)
    return f"results/darrm/privacy/{name}.csv"


def sigma_files(darrm: Darrm, m: int) -> list[str]:
    """Return GNMax's sigmas at one m on the paper's data sets; several may share a file."""
    return [sigma_file(darrm, dataset, m) for dataset in darrm.datasets]


def vote_files(darrm: Darrm, dataset: str) -> dict[str, str]:
    """Return the votes that labels rest on, by kind and seed of their teachers."""
    files = {}
    for ensemble in darrm.ensembles():
        name = f"{ensemble['kind']}_{ensemble['seed']}"
        files[name] = f"results/votes/{dataset}/{join_parameters(**ensemble)}.npz"
    return files


def label_inputs(darrm: Darrm, dataset: str, m: int) -> dict[str, str]:
    """Return what labels on one data set at one m rest on.

    These are votes, gamma, sigma, and the proof of what the teachers cost.
    """
    cost = darrm.teacher_cost(dataset)
    return vote_files(darrm, dataset) | {
        "gamma": gamma_file(darrm, K=darrm.K, m=m, epsilon=cost["epsilon"], Delta=cost["Delta"]),
        "sigma": sigma_file(darrm, dataset, m),
        "proof": TEACHERS_COST,
    }


def label_files(darrm: Darrm, m: int) -> list[str]:
    """Return released labels and their accuracy at one m, of every data set of this run."""
    names = (join_parameters(dataset=dataset, m=m) for dataset in darrm.label_datasets())
    return [f"results/darrm/labels/{name}.csv" for name in names]


def sweep_files(darrm: Darrm) -> list[str]:
    """Return every point of the sweeps: all m of one K, epsilon and Delta in one job."""
    grid = darrm.sweeps
    return [
        f"results/darrm/sweeps/{join_parameters(K=K, epsilon=epsilon, Delta=Delta)}.json"
        for K in grid.K
        for epsilon in grid.epsilon
        for Delta in grid.Delta
    ]
