# SPDX-License-Identifier: Apache-2.0
# ExecuTorch's cortex_m kernels and CMSIS-NN from their sources, which are fetched by hand and are no part of this repository:
#   cmake --preset release -DDEUTERON_STOCK_SOURCES=DIR
# DIR has checkouts: executorch (1.5), cmsis_nn (what it pins, or a later one) and flatbuffers (24.3.25), the last for emulated boards.
set(DEUTERON_STOCK_SOURCES "" CACHE PATH "checkouts of executorch, cmsis_nn and flatbuffers, to test against the stock kernels")
if(NOT DEUTERON_STOCK_SOURCES OR NOT STOCK_PACKAGE OR DEUTERON_SANITIZE)
  return()
endif()
set(STOCK_ET ${DEUTERON_STOCK_SOURCES}/executorch)
set(STOCK_NN ${DEUTERON_STOCK_SOURCES}/cmsis_nn)
set(STOCK_DIR ${PROJECT_BINARY_DIR}/stock)
set(STOCK_PYTHON ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
foreach(file ${STOCK_ET}/backends/cortex_m/ops/operators.yaml ${STOCK_NN}/Include/arm_nnfunctions.h)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "DEUTERON_STOCK_SOURCES: ${file} is missing; ${DEUTERON_STOCK_SOURCES} must have checkouts named executorch and cmsis_nn")
  endif()
endforeach()

# ExecuTorch generates what registers the kernels, as its own build does.
file(MAKE_DIRECTORY ${STOCK_DIR}/generated)
file(WRITE ${STOCK_DIR}/selected.yaml "include_all_operators: true\n")
file(GLOB TORCHGEN ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/torchgen/packaged/ATen/native)
set(STOCK_REGISTRATION ${STOCK_DIR}/generated/RegisterCodegenUnboxedKernelsEverything.cpp)
add_custom_command(OUTPUT ${STOCK_REGISTRATION} WORKING_DIRECTORY ${STOCK_ET}
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${STOCK_ET} ${STOCK_PYTHON} -m codegen.gen --source-path=codegen
          --install-dir=${STOCK_DIR}/generated --tags-path=${TORCHGEN}/tags.yaml --aten-yaml-path=${TORCHGEN}/native_functions.yaml
          --op-selection-yaml-path=${STOCK_DIR}/selected.yaml --custom-ops-yaml-path=backends/cortex_m/ops/operators.yaml
  DEPENDS ${STOCK_ET}/backends/cortex_m/ops/operators.yaml VERBATIM)

# The operators of ATen that programs of the fixtures call: emulated boards get ExecuTorch's portable kernels of these.
set(STOCK_ATEN cat.out slice_copy.Tensor_out index_select.out permute_copy.out convolution.out mul.out pow.Tensor_Scalar_out rsqrt.out add.out
    argmax.out ge.Scalar_out where.self_out embedding.out _to_copy.out copy_)
list(TRANSFORM STOCK_ATEN PREPEND aten::)
list(APPEND STOCK_ATEN dim_order_ops::_clone_dim_order.out)
set(STOCK_ATEN_DIR ${STOCK_DIR}/generated_aten)
file(MAKE_DIRECTORY ${STOCK_ATEN_DIR})
set(selected "include_all_operators: false\noperators:\n")
set(variants "et_kernel_metadata:\n")
set(STOCK_ATEN_SOURCES "")
foreach(op IN LISTS STOCK_ATEN)
  string(APPEND selected "  ${op}: {is_root_operator: true, is_used_for_training: false, include_all_overloads: false}\n")
  string(APPEND variants "  ${op}: [default]\n")
  string(REGEX REPLACE "\\..*" "" name ${op})
  string(REGEX REPLACE "^aten::_?|^.*::|_$" "" name ${name})
  list(APPEND STOCK_ATEN_SOURCES ${STOCK_ET}/kernels/portable/cpu/op_${name}.cpp)
