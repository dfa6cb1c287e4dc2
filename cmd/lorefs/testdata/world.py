"""Holds a mounted folder of world geometry against what is expected of its files.

world.py values|all MOUNT EXPECTED [FILE ...]

With "all" this includes each pixel of the pictures, and the meshes. Everything is read and decoded here without lorefs: JSON by json, pictures by zlib,
meshes line by line. The decompressed file is made again of the JSON, byte for byte.
"""

import hashlib
import json
import os
import struct
import sys
import zlib

SIDE, SQUARES, CELLS = 120, 120 * 120, 64
GREY, PALETTE = 0, 3  # how a PNG says what its samples are


def check(ok, *what):
    if not ok:
        sys.exit(" ".join(str(w) for w in what))


def text(*path):
    path = os.path.join(*path)
    with open(path, "rb") as f:
        data = f.read()
    check(os.stat(path).st_size == len(data), path, "has not the size that it tells")
    return data


def check_raw(name, raw, want):
    check(len(raw) == want["rawBytes"], name, "has", len(raw), "bytes raw")
    check(hashlib.sha256(raw).hexdigest() == want["rawSha256"], name, "is other bytes raw")


def check_zone(mount, name, want, shown):
    squares = json.loads(text(mount, "zones", name + ".json"))["squares"]
    raw, z, height = bytearray(), 0, 0
    volumes, empty, most, lowest, highest = 0, 0, 0, 32767, -32768
    for square in squares:
        check(len(square) == CELLS, name, "has a square of", len(square), "cells")
        for cell in square:
            raw.append(len(cell))
            volumes, empty, most = volumes + len(cell), empty + (not cell), max(most, len(cell))
            for v in cell:
                raw += struct.pack("<HH", (v[0] - z) & 0xFFFF, (v[1] - height) & 0xFFFF)
                z, height = v
                lowest, highest = min(lowest, z), max(highest, z)
    check_raw(name, raw, want)
    got = {"volumes": volumes, "emptyCells": empty, "maxVolumesPerCell": most, "minZ": lowest, "maxZ": highest}
    for key, value in got.items():
        check(want[key] == value, name, key, value, "want", want[key])
    check(want["cells"], name, "has no sample cells")
    for at, cell in want["cells"].items():
        sx, sy, cx, cy = map(int, at.split(","))
        check(squares[SIDE * sx + sy][8 * cx + cy] == cell, name, at)
        one = json.loads(text(mount, "squares", name, f"{sx:03}-{sy:03}.json"))
        check(one["cells"][8 * cx + cy]["volumes"] == cell, name, at, "as a square")
    if not shown:
        return
    for ext, pick in ((".png", min), (".top.png", max)):
        check_heights(name + ext, squares, pick, *picture(text(mount, "heightmaps", name + ext)))
    depth, _ = picture(text(mount, "heightmaps", name + ".preview.png"), PALETTE)
    check(depth == 8, name, "has a preview of", depth, "bits")
    check_floors(name, squares, text(mount, "meshes", "zones", name + ".obj"))


