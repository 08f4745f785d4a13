// What libzip says of an archive that it cannot read.
#pragma once
#include <zip.h>

#include <new>
#include <string>

namespace deuteron {

// Memory that is missing is no fault of the archive.
inline std::string zip_fault(zip_error_t* error) {
  if (zip_error_code_zip(error) == ZIP_ER_MEMORY) throw std::bad_alloc();
  return zip_error_strerror(error);
}

}  // namespace deuteron
