"""Cloth along a timeline: how many steps a frame is, and what earlier frames looked like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..codec.binary import Array
from .state import State


@dataclass(frozen=True)
class Clock:
    """Fixed steps on a timeline, counted in whole numbers so that nothing drifts.

    Attributes:
        start: the frame on which no step is done yet.
        rate: steps a second.
        fps: frames a second.
    """

    start: int
    rate: int
    fps: Fraction

    @classmethod
    def of(cls, start: int, rate: int, fps: int, base: float) -> Clock:
        """Return the clock of a scene that shows ``fps`` frames every ``base`` seconds."""
        return cls(start, rate, Fraction(fps) / Fraction(base).limit_denominator(10000))

    def steps(self, frame: int) -> int:
        """Return how many steps are done when a frame is shown."""
        return (frame - self.start) * self.rate * self.fps.denominator // self.fps.numerator

    @property
    def dt(self) -> float:
        """Seconds of a step."""
        return 1 / self.rate


@dataclass(frozen=True, eq=False)
class Place:
    """Where a character is.

    Attributes:
        bones: (b, 4, 4) f4 world matrices of the setup's bones.
        root: (4, 4) f4 the character's own.
    """

    bones: Array
    root: Array

    def towards(self, other: Place, share: float) -> Place:
        """Return the place a share of the way to another; all of it is the other exactly."""
        if share >= 1:
            return other
        part = np.float32(share)
        return Place(self.bones + (other.bones - self.bones) * part, self.root + (other.root - self.root) * part)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a frame ended with; it is never changed."""

    state: State
    place: Place

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return int(self.state.nbytes + self.place.bones.nbytes + self.place.root.nbytes)


class FrameCache:
    """Snapshots by frame, up to a limit of memory: beyond it those farthest from the newest go first."""

    def __init__(self) -> None:
        self._frames: dict[int, Snapshot] = {}
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._frames))

    def get(self, frame: int) -> Snapshot | None:
        """Return a frame's snapshot, None where it is not kept."""
        return self._frames.get(frame)

    def before(self, frame: int, gap: int) -> int | None:
        """Return the last frame kept before one, at most ``gap`` frames earlier."""
        return max((kept for kept in self._frames if frame - gap <= kept < frame), default=None)

    def put(self, frame: int, snapshot: Snapshot, limit: int) -> None:
        """Keep a snapshot, and forget others where all together would take more than ``limit`` bytes."""
        self._drop(frame)
        self._frames[frame] = snapshot
        self.nbytes += snapshot.nbytes
        while self.nbytes > limit and len(self._frames) > 1:
            self._drop(max(self._frames, key=lambda kept: abs(kept - frame)))

    def clear(self) -> None:
        """Forget everything."""
        self._frames.clear()
        self.nbytes = 0

    def _drop(self, frame: int) -> None:
        if frame in self._frames:
            self.nbytes -= self._frames.pop(frame).nbytes
