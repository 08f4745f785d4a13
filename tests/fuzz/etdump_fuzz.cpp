// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace, and what lies behind it as the record of its program: read, attributed,
// printed in every form, compared.
#include <cstring>

#include "base/check.h"
#include "explain/inspect/perfetto.h"
#include "explain/inspect/tables.h"
#include "explain/traces/read_etrecord.h"

using namespace deuteron;

static std::optional<SourceMap> record_behind(std::span<const std::byte> bytes) {
  uint32_t claimed;
  std::memcpy(&claimed, bytes.data(), sizeof claimed);  // the reader has compared it
  Diagnostics refused;
  return read_etrecord(bytes.subspan(size_t{claimed} + sizeof claimed), "fuzz", refused);
}

static void print(const Profile& profile, const SourceMap* map) {
  profile_text(profile, 5);
  profile_csv(profile);
  (void)profile_json(profile);
  perfetto_json(profile, map);
}

static void compare(const Profile& before, const Profile& after) {
  const Comparison comparison = compare_profiles(before, after);
  comparison_text(comparison, after, 5);
  (void)comparison_json(comparison);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  Diagnostics diagnostics;
  const auto dump = read_etdump(bytes, "fuzz", diagnostics);
  DEUTERON_CHECK(dump.has_value() != diagnostics.has_errors());
  if (!dump) return 0;
  const auto profile = attribute(*dump, nullptr, "fuzz", diagnostics);
  DEUTERON_CHECK(profile);
  print(*profile, nullptr);
  compare(*profile, *profile);
  const std::optional<SourceMap> map = record_behind(bytes);
  if (!map) return 0;
  Diagnostics of_map;
  const auto mapped = attribute(*dump, &*map, "fuzz", of_map);
  DEUTERON_CHECK(mapped.has_value() != of_map.has_errors());
  if (!mapped) return 0;
  print(*mapped, &*map);
  compare(*profile, *mapped);
  return 0;
}
