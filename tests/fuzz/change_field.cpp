// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/change_field.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <random>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <flatbuffers/reflection.h>

#include "base/tflite/tflite_generated.h"
#include "explain/traces/etdump_generated.h"
#include "write/pte/program_generated.h"
#pragma GCC diagnostic pop

namespace deuteron::test {
namespace {

using Random = std::mt19937;
enum class Kind : uint8_t { whole, real, length, reference };

struct Field {
  size_t at, bytes;
  Kind kind;
  size_t names = 0;                          // of a reference: where its table lies
  const reflection::Object* type = nullptr;  // and what it is
};

const std::string& schema_of(const std::string& name) {
  static std::map<std::string, std::string> read;
  std::string& text = read[name];
  if (!text.empty()) return text;
  std::ifstream file(std::string(DEUTERON_SCHEMAS) + "/" + name + ".bfbs", std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), {});
  if (text.empty()) std::abort();
  return text;
}

// of a trace: how many bytes of it follow; others are not its own
constexpr size_t kPrefixBytes = 4;

// By the code that is made of the schema: what reflection has for this does not stand every input.
bool is_sound(const std::string& schema, const std::vector<uint8_t>& bytes) {
  size_t size = bytes.size();
  if (schema == "etdump" && size >= kPrefixBytes)
    size = std::min(size, kPrefixBytes + flatbuffers::ReadScalar<uint32_t>(bytes.data()));
  flatbuffers::Verifier verifier(bytes.data(), size, 64, 1000000);
  if (schema == "program") return pte::VerifyProgramBuffer(verifier);
  if (schema == "tflite") return tflite::VerifyModelBuffer(verifier);
  return etdump_wire::VerifySizePrefixedDumpBuffer(verifier);
}

class Fields {
 public:
  Fields(const reflection::Schema& schema, const uint8_t* begin) : schema_(schema), begin_(begin) {}

  std::vector<Field> all(size_t prefix_bytes) {
    of_table(*schema_.root_table(), *flatbuffers::GetAnyRoot(begin_ + prefix_bytes), 0);
    return std::move(fields_);
  }

 private:
  static constexpr int kMostDeep = 12;
  // of a vector of numbers: weights need not all be here
  static constexpr uint32_t kMostElements = 256;

  size_t place(const void* p) const {
    return static_cast<size_t>(static_cast<const uint8_t*>(p) - begin_);
  }
  void number(const void* at, reflection::BaseType type) {
    const bool is_real = type == reflection::Float || type == reflection::Double;
    fields_.push_back(
        {place(at), flatbuffers::GetTypeSize(type), is_real ? Kind::real : Kind::whole});
  }
  void reference(const uint8_t* at, const reflection::Object& type, int depth) {
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(
        at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at));
    fields_.push_back({place(at), 4, Kind::reference, place(table), &type});
    of_table(type, *table, depth + 1);
  }
  void of_vector(const uint8_t* vector, const reflection::Type& type, int depth) {
    const auto size = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(vector);
    fields_.push_back({place(vector), 4, Kind::length});
    const uint8_t* element = vector + 4;
    const reflection::BaseType of = type.element();
    if (of == reflection::Obj) {
      const reflection::Object& object =
          *schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(type.index()));
      if (object.is_struct()) return;
      for (uint32_t k = 0; k < size; ++k) reference(element + 4 * k, object, depth);
    } else if (flatbuffers::IsScalar(of)) {
      for (uint32_t k = 0; k < std::min(size, kMostElements); ++k)
        number(element + k * flatbuffers::GetTypeSize(of), of);
    }
  }
  // What a union holds; null: a tag that the schema does not know.
  const reflection::Object* member_of(const reflection::Object& object,
                                      const reflection::Field& field,
                                      const flatbuffers::Table& table) const {
    const reflection::Field* tag = nullptr;  // the field before it
    for (const reflection::Field* f : *object.fields())
      if (f->id() + 1 == field.id()) tag = f;
    const reflection::Enum& members =
        *schema_.enums()->Get(static_cast<flatbuffers::uoffset_t>(field.type()->index()));
    const reflection::EnumVal* member =
        tag ? members.values()->LookupByKey(table.GetField<uint8_t>(tag->offset(), 0)) : nullptr;
    if (!member || member->value() == 0) return nullptr;
    return schema_.objects()->Get(
        static_cast<flatbuffers::uoffset_t>(member->union_type()->index()));
  }
  void of_table(const reflection::Object& object, const flatbuffers::Table& table, int depth) {
    if (depth > kMostDeep) return;
    for (const reflection::Field* field : *object.fields()) {
      const uint8_t* at = table.GetAddressOf(field->offset());
      if (!at) continue;
      const reflection::Type& type = *field->type();
      const uint8_t* target = at + (flatbuffers::IsScalar(type.base_type())
                                        ? 0
                                        : flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at));
      switch (type.base_type()) {
        case reflection::String:
          fields_.push_back({place(target), 4, Kind::length});
          break;
        case reflection::Vector:
          of_vector(target, type, depth);
          break;
        case reflection::Obj: {
          const reflection::Object& inner =
              *schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(type.index()));
          if (!inner.is_struct()) reference(at, inner, depth);
          break;
        }
        case reflection::Union:
          if (const reflection::Object* member = member_of(object, *field, table))
            reference(at, *member, depth);
          break;
        default:
          number(at, type.base_type());
      }
    }
  }

  const reflection::Schema& schema_;
  const uint8_t* begin_;
  std::vector<Field> fields_;
};