endforeach()
file(WRITE ${STOCK_ATEN_DIR}/selected.yaml "${selected}${variants}")
file(GLOB utilities ${STOCK_ET}/kernels/portable/cpu/util/*.cpp ${STOCK_ET}/kernels/portable/cpu/pattern/*.cpp)
set(STOCK_ATEN_REGISTRATION ${STOCK_ATEN_DIR}/RegisterCodegenUnboxedKernelsEverything.cpp)
list(APPEND STOCK_ATEN_SOURCES ${utilities} ${STOCK_ET}/runtime/core/exec_aten/util/tensor_shape_to_c_string.cpp ${STOCK_ATEN_REGISTRATION})
add_custom_command(OUTPUT ${STOCK_ATEN_REGISTRATION} WORKING_DIRECTORY ${STOCK_ET}
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${STOCK_ET} ${STOCK_PYTHON} -m codegen.gen --source-path=codegen
          --install-dir=${STOCK_ATEN_DIR} --tags-path=${TORCHGEN}/tags.yaml --aten-yaml-path=${TORCHGEN}/native_functions.yaml
          --op-selection-yaml-path=${STOCK_ATEN_DIR}/selected.yaml --functions-yaml-path=kernels/portable/functions.yaml
  DEPENDS ${STOCK_ET}/kernels/portable/functions.yaml ${STOCK_ATEN_DIR}/selected.yaml VERBATIM)

# Headers in <executorch/...> that the package lacks.
file(MAKE_DIRECTORY ${STOCK_DIR}/kernels/executorch)
file(CREATE_LINK ${STOCK_ET}/kernels ${STOCK_DIR}/kernels/executorch/kernels SYMBOLIC)
file(GLOB STOCK_OPS ${STOCK_ET}/backends/cortex_m/ops/*.cpp)
file(GLOB STOCK_NN_SOURCES ${STOCK_NN}/Source/*/*.c)
list(FILTER STOCK_NN_SOURCES EXCLUDE REGEX "_f16\\.c|_f32\\.c")

enable_language(C)
add_library(stock_cmsis_nn STATIC EXCLUDE_FROM_ALL ${STOCK_NN_SOURCES})
target_include_directories(stock_cmsis_nn SYSTEM PUBLIC ${STOCK_NN}/Include)
target_compile_options(stock_cmsis_nn PRIVATE -w -O2)

add_executable(stock_kernels EXCLUDE_FROM_ALL tests/stock/stock_runner.cpp tests/stock/upstream_kernels.cpp ${STOCK_OPS} ${STOCK_REGISTRATION})
set_target_properties(stock_kernels PROPERTIES CXX_STANDARD 17 BUILD_RPATH ${STOCK_PACKAGE}/lib)
target_compile_options(stock_kernels PRIVATE -w)
target_compile_definitions(stock_kernels PRIVATE C10_USING_CUSTOM_GENERATED_MACROS CORTEX_M_ENABLE_RUNTIME_CHECKS)
target_include_directories(stock_kernels SYSTEM PRIVATE ${STOCK_DIR}/kernels ${STOCK_DIR}/generated ${STOCK_PACKAGE}/include
                           ${STOCK_PACKAGE}/include/executorch/runtime/core/portable_type/c10 ${STOCK_ET}/backends/cortex_m/ops)
target_link_libraries(stock_kernels PRIVATE stock_cmsis_nn -Wl,--no-as-needed ${STOCK_PACKAGE}/lib/libexecutorch.so
                      ${STOCK_PACKAGE}/lib/libexecutorch_kernels_optimized.so ${STOCK_PACKAGE}/lib/libexecutorch_threadpool.so)

file(READ ${STOCK_NN}/Source/ConvolutionFunctions/arm_transpose_conv_s8.c transposed)
string(FIND "${transposed}" "rows_to_flush" found)
set(flushes 0)
set(STOCK_VERSION dbf45dbf)
if(NOT found EQUAL -1)
  set(flushes 1)
  set(STOCK_VERSION 99f736a)
