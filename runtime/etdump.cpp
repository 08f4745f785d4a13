// SPDX-License-Identifier: Apache-2.0
// See etdump.h. Small code counts here, not speed: hence what is not to be inlined. The layout of
// the file, all of it known before the first byte goes out:
//
//   size, root offset, "ED00"   six vtables   ETDump   vector of blocks   the blocks' tables their
//   three names for each block: vector of events, then each event: Event, ProfileEvent, its name,
//   its metadata; each begins at a multiple of 8
//
// Every offset but those to vtables points forward. Format: docs/reports.md; FlatBuffers:
// https://flatbuffers.dev/internals
#include "runtime/etdump.h"

#include "runtime/decimal.h"
#include "runtime/fnv1a.h"
#include "runtime/signature.h"

namespace deuteron {
namespace {

// Where the fixed parts lie.
constexpr uint32_t kVtEtdump = 12, kVtRun = 20, kVtEvent = 32, kVtNamed = 40, kVtWithFacts = 60,
                   kVtInside = 80, kRoot = 100, kRuns = 112;
constexpr uint16_t kVtables[] = {
    8,  12, 4,  8,          // ETDump: version, run_data
    12, 12, 4,  0,  0,  8,  // RunData: name, -, -, events
    6,  8,  4,  0,          // Event: profile_event; and two bytes of nothing
    20, 40, 28, 4,  24, 0,
    0,  0,  8,  16,  // ProfileEvent: name, chain, instruction, -, -, -, start, end
    20, 40, 28, 4,  24, 0,
    0,  36, 8,  16,  // with metadata
    20, 40, 0,  4,  24, 32,
    0,  36, 8,  16};  // inside a delegate: chain, instruction, id, -, metadata, times
static_assert(kVtEtdump + sizeof kVtables == kRoot);
constexpr uint32_t kRunBytes = 12, kEventBytes = 8, kProfileEventBytes = 40, kBlockNameBytes = 12;
constexpr const char* kBlockNames[] = {"Default", "Execute", "Profile"};  // of seven letters each
enum BlockName : uint32_t { kDefault, kExecute, kProfile };

constexpr uint32_t round_up_8(uint32_t bytes) { return (bytes + 7) / 8 * 8; }
[[gnu::noinline]] uint32_t length(const char* s) {
  uint32_t n = 0;
  while (s && s[n]) n++;
  return n;
}

// Lines of text for the metadata of Program::load_method.
struct Facts {
  char text[320];
  uint32_t used = 0;
  Facts& put(char c) {
    if (used < sizeof text) text[used++] = c;
    return *this;
  }
  [[gnu::noinline]] Facts& put(const char* s) {
    while (s && *s) put(*s++);
    return *this;
  }
  Facts& number(uint64_t v) { return put(Decimal(v).text()); }
  Facts& hex(uint64_t v) {
    for (int shift = 60; shift >= 0; shift -= 4) put("0123456789abcdef"[v >> shift & 15]);
    return *this;
  }
};

void describe(Facts& f, const Trace& trace, uint64_t program, const DumpFacts& more) {
  const Clock& clock = trace.clock();
  f.put("deuteron 1\nprogram ").hex(program);
  f.put("\nclock ").put(clock.unit).put(' ').number(clock.ticks_per_second);
  f.put("\nsource ").put(clock.name);
  if (more.npu_hz) f.put("\nnpu_hz ").number(more.npu_hz);
  f.put("\nevents ").number(trace.count());
  f.put("\ndropped ").number(trace.dropped());
  if (trace.stood_still()) f.put("\nstood_still 1");
  f.put('\n');
}

// An event as the file has it: one of three shapes.
struct Entry {
  uint32_t vtable = kVtNamed;
  const char *prefix = nullptr, *op = nullptr, *overload = nullptr;  // the name: prefix op.overload
  int32_t chain = -1, instruction = -1, id = -1;
  uint64_t start = 0, end = 0;
  const char* metadata = nullptr;
  uint32_t metadata_bytes = 0;

