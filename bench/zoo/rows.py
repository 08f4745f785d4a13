# SPDX-License-Identifier: Apache-2.0
"""What a row of the zoo is, and the data that its inputs get: seeded, and shaped like what a sensor gives."""
import dataclasses
import typing

import numpy as np

CLASSES = 10  # of every classifier


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    origin: str  # the package, or `hand` for one written here
    make: typing.Callable  # () -> nn.Module, not trained
    inputs: tuple  # of Input


@dataclasses.dataclass(frozen=True)
class Input:
    kind: str  # a row of KINDS
    shape: tuple  # without the batch
    count: int = 0  # tokens, bytes: how many values there are


def image(channels, height, width=0):
    return Input("image", (channels, height, width or height))


def wave(samples, *channels):
    return Input("wave", (*channels, samples))


def series(*shape):
    """[.., steps, channels]"""
    return Input("series", shape)


def channels_first(channels, steps):
    return Input("channels_first", (channels, steps))


def features(*shape):
    return Input("features", shape)


def tokens(length, vocabulary):
    return Input("tokens", (length,), vocabulary)


def camera(*shape):
    return Input("camera", shape, 256)


def smooth(random, height, width):
    """Waves of low frequency and a few blobs, about 0 +- 1."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width, 2)
    out = np.zeros((height, width))
    for k in range(1, 7):
        fy, fx = random.normal(size=2) * k
        out += random.normal() / k * np.sin(2 * np.pi * (fy * y + fx * x) + random.uniform(0, 6.28))
    for _ in range(4):
        cy, cx, r = random.uniform(0, 1), random.uniform(0, 1), random.uniform(0.05, 0.3)
        out += random.normal() * (np.hypot(y - cy, x - cx) < r)
    return out + 0.02 * random.normal(size=out.shape)


def make_image(random, shape, count):
    *outer, height, width = shape
    base = smooth(random, height, width)
    planes = [0.7 * base + 0.5 * smooth(random, height, width) for _ in range(int(np.prod(outer)))]
    return np.stack(planes).reshape(shape)


def make_wave(random, shape, count):
    t = np.arange(shape[-1]) / 16000
    rows = []
    for _ in range(int(np.prod(shape[:-1], initial=1))):
        pitch = random.uniform(90, 700)
        voice = sum(random.uniform(0.2, 1) / k * np.sin(2 * np.pi * pitch * k * t + random.uniform(0, 6.28)) for k in range(1, 9))
        swell = 0.1 + np.abs(np.sin(2 * np.pi * random.uniform(0.5, 6) * t + random.uniform(0, 3.14)))
        rows.append(0.2 * voice * swell + 0.005 * random.normal(size=t.shape))
    return np.stack(rows).reshape(shape)


def make_series(random, shape, count):
    *outer, steps, channels = shape
    walks = random.normal(size=(*outer, steps, channels)).cumsum(-2) / np.sqrt(steps)
    t = np.arange(steps)[:, None] / steps
    return walks + np.sin(2 * np.pi * random.uniform(1, 8, size=channels) * t + random.uniform(0, 6.28, size=channels))


def make_channels_first(random, shape, count):
    return np.ascontiguousarray(make_series(random, (shape[1], shape[0]), 0).T)


def make_features(random, shape, count):
    return random.normal(size=shape) + random.normal()


def make_tokens(random, shape, count):
    return np.minimum(random.zipf(1.3, size=shape), count - 1)


def make_camera(random, shape, count):
    return np.clip(128 + 50 * make_image(random, shape, 0), 0, 255).astype(np.uint8)


KINDS = {"image": (make_image, np.float32), "wave": (make_wave, np.float32), "series": (make_series, np.float32),
         "channels_first": (make_channels_first, np.float32), "features": (make_features, np.float32),
         "tokens": (make_tokens, np.int64), "camera": (make_camera, np.uint8)}  # fmt: skip


def samples(row, count, seed):
    """For each input of the row [count, 1, ..]."""
    out = []
    for port, given in enumerate(row.inputs):
        make, dtype = KINDS[given.kind]
        random = np.random.default_rng([seed, port, *row.name.encode()])
        out.append(np.stack([make(random, given.shape, given.count)[None].astype(dtype) for _ in range(count)]))
    return out
