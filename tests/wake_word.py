# SPDX-License-Identifier: Apache-2.0
"""What the front end of the streaming wake word may answer (write/firmware/mlperf_tiny/mlperf_tiny_front_end.c), by its definition in floats and a bound of
what integers lose; a model of the benchmark's sizes, and a sound. Standard library only."""
import cmath
import math
import random

import tflite_made

STEP, ZERO = 0.003701043, -128  # of the benchmark's model


def transform(x):
    if len(x) == 1:
        return x
    even, odd = transform(x[::2]), transform(x[1::2])
    turned = [cmath.exp(-2j * math.pi * k / len(x)) * v for k, v in enumerate(odd)]
    return [a + b for a, b in zip(even, turned)] + [a - b for a, b in zip(even, turned)]


def mel(hertz):
    return 1127 * math.log(1 + hertz / 700)


def filters():
    """(line of the spectrum, weight) of each, as TensorFlow's linear_to_mel_weight_matrix has them."""
    edges = [mel(8000) * m / 41 for m in range(42)]
    at = [mel(8000 * k / 512) for k in range(513)]
    return [[(k, w) for k in range(1, 513)
             if (w := min((at[k] - low) / (centre - low), (high - at[k]) / (high - centre))) > 0]
            for low, centre, high in zip(edges, edges[1:], edges[2:])]


FILTERS = filters()


def step_of(energy):
    """Of the energy of a filter, samples being -1 to 1; not yet between the least and the greatest."""
    return (10 * math.log10(max(energy, 1e-30)) + 52) / 64 / STEP + ZERO


def cut(step):
    return int(max(ZERO, min(127, step)))


def allowed_steps(samples, before):
    """The least and the greatest step of each filter for 1024 samples.

    The board computes with sixteenths of a sample's unit. It rounds 1024 products of samples, then in nine stages 511 complex products on the way to
    a number of the half spectrum, of which two, turned, make twice a line: variances of 1/12 and 2/12 each, 171 in sum, of which eight standard
    deviations are allowed. Its cosines, of 30 bits, are those of ten factors. Squares are cut to multiples of 2^16 of four times the square, weights
    rounded to 2^-15. The logarithm is a table of 64 pieces, off by 1/(8 * 64^2 * ln 2) and 1.5 units of 2^-15."""
    unit = 1 / (16 * 32768)
    x = [(v - 31 / 32 * u) / 32768 * (0.54 - 0.46 * math.cos(2 * math.pi * n / 1024))
         for n, (u, v) in enumerate(zip([before] + samples, samples))]
    powers = [abs(v) ** 2 / 1024 for v in transform(x)[:513]]
    off = (8 * math.sqrt(171) * unit + 10 * 2 ** -29 * sum(map(abs, x))) / 32  # of the root of a power: 1/1024 is in it
    log_off = (1 / (8 * 64 ** 2 * math.log(2)) + 1.5 * 2 ** -15) * 10 * math.log10(2) / 64 / STEP
    result = []
    for lines in FILTERS:
        energy, weights = sum(w * powers[k] for k, w in lines), sum(w for _, w in lines)
        lost = weights * 2 ** 14 * unit ** 2 / 1024
        rounded = 2 ** -16 * sum(powers[k] for k, _ in lines)
        low = max(0, math.sqrt(energy) - off * math.sqrt(weights)) ** 2 - lost - rounded
        high = (math.sqrt(energy) + off * math.sqrt(weights)) ** 2 + rounded
        result.append((cut(step_of(low) - log_off), cut(step_of(high) + log_off)))
    return result


def sound(chunks):
    """Silence, faint and loud noise, a tone at the limit, two tones far apart, a rising one."""
    rng, result = random.Random(5), []
    for n in range(512 * chunks):
        part, t = n * 6 // (512 * chunks), n / 16000
        result.append(round([0, rng.gauss(0, 30), rng.gauss(0, 8000), 32767 * math.sin(2 * math.pi * 440 * t),
                             12000 * math.sin(2 * math.pi * 200 * t) + 40 * math.sin(2 * math.pi * 5000 * t),
                             9000 * math.sin(2 * math.pi * (100 + 3000 * t) * t)][part]))
    return [max(-32768, min(32767, v)) for v in result]


def made_model(path):
    rng = random.Random(3)
    def constant(spread, count):
        return ",".join(str(max(-127, min(127, round(rng.gauss(0, spread))))) for _ in range(count))
    path.write_bytes(tflite_made.model(f"""x : INT8[1,30,1,40] q({STEP};{ZERO})
w : INT8[16,3,1,40] q(0.02;0) = {constant(30, 16 * 3 * 40)}
b : INT32[16] q({0.02 * STEP};0) = 0
a : INT8[1,28,1,16] q(0.05;-128)
shape : INT32[2] = 1,448
r : INT8[1,448] q(0.05;-128)
v : INT8[3,448] q(0.004;0) = {constant(20, 3 * 448)}
c : INT32[3] q(0.0002;0) = 0
l : INT8[1,3] q(0.16;0)
y : INT8[1,3] q(0.00390625;-128)
CONV_2D(x, w, b) -> a Conv2DOptions padding=VALID stride_w=1 stride_h=1 fused_activation_function=RELU
RESHAPE(a, shape) -> r ReshapeOptions
FULLY_CONNECTED(r, v, c) -> l FullyConnectedOptions
SOFTMAX(l) -> y SoftmaxOptions beta=1
input x
output y
"""))
