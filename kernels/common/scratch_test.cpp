// SPDX-License-Identifier: Apache-2.0
// The scratch sizes against what the stock flow wrote: every node of the stock files, and what its
// sizing functions say for more.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "ops/avg_pool2d/scratch.h"
#include "ops/conv2d/depthwise_scratch.h"
#include "ops/conv_transpose2d/scratch.h"
#include "ops/matmul/scratch.h"

namespace deuteron {
namespace {

// Instruction set, operator, sizes of input, weight and output as in the file, stride, padding,
// dilation, and the scratch at the end (two for tc, the transposed convolution). avg: input. bmm:
// both operands. Source: ../shared/fixtures/**/*.pte, ExecuTorch 1.5.1.
constexpr const char* kStockNodes = R"(
scalar avg 1 3 8 8 0
scalar avg 1 3 10 10 0
scalar avg 1 4 5 6 0
scalar avg 1 6 7 5 0
scalar avg 1 8 5 5 0
scalar avg 1 32 4 4 0
mve avg 1 32 4 4 0
dsp avg 1 32 4 4 128
scalar avg 1 64 8 8 0
mve avg 1 64 8 8 0
dsp avg 1 64 8 8 256
scalar avg 1 64 25 5 0
mve avg 1 64 25 5 0
dsp avg 1 64 25 5 256
scalar avg 1 256 3 3 0
mve avg 1 256 3 3 0
dsp avg 1 256 3 3 1024
scalar bmm 1 3 6 1 4 6 0
scalar bmm 2 4 6 2 5 6 0
scalar bmm 2 5 7 2 3 7 0
scalar bmm 3 7 13 3 9 13 0
scalar conv 1 2 1 1 8 1 1 2 1 8 1 1 1 1 0 0 1 1 0
scalar conv 1 2 4 4 3 1 1 2 1 3 4 4 1 1 0 0 1 1 0
scalar conv 1 2 7 8 4 3 1 2 1 4 7 4 1 2 1 0 1 1 32
scalar conv 1 3 6 6 4 3 3 3 1 4 4 4 1 1 0 0 1 1 112
scalar conv 1 3 6 6 4 3 3 3 1 4 6 6 1 1 1 1 1 1 112
scalar conv 1 3 6 7 5 1 1 3 1 5 6 7 1 1 0 0 1 1 0
scalar conv 1 3 7 7 6 3 3 3 1 6 7 7 1 1 1 1 1 1 112
scalar conv 1 3 8 8 8 3 3 3 1 8 8 8 1 1 1 1 1 1 112
scalar conv 1 3 9 9 4 3 3 3 1 4 4 4 2 2 0 0 1 1 112
scalar conv 1 3 10 10 4 3 3 3 1 4 4 4 2 2 0 0 1 1 112
scalar conv 1 3 32 32 16 3 3 3 1 16 32 32 1 1 1 1 1 1 112
dsp conv 1 3 32 32 16 3 3 3 1 16 32 32 1 1 1 1 1 1 112
mve conv 1 3 32 32 16 3 3 3 1 16 32 32 1 1 1 1 1 1 128
scalar conv 1 3 32 32 32 5 5 3 1 32 32 32 1 1 2 2 1 1 304
dsp conv 1 3 32 32 32 5 5 3 1 32 32 32 1 1 2 2 1 1 304
mve conv 1 3 32 32 32 5 5 3 1 32 32 32 1 1 2 2 1 1 320
scalar conv 1 3 97 97 8 3 3 3 1 8 48 48 2 2 0 0 1 1 112
dsp conv 1 3 97 97 8 3 3 3 1 8 48 48 2 2 0 0 1 1 112
mve conv 1 3 97 97 8 3 3 3 1 8 48 48 2 2 0 0 1 1 128
scalar conv 1 4 6 6 4 3 3 4 1 4 6 6 1 1 1 1 1 1 144
scalar conv 1 4 6 6 6 3 3 2 1 6 6 6 1 1 1 1 1 1 144
scalar conv 1 4 6 6 12 1 1 4 1 12 6 6 1 1 0 0 1 1 0
scalar conv 1 4 9 9 4 3 3 4 1 4 9 9 1 1 2 2 2 2 144
scalar conv 1 4 11 9 6 5 5 4 1 6 6 5 2 2 2 2 1 1 400
scalar conv 1 8 1 1 2 1 1 8 1 2 1 1 1 1 0 0 1 1 0
scalar conv 1 8 48 48 16 1 1 8 1 16 48 48 1 1 0 0 1 1 0
dsp conv 1 8 48 48 16 1 1 8 1 16 48 48 1 1 0 0 1 1 0
mve conv 1 8 48 48 16 1 1 8 1 16 48 48 1 1 0 0 1 1 0
scalar conv 1 12 6 6 4 1 1 12 1 4 6 6 1 1 0 0 1 1 0
scalar conv 1 16 4 4 32 1 1 16 1 32 4 4 1 1 0 0 1 1 0
dsp conv 1 16 4 4 32 1 1 16 1 32 4 4 1 1 0 0 1 1 0
mve conv 1 16 4 4 32 1 1 16 1 32 4 4 1 1 0 0 1 1 0
scalar conv 1 16 8 8 16 1 1 16 1 16 8 8 1 1 0 0 1 1 0
dsp conv 1 16 8 8 16 1 1 16 1 16 8 8 1 1 0 0 1 1 0
mve conv 1 16 8 8 16 1 1 16 1 16 8 8 1 1 0 0 1 1 0
scalar conv 1 16 24 24 32 1 1 16 1 32 24 24 1 1 0 0 1 1 0
dsp conv 1 16 24 24 32 1 1 16 1 32 24 24 1 1 0 0 1 1 0
mve conv 1 16 24 24 32 1 1 16 1 32 24 24 1 1 0 0 1 1 0
scalar conv 1 16 32 32 16 3 3 16 1 16 32 32 1 1 1 1 1 1 576
dsp conv 1 16 32 32 16 3 3 16 1 16 32 32 1 1 1 1 1 1 576
mve conv 1 16 32 32 16 3 3 16 1 16 32 32 1 1 1 1 1 1 576
scalar conv 1 16 32 32 32 1 1 16 1 32 16 16 2 2 0 0 1 1 0
dsp conv 1 16 32 32 32 1 1 16 1 32 16 16 2 2 0 0 1 1 0
mve conv 1 16 32 32 32 1 1 16 1 32 16 16 2 2 0 0 1 1 0
scalar conv 1 16 33 33 32 3 3 16 1 32 16 16 2 2 0 0 1 1 576
dsp conv 1 16 33 33 32 3 3 16 1 32 16 16 2 2 0 0 1 1 576
mve conv 1 16 33 33 32 3 3 16 1 32 16 16 2 2 0 0 1 1 576
scalar conv 1 32 4 4 32 1 1 32 1 32 4 4 1 1 0 0 1 1 0
dsp conv 1 32 4 4 32 1 1 32 1 32 4 4 1 1 0 0 1 1 0
mve conv 1 32 4 4 32 1 1 32 1 32 4 4 1 1 0 0 1 1 0
scalar conv 1 32 8 8 64 5 5 32 1 64 8 8 1 1 2 2 1 1 3200
dsp conv 1 32 8 8 64 5 5 32 1 64 8 8 1 1 2 2 1 1 3200
mve conv 1 32 8 8 64 5 5 32 1 64 8 8 1 1 2 2 1 1 3200
scalar conv 1 32 12 12 64 1 1 32 1 64 12 12 1 1 0 0 1 1 0
dsp conv 1 32 12 12 64 1 1 32 1 64 12 12 1 1 0 0 1 1 0
mve conv 1 32 12 12 64 1 1 32 1 64 12 12 1 1 0 0 1 1 0
scalar conv 1 32 16 16 32 3 3 32 1 32 16 16 1 1 1 1 1 1 1152
dsp conv 1 32 16 16 32 3 3 32 1 32 16 16 1 1 1 1 1 1 1152
mve conv 1 32 16 16 32 3 3 32 1 32 16 16 1 1 1 1 1 1 1152
scalar conv 1 32 16 16 32 5 5 32 1 32 16 16 1 1 2 2 1 1 3200
dsp conv 1 32 16 16 32 5 5 32 1 32 16 16 1 1 2 2 1 1 3200
mve conv 1 32 16 16 32 5 5 32 1 32 16 16 1 1 2 2 1 1 3200
scalar conv 1 32 16 16 64 1 1 32 1 64 8 8 2 2 0 0 1 1 0
dsp conv 1 32 16 16 64 1 1 32 1 64 8 8 2 2 0 0 1 1 0
mve conv 1 32 16 16 64 1 1 32 1 64 8 8 2 2 0 0 1 1 0
scalar conv 1 32 17 17 64 3 3 32 1 64 8 8 2 2 0 0 1 1 1152
dsp conv 1 32 17 17 64 3 3 32 1 64 8 8 2 2 0 0 1 1 1152
mve conv 1 32 17 17 64 3 3 32 1 64 8 8 2 2 0 0 1 1 1152
scalar conv 1 32 24 24 32 1 1 32 1 32 24 24 1 1 0 0 1 1 0
dsp conv 1 32 24 24 32 1 1 32 1 32 24 24 1 1 0 0 1 1 0
mve conv 1 32 24 24 32 1 1 32 1 32 24 24 1 1 0 0 1 1 0
scalar conv 1 64 6 6 128 1 1 64 1 128 6 6 1 1 0 0 1 1 0
dsp conv 1 64 6 6 128 1 1 64 1 128 6 6 1 1 0 0 1 1 0
mve conv 1 64 6 6 128 1 1 64 1 128 6 6 1 1 0 0 1 1 0
scalar conv 1 64 8 8 64 3 3 64 1 64 8 8 1 1 1 1 1 1 2304
dsp conv 1 64 8 8 64 3 3 64 1 64 8 8 1 1 1 1 1 1 2304
mve conv 1 64 8 8 64 3 3 64 1 64 8 8 1 1 1 1 1 1 2304
scalar conv 1 64 12 12 64 1 1 64 1 64 12 12 1 1 0 0 1 1 0
dsp conv 1 64 12 12 64 1 1 64 1 64 12 12 1 1 0 0 1 1 0
mve conv 1 64 12 12 64 1 1 64 1 64 12 12 1 1 0 0 1 1 0
scalar conv 1 64 25 5 64 1 1 64 1 64 25 5 1 1 0 0 1 1 0
dsp conv 1 64 25 5 64 1 1 64 1 64 25 5 1 1 0 0 1 1 0
mve conv 1 64 25 5 64 1 1 64 1 64 25 5 1 1 0 0 1 1 0
scalar conv 1 128 3 3 256 1 1 128 1 256 3 3 1 1 0 0 1 1 0
dsp conv 1 128 3 3 256 1 1 128 1 256 3 3 1 1 0 0 1 1 0
mve conv 1 128 3 3 256 1 1 128 1 256 3 3 1 1 0 0 1 1 0
scalar conv 1 128 6 6 128 1 1 128 1 128 6 6 1 1 0 0 1 1 0
dsp conv 1 128 6 6 128 1 1 128 1 128 6 6 1 1 0 0 1 1 0
mve conv 1 128 6 6 128 1 1 128 1 128 6 6 1 1 0 0 1 1 0
scalar conv 1 256 3 3 256 1 1 256 1 256 3 3 1 1 0 0 1 1 0
dsp conv 1 256 3 3 256 1 1 256 1 256 3 3 1 1 0 0 1 1 0
mve conv 1 256 3 3 256 1 1 256 1 256 3 3 1 1 0 0 1 1 0
scalar conv 2 3 5 5 4 3 3 3 2 4 5 5 1 1 1 1 1 1 112
scalar dw 1 1 8 8 1 3 3 16 1 16 8 8 1 1 1 1 1 1 0
dsp dw 1 1 8 8 1 3 3 16 1 16 8 8 1 1 1 1 1 1 0
mve dw 1 1 8 8 1 3 3 16 1 16 8 8 1 1 1 1 1 1 208
scalar dw 1 1 58 12 1 10 4 64 1 64 25 5 2 2 0 0 1 1 0
dsp dw 1 1 58 12 1 10 4 64 1 64 25 5 2 2 0 0 1 1 0
mve dw 1 1 58 12 1 10 4 64 1 64 25 5 2 2 0 0 1 1 2752
scalar dw 1 4 8 8 1 3 3 8 1 8 4 4 2 2 1 1 1 1 0
scalar dw 1 8 7 7 1 3 3 8 1 8 7 7 1 1 1 1 1 1 0
scalar dw 1 8 48 48 1 3 3 8 1 8 48 48 1 1 1 1 1 1 0
dsp dw 1 8 48 48 1 3 3 8 1 8 48 48 1 1 1 1 1 1 0
mve dw 1 8 48 48 1 3 3 8 1 8 48 48 1 1 1 1 1 1 4464
scalar dw 1 12 6 6 1 3 3 12 1 12 6 6 1 1 1 1 1 1 0
scalar dw 1 16 8 8 1 3 3 16 1 16 4 4 2 2 1 1 1 1 0
dsp dw 1 16 8 8 1 3 3 16 1 16 4 4 2 2 1 1 1 1 0
mve dw 1 16 8 8 1 3 3 16 1 16 4 4 2 2 1 1 1 1 4464
scalar dw 1 16 8 8 1 3 3 16 1 16 8 8 1 1 1 1 1 1 0
dsp dw 1 16 8 8 1 3 3 16 1 16 8 8 1 1 1 1 1 1 0
mve dw 1 16 8 8 1 3 3 16 1 16 8 8 1 1 1 1 1 1 4464
scalar dw 1 16 49 49 1 3 3 16 1 16 24 24 2 2 0 0 1 1 0
dsp dw 1 16 49 49 1 3 3 16 1 16 24 24 2 2 0 0 1 1 0
mve dw 1 16 49 49 1 3 3 16 1 16 24 24 2 2 0 0 1 1 4464
scalar dw 1 32 4 4 1 3 3 32 1 32 4 4 1 1 1 1 1 1 0
dsp dw 1 32 4 4 1 3 3 32 1 32 4 4 1 1 1 1 1 1 0
mve dw 1 32 4 4 1 3 3 32 1 32 4 4 1 1 1 1 1 1 4464
scalar dw 1 32 24 24 1 3 3 32 1 32 24 24 1 1 1 1 1 1 0
dsp dw 1 32 24 24 1 3 3 32 1 32 24 24 1 1 1 1 1 1 0
mve dw 1 32 24 24 1 3 3 32 1 32 24 24 1 1 1 1 1 1 4464
scalar dw 1 32 25 25 1 3 3 32 1 32 12 12 2 2 0 0 1 1 0
dsp dw 1 32 25 25 1 3 3 32 1 32 12 12 2 2 0 0 1 1 0
mve dw 1 32 25 25 1 3 3 32 1 32 12 12 2 2 0 0 1 1 4464
scalar dw 1 64 12 12 1 3 3 64 1 64 12 12 1 1 1 1 1 1 0
dsp dw 1 64 12 12 1 3 3 64 1 64 12 12 1 1 1 1 1 1 0
mve dw 1 64 12 12 1 3 3 64 1 64 12 12 1 1 1 1 1 1 4464
scalar dw 1 64 13 13 1 3 3 64 1 64 6 6 2 2 0 0 1 1 0
dsp dw 1 64 13 13 1 3 3 64 1 64 6 6 2 2 0 0 1 1 0
mve dw 1 64 13 13 1 3 3 64 1 64 6 6 2 2 0 0 1 1 4464
scalar dw 1 64 25 5 1 3 3 64 1 64 25 5 1 1 1 1 1 1 0
dsp dw 1 64 25 5 1 3 3 64 1 64 25 5 1 1 1 1 1 1 0
mve dw 1 64 25 5 1 3 3 64 1 64 25 5 1 1 1 1 1 1 4464
scalar dw 1 128 6 6 1 3 3 128 1 128 6 6 1 1 1 1 1 1 0
dsp dw 1 128 6 6 1 3 3 128 1 128 6 6 1 1 1 1 1 1 0
mve dw 1 128 6 6 1 3 3 128 1 128 6 6 1 1 1 1 1 1 4464
scalar dw 1 128 7 7 1 3 3 128 1 128 3 3 2 2 0 0 1 1 0
dsp dw 1 128 7 7 1 3 3 128 1 128 3 3 2 2 0 0 1 1 0
mve dw 1 128 7 7 1 3 3 128 1 128 3 3 2 2 0 0 1 1 4464
scalar dw 1 256 3 3 1 3 3 256 1 256 3 3 1 1 1 1 1 1 0
dsp dw 1 256 3 3 1 3 3 256 1 256 3 3 1 1 1 1 1 1 0
mve dw 1 256 3 3 1 3 3 256 1 256 3 3 1 1 1 1 1 1 4464
scalar tc 1 4 4 5 3 2 2 4 1 3 8 10 2 2 0 0 240 0
)";

// Source: the cmsis_nn module of ExecuTorch 1.5.1, seeded random arguments.
constexpr const char* kSizingFunctions = R"(
mve conv 2 2 1 17 8 1 3 2 2 8 1 8 2 2 0 0 1 1 6
mve conv 1 10 1 9 3 1 1 10 1 3 4 5 2 2 3 0 1 1 10
mve conv 2 13 1 8 6 1 4 13 2 6 1 2 1 4 0 0 1 1 52
mve conv 1 11 1 9 6 1 1 11 1 6 1 3 2 4 0 0 2 1 11
mve conv 2 2 1 4 7 1 4 2 2 7 1 2 3 4 0 3 2 1 14
mve conv 1 8 1 14 1 1 3 8 1 1 1 3 1 4 0 0 1 1 24
mve conv 2 18 1 14 9 1 2 18 2 9 5 4 1 4 2 0 1 1 36
mve conv 1 10 1 5 7 1 3 10 1 7 3 2 3 4 3 2 1 1 50
mve conv 2 10 1 19 1 1 4 10 2 1 2 4 3 4 0 0 1 1 40
mve conv 2 12 1 2 5 1 3 12 2 5 3 3 2 2 1 2 1 1 60
mve conv 1 9 1 10 8 1 3 9 1 8 1 2 2 4 0 0 1 1 27
mve conv 1 8 1 18 9 1 3 8 1 9 1 6 3 3 0 0 1 1 24
mve conv 1 10 1 14 5 1 4 10 1 5 1 3 1 4 0 0 2 1 40
mve conv 2 13 1 9 4 1 3 13 2 4 2 4 3 4 2 3 1 1 78
mve conv 1 20 1 4 2 1 2 20 1 2 2 1 3 3 2 0 2 1 40
mve conv 1 3 1 11 5 1 1 3 1 5 1 3 1 4 0 0 2 1 3
mve conv 1 17 1 15 2 1 3 17 1 2 2 4 3 4 2 0 1 1 51
mve conv 1 1 1 3 2 1 3 1 1 2 3 1 1 4 1 0 1 1 3
mve conv 1 8 1 13 3 1 1 8 1 3 1 7 3 2 2 0 1 1 8
mve conv 1 10 1 18 1 1 5 10 1 1 1 5 1 4 0 2 2 1 70
mve conv 1 10 1 5 3 1 3 10 1 3 1 2 2 4 0 2 2 1 50
mve conv 2 20 1 19 6 1 3 20 2 6 1 9 2 2 0 0 2 1 60
mve conv 2 19 1 1 7 1 1 19 2 7 2 3 1 4 1 3 1 1 76
mve conv 1 9 1 6 6 1 4 9 1 6 1 1 3 4 0 0 2 1 36
mve conv 1 6 1 7 3 1 3 6 1 3 1 3 2 4 0 2 2 1 30
mve conv 2 6 1 9 5 1 3 6 2 5 1 2 1 4 0 0 1 1 18
mve conv 2 11 1 12 6 1 1 11 2 6 1 4 2 4 1 2 1 1 33
mve conv 2 12 1 2 8 1 4 12 2 8 1 2 2 4 0 3 1 1 84
mve conv 1 14 1 4 9 1 1 14 1 9 4 1 2 4 3 0 1 1 14
mve conv 2 20 1 20 7 1 2 20 2 7 1 7 3 3 0 0 1 1 40
mve conv 2 12 1 9 7 1 4 12 2 7 1 11 2 1 1 3 1 1 84
mve conv 1 11 1 6 6 1 3 11 1 6 1 2 2 4 0 0 1 1 33
mve conv 2 10 1 14 2 1 3 10 2 2 1 6 2 2 0 0 1 1 30
mve conv 1 20 1 16 4 1 5 20 1 4 2 6 3 2 2 0 1 1 100
mve conv 1 1 1 9 9 1 3 1 1 9 1 2 1 4 0 0 2 1 3
mve conv 2 6 1 13 3 1 2 6 2 3 3 9 1 2 1 3 2 1 30
mve conv 2 20 1 2 8 1 1 20 2 8 2 1 2 3 1 0 2 1 20
mve conv 2 3 1 8 6 1 3 3 2 6 1 4 1 4 0 2 1 1 15
mve conv 2 8 1 19 9 1 1 8 2 9 1 22 1 1 0 2 1 1 24
mve conv 1 18 1 20 3 1 2 18 1 3 5 6 1 4 2 2 2 1 72
scalar conv 1 10 1 12 3 1 3 10 1 3 3 4 3 4 3 3 1 1 128
mve conv 1 2 7 17 5 3 3 2 1 5 3 9 3 2 1 1 1 1 128
dsp conv 2 10 10 18 8 3 1 10 2 8 3 6 2 4 0 3 2 1 128
scalar conv 2 14 1 17 4 1 1 7 2 4 1 9 3 2 1 0 1 1 64
dsp conv 2 32 1 13 12 1 1 16 2 12 1 8 1 2 0 1 2 1 128
mve conv 1 30 7 2 16 1 2 15 1 16 7 1 1 1 0 0 2 1 256
scalar conv 2 18 12 8 3 1 3 6 2 3 4 2 3 3 0 0 2 1 224
scalar conv 2 14 1 18 10 3 3 7 2 10 1 4 3 4 1 0 1 1 512
scalar conv 1 11 1 7 2 1 5 11 1 2 2 2 3 2 2 0 1 1 224
dsp conv 2 6 1 17 14 3 3 3 2 14 5 4 1 4 3 0 1 1 224
scalar conv 2 7 11 10 5 3 1 7 2 5 7 3 1 4 0 0 2 1 96
scalar conv 2 45 1 14 27 1 4 15 2 27 1 10 2 1 0 1 1 2 720
dsp conv 1 6 6 11 18 1 4 3 1 18 4 12 3 1 2 2 1 1 96
mve conv 2 6 1 5 12 3 1 2 2 12 5 2 1 3 3 0 1 2 128
mve conv 2 28 1 2 8 1 1 14 2 8 1 2 2 3 0 2 1 2 128
scalar conv 2 6 10 5 5 5 1 6 2 5 2 3 3 4 0 3 1 1 128
scalar conv 2 1 1 7 7 1 3 1 2 7 1 3 2 3 0 2 1 1 16
mve conv 2 4 1 11 12 1 1 2 2 12 3 6 3 2 3 0 2 1 64
dsp conv 2 42 1 15 21 1 3 14 2 21 1 5 3 3 0 1 2 2 512
mve conv 1 4 1 17 2 1 1 4 1 2 1 19 2 1 0 1 1 1 8
scalar conv 2 19 1 3 1 1 1 19 2 1 1 7 2 1 0 2 1 1 80
scalar conv 1 15 9 10 1 1 5 15 1 1 9 12 1 1 0 3 1 1 304
mve conv 1 6 1 16 6 1 1 2 1 6 1 6 1 3 0 0 2 1 64
scalar conv 1 20 1 14 6 1 1 10 1 6 1 4 1 4 0 0 1 1 80
scalar conv 1 45 3 7 18 3 3 15 1 18 7 5 1 2 3 3 1 2 1632
mve dw 2 1 11 4 1 3 1 1 2 1 3 3 3 2 0 0 2 2 0
dsp dw 2 9 1 15 1 4 1 9 2 9 1 4 3 4 1 0 1 2 0
mve dw 1 7 1 13 1 1 1 7 1 7 1 4 2 4 0 0 1 1 496
scalar dw 1 1 1 15 1 1 3 1 1 1 2 8 3 2 0 3 1 2 0
dsp dw 1 9 5 10 1 1 1 18 1 18 2 7 2 3 0 3 2 2 0
scalar dw 2 1 1 15 1 1 4 1 2 1 7 12 1 1 3 0 1 1 0
scalar dw 2 8 1 13 1 1 2 8 2 8 2 4 2 3 1 0 2 1 0
scalar dw 1 1 4 16 1 1 3 1 1 1 4 5 1 3 0 0 2 1 0
mve dw 1 1 2 6 1 1 1 1 1 1 1 2 2 3 0 0 2 1 0
dsp dw 1 8 1 11 1 1 1 32 1 32 1 3 1 4 0 0 1 1 0
scalar dw 2 1 1 7 1 1 3 4 2 4 1 2 3 3 0 0 1 2 0
scalar dw 1 1 1 12 1 1 1 1 1 1 2 4 3 4 2 2 1 1 0
dsp dw 1 1 4 15 1 3 5 1 1 1 1 4 3 2 0 0 1 2 0
scalar dw 2 1 5 6 1 1 3 2 2 2 3 4 2 1 0 1 1 2 0
dsp dw 2 1 1 7 1 1 3 1 2 1 1 3 1 2 0 0 1 1 0
scalar dw 1 4 11 13 1 3 1 8 1 8 5 10 2 2 0 3 1 1 0
scalar dw 2 1 1 5 1 1 1 1 2 1 2 5 2 1 1 0 1 1 0
scalar dw 2 9 1 7 1 1 4 9 2 9 3 4 2 1 2 0 2 1 0
dsp dw 2 1 1 13 1 1 1 1 2 1 2 13 2 1 1 0 1 1 0
scalar dw 2 7 4 1 1 4 1 28 2 28 1 2 3 3 0 2 1 1 0
scalar dw 1 1 5 11 1 2 2 1 1 1 10 5 1 2 3 0 1 2 0
dsp dw 1 2 5 20 1 1 4 2 1 2 5 9 1 2 0 2 2 2 0
mve dw 1 7 7 10 1 1 3 14 1 14 7 3 2 3 3 0 2 1 0
scalar dw 1 4 1 16 1 1 2 4 1 4 1 13 1 1 0 0 1 2 0
dsp dw 2 1 1 5 1 1 3 1 2 1 3 3 2 3 2 2 1 1 0
dsp dw 2 1 2 6 1 3 1 4 2 4 2 3 3 4 3 2 1 1 0
scalar dw 2 8 1 5 1 1 1 8 2 8 2 4 1 3 0 2 2 2 0
mve dw 2 1 1 6 1 4 3 4 2 4 1 1 3 4 3 0 2 1 112
mve dw 1 1 1 7 1 1 1 3 1 3 1 4 2 3 0 2 1 2 67
scalar dw 1 1 8 9 1 1 2 1 1 1 14 3 1 3 3 1 1 2 0
scalar dw 1 1 1 9 1 3 1 4 1 4 3 3 1 4 2 0 1 1 0
mve dw 2 1 1 20 1 1 3 1 2 1 7 5 1 4 3 2 2 2 0
mve dw 1 1 4 18 1 1 3 1 1 1 2 4 2 4 0 0 2 2 0
dsp dw 2 3 1 18 1 1 1 3 2 3 1 7 3 3 0 1 1 1 0
mve dw 2 6 1 4 1 3 2 6 2 6 1 2 2 1 1 0 1 2 0
mve dw 1 5 1 19 1 3 1 5 1 5 1 10 2 2 2 0 2 2 0
mve dw 1 1 5 7 1 1 1 4 1 4 3 7 3 1 2 0 1 1 68
dsp dw 2 1 12 6 1 1 3 3 2 3 12 2 1 3 0 0 2 1 0
dsp dw 1 1 12 8 1 1 5 1 1 1 12 1 1 4 0 0 2 1 0
scalar dw 2 1 1 18 1 1 2 1 2 1 1 8 1 3 0 3 2 1 0
scalar tc 1 7 4 7 7 1 1 7 1 7 7 19 2 3 0 0 1120 0
mve tc 1 11 1 9 6 1 1 11 1 6 1 33 2 4 0 0 1632 0
dsp tc 2 3 12 11 9 1 3 3 2 9 34 43 3 4 0 0 4644 0
scalar tc 1 16 12 19 8 3 3 16 1 8 36 15 3 1 0 3 2016 0
dsp tc 2 4 1 13 6 1 1 4 2 6 1 19 1 2 0 3 600 0
scalar tc 1 42 8 5 12 1 3 42 1 12 22 7 3 2 0 2 1584 0
scalar tc 2 9 12 9 15 1 3 9 2 15 34 11 3 1 0 0 1980 0
scalar tc 2 26 2 12 18 1 1 26 2 18 4 8 3 1 0 2 3024 0
dsp tc 1 1 1 13 2 1 5 1 1 2 1 29 3 2 0 0 696 0
mve tc 1 14 1 17 7 1 4 14 1 7 1 16 1 1 0 2 560 0
scalar tc 2 10 1 9 2 1 3 10 2 2 1 19 3 2 0 0 456 0
dsp tc 1 18 9 10 16 1 1 18 1 16 17 28 2 3 0 0 3712 0
mve tc 1 6 3 9 7 1 2 6 1 7 5 26 2 3 0 0 1456 0
mve tc 2 6 7 16 18 4 3 6 2 18 16 48 3 3 3 0 13824 0
mve tc 1 9 1 20 12 1 1 9 1 12 1 77 1 4 0 0 3696 0
dsp tc 2 36 1 11 8 1 1 36 2 8 1 31 1 3 0 0 992 0
mve tc 2 3 7 20 8 5 3 3 2 8 11 18 1 1 0 2 3520 0
dsp tc 1 12 1 9 12 1 3 12 1 12 1 35 1 4 0 0 1680 0
dsp tc 1 28 1 18 18 1 1 28 1 18 1 46 3 3 0 3 11664 0
scalar tc 1 1 11 18 5 3 3 1 1 5 13 37 1 2 0 0 2220 0
scalar tc 2 60 6 6 12 3 3 60 2 12 18 16 3 3 0 1 2592 0
dsp tc 1 7 2 16 3 1 3 7 1 3 2 27 1 2 0 3 396 0
dsp tc 1 26 5 5 16 3 4 26 1 16 11 14 2 4 0 3 3840 0
scalar tc 2 9 1 1 15 1 1 9 2 15 1 1 1 3 0 0 60 0
scalar tc 2 12 1 3 5 1 1 12 2 5 1 7 2 3 0 0 320 0
)";

