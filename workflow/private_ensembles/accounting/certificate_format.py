"""How a certificate is written that `verify/verify.py` checks without this package.

Every number is written exactly, as a hexadecimal float. Format and theorems: docs/certificates.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def build_certificate(kind: str, theorem: str, **fields: object) -> dict:
    """Return the certificate of a claim that is proven by a theorem.

    Args:
        kind: What the claim is about.
        theorem: The theorem's name, which is also its heading in docs/certificates.md.
        **fields: What the theorem takes (docs/certificates.md), with numbers written exactly.

    >>> build_certificate("label", "hockey_stick", epsilon="1/2")["proof"]
    'docs/certificates.md#hockey_stick'
    """
    page = f"docs/certificates.md#{theorem.replace('.', '')}"  # anchors of headings have no dots
    return {"kind": kind, "theorem": theorem, "proof": page, **fields}


def write_hexadecimal(value: float | NDArray[np.float64]) -> str | list[str]:
    """Return a number, or each number of an array (n,), in hexadecimal, with all of its bits."""
    if np.ndim(value) == 0:
        return float(value).hex()
    return [float(number).hex() for number in np.asarray(value)]