  uint32_t name_bytes() const {
    return length(prefix) + length(op) + (overload ? 1 + length(overload) : 0);
  }
  bool has_name() const { return vtable != kVtInside; }
  bool has_metadata() const { return vtable != kVtNamed; }
  uint32_t bytes() const {
    return kEventBytes + kProfileEventBytes + (has_name() ? round_up_8(4 + name_bytes() + 1) : 0) +
           (has_metadata() ? round_up_8(4 + metadata_bytes) : 0);
  }
};

class DumpWriter {
 public:
  DumpWriter(const Program& program, Trace& trace, const DumpSink* sink)
      : program_(program), trace_(trace), sink_(sink) {}

  void describe_with(const Facts& facts) { facts_ = &facts; }

  uint64_t total_bytes() {
    const uint32_t first = parts_begin();
    uint64_t at = first;
    for (uint32_t b = 0, e = 0; b < blocks(); ++b) at += part_bytes(b, &e);
    return at;
  }

  bool write(uint64_t began) {
    const uint64_t total = total_bytes();
    if (total > UINT32_MAX / 2) return false;
    put32(static_cast<uint32_t>(total) - 4), put32(kRoot - 4);
    put("ED00", 4);
    for (const uint16_t v : kVtables) put(&v, 2);
    put32(kRoot - kVtEtdump), put32(0), put32(kRuns - (kRoot + 8));
    put32(blocks());
    const uint32_t tables = kRuns + 4 + 4 * blocks();
    for (uint32_t b = 0; b < blocks(); ++b) put32(tables + kRunBytes * b - at_);
    const uint32_t names = tables + kRunBytes * blocks();
    uint32_t part = parts_begin();
    for (uint32_t b = 0, e = 0; b < blocks(); ++b) {
      put32(at_ - kVtRun);
      put32(names + kBlockNameBytes * name_of_block(b) - at_);
      put32(part - at_);
      part += part_bytes(b, &e);
    }
    for (const char* name : kBlockNames) put32(7), put(name, 8);
    pad_to(parts_begin());
    began_ = began;
    for (uint32_t b = 0, e = 0; b < blocks(); ++b) put_part(b, &e);
    return flush() && at_ == total;
  }

 private:
  uint32_t blocks() const { return trace_.runs() + 2; }
  uint32_t name_of_block(uint32_t b) const {
    return b == 0 ? kDefault : b + 1 == blocks() ? kProfile : kExecute;
  }
  uint32_t parts_begin() const {
    return round_up_8(kRuns + 4 + (4 + kRunBytes) * blocks() + 3 * kBlockNameBytes);
  }

  // Events of a block; `*e` is the first of the trace's that is not in an earlier block.
  uint32_t events_of(uint32_t b, uint32_t e) const {
    if (b == 0) return trace_.check.end ? 2 : 1;
    if (b + 1 == blocks()) return 1;
    uint32_t n = 0;
    while (e + n < trace_.count() && trace_.events()[e + n].run == b) n++;
    return n;
  }

  [[gnu::noinline]] Entry entry(uint32_t b, uint32_t e, uint32_t i) {
    Entry x;
    if (b == 0) {
      const bool loads = i + 1 == events_of(0, 0);
      x.prefix = loads ? "Program::load_method" : "Program::load";
      x.start = loads ? trace_.load.start : trace_.check.start;
      x.end = loads ? trace_.load.end : trace_.check.end;
      if (!loads) return x;
      x.vtable = kVtWithFacts;
      x.metadata = facts_->text;
      x.metadata_bytes = facts_->used;
      return x;
    }
    if (b + 1 == blocks()) {
      x.prefix = "Profile::write";
      x.start = began_;
      x.end = began_;
      return x;
    }
    const TraceEvent& event = trace_.events()[e + i];
    x.start = event.start;
    x.end = event.end;
    x.instruction = event.instruction;
    x.chain = event.kind == TraceKind::run ? -1 : 0;
    if (event.kind == TraceKind::run) x.prefix = "Method::execute";
    if (event.kind == TraceKind::delegate) x.prefix = "DELEGATE_CALL";
    if (event.kind == TraceKind::kernel) {
      const CallName name = program_.name_of_call(event.instruction);
      x.prefix = "native_call_";
      x.op = name.op;
      x.overload = name.overload;
    }
    if (event.kind == TraceKind::delegate_kernel) {
      x.vtable = kVtInside;
      x.id = kFirstDelegateId + event.number;
      x.metadata = reinterpret_cast<const char*>(&event.code);
      x.metadata_bytes = 1;
    }
    return x;
  }

