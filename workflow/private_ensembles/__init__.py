"""What K teachers' votes may release, at what privacy cost, and how often the label is right.

Loads none of its packages: a script that needs `darrm` must not pay for, nor depend on, `teachers`.
The core needs NumPy, SciPy, HiGHS and OpenDP; what else a module imports comes with an extra.
"""

import sys as _sys

__version__ = "0.2.0"

# Modules of other projects, and the extra of pyproject.toml that brings them.
EXTRAS = {
    "torch": "teachers",
    "opacus": "teachers",
    "dp_accounting": "teachers",
    "sklearn": "trees",
    "lightgbm": "trees",
    "gurobipy": "gurobi",
    "pandas": "workflow",
    "matplotlib": "workflow",
    "pydantic": "workflow",
    "pydantic_core": "workflow",
    "yaml": "workflow",
    "rocrate": "workflow",
}


class _MissingExtra:
    """Asked last for a module: says how to install what one of our own modules did not find."""

    @staticmethod
    def find_spec(name: str, path=None, target=None) -> None:
        extra = EXTRAS.get(name)
        if extra is not None and _importer().partition(".")[0] == __name__:
            raise ModuleNotFoundError(
                f"{name} is not installed; in the folder of pyproject.toml run: "
                f"pip install '.[{extra}]'",
                name=name,
            )


def _importer() -> str:
    """Return the name of the module whose import statement is being carried out."""
    frame = _sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("importlib."):
        frame = frame.f_back
    return "" if frame is None else frame.f_globals.get("__name__", "")


# At the end, so that it is asked only where nobody found the module; others' imports are not ours.
_sys.meta_path.append(_MissingExtra)
