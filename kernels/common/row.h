// SPDX-License-Identifier: Apache-2.0
// A kernel's arguments as data: a row says of each one its letter, what it must be and which field
// of the kernel's struct it fills. From the row come the schema, the checks and the binding:
//
//   using Args = Mul16x8Args;
//   constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)), input(Is::s16_like),
//                                number(Is::factor, DEUTERON_FIELD(multiplier)), ...};
//   const Kernel kMul16x8 = kernel_of<kRow, Args, mul_16x8>("deuteron::mul_16x8.out", kInPlace);
//
// A row is const data, and one function reads all of them: what a kernel adds to a firmware is
// three bytes for each argument.
#pragma once
#include <cstddef>

#include "kernels/common/prepare.h"
#include "kernels/image/window.h"

namespace deuteron {

// What stands together in `flags`: of a tensor ...
inline constexpr uint8_t kLike = 1;        // the sizes and the order of argument 0
inline constexpr uint8_t kHasAxis = 2;     // one dimension or more
inline constexpr uint8_t kDenseOrder = 4;  // stored in the order of its dimensions
inline constexpr uint8_t kImage = 8;       // stored channels-last
inline constexpr uint8_t kConstant = 16;   // in the file
inline constexpr uint8_t kWords = 32;      // 4-aligned
// ... and of a number.
inline constexpr uint8_t kPair = 1;          // two of them, in a list
inline constexpr uint8_t kFromPrevious = 2;  // not below the number before
inline constexpr uint8_t kAxis = 4;          // a dimension of argument 0

// What an argument must be.
// name; type; rank, 0: any; flags
#define DEUTERON_TENSOR_RULES(R)                \
  R(s8, s8, 0, 0)                               \
  R(s8_like, s8, 0, kLike)                      \
  R(s8_axes, s8, 0, kHasAxis)                   \
  R(s8_rows, s8, 0, kHasAxis | kDenseOrder)     \
  R(s8_filters, s8, 4, kDenseOrder)             \
  R(s8_image, s8, 4, kImage)                    \
  R(s16, s16, 0, 0)                             \
  R(s16_like, s16, 0, kLike)                    \
  R(s16_rows, s16, 0, kHasAxis | kDenseOrder)   \
  R(s16_words, s16, 4, kImage | kWords)         \
  R(s16_image, s16, 4, kImage)                  \
  R(s16_table, s16, 1, kDenseOrder | kConstant) \
  R(s8_bytes, s8, 1, kDenseOrder | kWords)      \
  R(room, u8, 0, kWords)                        \
  R(s8_matrix, s8, 2, kDenseOrder)              \
  R(s8_batch, s8, 3, kDenseOrder)               \
  R(s16_matrix, s16, 2, kDenseOrder)            \
  R(s16_batch, s16, 3, kDenseOrder)             \
  R(u8, u8, 0, 0)                               \
  R(s32, s32, 0, 0)                             \
  R(s32_like, s32, 0, kLike)                    \
  R(f32, f32, 0, 0)                             \
  R(f32_channels, f32, 1, kDenseOrder)          \
  R(f32_like, f32, 0, kLike)
// name; least and most; flags; words
#define DEUTERON_NUMBER_RULES(R)                                                  \
  R(step, -128, 127, 0, "must be -128..127")                                      \
  R(minus_128, -128, -128, 0, "must be -128")                                     \
  R(step_max, -128, 127, kFromPrevious, "must be activation_min..127")            \
  R(wide_step, -32768, 32767, 0, "must be -32768..32767")                         \
  R(wide_step_max, -32768, 32767, kFromPrevious, "must be activation_min..32767") \
  R(offset, -255, 255, 0, "must be -255..255")                                    \
  R(multiplier, -INT32_MAX, INT32_MAX, 0, "is out of range")                      \
  R(factor, 0, INT32_MAX, 0, "is out of range")                                   \
  R(int32, INT32_MIN, INT32_MAX, 0, "is out of range")                            \
  R(length, 1, kMaxReach, 0, "is out of range")                                   \
  R(count, 1, INT32_MAX, 0, "is out of range")                                    \
  R(not_positive, INT32_MIN, 0, 0, "must not be positive")                        \
  R(shift, -31, 30, 0, "must be -31..30")                                         \
  R(shift_15, -15, 15, 0, "must be -15..15")                                      \
  R(zero, 0, 0, 0, "must be 0")                                                   \
  R(shift_to_15, -31, 15, 0, "must be -31..15")                                   \
  R(shift_right, -31, 0, 0, "must be -31..0")                                     \
  R(bits_15, 0, 15, 0, "must be 0..15")                                           \
  R(bits_30, 0, 30, 0, "must be 0..30")                                           \
  R(bits_31, 0, 31, 0, "must be 0..31")                                           \
  R(bits_40, 0, 40, 0, "must be 0..40")                                           \
  R(shift_to_14, -31, 14, 0, "must be -31..14")                                   \
  R(half_word, 0, 32767, 0, "must be 0..32767")                                   \
  R(shift_16x8, 1, 46, 0, "must be 1..46")                                        \
  R(word, 0, 65535, 0, "must be 0..65535")                                        \
  R(axis, 0, 0, kAxis, "is no dimension of the input")                            \
  R(reach, 1, kMaxReach, kPair, "is out of range")                                \
  R(one, 1, 1, kPair, "is out of range")                                          \
  R(phases, 1, 8, kPair, "is out of range")                                       \
  R(reach_s16, 1, 1 << 15, kPair, "is out of range")                              \
  R(padding, 0, kMaxReach, kPair, "is out of range")

enum class Is : uint8_t {
#define DEUTERON_RULE_NAME(name, ...) name,
  DEUTERON_TENSOR_RULES(DEUTERON_RULE_NAME)      // of tensors first
  DEUTERON_NUMBER_RULES(DEUTERON_RULE_NAME) any  // and what no row says more about
#undef DEUTERON_RULE_NAME
};

inline constexpr uint8_t kNoField = 255;
struct Argument {
  char letter;  // of Kernel::schema
  Is is;
  uint8_t field;  // in words of the struct: a tensor's elements, or the number
};
constexpr Argument input(Is is, uint8_t field = kNoField) { return {'T', is, field}; }
constexpr Argument output(Is is, uint8_t field = kNoField) { return {'O', is, field}; }
constexpr Argument number(Is is, uint8_t field = kNoField) { return {'I', is, field}; }
constexpr Argument list(Is is, uint8_t field = kNoField) { return {'L', is, field}; }
constexpr Argument real() { return {'F', Is::any, kNoField}; }
constexpr Argument optional_tensor() { return {'t', Is::any, kNoField}; }
constexpr Argument scratch(Is is = Is::any) { return {'X', is, kNoField}; }
constexpr Argument flag(uint8_t field = kNoField) { return {'B', Is::any, field}; }
// In a file that has `using Args = ...`.
#define DEUTERON_FIELD(name) field_at<offsetof(Args, name)>()
template <size_t byte>
constexpr uint8_t field_at() {
  static_assert(byte % 4 == 0 && byte / 4 < kNoField, "a field is a word");
  return static_cast<uint8_t>(byte / 4);
}

// Null where the tensor is what the rule says, `first` being argument 0 of its call.
const char* why_not(Is is, const Tensor& t, const Tensor& first);

// Checks `count` arguments from `first` on, and fills their fields.
Status read_arguments(const Call& call, const Argument* row, int count, int first, void* args);
template <size_t n>
Status read_row(const Call& call, const Argument (&row)[n], void* args) {
  return read_arguments(call, row, static_cast<int>(n), 0, args);
}

// Of a kernel that has a row for int8 and one for int16: whether `argument`, which decides, is
// int16; refused where it is neither.
Status read_width(const Call& call, int argument, bool* is_wide);

// For what a row cannot say: tells why a call is refused, and is false.
bool refuse(Status* why, int argument, const char* words);

template <size_t n>
struct SchemaText {
  char letters[n + 1];
};
template <size_t n>
constexpr SchemaText<n> schema_of(const Argument (&row)[n]) {
  SchemaText<n> text{};
  for (size_t i = 0; i < n; ++i) text.letters[i] = row[i].letter;
  return text;
}
template <const auto& row>
inline constexpr auto kSchemaOf = schema_of(row);

// The position of a row's k-th tensor.
template <size_t n>
constexpr int tensor_of(const Argument (&row)[n], int k) {
  for (size_t i = 0; i < n; ++i)
    if ((row[i].letter == 'T' || row[i].letter == 'O') && k-- == 0) return static_cast<int>(i);
  return -1;
}
template <size_t n>
constexpr int last_of(const Argument (&)[n]) {
  return static_cast<int>(n) - 1;
}

template <auto kernel>
struct PointersOf;
template <class Args, class... P, void (*kernel)(const Args&, P...)>
struct PointersOf<kernel> {
  using Indices = std::make_integer_sequence<int, sizeof...(P)>;
  template <class K, const auto& row, int... k>
  static Status keep(K&& kept, Call& call, std::integer_sequence<int, k...>) {
    static_assert(tensor_of(row, sizeof...(P)) == -1, "the kernel takes fewer tensors");
    return kept(static_cast<P>(call.tensor(tensor_of(row, k)).data)...);
  }
};

// Keeps the call with the row's tensors in their order: the fastest kernel that the core has.
template <const auto& row, auto portable, auto mve = portable, auto dsp = portable,
          auto scalar = portable, class Args>
Status keep_row(Call& call, Prepared* prepared, const Args& a) {
  using Pointers = PointersOf<portable>;
  const auto kept = [&](auto... p) {
    return keep_fastest<portable, mve, dsp, scalar>(call, prepared, a, p...);
  };
  return Pointers::template keep<decltype(kept), row>(std::move(kept), call,
                                                      typename Pointers::Indices{});
}

// What is to be known beside the row, where there is nothing.
template <class Args>
bool nothing_more(const Call&, Args&, Status*) {
  return true;
}

template <const auto& row, class Args, bool (*more)(const Call&, Args&, Status*), auto... kernels>
Status prepare_row(Call& call, Prepared* prepared) {
  Args a{};
  Status s = read_row(call, row, &a);
  if (s.ok() && call.tensor(last_of(row)).numel == 0) return keep_nothing(prepared);
  if (!s.ok() || !more(call, a, &s)) return s;
  return keep_row<row, kernels...>(call, prepared, a);
}

inline constexpr bool kInPlace = true;  // Kernel::in_place
// The kernel of a row; `more` fills what the row does not, and may refuse.
template <const auto& row, class Args, auto... kernels>
constexpr Kernel kernel_of(const char* name, bool in_place = false) {
  return {name, kSchemaOf<row>.letters, prepare_row<row, Args, nothing_more<Args>, kernels...>,
          in_place};
}
template <const auto& row, class Args, bool (*more)(const Call&, Args&, Status*), auto... kernels>
constexpr Kernel kernel_and(const char* name, bool in_place = false) {
  return {name, kSchemaOf<row>.letters, prepare_row<row, Args, more, kernels...>, in_place};
}
// The same with a prepare() by hand, which reads the row.
template <const auto& row>
constexpr Kernel kernel_by(const char* name, Status (*prepare)(Call&, Prepared*),
                           bool in_place = false) {
  return {name, kSchemaOf<row>.letters, prepare, in_place};
}

}  // namespace deuteron
