"""What stands in the way of an export, and what its user should know, with the objects that it is about."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Problem:
    """A sentence about objects.

    Attributes:
        text: what is wrong and what to do.
        objects: names of the objects to select, empty where it is about the whole model.
    """

    text: str
    objects: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{', '.join(self.objects)}: {self.text}" if self.objects else self.text


@dataclass
class Problems:
    """Everything found while a model is gathered.

    Attributes:
        errors: nothing is written while there is one.
        warnings: what is written otherwise than it is shown, or not at all.
    """

    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def error(self, text: str, *objects: str) -> None:
        """Add something that stands in the way."""
        self.errors.append(Problem(text, objects))

    def warn(self, text: str, *objects: str) -> None:
        """Add something to know."""
        self.warnings.append(Problem(text, objects))
