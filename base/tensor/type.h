// SPDX-License-Identifier: Apache-2.0
// What a value is: dtype, shape in storage order, and, once quantized, scale and zero point.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using ValueId = i32;  // of a graph

enum class DType : u8 { f32, s8, s16, s32, s64, u8, b8, f16, bf16, f64 };
i64 bytes_of(DType);
// Whether a part of a tensor may begin so many bytes behind its beginning: kernels read two int16
// at once, and want them 4-aligned.
inline bool may_begin_at(DType dtype, i64 bytes) { return dtype != DType::s16 || bytes % 4 == 0; }
std::string_view name_of(DType);  // "f32", "s8", ...
std::optional<DType> dtype_named(std::string_view);

// Extents, outermost first in memory: an image is [n, h, w, c], a convolution's weight [oc, kh, kw,
// c]. Rank 0 is one element.
using Shape = std::vector<i64>;
using Axes = std::vector<i64>;
i64 numel(std::span<const i64> shape);
std::string to_text(std::span<const i64> shape);  // "1,8,8,16"

// real = scale * (q - zero_point). One entry: per tensor. As many as the extent of `axis`: per
// channel.
struct Quant {
  std::vector<float> scale;
  std::vector<i32> zero_point;
  i32 axis = -1;
  i32 low = -128, high = 127;  // the range that the quantizer may use

  bool empty() const { return scale.empty(); }
  bool per_channel() const { return axis >= 0; }
  bool operator==(const Quant&) const = default;
};
Quant per_tensor(float scale, i32 zero_point, i32 low = -128, i32 high = 127);

struct Type {
  DType dtype = DType::f32;
  Shape shape;
  Quant quant;  // empty for floats and for plain integers

  i64 rank() const { return static_cast<i64>(shape.size()); }
  i64 elements() const { return numel(shape); }
  i64 bytes() const { return elements() * bytes_of(dtype); }
  bool same_data(const Type& o) const { return dtype == o.dtype && shape == o.shape; }
  bool operator==(const Type&) const = default;
};
std::string to_text(const Type&);  // "s8[1,8,8,16] q(0.05,-3)"

// The types of a node's operands without copying them.
class TypeView {
 public:
  TypeView() = default;
  explicit TypeView(std::span<const Type* const> types) : types_(types) {}
  const Type& operator[](size_t i) const { return *types_[i]; }
  size_t size() const { return types_.size(); }

 private:
  std::span<const Type* const> types_;
};

// The real step rounding of PT2E and of the dialect: clamp(round_half_even(x * (1/scale)) +
// zero_point), all in float32.
i32 quantize_value(float x, float scale, i32 zero_point, i32 low, i32 high);

}  // namespace deuteron
