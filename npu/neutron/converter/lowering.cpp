// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/lowering.h"

#include <fmt/format.h>

#include <algorithm>

namespace deuteron::neutron {

void StridedAxes::fill(i32 (&e)[kMaxRank]) const {
  std::fill(std::begin(e), std::end(e), 1);
  for (size_t i = 0; i < extent.size(); ++i)
    e[kMaxRank - extent.size() + i] = static_cast<i32>(extent[i]);
}

void StridedAxes::fill(size_t operand, i32 (&s)[kMaxRank]) const {
  std::fill(std::begin(s), std::end(s), 0);
  for (size_t i = 0; i < extent.size(); ++i)
    s[kMaxRank - extent.size() + i] = static_cast<i32>(stride[operand][i]);
}

void StridedAxes::simplify() {
  StridedAxes r;
  r.stride.resize(stride.size());
  for (size_t i = 0; i < extent.size(); ++i) {
    if (extent[i] == 1) continue;
    bool merge = !r.extent.empty();
    for (size_t k = 0; k < stride.size() && merge; ++k)
      merge = r.stride[k].back() == extent[i] * stride[k][i];
    if (merge) r.extent.back() *= extent[i];
    else r.extent.push_back(extent[i]);
    for (size_t k = 0; k < stride.size(); ++k) {
      if (merge) r.stride[k].back() = stride[k][i];
      else r.stride[k].push_back(stride[k][i]);
    }
  }
  if (r.extent.empty()) {
    r.extent = {1};
    for (auto& s : r.stride) s = {1};
  }
  *this = std::move(r);
}

i32 Lowering::blob_of(std::vector<u8> bytes) {
  const auto [at, is_new] = known_.try_emplace(bytes, static_cast<i32>(list_.blobs.size()));
  if (is_new) list_.blobs.push_back(std::move(bytes));
  return at->second;
}

void Lowering::constant(Operand& o, std::vector<u8> bytes) {
  given_.push_back({&o, blob_of(std::move(bytes)), 0});
}

void Lowering::locate(Operand& o, TensorId t, i64 more) {
  const Place& place = p_.place[t];
  const Root& root = p_.root[place.root];
  const i64 offset = place.offset + more;
  switch (root.home) {
    case Home::input:
      o = operand(Region::kInput, word(offset), word(root.index));
      break;
    case Home::output:
      o = operand(Region::kOutput, word(offset), word(root.index));
      break;
    case Home::scratch:
      o = operand(Region::kScratch, word(root.offset + offset));
      break;
    case Home::constant: {
      const auto bytes = m_.tensors[place.root].constant->as<u8>();
      given_.push_back({&o, blob_of({bytes.begin(), bytes.end()}), offset});
      break;
    }
    case Home::none:
      DEUTERON_CHECK(false, m_.tensors[t].name);
  }
}

Shape Lowering::strides(TensorId t) const {
  const Shape& s = m_.type(t).shape;
  Shape r(s.size(), 1);
  i64 next = pitch(t);
  for (size_t i = s.size(); i-- > 0;) {
    if (i + 1 == s.size()) continue;
    r[i] = next;
    next *= s[i];
  }
  return r;
}

Shape Lowering::strides_over(TensorId t, const Shape& y) const {
  const Shape own = strides(t), &s = m_.type(t).shape;
  Shape r(y.size(), 0);
  for (size_t back = 1; back <= s.size(); ++back)
    if (s[s.size() - back] != 1) r[y.size() - back] = own[s.size() - back];
  return r;
}

std::vector<i32> Lowering::bias(TensorId t) const {
  if (t == kNoTensor) return {};
  const auto bytes = m_.tensors[t].constant->bytes;
  std::vector<i32> bias(bytes.size() / 4);
  std::memcpy(bias.data(), bytes.data(), bias.size() * 4);
  return bias;
}

Fault Lowering::window_limits(const Window& w, const char* rule, i64 most_kernel) const {
  struct Row {
    const char* what;
    i64 measured, limit;
  };
  const Row rows[] = {
      {"kernel height", w.kernel_h, most_kernel},   {"kernel width", w.kernel_w, most_kernel},
      {"stride down", w.stride_h, kMostWindow},     {"stride across", w.stride_w, kMostWindow},
      {"dilation down", w.dilation_h, kMostWindow}, {"dilation across", w.dilation_w, kMostWindow}};
  for (const auto& [what, measured, limit] : rows)
    if (measured > limit) return wrong(what, measured, limit, rule);
  return std::nullopt;
}

Fault Lowering::products_limit(const Window& w, i64 channels, const char* rule) const {
  if (const i64 taps = w.kernel_h * w.kernel_w * round_up_to(channels, 8); taps > kMostProducts)
    return wrong("kernel taps times channels, rounded up to 8", taps, kMostProducts, rule);
  return std::nullopt;
}

Fault Lowering::wrong(std::string what, i64 measured, i64 limit, const char* rule) const {
  return Refusal{std::move(what), fmt::format("{}", measured), fmt::format("{}", limit),
                 fmt::format("neutron.{}", rule)};
}

Fault Lowering::bad_scale(const char* rule) const {
  return Refusal{"the ratio of the scales does not fit a multiplier", "2^30 or more", "below 2^30",
                 fmt::format("neutron.{}", rule)};
}

void Lowering::push_words(Kind kind, const char* call, size_t bytes) {
  EncodedCall c;
  c.kind = kind;
  for (const Given& g : given_) {
    const auto at = reinterpret_cast<const char*>(g.operand) - call;
    DEUTERON_CHECK(at >= 0 && at < static_cast<std::ptrdiff_t>(bytes));
    c.constants.push_back({static_cast<size_t>(at) / 4, g.blob, g.offset});
  }
  given_.clear();
  c.words.resize(bytes / 4);
  std::memcpy(c.words.data(), call, bytes);
  c.ops = m_.operations[operation_].origins;
  list_.calls.push_back(std::move(c));
}

Fault Lowering::lower(size_t operation) {
  operation_ = operation;
  if (p_.free[operation]) return std::nullopt;
  const Operation& s = m_.operations[operation];
  return s.def->lower(*this, s);
}

std::optional<CallList> lower_operations(const Model& model, const Placement& placement,
                                         const Machine& machine, Diagnostics& diagnostics) {
  Lowering lowering(model, placement, machine);
  bool good = true;
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const auto fault = lowering.lower(i);
    if (!fault) continue;
    const Operation& s = model.operations[i];
    const std::string op =
        s.origins.empty()
            ? "copy"
            : fmt::format("{} (operator {})", model.op_names[s.origins.front()], s.origins.front());
    diagnostics.add({Severity::error,
                     fmt::format("Neutron IR: {} `{}`", op, model.tensors[s.output].name),
                     fault->what,
                     fault->measured,
                     fault->limit,
                     fault->rule,
                     {}});
    good = false;
  }
  if (!good) return std::nullopt;
  return lowering.take();
}

}  // namespace deuteron::neutron