uint64_t odd_number(uint64_t was, Random& random) {
  static constexpr uint64_t kOdd[] = {0,     1,          2,          3,          127,
                                      128,   255,        256,        32767,      65535,
                                      65536, 0x7fffffff, 0x80000000, 0xffffffff, uint64_t{1} << 62};
  switch (random() % 4) {
    case 0:
      return kOdd[random() % std::size(kOdd)];
    case 1:
      return -kOdd[random() % std::size(kOdd)];
    case 2:
      return was + (random() % 2 ? 1 : -1) * (uint64_t{1} << random() % 8);
    default:
      return random() % 64;
  }
}

double odd_real(double was, Random& random) {
  static constexpr double kOdd[] = {0,
                                    -0.0,
                                    1,
                                    -1,
                                    1e-30,
                                    1e30,
                                    1e-45,
                                    -3e38,
                                    127.5,
                                    2147483648.0,
                                    std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
  return random() % 3 ? kOdd[random() % std::size(kOdd)] : was * (random() % 2 ? 2 : -0.5);
}

void change(std::vector<uint8_t>& bytes, const Field& field, const std::vector<Field>& fields,
            Random& random) {
  uint8_t* at = bytes.data() + field.at;
  if (field.kind == Kind::reference) {
    std::vector<size_t> others;  // references go forwards
    for (const Field& f : fields)
      if (f.kind == Kind::reference && f.type == field.type && f.names > field.at &&
          f.names != field.names)
        others.push_back(f.names);
    if (others.empty()) return;
    const auto offset = static_cast<uint32_t>(others[random() % others.size()] - field.at);
    std::memcpy(at, &offset, sizeof offset);
  } else if (field.kind == Kind::real && field.bytes == 4) {
    float v;
    std::memcpy(&v, at, sizeof v);
    // a value that no float holds becomes infinite
    const double odd = odd_real(static_cast<double>(v), random);
    v = std::abs(odd) > static_cast<double>(std::numeric_limits<float>::max())
            ? std::numeric_limits<float>::infinity()
            : static_cast<float>(odd);
    std::memcpy(at, &v, sizeof v);
  } else if (field.kind == Kind::real) {
    double v;
    std::memcpy(&v, at, sizeof v);
    v = odd_real(v, random);
    std::memcpy(at, &v, sizeof v);
  } else {
    uint64_t v = 0;
    std::memcpy(&v, at, field.bytes);
    v = field.kind == Kind::length && v > 0 && random() % 4
            ? random() % v
            : odd_number(v, random);  // mostly shorter
    std::memcpy(at, &v, field.bytes);
  }
}

}  // namespace

bool change_field(std::vector<uint8_t>& bytes, const std::string& schema_name, uint32_t seed) {
  const std::string& text = schema_of(schema_name);
  const reflection::Schema& schema = *reflection::GetSchema(text.data());
  if (!is_sound(schema_name, bytes)) return false;
  const std::vector<Field> fields =
      Fields(schema, bytes.data()).all(schema_name == "etdump" ? kPrefixBytes : 0);
  if (fields.empty()) return false;
  Random random(seed);
  change(bytes, fields[random() % fields.size()], fields, random);
  return true;
}

}  // namespace deuteron::test