// The scratch that we compute for one line; wanted values are taken off its end.
std::vector<int64_t> ours(const std::string& op, Isa isa, const std::vector<int32_t>& v) {
  if (op == "avg")
    return {avg_pool2d_scratch_bytes({v[0], v[2], v[3], v[1], 1, 1, 1, 1, 1, 1, 0, 0, 0}, isa)};
  if (op == "bmm") return {matmul_scratch_bytes({v[0], v[1], v[4], v[2], 0, 0, 0, 0, 0}, isa)};
  const auto fill = [&v](auto& a) {
    a.n = v[0], a.in_c = v[1], a.in_h = v[2], a.in_w = v[3], a.kernel_h = v[5], a.kernel_w = v[6];
    a.out_c = v[9], a.out_h = v[10], a.out_w = v[11], a.stride_h = v[12], a.stride_w = v[13],
    a.pad_h = v[14], a.pad_w = v[15];
  };
  if (op == "tc") {
    ConvTranspose2dArgs a{};
    fill(a);
    return {conv_transpose2d_scratch_bytes(a, isa), conv_transpose2d_output_scratch_bytes(a)};
  }
  if (op == "dw") {
    DepthwiseConv2dArgs a{};
    fill(a);
    a.dilation_h = v[16], a.dilation_w = v[17], a.depth_multiplier = a.out_c / a.in_c;
    return {depthwise_conv2d_scratch_bytes(a, isa)};
  }
  Conv2dArgs a{};
  fill(a);
  a.kernel_c = v[7], a.dilation_h = v[16], a.dilation_w = v[17];
  return {conv2d_scratch_bytes(a, isa)};
}

