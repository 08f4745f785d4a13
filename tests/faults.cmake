# What the system may refuse, at any point (tests/faults.py). Sanitizers have an operator new of their own.
if(NOT DEUTERON_FUZZ AND NOT DEUTERON_SANITIZE)
  add_library(faults MODULE EXCLUDE_FROM_ALL tests/faults.c)
  target_compile_options(faults PRIVATE -fexceptions)
  target_link_libraries(faults PRIVATE ${CMAKE_DL_LIBS})
  add_test(NAME faults COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/faults.py $<TARGET_FILE:deuteron> $<TARGET_FILE:faults> --jobs 1 --seed 1)
  set_tests_properties(faults PROPERTIES LABELS release TIMEOUT 600)
endif()
