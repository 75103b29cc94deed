#!/usr/bin/env bash
# dp-accounting 0.6.0: under REPLACE_ONE its two accountants mean different things by the same Gaussian event.
#
# Ten `GaussianDpEvent(1.0)` at delta = 1e-5, by each accountant, for each relation of neighbours.
# Best guess before the run: under REPLACE_ONE both charge more than under ADD_OR_REMOVE_ONE, or both
# the same; the RDP accountant is a few per cent above the PLD accountant, which is tight. Seen: the PLD accountant
# charges 46.2 for a replaced record: a sum moves by twice the clip. The RDP accountant charges 19.1, as for
# one that is added: the event's multiplier is taken to be for whatever the relation is. So the looser
# accountant's number is 0.41 of the tight one's, and only one of them fits a sum of clipped gradients. With
# REPLACE_SPECIAL both charge as for adding.
#
# Seen 2026-11-28, Python 3.11, dp-accounting==0.6.0:
#   ADD_OR_REMOVE_ONE: RDP 19.05, PLD 17.86
#   REPLACE_ONE: RDP 19.05, PLD 46.21
#   REPLACE_SPECIAL: RDP 19.05, PLD 17.86
# Fails if RDP's numbers are no longer equal, or PLD's second is not above twice its first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dp-accounting==0.6.0 ||
    { echo "skipped: dp-accounting 0.6.0 cannot be installed"; exit 0; }
cat > "$folder/charge.py" <<'PY'
from dp_accounting import GaussianDpEvent, NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

costs = {}
for name in ("ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL"):
    for accountant in (RdpAccountant, PLDAccountant):
        one = accountant(neighboring_relation=getattr(NeighboringRelation, name))
        one.compose(GaussianDpEvent(1.0), 10)
        costs.setdefault(name, []).append(float(one.get_epsilon(1e-5)))
    print(f"{name}: RDP {costs[name][0]:.2f}, PLD {costs[name][1]:.2f}")
equal = len({rdp for rdp, _ in costs.values()}) == 1
raise SystemExit(not (equal and costs["REPLACE_ONE"][1] > 2 * costs["ADD_OR_REMOVE_ONE"][1]))
PY
"$folder/venv/bin/python" "$folder/charge.py"