int check(const char* table) {
  int lines = 0;
  std::istringstream in(table);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    std::istringstream words(line);
    std::string isa, op;
    words >> isa >> op;
    std::vector<int32_t> v;
    for (int32_t n; words >> n;) v.push_back(n);
    std::vector<int64_t> wanted(v.end() - (op == "tc" ? 2 : 1), v.end());
    EXPECT_EQ(ours(op,
                   isa == "mve"   ? Isa::mve
                   : isa == "dsp" ? Isa::dsp
                                  : Isa::scalar,
                   v),
              wanted)
        << line;
    ++lines;
  }
  return lines;
}

TEST(Scratch, EqualsEveryNodeOfTheStockFiles) { EXPECT_EQ(check(kStockNodes), 163); }
// Where a depthwise convolution over one channel becomes a 1x1 or a row-wise convolution, the
// kernel asks for less than ExecuTorch's compiler plans, and with runtime checks takes no other
// size: CMSIS-NN dbf45dbf, arm_depthwise_conv_wrapper_s8_get_buffer_size.
TEST(Scratch, IsWhatTheKernelAsksForOverOneChannel) {
  DepthwiseConv2dArgs a{};
  a.n = a.in_h = a.in_w = a.in_c = a.out_h = a.out_w = a.kernel_h = a.kernel_w = 1;
  a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
  a.out_c = a.depth_multiplier = 16;
  EXPECT_EQ(depthwise_conv2d_scratch_bytes(a, Isa::mve), 16);
  a.in_w = 5, a.kernel_w = 3, a.out_w = 3;
  EXPECT_EQ(depthwise_conv2d_scratch_bytes(a, Isa::mve),
            64 + 48);  // stride * channels is no multiple of 4: columns
  a.stride_w = 4, a.in_w = 7, a.out_w = 2;
  EXPECT_EQ(depthwise_conv2d_scratch_bytes(a, Isa::mve), 3 + 48);
}

TEST(Scratch, EqualsTheStockSizingFunctions) { EXPECT_EQ(check(kSizingFunctions), 130); }

}  // namespace
}  // namespace deuteron
