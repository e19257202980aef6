"""What the last import decoded, for the next one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class DecodedCache:
    """Keeps what the last import decoded, so that importing the same files with other settings is fast."""

    files: dict[Hashable, Any] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget everything."""
        self.files.clear()
