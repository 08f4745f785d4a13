// SPDX-License-Identifier: Apache-2.0
// See open.h. The only file that sees protobuf's classes.
#include "frontends/onnx/file/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include "frontends/onnx/file/onnx.pb.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#include "base/tensor/limits.h"
#include "frontends/onnx/file/external_data.h"
#include "frontends/onnx/file/scan.h"

namespace deuteron::onnx {
namespace {

// where a model has operators of ai.onnx.ml alone, which name none of the standard's
constexpr i64 kOpsetOfClassical = 17;

struct ElementRow {
  Element type;
  i64 bits;
  const char* name;
};
constexpr ElementRow kElements[] = {
    {Element::undefined, 0, "UNDEFINED"},
    {Element::f32, 32, "FLOAT"},
    {Element::u8, 8, "UINT8"},
    {Element::s8, 8, "INT8"},
    {Element::u16, 16, "UINT16"},
    {Element::s16, 16, "INT16"},
    {Element::s32, 32, "INT32"},
    {Element::s64, 64, "INT64"},
    {Element::text, 0, "STRING"},
    {Element::b8, 8, "BOOL"},
    {Element::f16, 16, "FLOAT16"},
    {Element::f64, 64, "DOUBLE"},
    {Element::u32, 32, "UINT32"},
    {Element::u64, 64, "UINT64"},
    {Element::bf16, 16, "BFLOAT16"},
    {Element::u4, 4, "UINT4"},
    {Element::s4, 4, "INT4"},
};

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

class Reader {
 public:
  Reader(const std::string& file, const std::string& folder, Diagnostics& diagnostics)
      : file_(file), external_(folder), diagnostics_(diagnostics) {}

  bool ok() const { return ok_; }

  Model model(const wire::ModelProto& m) {
    Model result;
    result.ir_version = m.ir_version();
    result.producer =
        m.producer_name() + (m.producer_version().empty() ? "" : " " + m.producer_version());
    for (const auto& o : m.opset_import())
      result.opsets.push_back({domain_of(o.domain()), o.version()});
    graph(m.graph(), result.graph);
    for (const auto& f : m.functions()) {
      Function& g = result.functions.emplace_back();
      g.domain = domain_of(f.domain()), g.name = f.name(), g.overload = f.overload();
      g.inputs.assign(f.input().begin(), f.input().end());
      g.outputs.assign(f.output().begin(), f.output().end());
      for (const auto& a : f.attribute_proto()) g.defaults.push_back(attribute(a, g.name));
      for (const auto& n : f.node()) g.nodes.push_back(node(n));
    }
    return result;
  }

 private:
  void fail(const std::string& where, std::string what, std::string rule, std::string measured = {},
            std::string limit = {}) {
    diagnostics_.add({Severity::error,
                      fmt::format("{}: {}", file_, where),
                      std::move(what),
                      std::move(measured),
                      std::move(limit),
                      std::move(rule),
                      {}});
    ok_ = false;
  }

  void graph(const wire::GraphProto& g, ModelGraph& result) {
    result.name = g.name();
    for (const auto& t : g.initializer()) result.initializers.push_back(tensor(t));
    if (g.sparse_initializer_size() > 0)
      fail(fmt::format("tensor `{}`", g.sparse_initializer(0).values().name()),
           "is sparse, which is not supported", "onnx.tensor.sparse");
    for (const auto& p : g.input()) result.inputs.push_back(port(p));
    for (const auto& p : g.output()) result.outputs.push_back(port(p));
    for (const auto& n : g.node()) result.nodes.push_back(node(n));
  }

  ModelPort port(const wire::ValueInfoProto& p) {
    ModelPort result;
    result.name = p.name();
    if (!p.type().has_tensor_type()) return result;
    const auto& type = p.type().tensor_type();
    result.type = static_cast<Element>(type.elem_type());
    result.has_shape = type.has_shape();
    for (const auto& d : type.shape().dim()) {
      result.shape.push_back(d.has_dim_value() ? d.dim_value() : -1);
      result.symbols.push_back(d.has_dim_param() ? d.dim_param() : "");
    }
    return result;
  }

  ModelNode node(const wire::NodeProto& n) {
    ModelNode result;
    result.op = n.op_type(), result.domain = domain_of(n.domain()), result.name = n.name();
    result.inputs.assign(n.input().begin(), n.input().end());
    result.outputs.assign(n.output().begin(), n.output().end());
    for (const auto& a : n.attribute()) result.attributes.push_back(attribute(a, n.name()));
    return result;
  }

