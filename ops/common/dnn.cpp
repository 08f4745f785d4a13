// SPDX-License-Identifier: Apache-2.0
#include "ops/common/dnn.h"

#include <sys/mman.h>
#include <dnnl.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <unordered_map>

#include "ops/common/elementwise.h"

extern "C" void omp_set_num_threads(int);  // <omp.h> is not there with every compiler

namespace deuteron {

using dnnl::memory;

void use_one_thread_for_each_layer() { omp_set_num_threads(1); }

// oneDNN writes machine code into memory that it asked for and did not get: what it takes for one
// layer, beside the weights, must be there.
static constexpr size_t kForCode = size_t{4} << 20;
static void make_sure_of_pages(size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);  // as it asks for them
  if (pages == MAP_FAILED) throw std::bad_alloc();
  ::munmap(pages, bytes);
}

// Machines that differ in the widest vectors they have shall choose the same quantization
// parameters, so sums are made in one order: AVX2 at most. One model's layers fit in 64 cached
// primitives; more would only cost memory.
static const dnnl::engine& engine() {
  static const dnnl::engine e = [] {
    dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    dnnl_set_primitive_cache_capacity(64);
    make_sure_of_pages(4 * kForCode);
    const float one = 1;
    float product = 0;
    dnnl_sgemm('N', 'N', 1, 1, 1, 1, &one, 1, &one, 1, 0, &product,
               1);  // makes the code that all products share
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return e;
}

// What the plain loops need: weight [groups][kh][kw][c/groups][oc/groups], so that the inner loop
// runs over output channels.
struct PlainConvolution {
  Conv2d a;
  Shape x, y;
  i64 kh, kw;
  std::vector<float> weight;
};

// Output channels whose rows are made at a time: full blocks of any of oneDNN's orders of weights.
static i64 channels_at_once(i64 channels, i64 row) {
  constexpr i64 kFloats = i64{1} << 20, kBlock = 64;
  return std::min(channels, std::max(kBlock, kFloats / std::max<i64>(1, row) / kBlock * kBlock));
}

struct PreparedLayer::State {
  Bounds bounds;
  i64 y_elements = 0, channels = 0;
  std::vector<float> bias;
  std::optional<PlainConvolution> plain;
  dnnl::primitive primitive;
  memory::desc x, y, scratch;
  memory weight, bias_memory;

  // dims, strides: of the weight as it is given; without groups, dims[0] are the output channels.
  void pack(const memory::dims& dims, const memory::dims& strides, const LayerWeight& source) {
    const memory::desc packed = weight.get_desc();
    const auto run_of = [&](i64 first, i64 count) {
      memory::dims run = dims, offsets(dims.size());
      run[0] = count, offsets[0] = first;
      return packed.submemory_desc(run, offsets, /*allow_empty=*/true);
    };
    const i64 step = dims.size() == 5 ? channels : channels_at_once(dims[0], strides[0]);
    const bool in_runs =
        step < channels && !run_of(step, std::min(step, channels - step)).is_zero();
    dnnl::stream stream(engine());
    source.for_each_run(channels, in_runs ? step : channels,
                        [&](i64 first, i64 count, const float* rows) {
                          memory::dims run = dims;
                          if (count < channels) run[0] = count;
                          const memory from({run, memory::data_type::f32, strides}, engine(),
                                            const_cast<float*>(rows));
                          memory to(count < channels ? run_of(first, count) : packed, engine(),
                                    weight.get_data_handle());
                          dnnl::reorder(from, to).execute(stream, const_cast<memory&>(from), to);
                          stream.wait();
                        });
  }

  template <class Descriptor, class Primitive, class Attempt>
  bool try_onednn(const Attempt& descriptor, const memory::dims& dims, const memory::dims& strides,
                  const LayerWeight& source) {
    make_sure_of_pages(kForCode +
                       2 * memory::desc(dims, memory::data_type::f32, strides).get_size());
    try {
      dnnl::primitive_attr attributes;
      attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
      const typename Primitive::primitive_desc chosen(descriptor(), attributes, engine());
      if (std::strncmp(chosen.impl_info_str(), "ref", 3) == 0)
        return false;  // slower than the loops below
      primitive = Primitive(chosen);
      scratch = chosen.scratchpad_desc();
      weight = memory(chosen.weights_desc(), engine());
      pack(dims, strides, source);
      if (!bias.empty())
        bias_memory = memory({{channels}, memory::data_type::f32, memory::format_tag::a}, engine(),
                             bias.data());
      return true;
    } catch (const dnnl::error& e) {
      if (e.status == dnnl_out_of_memory)
        throw std::bad_alloc();  // else there is no implementation for these shapes
      primitive = {};
      return false;
    }
  }
};

PreparedLayer::PreparedLayer(const Conv2d& a, const Shape& x, const Shape& weight, const Shape& y,
                             const LayerWeight& weight_data, const float* bias)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  use_one_thread_for_each_layer();
  s.bounds = a.bounds;
  s.y_elements = numel(y);
  s.channels = weight[0];
  if (bias) s.bias.assign(bias, bias + s.channels);
  const i64 kh = weight[1], kw = weight[2], cg = weight[3], og = weight[0] / a.groups;
  constexpr auto f32 = memory::data_type::f32;
  const bool padding_fits =
      std::min({a.pad_before.h, a.pad_before.w, a.pad_after.h, a.pad_after.w}) >= 0;
  if (s.y_elements > 0 && numel(x) > 0 && padding_fits) {
    s.x = memory::desc({x[0], x[3], x[1], x[2]}, f32, memory::format_tag::nhwc);
    s.y = memory::desc({y[0], y[3], y[1], y[2]}, f32, memory::format_tag::nhwc);
    memory::dims dims{og, cg, kh, kw}, strides{kh * kw * cg, 1, kw * cg, cg};
    if (a.groups > 1)
      dims.insert(dims.begin(), a.groups), strides.insert(strides.begin(), og * kh * kw * cg);
    const auto descriptor = [&] {
      using C = dnnl::convolution_forward;
      const memory::dims stride{a.stride.h, a.stride.w},
          dilation{a.dilation.h - 1, a.dilation.w - 1};
      const memory::dims before{a.pad_before.h, a.pad_before.w},
          after{a.pad_after.h, a.pad_after.w};
      const memory::desc any(dims, f32, memory::format_tag::any);
      const auto kind = dnnl::prop_kind::forward_inference;
      const auto algorithm = dnnl::algorithm::convolution_direct;
      if (!bias) return C::desc(kind, algorithm, s.x, any, s.y, stride, dilation, before, after);
      const memory::desc bias_desc({s.channels}, f32, memory::format_tag::a);
      return C::desc(kind, algorithm, s.x, any, bias_desc, s.y, stride, dilation, before, after);
    };
    if (s.try_onednn<dnnl::convolution_forward::desc, dnnl::convolution_forward>(
            descriptor, dims, strides, weight_data))
      return;
  }
  PlainConvolution plain{a, x, y, kh, kw, std::vector<float>(static_cast<size_t>(numel(weight)))};
  weight_data.for_each_run(s.channels, channels_at_once(s.channels, kh * kw * cg),
                           [&](i64 first, i64 count, const float* rows) {
                             for (i64 o = first; o < first + count; ++o)
                               for (i64 tap = 0; tap < kh * kw; ++tap)
                                 for (i64 c = 0; c < cg; ++c)
                                   plain.weight[((o / og * kh * kw + tap) * cg + c) * og + o % og] =
                                       *rows++;
                           });
  s.plain = std::move(plain);
}

