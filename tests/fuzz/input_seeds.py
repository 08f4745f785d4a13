# SPDX-License-Identifier: Apache-2.0
"""First inputs for the fuzz targets `npy`, `npz` and `image`: arrays, archives, images and folders of them, each in the forms that readers tell
apart. Standard library only."""
import io
import itertools
import struct
import zipfile
import zlib

import pt2_text

TYPES = {"<f4": "f", "<f8": "d", "<f2": "e", "|i1": "b", "|u1": "B", "<i2": "h", "<i4": "i", "<i8": "q", "<u2": "H", "<u4": "I", "<u8": "Q", "|b1": "?",
         ">f4": ">f", ">i8": ">q"}
# As npy_fuzz.cpp numbers them.
NPY, NPZ, BIN, PNG, JPG, BMP, NO_ENDING, OTHER = range(8)
ALONE, FOLDER, TWICE, MIXED, OTHERS = (k << 3 for k in range(5))
ARCHIVED = 64
F32, U8, S8, S64, BF16, F64, F16, B8 = range(8)
CAMERA = 8
SHAPES = [(2, 3), (1, 2, 3), (4,), (), (1, 2, 2, 3), (3, 2, 2), (1, 4, 2, 2), (2, 2)]
TWO_INPUTS, MAP_OF_ALL, MAP_OF_CHANNELS, TWO_PATHS = 1, 2, 4, 8


def npy(descr, shape, values, fortran=False, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}\n".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    form = TYPES[descr]
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + b"".join(struct.pack(form if form[0] == ">" else "<" + form, v) for v in values)


def npz(arrays, method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in arrays.items():
            archive.writestr(name, data)
    return file.getvalue()


def png(width, height, colour, depth, palette=b"", transparent=b"", interlaced=0):
    """`colour`: 0 grey, 2 RGB, 3 by palette, 4 grey and alpha, 6 RGBA."""
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    passes = [(1, 1), (1, 1), (2, 1)] if interlaced else [(width, height)]  # those of 2 x 2 pixels
    rows = [(across * samples * depth + 7) // 8 for across, down in passes for _ in range(down)]
    pixels = b"".join(bytes([y % 5]) + bytes((y + x) * 37 % 256 for x in range(row)) for y, row in enumerate(rows))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))
            + (chunk(b"PLTE", palette) if palette else b"") + (chunk(b"tRNS", transparent) if transparent else b"")
            + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))


def bmp(width, height, bits, compression=0, header=40):
    row = (width * bits + 31) // 32 * 4
    masks = struct.pack("<III", 0xff0000, 0xff00, 0xff)
    palette = bytes(k % 256 for k in range(4 << bits)) if bits <= 8 else masks if compression == 3 else b""
    start = 14 + header + len(palette)
    info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, 0, 0, 0, 0, 0) + bytes(header - 40)
    size = row * abs(height)
    return b"BM" + struct.pack("<IHHI", start + size, 0, 0, start) + info + palette + bytes(k * 29 % 256 for k in range(size))


def arrays():
    for descr, (name, values) in itertools.product(TYPES, {"small": [0, 1, 1, 0, 1, 0], "large": [2, 100, 3, 4, 5, 9]}.items()):
        for shape, fortran, version in (((2, 3), False, 1), ((3, 2), True, 1), ((6,), False, 2), ((1, 2, 3), False, 1)):
            yield f"{name}_{descr[1:]}_{len(shape)}{version}{descr[0]}", npy(descr, shape, values, fortran, version)
    for descr, value in (("<f4", float("nan")), ("<f8", 1e300), ("<i8", 2**62 + 1), ("<u8", 2**64 - 1), ("<f8", float("-inf")), ("<i8", -2**63)):
        yield f"odd_{descr[1:]}_{value}", npy(descr, (1,), [value])


def images():
    """(name, height, width, channels, file)"""
    for colour, depths, channels in ((0, (1, 2, 4, 8, 16), 1), (2, (8, 16), 3), (4, (8, 16), 2), (6, (8, 16), 4)):
        for depth in depths:
            for interlaced in (0, 1):
                yield f"png{colour}_{depth}_{interlaced}", 2, 2, channels, png(2, 2, colour, depth, interlaced=interlaced)
    yield "png_palette", 2, 2, 3, png(2, 2, 3, 8, palette=bytes(768))
    yield "png_palette_alpha", 2, 2, 4, png(2, 2, 3, 8, palette=bytes(768), transparent=bytes(3))
    yield "png_palette_short", 2, 2, 3, png(2, 2, 3, 1, palette=bytes(6))
    for bits in (1, 4, 8, 16, 24, 32):
        for height in (2, -2):
            yield f"bmp{bits}_{height}", 2, 2, 4 if bits == 32 else 3, bmp(2, height, bits)
    yield "bmp_masks", 2, 2, 4, bmp(2, 2, 32, compression=3)
    yield "bmp_v5", 2, 2, 4, bmp(2, 2, 32, header=124)


