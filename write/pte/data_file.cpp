// SPDX-License-Identifier: Apache-2.0
#include "write/pte/data_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/number_at.h"
#include "runtime/kernel.h"
#include "write/pte/data_file_generated.h"
#include "write/pte/program_generated.h"
#include "write/pte/segments.h"

namespace deuteron {
namespace {

using Bytes = std::span<const std::byte>;
constexpr const char* kRule = "pte.data_file";

bool has_magic(Bytes bytes, const char* magic) {
  return bytes.size() >= kPrefixBytes + 4 &&
         std::memcmp(bytes.data() + kPrefixBytes, magic, 4) == 0;
}

// Tables that are where they say, and what lies behind them.
template <class Table>
const Table* checked(Bytes tables, const char* identifier) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(tables.data());
  if (tables.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return nullptr;  // 2 GB
  flatbuffers::Verifier verifier(bytes, tables.size());
  return tables.size() >= kPrefixBytes && verifier.VerifyBuffer<Table>(identifier)
             ? flatbuffers::GetRoot<Table>(bytes)
             : nullptr;
}

// Nothing where it runs past the end.
template <class Segment>
std::optional<Bytes> segment_of(Bytes file, uint64_t base, const Segment& segment) {
  if (base > file.size() || segment.offset() > file.size() - base ||
      segment.size() > file.size() - base - segment.offset())
    return std::nullopt;
  return file.subspan(base + segment.offset(), segment.size());
}

// Where the reference to what it holds lies.
const uint8_t* address_of_value(const pte::EValue& value) {
  return reinterpret_cast<const flatbuffers::Table*>(&value)->GetAddressOf(pte::EValue::VT_VAL);
}

struct OpenedProgram {
  Bytes tables;
  uint64_t base = 0;  // of the segments
  const pte::Program* program = nullptr;

  explicit OpenedProgram(Bytes file) : tables(file), base(file.size()) {
    if (has_magic(file, kHeaderMagic)) {
      tables = file.first(std::min<size_t>(number_at<uint64_t>(file, 16), file.size()));
      base = number_at<uint64_t>(file, 24);
    }
    program = checked<pte::Program>(tables, pte::ProgramIdentifier());
  }

  // visit(value, tensor) for each whose data lie in a data file.
  template <class Visit>
  void each_elsewhere(const Visit& visit) const {
    if (!program || !program->execution_plan()) return;
    for (const pte::ExecutionPlan* plan : *program->execution_plan()) {
      if (!plan->values()) continue;
      for (const pte::EValue* value : *plan->values()) {
        const pte::Tensor* t = value->val_as_Tensor();
        const pte::ExtraTensorInfo* extra = t ? t->extra_tensor_info() : nullptr;
        if (extra && extra->location() != 0 && extra->fully_qualified_name()) visit(*value, *t);
      }
    }
  }
};

// The bytes that a tensor's shape says; nothing where it says none.
std::optional<uint64_t> bytes_of(const pte::Tensor& t) {
  constexpr size_t kMostAxes = 16;
  uint64_t bytes = element_bytes(static_cast<ScalarType>(t.scalar_type()));
  if (!t.sizes() || t.sizes()->size() > kMostAxes || bytes == 0) return std::nullopt;
  if (t.dim_order() && t.dim_order()->size() > kMostAxes) return std::nullopt;
  for (const int32_t size : *t.sizes())
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return std::nullopt;
  return bytes;
}

// What all data files have, by name.
class NamedBytes {
 public:
  bool read(const DataFile& file, Diagnostics& diagnostics) {
    const auto fail = [&](std::string what) {
      diagnostics.error(file.path, std::move(what), kRule,
                        "a data file is what ExecuTorch's write_tensor_data_to_file() writes");
      return false;
    };
    const uint64_t base = number_at<uint64_t>(file.bytes, 32);
    const Bytes tables = file.bytes.first(std::min<uint64_t>(base, file.bytes.size()));
    const auto* table = has_magic(file.bytes, "FH01")
                            ? checked<ptd::DataFile>(tables, ptd::DataFileIdentifier())
                            : nullptr;
    if (!table) return fail("is not a data file of ExecuTorch, or damaged");
    if (!table->named_data()) return true;
    for (const ptd::NamedData* named : *table->named_data()) {
      const auto* segments = table->segments();
      if (!named->key() || !segments || named->segment_index() >= segments->size())
        return fail("has a name without data");
      const auto bytes = segment_of(file.bytes, base, *segments->Get(named->segment_index()));
      if (!bytes) return fail(fmt::format("ends before the data of `{}`", named->key()->str()));
      const auto [there, is_new] = found_.emplace(named->key()->str(), *bytes);
      if (!is_new && !std::ranges::equal(there->second, *bytes))
        return fail(fmt::format("has other data of `{}` than the file read before it",
                                named->key()->str()));
    }
    return true;
  }
  const Bytes* of(const std::string& name) const {
    const auto it = found_.find(name);
    return it == found_.end() ? nullptr : &it->second;
  }

