// Float normalisation: layer norm, batch norm with known statistics, log softmax.
#include <cmath>
#include <initializer_list>

#include "backends/portable/kernels.h"
#include "backends/portable/strided.h"

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
    if (call.list_integer(1, i) != x.sizes[x.rank - dims + i]) return bad_argument(1, "must name the last dimensions");
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
    if (call.tensor(i).numel != l.rows) return bad_argument(i, "must have one entry for each normalised row");
  return keep<LayerNorm, run_layer_norm>(call, prepared, l);
}

struct BatchNorm {
  const float *x, *weight, *bias, *mean, *variance;
  float* y;
  const int32_t* numbers;  // sizes, strides of x, strides of y, then 1 for the channel dimension and 0 for the others
  uint8_t rank;
  float epsilon;
};
void run_batch_norm(const BatchNorm& b) {
  const int32_t* const strides[] = {b.numbers + b.rank, b.numbers + 2 * b.rank, b.numbers + 3 * b.rank};
  walk<3>(b.rank, b.numbers, strides, [&](const int32_t* at) {
    const int32_t c = at[2];
    const float inverse = 1.0f / std::sqrt(b.variance[c] + b.epsilon);
    const float v = (b.x[at[0]] - b.mean[c]) * inverse * (b.weight ? b.weight[c] : 1);
    b.y[at[1]] = v + (b.bias ? b.bias[c] : 0);
  });
}

// (x, weight?, bias?, mean, variance, momentum, epsilon, out, saved mean, saved deviation): the saved ones are empty.
Status prepare_batch_norm(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(7);
  if (x.type != ScalarType::f32 || x.rank < 2) return bad_argument(0, "must be float, of rank 2 or more");
  if (y.type != ScalarType::f32 || !same_sizes(x, y)) return bad_argument(7, "must be float, with the input's sizes");
  for (const int i : {1, 2, 3, 4})
    if (const Tensor* t = call.optional_tensor(i))
      if (t->type != ScalarType::f32 || t->numel != x.sizes[1]) return bad_argument(i, "must be float, with one entry for each channel");
  for (const int i : {8, 9})
    if (call.tensor(i).numel != 0) return bad_argument(i, "must be empty");
  const auto floats = [&](int i) { return call.optional_tensor(i) ? static_cast<const float*>(call.tensor(i).data) : nullptr; };
  int32_t* numbers = call.arena->make<int32_t>(size_t{4} * x.rank);
  if (!numbers) return out_of_memory();
  for (int i = 0; i < x.rank; ++i) numbers[i] = x.sizes[i];
  strides_of(x, numbers + x.rank);
  strides_of(y, numbers + 2 * x.rank);
  for (int i = 0; i < x.rank; ++i) numbers[3 * x.rank + i] = i == 1;
  return keep<BatchNorm, run_batch_norm>(call, prepared,
                                         {floats(0), floats(1), floats(2), floats(3), floats(4), static_cast<float*>(y.data), numbers,
                                          x.rank, static_cast<float>(call.real(6))});
}

struct LogSoftmax {
  const float* x;
  float* y;
  const int32_t* numbers;  // sizes of the other dimensions, strides of x, strides of y
  int32_t size, x_stride, y_stride;
  uint8_t rank;
};
void run_log_softmax(const LogSoftmax& l) {
  const int32_t* const strides[] = {l.numbers + l.rank, l.numbers + 2 * l.rank};
  walk<2>(l.rank, l.numbers, strides, [&](const int32_t* at) {
    const float* x = l.x + at[0];
    float* y = l.y + at[1];
    float largest = x[0];
    for (int32_t i = 1; i < l.size; ++i) largest = x[i * l.x_stride] > largest ? x[i * l.x_stride] : largest;
    float sum = 0;
    for (int32_t i = 0; i < l.size; ++i) sum += std::exp(x[i * l.x_stride] - largest);
    const float log_sum = std::log(sum);
    for (int32_t i = 0; i < l.size; ++i) y[i * l.y_stride] = x[i * l.x_stride] - largest - log_sum;
  });
}

// (x, dim, half_to_float, out)
Status prepare_log_softmax(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, "is not a dimension of the input");
  if (x.type != ScalarType::f32) return bad_argument(0, "must be float");
  if (y.type != ScalarType::f32 || !same_sizes(x, y)) return bad_argument(3, "must be float, with the input's sizes");
  if (x.numel == 0) return bad_argument(0, "has no elements");
  const int others = x.rank - 1;
  int32_t* numbers = call.arena->make<int32_t>(size_t{3} * static_cast<size_t>(others));
  if (!numbers) return out_of_memory();
  int32_t x_strides[kMaxRank], y_strides[kMaxRank];
  strides_of(x, x_strides);
  strides_of(y, y_strides);
  for (int i = 0, k = 0; i < x.rank; ++i) {
    if (i == dim) continue;
    numbers[k] = x.sizes[i];
    numbers[others + k] = x_strides[i];
    numbers[2 * others + k++] = y_strides[i];
  }
  return keep<LogSoftmax, run_log_softmax>(call, prepared,
                                           {static_cast<const float*>(x.data), static_cast<float*>(y.data), numbers, x.sizes[dim],
                                            x_strides[dim], y_strides[dim], static_cast<uint8_t>(others)});
}

}  // namespace

extern const Kernel kAtenNativeLayerNorm = {"aten::native_layer_norm.out", "TLttFOOO", prepare_layer_norm};
extern const Kernel kAtenBatchNorm = {"aten::_native_batch_norm_legit_no_training.out", "TttTTFFOOO", prepare_batch_norm};
extern const Kernel kAtenLogSoftmax = {"aten::_log_softmax.out", "TIBO", prepare_log_softmax};

}  // namespace deuteron
