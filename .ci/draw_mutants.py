"""Keep a random sample of the changes in a session of Cosmic Ray: draw_mutants.py FILE NUMBER SEED.

Of all that an operator may become, what nobody would write by mistake is left out first: most of
it, such as a shift of floating-point numbers, fails in any test and says nothing of them. So does
what is no Python any more, such as a `*` of keyword-only arguments that has become a `+`.
"""

import random
import re
import sys

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import use_db

UNLIKELY = re.compile(
    r"core/Replace\w+Operator_(BitOr_\w+|\w+_("
    r"BitAnd|BitOr|BitXor|LShift|RShift|Mod|FloorDiv|Pow|UAdd|Invert|Is|IsNot))$"
)


def place(item) -> list[tuple]:
    """Where and what a change is: the same in every session of the same code."""
    return [(str(one.module_path), one.operator_name, one.occurrence) for one in item.mutations]


def is_python(item) -> bool:
    """Whether the changed file can be compiled."""
    (change,) = item.mutations
    operator = get_operator(change.operator_name)(**(change.operator_args or {}))
    try:
        compile(
            mutate_code(change.module_path.read_text(), operator, change.occurrence), "", "exec"
        )
    except SyntaxError:
        return False
    return True


session, number, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with use_db(session) as found:
    likely = [item for item in found.work_items if not UNLIKELY.match(place(item)[0][1])]
    likely.sort(key=place)
    generator = random.Random(seed)
    drawn = [item for item in generator.sample(likely, number) if is_python(item)]
    while len(drawn) < number:
        item = generator.choice(likely)
        if item not in drawn and is_python(item):
            drawn.append(item)
    found.clear()
    found.add_work_items(drawn)
print(f"{number} of {len(likely)} changes")
