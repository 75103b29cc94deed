"""A figure that is drawn twice, as jobs draw it: into a file of each kind at once."""

from collections.abc import Callable
from pathlib import Path


def assert_equal_bytes(
    draw: Callable[..., None], folder: Path, kinds: tuple[str, ...] = ("png",), least: int = 0
) -> None:
    """Fail unless both drawings give equal files, of more than so many bytes."""
    first, second = ([folder / f"{name}.{kind}" for kind in kinds] for name in "ab")
    draw(*first)
    draw(*second)
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.suffix
        assert one.stat().st_size > least
