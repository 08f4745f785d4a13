// SPDX-License-Identifier: Apache-2.0
// Tensors that the model makes from nothing: they become constants.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/split_mix64.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {
namespace {

// A constant of the dtype that the model declares for the result: element k is value(k).
template <class F>
void make(Call& c, const Shape& shape, F value) {
  const TensorMeta* declared = c.result_meta(0);
  i64 elements = 1;
  for (const i64 extent : shape) {
    c.require(extent >= 1 && extent <= kMaxElements && elements * extent <= kMaxElements,
              "the size is out of range", to_text(shape),
              fmt::format("1..{} elements", kMaxElements), "pt2.constant.size");
    if (!c.ok()) return;
    elements *= extent;
  }
  if (!c.ok() || !c.check_declared_shape(0, shape) || !c.may_make(elements)) return;
  const std::optional<DType> dtype = declared->dtype;
  const auto filled = [&]<class T>(T) {
    std::vector<T> data(static_cast<size_t>(elements));
    for (i64 k = 0; k < elements; ++k) data[k] = static_cast<T>(value(k));
    c.result(
        c.constant_value(c.name("constant"), {*dtype, shape, {}}, constant_of(std::move(data))));
  };
  if (dtype == DType::f32) filled(float{});
  else if (dtype == DType::s64) filled(i64{});
  else if (dtype == DType::s32) filled(i32{});
  else if (dtype == DType::b8) filled(u8{});
  else
    c.require(false, "makes a constant of a dtype that is not supported",
              name_of_code(declared->dtype_code), "f32, s64, s32 or bool", "pt2.constant.dtype");
}

void fill(Call& c, const Shape& shape, double value) {
  make(c, shape, [value](i64) { return value; });
}

}  // namespace

// Also what torch leaves undefined.
static void import_zeros(Call& c) { fill(c, c.integers("size"), 0); }
static void import_ones(Call& c) { fill(c, c.integers("size"), 1); }
static void import_full(Call& c) { fill(c, c.integers("size"), c.number("fill_value")); }
static void import_scalar_tensor(Call& c) { fill(c, {}, c.number("s")); }

// zeros_like, ones_like, full_like, empty_like, fill, zero
static void import_like(Call& c) {
  const ValueId x = c.any_tensor("self");
  const std::string_view name = c.operator_name();
  if (name == "fill" && c.is_tensor("value")) {
    const ValueId given = c.any_tensor("value");
    const auto known = c.known_numbers(given);
    if (known && known->size() == 1) return fill(c, c.shape(x), (*known)[0]);
    const ValueId value = c.tensor("value");
    c.require(!c.ok() || c.type(value).elements() == 1, "fills with more than one value",
              c.ok() ? to_text(c.shape(value)) : "", "1 element", "pt2.constant.value");
    return c.ok() ? c.result(expanded(c, c.reshape(value, {}, "value"), c.shape(x))) : void();
  }
  const double value = name == "full_like"   ? c.number("fill_value")
                       : name == "fill"      ? c.number("value")
                       : name == "ones_like" ? 1
                                             : 0;
  if (c.ok()) fill(c, c.shape(x), value);
}

static void import_arange(Call& c) {
  const double start = c.has("start") ? c.number("start") : 0, end = c.number("end"),
               step = c.has("step") ? c.number("step") : 1;
  c.require(!c.ok() || (step != 0 && std::isfinite(start) && std::isfinite(end) &&
                        std::ceil((end - start) / step) >= 1),
            "has no elements", fmt::format("{}..{} by {}", start, end, step), "1 element",
            "pt2.constant.size");
  if (!c.ok()) return;
  make(c, {static_cast<i64>(std::min(std::ceil((end - start) / step), 2.0 * kMaxElements))},
       [&](i64 k) { return start + static_cast<double>(k) * step; });
}

static void import_eye(Call& c) {
  const i64 rows = c.integer("n"), columns = c.has("m") ? c.integer("m") : rows;
  if (c.ok())
    make(c, {rows, columns}, [columns](i64 k) { return k / columns == k % columns ? 1 : 0; });
}

// Rows and columns of the elements of a triangle, row by row.
static void import_triangle_indices(Call& c) {
  const i64 rows = c.integer("row"), columns = c.integer("col"), offset = c.integer("offset");
  const bool lower = c.operator_name() == "tril_indices";
  const TensorMeta* declared = c.result_meta(0);
  c.require(!c.ok() || (rows >= 0 && columns >= 0 && rows <= kMostMadeElements &&
                        columns <= kMostMadeElements && rows * columns <= kMostMadeElements),
            "the matrix is out of range", fmt::format("{} x {}", rows, columns),
            std::to_string(kMostMadeElements), "pt2.constant.size");
  if (!c.ok()) return;
  std::vector<i64> of_rows, of_columns;
  for (i64 r = 0; r < rows; ++r)
    for (i64 k = 0; k < columns; ++k)
      if (lower ? k - r <= offset : k - r >= offset) of_rows.push_back(r), of_columns.push_back(k);
  const auto count = static_cast<i64>(of_rows.size());
  c.require(count >= 1 && declared->sizes == Shape{2, count},
            "the triangle is not what the model says", std::to_string(count),
            to_text(declared->sizes), "pt2.constant.triangle");
  if (c.ok())
    make(c, {2, count}, [&](i64 k) { return k < count ? of_rows[k] : of_columns[k - count]; });
}

