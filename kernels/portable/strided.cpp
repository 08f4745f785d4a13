// SPDX-License-Identifier: Apache-2.0
// The strided copy behind every operator that only moves elements, and access to elements of any
// type.
#include "kernels/portable/strided.h"

namespace deuteron {

DEUTERON_FIELDS(StridesArgs, size, in_step, out_step, element_bytes)

namespace portable {
namespace {

struct CopyList {
  const StridedCopy* copies;
  int32_t count;
};
void run_copy_list(const CopyList& list) {
  for (int32_t i = 0; i < list.count; ++i) run_strided_copy(list.copies[i]);
}

#if !defined(DEUTERON_MICROCONTROLLER)
// The calls of kernels that the copies come to in a C program. False: one has more dimensions than
// such a call; nothing was told.
bool tell_copies(const CallRecorder& recorder, const StridedCopy* copies, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    if (copies[i].plain_bytes < 0 && copies[i].rank > kCopyDimensions) return false;
  for (const StridedCopy* c = copies; c != copies + count; ++c) {
    const auto* in = reinterpret_cast<const int8_t*>(c->in);
    auto* out = reinterpret_cast<int8_t*>(c->out);
    if (c->plain_bytes == 0 || (c->plain_bytes > 0 && in == out)) continue;
    if (c->plain_bytes > 0) {
      tell<copy_bytes>(recorder, copy_bytes, c->plain_bytes, in, out);
      continue;
    }
    StridesArgs a{{1, 1, 1, 1, 1}, {}, {}, c->element_bytes};
    for (int k = 0; k < c->rank; ++k) {
      const int at = kCopyDimensions - c->rank + k;
      a.size[at] = c->sizes[k], a.in_step[at] = c->sizes[c->rank + k],
      a.out_step[at] = c->sizes[2 * c->rank + k];
    }
    tell<copy_strided>(recorder, copy_strided, a, in, out);
  }
  return true;
}
#endif

}  // namespace

void run_strided_copy(const StridedCopy& c) {
  if (c.plain_bytes >= 0) {
    if (c.plain_bytes > 0) __builtin_memmove(c.out, c.in, static_cast<size_t>(c.plain_bytes));
    return;
  }
  copy_elements(c.rank, c.element_bytes, c.sizes, c.sizes + c.rank, c.sizes + 2 * c.rank, c.in,
                c.out);
}

Status keep_copies(Call& call, Prepared* prepared, const StridedCopy* copies, int32_t count) {
#if !defined(DEUTERON_MICROCONTROLLER)
  if (call.recorder != nullptr && tell_copies(*call.recorder, copies, count))
    return keep_nothing(prepared);
#endif
  return keep<CopyList, run_copy_list>(call, prepared, {copies, count});
}

Status keep_copy(Call& call, Prepared* prepared, const StridedCopy& c) {
#if !defined(DEUTERON_MICROCONTROLLER)
  if (call.recorder != nullptr && tell_copies(*call.recorder, &c, 1)) return keep_nothing(prepared);
#endif
  return keep<StridedCopy, run_strided_copy>(call, prepared, c);
}

void join_dimensions(int32_t* numbers, uint8_t* rank) {
  int32_t size[2 * kMaxRank], in[2 * kMaxRank], out[2 * kMaxRank];
  int count = 0;
  for (int i = 0; i < *rank; ++i) {  // by falling stride of `out`
    if (numbers[i] == 1) continue;
    int k = count++;
    for (; k > 0 && out[k - 1] < numbers[2 * *rank + i]; --k)
      size[k] = size[k - 1], in[k] = in[k - 1], out[k] = out[k - 1];
    size[k] = numbers[i], in[k] = numbers[*rank + i], out[k] = numbers[2 * *rank + i];
  }
  int joined = 0;
  for (int i = 0; i < count; ++i) {
    const int k =
        joined -
        1;  // the dimension outside: one with this where its step goes over all of it, in both
    if (joined > 0 && in[k] == in[i] * size[i] && out[k] == out[i] * size[i])
      size[k] *= size[i], in[k] = in[i], out[k] = out[i];
    else size[joined] = size[i], in[joined] = in[i], out[joined] = out[i], ++joined;
  }
  if (joined == 0 && *rank > 0) size[0] = in[0] = out[0] = 1, joined = 1;
  for (int i = 0; i < joined; ++i)
    numbers[i] = size[i], numbers[joined + i] = in[i], numbers[2 * joined + i] = out[i];
  *rank = static_cast<uint8_t>(joined);
}

Status keep_strided_copy(Call& call, Prepared* prepared, const Tensor& in, int32_t first,
                         const int32_t* in_strides, const Tensor& out, bool plain) {
  const uint32_t element = element_bytes(out.type);
  StridedCopy c{nullptr, bytes_of(out), nullptr, -1, out.rank, static_cast<uint8_t>(element)};
  c.in = in.numel == 0 ? nullptr : bytes_of(in) + static_cast<size_t>(first) * element;
  if (plain || out.numel == 0) {
    c.plain_bytes =
        c.in != nullptr && c.in == c.out ? 0 : out.numel * static_cast<int32_t>(element);
    return keep_copy(call, prepared, c);
  }
  int32_t* numbers = call.arena->make<int32_t>(size_t{3} * out.rank);
  if (!numbers) return out_of_memory();
  for (int i = 0; i < out.rank; ++i) numbers[i] = out.sizes[i];
  for (int i = 0; i < out.rank; ++i) numbers[out.rank + i] = in_strides[i];
  strides_of(out, numbers + 2 * out.rank);
  join_dimensions(numbers, &c.rank);
  c.sizes = numbers;
  return keep_copy(call, prepared, c);
}

double read_real(const void* data, int32_t i, ScalarType type) {
  if (type == ScalarType::f32) return static_cast<double>(static_cast<const float*>(data)[i]);
  if (type == ScalarType::f64) return static_cast<const double*>(data)[i];
  return static_cast<double>(read_integer(data, i, type));
}

int64_t read_integer(const void* data, int32_t i, ScalarType type) {
  switch (type) {
    case ScalarType::u8:
      return static_cast<const uint8_t*>(data)[i];
    case ScalarType::b8:
      return static_cast<const uint8_t*>(data)[i] != 0;
    case ScalarType::s8:
      return static_cast<const int8_t*>(data)[i];
    case ScalarType::s16:
      return static_cast<const int16_t*>(data)[i];
    case ScalarType::s32:
      return static_cast<const int32_t*>(data)[i];
    case ScalarType::s64:
      return static_cast<const int64_t*>(data)[i];
    default:
      return 0;
  }
}

void write_real(void* data, int32_t i, ScalarType type, double v) {
  if (type == ScalarType::f32) {
    static_cast<float*>(data)[i] = static_cast<float>(v);
  } else if (type == ScalarType::f64) {
    static_cast<double*>(data)[i] = v;
  } else if (type == ScalarType::b8) {
    static_cast<uint8_t*>(data)[i] = v != 0;
  } else {
    const double limit = 9223372036854774784.0;  // the largest double below 2^63
    write_integer(data, i, type,
                  v >= limit    ? INT64_MAX
                  : v <= -limit ? INT64_MIN
                  : v == v      ? static_cast<int64_t>(v)
                                : 0);
  }
}

void write_integer(void* data, int32_t i, ScalarType type, int64_t v) {
  switch (type) {
    case ScalarType::u8:
      static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(v);
      break;
    case ScalarType::b8:
      static_cast<uint8_t*>(data)[i] = v != 0;
      break;
    case ScalarType::s8:
      static_cast<int8_t*>(data)[i] = static_cast<int8_t>(v);
      break;
    case ScalarType::s16:
      static_cast<int16_t*>(data)[i] = static_cast<int16_t>(v);
      break;
    case ScalarType::s32:
      static_cast<int32_t*>(data)[i] = static_cast<int32_t>(v);
      break;
    case ScalarType::s64:
      static_cast<int64_t*>(data)[i] = v;
      break;
    case ScalarType::f32:
      static_cast<float*>(data)[i] = static_cast<float>(v);
      break;
    case ScalarType::f64:
      static_cast<double*>(data)[i] = static_cast<double>(v);
      break;
    default:
      break;
  }
}

}  // namespace portable
}  // namespace deuteron
