"""Levels that a stranger has made: which files they may open, and how much they may unpack."""

from __future__ import annotations

import base64
import gzip
import json
import os
import struct
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from ecs_collide.levels import files, ldtk, tiled

HEAD = {
    "version": "1.10", "tiledversion": "1.11.0", "orientation": "orthogonal", "width": 4,
    "renderorder": "right-down", "height": 3, "tilewidth": 10, "tileheight": 10,
    "nextlayerid": 9, "nextobjectid": 9,
}  # fmt: skip
TILESET = (
    '<tileset{} name="{}" tilewidth="10" tileheight="10" tilecount="4" columns="4">{}</tileset>'
)
BRICKS = TILESET.format(' firstgid="1"', "bricks", "")
SOLID = '<properties><property name="solid" type="bool" value="true"/></properties>'
RAW = struct.pack("<12I", *range(4), *[1] * 8)
Save = Callable[..., Path]


def words(**named: object) -> str:
    return " ".join(f'{name}="{value}"' for name, value in named.items())


def tmx(*parts: str, infinite: int = 0, before: str = "", **head: object) -> str:
    """Return a TMX map of 4 x 3 tiles."""
    return f"{before}<map {words(**{**HEAD, **head})} infinite='{infinite}'>{''.join(parts)}</map>"


def tmj(*layers: Any, tilesets: Any = (), **head: object) -> str:
    """Return the same map as JSON."""
    return json.dumps({**HEAD, "layers": list(layers), "tilesets": list(tilesets), **head})


def packed(data: bytes, compression: str = "zlib", width: int = 4, height: int = 3) -> str:
    """Return a tile layer in XML that declares its size and holds packed data."""
    text = base64.b64encode(data).decode()
    said = words(encoding="base64", compression=compression)
    return f"<layer name='l' width='{width}' height='{height}'><data {said}>{text}</data></layer>"


def thing(**said: object) -> str:
    return f"<objectgroup id='2' name='things'><object {words(**said)}/></objectgroup>"


def json_layer(kind: str, **said: Any) -> dict[str, Any]:
    own = {"type": kind, "name": "l", "id": 1, "opacity": 1, "visible": True, "x": 0, "y": 0}
    return {**own, **({"width": 4, "height": 3} if kind == "tilelayer" else {}), **said}


