// SPDX-License-Identifier: Apache-2.0
// The loop behind every operator of two operands, and what it asks of their dtypes.
#include "kernels/portable/pairwise.h"

namespace deuteron::portable {
namespace {

struct Pairwise {
  const void* in[2];
  void* out;
  const int32_t* numbers;  // the out's sizes, then strides of both inputs and of the out; null:
                           // element i of all lies at i
  int32_t numel;
  uint8_t rank;
  ScalarType types[2], out_type;
  RealPair real;  // one of the two
  IntegerPair integer;
  float alpha;
  int64_t whole_alpha;
  int64_t number;  // where an operand is a number: its bits
};

void run_pairwise(const Pairwise& p) {
  const bool floats = p.types[0] == ScalarType::f32 && p.types[1] == ScalarType::f32 &&
                      p.out_type == ScalarType::f32;
  const auto visit = [&](const int32_t* at) {
    if (floats) {
      static_cast<float*>(p.out)[at[2]] =
          p.real(static_cast<const float*>(p.in[0])[at[0]],
                 static_cast<const float*>(p.in[1])[at[1]], p.alpha);
    } else if (p.integer) {
      write_integer(p.out, at[2], p.out_type,
                    p.integer(read_integer(p.in[0], at[0], p.types[0]),
                              read_integer(p.in[1], at[1], p.types[1]), p.whole_alpha));
    } else {
      const float a = static_cast<float>(read_real(p.in[0], at[0], p.types[0])),
                  b = static_cast<float>(read_real(p.in[1], at[1], p.types[1]));
      write_real(p.out, at[2], p.out_type, static_cast<double>(p.real(a, b, p.alpha)));
    }
  };
  if (!p.numbers) {
    for (int32_t i = 0; i < p.numel; ++i) {
      const int32_t at[] = {i, i, i};
      visit(at);
    }
    return;
  }
  const int32_t* const strides[] = {p.numbers + p.rank, p.numbers + 2 * p.rank,
                                    p.numbers + 3 * p.rank};
  walk<3>(p.rank, p.numbers, strides, visit);
}

// A number as an integer, which it is: the callers have refused a real one beside integers.
int64_t whole_number(const Value& v) {
  return v.kind == Kind::boolean ? v.boolean : v.kind == Kind::integer ? v.integer : 0;
}

ScalarType type_of(const Value& v) {
  if (v.kind == Kind::tensor) return v.tensor->type;
  return v.kind == Kind::real      ? ScalarType::f32
         : v.kind == Kind::boolean ? ScalarType::b8
                                   : ScalarType::s64;
}

// Whether the out can take what the operands give.
const char* why_not_out(const Pairwise& p, PairRule rule, bool real) {
  if (rule == PairRule::predicate || p.out_type == ScalarType::f32) return nullptr;
  if (real) return "must be float";
  const bool bools = p.types[0] == ScalarType::b8 && p.types[1] == ScalarType::b8;
  return p.out_type == ScalarType::b8 && !bools ? "is bool, and an operand is not" : nullptr;
}

void broadcast_strides(const Value& v, const Tensor& y, int32_t* to) {
  for (int i = 0; i < y.rank; ++i) to[i] = 0;
  if (v.kind != Kind::tensor) return;
  const Tensor& x = *v.tensor;
  int32_t strides[kMaxRank];
  strides_of(x, strides);
  for (int i = 0; i < x.rank; ++i)
    if (x.sizes[i] != 1) to[y.rank - x.rank + i] = strides[i];
}

Status keep_operands(Call& call, Prepared* prepared, const Value* const (&operands)[2],
                     const int (&arguments)[2], int alpha, int out, const PairOp& op) {
  const Tensor& y = call.tensor(out);
  Pairwise p{};
  p.out = y.data;
  p.out_type = y.type;
  p.numel = y.numel;
  p.rank = y.rank;
  bool real = op.rule == PairRule::real, alike = true;
  int number = -1;
  for (int k = 0; k < 2; ++k) {
    const Value& v = *operands[k];
    p.types[k] = type_of(v);
    if (p.types[k] == ScalarType::f64 || !is_known(p.types[k]))
      return bad_argument(arguments[k], "has a dtype that is not supported");
    real = real || is_real(p.types[k]);
    if (v.kind != Kind::tensor) {
      number = k;
      alike = false;
      continue;
    }
    if (const char* why = why_not_broadcast(*v.tensor, y)) return bad_argument(arguments[k], why);
    p.in[k] = v.tensor->data;
    alike = alike && same_layout(*v.tensor, y);
  }
  if (y.type == ScalarType::f64 || !is_known(y.type))
    return bad_argument(out, "has a dtype that is not supported");
  if (alpha >= 0 && call.args[alpha]->kind == Kind::real && !real)
    return bad_argument(alpha, "must be a whole number for integers");
  if (real && op.rule == PairRule::bits)
    return bad_argument(arguments[is_real(p.types[0]) ? 0 : 1], "must be integers or bools");
  if (const char* why = why_not_out(p, op.rule, real)) return bad_argument(out, why);
  if (y.numel == 0) return keep_nothing(prepared);
  (real ? p.integer = nullptr : p.integer = op.integer);
  p.real = op.real;
  p.alpha = alpha < 0 ? 1 : static_cast<float>(call.real(alpha));
  p.whole_alpha = alpha < 0 || real ? 1 : whole_number(*call.args[alpha]);
  if (!alike) {
    int32_t* numbers = call.arena->make<int32_t>(size_t{4} * y.rank);
    if (!numbers) return out_of_memory();
    p.numbers = numbers;
    for (int i = 0; i < y.rank; ++i) numbers[i] = y.sizes[i];
    for (int k = 0; k < 2; ++k) broadcast_strides(*operands[k], y, numbers + (k + 1) * y.rank);
    strides_of(y, numbers + 3 * y.rank);
  }
  Pairwise* kept = call.arena->make<Pairwise>();
  if (!kept) return out_of_memory();
  *kept = p;
  if (number >= 0) {
    const Value& v = *operands[number];
    kept->in[number] = &kept->number;
    if (real) kept->types[number] = ScalarType::f32;
    if (v.kind == Kind::real) write_real(&kept->number, 0, ScalarType::f32, v.real);
    else write_integer(&kept->number, 0, kept->types[number], whole_number(v));
  }
  *prepared = {[](const void* args) { run_pairwise(*static_cast<const Pairwise*>(args)); }, kept};
  return Status{};
}

}  // namespace

Status keep_pairwise(Call& call, Prepared* prepared, int a, int b, int alpha, int out,
                     const PairOp& op) {
  return keep_operands(call, prepared, {call.args[a], call.args[b]}, {a, b}, alpha, out, op);
}

Status keep_with_number(Call& call, Prepared* prepared, int a, int64_t b, int out,
                        const PairOp& op) {
  Value number;
  number.kind = Kind::integer;
  number.integer = b;
  return keep_operands(call, prepared, {call.args[a], &number}, {a, a}, -1, out, op);
}

}  // namespace deuteron::portable
