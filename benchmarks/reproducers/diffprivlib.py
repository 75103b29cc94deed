"""diffprivlib: which candidate is selected, and what the selection claims to cost."""

import json
from importlib.metadata import version

from diffprivlib import mechanisms

DRAWS, SCORES = 4_000, [[2, 0, 0], [0, 1, 3]]
LAWS = {"Exponential": "exponential", "PermuteAndFlip": "permute_and_flip"}


def counts(name, scores, draws, epsilon, monotonic=False):
    """Scores move by at most 1 each; monotonic: all of them one way."""
    utility = [float(score) for score in scores]
    release = getattr(mechanisms, name)(
        epsilon=epsilon, sensitivity=1, utility=utility, monotonic=monotonic
    )
    drawn = [release.randomise() for _ in range(draws)]
    return [drawn.count(candidate) for candidate in range(len(scores))]


answer = {"version": version("diffprivlib"), "selections": [], "ends": []}
for monotonic in (False, True):
    for name, law in LAWS.items():
        answer["selections"].append(
            {
                "mechanism": name,
                "law": law,
                "monotonic": monotonic,
                "claimed": 1.0,
                "scores": SCORES,
                "counts": [counts(name, scores, DRAWS, 1.0, monotonic) for scores in SCORES],
            }
        )
for name in LAWS:  # a budget so large that the scores decide
    answer["ends"].append({"mechanism": name, "counts": counts(name, [0, 5, 10], 50, 2000.0)})
print(json.dumps(answer))