@contextmanager
def at_most(seconds: float, megabytes: float) -> Iterator[None]:
    """Fail if what is inside takes longer, or more memory of Python's.

    Tracing makes it slower, and machines differ: an attack takes a hundred times as long.
    """
    tracemalloc.start()
    start = time.process_time()
    try:
        yield
        taken = time.process_time() - start
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < seconds
    assert peak < megabytes * 1e6


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Return a function that saves a level into a folder `levels`, by default a TMX map.

    Beside that folder there is a tileset, a template and a level, and they are sound.
    """
    folder = tmp_path / "levels"
    folder.mkdir()
    (tmp_path / "out.tsx").write_text(TILESET.format("", "out", ""))
    (tmp_path / "out.tsj").write_text(
        json.dumps(
            {"name": "out", "tilewidth": 10, "tileheight": 10, "tilecount": 4, "columns": 4,
             "spacing": 0, "margin": 0}
        )
    )  # fmt: skip
    (tmp_path / "out.tx").write_text('<template><object name="t" width="9" height="9"/></template>')
    (tmp_path / "out.tj").write_text('{"object": {"name": "t", "width": 9, "height": 9}}')
    (tmp_path / "out.png").write_bytes(b"a picture")
    (tmp_path / "out.ldtkl").write_text(json.dumps(ldtk_level()))

    def write(text: str, name: str = "map.tmx") -> Path:
        path = folder / name
        path.write_text(text)
        return path

    return write


def ldtk_level(**said: Any) -> dict[str, Any]:
    empty = {"layerInstances": [], "fieldInstances": [], "pxWid": 40, "pxHei": 30}
    return {"identifier": "Cellar", **empty, **said}


def ldtk_world(**said: Any) -> str:
    return json.dumps({"levels": [ldtk_level(**said)], "defs": {"layers": []}})


# What a level may name, each as a function that returns the text and the name of its file.
NAMING: dict[str, Callable[[str], tuple[str, str]]] = {
    "tileset": lambda name: (tmx(f'<tileset firstgid="1" source="{name}.tsx"/>'), "map.tmx"),
    "JSON tileset": lambda name: (
        tmj(tilesets=[{"firstgid": 1, "source": f"{name}.tsj"}]),
        "map.tmj",
    ),
    "template": lambda name: (tmx(thing(id=1, template=f"{name}.tx", x=0, y=0)), "map.tmx"),
    "JSON template": lambda name: (
        tmj(
            json_layer(
                "objectgroup",
                draworder="topdown",
                objects=[{"id": 1, "template": f"{name}.tj", "x": 0, "y": 0}],
            )
        ),
        "map.tmj",
    ),
    "template of a shape": lambda name: (
        tmx(
            TILESET.format(
                ' firstgid="1"',
                "bricks",
                '<tile id="0"><objectgroup id="1" name="">'
                f'<object id="1" template="{name}.tx" x="0" y="0"/></objectgroup></tile>',
            ),
            thing(id=1, gid=1, x=0, y=0),
        ),
        "map.tmx",
    ),
    "level": lambda name: (ldtk_world(externalRelPath=f"{name}.ldtkl"), "world.ldtk"),
}  # fmt: skip


def load(path: Path, **options: Any) -> Any:
    return (ldtk if path.suffix == ".ldtk" else tiled).load(path, **options)


@pytest.mark.filterwarnings("ignore:.*tile collision editor")
@pytest.mark.parametrize("kind", NAMING)
@pytest.mark.parametrize("way", ["relative", "absolute", "link"])
def test_level_opens_nothing_outside_of_root(
    save: Save, tmp_path: Path, kind: str, way: str
) -> None:
    name = {"relative": "../out", "absolute": str(tmp_path / "out"), "link": "deeper/out"}[way]
    text, file = NAMING[kind](name)
    path = save(text, file)
    if way == "link":
        try:
            (tmp_path / "levels" / "deeper").symlink_to(tmp_path, target_is_directory=True)
        except OSError:
            pytest.skip("this system makes no links")

    said = rf"{file}.*'{name}.*{'leads to .*' if way == 'link' else ''}outside of \S*levels"
    with pytest.raises(ValueError, match=rf"{said}, .*root=folder"):
        load(path, root=path.parent)

    assert load(path, root=tmp_path)
    assert load(path, root=str(tmp_path))


@pytest.mark.filterwarnings("ignore:.*tile collision editor")
@pytest.mark.parametrize("kind", NAMING)
def test_links_within_the_folder_are_followed(save: Save, tmp_path: Path, kind: str) -> None:
    text, file = NAMING[kind]("deeper/../link/out")
    path = save(text, file)
    (tmp_path / "levels" / "deeper").mkdir()
    inside = tmp_path / "levels" / "deeper" / "inside"
    inside.mkdir()
    for source in tmp_path.glob("out.*"):
        (inside / source.name).write_bytes(source.read_bytes())
    try:
        (tmp_path / "levels" / "link").symlink_to(inside, target_is_directory=True)
    except OSError:
        pytest.skip("this system makes no links")

    assert load(path)


@pytest.mark.parametrize("kind", NAMING)
def test_level_that_is_a_link_out_of_its_folder_is_refused(
    save: Save, tmp_path: Path, kind: str
) -> None:
    text, file = NAMING[kind]("out")
    path = save(text, file)
    path.rename(tmp_path / file)
    try:
        path.symlink_to(tmp_path / file)
    except OSError:
        pytest.skip("this system makes no links")

    with pytest.raises(ValueError, match=rf"levels/{file} leads to .*outside of \S*levels"):
        load(path, root=path.parent)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
@pytest.mark.parametrize("kind", NAMING)
def test_pipes_and_folders_are_not_opened(save: Save, tmp_path: Path, kind: str) -> None:
    text, file = NAMING[kind]("odd")
    path = save(text, file)
    for odd in [f"odd.{end}" for end in ("tsx", "tsj", "tx", "tj", "png", "ldtkl")]:
        os.mkfifo(path.parent / odd)

    with pytest.raises(ValueError, match=rf"(?s){file}.*is no regular file|is no regular .*{file}"):
        load(path)

    for odd in path.parent.glob("odd.*"):
        odd.unlink()
        odd.mkdir()
    with pytest.raises(ValueError, match="is no regular file"):
        load(path)


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="this system has no /dev/zero")
@pytest.mark.parametrize(
    "name", ["/dev/zero", "/dev/stdin", "/proc/kcore", "../../../../../../../../../dev/zero"]
)
def test_devices_are_not_opened_even_below_root(save: Save, name: str) -> None:
    path = save(tmx(f'<tileset firstgid="1" source="{name}"/>'))

    with at_most(2.0, 20), pytest.raises(ValueError, match="outside of"):
        tiled.load(path)  # the root is never a whole disk
    if name != "/proc/kcore":
        with at_most(2.0, 20), pytest.raises(ValueError, match=r"is no regular .*|cannot be read"):
            tiled.load(path, root="/")


@pytest.mark.parametrize("name", ["/dev/zero", "."])
def test_level_that_is_no_regular_file_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if not path.exists():
        pytest.skip("this system has no devices")

    for loader in (tiled.load, ldtk.load):
        with pytest.raises(ValueError, match="is no regular file"):
            loader(path)


def test_file_without_end_is_refused(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", 1000)
    (tmp_path / "levels" / "large.tsx").write_text(TILESET.format("", "large", " " * 1000))

    with pytest.raises(ValueError, match=r"large\.tsx is larger than 1000 bytes"):
        tiled.load(save(tmx('<tileset firstgid="1" source="large.tsx"/>')))


@pytest.mark.parametrize("name", ["a\0b", "a/" * 100_000, "a" * 300], ids=str.__len__)
def test_name_that_is_none_of_a_file_is_refused(save: Save, name: str) -> None:
    tileset = {"firstgid": 1, "source": name}
    template = json_layer("objectgroup", draworder="topdown", objects=[{"id": 1, "template": name}])
    said = r"(has the name|cannot be read: File name too long|is no regular)"

    with at_most(2.0, 20):
        for text in (tmj(tilesets=[tileset]), tmj(template)):
            with pytest.raises(ValueError, match=rf"map\.tmj.*{said}|{said}.*map\.tmj"):
                tiled.load(save(text, "map.tmj"))
        with pytest.raises(ValueError, match=r"world\.ldtk"):
            ldtk.load(save(ldtk_world(externalRelPath=name), "world.ldtk"))


def test_missing_file_is_reported_with_the_level_that_names_it(save: Save) -> None:
    for text, file in (
        (tmx('<tileset firstgid="1" source="no.tsx"/>'), "map.tmx"),
        (tmx(thing(id=1, template="no.tx", x=0, y=0)), "map.tmx"),
        (ldtk_world(externalRelPath="no.ldtkl"), "world.ldtk"),
    ):
        with pytest.raises(FileNotFoundError, match=rf"named by \S*{file}\): '\S*no\.\w+'"):
            load(save(text, file))


@pytest.mark.parametrize(
    "name", ["no.png", "../../../../no.png", "/etc/passwd", "https://example.org/a.png", "a\0b", ""]
)
def test_pictures_are_not_opened_wherever_they_are(save: Save, tmp_path: Path, name: str) -> None:
    (tmp_path / "levels" / "art").mkdir()
    picture = {"image": name, "imagewidth": 40, "imageheight": 10}
    sheet = {"name": "b", "tilewidth": 9, "tileheight": 9, **picture}
    (tmp_path / "levels" / "art" / "b.tsj").write_text(json.dumps(sheet))
    sky = json_layer("imagelayer", **picture)
    tiles = {"firstgid": 9, **sheet, "tiles": [{"id": 0, **picture}]}
    out = [{"firstgid": 1, "source": "art/b.tsj"}, tiles]

    level = tiled.load(save(tmj(sky, tilesets=out), "map.tmj"), root=tmp_path / "levels")

    first, second = level.map["tilesets"]
    if name == "no.png":
        assert Path(first["image"]) == (tmp_path / "levels/art/no.png").resolve()
        assert Path(second["tiles"][0]["image"]) == (tmp_path / "levels/no.png").resolve()
        assert Path(level.map["layers"][0]["image"]) == (tmp_path / "levels/no.png").resolve()


def test_level_may_name_files_of_its_project_and_no_others(save: Save, tmp_path: Path) -> None:
    #
    #   tmp_path / game / a / b / c / d / levels / map.tmx
    #            / out.tsx     game has the mark of a project
    #
    folder = tmp_path / "game" / "a" / "b" / "c" / "d" / "levels"
    folder.mkdir(parents=True)
    (tmp_path / "game" / "near.tsx").write_text((tmp_path / "out.tsx").read_text())

    def load_naming(name: str) -> tiled.Level:
        (folder / "map.tmx").write_text(tmx(f'<tileset firstgid="1" source="{name}"/>'))
        return tiled.load(folder / "map.tmx")

    with pytest.raises(ValueError, match=r"outside of \S*/a, the folder"):  # four above
        load_naming("../../../../../near.tsx")
    (tmp_path / "game" / "pyproject.toml").write_text("")
    assert load_naming("../../../../../near.tsx")
    with pytest.raises(ValueError, match=r"outside of \S*/game, the folder"):
        load_naming("../../../../../../out.tsx")
    (folder.parent / ".git").mkdir()  # the nearest mark counts
    with pytest.raises(ValueError, match=r"outside of \S*/d, the folder"):
        load_naming("../../../../../near.tsx")


def test_working_folder_is_the_project_of_the_levels_in_it(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmx('<tileset firstgid="1" source="../out.tsx"/>'))
    assert tiled.load(path)

    monkeypatch.chdir(tmp_path / "levels")
    with pytest.raises(ValueError, match=r"outside of \S*levels, the folder"):
        tiled.load("map.tmx")
    monkeypatch.chdir(tmp_path)
    assert tiled.load("levels/map.tmx")


@pytest.mark.parametrize("root", ["nowhere", "levels/map.tmx"])
def test_root_that_is_no_folder_is_refused(save: Save, tmp_path: Path, root: str) -> None:
    path = save(tmx())

    with pytest.raises(ValueError, match=r"^root=.* must be the folder"):
        tiled.load(path, root=tmp_path / root)


def test_level_outside_of_root_is_refused(save: Save, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()

    with pytest.raises(ValueError, match=r"map\.tmx leads to .*outside of \S*other"):
        tiled.load(save(tmx()), root=tmp_path / "other")


def test_level_may_be_named_relative_to_the_current_folder(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmx(thing(id=1, template="in.tx", x=0, y=0)))
    path.with_name("in.tx").write_text((tmp_path / "out.tx").read_text())
    monkeypatch.chdir(path.parent)

    assert len(tiled.load("map.tmx").objects) == 1
    assert len(tiled.load("../levels/map.tmx", root="..").objects) == 1


# -- tiles --


BOMB = zlib.compress(bytes(4 * 4_000_000))


@pytest.mark.parametrize("infinite", [0, 1])
@pytest.mark.parametrize("kind", ["zlib", "gzip", "base64"])
def test_layer_unpacks_no_more_tiles_than_it_declares(save: Save, kind: str, infinite: int) -> None:
    data = {"zlib": BOMB, "gzip": gzip.compress(bytes(16_000_000)), "base64": bytes(400_000)}[kind]
    compression = "" if kind == "base64" else kind
    text = base64.b64encode(data).decode()
    chunk = {"x": 0, "y": 0, "width": 4, "height": 3, "data": text}
    said = {"encoding": "base64", "compression": compression}
    chunks = json_layer("tilelayer", **said, chunks=[chunk])
    maps = {
        "map.tmx": tmx(packed(data, compression), infinite=infinite),
        "chunks.tmx": tmx(
            f'<layer id="1" name="l" width="4" height="3"><data {words(**said)}>'
            f'<chunk x="0" y="0" width="4" height="3">{text}</chunk></data></layer>',
            infinite=infinite,
        ),
        "map.tmj": tmj(json_layer("tilelayer", **said, data=text), infinite=bool(infinite)),
        "chunks.tmj": tmj(chunks, infinite=bool(infinite)),
    }

    for name, whole in maps.items():
        with (
            at_most(2.0, 10),
            pytest.raises(
                ValueError, match=rf"{name}: layer 'l' is 4 x 3 tiles large and has more"
            ),
        ):
            tiled.load(save(whole, name))


def test_layer_may_be_larger_than_its_map(save: Save) -> None:
    # Tiled draws all of it.
    layer = packed(zlib.compress(bytes([1, 0, 0, 0]) * 4000), width=40, height=100)
    bricks = BRICKS.replace("</tileset>", f'<tile id="0">{SOLID}</tile></tileset>')

    (box,) = tiled.load(save(tmx(bricks, layer))).solids

    assert (box.centre, box.half) == ((200, -470), (200, 500))


def test_all_layers_and_chunks_together_have_no_more_than_max_tiles(save: Save) -> None:
    row = ",".join("0" * 12)
    layer = f'<layer id="1" name="l" width="4" height="3"><data encoding="csv">{row}</data></layer>'
    chunk = f'<chunk x="0" y="0" width="4" height="3">{row}</chunk>'
    chunks = layer.replace(row, chunk * 3)

    for whole in (tmx(layer * 3), tmx(f"<group name='g'>{layer * 3}</group>"), tmx(chunks)):
        path = save(whole)
        assert tiled.load(path, max_tiles=36).solids == ()
        with pytest.raises(
            ValueError, match=r"'l': with it the map has 36 tiles, more than max_tiles=35; "
        ):
            tiled.load(path, max_tiles=35)


def test_map_that_declares_very_many_tiles_is_refused_before_they_are_unpacked(save: Save) -> None:
    layer = packed(BOMB, width=2000, height=2000)

    with at_most(2.0, 10), pytest.raises(ValueError, match="4000000 tiles, more than max_tiles="):
        tiled.load(save(tmx(layer, width=2000, height=2000)))


@pytest.mark.parametrize("max_tiles", ["many", None, 1.5, True])
def test_max_tiles_is_a_whole_number(save: Save, max_tiles: object) -> None:
    with pytest.raises(TypeError, match=r"max_tiles=.* must be a whole number"):
        tiled.load(save(tmx()), max_tiles=max_tiles)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"width": -4, "height": -3}, "its width is -4; it must be a whole number, 0 or more"),
        ({"width": "a"}, "its width is 'a'; it must be a whole number"),
        ({"width": "9" * 5000}, "its width is ('99|inf)"),
        ({"height": 1e300}, "its height is 1e.300; it must be a whole number"),
        ({"encoding": "base32"}, "its encoding 'base32' must be csv or base64"),
        ({"compression": "brotli"}, "its compression 'brotli' must be zlib, gzip or zstd"),
    ],
    ids=["negative", "text", "digits", "large", "encoding", "compression"],
)
def test_tiles_that_cannot_be_unpacked_are_refused(
    save: Save, said: dict[str, Any], message: str
) -> None:
    text = base64.b64encode(RAW).decode()
    own = {"encoding": "base64", "compression": ""}
    data = words(**{word: said.get(word, value) for word, value in own.items()})
    size = words(**{word: said.get(word, value) for word, value in (("width", 4), ("height", 3))})
    whole = {
        "map.tmx": tmx(f"<layer id='1' name='l' {size}><data {data}>{text}</data></layer>"),
        "map.tmj": tmj(json_layer("tilelayer", data=text, **{**own, **said})),
    }

    for name, saved in whole.items():
        with pytest.raises(ValueError, match=rf"{name}: layer 'l' cannot be read: {message}"):
            tiled.load(save(saved, name))


def test_shapes_of_a_tile_hold_no_packed_tiles(save: Save) -> None:
    bomb = json_layer(
        "tilelayer", data=base64.b64encode(BOMB).decode(), encoding="base64", compression="zlib"
    )
    inside = {"firstgid": 1, "name": "b", "tiles": [{"id": 0, "objectgroup": bomb}]}
    used = json_layer("tilelayer", data=[1] * 12)

    with at_most(2.0, 10):
        assert not tiled.load(save(tmj(used, tilesets=[inside]), "map.tmj")).solids


class FakeZstd:
    """Stands in for `compression.zstd`, which Python has since 3.14."""

    class ZstdError(Exception):
        pass

    class ZstdDecompressor:
        eof = False

        def decompress(self, data: bytes, limit: int) -> bytes:
            if not data.startswith(b"zstd"):
                raise FakeZstd.ZstdError("no such data")
            self.eof = len(data[4:]) <= limit
            return data[4:][:limit]


@pytest.fixture
def zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "compression.zstd", FakeZstd)
    monkeypatch.setitem(sys.modules, "compression", FakeZstd)


def test_zstd_is_unpacked_no_further_than_the_layer_declares(save: Save, zstd: None) -> None:
    level = tiled.load(save(tmx(BRICKS, packed(b"zstd" + RAW, "zstd"))))

    assert level.map["layers"][0]["data"] == [*range(4), *[1] * 8]
    for data, words in (
        (b"zstd" + bytes(2**20), "'l' is 4 x 3 tiles large and has more"),
        (b"no", "'l' cannot be read: its zstd data are damaged: no such data"),
        (b"zstd" + RAW[:-8], "'l' is 4 x 3 tiles large and has 10"),
    ):
        with pytest.raises(ValueError, match=rf"map\.tmx: layer {words}"):
            tiled.load(save(tmx(BRICKS, packed(data, "zstd"))))


def test_zstd_that_cannot_be_unpacked_names_the_alternatives(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("compression", "compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(
        ValueError, match=r"layer 'l' .*pip install backports\.zstd; or choose .*zlib"
    ):
        tiled.load(save(tmx(BRICKS, packed(RAW, "zstd"))))


# -- XML and JSON --


@pytest.mark.parametrize(
    "before",
    [
        f'<!DOCTYPE map [<!ENTITY a "{"x" * 100_000}">]>',
        '<!DOCTYPE map [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<?xml version="1.0"?><!DOCTYPE map [<!ENTITY % p SYSTEM "http://localhost/"> %p;]>',
        f'<!DOCTYPE map [<!ATTLIST object name CDATA "{"x" * 100_000}">]>',
    ],
    ids=["entity", "external entity", "parameter entity", "attribute"],
)
def test_xml_that_defines_entities_or_attributes_is_refused(
    save: Save, tmp_path: Path, before: str
) -> None:
    group = "<objectgroup name='g'><object id='1'/>&a;</objectgroup>"
    message = "it defines entities or attributes"

    with at_most(2.0, 20):
        with pytest.raises(
            ValueError, match=rf"map\.tmx is no map that Tiled has saved: {message}"
        ):
            tiled.load(save(tmx(group * 2000, before=before)))
        for kind, text in (("tileset", TILESET), ("template", "<template><object/></template>")):
            name = {"tileset": "bad.tsx", "template": "bad.tx"}[kind]
            whole = before.replace("DOCTYPE map", f"DOCTYPE {kind}") + text.format("", "b", "")
            (tmp_path / "levels" / name).write_text(whole)
        for whole in (
            tmx('<tileset firstgid="1" source="bad.tsx"/>'),
            tmx(thing(id=1, template="bad.tx", x=0, y=0)),
        ):
            with pytest.raises(ValueError, match=rf"bad\.ts?x is .*map\.tmx names it\): {message}"):
                tiled.load(save(whole))


def test_document_type_of_the_first_versions_of_tiled_is_taken(save: Save) -> None:
    before = '<?xml version="1.0"?>\n<!DOCTYPE map SYSTEM "http://mapeditor.org/dtd/1.0/map.dtd">\n'

    assert tiled.load(save(tmx(before=before))).size == (40, 30)


def test_long_attributes_and_prologues_take_time_in_proportion(save: Save) -> None:
    with at_most(2.0, 60):
        assert tiled.load(save(tmx(f"<group name='{'f' * 2**22}'/>")))
        assert tiled.load(save(tmx(before=f"<!--{'-x' * 2**21}-->")))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (tmx("<group name='g'>" * 100_000 + "</group>" * 100_000), "map.tmx"),
        ("[" * 100_000, "map.tmj"),
        ("{" + f'"layers": {"[" * 900}{"]" * 900}, "tilesets": []' + "}", "map.tmj"),
        (
            tmj(properties=[{"name": "a", "type": "class", "value": 0}]).replace(
                '"value": 0', f'"value": {"[" * 100_000}'
            ),
            "map.tmj",
        ),
        ("[" * 100_000, "world.ldtk"),
        ('{"levels": ' + "[" * 100_000, "world.ldtk"),
        (ldtk_world(a=0).replace('"a": 0', '"a": ' + '{"a": ' * 100_000), "world.ldtk"),
        (ldtk_world(externalRelPath="deep.ldtkl"), "world.ldtk"),
    ],
    ids=["groups", "list", "layers", "property", "ldtk", "levels", "ldtk property", "level"],
)
def test_parts_that_are_nested_very_deep_are_refused(
    save: Save, tmp_path: Path, text: str, name: str
) -> None:
    (tmp_path / "levels" / "deep.ldtkl").write_text("[" * 100_000)

    with pytest.raises(ValueError, match=rf"{name}.* (is no|names it\):|nested too deep)"):
        load(save(text, name))


@pytest.mark.parametrize("depth", range(100, 1000, 60))
def test_values_that_are_nested_almost_too_deep_raise_nothing_else(save: Save, depth: int) -> None:
    # These can be read; but to show them in an error may be too deep.
    deep = json.loads("[" * depth + "]" * depth)
    for text, name in (
        (ldtk_world(pxWid=deep), "world.ldtk"),
        (ldtk_world(identifier=deep), "world.ldtk"),
        (
            json.dumps({"levels": [ldtk_level(identifier=deep)] * 2, "defs": {"layers": []}}),
            "world.ldtk",
        ),
        (tmj(json_layer("imagelayer", image="", offsetx=deep, offsety=0)), "map.tmj"),
        (tmj(tilesets=[{"firstgid": deep, "source": "a.tsx"}]), "map.tmj"),
    ):
        path = save(text, name)
        with suppress(ValueError):
            assert load(path).size


def test_small_map_cannot_copy_a_large_template_without_limit(save: Save, tmp_path: Path) -> None:
    large = f'<property name="a" value="{"x" * 1_000_000}"/>'
    (tmp_path / "levels" / "large.tx").write_text(
        f"<template><object width='4'><properties>{large}</properties></object></template>"
    )
    one = '<object id="1" template="large.tx" x="0" y="0"/>'
    group = "<objectgroup id='2' name='things'>{}</objectgroup>"

    with (
        at_most(5.0, 50),
        pytest.raises(
            ValueError,
            match=r"object 1 .*'things' .*large\.tx the instances .* copy more than 67108864",
        ),
    ):
        tiled.load(save(tmx(group.format(one * 1000))))

    assert len(tiled.load(save(tmx(group.format(one * 10)))).objects) == 10


def test_small_map_cannot_parse_a_large_tileset_very_often(save: Save, tmp_path: Path) -> None:
    tiles = "".join(f'<tile id="{k}"/>' for k in range(5000))
    (tmp_path / "levels" / "large.tsx").write_text(TILESET.format("", "large", tiles))
    many = "".join(f'<tileset firstgid="{1 + 5000 * k}" source="large.tsx"/>' for k in range(2000))

    start = time.process_time()
    level = tiled.load(save(tmx(many, thing(id=1, gid=5001, x=0, y=0))))

    assert time.process_time() - start < 5
    assert level.map["tilesets"][1]["firstgid"] == 5001
    assert level.objects[0].tile == 5001


def test_tiles_of_very_many_objects_are_found_quickly(save: Save) -> None:
    tilesets = "".join(TILESET.format(f' firstgid="{1 + 4 * k}"', "b", "") for k in range(3000))
    tiles = "".join(f'<tile id="{k}"/>' for k in range(4000))
    last = TILESET.format(' firstgid="12001"', "last", tiles)
    objects = "".join(f'<object id="{k}" gid="{12001 + k}" x="0" y="0"/>' for k in range(4000))

    start = time.process_time()
    level = tiled.load(save(tmx(tilesets, last, f"<objectgroup name='g'>{objects}</objectgroup>")))

    assert time.process_time() - start < 3
    assert level.objects[-1].tile == 16_000


@pytest.mark.long
def test_small_map_cannot_combine_tiles_and_layers_without_limit(save: Save) -> None:
    said = f'<properties><property name="a" value="{"x" * 1000}"/></properties>'
    tiles = "".join(f'<tile id="{k}">{said}</tile>' for k in range(400))
    numbers = ",".join(str(k + 1) for k in range(400))
    layers = [
        f'<layer name="l{n}" width="400" height="1"><properties><property name="solid" type="bool" '
        f'value="true"/><property name="friction" type="float" value="{{}}"/></properties>'
        f'<data encoding="csv">{numbers}</data></layer>'
        for n in range(400)
    ]
    tileset = TILESET.format(' firstgid="1"', "b", tiles)
    same = [layer.format(0.5) for layer in layers]
    each = [layer.format(0.001 * n) for n, layer in enumerate(layers)]

    with pytest.raises(ValueError, match=r"with tile \d+ in layer 'l\d+' all combinations of "):
        tiled.load(save(tmx(tileset, *each, width=400, height=1)))

    assert len(tiled.load(save(tmx(tileset, *same, width=400, height=1))).solids) == 1


@pytest.mark.parametrize("name", ["categories", "mask"])
def test_very_long_list_of_categories_is_refused(save: Save, name: str) -> None:
    said = f'<properties><property name="{name}" value="{"all," * 2000}"/></properties>'

    level = tiled.load(
        save(tmx(f"<objectgroup name='g'>{said}<object id='1' x='0' y='0'/></objectgroup>"))
    )

    with pytest.raises(ValueError, match=rf"{name} of object 1 .*has more than 4096 characters"):
        level.objects[0].components()


@pytest.mark.parametrize(
    "layer",
    [
        json_layer("tilelayer", data=[1] * 12, offsetx=1e308, offsety=1e308),
        json_layer(
            "tilelayer", chunks=[{"x": 1e308, "y": 0, "width": 1, "height": 1, "data": [1]}]
        ),
        json_layer(
            "objectgroup",
            draworder="topdown",
            offsetx=1e308,
            offsety=0,
            objects=[{"id": 1, "x": 1e308, "y": 0, "width": 1, "height": 1}],
        ),
    ],
    ids=["offset", "chunk", "object"],
)
def test_box_too_far_out_for_a_body_is_refused(save: Save, layer: Any) -> None:
    solid = {"name": "solid", "type": "bool", "value": True}
    bricks = {"firstgid": 1, "name": "b", "tilewidth": 9, "tileheight": 9, "tilecount": 1,
              "spacing": 0, "margin": 0, "tiles": [{"id": 0, "properties": [solid]}]}  # fmt: skip

    with pytest.raises(ValueError, match=r"map\.tmj: .* must be finite and within -2\*\*500"):
        tiled.load(save(tmj(layer, tilesets=[bricks]), "map.tmj"))


# -- shapes from the tile collision editor --


def test_shape_made_from_a_template_has_its_size(save: Save, tmp_path: Path) -> None:
    shape = (
        '<objectgroup id="1" name=""><object id="1" template="out.tx" x="1" y="0"/></objectgroup>'
    )
    tile = f'<tile id="0">{shape}</tile>'
    (tmp_path / "b.tsx").write_text(TILESET.format("", "b", tile))
    layer = packed(struct.pack("<12I", 1, *[0] * 11), "")
    inside = tile.replace("out.tx", "../out.tx")

    for part in (
        TILESET.format(' firstgid="1"', "b", inside),
        '<tileset firstgid="1" source="../b.tsx"/>',
    ):
        (box,) = tiled.load(save(tmx(part, layer))).solids
        assert (box.centre, box.half) == ((5.5, 25.5), (4.5, 4.5))


def test_few_tile_objects_with_very_many_shapes_are_refused(save: Save) -> None:
    shape = "".join(f'<object id="1" x="0" y="0" width="{k}" height="2"/>' for k in range(1, 101))
    tile = f'<tile id="0"><objectgroup id="1" name="">{shape}</objectgroup></tile>'
    objects = "".join(f'<object id="{k}" gid="1" x="0" y="0"/>' for k in range(10))
    layer = f"<objectgroup name='g'>{objects}</objectgroup>"
    path = save(tmx(TILESET.format(' firstgid="1"', "bricks", tile) + layer))

    assert len(tiled.load(path, max_tiles=1000).objects) == 1000
    with pytest.raises(ValueError, match=r"object 9 .* 1000 shapes, more than max_tiles=999"):
        tiled.load(path, max_tiles=999)


def test_few_tiles_with_very_many_shapes_are_refused(save: Save) -> None:
    shape = "".join(f'<object id="1" x="0" y="0" width="{k}" height="2"/>' for k in range(1, 501))
    tile = f'<tile id="0"><objectgroup id="1" name="">{shape}</objectgroup></tile>'
    layer = (
        '<layer id="1" name="l" width="4" height="3"><data encoding="csv">1,1,1,1,1,1,1,1,1,1,1,1'
        "</data></layer>"
    )
    path = save(tmx(TILESET.format(' firstgid="1"', "bricks", tile) + layer))

    assert 5000 < len(tiled.load(path, max_tiles=6000).solids) <= 6000
    with pytest.raises(ValueError, match="its tiles have 6000 shapes, more than max_tiles=5999"):
        tiled.load(path, max_tiles=5999)
