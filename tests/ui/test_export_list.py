"""How an export that cannot be written says so: to a script by an error, to a user by a list that stays."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture
def failed():
    from addon.scene import ExportResult
    from addon.scene.problems import Problem

    return ExportResult(Path("a.flver"), errors=[Problem("has no vertices", ("mesh",)), Problem("is lost")])


@pytest.fixture
def operator(blender):
    from addon.operators.export import ExportsFile

    class Operator(ExportsFile):
        def __init__(self):
            self.reports = []

        def report(self, kind, text):
            self.reports.append((kind, text))

    return Operator()


def test_a_script_gets_an_error_that_names_the_problems(operator, failed, blender):
    assert operator.finish(blender.context, failed) == {"CANCELLED"}
    ((kind, text),) = operator.reports
    assert kind == {"ERROR"}
    assert "mesh: has no vertices; is lost" in text


def test_a_user_gets_the_list(operator, failed, blender, monkeypatch):
    from addon.operators import export, problems

    opened = []
    monkeypatch.setattr(export.bpy, "ops", SimpleNamespace(wm=SimpleNamespace(ossuary_problems=opened.append)))
    operator.in_window = True
    assert operator.finish(blender.context, failed) == {"CANCELLED"}
    assert opened == ["INVOKE_DEFAULT"]
    assert operator.reports == [({"INFO"}, failed.summary)]
    summary, found = problems.kept(blender.context)
    assert summary == failed.summary
    assert found == [("has no vertices", ["mesh"], True), ("is lost", [], True)]


def test_the_list_can_be_opened_again(blender, operator, failed):
    operator.finish(blender.context, failed)
    assert blender.ops.wm.ossuary_problems.poll()
    assert blender.ops.wm.ossuary_problems() == {"FINISHED"}
