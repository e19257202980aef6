"""One cloth file that plays: its simulation, and what of it is shown where."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...cloth import (
    ExtraCollidable,
    Pose,
    Settings,
    Setup,
    StateChoice,
    build_setup,
    display_positions,
    driven_bones,
    new_state,
    particles,
    reset,
    step,
)
from ...cloth.frames import Clock, FrameCache, Place, Snapshot
from ...codec import Tagfile, read_cloth
from ...codec.binary import Array
from ...codec.havok.cloth import ClothFile
from ...maths import axes
from . import outputs, pointclouds, rig, user_pose
from .keys import ARMATURE, EXTRA, SIM
from .values import of_particles

GAP = 12  # frames that playback may drop; over a larger jump the cloth starts anew where it lands
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class PlayOptions:
    """How cloth plays.

    Attributes:
        settings: of each step.
        rate: steps a second.
        limit: bytes of memory for the frames of a cloth that are kept.
        settle: steps that are done where the cloth starts, before it is shown.
    """

    settings: Settings = Settings()
    rate: int = 60
    limit: int = 512 * MEGABYTE
    settle: int = 0


class MissingError(Exception):
    """What a cloth needs is not in the scene; the text says what."""


def extras(collection: Any) -> list[ExtraCollidable]:
    """Return the collidables that were added to a cloth.

    Raises:
        FormatError: they cannot be read.
    """
    found = []
    for entry in collection.get(EXTRA, {}).values():
        file = read_cloth(Tagfile.read(bytes(entry["data"]), None, collection.name))
        found += [ExtraCollidable(record, entry["bone"]) for record in file.collidables]
    return found


class Session:
    """Plays one cloth. It holds no datablock: undo and load would leave it with dead ones.

    Attributes:
        file: what it plays; ``setup`` the same as a simulation.
        frames: what was simulated.
        problem: why it does not play; empty where it does.
        refused: what cannot be of the user's edits, and why; it plays with what the file has there.
        speed: steps a second that were reached last, 0 before the first.
    """

    def __init__(self, collection: Any, file: ClothFile) -> None:
        """Make the cloth of a collection ready, ``file`` with the user's edits.

        Raises:
            FormatError: it cannot be played, or collidables that were added cannot be read.
        """
        self.file = file
        rig.skeleton_of(self.file)
        self.setup: Setup = build_setup(self.file, extra=extras(collection))
        self._read = self.setup.read.copy()
        self._read[self.setup.driven_columns] = True
        self.state = new_state(self.setup)
        self.frames = FrameCache()
        self.problem = ""
        self.refused: tuple[str, ...] = ()
        self.speed = 0.0
        self.added = len(collection.get(EXTRA, {}))
        self._frame: int | None = None
        self._place: Place | None = None
        self._made: Snapshot | None = None  # the frame as steps made it, where its state was changed since
        self._rig: rig.Rig | None = None
        self._rest: Array = np.zeros((0, 4, 4))
        self._key: tuple[Clock, PlayOptions] | None = None
        self._outputs: list[outputs.Output] = []
        self._displays: dict[int, Array] = {}
        self._basis: Array = np.zeros((0, 4, 4))

    def forget_scene(self) -> None:
        """Look for everything in the scene anew: undo may have changed it."""
        self._rig = None

    def restart(self) -> None:
        """Forget what was simulated."""
        self.frames.clear()
        self._frame = self._place = self._made = None

    def show_frame(self, collection: Any, scene: Any, depsgraph: Any, options: PlayOptions) -> None:
        """Bring the cloth to the scene's frame and show it.

        The start frame puts it where the animation is and lets it settle; a frame that is kept is shown as it was; else
        the steps since the last one that is kept are done.

        Raises:
            MissingError: the armature is gone.
        """
        armature, posed, place = self._look(collection, scene, depsgraph, evaluated=True)
        clock = _clock(scene, options)
        self._heed(clock, options)
        self._go(scene.frame_current, clock, place, options)
        self._write(collection, armature, posed)

    def show_again(self, collection: Any, scene: Any, depsgraph: Any, options: PlayOptions) -> None:
        """Show the scene's frame once more under changed settings, where they change what it shows.

        The start frame starts anew. Any other one is what steps have made it: only the state shows there, and back in
        the one that it was made in it is as it was.

        Raises:
            MissingError: the armature is gone.
        """
        if not self.differs(scene, options):
            return
        armature, posed, place = self._look(collection, scene, depsgraph, evaluated=False)
        clock = _clock(scene, options)
        self._heed(clock, options)
        if scene.frame_current <= clock.start:
            self._go(scene.frame_current, clock, place, options)
        else:
            self._change_state(scene.frame_current, place, options)
        self._write(collection, armature, posed)

    def differs(self, scene: Any, options: PlayOptions) -> bool:
        """Tell whether settings may change what the scene's frame shows, since it was shown last."""
        clock = _clock(scene, options)
        if scene.frame_current <= clock.start:
            return True
        if self._key is None or self._frame != scene.frame_current:
            return False
        return clock == self._key[0] and options.settings.state != self._key[1].settings.state

    def show_live(self, collection: Any, scene: Any, depsgraph: Any, options: PlayOptions, steps: int) -> None:
        """Do steps at the pose that the user is making, whatever the frame, and show them.

        Raises:
            MissingError: the armature is gone.
        """
        armature, posed, place = self._look(collection, scene, depsgraph, evaluated=False)
        self.frames.clear()
        self._frame = None
        if self._place is None:
            self._start(place, options)
        else:
            self._steps(place, steps, 1 / options.rate, options)
        self._write(collection, armature, posed)

    def _look(self, collection: Any, scene: Any, depsgraph: Any, *, evaluated: bool) -> tuple[Any, Array, Place]:
        """Find where the character is, and what the armature makes of its meshes.

        Args:
            collection: of the cloth.
            scene: that it is in.
            depsgraph: has the pose.
            evaluated: a frame was evaluated just now, before which bones had been given back to the animation.

        Returns:
            The armature object, (p, 4, 4) its pose without what the cloth did to it, and the place.

        Raises:
            MissingError: the armature is gone.
        """
        armature = self._bind(collection, scene)
        shown = armature.evaluated_get(depsgraph)
        restored = evaluated and rig.is_animated(armature)
        posed = self._users_pose(collection, armature, rig.pose_matrices(shown), restored=restored)
        self._displays = self._posed_meshes(collection, armature, depsgraph)
        return armature, posed, self._known_rig.place(posed, rig.root_matrix(shown)[0], self._read)

    def _users_pose(self, collection: Any, armature: Any, posed: Array, *, restored: bool) -> Array:
        """Return the pose without what the cloth did to it.

        Args:
            collection: of the cloth.
            armature: the object.
            posed: (p, 4, 4) of `rig.pose_matrices`; is changed.
            restored: the bones had been given back before the pose was made.
        """
        driven = self._known_rig.driven
        untouched = not user_pose.is_kept(collection, armature)
        if not (restored or untouched) and len(self._basis) != len(driven):
            user_pose.restore_pose(collection, armature)  # another session has driven them
        if restored or untouched or len(self._basis) != len(driven):
            bones = armature.pose.bones
            self._basis = np.array([np.array(bones[one.row].matrix_basis) for one in driven])
        if not restored:
            self._known_rig.undrive(posed, self._basis)
        return posed

    @property
    def _known_rig(self) -> rig.Rig:
        if self._rig is None:
            raise MissingError("the armature is not known")
        return self._rig

    def _bind(self, collection: Any, scene: Any) -> Any:
        """Find the armature and, where the scene has changed, its bones and meshes."""
        armature = collection.get(ARMATURE)
        if armature is None or scene.objects.get(armature.name) is not armature:
            raise MissingError(f"{collection.name}: its armature is not in the scene")
        if self._rig is None or self._rig.count != len(armature.pose.bones) or not self._rig.fits(armature):
            self._rig = rig.Rig.of(armature, self.setup)
            self._outputs = self._bound_outputs(collection)
        return armature

    def _bound_outputs(self, collection: Any) -> list[outputs.Output]:
        by_mesh: dict[str, list[int]] = {}
        for display, obj in outputs.bound_meshes(collection).items():
            by_mesh.setdefault(obj.name, []).append(display)
        return [
            outputs.Output(own[0], tuple(own), tuple(self.setup.displays[display].written for display in own))
            for own in by_mesh.values()
        ]

    def _heed(self, clock: Clock, options: PlayOptions) -> None:
        """Where the clock or a setting has changed, keep nothing but the frame that is shown, to go on from.

        Not even that where the cloth is to be simulated again: it starts where the animation has it by now.
        """
        key = clock, replace(options, limit=0)
        if self._key is not None and self._key != key:
            shown = self.frames.get(self._frame) if self._frame is not None else None
            self.frames.clear()
            known, old = self._key
            again = options.settings.state is StateChoice.SIMULATE and old.settings.state is not StateChoice.SIMULATE
            if shown is not None and self._frame is not None and clock == known and not again:
                self.frames.put(self._frame, shown, options.limit)
        self._key = key

    def _go(self, frame: int, clock: Clock, place: Place, options: PlayOptions) -> None:
        if frame <= clock.start or frame != self._frame:
            self._made = None
        if frame <= clock.start:
            self.frames.clear()
            self._start(place, options)
        elif (kept := self.frames.get(frame)) is not None:
            if frame != self._frame:
                self._load(kept)
            self._frame = frame
            return
        else:
            last = self.frames.before(frame, GAP)
            kept = self.frames.get(last) if last is not None else None
            if last is None or kept is None:
                self._start(place, options)
            else:
                if last != self._frame:
                    self._load(kept)
                self._steps(place, clock.steps(frame) - clock.steps(last), clock.dt, options)
        self._frame = frame
        self.frames.put(frame, Snapshot(self.state.copy(), place), options.limit)

    def _change_state(self, frame: int, place: Place, options: PlayOptions) -> None:
        """Show a frame in another state than it was shown in, without time going on."""
        kept = self._made or self.frames.get(frame)
        if kept is None:
            return
        self._load(kept)
        if options.settings.state != StateChoice.SIMULATE:
            self._place = place
            step(self.setup, self.state, Pose(place.bones, place.root, self._displays), 0.0, options.settings)
        self.frames.put(frame, Snapshot(self.state.copy(), self._place or place), options.limit)
        self._made = kept

    def _load(self, kept: Snapshot) -> None:
        self.state, self._place = kept.state.copy(), kept.place

    def _start(self, place: Place, options: PlayOptions) -> None:
        reset(self.setup, self.state, Pose(place.bones, place.root), settings=options.settings)
        self._place = place
        self._steps(place, options.settle, 1 / options.rate, options)

    def _steps(self, place: Place, count: int, dt: float, options: PlayOptions) -> None:
        """Do steps, the last of them at a place and those before on the way there."""
        began = time.perf_counter()
        first = self._place or place
        for number in range(1, count + 1):
            now = first.towards(place, number / count)
            shown = options.settings if number == count else replace(options.settings, display=False)
            step(self.setup, self.state, Pose(now.bones, now.root, self._displays), dt, shown)
        if count > 0:
            self.speed = count / (time.perf_counter() - began)
        self._place = place

    def _write(self, collection: Any, armature: Any, posed: Array) -> None:
        if self._place is None:
            return
        root = self._place.root.astype(np.float64)
        self.show_particles(collection)
        self._write_meshes(collection, armature)
        if self._known_rig.driven:
            user_pose.save_pose(collection, armature, [one.name for one in self._known_rig.driven])
            self._known_rig.drive(armature, driven_bones(self.state), posed, root)

    def show_particles(self, collection: Any) -> None:
        """Write what is visible of points and links where they are now; to write the others too costs playing time."""
        if self._place is None:
            return
        inverse = np.linalg.inv(self._place.root.astype(np.float64))
        for obj in of_particles(collection):
            if obj.visible_get():
                found = particles(self.setup, self.state, obj[SIM]).astype(np.float64)
                found = (found @ inverse[:3, :3].T + inverse[:3, 3]).astype(np.float32)
                pointclouds.write(obj.data, "position", "FLOAT_VECTOR", axes.swap_vectors(found))

    def _write_meshes(self, collection: Any, armature: Any) -> None:
        for obj, output in self.meshes(collection):
            outputs.prepare(obj, output)
            outputs.show(obj, self.positions(obj, output, armature))

    def _posed_meshes(self, collection: Any, armature: Any, depsgraph: Any) -> dict[int, Array]:
        """Return what the armature has made of meshes that the cloth writes in part: it reads the rest.

        On the first frame there is nothing yet, and the cloth's own weights stand in.
        """
        found: dict[int, Array] = {}
        for obj, output in self.meshes(collection):
            points = None if output.whole else outputs.posed(obj, depsgraph)
            if points is not None:
                to_mesh = _between(obj, armature)
                if to_mesh is not None:
                    points = (points @ to_mesh[:3, :3].T + to_mesh[:3, 3]).astype(np.float32)
                found |= dict.fromkeys(output.displays, axes.swap_vectors(points))
        return found

    def meshes(self, collection: Any) -> Iterator[tuple[Any, outputs.Output]]:
        """Yield the mesh objects that the cloth moves, with what it writes of each."""
        self.problem = ""
        found = outputs.bound_meshes(collection)
        for output in self._outputs:
            obj = found.get(output.number)
            if obj is None:
                self.problem = f"the mesh of {self.setup.displays[output.number].record.name} is gone"
            elif obj.data.is_editmode:
                self.problem = f"{obj.name} is being edited"
            elif len(obj.data.vertices) != len(output.selection):
                self.problem = f"{obj.name} has other vertices than the cloth"
            else:
                yield obj, output

    def positions(self, obj: Any, output: outputs.Output, armature: Any) -> Array:
        """Return what is shown of a mesh, (n, 3) f4 in its object's space."""
        drawn = [display_positions(self.setup, self.state, display) for display in output.displays]
        return outputs.in_mesh(output, drawn, _between(armature, obj))


def _clock(scene: Any, options: PlayOptions) -> Clock:
    return Clock.of(scene.frame_start, options.rate, scene.render.fps, scene.render.fps_base)


def _between(armature: Any, obj: Any) -> Array | None:
    """Return what leads from one object's space to another's, None where they are one."""
    if armature.matrix_world == obj.matrix_world:
        return None
    return np.linalg.inv(np.array(obj.matrix_world)) @ np.array(armature.matrix_world)