PreparedLayer::PreparedLayer(const Linear& a, const Shape& x, const Shape& weight,
                             const LayerWeight& weight_data, const float* bias)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  use_one_thread_for_each_layer();
  s.bounds = a.bounds;
  s.channels = weight[0];
  const i64 inputs = weight[1], rows = numel(std::span(x).first(x.size() - 1));
  s.y_elements = rows * s.channels;
  if (bias) s.bias.assign(bias, bias + s.channels);
  constexpr auto f32 = memory::data_type::f32;
  if (s.y_elements > 0 && inputs > 0) {
    s.x = memory::desc({rows, inputs}, f32, memory::format_tag::nc);
    s.y = memory::desc({rows, s.channels}, f32, memory::format_tag::nc);
    const auto descriptor = [&] {
      using I = dnnl::inner_product_forward;
      const memory::desc any({s.channels, inputs}, f32, memory::format_tag::any);
      const auto kind = dnnl::prop_kind::forward_inference;
      if (!bias) return I::desc(kind, s.x, any, s.y);
      return I::desc(kind, s.x, any, memory::desc({s.channels}, f32, memory::format_tag::a), s.y);
    };
    if (s.try_onednn<dnnl::inner_product_forward::desc, dnnl::inner_product_forward>(
            descriptor, {s.channels, inputs}, {inputs, 1}, weight_data))
      return;
  }
  PlainConvolution plain{{},
                         {rows, 1, 1, inputs},
                         {rows, 1, 1, s.channels},
                         1,
                         1,
                         std::vector<float>(static_cast<size_t>(numel(weight)))};
  weight_data.for_each_run(s.channels, channels_at_once(s.channels, inputs),
                           [&](i64 first, i64 count, const float* rows) {
                             for (i64 o = first; o < first + count; ++o)
                               for (i64 i = 0; i < inputs; ++i)
                                 plain.weight[i * s.channels + o] = *rows++;
                           });
  s.plain = std::move(plain);
}