// `steps` numbers from start to end, both included; from both ends to the middle, as torch rounds.
static void import_linspace(Call& c) {
  const double start = c.number("start"), end = c.number("end");
  const i64 steps = c.integer("steps");
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  if (c.ok())
    make(c, {steps}, [=](i64 k) {
      return 2 * k < steps ? start + step * static_cast<double>(k)
                           : end - step * static_cast<double>(steps - 1 - k);
    });
}

// base ^ each of `steps` numbers from start to end
static void import_logspace(Call& c) {
  const double start = c.number("start"), end = c.number("end"), base = c.number("base");
  const i64 steps = c.integer("steps");
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  c.require(!c.ok() || base > 0, "has a base that is not positive", std::to_string(base), "above 0",
            "pt2.argument.range");
  if (c.ok())
    make(c, {steps}, [=](i64 k) { return std::pow(base, start + step * static_cast<double>(k)); });
}

// Windows; one that is not periodic ends where it began.
static void import_window(Call& c) {
  const i64 length = c.integer("window_length");
  const bool periodic = !c.has("periodic") || c.boolean("periodic");
  const double span = static_cast<double>(std::max<i64>(periodic ? length : length - 1, 1)),
               pi = std::acos(-1.0);
  const std::string_view name = c.operator_name();
  const double offset = name == "hamming_window" ? 0.54 : 0.5;
  if (!c.ok()) return;
  if (length == 1) return fill(c, {1}, 1);
  make(c, {length}, [=](i64 k) {
    const double at = static_cast<double>(k), wave = std::cos(2 * pi * at / span);
    if (name == "bartlett_window") return 1 - std::abs(2 * at / span - 1);
    if (name == "blackman_window") return 0.42 - 0.5 * wave + 0.08 * std::cos(4 * pi * at / span);
    return offset - (1 - offset) * wave;
  });
}

// Numbers that follow from a name.
class Draws {
 public:
  explicit Draws(std::string_view name) {
    for (const char c : name) state_ = state_ * 31 + static_cast<unsigned char>(c);
  }
  double uniform() {  // above 0, at most 1
    return static_cast<double>(split_mix64(state_) / 2048 + 1) / 9007199254740992.0;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::acos(-1.0) * uniform());
  }

 private:
  uint64_t state_ = 0;
};

// rand, randn and their like: the model draws anew in each run, the program has the numbers of one
// draw.
static void import_draw(Call& c) {
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  c.warn(
      "draws random numbers in each run; the program always has the same ones, which the name of "
      "the operator determines",
      "pt2.random.fixed",
      "if the random numbers are for training only, replace them by their mean, or remove them");
  Draws draws(c.name());
  const bool is_normal = c.operator_name().starts_with("randn");
  make(c, declared->sizes, [&](i64) { return is_normal ? draws.normal() : 1 - draws.uniform(); });
}

static constexpr ImportRow kConstantsRows[] = {
    {"aten.arange.default", import_arange},
    {"aten.arange.start", import_arange},
    {"aten.arange.start_step", import_arange},
    {"aten.bartlett_window.default", import_window},
    {"aten.bartlett_window.periodic", import_window},
    {"aten.blackman_window.default", import_window},
    {"aten.blackman_window.periodic", import_window},
    {"aten.empty.memory_format", import_zeros},
    {"aten.empty_like.default", import_like},
    {"aten.eye.default", import_eye},
    {"aten.eye.m", import_eye},
    {"aten.fill.Scalar", import_like, true},
    {"aten.fill.Tensor", import_like, true},
    {"aten.full.default", import_full},
    {"aten.full_like.default", import_like},
    {"aten.hamming_window.default", import_window},
    {"aten.hamming_window.periodic", import_window},
    {"aten.hann_window.default", import_window},
    {"aten.hann_window.periodic", import_window},
    {"aten.linspace.default", import_linspace},
    {"aten.logspace.default", import_logspace},
    {"aten.new_empty.default", import_zeros},
    {"aten.new_full.default", import_full},
    {"aten.new_ones.default", import_ones},
    {"aten.new_zeros.default", import_zeros},
    {"aten.ones.default", import_ones},
    {"aten.ones_like.default", import_like},
    {"aten.rand.default", import_draw},
    {"aten.rand_like.default", import_draw},
    {"aten.randn.default", import_draw},
    {"aten.randn_like.default", import_draw},
    {"aten.scalar_tensor.default", import_scalar_tensor},
    {"aten.tril_indices.default", import_triangle_indices},
    {"aten.triu_indices.default", import_triangle_indices},
    {"aten.zero.default", import_like, true},
    {"aten.zeros.default", import_zeros},
    {"aten.zeros_like.default", import_like},
};
ImportRows constants_rows() { return kConstantsRows; }

}  // namespace deuteron::pt2
