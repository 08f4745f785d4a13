# SPDX-License-Identifier: Apache-2.0
# Writes the C table of write/firmware/embedded.h: which source defines a constant of the runtime, a kernel above all. The runtime's objects say
# it, so no list can be stale and no way to write a definition is missed. `nm` prints lines such as
#   .../deuteron_runtime.dir/kernels/add/bind.cpp.o:0000 R _ZN8deuteron13kQuantizedAddE
# cmake -DNM=nm -DOBJECTS=runtime.objects -DSOURCE_DIR=... -DOUT=kernel_sources.c -P kernel_sources.cmake
execute_process(COMMAND ${NM} -A --defined-only --extern-only @${OBJECTS} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+ [BDR] _ZN8deuteron[0-9]+k[A-Z][A-Za-z0-9]*E\n" lines "${symbols}")
set(declared "")
set(table "")
set(index 0)
foreach(line IN LISTS lines)
  string(REGEX MATCH "deuteron_runtime\\.dir/(\\./)?(.*)\\.o:.* (_ZN8deuteron[0-9]+(k.*)E)\n$" match "${line}")
  if(NOT match OR NOT EXISTS ${SOURCE_DIR}/${CMAKE_MATCH_2})
    message(FATAL_ERROR "no source has the name of the object in `${line}`: a firmware project would miss what it defines")
  endif()
  string(APPEND declared "extern const char constant_${index}[] __asm__(\"${CMAKE_MATCH_3}\");\n")
  string(APPEND table "  {constant_${index}, \"${CMAKE_MATCH_4}\", \"${CMAKE_MATCH_2}\"},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(CONFIGURE OUTPUT ${OUT} CONTENT "/* Made by write/firmware/kernel_sources.cmake. */
#include \"write/firmware/embedded.h\"
${declared}const struct deuteron_constant deuteron_constants[] = {
${table}};
const int deuteron_constant_count = ${index};
" @ONLY)
