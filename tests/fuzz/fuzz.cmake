# SPDX-License-Identifier: Apache-2.0
# The fuzz targets: tests/fuzz/NAME_fuzz.cpp is a function of bytes, tests/fuzz/corpus/NAME holds the inputs that are kept (docs/fuzzing.md).
# With the preset `fuzz` (clang) each is a libFuzzer program: `ninja -C build/fuzz fuzz_NAME`. Without it all are one program, fuzz_replay,
# which runs the kept inputs and a fixed number of changed ones.
#
# name, longest input in bytes, memory in MB, schema whose fields are changed, library, and how many changed inputs `./dev test` runs
set(FUZZ_TARGETS
  "pte           65536 2048 program deuteron_runtime 20000"
  "pt2          262144 2048 -       deuteron_core       400"
  "tflite        65536 2048 tflite  deuteron_core    10000"
  "onnx          65536 2048 -       deuteron_core     5000"
  "text           4096 2048 -       deuteron_core     5000"
  "neutron        4096 2048 -       neutron_model    20000"
  "neutron_ir    65536 4096 tflite  deuteron_core     5000"
  "console_dump  16384 2048 -       deuteron_core     5000"
  "etdump        65536 2048 etdump  deuteron_core      500"
  "etrecord      65536 2048 -       deuteron_core      1000"
  "npy            4096 2048 -       deuteron_core    20000"
  "npz            8192 2048 -       deuteron_core     5000"
  "image         16384 2048 -       deuteron_core     5000"
  "target         8192 2048 -       deuteron_core     3000"
  "selection      4096 2048 -       deuteron_core     5000"
  "command_line   1024 2048 -       deuteron_core       300"
  "compile        4096 4096 -       deuteron_core      200"
  "operators       512 4096 -       deuteron_core      200"
  "networks       2048 4096 -       deuteron_core        3")
set(FUZZ_CORPORA ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus)
set(command_line_SOURCES cli/command_line.cpp cli/help.cpp cli/options.cpp cli/progress_line.cpp cli/verb.cpp)
set(networks_SOURCES tests/fuzz/same_bits.cpp)
# More inputs, where they are.
file(GLOB pte_MORE ${PROJECT_SOURCE_DIR}/../shared/fixtures/stock/ops)
set(etdump_MORE ${PROJECT_SOURCE_DIR}/tests/traces)  # traces and records: each target refuses the other's
set(etrecord_MORE ${etdump_MORE})

# The schemas of flatbuffers as data, for tests/fuzz/change_field.cpp.
foreach(schema write/pte/program base/tflite/tflite explain/traces/etdump)
  cmake_path(GET schema FILENAME name)
  set(${name}_BFBS ${PROJECT_BINARY_DIR}/generated/${name}.bfbs)
  add_custom_command(OUTPUT ${${name}_BFBS}
    COMMAND ${FLATC} --binary --schema -o ${PROJECT_BINARY_DIR}/generated ${PROJECT_SOURCE_DIR}/${schema}.fbs
    DEPENDS ${schema}.fbs VERBATIM)
  list(APPEND FUZZ_SCHEMAS ${${name}_BFBS})
endforeach()
add_library(fuzz_change OBJECT EXCLUDE_FROM_ALL tests/fuzz/change_field.cpp ${FUZZ_SCHEMAS} ${PROGRAM_FBS_H} ${TFLITE_FBS_H} ${ETDUMP_FBS_H})
target_link_libraries(fuzz_change PUBLIC deuteron_options)
target_compile_definitions(fuzz_change PRIVATE DEUTERON_SCHEMAS="${PROJECT_BINARY_DIR}/generated")

# What writes first inputs that are not kept as files: NAME_seeds FOLDER FILE... (tests/stock/stock.cmake has one of them too.)
function(deuteron_seeds name library)
  if(NOT TARGET ${name}_seeds)
    add_executable(${name}_seeds EXCLUDE_FROM_ALL tests/fuzz/${name}_seeds.cpp)
    target_link_libraries(${name}_seeds PRIVATE ${library})
  endif()
endfunction()
deuteron_seeds(pte deuteron_runtime)
deuteron_seeds(neutron neutron_model)
foreach(name tflite onnx neutron_ir console_dump)
  deuteron_seeds(${name} deuteron_core)
endforeach()

