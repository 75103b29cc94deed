"""What K teachers' votes may release, at what privacy cost, and how often the label is right.

Offers one function for each question of a user (`__all__`), and loads a package only when it is
used: a script that needs `darrm` must not pay for, nor depend on, `teachers`. The core needs NumPy,
SciPy, pandas, HiGHS and OpenDP; what else a module imports comes with an extra.

>>> from private_ensembles import noise_scale
>>> round(noise_scale("gnmax", epsilon=1, delta=1e-5, labels=20, teachers=51), 2)
19.48
"""

__version__ = "0.4.0"

# Where the repository is. `.ci/publish_at ADDRESS` changes it here and wherever it is written;
# until then it is of an OWNER, and no link leads there.
REPOSITORY = "https://github.com/OWNER/private-ensembles"

# Where the site (`.ci/mkdocs.yml`) is deployed, with a slash at its end. Links from the page of
# results and from messages then lead there; while it is empty, to the repository.
SITE = ""

# Modules of other projects, and the extra of pyproject.toml that brings them.
EXTRAS = {
    "torch": "teachers",
    "opacus": "teachers",
    "dp_accounting": "teachers",
    "sklearn": "trees",
    "lightgbm": "trees",
    "gurobipy": "gurobi",
    "jinja2": "workflow",
    "markupsafe": "workflow",
    "matplotlib": "workflow",
    "pyarrow": "workflow",
    "pydantic": "workflow",
    "pydantic_core": "workflow",
    "yaml": "workflow",
    "requests": "workflow",
    "tenacity": "workflow",
    "urllib3": "workflow",
}


def missing_extra(error: ModuleNotFoundError) -> str:
    """Return in one line what a failed import says, or how to install a module of an extra.

    Commands and jobs end with this line (`base.files.describe`).

    >>> missing_extra(ModuleNotFoundError("No module named 'torch'", name="torch"))
    "torch is not installed; in the folder of pyproject.toml run: pip install '.[teachers]'"
    """
    if error.name not in EXTRAS:
        return str(error)
    return (
        f"{error.name} is not installed; in the folder of pyproject.toml run: "
        f"pip install '.[{EXTRAS[error.name]}]'"
    )


def docs_address(page: str) -> str:
    """Return where a page of docs/ is read: on the site, or in the repository without one.

    page: its path from the root of the repository, perhaps with an anchor. It is returned as it is
    while neither has an address.
    """
    if SITE:
        name, hash_sign, anchor = page.partition("#")
        return f"{SITE}{on_site(name)}{hash_sign}{anchor}"
    return page if "/OWNER/" in REPOSITORY else f"{REPOSITORY}/blob/main/{page}"


def on_site(name: str) -> str:
    """Return the path on the site of a page that is at `name` in the repository.

    >>> on_site("docs/nzc.md"), on_site("docs/darrm/README.md")
    ('docs/nzc.html', 'docs/darrm/index.html')
    """
    stem = name.removesuffix(".md")
    return f"{stem.removesuffix('README')}index.html" if stem.endswith("README") else f"{stem}.html"


# Name: the module that has it, and what it is called there.
_PUBLIC = {
    "Budget": ("labels.task", "Budget"),
    "Ensemble": ("labels.task", "Ensemble"),
    "Protection": ("labels.task", "Protection"),
    "Wanted": ("labels.task", "Wanted"),
    "Rehearsal": ("labels.task", "Rehearsal"),
    "plan": ("labels.planner.api", "plan"),
    "release_labels": ("release.api", "release_labels"),
    "release_statement": ("release.api", "release_statement"),
    "noise_scale": ("labels.noise_scale", "noise_scale"),
    "label_epsilon": ("labels.noise_scale", "label_epsilon"),
    "label_loss_distribution": ("labels.label_loss_distribution", "label_loss_distribution"),
    "score_epsilon": ("labels.scores", "score_epsilon"),
    "score_scale": ("labels.scores", "score_scale"),
    "draw_scores": ("labels.scores", "draw_scores"),
    "audit_mechanism": ("audit.api", "audit_mechanism"),
    "to_pld": ("accounting.export", "to_pld"),
    "dpsgd_epsilon": ("training.api", "dpsgd_epsilon"),
    "optimize_gamma": ("papers.darrm.mathematics.optimize", "optimize_gamma"),
    "certify": ("papers.darrm.mathematics.certificate", "certify"),
    "gamma_constant": ("papers.darrm.mathematics.gamma", "gamma_constant"),
    "gamma_subsampling": ("papers.darrm.mathematics.gamma", "gamma_subsampling"),
    "gamma_double_subsampling": ("papers.darrm.mathematics.gamma", "gamma_double_subsampling"),
    "expected_error": ("papers.darrm.mathematics.error", "expected_error"),
    "gnmax_sigma": ("labels.gnmax", "gnmax_sigma"),
    "gnmax_rdp": ("papers.pate.mathematics.rdp", "gnmax_rdp"),
    "confident_gnmax_privacy": (
        "papers.pate.mathematics.confident",
        "confident_gnmax_privacy",
    ),
    "exact_epsilon": ("audit.divergence", "exact_epsilon"),
    "exact_delta": ("audit.divergence", "exact_delta"),
    "release_darrm": ("release.api", "release_darrm"),
    "Session": ("release.session", "Session"),
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _PUBLIC[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
