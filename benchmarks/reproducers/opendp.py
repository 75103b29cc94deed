"""OpenDP: which candidate is selected, and what the selection claims to cost."""

import json
from importlib.metadata import version

import opendp.prelude as dp

DRAWS, SCORES = 4_000, [[2, 0, 0], [0, 1, 3]]
dp.enable_features("contrib")


def space(monotonic):
    """Integer scores of which each moves by at most 1; monotonic: all of them one way."""
    return dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=monotonic)


def counts(release, scores, draws):
    drawn = [release(scores) for _ in range(draws)]
    return [drawn.count(candidate) for candidate in range(len(scores))]


answer = {"version": version("opendp"), "selections": [], "ends": []}
for monotonic in (False, True):
    for measure in (dp.max_divergence(), dp.zero_concentrated_divergence()):
        release = dp.m.make_noisy_max(*space(monotonic), measure, scale=1.0 if monotonic else 2.0)
        answer["selections"].append(
            {
                "mechanism": f"make_noisy_max, {measure}",
                "law": "permute_and_flip" if "Max" in str(measure) else "exponential",
                "monotonic": monotonic,
                "claimed": release.map(1),
                "scores": SCORES,
                "counts": [counts(release, scores, DRAWS) for scores in SCORES],
            }
        )
# The noise is so small that the scores decide.
constructors = {
    "make_noisy_max": lambda: dp.m.make_noisy_max(*space(False), dp.max_divergence(), scale=1e-3),
    'make_report_noisy_max_gumbel, optimize="max"': lambda: dp.m.make_report_noisy_max_gumbel(
        *space(False), scale=1e-3, optimize="max"
    ),
}
for name, make in constructors.items():
    answer["ends"].append({"mechanism": name, "counts": counts(make(), [0, 5, 10], 50)})
print(json.dumps(answer))
