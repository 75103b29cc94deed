#!/usr/bin/env bash
# PyTorch 2.13.0 (CPU build, MKL), AMD EPYC: a product in a batch has other last bits at another place.
#
# torch.bmm multiplies B pairs of matrices. One would guess that each product depends on its own two
# matrices alone. On an AMD processor it does not: the same pairs in the reverse order give products
# whose last bits differ, for 6 of the 192 shapes below. With MKL_CBWR=AUTO in the environment (MKL's
# "conditional numerical reproducibility") none differs. One thread in both runs, the same seed.
# Whoever trains many models in one batch, and says that a model does not depend on the others or on
# their order, needs that variable before PyTorch is loaded.
#
# Seen 2026-11-28, Python 3.11, torch==2.13.0, numpy==2.4.0:
#   without MKL_CBWR: 6 of 192 shapes differ
#   MKL_CBWR=AUTO: 0 of 192 shapes differ
# Fails if the first number becomes 0 or the second is not 0. On other processors nothing is claimed.
set -euo pipefail
grep -q AuthenticAMD /proc/cpuinfo || { echo "skipped: no AMD processor"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.0 ||
    { echo "skipped: torch 2.13.0 cannot be installed"; exit 0; }
cat > "$folder/count.py" <<'PY'
import itertools

import torch

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)
shapes = differ = 0
for number in (2, 3, 5, 11):
    for rows, inner, columns in itertools.product((1, 2, 10, 33), (8, 17, 64, 200), (1, 2, 10)):
        left = torch.randn(number, rows, inner, generator=generator)
        right = torch.randn(number, inner, columns, generator=generator)
        products = torch.bmm(left, right)
        reverse = torch.bmm(left.flip(0), right.flip(0)).flip(0)
        shapes += 1
        differ += not torch.equal(products, reverse)
print(differ, "of", shapes, "shapes differ")
PY
plain=$(env -u MKL_CBWR "$folder/venv/bin/python" "$folder/count.py")
auto=$(MKL_CBWR=AUTO "$folder/venv/bin/python" "$folder/count.py")
echo "without MKL_CBWR: $plain"
echo "MKL_CBWR=AUTO: $auto"
[ "${plain%% *}" != 0 ] && [ "${auto%% *}" = 0 ]
