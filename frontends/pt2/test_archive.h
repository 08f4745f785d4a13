// SPDX-License-Identifier: Apache-2.0
// Small .pt2 archives for tests, byte for byte as torch lays them out: no sizes in local headers,
// data at multiples of 64, a zip64 end record.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor/type.h"
#include "frontends/pt2/file/program.h"
#include "frontends/pt2/import.h"

namespace deuteron::pt2 {

inline uint32_t crc32_of(std::string_view data) {  // zip's: reflected polynomial 0xedb88320
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    return table;
  }();
  uint32_t crc = 0xffffffff;
  for (const char c : data) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 255];
  return ~crc;
}

class ByteWriter {
 public:
  std::string bytes;
  template <class... T>
  ByteWriter& put(T... values) {
    (append(values), ...);
    return *this;
  }
  ByteWriter& text(std::string_view s) {
    bytes += s;
    return *this;
  }

 private:
  template <class T>
  void append(T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
  }
};

using ZipEntries = std::vector<std::pair<std::string, std::string>>;

// `alignment` of each entry's data, as torch has it 64.
inline std::string stored_zip(const ZipEntries& entries, size_t alignment = 64) {
  ByteWriter out, directory;
  for (const auto& [name, data] : entries) {
    const auto local = static_cast<uint32_t>(out.bytes.size()),
               size = static_cast<uint32_t>(data.size()), crc = crc32_of(data);
    const auto name_bytes = static_cast<uint16_t>(name.size());
    const size_t header = 30 + name.size() + 4;
    const auto padding =
        static_cast<uint16_t>((alignment - (local + header) % alignment) % alignment);
    constexpr uint16_t kFlags = 0x0808;  // sizes follow the data; the name is UTF-8
    out.put(uint32_t{0x04034b50}, uint16_t{0}, kFlags, uint16_t{0}, uint32_t{0}, uint32_t{0},
            uint32_t{0}, uint32_t{0}, name_bytes, uint16_t(padding + 4));
    out.text(name).put(uint16_t{0x4246}, padding).text(std::string(padding, 'Z')).text(data);
    out.put(uint32_t{0x08074b50}, crc, size, size);
    directory.put(uint32_t{0x02014b50}, uint16_t{0}, uint16_t{0}, kFlags, uint16_t{0}, uint32_t{0},
                  crc, size, size, name_bytes, uint16_t{0}, uint16_t{0}, uint16_t{0}, uint16_t{0},
                  uint32_t{0}, local);
    directory.text(name);
  }
  const uint64_t offset = out.bytes.size(), size = directory.bytes.size(), count = entries.size();
  out.text(directory.bytes);
  const uint64_t end64 = out.bytes.size();
  out.put(uint32_t{0x06064b50}, uint64_t{44}, uint16_t{0}, uint16_t{45}, uint32_t{0}, uint32_t{0},
          count, count, size, offset);
  out.put(uint32_t{0x07064b50}, uint32_t{0}, end64, uint32_t{1});
  out.put(uint32_t{0x06054b50}, uint16_t{0}, uint16_t{0}, uint16_t(count), uint16_t(count),
          uint32_t(size), uint32_t(offset), uint16_t{0});
  return out.bytes;
}

using nlohmann::json;
inline json as_tensor(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }
inline json as_int(i64 v) { return {{"as_int", v}}; }
inline json as_float(double v) { return {{"as_float", v}}; }
inline json as_bool(bool v) { return {{"as_bool", v}}; }
inline json as_text(const std::string& v) { return {{"as_string", v}}; }
inline json as_ints(const std::vector<i64>& v) { return {{"as_ints", v}}; }
inline json as_dtype(int code) { return {{"as_scalar_type", code}}; }
inline json as_none() { return {{"as_none", true}}; }

constexpr int kU8 = 1, kS8 = 2, kS16 = 3, kS32 = 4, kS64 = 5, kF32 = 7;

// A program under construction; every part of it can be spoiled before it is written.
class TestModel {
 public:
  struct Out {
    std::string name;
    Shape shape;
    int dtype = kF32;
  };
  json model, weights = {{"config", json::object()}}, constants = {{"config", json::object()}};
  std::map<std::string, std::string> blobs;  // below the root folder
  size_t alignment = 64;

  TestModel() {
    model = {{"schema_version", {{"major", 8}, {"minor", 20}}},
             {"torch_version", "2.13.0+cpu"},
             {"verifiers", {"TRAINING"}},
             {"range_constraints", json::object()},
             {"graph_module",
              {{"graph",
                {{"inputs", json::array()},
                 {"outputs", json::array()},
                 {"nodes", json::array()},
                 {"tensor_values", json::object()}}},
               {"signature", {{"input_specs", json::array()}, {"output_specs", json::array()}}}}}};
  }
  json& graph() { return model["graph_module"]["graph"]; }
  json& signature() { return model["graph_module"]["signature"]; }
  json& node_json(size_t i) { return graph()["nodes"][i]; }

