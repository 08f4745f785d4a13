// SPDX-License-Identifier: Apache-2.0
// The elements of an array as an input takes them, each looked at.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/data/inputs.h"
#include "base/tensor/elements.h"

namespace deuteron {
namespace {

// Where element i lies, in the user's words.
std::string position(i64 i, i64 per_sample) {
  const i64 n = std::max<i64>(per_sample, 1);
  return fmt::format("sample {}, index {}", i / n, i % n);
}

bool is_float(DType d) {
  return d == DType::f32 || d == DType::f64 || d == DType::f16 || d == DType::bf16;
}

// Why elements of the array's type cannot be the input's, whatever their values.
std::optional<Diagnostic> type_problem(const Array& array, DType dtype, const std::string& where) {
  const auto holds = [&](std::string_view takes, std::string fix) {
    return Diagnostic{Severity::error,
                      where,
                      fmt::format("holds {} where the input takes {}", to_text(array.type), takes),
                      "",
                      "",
                      "input.dtype",
                      std::move(fix)};
  };
  if (!is_float(dtype) && array.type.kind == 'f')
    return holds(to_text(element_of(dtype)),
                 dtype == DType::s8 ? "compile the model with `--io float` to give floats, or "
                                      "quantize them first: q = "
                                      "clamp(round(x / scale) + zero_point, -128, 127) "
                                      "with the scale and zero point that "
                                      "`compile --json` reports for the input"
                                    : "give whole numbers of that type");
  if (dtype == DType::bf16 ||
      ((dtype == DType::f16 || dtype == DType::f64) && !(array.type == element_of(dtype))))
    return holds(name_of(dtype), "");
  return std::nullopt;
}

// Is every element the input's as it is? Of floats in one pass that the compiler can vectorize.
bool is_the_same(const Array& array, DType dtype) {
  if (!(array.type == element_of(dtype))) return false;
  if (!is_float(dtype)) return dtype != DType::b8;
  if (dtype != DType::f32) return false;
  bool finite = true;
  for (i64 i = 0; i < array.elements(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, array.bytes.data() + i * 4, 4);
    finite &= (bits & 0x7f800000u) != 0x7f800000u;
  }
  return finite;
}

// The element as the input takes it; of f16 and f64, which stay as they are, only checked. What is
// wrong with it, to be said behind where it lies.
std::optional<Diagnostic> put_float(const Array& array, i64 i, DType dtype, std::byte* to) {
  const auto refuse = [](std::string what, const char* rule, const char* fix = "") {
    return Diagnostic{Severity::error, "", std::move(what), "", "", rule, fix};
  };
  const double v = element_as_double(array, i);
  if (!std::isfinite(v))
    return refuse(fmt::format("is {}", v), "input.not_finite", "inputs must be finite numbers");
  if (dtype != DType::f32) return std::nullopt;
  const float f = static_cast<float>(v);
  if (!std::isfinite(f))
    return refuse(fmt::format("is {}, which is beyond float32", v), "input.range");
  i64 whole = 0;
  const bool exact = array.type.kind == 'f' || (element_as_integer(array, i, &whole) &&
                                                std::abs(static_cast<double>(whole)) <= 9.2e18 &&
                                                static_cast<i64>(f) == whole);
  if (!exact)
    return refuse(fmt::format("is {:.0f}, which float32 cannot hold exactly", v), "input.range");
  std::memcpy(to, &f, 4);
  return std::nullopt;
}

std::optional<Diagnostic> put_integer(const Array& array, i64 i, DType dtype, std::byte* to) {
  i64 v = 0;
  const bool fits_i64 = element_as_integer(array, i, &v);
  const i64 width = bytes_of(dtype) * 8;
  const i64 low = dtype == DType::b8 || dtype == DType::u8 ? 0
                  : width == 64                            ? std::numeric_limits<i64>::min()
                                                           : -(i64{1} << (width - 1));
  const i64 high = dtype == DType::b8   ? 1
                   : dtype == DType::u8 ? 255
                   : width == 64        ? std::numeric_limits<i64>::max()
                                        : (i64{1} << (width - 1)) - 1;
  if (!fits_i64 || v < low || v > high)
    return Diagnostic{
        Severity::error,
        "",
        fmt::format("is outside what the input takes ({})", to_text(element_of(dtype))),
        fits_i64 ? std::to_string(v) : "above 2^63 - 1",
        fmt::format("{} to {}", low, high),
        "input.range",
        ""};
  std::memcpy(to, &v, static_cast<size_t>(bytes_of(dtype)));  // little-endian: low bytes first
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::byte>> convert(const Array& array, DType dtype, i64 per_sample,
                                              const std::string& where, Diagnostics& diagnostics) {
  if (std::optional<Diagnostic> problem = type_problem(array, dtype, where)) {
    diagnostics.add(std::move(*problem));
    return std::nullopt;
  }
  // The usual case first; the loop below then finds which value it was.
  if (is_the_same(array, dtype)) return array.bytes;
  std::vector<std::byte> out(static_cast<size_t>(array.elements() * bytes_of(dtype)));
  for (i64 i = 0; i < array.elements(); ++i) {
    std::byte* const to = out.data() + i * bytes_of(dtype);
    std::optional<Diagnostic> problem =
        is_float(dtype) ? put_float(array, i, dtype, to) : put_integer(array, i, dtype, to);
    if (!problem) continue;
    problem->where = where;
    problem->what = fmt::format("{} {}", position(i, per_sample), problem->what);
    diagnostics.add(std::move(*problem));
    return std::nullopt;
  }
  return is_float(dtype) && dtype != DType::f32 ? array.bytes : out;
}

}  // namespace deuteron
