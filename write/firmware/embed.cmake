# SPDX-License-Identifier: Apache-2.0
# Puts the runtime's sources into the program (write/firmware/embedded.h), so that `deuteron firmware` needs no checkout. Included by the root CMakeLists.txt
# after boards/boards.cmake.
file(GLOB_RECURSE EMBEDDED_KERNELS CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} kernels/*.h kernels/*.inc kernels/*.S kernels/*.cpp)
list(FILTER EMBEDDED_KERNELS EXCLUDE REGEX "_host\\.cpp$")
file(GLOB EMBEDDED CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} runtime/*.h runtime/*.cpp runtime/ports/*.h runtime/ports/*.cpp runtime/ports/*.ld
     runtime/ports/*.cmake runtime/ports/*/*.h runtime/ports/*/*.cpp runtime/ports/*/frames.cmake runtime/executorch/*.h runtime/executorch/*.cpp boards/*/map.h boards/*/memory.ld boards/*/port.cpp boards/*/build.cmake
     npu/*.cpp npu/neutron/delegate/*.h npu/neutron/delegate/*.cpp npu/neutron/machine/*.h npu/neutron/machine/*.cpp
     npu/neutron/machine/kinds.inc npu/neutron/kernels/*/*.h npu/neutron/kernels/*/check.cpp npu/neutron/kernels/*/kernel.cpp
     write/firmware/project/* write/firmware/mlperf_tiny/* write/firmware/c_npu/* write/firmware/c_call/* LICENSE)
list(PREPEND EMBEDDED ${EMBEDDED_KERNELS})
list(FILTER EMBEDDED EXCLUDE REGEX "(_test\\.[^/]*|/test_[^/]*|/reference\\.h)$")
set(table "")
set(text "#include \"write/firmware/embedded.h\"\n")
set(index 0)
foreach(path IN LISTS EMBEDDED)
  string(APPEND text "__asm__(\".section .rodata\\n.global embedded_${index}, embedded_${index}_end\\nembedded_${index}:\\n\"
        \".incbin \\\"${PROJECT_SOURCE_DIR}/${path}\\\"\\nembedded_${index}_end:\\n.byte 0\\n.previous\\n\");
extern const char embedded_${index}[], embedded_${index}_end[];\n")
  string(APPEND table "  {\"${path}\", embedded_${index}, embedded_${index}_end},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(APPEND text "const struct deuteron_embedded_file deuteron_runtime_files[] = {\n${table}};\nconst int deuteron_runtime_file_count = ${index};\n")
set(EMBEDDED_C ${PROJECT_BINARY_DIR}/generated/firmware_files.c)
file(CONFIGURE OUTPUT ${EMBEDDED_C} CONTENT "${text}" @ONLY)
list(TRANSFORM EMBEDDED PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE embedded_paths)
set_source_files_properties(${EMBEDDED_C} PROPERTIES OBJECT_DEPENDS "${embedded_paths}")
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/runtime.objects CONTENT "$<JOIN:$<FILTER:$<TARGET_OBJECTS:deuteron_runtime>,EXCLUDE,[.][gp]ch$>,\n>\n")
set(KERNEL_SOURCES_C ${PROJECT_BINARY_DIR}/generated/kernel_sources.c)
add_custom_command(OUTPUT ${KERNEL_SOURCES_C}
  COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJECTS=${PROJECT_BINARY_DIR}/runtime.objects -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
          -DOUT=${KERNEL_SOURCES_C} -P ${PROJECT_SOURCE_DIR}/write/firmware/kernel_sources.cmake
  DEPENDS $<TARGET_OBJECTS:deuteron_runtime> write/firmware/kernel_sources.cmake COMMENT "the sources of the kernels" VERBATIM)
# By the compiler itself: a compiler cache may not see that a file behind .incbin has changed.
add_library(embedded_files OBJECT ${EMBEDDED_C})
set_target_properties(embedded_files PROPERTIES C_COMPILER_LAUNCHER "" POSITION_INDEPENDENT_CODE ON)
target_include_directories(embedded_files PRIVATE ${PROJECT_SOURCE_DIR})
add_library(deuteron_firmware_files STATIC $<TARGET_OBJECTS:embedded_files> ${KERNEL_SOURCES_C})
target_link_libraries(deuteron_firmware_files PRIVATE deuteron_options deuteron_runtime)
