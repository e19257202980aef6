"""Class descriptions: against the type tables of the games' files, and of one piece."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import FormatError
from addon.codec.havok.classes import SDKS, describe, new_tagfile, type_table
from addon.codec.havok.collision.writing import CLASSES, CLASSES_2018
from addon.codec.havok.layout import Layouts
from tests.codec.havok.tagfile_corpus import COUNTS, Find, samples

TOOL_MADE = "tool_made_collision.hkx"
UNSIGNED = 1 << 64
FIELDS = ("format", "version", "flags", "properties")


def full_names(types) -> list[str]:
    """Return the name of every type with all its template arguments."""

    def full(index: int) -> str:
        kind = types.types[index]
        arguments = [full(each.value) if each.is_type else str(each.value) for each in kind.parameters]
        return f"{kind.name}<{', '.join(arguments)}>" if arguments else kind.name

    return [full(index) if index else "" for index in range(len(types))]


def entry(types, names: list[str], index: int) -> dict:
    """Return a type as a description holds it."""
    kind = types.types[index]
    found = {name: getattr(kind, name) for name in FIELDS if getattr(kind, name) not in {None, 0} or name == "format"}
    if kind.version == 0:
        found["version"] = 0
    if kind.flags == 0:
        found["flags"] = 0
    if kind.format is None:
        del found["format"]
    if kind.size is not None:
        found["size"] = [kind.size, kind.alignment]
    if kind.parent:
        found["parent"] = names[kind.parent]
    if kind.subtype is not None:
        found["subtype"] = names[kind.subtype]
    if kind.members is not None:
        found["members"] = [[each.name, each.flags, each.offset, names[each.type]] for each in kind.members]
    if kind.parameters:
        found["parameters"] = [
            [each.name, names[each.value] if each.is_type else each.value] for each in kind.parameters
        ]
    return found


@pytest.mark.parametrize("source", COUNTS)
def test_descriptions_are_those_of_the_files(corpus: Find, source: str):
    sdk = SDKS[0] if source.startswith("sekiro") else SDKS[1]
    known, seen = describe(sdk), 0
    for one in samples(corpus, source):
        tag = one.read()
        if tag.reference is not None or one.name == TOOL_MADE:
            continue
        types, names = tag.types, full_names(tag.types)
        for index, name in enumerate(names):
            if not index or name not in known:
                continue
            described = {key: value for key, value in known[name].items() if key not in {"hash", "basis"}}
            if types.types[index].has_body and not described.get("opaque"):
                assert described == entry(types, names, index), name
                assert "basis" not in known[name], name
                seen += 1
            if index in types.hash_of:
                assert known[name].get("hash") == types.hash_of[index], name
    assert seen > 20 or source in {"eldenring/h_collision.hkx.dcx", "eldenring/tool_made_collision.hkx"}


@pytest.mark.parametrize("sdk", SDKS)
def test_every_description_compiles(sdk: str):
    layouts = Layouts(type_table(sdk, describe(sdk)))
    for index in range(1, len(layouts.table)):
        assert layouts[index].alignment


def test_what_the_sdks_have():
    for sdk in SDKS:
        for name in CLASSES:
            assert name in describe(sdk)
    assert set(CLASSES_2018) <= set(describe(SDKS[1]))
    version = {sdk: describe(sdk)["hknpCompressedMeshShape"]["version"] for sdk in SDKS}
    assert version == {"20160200": 6, "20180100": 7}
    assert describe("20160200")["hkcdSimdTree::Node"]["size"] == [112, 16]
    assert describe("20160200")["fsnpCustomMeshParameter::PrimitiveData"]["size"][0] == 64


def test_unknown_sdks_and_classes():
    with pytest.raises(FormatError, match="no class descriptions for SDK '2014'"):
        describe("2014")
    with pytest.raises(FormatError, match="class hkNothing of SDK 20180100 is not described"):
        type_table("20180100", ["hkNothing"])


@pytest.mark.parametrize("sdk", SDKS)
def test_a_tagfile_from_nothing(sdk: str):
    from addon.codec import Tagfile

    tag = new_tagfile(sdk, CLASSES)
    assert Tagfile.read(tag.write()).root.is_a("hkRootLevelContainer")


@pytest.mark.parametrize("sdk", SDKS)
def test_a_file_learns_classes_it_does_not_know(sdk: str):
    from addon.codec import Tagfile
    from addon.codec.havok.classes import learn_classes
    from addon.codec.havok.items import OBJECT

    data = new_tagfile(sdk, ["hclClothContainer", "hclCollidable"]).write()
    tag = Tagfile.read(data)
    assert not tag.types.find("hclSphereShape")
    before = len(tag.types)
    learn_classes(tag, ["hclSphereShape", "hclCollidable"])
    assert len(Tagfile.read(tag.write()).types) == len(tag.types) > before
    made = tag.item(tag.add(tag.types.find("hclSphereShape"), OBJECT, 1))
    made.one("sphere").values["pos"] = (1, 2, 3, 4)
    holder = tag.item(tag.add(tag.types.find("hclCollidable"), OBJECT, 1))
    holder["shape"] = made
    container = tag.item(tag.add(tag.types.find("hclClothContainer"), OBJECT, 1))
    container["collidables"] = [holder]
    variants = np.zeros(1, tag.layouts[tag.root.layout.members["namedVariants"].layout.target].dtype)
    variants["variant"] = container.item
    tag.root["namedVariants"] = variants
    again = Tagfile.read(tag.write())
    assert len(again.types) > before
    assert next(again.find("hclSphereShape")).one("sphere")["pos"].tolist() == [1, 2, 3, 4]
    assert again.write() == tag.write()
    with pytest.raises(FormatError, match=r"class hclNothing of SDK .* is not described"):
        learn_classes(tag, ["hclNothing"])


def test_types_of_a_compendium_do_not_learn():
    from addon.codec.havok.classes import learn_classes
    from addon.codec.havok.tagfile import TCRF

    tag = new_tagfile(SDKS[1], ["hclCollidable"])
    tag.reference = TCRF.zeros(1)[0:1].reshape(())
    layouts = tag.layouts
    learn_classes(tag, ["hclSphereShape"])
    assert tag.layouts is layouts
