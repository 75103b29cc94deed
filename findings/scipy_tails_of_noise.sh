#!/usr/bin/env bash
# SciPy 1.17.1: the upper tail of discrete Laplace and Skellam noise is 0 from 1e-17 on, though the lower one is right.
#
# The noise is symmetric, so P(X >= k) = P(X <= -k): `sf(k - 1)` beside `cdf(-k)`. And the same of a sum of votes, the
# Poisson binomial, of which P(X >= n) is the product of the probabilities.
# Best guess before the run: a survival function is there for this, so it has some nine digits down to 1e-300, and
# logsf is finite where sf is 0. Seen: dlaplace and skellam say 0 and -inf at 2.7e-44 and 1.7e-49, which is a delta of 0
# for what is not pure. The Poisson binomial's does not go below 2.2e-16. `laplace.logsf(800)` is -inf for -800.7;
# those of logistic and norm are right. All are 1 - cdf, or the logarithm of sf.
#
# Seen 2026-11-29, Python 3.11, scipy==1.17.1, numpy==2.4.6:
#   dlaplace(1), k = 100: sf 0, cdf(-k) 2.72e-44, logsf -inf
#   skellam(1, 1), k = 40: sf 0, cdf(-k) 1.74e-49, logsf -inf
#   poisson_binom, all of 60 votes: sf 2.22e-16, product 2.67e-80
#   logsf(800): laplace -inf, logistic -800.0
# Fails if one of these is within a per cent of the right value, or cdf(-k) or logistic are not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet scipy==1.17.1 numpy==2.4.6 ||
    { echo "skipped: scipy 1.17.1 or numpy 2.4.6 cannot be installed"; exit 0; }
cat > "$folder/tails.py" <<'PY'
import math

import numpy as np
from scipy import stats


def is_near(value, right):
    return abs(value - right) <= 0.01 * abs(right)


wrong, right = [], []
exact = {"dlaplace(1)": (stats.dlaplace(1.0), 100, math.exp(-100) / (1 + math.exp(-1)))}
exact["skellam(1, 1)"] = (stats.skellam(1, 1), 40, sum(stats.skellam.pmf(np.arange(40, 80), 1, 1)))
for name, (noise, k, tail) in exact.items():
    upper, lower, logarithm = noise.sf(k - 1), noise.cdf(-k), noise.logsf(k - 1)
    print(f"{name}, k = {k}: sf {upper:.3g}, cdf(-k) {lower:.3g}, logsf {logarithm:.3g}")
    wrong += [is_near(upper, tail), is_near(logarithm, math.log(tail))]
    right += [is_near(lower, tail)]
votes = np.linspace(0.01, 0.1, 60)
upper, product = stats.poisson_binom.sf(59, votes), math.prod(votes)
print(f"poisson_binom, all of 60 votes: sf {upper:.3g}, product {product:.3g}")
laplace, logistic = stats.laplace.logsf(800), stats.logistic.logsf(800)
print(f"logsf(800): laplace {laplace:.1f}, logistic {logistic:.1f}")
wrong += [is_near(upper, product), is_near(laplace, -800 - math.log(2))]
raise SystemExit(any(wrong) or not all([*right, is_near(logistic, -800)]))
PY
"$folder/venv/bin/python" -W ignore "$folder/tails.py"
