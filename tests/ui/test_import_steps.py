"""Several files that are imported one after another, as Blender's window does it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.scene import tiny


class Manager:
    """What an operator asks of the window manager, noted."""

    def __init__(self):
        self.timers, self.shares, self.handlers = [], [], []

    def event_timer_add(self, _pause, window):
        self.timers.append(window)
        return self.timers[-1]

    def event_timer_remove(self, timer):
        self.timers.remove(timer)

    def modal_handler_add(self, operator):
        self.handlers.append(operator)

    def progress_begin(self, _low, _high):
        self.shares.append(0)

    def progress_update(self, share):
        self.shares.append(share)

    def progress_end(self):
        self.shares.append(None)


@pytest.fixture
def job(scene, tmp_path):
    """Return an operator's double that imports three files, with the context that it is given."""
    import bpy

    from addon.operators.files import ImportsFiles
    from addon.scene import DecodedCache, import_flver

    class Job(ImportsFiles):
        cache = DecodedCache()

        def __init__(self, names):
            self.directory, self.files = str(tmp_path), [SimpleNamespace(name=name) for name in names]
            self.reports, self._in_window = [], True

        def run(self, _context, paths, progress):
            return import_flver(bpy.context, paths, cache=self.cache, progress=progress)

        def report(self, kind, text):
            self.reports.append((kind, text))

    for name in ("a", "c"):
        tiny.write(tmp_path / f"{name}.partsbnd", tiny.model())
    (tmp_path / "b.partsbnd").write_bytes(b"nothing")
    said = []
    manager = Manager()
    context = SimpleNamespace(
        window="window", area=None, window_manager=manager, workspace=SimpleNamespace(status_text_set=said.append)
    )
    return Job(["a.partsbnd", "b.partsbnd", "c.partsbnd"]), context, said


def timer():
    return SimpleNamespace(type="TIMER")


def test_a_file_is_imported_at_each_tick(job, monkeypatch):
    import bpy

    from addon.operators import report

    work, context, said = job
    kept = []
    monkeypatch.setattr(report, "keep", lambda _context, summary, details, _seconds: kept.append((summary, details)))
    assert work.execute(context) == {"RUNNING_MODAL"}
    assert context.window_manager.handlers == [work]
    assert not bpy.data.collections
    assert "a.partsbnd (1 of 3)" in said[-1]
    assert work.modal(context, timer()) == {"RUNNING_MODAL"}
    assert [each.name for each in bpy.data.armatures] == ["tiny"]
    assert "b.partsbnd (2 of 3)" in said[-1]
    assert work.modal(context, SimpleNamespace(type="MOUSEMOVE")) == {"RUNNING_MODAL"}
    assert work.modal(context, timer()) == {"RUNNING_MODAL"}
    assert work.modal(context, timer()) == {"FINISHED"}
    assert len(bpy.data.armatures) == 2
    assert not context.window_manager.timers
    assert said[-1] is None
    shares = context.window_manager.shares
    assert shares[-2:] == [100, None]
    assert shares[:-1] == sorted(shares[:-1])
    ((summary, details),) = kept
    assert "2" not in summary.split(":")[0]
    assert "1 failed" in summary
    assert len([line for line in details if line.startswith("b.partsbnd")]) == 1
    assert work.reports[0][0] == {"WARNING"}
    assert len(work.cache.files) == 2
    work.cache.clear()


def test_esc_keeps_what_is_there_and_leaves_the_rest(job, monkeypatch):
    import bpy

    from addon.operators import report

    work, context, said = job
    kept = []
    monkeypatch.setattr(report, "keep", lambda _context, summary, _details, _seconds: kept.append(summary))
    work.execute(context)
    work.modal(context, timer())
    assert work.modal(context, SimpleNamespace(type="ESC")) == {"FINISHED"}
    assert len(bpy.data.armatures) == 1
    assert kept == ["Imported tiny: 4 bones, 2 meshes, 2 dummies; 1 warning; Stopped by Esc: 2 files not imported"]
    assert work.reports == [({"INFO"}, "Stopped by Esc: 2 files not imported")]
    assert not context.window_manager.timers
    assert said[-1] is None


def test_esc_before_the_first_imports_nothing(job, monkeypatch):
    import bpy

    from addon.operators import report

    monkeypatch.setattr(report, "keep", lambda *_: None)
    work, context, _ = job
    work.execute(context)
    assert work.modal(context, SimpleNamespace(type="ESC")) == {"CANCELLED"}
    assert not bpy.data.objects
    assert work.reports == [({"INFO"}, "Stopped by Esc: 3 files not imported")]


def test_redo_and_one_file_import_at_once(job, monkeypatch):
    import bpy

    from addon.operators import report

    monkeypatch.setattr(report, "keep", lambda *_: None)
    work, context, _ = job
    work.files = work.files[:1]
    assert work.execute(context) == {"FINISHED"}
    assert len(bpy.data.armatures) == 1
    again = type(work)(["a.partsbnd", "c.partsbnd"])
    again.execute(context)
    while again.modal(context, timer()) == {"RUNNING_MODAL"}:
        pass
    before = len(bpy.data.armatures)
    assert again.execute(context) == {"FINISHED"}  # as the redo panel calls it
    assert len(bpy.data.armatures) == before + 2
