# Our files in the stock ExecuTorch runtime (headers and libraries of the PyPI package, build/venv made by ./dev).
file(GLOB STOCK_PACKAGE ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/executorch)
if(STOCK_PACKAGE AND NOT DEUTERON_SANITIZE)
  add_executable(stock_runner tests/stock/stock_runner.cpp tests/stock/stock_kernels.cpp)
  set_target_properties(stock_runner PROPERTIES CXX_STANDARD 17 BUILD_RPATH ${STOCK_PACKAGE}/lib)
  target_include_directories(stock_runner SYSTEM PRIVATE ${STOCK_PACKAGE}/include
                             ${STOCK_PACKAGE}/include/executorch/runtime/core/portable_type/c10)
  target_compile_definitions(stock_runner PRIVATE C10_USING_CUSTOM_GENERATED_MACROS)
  target_link_libraries(stock_runner PRIVATE deuteron_runtime ${STOCK_PACKAGE}/lib/libexecutorch.so)
  add_test(NAME stock.runtime COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/check.py
           $<TARGET_FILE:deuteron> $<TARGET_FILE:stock_runner> ${PROJECT_SOURCE_DIR}/../shared)
  add_test(NAME op_cases COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/op_cases.py $<TARGET_FILE:deuteron> ${PROJECT_SOURCE_DIR}/../shared --boards)
  add_test(NAME networks COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/networks.py $<TARGET_FILE:deuteron>)
  set_tests_properties(networks PROPERTIES LABELS release TIMEOUT 1200)
  add_test(NAME sizes COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/sizes.py $<TARGET_FILE:deuteron> ${PROJECT_SOURCE_DIR}/../shared)
  set_tests_properties(sizes PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  set_tests_properties(op_cases PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  set_tests_properties(stock.runtime PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
endif()
