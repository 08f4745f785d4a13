// SPDX-License-Identifier: Apache-2.0
// Zip archives in memory, and what libzip says of one that it cannot read.
#pragma once
#include <zip.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>

namespace deuteron {

// Memory that is missing is no fault of the archive.
inline std::string zip_fault(zip_error_t* error) {
  if (zip_error_code_zip(error) == ZIP_ER_MEMORY) throw std::bad_alloc();
  return zip_error_strerror(error);
}

struct CloseZip {
  void operator()(zip_t* z) const { zip_discard(z); }
};
using Zip = std::unique_ptr<zip_t, CloseZip>;

// The archive's bytes stay the caller's. `flags` beside ZIP_RDONLY. Null: `fault` says why.
inline Zip open_zip(std::span<const std::byte> bytes, zip_flags_t flags, std::string& fault) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  Zip opened(source ? zip_open_from_source(source, static_cast<int>(ZIP_RDONLY | flags), &error)
                    : nullptr);
  if (!opened) {
    if (source) zip_source_free(source);
    fault = zip_fault(&error);
  }
  zip_error_fini(&error);
  return opened;
}

}  // namespace deuteron