PreparedLayer::~PreparedLayer() = default;
PreparedLayer::PreparedLayer(PreparedLayer&&) noexcept = default;
bool PreparedLayer::uses_onednn() const { return !state_->plain; }
size_t PreparedLayer::scratch_bytes() const {
  return state_->plain ? 0 : state_->scratch.get_size();
}

// One output element for all output channels of a group at a time.
static void convolve(const PlainConvolution& p, const std::vector<float>& bias, const float* x,
                     float* y) {
  const i64 groups = p.a.groups, cg = p.x[3] / groups, og = p.y[3] / groups;
  for (i64 n = 0; n < p.y[0]; ++n)
    for (i64 oh = 0; oh < p.y[1]; ++oh)
      for (i64 ow = 0; ow < p.y[2]; ++ow)
        for (i64 g = 0; g < groups; ++g) {
          float* to = y + ((n * p.y[1] + oh) * p.y[2] + ow) * p.y[3] + g * og;
          if (bias.empty()) std::fill_n(to, og, 0.0f);
          else std::copy_n(bias.data() + g * og, og, to);
          for (i64 kh = 0; kh < p.kh; ++kh)
            for (i64 kw = 0; kw < p.kw; ++kw) {
              const i64 h = oh * p.a.stride.h - p.a.pad_before.h + kh * p.a.dilation.h;
              const i64 w = ow * p.a.stride.w - p.a.pad_before.w + kw * p.a.dilation.w;
              if (h < 0 || h >= p.x[1] || w < 0 || w >= p.x[2]) continue;
              const float* from = x + ((n * p.x[1] + h) * p.x[2] + w) * p.x[3] + g * cg;
              const float* weight = p.weight.data() + ((g * p.kh + kh) * p.kw + kw) * cg * og;
              for (i64 c = 0; c < cg; ++c, weight += og)
                for (i64 o = 0; o < og; ++o) to[o] += from[c] * weight[o];
            }
        }
}

void PreparedLayer::run(const float* x, float* y, void* scratch) const {
  const State& s = *state_;
  if (s.plain) {
    convolve(*s.plain, s.bias, x, y);
  } else {
    std::unordered_map<int, memory> arguments{
        {DNNL_ARG_SRC, memory(s.x, engine(), const_cast<float*>(x))},
        {DNNL_ARG_WEIGHTS, s.weight},
        {DNNL_ARG_DST, memory(s.y, engine(), y)}};
    if (!s.bias.empty()) arguments.emplace(DNNL_ARG_BIAS, s.bias_memory);
    if (s.scratch.get_size() > 0)
      arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(s.scratch, engine(), scratch));
    dnnl::stream stream(engine());
    s.primitive.execute(stream, arguments);
    stream.wait();
  }
  apply_bounds(s.bounds, {y, static_cast<size_t>(s.y_elements)});
}

void PreparedLayer::run(const float* x, float* y) const {
  const std::unique_ptr<std::byte[], void (*)(std::byte*)> scratch(
      static_cast<std::byte*>(std::aligned_alloc(64, (scratch_bytes() + 64) / 64 * 64)),
      [](std::byte* p) { std::free(p); });
  run(x, y, scratch.get());
}

}  // namespace deuteron
