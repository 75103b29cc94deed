"""Each key that is typed has its place in the section `own`, on its page, too."""

import re

from private_ensembles.release.own_keys import SECTION_PATHS
from tests.run.shipped import DEFAULT


def test_every_key_of_the_section_can_be_typed_and_nothing_else_is_called_so():
    own = DEFAULT["own"]
    leaves = {
        f"{part}.{key}" if isinstance(keys, dict) else part
        for part, keys in own.items()
        for key in (keys if isinstance(keys, dict) else [None])
    }
    assert sorted(SECTION_PATHS.values()) == sorted(leaves)
    assert not SECTION_PATHS.keys() & DEFAULT.keys()


def test_the_page_on_own_votes_has_every_key(root):
    page = (root / "docs/your-own-votes.md").read_text(encoding="utf-8")
    table = page.partition("| in a file, under `own:` |")[2].partition("\n\n")[0]
    shown = {}
    for row in table.splitlines()[2:]:
        place, typed = row.split("|")[1:3]
        section, names = re.fullmatch(r" `(?:(\w+): )?(.*)` ", place).groups()
        names = names.split("`, `")
        keys = names if typed == " the same " else re.findall(r"`(\w+)`", typed)
        places = [f"{section}.{name}" if section else name for name in names]
        shown |= dict(zip(keys, places, strict=True))
    assert shown == SECTION_PATHS
