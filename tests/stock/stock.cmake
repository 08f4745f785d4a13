# SPDX-License-Identifier: Apache-2.0
# Our files in the stock ExecuTorch runtime (headers and libraries of the PyPI package, build/venv made by ./dev).
file(GLOB STOCK_PACKAGE ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/executorch)
if(STOCK_PACKAGE AND NOT DEUTERON_SANITIZE)
  function(stock_runner name)
    add_executable(${name} tests/stock/stock_runner.cpp tests/stock/stock_kernels.cpp ${ARGN})
    set_target_properties(${name} PROPERTIES CXX_STANDARD 17 BUILD_RPATH ${STOCK_PACKAGE}/lib)
    target_compile_definitions(${name} PRIVATE ET_EVENT_TRACER_ENABLED)
    target_link_libraries(${name} PRIVATE deuteron_backend deuteron_runtime ${STOCK_PACKAGE}/lib/libexecutorch.so
                          ${STOCK_PACKAGE}/lib/libexecutorch_etdump.so)
  endfunction()
  stock_runner(stock_runner tests/stock/stock_neutron.cpp)
  # The same with ExecuTorch's own delegate over our driver, from a checkout: cmake --preset release -DEXECUTORCH_CHECKOUT=DIR
  set(EXECUTORCH_CHECKOUT "" CACHE PATH "a checkout of ExecuTorch, for stock_runner_upstream (its backends/nxp/runtime is compiled)")
  if(EXECUTORCH_CHECKOUT)
    set(UPSTREAM_NEUTRON ${EXECUTORCH_CHECKOUT}/backends/nxp/runtime/NeutronBackend.cpp)
    stock_runner(stock_runner_upstream tests/stock/upstream_neutron.cpp ${UPSTREAM_NEUTRON})
    # Its copy callback has another const than its own header in some versions: -fpermissive.
    set_source_files_properties(${UPSTREAM_NEUTRON} PROPERTIES COMPILE_OPTIONS "-w;-fpermissive" COMPILE_DEFINITIONS EXTERNAL_MEM)
    set(UPSTREAM_RUNNER $<TARGET_FILE:stock_runner_upstream>)
  endif()
  # A program with a delegate that needs no compiler (tests/fuzz/pte_seeds.cpp).
  if(NOT TARGET pte_seeds)
    add_executable(pte_seeds tests/fuzz/pte_seeds.cpp)
    target_link_libraries(pte_seeds PRIVATE deuteron_runtime)
  endif()
  add_test(NAME stock.neutron COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/neutron.py
           $<TARGET_FILE:deuteron> $<TARGET_FILE:pte_seeds> ${FIXTURES} $<TARGET_FILE:stock_runner> ${UPSTREAM_RUNNER})
  set_tests_properties(stock.neutron PROPERTIES LABELS release TIMEOUT 300)
  add_test(NAME stock.schemas COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python
           ${PROJECT_SOURCE_DIR}/frontends/pt2/schema/make_schemas.py --check)
  set_tests_properties(stock.schemas PROPERTIES LABELS release TIMEOUT 300)
  add_test(NAME stock.inspector COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/inspector.py
           $<TARGET_FILE:deuteron> ${FIXTURES} ${UPSTREAM_RUNNER})
  set_tests_properties(stock.inspector PROPERTIES LABELS release TIMEOUT 600)
  add_test(NAME tracing COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/tracing.py $<TARGET_FILE:deuteron> ${PROJECT_BINARY_DIR}/boards
           ${FIXTURES})
  set_tests_properties(tracing PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  add_test(NAME stock.runtime COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/check.py
           $<TARGET_FILE:deuteron> $<TARGET_FILE:stock_runner> ${FIXTURES})
  add_test(NAME stock.delegate COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/delegate.py
           $<TARGET_FILE:deuteron> $<TARGET_FILE:stock_runner> ${FIXTURES} ${PROJECT_BINARY_DIR}/python)
  add_test(NAME stock.delegate_flows COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/delegate_flows.py
           $<TARGET_FILE:stock_runner> ${PROJECT_BINARY_DIR}/python $<TARGET_FILE:deuteron>)
  set_tests_properties(stock.delegate stock.delegate_flows PROPERTIES LABELS release TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_test(NAME stock.cortex_m_programs COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/cortex_m_programs.py
           $<TARGET_FILE:deuteron> $<TARGET_FILE:stock_runner> ${PROJECT_BINARY_DIR}/python)
  set_tests_properties(stock.cortex_m_programs PROPERTIES LABELS release TIMEOUT 600)
  add_test(NAME stock.state COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/state.py
           $<TARGET_FILE:deuteron> $<TARGET_FILE:stock_runner>)
  set_tests_properties(stock.state PROPERTIES LABELS release TIMEOUT 600)
  add_test(NAME stream COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/stream.py $<TARGET_FILE:deuteron>)
  set_tests_properties(stream PROPERTIES LABELS release TIMEOUT 600)
  add_test(NAME stock.recorded COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/firmware_kernels.py $<TARGET_FILE:deuteron>
           ${FIXTURES} ${PROJECT_SOURCE_DIR}/tests/stock/recorded.json)
  set_tests_properties(stock.recorded PROPERTIES LABELS release TIMEOUT 3600 SKIP_RETURN_CODE 77)
  add_test(NAME op_cases COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/op_cases.py $<TARGET_FILE:deuteron> ${FIXTURES} --boards)
  if(TARGET neutron_model)
    add_executable(neutron_converter tests/stand_ins/neutron_converter.cpp)
    target_link_libraries(neutron_converter PRIVATE deuteron_core)
    add_test(NAME vendor_converter COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/vendor_converter.py $<TARGET_FILE:deuteron>
             $<TARGET_FILE:neutron_converter> ${FIXTURES})
    add_test(NAME rt700_board COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/rt700_board.py $<TARGET_FILE:deuteron>
             $<TARGET_FILE:neutron_converter> ${FIXTURES} --package ${PROJECT_BINARY_DIR}/python)
    set_tests_properties(vendor_converter rt700_board PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
    add_test(NAME stock.delegate_recipes COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/delegate_recipes.py
             $<TARGET_FILE:deuteron> $<TARGET_FILE:stock_runner> $<TARGET_FILE:neutron_converter> ${FIXTURES} ${PROJECT_BINARY_DIR}/python)
    set_tests_properties(stock.delegate_recipes PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
    add_executable(console_map tests/stand_ins/console_map.cpp)
    target_link_libraries(console_map PRIVATE deuteron_core)
    add_test(NAME stock.console_texts COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/console_texts.py
             $<TARGET_FILE:deuteron> $<TARGET_FILE:neutron_converter> $<TARGET_FILE:console_map> ${FIXTURES})
    set_tests_properties(stock.console_texts PROPERTIES LABELS release TIMEOUT 600 SKIP_RETURN_CODE 77)
    add_executable(neutron_runner tests/stock/neutron_runner.cpp)
    target_link_libraries(neutron_runner PRIVATE deuteron_core)
    add_test(NAME neutron_models COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/neutron_models.py $<TARGET_FILE:neutron_runner>)
    add_test(NAME stock.rounding COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/rounding.py $<TARGET_FILE:neutron_runner>)
    set_tests_properties(stock.rounding PROPERTIES LABELS release TIMEOUT 300)
    set_tests_properties(neutron_models PROPERTIES LABELS release TIMEOUT 1200)
    add_test(NAME neutron_random COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/neutron_random.py
             $<TARGET_FILE:deuteron> $<TARGET_FILE:neutron_runner> --seeds 12)
    set_tests_properties(neutron_random PROPERTIES LABELS release TIMEOUT 1200)
    add_test(NAME neutron_partitions COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/neutron_partitions.py
             $<TARGET_FILE:deuteron> $<TARGET_FILE:neutron_runner> ${FIXTURES})
    set_tests_properties(neutron_partitions PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  endif()
  add_test(NAME neutron_splits COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/neutron_splits.py $<TARGET_FILE:deuteron> ${FIXTURES})
  set_tests_properties(neutron_splits PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  add_test(NAME neutron_borders COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/neutron_borders.py $<TARGET_FILE:deuteron>)
  add_test(NAME neutron_programs COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/neutron_programs.py $<TARGET_FILE:deuteron> ${FIXTURES})
  add_test(NAME neutron_accuracy COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/neutron_accuracy.py $<TARGET_FILE:deuteron> ${PROJECT_SOURCE_DIR}
           ${FIXTURES})
  set_tests_properties(neutron_borders neutron_programs neutron_accuracy PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  add_test(NAME firmware COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/firmware.py $<TARGET_FILE:deuteron> ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  add_test(NAME signed_firmware COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/signed_firmware.py $<TARGET_FILE:deuteron>)
  add_test(NAME rt700_firmware COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/rt700_firmware.py $<TARGET_FILE:deuteron> ${PROJECT_SOURCE_DIR}
           ${PROJECT_BINARY_DIR})
  add_test(NAME board_fit COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/board_fit.py $<TARGET_FILE:deuteron> ${PROJECT_SOURCE_DIR})
  set_tests_properties(firmware signed_firmware rt700_firmware board_fit PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  add_test(NAME neutron_shapes COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/neutron_shapes.py $<TARGET_FILE:deuteron>)
  set_tests_properties(neutron_shapes PROPERTIES LABELS release TIMEOUT 1200)
  add_test(NAME neutron_constraints COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/neutron_constraints.py
           $<TARGET_FILE:deuteron>)
  add_test(NAME neutron_reductions COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/neutron_reductions.py
           $<TARGET_FILE:deuteron>)
  add_test(NAME neutron_ports COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/neutron_ports.py $<TARGET_FILE:deuteron>)
  add_test(NAME neutron_bad_input COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/neutron_bad_input.py $<TARGET_FILE:deuteron>)
  set_tests_properties(neutron_constraints neutron_reductions neutron_ports neutron_bad_input PROPERTIES LABELS release TIMEOUT 1200)
  add_test(NAME tflite_models COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/tflite_import.py $<TARGET_FILE:deuteron>
           ${FIXTURES})
  add_test(NAME tflite_state COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/tflite_state.py $<TARGET_FILE:deuteron>)
  add_test(NAME tflite_micro COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/tflite_files.py $<TARGET_FILE:deuteron>
           $<TARGET_FILE:float_runner> ${PROJECT_SOURCE_DIR}/tests/carried/tflite_micro)
  add_test(NAME tflite_litert COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/litert_files.py $<TARGET_FILE:deuteron>
           $<TARGET_FILE:float_runner> ${PROJECT_SOURCE_DIR}/tests/carried/litert)
  set_tests_properties(tflite_litert tflite_micro tflite_models tflite_state PROPERTIES LABELS release TIMEOUT 1200)
  add_executable(float_runner tests/stock/float_runner.cpp)
  target_link_libraries(float_runner PRIVATE deuteron_core)
  set(ONNX_PYTHON ${PROJECT_SOURCE_DIR}/build/onnx_venv/bin/python)  # made by ./dev; without it the test is left out
  if(NOT EXISTS ${ONNX_PYTHON})
    set(ONNX_PYTHON python3)
  endif()
  add_test(NAME onnx_models COMMAND ${ONNX_PYTHON} ${PROJECT_SOURCE_DIR}/tests/stock/onnx_import.py
           $<TARGET_FILE:deuteron> $<TARGET_FILE:float_runner> ${FIXTURES})
  set_tests_properties(onnx_models PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  set(VIEWERS_PYTHON ${PROJECT_SOURCE_DIR}/build/viewers_venv/bin/python)  # likewise
  if(NOT EXISTS ${VIEWERS_PYTHON})
    set(VIEWERS_PYTHON python3)
  endif()
  add_test(NAME stock.viewers COMMAND ${VIEWERS_PYTHON} ${PROJECT_SOURCE_DIR}/tests/stock/viewers.py $<TARGET_FILE:deuteron>
           ${PROJECT_BINARY_DIR}/python)
  set_tests_properties(stock.viewers PROPERTIES LABELS release TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_test(NAME onnx_kinds COMMAND ${ONNX_PYTHON} ${PROJECT_SOURCE_DIR}/tests/stock/onnx_kinds.py $<TARGET_FILE:deuteron>
           $<TARGET_FILE:float_runner>)
  set_tests_properties(onnx_kinds PROPERTIES LABELS release TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_test(NAME pt2_kinds COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/pt2_kinds.py
           $<TARGET_FILE:deuteron>)
  set_tests_properties(pt2_kinds PROPERTIES LABELS release TIMEOUT 600)
  add_test(NAME torch_operators COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/torch_operators.py
           $<TARGET_FILE:float_runner>)
  set_tests_properties(torch_operators PROPERTIES LABELS release TIMEOUT 1200)
  add_test(NAME networks COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${PROJECT_SOURCE_DIR}/tests/stock/networks.py $<TARGET_FILE:deuteron>)
  set_tests_properties(networks PROPERTIES LABELS release TIMEOUT 1200)
  add_test(NAME compare COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/compare.py $<TARGET_FILE:deuteron> ${FIXTURES})
  set_tests_properties(compare PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  add_test(NAME sizes COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/sizes.py $<TARGET_FILE:deuteron> ${FIXTURES})
  set_tests_properties(sizes PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  set_tests_properties(op_cases PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  set_tests_properties(stock.runtime PROPERTIES LABELS release TIMEOUT 1200 SKIP_RETURN_CODE 77)
  set_tests_properties(stock.neutron stock.inspector PROPERTIES SKIP_RETURN_CODE 77)
  rest_needs_shared(stock.neutron stock.runtime onnx_models tracing neutron_splits neutron_programs sizes c_output)
  if(TARGET neutron_model)
    rest_needs_shared(vendor_converter neutron_partitions)
  endif()
endif()
include(tests/stock/sources.cmake)