endif()
add_executable(cmsis_nn_limits EXCLUDE_FROM_ALL tests/stock/cmsis_nn_limits.cpp)
target_compile_definitions(cmsis_nn_limits PRIVATE CMSIS_NN_FLUSHES_PARTS_OF_A_STRIDE=${flushes})
target_include_directories(cmsis_nn_limits PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(cmsis_nn_limits PRIVATE deuteron_runtime stock_cmsis_nn)
add_test(NAME stock.limits COMMAND cmsis_nn_limits)

# The same on emulated boards: ExecuTorch's runtime from the sources too, files over semihosting.
set(STOCK_BOARD_ARGUMENTS "")
set(STOCK_IMAGES "")
set(STOCK_BOARDS
    "cortex-m0+|mps2-an511|-mcpu=cortex-m0plus -mfloat-abi=soft|0x00000000|0x21000000, LENGTH = 16M|0x40028018|40"
    "cortex-m4|mps2-an386|-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16|0|0x21000000, LENGTH = 16M|0x40028018|40"
    "cortex-m33|mps2-an505|-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16|0x10000000|0x80000000, LENGTH = 16M|0x50302018|50"
    "cortex-m55|mps3-an547|-mcpu=cortex-m55 -mfloat-abi=hard|0x10000000|0x60000000, LENGTH = 64M|0x59302018|50")
find_program(FLATC flatc)
if(CXX_cortex_m AND CC_cortex_m AND FLATC AND EXISTS ${DEUTERON_STOCK_SOURCES}/flatbuffers/include)
  set(STOCK_SHIM ${STOCK_DIR}/board/include)
  file(MAKE_DIRECTORY ${STOCK_SHIM}/schema/executorch/schema)
  file(CREATE_LINK ${STOCK_ET} ${STOCK_SHIM}/executorch SYMBOLIC)
  execute_process(COMMAND ${FLATC} --cpp --cpp-std c++11 --gen-mutable --scoped-enums -o ${STOCK_SHIM}/schema/executorch/schema
                  ${STOCK_ET}/schema/program.fbs ${STOCK_ET}/schema/scalar_type.fbs COMMAND_ERROR_IS_FATAL ANY)
  # Another flatc than the headers': the tables are the same.
  foreach(header program scalar_type)
    file(READ ${STOCK_SHIM}/schema/executorch/schema/${header}_generated.h text)
    string(REGEX REPLACE "static_assert\\(FLATBUFFERS_VERSION_MAJOR[^;]*;" "" text "${text}")
    file(WRITE ${STOCK_SHIM}/schema/executorch/schema/${header}_generated.h "${text}")
  endforeach()
  set(runtime interface evalue tag tensor_layout device_allocator device_memory_buffer tensor_util_portable tensor_impl
      method method_meta program program_validation pte_data_map tensor_parser_exec_aten tensor_parser_portable operator_registry abort log
      platform profiler runtime minimal)
  file(GLOB_RECURSE STOCK_RUNTIME ${STOCK_ET}/runtime/*.cpp)
  list(FILTER STOCK_RUNTIME EXCLUDE REGEX "/test/|/testing_util/")
  string(REPLACE ";" "|" runtime "${runtime}")
  list(FILTER STOCK_RUNTIME INCLUDE REGEX "/(${runtime})\\.cpp$")
  list(APPEND STOCK_RUNTIME ${STOCK_ET}/schema/extended_header.cpp)
  foreach(row IN LISTS STOCK_BOARDS)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 core)
    list(GET row 1 machine)
    list(GET row 2 flags)
    list(GET row 3 vectors)
    list(GET row 4 pool)
    list(GET row 5 counter)
    list(GET row 6 tick)
    separate_arguments(flags UNIX_COMMAND "${flags} -O3 -ffunction-sections -fdata-sections -w -Wno-psabi")
    set(folder ${STOCK_DIR}/board/${machine})
    file(WRITE ${folder}/memory.ld "MEMORY { VECTORS (rx) : ORIGIN = ${vectors}, LENGTH = 1K  POOL (rwx) : ORIGIN = ${pool} }\nINCLUDE board.ld\n")
    set(objects "")
    foreach(source IN LISTS STOCK_NN_SOURCES STOCK_OPS STOCK_ATEN_SOURCES STOCK_RUNTIME STOCK_REGISTRATION
            ITEMS ${PROJECT_SOURCE_DIR}/tests/stock/stock_runner.cpp ${PROJECT_SOURCE_DIR}/tests/stock/upstream_kernels.cpp
                  ${PROJECT_SOURCE_DIR}/tests/stock/board_start.cpp)
      string(MD5 name ${source})
      set(object ${folder}/${name}.o)
      if(source MATCHES "\\.c$")
        set(compile ${CC_cortex_m})
      else()
        set(compile ${CXX_cortex_m} -std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics)
      endif()
      add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${compile} ${flags} -DC10_USING_CUSTOM_GENERATED_MACROS -DCORTEX_M_ENABLE_RUNTIME_CHECKS
                -DFLATBUFFERS_LOCALE_INDEPENDENT=0 -DSTOCK_COUNTER=${counter} -DSTOCK_INSTRUCTIONS_PER_TICK=${tick} -I${STOCK_SHIM}/schema
                -I${STOCK_SHIM} -I${DEUTERON_STOCK_SOURCES}/flatbuffers/include -I${STOCK_ET}/runtime/core/portable_type/c10
                -I${STOCK_NN}/Include -I${STOCK_ET}/backends/cortex_m/ops -I${STOCK_DIR}/generated -I${PROJECT_SOURCE_DIR} -c ${source} -o ${object}
        DEPENDS ${source} ${STOCK_REGISTRATION} COMMENT "stock ${machine}: ${source}" VERBATIM)
      list(APPEND objects ${object})
    endforeach()
    set(image ${folder}/stock.elf)
    string(REPLACE ";" "\n" lines "${objects}")
    file(GENERATE OUTPUT ${folder}/objects CONTENT "${lines}\n")
    add_custom_command(OUTPUT ${image}
      COMMAND ${CXX_cortex_m} ${flags} -nostartfiles --specs=rdimon.specs -Wl,--gc-sections,--no-warn-rwx-segments
              -L${PROJECT_SOURCE_DIR}/tests/stock -T${folder}/memory.ld -o ${image} @${folder}/objects
      DEPENDS ${objects} tests/stock/board.ld COMMENT "stock ${machine}: image" VERBATIM)
    list(APPEND STOCK_IMAGES ${image})
    list(APPEND STOCK_BOARD_ARGUMENTS --board ${core} ${machine} ${image})
  endforeach()
else()
  message(WARNING "no stock kernels on emulated boards: arm-none-eabi-gcc, flatc or ${DEUTERON_STOCK_SOURCES}/flatbuffers is missing")
endif()
add_custom_target(stock_sources DEPENDS stock_kernels cmsis_nn_limits ${STOCK_IMAGES})
list(JOIN STOCK_ATEN "," names)
add_test(NAME stock.kernels COMMAND ${STOCK_PYTHON} ${PROJECT_SOURCE_DIR}/tests/stock/firmware_kernels.py $<TARGET_FILE:deuteron>
         ${PROJECT_SOURCE_DIR}/../shared ${PROJECT_SOURCE_DIR}/tests/stock/recorded.json --host $<TARGET_FILE:stock_kernels>
         ${STOCK_BOARD_ARGUMENTS} --board-operators ${names} --networks 300 --versions "ExecuTorch 1.5, CMSIS-NN ${STOCK_VERSION}")
set_tests_properties(stock.kernels PROPERTIES TIMEOUT 36000 SKIP_RETURN_CODE 77)
