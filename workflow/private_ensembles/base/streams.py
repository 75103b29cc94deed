"""Independent random streams, each addressed by a seed and a path of names and numbers.

What is drawn at one address does not depend on what else is drawn, or in which order. Adding a
data set, a seed or a mechanism therefore leaves every other result as it was.
"""

import hashlib
import secrets

import numpy as np

_TEXT, _INTEGER = 1, 2
_WORD = 0xFFFFFFFF


def stream(seed: int, *path: int | str) -> np.random.SeedSequence:
    """Return the seed sequence at `path` under `seed`.

    Each part of the path becomes 32-bit words of the spawn key: a string its sha256 (8 words), an
    integer its base-2^32 digits. A word in front holds kind and length, so that "1" is not 1 and no
    two paths share a key.

    Raises:
        ValueError: for a negative or boolean integer, and for other types.
    """
    key = [word for part in path for word in _words(part)]
    return np.random.SeedSequence(_natural("seed", seed), spawn_key=key)


def _words(part: int | str) -> list[int]:
    if isinstance(part, str):
        digest = hashlib.sha256(part.encode()).digest()
        return [_TEXT, *(int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4))]
    value = _natural("path", part)
    digits = [value & _WORD]
    while value := value >> 32:
        digits.append(value & _WORD)
    return [_INTEGER | len(digits) << 8, *digits]


def _natural(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(f"{name} = {value!r}: must be an integer >= 0 (or text, in a path)")
    return int(value)


def generator(seed: int, *path: int | str) -> np.random.Generator:
    """Return a fresh PCG64 generator for the stream at `path`.

    >>> generator(0, "votes", 3).integers(0, 10, 5).tolist() == generator(0, "votes", 3).integers(
    ...     0, 10, 5
    ... ).tolist()
    True
    """
    return np.random.Generator(np.random.PCG64(stream(seed, *path)))


def system_generator() -> np.random.Generator:
    """Return a PCG64 generator that is seeded with the operating system's entropy.

    It is for noise in floating point that nobody may know. If there is an exact sampler, use that
    one (`base.secure`).
    """
    return np.random.Generator(np.random.PCG64(secrets.randbits(128)))


def torch_seed(seed: int, *path: int | str) -> int:
    """Return a seed in [0, 2^63) for `torch.Generator.manual_seed`, from the stream at `path`.

    On the CPU PyTorch uses its last 32 bits only (findings/torch_seed_bits.sh), so two of n streams
    are the same with a chance of n^2 / 2^33: 1 in 950 for 3,000 of them.
    """
    return int(stream(seed, *path).generate_state(1, np.uint64)[0] >> np.uint64(1))
