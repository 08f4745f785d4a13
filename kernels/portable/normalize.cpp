// SPDX-License-Identifier: Apache-2.0
// Float normalisation: layer norm, group norm, batch norm with known statistics.
#include <cmath>
#include <initializer_list>

#include "kernels/portable/kernels.h"
#include "kernels/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

struct LayerNorm {
  const float *x, *weight, *bias;
  float *y, *mean, *inverse;
  int32_t rows, size;
  float epsilon;
};
void run_layer_norm(const LayerNorm& l) {
  for (int32_t r = 0; r < l.rows; ++r) {
    const float* x = l.x + static_cast<ptrdiff_t>(r) * l.size;
    float* y = l.y + static_cast<ptrdiff_t>(r) * l.size;
    float sum = 0, squares = 0;
    for (int32_t i = 0; i < l.size; ++i) sum += x[i], squares += x[i] * x[i];
    const float n = static_cast<float>(l.size), mean = sum / n;
    const float deviation = std::sqrt(squares / n - mean * mean + l.epsilon);
    for (int32_t i = 0; i < l.size; ++i) {
      const float scale = l.weight ? l.weight[i] : 1;
      y[i] = (x[i] - mean) / deviation * scale + (l.bias ? l.bias[i] : 0);
    }
    l.mean[r] = mean;
    l.inverse[r] = static_cast<float>(1.0 / static_cast<double>(deviation));
  }
}

// (x, shape, weight?, bias?, epsilon, out, mean, 1 / deviation)
Status prepare_layer_norm(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(5);
  for (const int i : {0, 5, 6, 7})
    if (call.tensor(i).type != ScalarType::f32 || !is_dense(call.tensor(i)))
      return bad_argument(i, "must be float, stored in the order of its dimensions");
  if (!same_sizes(x, y)) return bad_argument(5, "must have the input's sizes");
  const int dims = call.list(1).count;
  if (dims < 1 || dims > x.rank) return bad_argument(1, "must name the last dimensions");
  int32_t size = 1;
  for (int i = 0; i < dims; ++i) {
    if (call.list_integer(1, i) != x.sizes[x.rank - dims + i])
      return bad_argument(1, "must name the last dimensions");
    size *= x.sizes[x.rank - dims + i];
  }
  if (size == 0) return bad_argument(0, "has no elements");
  LayerNorm l{static_cast<const float*>(x.data),
              nullptr,
              nullptr,
              static_cast<float*>(y.data),
              static_cast<float*>(call.tensor(6).data),
              static_cast<float*>(call.tensor(7).data),
              x.numel / size,
              size,
              static_cast<float>(call.real(4))};
  for (const int i : {2, 3})
    if (const Tensor* t = call.optional_tensor(i)) {
      if (t->type != ScalarType::f32 || !is_dense(*t) || t->numel != size)
        return bad_argument(i, "must be float, with one entry for each normalised element");
      (i == 2 ? l.weight : l.bias) = static_cast<const float*>(t->data);
    }
  for (const int i : {6, 7})
    if (call.tensor(i).numel != l.rows)
      return bad_argument(i, "must have one entry for each normalised row");
  return keep<LayerNorm, run_layer_norm>(call, prepared, l);
}

struct BatchNorm {
  const float *x, *weight, *bias, *mean, *variance;
  float* y;
  const int32_t* numbers;  // sizes, strides of x, strides of y, then 1 for the channel dimension
                           // and 0 for the others
  uint8_t rank;
  float epsilon;
};
void run_batch_norm(const BatchNorm& b) {
  const int32_t* const strides[] = {b.numbers + b.rank, b.numbers + 2 * b.rank,
                                    b.numbers + 3 * b.rank};
  walk<3>(b.rank, b.numbers, strides, [&](const int32_t* at) {
    const int32_t c = at[2];
    const float inverse = 1.0f / std::sqrt(b.variance[c] + b.epsilon);
    const float v = (b.x[at[0]] - b.mean[c]) * inverse * (b.weight ? b.weight[c] : 1);
    b.y[at[1]] = v + (b.bias ? b.bias[c] : 0);
  });
}