 private:
  std::map<std::string, Bytes> found_;
};

// The tables stay as they are: every offset in them is relative. Before them comes another root,
// and behind them what is new; both fill whole lines of the alignment.
class Merged {
 public:
  Merged(const OpenedProgram& old, Bytes file) : old_(old) {
    if (!old.program->segments()) return;
    for (const pte::DataSegment* s : *old.program->segments())
      segments_.push_back(segment_of(file, old.base, *s).value_or(Bytes{}));
  }

  // The constants that the program has itself come first.
  bool begin_constants() {
    const pte::SubsegmentOffsets* own = old_.program->constant_segment();
    if (own && own->offsets() && own->offsets()->size() > 0) {
      constant_index_ = own->segment_index();
      if (constant_index_ >= segments_.size()) return false;
      offsets_.assign(own->offsets()->begin(), own->offsets()->end());
      const Bytes bytes = segments_[constant_index_];
      constants_.assign(bytes.begin(), bytes.end());
      return true;
    }
    if (old_.program->constant_buffer() && old_.program->constant_buffer()->size() > 1)
      return false;  // in the old inline table
    constant_index_ = segments_.size();
    segments_.emplace_back();
    offsets_ = {0};  // entry 0 is a placeholder
    return true;
  }

  void add(const pte::EValue& value, const pte::Tensor& t, Bytes bytes) {
    const auto [place, is_new] =
        index_of_.emplace(std::pair(bytes.data(), bytes.size()), offsets_.size());
    if (is_new) {
      constants_.resize(aligned_segment(constants_.size()));
      offsets_.push_back(constants_.size());
      constants_.insert(constants_.end(), bytes.begin(), bytes.end());
    }
    const auto copy = [&](const auto* v) { return builder_.CreateVector(v->data(), v->size()); };
    const auto sizes = copy(t.sizes());
    flatbuffers::Offset<flatbuffers::Vector<uint8_t>> order = 0;
    if (t.dim_order()) order = copy(t.dim_order());
    const auto made = pte::CreateTensor(builder_, t.scalar_type(), t.storage_offset(), sizes, order,
                                        t.requires_grad(), static_cast<uint32_t>(place->second), 0,
                                        t.layout(), t.shape_dynamism());
    moved_.emplace_back(position(address_of_value(value)), made.o);
  }

  size_t constant_bytes() const { return constants_.size(); }

  std::vector<uint8_t> written() {
    segments_[constant_index_] = constants_;
    std::vector<std::pair<uint64_t, Bytes>> placed;
    size_t all = 0;
    for (const Bytes bytes : segments_) {
      all = aligned_segment(all);
      placed.emplace_back(bytes.empty() ? 0 : all, bytes);
      all += bytes.size();
    }
    std::vector<uint8_t> file = tables_with(placed);
    const size_t base = make_room(file, all);
    for (const auto& [at, bytes] : placed)
      if (!bytes.empty()) std::memcpy(file.data() + base + at, bytes.data(), bytes.size());
    return file;
  }

 private:
  static constexpr size_t kFields = 8;  // of a program
  static constexpr size_t kRootTable = kPrefixBytes + 4 + 2 * kFields;
  static constexpr size_t kFront = 64;  // prefix, the fields' places and the root table
  static_assert(kFront % kSegmentAlignment == 0 && kRootTable + 4 + 4 * kFields <= kFront);

  size_t position(const uint8_t* of) const {
    return static_cast<size_t>(of - reinterpret_cast<const uint8_t*>(old_.tables.data()));
  }

  std::vector<uint8_t> tables_with(const std::vector<std::pair<uint64_t, Bytes>>& placed) {
    std::vector<flatbuffers::Offset<pte::DataSegment>> tables;
    for (const auto& [at, bytes] : placed)
      tables.push_back(pte::CreateDataSegment(builder_, at, bytes.size()));
    const auto segments = builder_.CreateVector(tables);
    const auto offsets = builder_.CreateVector(offsets_);
    const auto constants =
        pte::CreateSubsegmentOffsets(builder_, static_cast<uint32_t>(constant_index_), offsets);
    builder_.Finish(constants);

    const size_t back = aligned_segment(kFront + old_.tables.size());
    std::vector<uint8_t> file(back + aligned_segment(builder_.GetSize()));
    std::memcpy(file.data() + kFront, old_.tables.data(), old_.tables.size());
    std::memcpy(file.data() + back, builder_.GetBufferPointer(), builder_.GetSize());
    const auto refer = [&](size_t from, size_t to) {
      const auto distance = static_cast<uint32_t>(to - from);
      std::memcpy(file.data() + from, &distance, sizeof distance);
    };
    const auto made = [&](uint32_t offset) { return back + builder_.GetSize() - offset; };
    for (const auto& [at, offset] : moved_) refer(kFront + at, made(offset));
    write_root(file, made(segments.o), made(constants.o), refer);
    return file;
  }