  Attribute attribute(const wire::AttributeProto& a, const std::string& node) {
    using K = Attribute::Kind;
    using P = wire::AttributeProto;
    Attribute result;
    result.name = a.name(), result.reference = a.ref_attr_name();
    switch (a.type()) {
      case P::FLOAT:
        result.kind = K::real, result.real = static_cast<double>(a.f());
        break;
      case P::INT:
        result.kind = K::integer, result.integer = a.i();
        break;
      case P::STRING:
        result.kind = K::text, result.text = a.s();
        break;
      case P::FLOATS:
        result.kind = K::reals, result.reals.assign(a.floats().begin(), a.floats().end());
        break;
      case P::INTS:
        result.kind = K::integers, result.integers.assign(a.ints().begin(), a.ints().end());
        break;
      case P::STRINGS:
        result.kind = K::texts, result.texts.assign(a.strings().begin(), a.strings().end());
        break;
      case P::TENSOR: {
        result.kind = K::tensor;
        auto t = std::make_shared<ModelTensor>(tensor(a.t()));
        if (t->name.empty()) t->name = node + "." + a.name();
        result.tensor = std::move(t);
        break;
      }
      case P::GRAPH: {
        result.kind = K::graph;
        auto g = std::make_shared<ModelGraph>();
        graph(a.g(), *g);
        result.graph = std::move(g);
        break;
      }
      default:
        break;
    }
    return result;
  }

  ModelTensor tensor(const wire::TensorProto& t) {
    ModelTensor result;
    result.name = t.name();
    result.type = static_cast<Element>(t.data_type());
    const std::string where = fmt::format("tensor `{}`", t.name());
    if (static_cast<size_t>(t.dims_size()) > kMaxRank) {
      fail(where, "has too many axes", "onnx.tensor.rank", std::to_string(t.dims_size()),
           std::to_string(kMaxRank));
      return result;
    }
    i64 elements = 1;
    for (const i64 extent : t.dims()) {
      if (extent < 0 || extent > kMostElements || elements * extent > kMostElements) {
        fail(
            where, "has an extent or a size out of range", "onnx.tensor.size",
            fmt::format("[{}]", fmt::join(std::vector<i64>(t.dims().begin(), t.dims().end()), ",")),
            fmt::format("{} elements", kMostElements));
        return result;
      }
      elements *= extent;
      result.shape.push_back(extent);
    }
    const i64 bits = bits_of(result.type);
    if (bits == 0) return result;  // said where it is used
    const i64 bytes = (elements * bits + 7) / 8;
    if (t.data_location() == wire::TensorProto::EXTERNAL) read_external(t, bytes, where, result);
    else if (t.has_raw_data()) take_raw(t, bytes, where, result);
    else take_numbers(t, elements, bytes, where, result);
    return result;
  }

  void read_external(const wire::TensorProto& t, i64 bytes, const std::string& where,
                     ModelTensor& result) {
    ExternalFiles::Place place;
    for (const auto& entry : t.external_data()) {
      const auto number = [&](i64& value) {
        const std::string& text = entry.value();
        const bool digits = !text.empty() && text.size() <= 18 &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        if (!digits)
          fail(where, fmt::format("has external data with a damaged `{}`", entry.key()),
               "onnx.external.entry");
        else value = std::stoll(text);
      };
      if (entry.key() == "location") place.location = entry.value();
      if (entry.key() == "offset") number(place.offset);
      if (entry.key() == "length") number(place.length);
    }
    if (!ok_) return;
    Diagnostic fault{Severity::error, fmt::format("{}: {}", file_, where), {}, {}, {}, {}, {}};
    if (const auto data = external_.read(place, bytes, fault)) {
      result.data = aligned(*data);
    } else {
      diagnostics_.add(std::move(fault));
      ok_ = false;
    }
  }

  void take_raw(const wire::TensorProto& t, i64 bytes, const std::string& where,
                ModelTensor& result) {
    if (static_cast<i64>(t.raw_data().size()) != bytes)
      return fail(where, "has another number of bytes than its shape says", "onnx.tensor.bytes",
                  std::to_string(t.raw_data().size()), std::to_string(bytes));
    result.data = copied(t.raw_data().data(), t.raw_data().size());
  }

