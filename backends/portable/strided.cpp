// The strided copy behind every operator that only moves elements, and access to elements of any type.
#include "backends/portable/strided.h"

namespace deuteron::portable {

void run_strided_copy(const StridedCopy& c) {
  if (c.plain_bytes >= 0) {
    if (c.plain_bytes > 0) __builtin_memmove(c.out, c.in, static_cast<size_t>(c.plain_bytes));
    return;
  }
  const int32_t* const strides[] = {c.sizes + c.rank, c.sizes + 2 * c.rank};
  const size_t n = c.element_bytes;
  walk<2>(c.rank, c.sizes, strides, [&](const int32_t* at) {
    __builtin_memcpy(c.out + static_cast<ptrdiff_t>(at[1]) * static_cast<ptrdiff_t>(n),
                     c.in + static_cast<ptrdiff_t>(at[0]) * static_cast<ptrdiff_t>(n), n);
  });
}

Status keep_strided_copy(Call& call, Prepared* prepared, const Tensor& in, int32_t first, const int32_t* in_strides, const Tensor& out,
                         bool plain) {
  const uint32_t element = element_bytes(out.type);
  StridedCopy c{nullptr, bytes_of(out), nullptr, -1, out.rank, static_cast<uint8_t>(element)};
  c.in = in.numel == 0 ? nullptr : bytes_of(in) + static_cast<size_t>(first) * element;
  if (plain || out.numel == 0) {
    c.plain_bytes = out.numel * static_cast<int32_t>(element);
    return keep<StridedCopy, run_strided_copy>(call, prepared, c);
  }
  int32_t* numbers = call.arena->make<int32_t>(size_t{3} * out.rank);
  if (!numbers) return out_of_memory();
  for (int i = 0; i < out.rank; ++i) numbers[i] = out.sizes[i];
  for (int i = 0; i < out.rank; ++i) numbers[out.rank + i] = in_strides[i];
  strides_of(out, numbers + 2 * out.rank);
  c.sizes = numbers;
  return keep<StridedCopy, run_strided_copy>(call, prepared, c);
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
    write_integer(data, i, type, v >= limit ? INT64_MAX : v <= -limit ? INT64_MIN : v == v ? static_cast<int64_t>(v) : 0);
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

}  // namespace deuteron::portable
