# SPDX-License-Identifier: Apache-2.0
# The Python package: what pyproject.toml installs into a wheel. The compiler is one shared library that the extension and the program link.
# Included by the root CMakeLists.txt after the target `deuteron`.
if(NOT DEUTERON_PYTHON)
  return()
endif()
foreach(library deuteron_core deuteron_plain deuteron_verbs deuteron_boards deuteron_firmware_files)
  set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${library} PRIVATE -fno-semantic-interposition)  # else a function that could be inlined is called
endforeach()

set(python_default python3)
if(EXISTS ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
  set(python_default ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
endif()
set(DEUTERON_PYTHON_EXECUTABLE ${python_default} CACHE FILEPATH "the interpreter that the package is tested with")
if(SKBUILD)
  set(DEUTERON_PYTHON_EXECUTABLE ${Python_EXECUTABLE})
endif()
set(Python_EXECUTABLE ${DEUTERON_PYTHON_EXECUTABLE})
find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
if(NOT Python_FOUND)
  set(lacks "${Python_EXECUTABLE} is no Python 3.10 or newer with its headers (Debian: python3-dev)")
  message(STATUS "no Python module: ${lacks}")
  add_custom_target(python_package COMMAND ${CMAKE_COMMAND} -E echo "no Python module: ${lacks}" COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  return()
endif()

# All of the compiler as one library, which binds its own calls itself (-Bsymbolic): nobody replaces them.
set(PACKAGE_DIR ${PROJECT_BINARY_DIR}/python/deuteron)
add_library(deuteron_program SHARED EXCLUDE_FROM_ALL cli/python/library.cpp)
target_link_libraries(deuteron_program PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,deuteron_verbs>" deuteron_core)
target_link_options(deuteron_program PRIVATE -Wl,-Bsymbolic -Wl,--exclude-libs,libpng16.a:libjpeg.a:libz.a)
set_target_properties(deuteron_program PROPERTIES OUTPUT_NAME deuteron LIBRARY_OUTPUT_DIRECTORY ${PACKAGE_DIR})

# The program of the wheel: main() alone, over that library.
add_executable(deuteron_in_package EXCLUDE_FROM_ALL cli/deuteron.cpp)
target_link_libraries(deuteron_in_package PRIVATE deuteron_options deuteron_program)
set_target_properties(deuteron_in_package PROPERTIES OUTPUT_NAME deuteron RUNTIME_OUTPUT_DIRECTORY ${PACKAGE_DIR}/bin
                      BUILD_RPATH_USE_ORIGIN ON BUILD_RPATH $ORIGIN/.. INSTALL_RPATH $ORIGIN/..)

# Of the stable ABI (cli/python/objects.h): one build for every CPython from 3.10 on.
add_library(deuteron_module MODULE EXCLUDE_FROM_ALL cli/python/module.cpp cli/python/worker.cpp)
target_include_directories(deuteron_module SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(deuteron_module PRIVATE deuteron_options deuteron_program)
set_target_properties(deuteron_module PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so LIBRARY_OUTPUT_DIRECTORY ${PACKAGE_DIR}
                      BUILD_RPATH_USE_ORIGIN ON BUILD_RPATH $ORIGIN INSTALL_RPATH $ORIGIN)
# Beside what is built, the rest of the package: the folder can be imported as it is.
file(MAKE_DIRECTORY ${PACKAGE_DIR}/models)
file(GLOB of_one_python ${PACKAGE_DIR}/_core.cpython-*.so)  # of an earlier build: Python would prefer it
if(of_one_python)
  file(REMOVE ${of_one_python})
endif()
file(GLOB package_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/deuteron
     python/deuteron/*.py python/deuteron/*/*.py python/deuteron/*.pyi python/deuteron/py.typed)
foreach(file IN LISTS package_files)
  get_filename_component(folder ${PACKAGE_DIR}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/deuteron/${file} ${PACKAGE_DIR}/${file} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/models/digits_cnn ${PACKAGE_DIR}/models/digits_cnn SYMBOLIC)
add_custom_target(python_package DEPENDS deuteron_module deuteron_in_package)

install(TARGETS deuteron_program LIBRARY DESTINATION deuteron COMPONENT python)
install(TARGETS deuteron_module LIBRARY DESTINATION deuteron COMPONENT python)
install(TARGETS deuteron_in_package RUNTIME DESTINATION deuteron/bin COMPONENT python)
install(FILES models/digits_cnn/README.md models/digits_cnn/float.pt2 models/digits_cnn/calibrate.npy models/digits_cnn/test_inputs.npy
        models/digits_cnn/test_labels.npy DESTINATION deuteron/models/digits_cnn COMPONENT python)
