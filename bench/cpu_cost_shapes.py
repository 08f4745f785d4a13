# SPDX-License-Identifier: Apache-2.0
"""Writes networks of random layers, in the text form, for the lines of [cpu.cost] of our own kernels. docs/cpu-cost.md

    python3 bench/cpu_cost_shapes.py FOLDER [FILES] [SEED] [LAYERS] [KIND]      default: 80 networks of seed 1, of four layers each

KIND: matmul, products of activations as attention has them; depthwise, windows of several rows that are not 3x3; without it dense layers and
additions.

No layer is taken from a model, so that what a fit says of a model is a prediction. Extents are spread evenly over their logarithms, since
layers of networks are: few channels on large images, many on small ones. Three of four counts of channels are multiples of 8, as those of
networks are. Standard library only.
"""
import math
import pathlib
import random
import sys

MOST_MACS, MOST_ELEMENTS = 3_000_000, 40_000  # an emulated board has 2 MB, and runs 30 M instructions a second


def extent(r, low, high):
    """low..high, its logarithm evenly spread."""
    return round(math.exp(r.uniform(math.log(low), math.log(high))))


def channels(r, low, high):
    n = extent(r, low, high)
    return n // 8 * 8 if n >= 8 and r.random() < 0.75 else n


def conv(r):
    """Height, width and channels of the image, filters, window, stride, padding of a dense convolution."""
    kind = r.choice(["pointwise", "pointwise", "3x3", "3x3", "first", "general"])
    size = [extent(r, 2, 48), extent(r, 2, 48)]
    inner = extent(r, 1, 4) if kind == "first" else channels(r, 4, 256)
    kernel = {"pointwise": [1, 1], "3x3": [3, 3], "first": [extent(r, 2, 10), extent(r, 2, 8)],
              "general": [extent(r, 1, 7), extent(r, 1, 7)]}[kind]
    stride = [1, 1] if r.random() < 0.7 else [2, 2]
    pad = [k // 2 for k in kernel] if r.random() < 0.7 else [0, 0]
    return size, inner, channels(r, 4, 256), kernel, stride, pad


def matmul(r, k):
    """Of attention: queries by keys or weights by values, of all tokens or, one in three, of new ones."""
    while True:
        heads, tokens, size = extent(r, 1, 8), extent(r, 4, 200), 8 * extent(r, 1, 8)
        rows = r.randint(1, 5) if r.random() < 0.3 else tokens
        inner, columns = r.choice([(size, tokens), (tokens, size)])
        if heads * rows * inner * columns <= MOST_MACS and heads * max(rows * inner, inner * columns, rows * columns) <= MOST_ELEMENTS:
            return [f"input x{k}a : f32[{heads},{rows},{inner}]", f"input x{k}b : f32[{heads},{columns},{inner}]", f"y{k} = matmul(x{k}a, x{k}b)",
                    f"output y{k}"]


def depthwise(r, k):
    """As mobile networks have them, mostly 5x5."""
    while True:
        kernel = [5, 5] if r.random() < 0.6 else [r.randint(2, 7), r.randint(2, 7)]
        size, inner, stride = extent(r, 4, 48), channels(r, 4, 200), 1 if r.random() < 0.6 else 2
        width = size if r.random() < 0.7 else extent(r, 4, 48)
        pad = [n // 2 for n in kernel] if r.random() < 0.8 else [0, 0]
        fits = all(extent_in + 2 * p >= n for extent_in, p, n in zip((size, width), pad, kernel))
        if kernel != [3, 3] and fits and size * width * inner <= MOST_ELEMENTS and size * width * inner * math.prod(kernel) <= MOST_MACS:
            pads = f"pad_before={pad[0]},{pad[1]} pad_after={pad[0]},{pad[1]}"
            return [f"input x{k} : f32[1,{size},{width},{inner}] order=0,3,1,2",
                    f"y{k} = conv2d(x{k}, random f32[{inner},{kernel[0]},{kernel[1]},1], random f32[{inner}]) {pads} groups={inner} stride={stride},{stride}",
                    f"output y{k} order=0,3,1,2"]


def layer(r, k):
    """The lines of a layer that is small enough to be counted."""
    while True:
        kind = r.choice(["conv", "conv", "conv", "conv", "linear", "add"])
        if kind == "add":
            shape = [1, extent(r, 2, 32), extent(r, 2, 32), channels(r, 4, 64)]
            if math.prod(shape) > MOST_ELEMENTS // 4:
                continue
            lines = [f"input x{k}{s} : f32[{','.join(map(str, shape))}] order=0,3,1,2" for s in "ab"]
            return [*lines, f"y{k} = add(x{k}a, x{k}b)", f"output y{k} order=0,3,1,2"]
        if kind == "linear":
            rows, inner, units = extent(r, 1, 2), channels(r, 4, 1024), channels(r, 4, 512)
            if inner * units > 150_000:
                continue
            return [f"input x{k} : f32[{rows},{inner}]", f"y{k} = linear(x{k}, random f32[{units},{inner}], random f32[{units}])", f"output y{k}"]
        (h, w), c, filters, (kh, kw), stride, pad = conv(r)
        oh, ow = ((n + 2 * p - m) // s + 1 for n, p, m, s in zip((h, w), pad, (kh, kw), stride))
        if min(oh, ow) < 1 or h + 2 * pad[0] < kh or w + 2 * pad[1] < kw:
            continue
        if oh * ow * filters * kh * kw * c > MOST_MACS or max(h * w * c, oh * ow * filters, filters * kh * kw * c) > MOST_ELEMENTS:
            continue
        pads = f"pad_before={pad[0]},{pad[1]} pad_after={pad[0]},{pad[1]} " if any(pad) else ""
        return [f"input x{k} : f32[1,{h},{w},{c}] order=0,3,1,2",
                f"y{k} = conv2d(x{k}, random f32[{filters},{kh},{kw},{c}], random f32[{filters}]) {pads}stride={stride[0]},{stride[1]}",
                f"output y{k} order=0,3,1,2"]


def main():
    given = sys.argv[2:5]
    folder, files, seed, layers = pathlib.Path(sys.argv[1]), *(int(a) for a in [*given, *(80, 1, 4)[len(given):]])
    make = {"matmul": matmul, "depthwise": depthwise}.get("".join(sys.argv[5:]), layer)
    r = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(files):
        lines = [line for k in range(layers) for line in make(r, k)]
        lines.sort(key=lambda line: ("i", "y", "o").index(line[0]))  # inputs, layers, outputs
        (folder / f"shapes{n:03}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    main()
