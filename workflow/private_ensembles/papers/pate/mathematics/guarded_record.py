"""How a record of costs shows itself: what may be published first, what is private by that name."""

from __future__ import annotations

from dataclasses import fields
from typing import ClassVar


class GuardedRecord:
    """Base of dataclasses (`repr=False`) that hold public numbers and private ones.

    Attributes:
        public: the fields that may be published, in the order in which they are shown. A field that
            is not named there is not for release.
        display_names: the names under which private fields are shown, if their own name does not
            say what they are.
    """

    public: ClassVar[tuple[str, ...]] = ()
    display_names: ClassVar[dict[str, str]] = {}

    @property
    def not_for_release(self) -> dict[str, object]:
        """The private fields by the names that say what they are, without those that are None."""
        others = [
            field.name
            for field in fields(self)
            if field.name not in (*self.public, *self.display_names)
        ]
        secret = [*self.display_names, *others]
        values = {self.display_names.get(name, name): getattr(self, name) for name in secret}
        return {name: value for name, value in values.items() if value is not None}

    def __repr__(self) -> str:
        """Show everything but parts of parts, private numbers in few digits."""
        shown = {name: getattr(self, name) for name in self.public}
        parts = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
        secret = [
            f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.not_for_release.items()
            if not isinstance(value, tuple)
        ]
        if secret:
            parts.append(f"NOT_FOR_RELEASE=({', '.join(secret)})")
        return f"{type(self).__name__}({', '.join(parts)})"