  template <class Refer>
  void write_root(std::vector<uint8_t>& file, size_t segments, size_t constants,
                  const Refer& refer) const {
    const pte::Program& p = *old_.program;
    std::memcpy(file.data() + 4, pte::ProgramIdentifier(), 4);
    refer(0, kRootTable);
    uint16_t places[2 + kFields] = {sizeof places, 4 + 4 * kFields};
    const uint32_t version = p.version(), back_to_places = sizeof places;
    std::memcpy(file.data() + kRootTable, &back_to_places, 4);
    std::memcpy(file.data() + kRootTable + 4, &version, 4);
    places[2] = 4;
    const void* kept[kFields] = {
        nullptr, p.execution_plan(),        p.constant_buffer(), p.backend_delegate_data(), nullptr,
        nullptr, p.mutable_data_segments(), p.named_data()};
    for (size_t f = 1; f < kFields; ++f) {
      const size_t to = f == 4    ? segments
                        : f == 5  ? constants
                        : kept[f] ? kFront + position(static_cast<const uint8_t*>(kept[f]))
                                  : 0;
      if (to == 0) continue;
      places[2 + f] = static_cast<uint16_t>(4 + 4 * f);
      refer(kRootTable + 4 + 4 * f, to);
    }
    std::memcpy(file.data() + kPrefixBytes, places, sizeof places);
  }

  const OpenedProgram& old_;
  std::vector<Bytes> segments_;
  std::vector<std::byte> constants_;
  size_t constant_index_ = 0;  // of their segment
  std::vector<uint64_t> offsets_;
  std::map<std::pair<const std::byte*, size_t>, size_t> index_of_;  // by their place in a data file
  std::vector<std::pair<size_t, uint32_t>> moved_;  // a value's reference, and its new tensor
  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace

int64_t tensors_elsewhere(Bytes program) {
  int64_t count = 0;
  OpenedProgram(program).each_elsewhere([&](auto&, auto&) { ++count; });
  return count;
}

std::optional<std::vector<uint8_t>> with_data(Bytes program, const std::string& path,
                                              std::span<const DataFile> files,
                                              Diagnostics& diagnostics) {
  NamedBytes named;
  for (const DataFile& file : files)
    if (!named.read(file, diagnostics)) return std::nullopt;
  const auto fail = [&](std::string what, std::string measured = {}, std::string limit = {},
                        std::string fix = {}) {
    diagnostics.add({Severity::error, path, std::move(what), std::move(measured), std::move(limit),
                     kRule, std::move(fix)});
    return std::nullopt;
  };
  const OpenedProgram old(program);
  Merged merged(old, program);
  if (!old.program || !merged.begin_constants())
    return fail("has data in a data file, and constants of its own in a form that is not known");
  size_t most = 0;  // names of the same bytes share them; overlaps are not what anybody writes
  for (const DataFile& file : files) most += 2 * file.bytes.size();
  most += merged.constant_bytes();
  std::vector<std::string> missing;
  std::string other, has, needs;
  old.each_elsewhere([&](const pte::EValue& value, const pte::Tensor& t) {
    const std::string name = t.extra_tensor_info()->fully_qualified_name()->str();
    const Bytes* bytes = named.of(name);
    if (!bytes) return missing.push_back(name);
    const std::optional<uint64_t> wanted = bytes_of(t);
    if (wanted == bytes->size() && !t.allocation_info() && merged.constant_bytes() <= most)
      return merged.add(value, t, *bytes);
    other = name, has = fmt::format("{} bytes", bytes->size());
    needs = t.allocation_info() ? "a constant" : fmt::format("{} bytes", wanted.value_or(0));
  });
  if (!missing.empty())
    return fail(
        fmt::format("reads data that no data file beside it has: `{}`{}", missing[0],
                    missing.size() > 1 ? fmt::format(" and {} more", missing.size() - 1) : ""),
        {}, {}, "put the data files (.ptd) that were written with it into its folder");
  if (!needs.empty())
    return fail(fmt::format("reads `{}` as something else than the data file has", other), has,
                needs, "take the data file that was written with the program");
  return merged.written();
}

}  // namespace deuteron
