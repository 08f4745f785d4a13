# SPDX-License-Identifier: Apache-2.0
# Random networks, compiled in every way that must not change a bit: `networks` is run by tests/networks.py. Without sanitizers, which take
# ten times as long: the fuzz target of the same name has them.
if(NOT DEUTERON_FUZZ)
  add_executable(networks EXCLUDE_FROM_ALL tests/fuzz/networks.cpp tests/fuzz/same_bits.cpp)
  target_link_libraries(networks PRIVATE deuteron_boards)
  if(NOT DEUTERON_SANITIZE)
    add_test(NAME random_networks COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/networks.py $<TARGET_FILE:networks> --boards 60 --jobs 1)
    add_test(NAME fuzz_on_boards COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/fuzz/on_boards.py $<TARGET_FILE:deuteron> --count 200
             ${FUZZ_CORPORA}/on_boards)
    set_tests_properties(random_networks fuzz_on_boards PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  endif()
endif()
