"""The manual's examples run as they stand, one after another, on the project's own sample."""

from __future__ import annotations

import re

import pytest

from tests.collision.build import body
from tests.fresh import ROOT
from tests.sample import write_sample
from tests.scene.collision_files import ground, hkx

PAGES = sorted(path for path in (ROOT / "docs").glob("*.md") if "```python" in path.read_text("utf-8"))
INSTALLED = "bl_ext.user_default.ossuary.addon"
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)[^)]*\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page, scene, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (sample,) = write_sample(tmp_path)
    sample.rename("c4500.chrbnd.dcx")
    (tmp_path / "h000100.hkx").write_bytes(hkx(body(ground(), "h000100")))
    names = {}
    text = page.read_text("utf-8")
    for example in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
        line = text[: example.start()].count("\n") + 1
        code = "\n" * line + example[1].replace(INSTALLED, "addon")
        exec(compile(code, str(page), "exec"), names)


def test_there_are_examples():
    assert "scripting" in {page.stem for page in PAGES}


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.stem
)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text("utf-8")):
        assert "://" in target or (page.parent / target).exists(), target
