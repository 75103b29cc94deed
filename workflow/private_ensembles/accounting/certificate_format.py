"""How a certificate is written that `verify/verify.py` checks without this package.

Every number is written exactly, as a hexadecimal float. Format and theorems: docs/certificates.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def build_certificate(kind: str, theorem: str, **fields: object) -> dict:
    """A certificate of a claim by a theorem, and the page that proves it.

    fields: what the theorem takes (docs/certificates.md), numbers written exactly.

    >>> build_certificate("label", "hockey_stick", epsilon="1/2")["proof"]
    'docs/certificates.md#hockey_stick'
    """
    page = f"docs/certificates.md#{theorem.replace('.', '')}"  # headings' anchors have no dots
    return {"kind": kind, "theorem": theorem, "proof": page, **fields}


def write_hexadecimal(value: float | NDArray[np.float64]) -> str | list[str]:
    """A number, or each of an array's, in hexadecimal: all of its bits."""
    return float(value).hex() if np.ndim(value) == 0 else [float(number).hex() for number in value]