  static Shape plain_strides(const Shape& shape) {
    Shape strides(shape.size());
    i64 stride = 1;
    for (size_t k = shape.size(); k-- > 0; stride *= shape[k]) strides[k] = stride;
    return strides;
  }
  static json meta(const Shape& shape, int dtype, const Shape& strides, i64 offset = 0) {
    json m = {{"dtype", dtype},
              {"sizes", json::array()},
              {"strides", json::array()},
              {"storage_offset", as_int(offset)},
              {"layout", 7},
              {"requires_grad", false}};
    for (const i64 v : shape) m["sizes"].push_back(as_int(v));
    for (const i64 v : strides) m["strides"].push_back(as_int(v));
    return m;
  }
  void value(const std::string& name, const Shape& shape, int dtype = kF32, Shape strides = {}) {
    graph()["tensor_values"][name] =
        meta(shape, dtype, strides.empty() ? plain_strides(shape) : strides);
  }
  void input(const std::string& name, const Shape& shape, Shape strides = {}, int dtype = kF32) {
    value(name, shape, dtype, std::move(strides));
    graph()["inputs"].push_back(as_tensor(name));
    signature()["input_specs"].push_back({{"user_input", {{"arg", as_tensor(name)}}}});
  }
  // `storage` are the raw bytes of the blob, in the order that `strides` say.
  void parameter(const std::string& key, const Shape& shape, const std::string& storage,
                 int dtype = kF32, Shape strides = {}, i64 offset = 0) {
    const std::string name = "p_" + key, blob = "weight_" + std::to_string(blobs.size());
    if (strides.empty()) strides = plain_strides(shape);
    value(name, shape, dtype, strides);
    graph()["inputs"].push_back(as_tensor(name));
    signature()["input_specs"].push_back(
        {{"parameter", {{"arg", {{"name", name}}}, {"parameter_name", key}}}});
    weights["config"][key] = {{"path_name", blob},
                              {"is_param", true},
                              {"use_pickle", false},
                              {"tensor_meta", meta(shape, dtype, strides, offset)}};
    blobs["data/weights/" + blob] = storage;
  }
  template <class T>
  void parameter(const std::string& key, const Shape& shape, const std::vector<T>& data,
                 int dtype = kF32, Shape strides = {}, i64 offset = 0) {
    parameter(key, shape,
              std::string(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T)),
              dtype, std::move(strides), offset);
  }
  void node(const std::string& target, const std::vector<Out>& outputs,
            const std::vector<std::pair<std::string, json>>& arguments) {
    json n = {{"target", "torch.ops." + target},
              {"inputs", json::array()},
              {"outputs", json::array()},
              {"metadata", json::object()}};
    for (const auto& [name, arg] : arguments)
      n["inputs"].push_back({{"name", name}, {"arg", arg}, {"kind", 1}});
    for (const Out& out : outputs) {
      value(out.name, out.shape, out.dtype);
      n["outputs"].push_back(as_tensor(out.name));
    }
    n["name"] = outputs.empty() ? "nothing" : outputs[0].name;
    graph()["nodes"].push_back(std::move(n));
  }
  void output(const std::string& name) {
    graph()["outputs"].push_back(as_tensor(name));
    signature()["output_specs"].push_back({{"user_output", {{"arg", as_tensor(name)}}}});
  }

  ZipEntries entries() const {
    ZipEntries all;
    for (const auto& [name, data] : blobs) all.emplace_back("net/" + name, data);
    all.emplace_back("net/data/weights/model_weights_config.json", weights.dump());
    all.emplace_back("net/data/constants/model_constants_config.json", constants.dump());
    all.emplace_back("net/models/model.json", model.dump());
    all.emplace_back("net/archive_format", "pt2");
    all.emplace_back("net/archive_version", "0");
    all.emplace_back("net/byteorder", "little");
    return all;
  }
  std::string bytes() const { return stored_zip(entries(), alignment); }
};

// The bytes lie at a multiple of 64, as they do in a mapped file.
inline std::optional<Graph> import_bytes(const std::string& bytes, Diagnostics& diagnostics) {
  struct alignas(64) Block {
    std::array<std::byte, 64> data;
  };
  auto owner = std::make_shared<std::vector<Block>>(bytes.size() / sizeof(Block) + 1);
  std::memcpy(static_cast<void*>(owner->data()), bytes.data(), bytes.size());
  const std::span<const std::byte> view(owner->data()->data.data(), bytes.size());
  return import_pt2(view, owner, "net.pt2", diagnostics);
}

}  // namespace deuteron::pt2