def files():
    """(name, input) of npy_fuzz.cpp's files by name."""
    f4, u1, i8 = npy("<f4", (2, 3), range(6)), npy("|u1", (2, 3), range(6)), npy("<i8", (2, 3), range(6))
    series = npy("<f4", (5, 2, 3), range(30))

    def chosen(kind, dtype, shape, more, data):
        return bytes([kind, dtype, SHAPES.index(shape), more]) + data

    for place, ending in itertools.product((ALONE, FOLDER, TWICE, MIXED, OTHERS), range(8)):
        yield f"file_{place}_{ending}", chosen(place | ending, F32, (2, 3), 0, series if ending == NPY else f4)
    for dtype in range(8):
        yield f"array_{dtype}", chosen(NPY, dtype, (2, 3), 0, (f4, u1, u1, i8, f4, npy("<f8", (2, 3), range(6)), npy("<f2", (2, 3), range(6)),
                                                               npy("|b1", (2, 3), [0, 1] * 3))[dtype])
        yield f"raw_{dtype}", chosen(BIN, dtype, (2, 3), 0, bytes([0, 1]) * (24, 3, 3, 24, 6, 24, 6, 3)[dtype])
    for more in (0, MAP_OF_ALL, MAP_OF_CHANNELS):
        yield f"camera_{more}", chosen(NPY, F32 | CAMERA, (3, 2, 2), more, npy("|u1", (4, 3, 2, 2), range(48)))
        yield f"camera_last_{more}", chosen(NPY, F32 | CAMERA, (1, 2, 2, 3), more, npy("|u1", (4, 2, 2, 3), range(48)))
    for more in (TWO_INPUTS, TWO_INPUTS | TWO_PATHS, TWO_PATHS):
        yield f"inputs_{more}", chosen(NPY, F32, (2, 3), more, f4)
        yield f"archive_of_two_{more}", chosen(NPZ | ARCHIVED, F32, (2, 3), more, f4)
    yield "archives_in_a_folder", chosen(NPZ | ARCHIVED | TWICE, F32, (2, 3), TWO_INPUTS, series)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        yield f"archive_{method}", chosen(NPZ, F32, (2, 3), 0, npz({"input0.npy": f4}, method))
        yield f"archive_series_{method}", chosen(NPZ | TWICE, F32, (2, 3), TWO_INPUTS, npz({"input0.npy": series, "input1.npy": series}, method))
        yield f"archive_unequal_{method}", chosen(NPZ, F32, (2, 3), TWO_INPUTS, npz({"input0.npy": series, "input1.npy": f4}, method))
        yield f"archive_beyond_{method}", chosen(NPZ, F32, (2, 3), 0, npz({"input0.npy": f4, "input1.npy": f4}, method))
    for name, height, width, channels, data in images():
        ending = PNG if name.startswith("png") else BMP
        shape = {3: (3, 2, 2), 1: (2, 2), 4: (1, 4, 2, 2)}.get(channels, (2, 3))
        for dtype in (F32, U8, S8):
            yield f"{name}_{dtype}", chosen(ending | FOLDER, dtype, shape, MAP_OF_ALL, data)


def write(seeds):
    """`seeds.put(target, name, bytes)`"""
    for name, data in arrays():
        seeds.put("npy", name, data)
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            seeds.put("npz", f"{name}_{method}", npz({"input0.npy": data, "input1.npy": data}, method))
    f4 = npy("<f4", (1,), [0])
    for fault in pt2_text.FAULTS:
        seeds.put("npz", f"fault_{fault}", pt2_text.stored_zip({"input0.npy": f4, "input1.npy": f4}, {"input0.npy": fault}))
    seeds.put("npz", "huge_shape", b"\0" + npy("<f4", (1 << 27,), [0]))
    for name, data in files():
        seeds.put("npy", name, data)
    for name, _, _, channels, data in images():
        for more in (0, 64, 128):  # image_fuzz.cpp: the shape, and the map
            seeds.put("image", f"{name}_{more}", bytes([{1: 8, 2: 9, 3: 7, 4: 5}[channels] | more]) + data)
