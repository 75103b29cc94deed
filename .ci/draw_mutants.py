"""Keep a random sample of the changes in a session of Cosmic Ray: draw_mutants.py FILE NUMBER SEED.

Of all that an operator may become, what nobody would write by mistake is left out first: most of
it, such as a shift of floating-point numbers, fails in any test and says nothing of them.
"""

import random
import re
import sys

from cosmic_ray.work_db import use_db

UNLIKELY = re.compile(
    r"core/Replace\w+Operator_(BitOr_\w+|\w+_("
    r"BitAnd|BitOr|BitXor|LShift|RShift|Mod|FloorDiv|Pow|UAdd|Invert|Is|IsNot))$"
)


def place(item) -> list[tuple]:
    """Where and what a change is: the same in every session of the same code."""
    return [(str(one.module_path), one.operator_name, one.occurrence) for one in item.mutations]


session, number, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with use_db(session) as found:
    likely = [item for item in found.work_items if not UNLIKELY.match(place(item)[0][1])]
    drawn = random.Random(seed).sample(sorted(likely, key=place), number)
    found.clear()
    found.add_work_items(drawn)
print(f"{number} of {len(likely)} changes")
