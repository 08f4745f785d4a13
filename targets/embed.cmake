# SPDX-License-Identifier: Apache-2.0
# Turns the target files, the table of chips and what calibrates a target into one C++ source, so that the program needs no files beside itself.
# cmake -DOUT=builtin_targets.cpp "-DFILES=a.toml;b.toml" -DCHIPS=chips.txt -DCALIBRATION=calibration.txt -P embed.cmake
set(code "// Made by targets/embed.cmake.\n#include \"targets/builtin.h\"\n\nnamespace deuteron {\nstatic constexpr BuiltinTarget kFiles[] = {\n")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  get_filename_component(name "${file}" NAME)
  string(APPEND code "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
string(APPEND code "};\nstd::span<const BuiltinTarget> builtin_target_files() { return kFiles; }\n")
file(READ "${CHIPS}" text)
string(APPEND code "std::string_view builtin_chips() { return R\"embedded(${text})embedded\"; }\n")
file(READ "${CALIBRATION}" text)
string(APPEND code "std::string_view builtin_calibration() { return R\"embedded(${text})embedded\"; }\n}  // namespace deuteron\n")
file(WRITE "${OUT}" "${code}")
