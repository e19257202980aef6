"""All cloths that play: what is done on each frame, and the timer of Play Live."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import bpy

from ...codec import FormatError
from . import nodes, outputs, rig, user_pose
from .edits import EditedCloths
from .keys import ARMATURE, DATA, EXTRA, POSE, cloths
from .session import MissingError, PlayOptions, Session
from .values import put_to_rest

LIVE_RATE = 60  # times a second that the timer is asked to call
MOST_LIVE_STEPS = 4  # at once: a slow machine plays slowly rather than falling behind for ever
USUAL_SPEED = 250.0  # steps a second of cloth that has not done any yet


class Player:
    """Plays the cloths of all scenes, by the session uid of their collections.

    Attributes:
        sessions: what plays.
        seen: the cloths that played, by the same; those that are gone have not been given back yet.
        problems: why cloths do not play, by the same.
        edited: the cloths with what users set of them.
        live: Play Live is on; ``timer`` is what Blender calls then.
    """

    def __init__(self, options: Callable[[Any], PlayOptions | None]) -> None:
        """Make one; ``options`` tells how a scene's cloth plays, None where it is off."""
        self.sessions: dict[int, Session] = {}
        self.seen: set[int] = set()
        self.problems: dict[int, str] = {}
        self.edited = EditedCloths()
        self.live = False
        self.timer = self.tick  # Blender knows timers by identity, and each look-up of a method makes another
        self._options = options
        self._last = 0.0
        self._owed = 0.0

    def __repr__(self) -> str:
        return f"<Player of {len(self.sessions)} cloths>"

    def before_frame(self, scene: Any) -> None:
        """Give bones that cloth drives back to the animation, where there is one.

        What the cloth made is never its own input. Where nothing animates the armature, the user's pose is worked out
        from what was kept of it: to give it back would have Blender pose all meshes once more.
        """
        for collection in cloths(scene):
            armature = collection.get(ARMATURE)
            if armature is not None and POSE in armature and rig.is_animated(armature):
                user_pose.restore_pose(collection, armature)

    def after_frame(self, scene: Any, depsgraph: Any) -> None:
        """Bring every cloth of a scene to its frame."""
        options = self._options(scene)
        if options is None or depsgraph is None:
            return
        for collection, session in self._playing(scene):
            self._try(collection, partial(session.show_frame, collection, scene, depsgraph, options))

    def show_again(self, context: Any) -> None:
        """Show the frame of the scene that is worked on under changed settings, where they change what it shows."""
        scene = context.scene
        options = self._options(scene)
        if options is None or not self._differing(scene, options):
            return
        depsgraph = context.evaluated_depsgraph_get()
        for collection, session in self._playing(scene):
            self._try(collection, partial(session.show_again, collection, scene, depsgraph, options))

    def seconds_again(self, scene: Any) -> float:
        """Return about how long `show_again` takes: on the start frame the cloth settles."""
        options = self._options(scene)
        if options is None or scene.frame_current > scene.frame_start:
            return 0.0
        sessions = [self.sessions.get(collection.session_uid) for collection in cloths(scene)]
        speeds = [session.speed if session is not None else 0.0 for session in sessions]
        return sum(options.settle / (speed or USUAL_SPEED) for speed in speeds)

    def _differing(self, scene: Any, options: PlayOptions) -> bool:
        """Tell whether any cloth may show something else; a look at the depsgraph would cost more."""
        sessions = (self.sessions.get(collection.session_uid) for collection in cloths(scene))
        known = any(session.differs(scene, options) for session in sessions if session is not None)
        return known or scene.frame_current <= scene.frame_start

    def forget_all(self) -> None:
        """Forget every session: another file has other cloths."""
        self.stop_live()
        self.sessions.clear()
        self.seen.clear()
        self.problems.clear()
        self.edited.clear()

    def forget_gone(self) -> None:
        """Forget the cloths that are gone, and give back what they moved."""
        known = {collection.session_uid for collection in bpy.data.collections}
        gone = self.seen - known
        if not gone:
            return
        self.seen -= gone
        for uid in gone & self.sessions.keys():
            del self.sessions[uid]
        for scene in bpy.data.scenes:
            put_back_strays(scene)

    def look_again(self) -> None:
        """After undo: find everything anew, forget the cloths that are gone, and frames of what may be no more.

        Cloths that came back are seen again. Live cloth goes on from where it is, to the pose that is there now.
        """
        self.forget_gone()
        self.seen |= {collection.session_uid for collection in bpy.data.collections if DATA in collection}
        for session in self.sessions.values():
            session.forget_scene()
            if not self.live:
                session.restart()

    def start_live(self) -> None:
        """Step by a timer from now on, whatever the frame."""
        if not self.live:
            self.live, self._last, self._owed = True, time.perf_counter(), 0.0
            bpy.app.timers.register(self.timer, first_interval=0.0, persistent=False)

    def stop_live(self) -> None:
        """Stop the timer."""
        self.live = False
        if bpy.app.timers.is_registered(self.timer):
            bpy.app.timers.unregister(self.timer)

    def tick(self) -> float | None:
        """Do the steps that are due by the clock on the wall; return when to call again."""
        scene = bpy.context.scene
        options = self._options(scene) if scene is not None else None
        if not self.live or options is None:
            self.live = False
            return None
        now = time.perf_counter()
        self._owed += (now - self._last) * options.rate
        self._last = now
        due = min(int(self._owed), MOST_LIVE_STEPS)
        self._owed = min(self._owed - due, 1.0)
        if due:
            self.live_steps(bpy.context, options, due)
        return 1 / LIVE_RATE

    def live_steps(self, context: Any, options: PlayOptions, steps: int) -> None:
        """Do steps at the pose as it is."""
        scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
        for collection, session in self._playing(scene):
            self._try(collection, partial(session.show_live, collection, scene, depsgraph, options, steps))

    def reset(self, scene: Any) -> None:
        """Put every cloth of a scene, and what it moved, back as it was before playing; copies of that too."""
        self.stop_live()
        for collection in cloths(scene):
            self.sessions.pop(collection.session_uid, None)
            self.problems.pop(collection.session_uid, None)
            put_to_rest(collection)
            put_back(collection)
        put_back_strays(scene)

    def show_particles(self, scene: Any) -> None:
        """Put points and links where the frame that is shown has them: those that were hidden did not follow."""
        for collection in cloths(scene):
            session = self.sessions.get(collection.session_uid)
            if session is not None:
                session.show_particles(collection)

    def problem(self, collection: Any) -> str:
        """Return why a cloth does not play; empty where it does."""
        session = self.sessions.get(collection.session_uid)
        return self.problems.get(collection.session_uid, "") or (session.problem if session is not None else "")

    def refused(self, collection: Any) -> list[str]:
        """Return what cannot be of the edits of a cloth that plays, and why: there it plays with what its file has."""
        session = self.sessions.get(collection.session_uid)
        if session is None or not session.refused:
            return []
        return [str(each) for each in self.edited.of(collection).errors]

    def _playing(self, scene: Any) -> Iterator[tuple[Any, Session]]:
        self.forget_gone()
        for collection in cloths(scene):
            try:
                yield collection, self._session(collection)
            except FormatError as error:
                self._fail(collection, error)

    def _session(self, collection: Any) -> Session:
        """Return what plays a cloth; a new one, which starts anew, where the user has edited it.

        What cannot be of the edits stays as the file has it: the rest plays.

        Raises:
            FormatError: it cannot be played.
        """
        edited = self.edited.of(collection)
        session = self.sessions.get(collection.session_uid)
        if session is None or session.file is not edited.file or session.added != len(collection.get(EXTRA, {})):
            session = self.sessions[collection.session_uid] = Session(collection, edited.file)
            self.seen.add(collection.session_uid)
        session.refused = tuple(str(each) for each in edited.errors)
        return session

    def _try(self, collection: Any, action: Callable[[], None]) -> None:
        """Play a cloth; Blender prints what handlers raise, and users do not see it."""
        try:
            action()
        except (MissingError, FormatError) as error:
            self._fail(collection, error)
        else:
            self.problems.pop(collection.session_uid, None)

    def _fail(self, collection: Any, error: Exception) -> None:
        """Note why a cloth does not play, and give back what it moved."""
        uid = collection.session_uid
        if self.problems.get(uid) != str(error):
            put_back(collection)
        self.problems[uid] = str(error)


def put_back_strays(scene: Any) -> None:
    """Give meshes and bones back that no cloth of a scene moves: it was deleted, or they are copies of what played."""
    found = cloths(scene)
    bound = {obj for collection in found for obj in outputs.bound_meshes(collection).values()}
    for obj in scene.objects:
        if obj not in bound and nodes.attached(obj, nodes.MESH) is not None:
            outputs.restore(obj)
        if POSE in obj:
            user_pose.give_back_strays(obj, found)


def put_back(collection: Any) -> None:
    """Give meshes and pose back what playing took from them."""
    for obj in outputs.bound_meshes(collection).values():
        outputs.restore(obj)
    armature = collection.get(ARMATURE)
    if armature is not None:
        user_pose.give_back(collection, armature)
