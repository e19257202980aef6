"""The order in which modules are registered, and what happens when one of them fails."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

import addon


@pytest.fixture
def calls(monkeypatch) -> list[str]:
    """Return the calls that two modules get, which stand in for those of the extension."""
    seen = []
    for name in ("first", "second"):
        module = ModuleType(f"addon.{name}")
        module.register = lambda package, name=name: seen.append(f"+{name} {package}")
        module.unregister = lambda name=name: seen.append(f"-{name}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(addon, "_MODULES", (".first", ".second"))
    monkeypatch.setattr(addon, "_undo", [])
    return seen


def test_modules_come_in_order_and_go_in_reverse(calls):
    addon.register("bl_ext.somewhere.ossuary")
    addon.unregister()
    assert calls == [
        "+first bl_ext.somewhere.ossuary", "+second bl_ext.somewhere.ossuary", "-second", "-first",
    ]  # fmt: skip


def test_a_checkout_hands_down_its_own_name(calls):
    addon.register()
    assert calls == ["+first addon", "+second addon"]


def test_registering_again_takes_back_what_was_registered(calls):
    addon.register()
    del calls[:]
    addon.register()
    assert calls == ["-second", "-first", "+first addon", "+second addon"]


def test_unregistering_again_does_nothing(calls):
    addon.register()
    addon.unregister()
    del calls[:]
    addon.unregister()
    assert not calls


def test_a_module_that_fails_takes_the_others_back(calls, monkeypatch):
    def fail(_package: str) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(sys.modules["addon.second"], "register", fail)
    with pytest.raises(RuntimeError, match="no"):
        addon.register()
    assert calls == ["+first addon", "-first"]
