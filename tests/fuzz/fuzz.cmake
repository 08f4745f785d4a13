# The libFuzzer targets (clang; preset `fuzz`): `./dev fuzz SECONDS` runs fuzz_pte, fuzz_pt2, fuzz_text and fuzz_neutron one after the other.
set(DEUTERON_FUZZ_SECONDS 60 CACHE STRING "how long each fuzz target runs")
if(DEUTERON_FUZZ)
  if(NOT TARGET pte_seeds)
    add_executable(pte_seeds tests/fuzz/pte_seeds.cpp)
    target_link_libraries(pte_seeds PRIVATE deuteron_runtime)
  endif()
  add_executable(pte_fuzz tests/fuzz/pte_fuzz.cpp)
  target_link_libraries(pte_fuzz PRIVATE deuteron_runtime)
  target_compile_options(deuteron_runtime PRIVATE -fsanitize=fuzzer-no-link)
  target_compile_options(pte_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(pte_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(pte_seeds PRIVATE -fsanitize=address,undefined)
  file(GLOB STOCK_OPS ${PROJECT_SOURCE_DIR}/../shared/fixtures/stock/ops)  # more seeds, where they are
  add_custom_target(fuzz_pte
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/pte_corpus
    COMMAND pte_seeds ${PROJECT_BINARY_DIR}/pte_corpus
    COMMAND pte_fuzz -max_len=65536 -max_total_time=${DEUTERON_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=2048 ${PROJECT_BINARY_DIR}/pte_corpus ${STOCK_OPS}
    DEPENDS pte_seeds pte_fuzz USES_TERMINAL VERBATIM)
endif()

# The text form: `ninja -C build/fuzz fuzz_text`.
if(DEUTERON_FUZZ)
  add_executable(text_fuzz tests/fuzz/text_fuzz.cpp)
  target_link_libraries(text_fuzz PRIVATE deuteron_core)
  target_compile_options(deuteron_core PRIVATE -fsanitize=fuzzer-no-link)
  target_compile_options(text_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(text_fuzz PRIVATE -fsanitize=fuzzer)
  add_custom_target(fuzz_text
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/text_corpus
    COMMAND text_fuzz -max_len=4096 -max_total_time=${DEUTERON_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=2048 ${PROJECT_BINARY_DIR}/text_corpus
            ${PROJECT_SOURCE_DIR}/tests/fuzz/text_seeds
    DEPENDS text_fuzz USES_TERMINAL VERBATIM)
endif()

# The .pt2 reader: `ninja -C build/fuzz fuzz_pt2`.
if(DEUTERON_FUZZ)
  add_executable(pt2_seeds tests/fuzz/pt2_seeds.cpp)
  add_executable(pt2_fuzz tests/fuzz/pt2_fuzz.cpp)
  foreach(program pt2_seeds pt2_fuzz)
    target_link_libraries(${program} PRIVATE deuteron_core)
  endforeach()
  target_compile_options(pt2_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(pt2_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(pt2_seeds PRIVATE -fsanitize=address,undefined)
  add_custom_target(fuzz_pt2
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/pt2_corpus
    COMMAND pt2_seeds ${PROJECT_BINARY_DIR}/pt2_corpus ${PROJECT_SOURCE_DIR}/models/digits_cnn/float.pt2 ${PROJECT_SOURCE_DIR}/models/digits_cnn/qat_qdq.pt2
    COMMAND pt2_fuzz -max_len=262144 -max_total_time=${DEUTERON_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=2048 ${PROJECT_BINARY_DIR}/pt2_corpus
    DEPENDS pt2_seeds pt2_fuzz USES_TERMINAL VERBATIM)
endif()

# The microcode of the Neutron machine model: `ninja -C build/fuzz fuzz_neutron`.
if(DEUTERON_FUZZ)
  add_executable(neutron_seeds tests/fuzz/neutron_seeds.cpp)
  add_executable(neutron_fuzz tests/fuzz/neutron_fuzz.cpp)
  foreach(program neutron_seeds neutron_fuzz)
    target_link_libraries(${program} PRIVATE neutron_model)
  endforeach()
  target_compile_options(neutron_model PRIVATE -fsanitize=fuzzer-no-link)
  target_compile_options(neutron_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(neutron_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(neutron_seeds PRIVATE -fsanitize=address,undefined)
  add_custom_target(fuzz_neutron
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/neutron_corpus
    COMMAND neutron_seeds ${PROJECT_BINARY_DIR}/neutron_corpus
    COMMAND neutron_fuzz -max_len=4096 -max_total_time=${DEUTERON_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=2048 ${PROJECT_BINARY_DIR}/neutron_corpus
    DEPENDS neutron_seeds neutron_fuzz USES_TERMINAL VERBATIM)
endif()

# The Neutron converter: `ninja -C build/fuzz fuzz_neutron_ir`.
if(DEUTERON_FUZZ)
  add_executable(neutron_ir_seeds tests/fuzz/neutron_ir_seeds.cpp)
  add_executable(neutron_ir_fuzz tests/fuzz/neutron_ir_fuzz.cpp)
  foreach(program neutron_ir_seeds neutron_ir_fuzz)
    target_link_libraries(${program} PRIVATE deuteron_core)
  endforeach()
  target_compile_options(neutron_ir_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(neutron_ir_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(neutron_ir_seeds PRIVATE -fsanitize=address,undefined)
  add_custom_target(fuzz_neutron_ir
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/neutron_ir_corpus
    COMMAND neutron_ir_seeds ${PROJECT_BINARY_DIR}/neutron_ir_corpus
    COMMAND neutron_ir_fuzz -max_len=65536 -max_total_time=${DEUTERON_FUZZ_SECONDS} -timeout=20 -rss_limit_mb=4096 ${PROJECT_BINARY_DIR}/neutron_ir_corpus
    DEPENDS neutron_ir_seeds neutron_ir_fuzz USES_TERMINAL VERBATIM)
endif()
