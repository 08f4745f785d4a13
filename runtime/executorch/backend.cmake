# SPDX-License-Identifier: Apache-2.0
# libdeuteron_backend.a: `DeuteronBackend` for the stock ExecuTorch runtime. Built where
# ExecuTorch's headers are: in the PyPI package, or in a folder that holds executorch/
# (cmake -DDEUTERON_EXECUTORCH_HEADERS=DIR). The program links ExecuTorch itself.
set(DEUTERON_EXECUTORCH_HEADERS "" CACHE PATH "a folder that holds executorch/, for deuteron_backend; none: the PyPI package's")
set(EXECUTORCH_HEADERS ${DEUTERON_EXECUTORCH_HEADERS})
if(NOT EXECUTORCH_HEADERS)  # not kept in the cache: the package may come after the first configuration
  file(GLOB EXECUTORCH_HEADERS ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/executorch/include)
endif()
if(EXECUTORCH_HEADERS)
  add_library(deuteron_backend STATIC EXCLUDE_FROM_ALL runtime/executorch/backend.cpp runtime/executorch/copy.cpp)
  set_target_properties(deuteron_backend PROPERTIES CXX_STANDARD 17 POSITION_INDEPENDENT_CODE ON)
  target_compile_options(deuteron_backend PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  target_include_directories(deuteron_backend SYSTEM PUBLIC ${EXECUTORCH_HEADERS}
                             ${EXECUTORCH_HEADERS}/executorch/runtime/core/portable_type/c10)
  target_compile_definitions(deuteron_backend PUBLIC C10_USING_CUSTOM_GENERATED_MACROS)
  # By the name of ExecuTorch's own option: events of each call, where the runtime has a tracer.
  option(EXECUTORCH_ENABLE_EVENT_TRACER "trace the calls of parts for ExecuTorch's Inspector" ON)
  if(EXECUTORCH_ENABLE_EVENT_TRACER)
    target_compile_definitions(deuteron_backend PRIVATE ET_EVENT_TRACER_ENABLED)
  endif()
  target_link_libraries(deuteron_backend PUBLIC deuteron_runtime)
endif()
