#!/usr/bin/env bash
# Opacus 1.6.0: from epsilon = 0.1 down it finds no noise by RDP, and near 0.01 five times too much by PRV.
#
# `get_noise_multiplier`, which `make_private_with_epsilon` calls: 10 steps at rate 0.01, delta = 1e-5.
# Best guess before the run: any epsilon above 0 has its noise, which costs at most 0.01 less. Seen: RDP, whose
# orders end at 63, raises "The privacy budget is too low." for 0.1 and less, whatever the noise. PRV adds its
# error of 0.01 to each epsilon, and the search stops once it is within 0.01: for 0.012 it takes 40 where 7 is
# enough, and for 0.009 it raises the same. The least noise is dp-accounting's, by bisection.
#
# Seen 2026-11-29, Python 3.11, opacus==1.6.0, torch==2.13.0, dp-accounting==0.6.0:
#   epsilon 1.0: RDP 1.015625, PRV 0.782470703125, least 0.78
#   epsilon 0.1: RDP The privacy budget is too low., PRV 1.71875, least 1.6
#   epsilon 0.012: RDP The privacy budget is too low., PRV 40, least 7
#   epsilon 0.009: RDP The privacy budget is too low., PRV The privacy budget is too low., least 8.9
# Fails if a noise becomes an error or an error a noise, or PRV's noise for 0.012 is less than twice the least.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet opacus==1.6.0 torch==2.13.0 dp-accounting==0.6.0 numpy==2.4.6 ||
    { echo "skipped: opacus 1.6.0, torch 2.13.0 or dp-accounting 0.6.0 cannot be installed"; exit 0; }
cat > "$folder/calibrate.py" <<'PY'
import warnings

from dp_accounting.pld import privacy_loss_distribution as pld
from opacus.accountants.utils import get_noise_multiplier

RATE, STEPS, DELTA = 0.01, 10, 1e-5


def least_noise(epsilon):
    low, high = 0.5, 200.0
    while high / low > 1.01:
        noise = (low * high) ** 0.5
        steps = pld.from_gaussian_mechanism(noise, sampling_prob=RATE).self_compose(STEPS)
        low, high = (low, noise) if steps.get_epsilon_for_delta(DELTA) <= epsilon else (noise, high)
    return high


def find_noise(epsilon, accountant):
    try:
        return get_noise_multiplier(
            target_epsilon=epsilon,
            target_delta=DELTA,
            sample_rate=RATE,
            steps=STEPS,
            accountant=accountant,
        )
    except ValueError as error:
        return str(error)


warnings.simplefilter("ignore")  # RDP: the best order is the largest
found = {}
for epsilon in (1.0, 0.1, 0.012, 0.009):
    found[epsilon] = [find_noise(epsilon, name) for name in ("rdp", "prv")]
    least = least_noise(epsilon)
    print(f"epsilon {epsilon}: RDP {found[epsilon][0]}, PRV {found[epsilon][1]}, least {least:.2g}")
    if epsilon == 0.012:
        excess = found[epsilon][1] / least
refused = [[isinstance(noise, str) for noise in pair] for pair in found.values()]
as_seen = refused == [[False, False], [True, False], [True, False], [True, True]] and excess > 2
raise SystemExit(not as_seen)
PY
"$folder/venv/bin/python" "$folder/calibrate.py"