  [[gnu::noinline]] uint32_t part_bytes(uint32_t b, uint32_t* e) {
    const uint32_t n = events_of(b, *e);
    uint32_t bytes = round_up_8(4 + 4 * n);
    for (uint32_t i = 0; i < n; ++i) bytes += entry(b, *e, i).bytes();
    if (b > 0 && b + 1 < blocks()) *e += n;
    return bytes;
  }

  void put_part(uint32_t b, uint32_t* e) {
    const uint32_t n = events_of(b, *e), begin = at_;
    put32(n);
    uint32_t event = begin + round_up_8(4 + 4 * n);
    for (uint32_t i = 0; i < n; ++i) {
      put32(event - at_);
      event += entry(b, *e, i).bytes();
    }
    pad_to(begin + round_up_8(4 + 4 * n));
    for (uint32_t i = 0; i < n; ++i) {
      Entry x = entry(b, *e, i);
      if (b + 1 == blocks()) {  // the last: only its own bytes are not in its time
        flush();
        x.end = trace_.now();
      }
      put_entry(x);
    }
    if (b > 0 && b + 1 < blocks()) *e += n;
  }

  [[gnu::noinline]] void put_entry(const Entry& x) {
    const uint32_t event = at_, profile = event + kEventBytes;
    const uint32_t name = profile + kProfileEventBytes,
                   metadata = name + (x.has_name() ? round_up_8(4 + x.name_bytes() + 1) : 0);
    put32(event - kVtEvent), put32(kEventBytes - 4);
    put32(profile - x.vtable), put32(static_cast<uint32_t>(x.chain));
    put(&x.start, 8), put(&x.end, 8);
    put32(static_cast<uint32_t>(x.instruction));
    put32(x.has_name() ? name - at_ : 0);
    put32(static_cast<uint32_t>(x.id));
    put32(x.has_metadata() ? metadata - at_ : 0);
    if (x.has_name()) {
      put32(x.name_bytes());
      put_text(x.prefix), put_text(x.op);
      if (x.overload) put_text("."), put_text(x.overload);
      put("", 1);
      pad_to(metadata);
    }
    if (x.has_metadata()) {
      put32(x.metadata_bytes);
      put(x.metadata, x.metadata_bytes);
      pad_to(metadata + round_up_8(4 + x.metadata_bytes));
    }
  }

  // Names come from a program file and may be anything; readers want text.
  [[gnu::noinline]] void put_text(const char* s) {
    for (; s && *s; ++s) {
      const bool plain = *s >= ' ' && *s <= '~';
      put(plain ? s : "?", 1);
    }
  }
  [[gnu::noinline]] void put32(uint32_t v) { put(&v, 4); }
  [[gnu::noinline]] void pad_to(uint32_t at) {
    while (at_ < at) put("", 1);
  }
  [[gnu::noinline]] void put(const void* bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      if (held_ == sizeof buffer_) flush();
      buffer_[held_++] = static_cast<const uint8_t*>(bytes)[i];
    }
    at_ += count;
  }
  [[gnu::noinline]] bool flush() {
    if (held_ > 0 && !failed_) failed_ = !sink_->write(sink_->context, buffer_, held_);
    held_ = 0;
    return !failed_;
  }

  const Program& program_;
  Trace& trace_;
  const DumpSink* sink_;
  const Facts* facts_ = nullptr;
  uint64_t began_ = 0;
  uint32_t at_ = 0, held_ = 0;
  bool failed_ = false;
  uint8_t buffer_[256];
};

}  // namespace

uint64_t etdump_bytes(const Program& program, const Trace& trace, const DumpFacts& more) {
  Facts facts;
  describe(facts, trace, 0, more);  // as long as with the real number
  Trace copy = trace;
  DumpWriter writer(program, copy, nullptr);
  writer.describe_with(facts);
  return writer.total_bytes();
}

bool write_etdump(const Program& program, File file, Trace& trace, const DumpSink& sink,
                  const DumpFacts& more) {
  const uint64_t began = trace.now();
  Facts facts;
  const File unsigned_file = without_signature(file);  // signing does not make it another program
  describe(facts, trace, fnv1a(unsigned_file.data, unsigned_file.bytes), more);
  DumpWriter writer(program, trace, &sink);
  writer.describe_with(facts);
  return writer.write(began);
}

}  // namespace deuteron