  // Elements written one by one: each type has a list that holds it.
  void take_numbers(const wire::TensorProto& t, i64 elements, i64 bytes, const std::string& where,
                    ModelTensor& result) {
    const auto take = [&]<class To>(To, const auto& list, i64 wanted) {
      if (list.size() != wanted)
        return fail(where, "has another number of elements than its shape says",
                    "onnx.tensor.bytes", std::to_string(list.size()), std::to_string(wanted));
      std::vector<To> data;
      data.reserve(static_cast<size_t>(wanted));
      for (const auto v : list) data.push_back(static_cast<To>(v));
      result.data = constant_of(std::move(data));
    };
    switch (result.type) {
      case Element::f32:
        return take(float{}, t.float_data(), elements);
      case Element::f64:
        return take(double{}, t.double_data(), elements);
      case Element::s64:
        return take(i64{}, t.int64_data(), elements);
      case Element::u32:
        return take(uint32_t{}, t.uint64_data(), elements);
      case Element::u64:
        return take(uint64_t{}, t.uint64_data(), elements);
      case Element::s32:
        return take(i32{}, t.int32_data(), elements);
      case Element::u16:
      case Element::s16:
      case Element::f16:
      case Element::bf16:
        return take(uint16_t{}, t.int32_data(), elements);
      default:
        return take(u8{}, t.int32_data(), bytes);  // 4 bits: two elements in each entry
    }
  }

  static Constant copied(const void* data, size_t size) {
    auto words = std::make_shared<std::vector<i64>>((size + 7) / 8);
    if (size > 0) std::memcpy(words->data(), data, size);
    return {words, std::as_bytes(std::span<const i64>(*words)).first(size)};
  }
  static Constant aligned(const Constant& data) {
    return reinterpret_cast<uintptr_t>(data.bytes.data()) % 8 == 0
               ? data
               : copied(data.bytes.data(), data.bytes.size());
  }

  const std::string& file_;
  ExternalFiles external_;
  Diagnostics& diagnostics_;
  bool ok_ = true;
};

}  // namespace

std::string name_of(Element type) {
  for (const ElementRow& row : kElements)
    if (row.type == type) return row.name;
  return fmt::format("type {}", static_cast<i32>(type));
}

i64 bits_of(Element type) {
  for (const ElementRow& row : kElements)
    if (row.type == type) return row.bits;
  return 0;
}

i64 Model::opset() const {
  for (const OperatorSet& set : opsets)
    if (set.domain.empty()) return set.version;
  return 0;
}

bool may_be_onnx(std::string_view start) {
  // ir_version (field 1, a small number) comes first in what protobuf writes.
  return start.size() >= 4 && start[0] == '\x08' && start[1] >= 3 && start[1] <= 32 &&
         (start[2] == '\x12' || start[2] == '\x3a' || start[2] == '\x42');
}

std::optional<Model> open_onnx(std::span<const u8> bytes, const std::string& name,
                               const std::string& folder, Diagnostics& diagnostics) {
  const auto fail = [&](std::string what, std::string rule, std::string measured = {},
                        std::string limit = {}, std::string fix = {}) {
    diagnostics.add({Severity::error, name, std::move(what), std::move(measured), std::move(limit),
                     std::move(rule), std::move(fix)});
    return std::nullopt;
  };
  if (bytes.empty() || bytes.size() > static_cast<size_t>(std::numeric_limits<i32>::max()))
    return fail("is no ONNX model", "onnx.file.size", fmt::format("{} bytes", bytes.size()),
                "1 byte to 2 GiB");
  if (ScanFault fault = scan_model(bytes); !fault.what.empty())
    return fail(std::move(fault.what), "onnx.file.protobuf", std::move(fault.measured),
                std::move(fault.limit));
  wire::ModelProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail("is damaged: it is no ONNX model", "onnx.file.protobuf");
  if (!proto.has_graph()) return fail("holds no graph", "onnx.file.graph");
  Reader reader(name, folder, diagnostics);
  Model model = reader.model(proto);
  if (!reader.ok()) return std::nullopt;
  const auto is_classical = [](const OperatorSet& o) { return o.domain == "ai.onnx.ml"; };
  if (model.opset() == 0 && std::any_of(model.opsets.begin(), model.opsets.end(), is_classical))
    model.opsets.push_back({"", kOpsetOfClassical});
  const i64 opset = model.opset();
  if (opset < kOldestOpset || opset > kNewestOpset)
    return fail(opset == 0 ? "does not say which operator set it uses"
                           : "uses an operator set that is not supported",
                "onnx.file.opset", std::to_string(opset),
                fmt::format("{}..{}", kOldestOpset, kNewestOpset),
                "convert it: onnx.version_converter.convert_version(model, 17)");
  return model;
}

}  // namespace deuteron::onnx