// (x, weight?, bias?, mean, variance, momentum, epsilon, out, saved mean, saved deviation): the
// saved ones are empty.
Status prepare_batch_norm(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(7);
  if (x.type != ScalarType::f32 || x.rank < 2)
    return bad_argument(0, "must be float, of rank 2 or more");
  if (y.type != ScalarType::f32 || !same_sizes(x, y))
    return bad_argument(7, "must be float, with the input's sizes");
  for (const int i : {1, 2, 3, 4})
    if (const Tensor* t = call.optional_tensor(i))
      if (t->type != ScalarType::f32 || t->numel != x.sizes[1])
        return bad_argument(i, "must be float, with one entry for each channel");
  for (const int i : {8, 9})
    if (call.tensor(i).numel != 0) return bad_argument(i, "must be empty");
  const auto floats = [&](int i) {
    return call.optional_tensor(i) ? static_cast<const float*>(call.tensor(i).data) : nullptr;
  };
  int32_t* numbers = call.arena->make<int32_t>(size_t{4} * x.rank);
  if (!numbers) return out_of_memory();
  for (int i = 0; i < x.rank; ++i) numbers[i] = x.sizes[i];
  strides_of(x, numbers + x.rank);
  strides_of(y, numbers + 2 * x.rank);
  for (int i = 0; i < x.rank; ++i) numbers[3 * x.rank + i] = i == 1;
  return keep<BatchNorm, run_batch_norm>(
      call, prepared,
      {floats(0), floats(1), floats(2), floats(3), floats(4), static_cast<float*>(y.data), numbers,
       x.rank, static_cast<float>(call.real(6))});
}

// One group of one image: mean and deviation over its channels and positions.
struct GroupNorm {
  const float *x, *weight, *bias;
  float *y, *mean, *inverse;
  int32_t batch, groups, channels, positions;  // channels of a group
  float epsilon;
};
void run_group_norm(const GroupNorm& g) {
  const int32_t size = g.channels * g.positions;
  for (int32_t r = 0; r < g.batch * g.groups; ++r) {
    const float* x = g.x + static_cast<ptrdiff_t>(r) * size;
    float* y = g.y + static_cast<ptrdiff_t>(r) * size;
    float sum = 0, squares = 0;
    for (int32_t i = 0; i < size; ++i) sum += x[i];
    const float mean = sum / static_cast<float>(size);
    for (int32_t i = 0; i < size; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float inverse = 1.0f / std::sqrt(squares / static_cast<float>(size) + g.epsilon);
    for (int32_t c = 0; c < g.channels; ++c) {
      const int32_t channel = r % g.groups * g.channels + c;
      const float scale = g.weight ? g.weight[channel] : 1, shift = g.bias ? g.bias[channel] : 0;
      for (int32_t i = c * g.positions; i < (c + 1) * g.positions; ++i)
        y[i] = (x[i] - mean) * inverse * scale + shift;
    }
    g.mean[r] = mean;
    g.inverse[r] = inverse;
  }
}

// (x, weight?, bias?, n, c, h * w, groups, epsilon, out, mean, 1 / deviation)
Status prepare_group_norm(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(8);
  for (const int i : {0, 8, 9, 10})
    if (call.tensor(i).type != ScalarType::f32 || !is_dense(call.tensor(i)))
      return bad_argument(i, "must be float, stored in the order of its dimensions");
  if (x.rank < 2) return bad_argument(0, "must have rank 2 or more");
  if (!same_sizes(x, y)) return bad_argument(8, "must have the input's sizes");
  if (x.numel == 0) return bad_argument(0, "has no elements");
  const int32_t n = x.sizes[0], c = x.sizes[1], positions = x.numel / (n * c);
  if (call.integer(3) != n) return bad_argument(3, "is not the input's batch");
  if (call.integer(4) != c) return bad_argument(4, "is not the input's number of channels");
  if (call.integer(5) != positions) return bad_argument(5, "is not the number of positions");
  const int64_t groups = call.integer(6);
  if (!lies_in(groups, 1, c) || c % groups != 0) return bad_argument(6, "must divide the channels");
  GroupNorm g{static_cast<const float*>(x.data),
              nullptr,
              nullptr,
              static_cast<float*>(y.data),
              static_cast<float*>(call.tensor(9).data),
              static_cast<float*>(call.tensor(10).data),
              n,
              static_cast<int32_t>(groups),
              static_cast<int32_t>(c / groups),
              positions,
              static_cast<float>(call.real(7))};
  for (const int i : {1, 2})
    if (const Tensor* t = call.optional_tensor(i)) {
      if (t->type != ScalarType::f32 || t->numel != c)
        return bad_argument(i, "must be float, with one entry for each channel");
      (i == 1 ? g.weight : g.bias) = static_cast<const float*>(t->data);
    }
  for (const int i : {9, 10})
    if (call.tensor(i).numel != n * groups)
      return bad_argument(i, "must have one entry for each group");
  return keep<GroupNorm, run_group_norm>(call, prepared, g);
}

}  // namespace

extern const Kernel kAtenNativeLayerNorm = {"aten::native_layer_norm.out", "TLttFOOO",
                                            prepare_layer_norm};
extern const Kernel kAtenBatchNorm = {"aten::_native_batch_norm_legit_no_training.out",
                                      "TttTTFFOOO", prepare_batch_norm};
extern const Kernel kAtenNativeGroupNorm = {"aten::native_group_norm.out", "TttIIIIFOOO",
                                            prepare_group_norm};

}  // namespace deuteron