if(DEUTERON_FUZZ)
  set(DEUTERON_FUZZ_SECONDS 60 CACHE STRING "how long each fuzz target runs")
  target_compile_options(deuteron_options INTERFACE -Wno-error)  # gcc's warnings are those that the project keeps to
  set(profiled -fprofile-instr-generate -fcoverage-mapping)
  foreach(library deuteron_runtime deuteron_core deuteron_plain neutron_model)
    target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link ${profiled})
    target_link_options(${library} PUBLIC -fprofile-instr-generate)
  endforeach()
  set_source_files_properties(${PROJECT_BINARY_DIR}/units/core/base_0.cpp base/check.cpp PROPERTIES COMPILE_DEFINITIONS DEUTERON_FUZZ)
  # clang 14 cannot map these units ("File exit not handled before popRegions"); they read nothing that comes from outside.
  set_source_files_properties(${PROJECT_BINARY_DIR}/units/core/rewrite_0.cpp ${PROJECT_BINARY_DIR}/units/operators/ops_batch_norm_0.cpp
                              PROPERTIES COMPILE_OPTIONS -fno-coverage-mapping)
  find_program(DEUTERON_SEEDS_PYTHON python NAMES python3 HINTS ${PROJECT_SOURCE_DIR}/build/onnx_venv/bin)
  add_custom_target(fuzz_seeds COMMAND ${DEUTERON_SEEDS_PYTHON} ${PROJECT_SOURCE_DIR}/tests/fuzz/seeds.py ${PROJECT_BINARY_DIR}/seeds)
  foreach(row ${FUZZ_TARGETS})
    separate_arguments(row UNIX_COMMAND "${row}")
    list(POP_FRONT row name max_len rss_limit_mb schema library)
    add_executable(${name}_fuzz tests/fuzz/${name}_fuzz.cpp ${${name}_SOURCES})
    target_link_libraries(${name}_fuzz PRIVATE ${library} $<$<STREQUAL:${name},command_line>:CLI11::CLI11>)
    target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer ${profiled})
    target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
    if(NOT schema STREQUAL -)
      target_sources(${name}_fuzz PRIVATE tests/fuzz/field_mutator.cpp)
      target_compile_definitions(${name}_fuzz PRIVATE DEUTERON_SCHEMA="${schema}")
      target_link_libraries(${name}_fuzz PRIVATE fuzz_change flatbuffers)
    endif()
    set(found ${PROJECT_BINARY_DIR}/corpus/${name})  # grows from run to run
    set(first ${PROJECT_BINARY_DIR}/seeds/${name})
    set(seeds)
    if(TARGET ${name}_seeds)
      set(seeds COMMAND ${name}_seeds ${found} ${${name}_FILES})
    endif()
    add_custom_target(fuzz_${name}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${found} ${first}
      ${seeds}
      COMMAND ${CMAKE_COMMAND} -E env LLVM_PROFILE_FILE=${PROJECT_BINARY_DIR}/coverage/${name}.profraw
              $<TARGET_FILE:${name}_fuzz> -max_len=${max_len} -max_total_time=${DEUTERON_FUZZ_SECONDS} -timeout=20
              -rss_limit_mb=${rss_limit_mb} -artifact_prefix=${PROJECT_BINARY_DIR}/${name}- -print_final_stats=1
              ${found} ${first} ${FUZZ_CORPORA}/${name} ${${name}_MORE} >${PROJECT_BINARY_DIR}/corpus/${name}.log 2>&1
      DEPENDS ${name}_fuzz fuzz_seeds)
    # The smallest set of inputs with the same coverage, in place of those that are kept.
    add_custom_target(keep_${name}
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${PROJECT_BINARY_DIR}/kept/${name}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/kept/${name}
      COMMAND ${name}_fuzz -merge=1 -max_len=${max_len} ${PROJECT_BINARY_DIR}/kept/${name} ${FUZZ_CORPORA}/${name} ${found}
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${FUZZ_CORPORA}/${name}
      COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_BINARY_DIR}/kept/${name} ${FUZZ_CORPORA}/${name}
      VERBATIM)
    list(APPEND all_programs ${name}_fuzz)
    list(APPEND all_fuzz fuzz_${name})
    list(APPEND all_keep keep_${name})
  endforeach()
  add_custom_target(fuzzers DEPENDS ${all_programs})
  add_custom_target(fuzz_all DEPENDS ${all_fuzz})  # as many at a time as ninja has jobs
  add_custom_target(keep_all DEPENDS ${all_keep})
else()
  set(targets "")
  foreach(row ${FUZZ_TARGETS})
    separate_arguments(row UNIX_COMMAND "${row}")
    list(POP_FRONT row name max_len rss_limit_mb schema library changed)
    set_source_files_properties(tests/fuzz/${name}_fuzz.cpp PROPERTIES COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=fuzz_${name})
    string(APPEND targets "DEUTERON_FUZZ_TARGET(${name}, ${max_len}, \"${schema}\", ${changed})\n")
    list(APPEND sources tests/fuzz/${name}_fuzz.cpp)
    list(APPEND names ${name})
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/fuzz_targets.inc CONTENT "${targets}")
  add_executable(fuzz_replay tests/fuzz/replay.cpp ${sources} ${command_line_SOURCES} ${networks_SOURCES})
  target_link_libraries(fuzz_replay PRIVATE deuteron_core fuzz_change CLI11::CLI11 flatbuffers)
  target_compile_options(fuzz_replay PRIVATE ${TEST_OPTIMIZATION})
  if(DEUTERON_SANITIZE)
    foreach(name ${names})
      add_test(NAME fuzz.${name} COMMAND fuzz_replay ${FUZZ_CORPORA} --change 1 ${name})
      set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 600)
    endforeach()
  else()
    set_target_properties(fuzz_replay PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()
include(tests/fuzz/networks.cmake OPTIONAL)
