// SPDX-License-Identifier: Apache-2.0
// The checks of prepare() that all kernels share, once: inlined they were a twelfth of a board's
// loader.
#include "kernels/common/prepare.h"

namespace deuteron {

bool stored_in_order(const Tensor& t, const uint8_t* order) {
  int k = 0;
  for (int i = 0; i < t.rank; ++i) {
    if (t.sizes[order[i]] == 1) continue;
    while (t.sizes[t.dim_order[k]] == 1) ++k;
    if (t.dim_order[k++] != order[i]) return false;
  }
  return true;
}

constexpr uint8_t kDense[kMaxRank] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
// Most orders are the very one that is asked for.
bool is_dense(const Tensor& t) {
  int i = 0;
  while (i < t.rank && t.dim_order[i] == i) ++i;
  return i == t.rank || stored_in_order(t, kDense);
}
bool is_channels_last(const Tensor& t) {
  if (t.rank != 4) return false;
  uint32_t order, last;
  __builtin_memcpy(&order, t.dim_order, sizeof order);
  __builtin_memcpy(&last, kChannelsLast, sizeof last);
  return order == last || stored_in_order(t, kChannelsLast);
}

bool same_sizes(const Tensor& a, const Tensor& b) {
  if (a.rank != b.rank) return false;
  if (a.sizes == b.sizes) return true;  // equal shapes of a file lie in one place
  for (int i = 0; i < a.rank; ++i)
    if (a.sizes[i] != b.sizes[i]) return false;
  return true;
}
bool same_layout(const Tensor& a, const Tensor& b) {
  return same_sizes(a, b) && (a.dim_order == b.dim_order || stored_in_order(a, b.dim_order));
}

const char* why_not_image(const Tensor& t) {
  if (t.type != ScalarType::s8) return "must be int8";
  if (t.rank != 4) return "must have rank 4";
  if (!is_channels_last(t)) return "must be stored channels-last";
  return nullptr;
}

const char* why_not_dense(const Tensor& t, ScalarType type, int rank) {
  if (t.type != type) return "has the wrong dtype";
  if (t.rank != rank) return "has the wrong rank";
  if (!is_dense(t)) return "must be stored in the order of its dimensions";
  return nullptr;
}

const char* why_not_channel_sums(const Tensor& t, int32_t channels) {
  if (t.type != ScalarType::s32) return "must be int32";
  if (!is_aligned(t, 4)) return "must be 4-aligned";
  if (t.numel != channels) return "must have one entry for each output channel";
  return nullptr;
}

const char* why_not_channel_constants(const Tensor& t, int32_t channels, int32_t low,
                                      int32_t high) {
  if (const char* why = why_not_channel_sums(t, channels)) return why;
  if (!t.constant) return "must be a constant";
  const int32_t* v = static_cast<const int32_t*>(t.data);
  for (int32_t i = 0; i < channels; ++i)
    if (v[i] < low || v[i] > high) return "has a value out of range";
  return nullptr;
}

const char* read_pair(const Call& call, int argument, int32_t low, int32_t high, int32_t* h,
                      int32_t* w) {
  if (call.list(argument).count != 2) return "must have two numbers";
  const int64_t a = call.list_integer(argument, 0), b = call.list_integer(argument, 1);
  if (!lies_in(a, low, high) || !lies_in(b, low, high)) return "is out of range";
  *h = static_cast<int32_t>(a);
  *w = static_cast<int32_t>(b);
  return nullptr;
}

Status keep_nothing(Prepared* prepared) {
  prepared->args = nullptr;
  prepared->run = [](const void*) {};
  return Status{};
}

void* keep_room(Call& call, Prepared* prepared, void (*run)(const void*), size_t bytes,
                size_t align) {
  void* room = call.arena->take(bytes, align);
  *prepared = {run, room};
  return room;
}
Status kept(const void* room) { return room != nullptr ? Status{} : out_of_memory(); }

Status lacks_form() {
  Status s;
  s.code = Code::missing_kernel;
  s.detail = "takes a loop that no model of this firmware takes: build it with -DALL_FORMS=ON";
  return s;
}

Room room_for(const Call& call, int64_t bytes, void* scratch, int32_t scratch_bytes) {
  if (scratch_bytes >= bytes) return {scratch, scratch_bytes};
  return {call.arena->share(static_cast<size_t>(bytes)), static_cast<int32_t>(bytes)};
}

}  // namespace deuteron
