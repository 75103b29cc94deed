#!/usr/bin/env bash
# dp-accounting 0.6.0: noise 2 in place of 2.0 makes a hundred sums on one sample cost as one.
#
# A record is sampled with probability 0.1, and a hundred Gaussian sums of noise 2 are taken of the same
# sample, as an event of events: PoissonSampled(0.1, SelfComposed(Gaussian(2), 100)). RdpAccountant.
# Best guess before the run: a number is a number, 2 or 2.0 or one of NumPy's. Seen: with the float it costs
# 30.2, with the integer 0.53, which is the cost of one sum; so with NumPy's int64 and float32, and with a list
# of a hundred events. float64 counts as a float. Without sampling all agree. The hundred sums are one with
# noise 0.2, and PLDAccountant charges 28.1 for that.
#
# Seen 2026-11-29, Python 3.11, dp-accounting==0.6.0, numpy==2.4.6:
#   float: 30.16 for a hundred, 0.53 for one; not sampled 35.08
#   int: 0.53 for a hundred, 0.53 for one; not sampled 35.08
#   float64: 30.16 for a hundred, 0.53 for one; not sampled 35.08
#   float32: 0.53 for a hundred, 0.53 for one; not sampled 35.08
#   PLD, one sum of noise 0.2: 28.05
# Fails if an int's hundred costs more than one, a float's does not, or PLD's is below 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dp-accounting==0.6.0 numpy==2.4.6 ||
    { echo "skipped: dp-accounting 0.6.0 or numpy 2.4.6 cannot be installed"; exit 0; }
cat > "$folder/charge.py" <<'PY'
import numpy as np
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant


def charge(event, accountant=RdpAccountant):
    account = accountant()
    account.compose(event)
    return float(account.get_epsilon(1e-5))


costs = {}
for kind in (float, int, np.float64, np.float32):
    one = GaussianDpEvent(kind(2))
    hundred = SelfComposedDpEvent(one, 100)
    sampled = [charge(PoissonSampledDpEvent(0.1, event)) for event in (hundred, one)]
    costs[kind] = sampled
    print(f"{kind.__name__}: {sampled[0]:.2f} for a hundred, {sampled[1]:.2f} for one; "
          f"not sampled {charge(hundred):.2f}")
exact = charge(PoissonSampledDpEvent(0.1, GaussianDpEvent(0.2)), PLDAccountant)
print(f"PLD, one sum of noise 0.2: {exact:.2f}")
merged = {kind for kind, (hundred, one) in costs.items() if hundred < 1.01 * one}
raise SystemExit(not (merged == {int, np.float32} and exact > 20))
PY
"$folder/venv/bin/python" "$folder/charge.py"
