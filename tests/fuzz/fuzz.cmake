# The libFuzzer targets (clang; preset `fuzz`): `./dev fuzz SECONDS` runs them one after the other; `ninja -C build/fuzz fuzz_NAME` one of them.
set(DEUTERON_FUZZ_SECONDS 60 CACHE STRING "how long each fuzz target runs")
if(NOT DEUTERON_FUZZ)
  return()
endif()

# fuzz_NAME: NAME_seeds writes the first inputs (from the files SEEDS), NAME_fuzz changes them, and those in the folders CORPORA.
function(deuteron_fuzzer name library max_len rss_limit_mb)
  cmake_parse_arguments(PARSE_ARGV 4 F "" "" "SEEDS;CORPORA")
  foreach(program ${name}_seeds ${name}_fuzz)
    if(NOT TARGET ${program})
      add_executable(${program} tests/fuzz/${program}.cpp)
      target_link_libraries(${program} PRIVATE ${library})
    endif()
  endforeach()
  target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_seeds PRIVATE -fsanitize=address,undefined)
  set(corpus ${PROJECT_BINARY_DIR}/${name}_corpus)
  add_custom_target(fuzz_${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${corpus}
    COMMAND ${name}_seeds ${corpus} ${F_SEEDS}
    COMMAND ${name}_fuzz -max_len=${max_len} -max_total_time=${DEUTERON_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=${rss_limit_mb} ${corpus} ${F_CORPORA}
    DEPENDS ${name}_seeds ${name}_fuzz USES_TERMINAL VERBATIM)
endfunction()

foreach(library deuteron_runtime deuteron_core neutron_model)
  target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()

# The program loader.
file(GLOB STOCK_OPS ${PROJECT_SOURCE_DIR}/../shared/fixtures/stock/ops)  # more seeds, where they are
deuteron_fuzzer(pte deuteron_runtime 65536 2048 CORPORA ${STOCK_OPS})
# The .pt2 reader.
set(DIGITS ${PROJECT_SOURCE_DIR}/models/digits_cnn)
deuteron_fuzzer(pt2 deuteron_core 262144 2048 SEEDS ${DIGITS}/float.pt2 ${DIGITS}/qat_qdq.pt2)
# The .tflite reader.
deuteron_fuzzer(tflite deuteron_core 65536 2048)
# The microcode of the Neutron machine model.
deuteron_fuzzer(neutron neutron_model 4096 2048)
# The Neutron converter.
deuteron_fuzzer(neutron_ir deuteron_core 65536 4096)

# What has its seeds as files.
function(deuteron_fuzzer_of_files name max_len seeds)
  add_executable(${name}_fuzz tests/fuzz/${name}_fuzz.cpp)
  target_link_libraries(${name}_fuzz PRIVATE deuteron_core)
  target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  set(corpus ${PROJECT_BINARY_DIR}/${name}_corpus)
  add_custom_target(fuzz_${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${corpus}
    COMMAND ${name}_fuzz -max_len=${max_len} -max_total_time=${DEUTERON_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=2048 ${corpus} ${seeds}
    DEPENDS ${name}_fuzz USES_TERMINAL VERBATIM)
endfunction()
deuteron_fuzzer_of_files(text 4096 ${PROJECT_SOURCE_DIR}/tests/fuzz/text_seeds)
# Traces and records: each fuzzer refuses the other's seeds, which does no harm.
deuteron_fuzzer_of_files(etdump 65536 ${PROJECT_SOURCE_DIR}/tests/traces)
deuteron_fuzzer_of_files(etrecord 65536 ${PROJECT_SOURCE_DIR}/tests/traces)
