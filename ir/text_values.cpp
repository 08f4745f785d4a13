// SPDX-License-Identifier: Apache-2.0
#include "ir/text_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ir/text_constant.h"
#include "ir/verify.h"

namespace deuteron {

// of all constants of a file that are not written out
static constexpr i64 kMaxConstantBytes = i64{1} << 26;
static constexpr size_t kMaxRankOfText = 16;  // runtime/kernel.h kMaxRank
static constexpr i64 kLowest = std::numeric_limits<i64>::min(),
                     kHighest = std::numeric_limits<i64>::max();

std::vector<i64> TextValues::integers(i64 low, i64 high) {
  std::vector<i64> list;
  do list.push_back(c_.integer(low, high));
  while (!c_.failed() && c_.accept(","));
  return list;
}

void TextValues::check(const Type& type, size_t at) {
  if (c_.failed()) return;
  if (const auto fault = find_fault(type)) return c_.fail_at(at, *fault);
  const i64 elements = type.elements();
  if (elements > kMaxCount)
    c_.fail_at(at, fmt::format("expected at most {} elements, found {}", kMaxCount, elements));
}

Type TextValues::type() {
  Type type;
  const size_t at = c_.position();
  const auto dtype = dtype_named(c_.word(""));
  if (!dtype && !c_.failed())
    c_.fail_at(at, "expected a dtype (f32, s8, s16, s32, s64, u8, b8, f16, bf16 or f64)");
  type.dtype = dtype.value_or(DType::f32);
  c_.expect("[");
  if (!c_.accept("]")) {
    type.shape = integers(0, kMaxCount);
    c_.expect("]");
  }
  if (c_.sees("q(")) read(type.quant);
  check(type, at);
  return type;
}

// Adds to what the file asks for without writing it out; false once it is too much.
bool TextValues::fits(const Type& type) {
  if (c_.failed()) return false;
  constant_bytes_ += type.bytes();
  if (constant_bytes_ > kMaxConstantBytes)
    c_.fail_at(c_.position(), fmt::format("expected at most {} bytes of constants, found {}",
                                          kMaxConstantBytes, constant_bytes_));
  return !c_.failed();
}

std::vector<std::byte> TextValues::element(DType dtype) {
  std::vector<std::byte> bytes(static_cast<size_t>(bytes_of(dtype)));
  const auto store = [&](auto v) {
    std::memcpy(bytes.data(), &v, std::min(bytes.size(), sizeof v));
  };
  switch (dtype) {  // integers: two's complement, little-endian, so the low bytes
    case DType::f32:
      store(c_.real());
      break;
    case DType::f64:
      store(c_.wide_real());
      break;
    case DType::s8:
      store(c_.integer(-128, 127));
      break;
    case DType::u8:
      store(c_.integer(0, 255));
      break;
    case DType::b8:
      store(c_.integer(0, 1));
      break;
    case DType::s16:
      store(c_.integer(-32768, 32767));
      break;
    case DType::s32:
      store(c_.integer(INT32_MIN, INT32_MAX));
      break;
    case DType::s64:
      store(c_.integer(kLowest, kHighest));
      break;
    case DType::f16:
    case DType::bf16:
      c_.fail("random or base64");
      break;
  }
  return bytes;
}

Constant TextValues::fill(const Type& type) {
  const std::vector<std::byte> one = element(type.dtype);
  c_.expect(")");
  if (!fits(type)) return {};
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<size_t>(type.bytes()));
  for (i64 k = 0; k < type.elements(); ++k) bytes.insert(bytes.end(), one.begin(), one.end());
  return constant_of_bytes(bytes);
}

