# SPDX-License-Identifier: Apache-2.0
# What the system may refuse, at any point (tests/faults.py). Sanitizers have an operator new of their own.
if(NOT DEUTERON_FUZZ AND NOT DEUTERON_SANITIZE)
  add_library(faults MODULE EXCLUDE_FROM_ALL tests/faults.c)
  target_compile_options(faults PRIVATE -fexceptions)
  target_link_libraries(faults PRIVATE ${CMAKE_DL_LIBS})
  add_test(NAME faults COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/faults.py $<TARGET_FILE:deuteron> $<TARGET_FILE:faults> --jobs 1 --seed 1)
  set_tests_properties(faults PROPERTIES LABELS release TIMEOUT 600)
  # The long run, by hand: ninja -C build kills
  add_custom_target(kills COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/faults.py $<TARGET_FILE:deuteron> $<TARGET_FILE:faults>
    --kills 1000 --jobs 2 --seed 1 DEPENDS deuteron faults USES_TERMINAL VERBATIM)
endif()