def picture(data, colours=GREY):
    """Decodes a PNG of 960 by 960 with such colours, and gives its depth and its rows."""
    check(data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG")
    at, packed, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        check(zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0], kind, "has a wrong CRC")
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    check(kind == b"IEND" and head[:2] == (960, 960) and head[3:] == (colours, 0, 0, 0), "it is another kind of picture:", head)
    return head[2], list(rows(zlib.decompress(packed), head[2] // 8))


def rows(data, step):
    size, before = 960 * step, bytes(960 * step)
    check(len(data) == 960 * (size + 1), "the picture has", len(data), "bytes")
    for y in range(960):
        kind, row = data[y * (size + 1)], bytearray(data[y * (size + 1) + 1 : (y + 1) * (size + 1)])
        for i in range(size if kind else 0):
            a = row[i - step] if i >= step else 0
            b, c = before[i], before[i - step] if i >= step else 0
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = row[i] + (0, a, b, (a + b) // 2, near)[kind] & 0xFF
        before = bytes(row)
        yield struct.unpack(">960H", before) if step == 2 else before


def check_heights(name, squares, pick, depth, got):
    check(depth == 16, name, "has", depth, "bits")
    for sx in range(SIDE):
        for sy in range(SIDE):
            for i, cell in enumerate(squares[SIDE * sx + sy]):
                x, y = 8 * sx + i // 8, 8 * sy + i % 8
                want = max(1, 32768 + pick(v[0] for v in cell)) if cell else 0
                check(got[y][x] == want, name, "pixel", x, y, "is", got[y][x], "want", want)


def check_floors(name, squares, mesh):
    """Each floor of each cell has to be in a rectangle, and nothing else."""
    floors = sum(len({v[0] for v in cell}) for square in squares for cell in square)
    area, vertices = 0, []
    for line in mesh.splitlines():
        if line[:2] == b"v ":
            vertices.append(tuple(float(v) for v in line.split()[1:]))
        elif line[:2] == b"f ":
            numbers = [int(v) for v in line.split()[1:]]
            check(len(numbers) == 4 and all(-len(vertices) <= n < 0 for n in numbers), name, line)
            a, b, c, d = (vertices[n] for n in numbers)
            check(b == (c[0], a[1], a[2]) and d == (a[0], c[1], a[2]) and a[2] == c[2], name, line, a, b, c, d)
            check(all(c[i] > a[i] and (c[i] - a[i]) % 16 == 0 for i in (0, 1)), name, line, a, c)
            area += (c[0] - a[0]) * (c[1] - a[1]) / 256
        else:
            check(line[:2] in (b"# ", b"o "), name, line)
    check(area == floors, name, "has floors of", area, "cells, want", floors)


def check_area(mount, name, want, shown):
    area = json.loads(text(mount, "areas", name + ".json"))
    nodes, zones = area["nodes"], area["zones"]
    raw, edges = bytearray(struct.pack("<I", len(nodes))), 0
    for node in nodes:
        raw += struct.pack("<3fB", *node["at"], sum(1 << e[0] for e in node["edges"]))
        raw += b"".join(struct.pack("<I", e[1]) for e in node["edges"])
        edges += len(node["edges"])
        for _, target, dx, dy in node["edges"]:
            to = nodes[target]["at"]
            check([dx, dy] == [to[0] - node["at"][0], to[1] - node["at"][1]], name, node)
    raw += struct.pack("<I", len(zones))
    for zone in zones:
        raw += struct.pack("<II", *zone["zone"])
        raw += b"".join(struct.pack("<IB", *square) for square in zone["squares"])
    check_raw(name, raw, want)
    got = [len(nodes), edges, [z["zone"] for z in zones]]
    check(got == [want["nodes"], want["edges"], want["zones"]], name, got)
    check(want["samples"], name, "has no sample nodes")
    for at, sample in want["samples"].items():
        node = nodes[int(at)]
        check(node["at"] == sample["position"] and [e[:2] for e in node["edges"]] == sample["edges"], name, at)
    if not shown:
        return
    check_paths(name, nodes, text(mount, "meshes", name + ".obj"))
    graph = json.loads(text(mount, "areas", name + ".geojson"))
    check(graph["type"] == "FeatureCollection", name, "is no GeoJSON")


def check_paths(name, nodes, mesh):
    vertices, lines = [], set()
    for line in mesh.splitlines():
        kind, *rest = line.split()
        if kind == b"v":
            vertices.append([float(v) for v in rest])
        elif kind == b"l":
            lines.add(tuple(sorted(int(v) - 1 for v in rest)))
        else:
            check(kind in (b"#", b"o"), name, line)
    check(vertices == [n["at"] for n in nodes], name, "has other vertices")
    check(lines == {tuple(sorted((i, e[1]))) for i, n in enumerate(nodes) for e in n["edges"]}, name, "has other lines")


def main(what, mount, expected, *names):
    names = names or [f[: -len(".expected.json")] for f in sorted(os.listdir(expected)) if f.endswith(".expected.json")]
    for file in names:
        with open(os.path.join(expected, file + ".expected.json"), encoding="utf-8") as f:
            want = json.load(f)
        name, ext = os.path.splitext(file)
        (check_zone if ext == ".zgd" else check_area)(mount, name, want, what == "all")
        print(name)


main(*sys.argv[1:])
