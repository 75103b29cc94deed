"""The glossary's table of terms names what there is in the code."""

import re
from importlib import import_module

import pytest

pytestmark = pytest.mark.docs


def find_object(path):
    """Return the object at a dotted path below the package."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(["private_ensembles", *parts[:length]]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise LookupError(path)


def test_every_name_in_the_table_of_terms_exists(root):
    text = (root / "docs/glossary.md").read_text(encoding="utf-8")
    table = text.split("## Terms of the field", 1)[1].split("\n## ", 1)[0]
    names = re.findall(r"`((?:accounting|audit|labels|papers)\.[\w.]+)`", table)
    assert len(names) >= 20
    for name in names:
        find_object(name)


def test_a_name_that_does_not_exist_is_noticed():
    with pytest.raises(AttributeError):
        find_object("accounting.trade_off.no_such")