Constant TextValues::listed(const Type& type) {
  std::vector<std::byte> bytes;
  for (i64 k = 0; k < type.elements() && !c_.failed(); ++k) {
    if (k > 0 && !c_.accept(","))
      c_.fail(fmt::format("`,` and {} values, of which {} are given", type.elements(), k));
    const std::vector<std::byte> one = element(type.dtype);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return constant_of_bytes(bytes);
}

Constant TextValues::constant(const Type& type, const std::string& name) {
  if (c_.failed()) return {};  // a refused type may have more elements than can be counted
  if (c_.accept_word("random")) {
    uint64_t seed = seed_of(name);
    if (c_.accept("(")) {
      seed = static_cast<uint64_t>(c_.integer(0, kHighest));
      c_.expect(")");
    }
    return fits(type) ? random_constant(type, seed) : Constant{};
  }
  if (c_.accept("fill(")) return fill(type);
  if (!c_.accept_word("base64")) return listed(type);
  const size_t at = c_.position();
  const auto bytes = from_base64(c_.string());
  if (bytes && static_cast<i64>(bytes->size()) == type.bytes()) return constant_of_bytes(*bytes);
  c_.fail_at(at, bytes ? fmt::format("expected {} bytes, found {}", type.bytes(), bytes->size())
                       : "this is not base64");
  return {};
}

void TextValues::read(bool& v) {
  v = c_.accept_word("true");
  if (!v && !c_.accept_word("false")) c_.fail("true or false");
}

void TextValues::read(HW& v) {
  read(v.h);
  v.w = v.h;
  if (c_.accept(",")) read(v.w);
}

// The product of the entries stays within kMaxCount, so that shapes computed from them can be
// multiplied out.
void TextValues::read(std::vector<i64>& v) {
  const size_t at = c_.position();
  v = integers(-kMaxCount, kMaxCount);
  i64 product = 1;
  for (const i64 entry : v) {
    if (product <= kMaxCount) product *= std::max<i64>(std::abs(entry), 1);
  }
  if (product > kMaxCount)
    c_.fail_at(at, fmt::format("expected numbers whose product is at most {}", kMaxCount));
  if (v.size() > kMaxRankOfText)
    c_.fail_at(at, fmt::format("expected at most {} numbers, found {}", kMaxRankOfText, v.size()));
}

void TextValues::read(Bounds& v) {
  v.low = c_.real();
  c_.expect(",");
  v.high = c_.real();
}

void TextValues::read(Quant& v) {
  c_.expect("q(");
  v = {};
  if (c_.accept("axis="))
    v.axis = static_cast<i32>(c_.integer(0, static_cast<i64>(kMaxRankOfText) - 1));
  c_.expect("scale=");
  do v.scale.push_back(c_.real());
  while (!c_.failed() && c_.accept(";"));
  c_.expect("zero=");
  do v.zero_point.push_back(static_cast<i32>(c_.integer(INT32_MIN, INT32_MAX)));
  while (!c_.failed() && c_.accept(";"));
  if (c_.accept("range=")) {
    v.low = static_cast<i32>(c_.integer(INT32_MIN, INT32_MAX));
    c_.expect("..");
    v.high = static_cast<i32>(c_.integer(INT32_MIN, INT32_MAX));
  }
  c_.expect(")");
}

void TextValues::read(PointProgram& v) {
  const size_t at = c_.position();
  const std::string text = c_.string();
  if (c_.failed()) return;
  const auto program = point_program_named(text);
  if (!program)
    return c_.fail_at(at, fmt::format("this is not a program of element-wise steps: {}", text));
  v = *program;
}

void TextValues::read(UnaryFn& v) {
  const size_t at = c_.position();
  const std::string_view name = c_.word("");
  if (const auto fn = unary_named(name)) v = *fn;
  else c_.fail_at(at, fmt::format("expected the name of a function, found `{}`", name));
}

template <class T>
void TextValues::attributes(T& op) {
  std::vector<std::string_view> seen;
  while (!c_.failed() && !c_.at_line_end() && !c_.sees(":") && !c_.sees("from ")) {
    const size_t at = c_.position();
    const std::string_view key = c_.word("");
    std::vector<std::string> names;
    bool known = false;
    const bool again = std::find(seen.begin(), seen.end(), key) != seen.end();
    T::fields(op, [&](const char* name, auto& field) {
      names.emplace_back(name);
      if (key != name || again) return;
      known = true;
      c_.expect("=");
      if constexpr (std::is_same_v<T, Gather> &&
                    std::is_same_v<std::remove_reference_t<decltype(field)>, Axes>)
        field = integers(0, kMaxCount);  // places, no extents: any number of them
      else read(field);
    });
    seen.push_back(key);
    if (again) c_.fail_at(at, fmt::format("`{}` is given twice", key));
    if (known) continue;
    if (key.empty()) c_.fail("an attribute, `:` or from");
    c_.fail_at(at,
               names.empty()
                   ? fmt::format("{} has no attributes, found `{}`", def_of(op).name, key)
                   : fmt::format("expected one of {}, found `{}`", fmt::join(names, ", "), key));
  }
}

Face TextValues::face() {
  Face face;
  c_.expect("[");
  if (!c_.sees("]") && !c_.sees("|")) face.sizes = integers(0, kMaxCount);
  face.order.resize(face.sizes.size());
  std::iota(face.order.begin(), face.order.end(), 0);
  if (c_.accept("|")) face.order = integers(0, kMaxCount);
  c_.expect("]");
  return face;
}

KernelArg TextValues::argument() {
  using Kind = KernelArg::Kind;
  KernelArg arg;
  if (c_.accept_word("none")) return arg;
  if (c_.accept_word("true")) return {Kind::boolean, 1, 0, {}, {}};
  if (c_.accept_word("false")) return {Kind::boolean, 0, 0, {}, {}};
  if (c_.accept("[")) {
    arg.kind = Kind::integers;
    if (!c_.accept("]")) {
      arg.integers = integers(kLowest, kHighest);
      c_.expect("]");
    }
    return arg;
  }
  if (c_.accept("{")) {
    arg.kind = Kind::inputs;
    arg.integers = integers(-1, kMaxCount);
    c_.expect("}");
    return arg;
  }
  const bool is_out = c_.accept("out");
  if (is_out || (c_.sees("in") && !c_.sees("inf"))) {
    if (!is_out) c_.accept("in");
    arg.kind = is_out ? Kind::output : Kind::input;
    arg.integer = c_.integer(0, kMaxCount);
    arg.face = face();
    return arg;
  }
  Cursor ahead = c_;
  if (!c_.sees_digit() && !c_.sees("-") && !c_.sees("inf") && !c_.sees("nan"))
    c_.fail("an argument (in0[..], out0[..], a number, [..], true, false or none)");
  if (ahead.number().find_first_of(".en") == std::string_view::npos)
    return {Kind::integer, c_.integer(kLowest, kHighest), 0, {}, {}};
  return {Kind::real, 0, c_.wide_real(), {}, {}};
}

void TextValues::attributes(KernelCall& call) {
  c_.expect("args(");
  if (!c_.accept(")")) {
    do call.args.push_back(argument());
    while (!c_.failed() && c_.accept(","));
    c_.expect(")");
  }
  if (c_.accept("in_place=")) do {
      const i64 output = c_.integer(0, kMaxCount);
      c_.expect(":");
      call.in_place.emplace_back(output, c_.integer(0, kMaxCount));
    } while (!c_.failed() && c_.accept(","));
  call.writes_state = c_.accept("writes_state");
  if (c_.accept("own_scratch=")) do {
      const i64 least = c_.integer(0, kHighest);
      c_.expect(":");
      call.own_scratch.push_back({least, c_.integer(0, kHighest)});
    } while (!c_.failed() && c_.accept(","));
  if (c_.accept("macs=")) call.macs = c_.integer(0, kHighest);
}

void TextValues::attributes(Delegate& delegate) {
  c_.expect("backend=");
  delegate.backend = c_.word("");
}

void TextValues::attributes(Op& op) {
  std::visit([&](auto& o) { attributes(o); }, op);
}

}  // namespace deuteron
