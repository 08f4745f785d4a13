// SPDX-License-Identifier: Apache-2.0
#include "explain/traces/read_etdump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "explain/traces/etdump_generated.h"

namespace deuteron {
namespace {

namespace wire = etdump_wire;

constexpr size_t kPrefixBytes = 4, kSmallest = 20;
// A file may refer to one table many times, so that its events outnumber its bytes; no trace that
// we know of has a thousandth of this.
constexpr flatbuffers::uoffset_t kMaxTables = 10'000'000, kMaxDepth = 8;
constexpr u64 kWrap = u64{1} << 32;

std::string text_of(const flatbuffers::String* s) { return s ? s->str() : std::string(); }

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

// What our tracer says about the whole dump: lines of text in the metadata of Program::load_method
// (runtime/etdump.h). Of other tracers the metadata do not begin so, and keys that are not known
// are left alone.
void read_facts(const std::vector<u8>& metadata, Dump& trace) {
  std::string_view text(reinterpret_cast<const char*>(metadata.data()), metadata.size());
  if (!text.starts_with("deuteron 1\n")) return;
  trace.npu = {"cycles", 0, true};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.size() < 2) continue;
    const auto number = [&](size_t i) {
      return i < words.size() ? std::strtoull(words[i].c_str(), nullptr, 10) : 0;
    };
    if (words[0] == "program") trace.program_id = words[1];
    else if (words[0] == "clock") trace.cpu = {words[1], static_cast<double>(number(2)), true};
    else if (words[0] == "npu_hz") trace.npu.per_second = static_cast<double>(number(1));
    else if (words[0] == "dropped") trace.dropped = number(1);
    else if (words[0] == "stood_still") trace.stood_still = number(1) != 0;
  }
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& name, Diagnostics& diagnostics)
      : bytes_(bytes), name_(name), diagnostics_(diagnostics) {}

  std::optional<Dump> read() {
    if (bytes_.size() < kSmallest)
      return refuse("is shorter than any trace", bytes_.size(), kSmallest, "etdump.truncated");
    if (!is_etdump(bytes_)) {
      diagnostics_.error(name_, "is not an ETDump trace: its identifier is not ED00",
                         "etdump.magic",
                         "give a file that `deuteron profile` or an event tracer has written");
      return std::nullopt;
    }
    flatbuffers::uoffset_t claimed = 0;
    std::memcpy(&claimed, bytes_.data(), sizeof claimed);
    if (claimed > bytes_.size() - kPrefixBytes)
      return refuse("is cut off: its first number claims more bytes than there are", bytes_.size(),
                    u64{claimed} + kPrefixBytes, "etdump.truncated");
    // What lies behind is not the trace's: a dump brought out of a larger buffer.
    const std::vector<std::byte> copy(
        bytes_.begin(),
        bytes_.begin() +
            static_cast<std::ptrdiff_t>(claimed + kPrefixBytes));  // aligned for 8-byte numbers
    const auto* data = reinterpret_cast<const uint8_t*>(copy.data());
    flatbuffers::Verifier verifier(data, copy.size(), kMaxDepth, kMaxTables);
    if (!verifier.VerifySizePrefixedBuffer<wire::Dump>("ED00")) {
      diagnostics_.error(
          name_,
          "is damaged: something in it lies outside the file, or it has more events than can be",
          "etdump.damaged",
          "write the trace again; a buffer that was too small is not the cause: dropped events are "
          "counted in the file");
      return std::nullopt;
    }
    const wire::Dump& dump = *flatbuffers::GetSizePrefixedRoot<wire::Dump>(data);
    Dump trace;
    if (dump.runs())
      for (const wire::Run* run : *dump.runs()) add_run(*run, trace);
    if (events_ == 0) {
      diagnostics_.error(name_, "has no timed events", "etdump.empty",
                         allocations_ > 0 ? "it was written with memory events only"
                                          : "run the program with the event tracer on");
      return std::nullopt;
    }
    warn_about_clock(trace);
    if (failed_) return std::nullopt;
    return trace;
  }

 private:
  std::optional<Dump> refuse(const char* what, u64 measured, u64 limit, const char* rule) {
    diagnostics_.add({Severity::error, name_, what, fmt::format("{} bytes", measured),
                      fmt::format("{} bytes", limit), rule,
                      "the file is incomplete; copy it again"});
    return std::nullopt;
  }

  void add_run(const wire::Run& from, Dump& trace) {
    DumpRun run;
    run.name = text_of(from.name());
    if (from.events())
      for (const wire::Event* event : *from.events()) {
        if (event->allocation()) ++allocations_;
        if (event->profile()) add_event(*event->profile(), run, trace);
      }
    if (!run.events.empty()) trace.runs.push_back(std::move(run));
  }

  void add_event(const wire::ProfileEvent& from, DumpRun& run, Dump& trace) {
    DumpEvent e;
    e.name = text_of(from.name());
    e.chain = from.chain();
    e.instruction = from.instruction();
    e.delegate_id = from.delegate_id();
    e.delegate_name = text_of(from.delegate_name());
    if (from.metadata()) e.metadata.assign(from.metadata()->begin(), from.metadata()->end());
    e.start = from.start();
    e.end = from.end();
    ++events_;
    if (e.start > e.end) {
      e.wrapped = e.start < kWrap;
      if (e.wrapped) ++wraps_;
      else if (!failed_) {
        failed_ = true;
        diagnostics_.error(
            name_,
            fmt::format("event `{}` ends at tick {} before it starts at {}", label(e), e.end,
                        e.start),
            "etdump.time",
            "a counter of 32 bits may wrap, one of 64 may not; check the port's clock");
      }
    }
    ticks_ += e.start > e.end && !e.wrapped ? 0 : e.ticks();
    if (e.name == "Program::load_method") read_facts(e.metadata, trace);
    run.events.push_back(std::move(e));
  }

  static std::string label(const DumpEvent& e) {
    if (!e.name.empty()) return e.name;
    return e.delegate_name.empty() ? fmt::format("delegate event {}", e.delegate_id)
                                   : e.delegate_name;
  }

  void warn_about_clock(const Dump& trace) {
    if (trace.stood_still || (events_ > 1 && ticks_ == 0))
      diagnostics_.warning(
          name_,
          fmt::format("the clock stood still: {} events took {} ticks together", events_, ticks_),
          "etdump.clock",
          "the port's time source does not count; on a Cortex-M, switch the cycle counter on (DWT "
          "or PMU)");
    if (wraps_ > 0)
      diagnostics_.add(
          {Severity::note,
           name_,
           fmt::format(
               "the 32-bit clock wrapped inside {} event{}; their ticks are counted across it",
               wraps_, wraps_ == 1 ? "" : "s"),
           {},
           {},
           "etdump.wrap",
           ""});
    if (trace.dropped > 0)
      diagnostics_.warning(
          name_,
          fmt::format("{} event{} did not fit into the tracer's buffer; sums are of the others",
                      trace.dropped, trace.dropped == 1 ? "" : "s"),
          "etdump.dropped", "give the tracer a larger buffer");
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  Diagnostics& diagnostics_;
  u64 events_ = 0, allocations_ = 0, wraps_ = 0, ticks_ = 0;
  bool failed_ = false;
};

}  // namespace

bool is_etdump(std::span<const std::byte> bytes) {
  return bytes.size() >= 12 && std::memcmp(bytes.data() + 8, "ED00", 4) == 0;
}

std::optional<Dump> read_etdump(std::span<const std::byte> bytes, const std::string& name,
                                Diagnostics& diagnostics) {
  return Reader(bytes, name, diagnostics).read();
}

}  // namespace deuteron
