# SPDX-License-Identifier: Apache-2.0
# Builds one runner image for each emulated board of boards.txt with the cross compiler and puts all of them into the program (boards/emulate.h).
# Ninja compiles the sources of all boards in parallel; header dependencies come from the compiler. Included by the root CMakeLists.txt
# after RUNTIME_SOURCES are known.
include(runtime/ports/optimization.cmake)
set(BOARD_DIR ${PROJECT_BINARY_DIR}/boards)
find_program(ARM_CXX arm-none-eabi-g++)
find_program(ARM_NM arm-none-eabi-nm)

# The table: for each board ROW_<board> (as C), CPU_<board> (the compiler's flags), ISA_<board> (the instruction set whose own kernels it runs:
# kernels/**/*_<isa>.{cpp,S}), MODEL_<board> and DRIVER_<board> (the model of its NPU, and what says that a driver is linked in;
# empty: it has none) and MAP_<board> (its name and its map of memories).
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS boards/boards.txt)
file(STRINGS boards/boards.txt rows REGEX "^[^#]")
set(ALL_BOARDS "")
set(EMULATED_BOARDS "")
foreach(row IN LISTS rows)
  string(REGEX REPLACE " *[|] *" ";" columns "${row}")
  list(LENGTH columns count)
  if(NOT count EQUAL 7)
    message(FATAL_ERROR "boards/boards.txt: `${row}` has ${count} columns, must have 7: name | runs | target | instruction set | NPU | MB | flags")
  endif()
  list(POP_FRONT columns board runs target isa npu memory_mb flags)
  set(files_qemu map.h memory.ld)
  set(files_mcux memory.ld port.cpp build.cmake)
  if(NOT DEFINED files_${runs})
    message(FATAL_ERROR "boards/boards.txt: ${board} runs by `${runs}`, must be qemu or mcux")
  endif()
  if(NOT npu MATCHES "^(neutron|-)$")
    message(FATAL_ERROR "boards/boards.txt: ${board} has the NPU `${npu}`, must be neutron or -")
  endif()
  foreach(file IN LISTS files_${runs})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/boards/${board}/${file})
      message(FATAL_ERROR "boards/boards.txt: ${board} has no file boards/${board}/${file}")
    endif()
  endforeach()
  list(APPEND ALL_BOARDS ${board})
  if(runs STREQUAL qemu)
    list(APPEND EMULATED_BOARDS ${board})
  endif()
  set(ROW_${board} "\"${board}\", \"${runs}\", \"${target}\", \"${isa}\", \"${npu}\", ${memory_mb}, \"${flags}\"")
  separate_arguments(CPU_${board} UNIX_COMMAND "${flags}")
  set(ISA_${board} ${isa})
  set(MODEL_${board} "")
  set(DRIVER_${board} "")
  if(npu STREQUAL neutron)
    set(MODEL_${board} ${NEUTRON_MODEL_SOURCES})
    set(DRIVER_${board} -DDEUTERON_NEUTRON_DRIVER)
  endif()
  set(MAP_${board} "-DDEUTERON_BOARD_NAME=\"${board}\"" "-DDEUTERON_BOARD_MAP=\"boards/${board}/map.h\"")
endforeach()
# A board's runner takes as many steps as a third of the compiler: `./dev demo` builds the one that it shows.
set(DEUTERON_BOARDS "" CACHE STRING "the emulated boards whose runners are built, with ; between them (empty: all)")
set(BOARDS "")
set(PROBED_CORES "")
if(DEUTERON_FIRMWARE AND ARM_CXX AND ARM_NM)
  set(BOARDS ${EMULATED_BOARDS})
  set(PROBED_CORES ${BOARDS})
  if(DEUTERON_BOARDS)
    set(PROBED_CORES "")
    set(BOARDS ${DEUTERON_BOARDS})
    list(REMOVE_ITEM DEUTERON_BOARDS ${EMULATED_BOARDS})
    if(DEUTERON_BOARDS)
      message(FATAL_ERROR "DEUTERON_BOARDS: no emulated board is called ${DEUTERON_BOARDS}; there are ${EMULATED_BOARDS}")
    endif()
  endif()
elseif(DEUTERON_FIRMWARE)
  message(WARNING "no board runners: arm-none-eabi-g++ is missing (apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi)")
endif()

# The same arithmetic as on the host needs -ffp-contract=off: these cores have a fused multiply-add.
set(BOARD_FLAGS -std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit -fno-math-errno -ffunction-sections
    -fdata-sections -ffp-contract=off -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror -I${PROJECT_SOURCE_DIR}
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
file(GLOB BOARD_SOURCES CONFIGURE_DEPENDS runtime/ports/*.cpp boards/runner/*.cpp)
# The tracer is in the runner if it is asked for; nothing else of the runtime knows of it (runtime/trace.h).
set(TRACED_SOURCES boards/runner/runner.cpp runtime/ports/start.cpp)
file(GLOB LINKER_SCRIPTS CONFIGURE_DEPENDS runtime/ports/*.ld boards/*/memory.ld)

# Compiles one source for a board, with the flags that follow. The dependency file names the object as ninja does, so that ninja reads it as it is:
# by default CMake would start itself once for each object to rewrite the file.
cmake_policy(SET CMP0116 OLD)
# The release and the sanitized build make the same objects. The compiler cache knows them again by absolute paths only: relative ones differ.
set(BOARD_LAUNCHER "")
if(CMAKE_C_COMPILER_LAUNCHER)
  set(BOARD_LAUNCHER /usr/bin/env -u CCACHE_BASEDIR ${CMAKE_C_COMPILER_LAUNCHER})
endif()
function(compile_for_board board source object)
  file(RELATIVE_PATH output ${PROJECT_BINARY_DIR} ${object})
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${object}
    COMMAND ${BOARD_LAUNCHER} ${ARM_CXX} ${CPU_${board}} ${BOARD_FLAGS} ${DRIVER_${board}} ${MAP_${board}} ${ARGN} -MMD -MT ${output} -MF ${object}.d
            -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "${board}: ${name}" VERBATIM)
endfunction()

set(BOARD_IMAGES "")
foreach(board IN LISTS BOARDS)
  file(GLOB_RECURSE isa_sources CONFIGURE_DEPENDS kernels/*_${ISA_${board}}.S kernels/*_${ISA_${board}}.cpp)
  set(objects "")
  foreach(source IN LISTS RUNTIME_SOURCES MODEL_${board} BOARD_SOURCES isa_sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    set(object ${BOARD_DIR}/${board}/${name}.o)
    optimization_of(${name} optimization)
    set(trace "")
    if(DEUTERON_TRACE AND name IN_LIST TRACED_SOURCES)
      set(trace -DDEUTERON_TRACE)
    endif()
    compile_for_board(${board} ${source} ${object} ${optimization} ${trace})
    list(APPEND objects ${object})
  endforeach()
  set(image ${BOARD_DIR}/${board}.elf)
  string(REPLACE ";" "\n" list_of_objects "${objects}")
  file(GENERATE OUTPUT ${BOARD_DIR}/${board}.objects CONTENT "${list_of_objects}\n")
  add_custom_command(OUTPUT ${image}
    COMMAND ${ARM_CXX} ${CPU_${board}} @${BOARD_DIR}/${board}.objects -nostartfiles -Wl,--gc-sections
            -L${PROJECT_SOURCE_DIR}/runtime/ports -T${PROJECT_SOURCE_DIR}/boards/${board}/memory.ld -o ${image}
    COMMAND ${CMAKE_COMMAND} -DNM=${ARM_NM} -DIMAGE=${image} -P ${PROJECT_SOURCE_DIR}/runtime/ports/check_no_heap.cmake
    DEPENDS ${objects} ${LINKER_SCRIPTS} runtime/ports/check_no_heap.cmake ${BOARD_DIR}/${board}.objects
    COMMENT "${board}: image" VERBATIM)
  list(APPEND BOARD_IMAGES ${image})
endforeach()

# The same runner for chips behind a debug probe, one for each core: a relocatable object with each function by itself, of which the host
# links what a program calls, where the chip has memory (boards/place_image.h). No NPU is played there.
set(PROBE_PORTS runtime/ports/start.cpp runtime/ports/semihosting.cpp)
set(PLAYED_SOURCES npu/all_kernels.cpp npu/neutron/delegate/linked_driver.cpp)
file(GLOB PROBE_SOURCES CONFIGURE_DEPENDS boards/runner/*.cpp boards/probe/*.cpp)
set(EMULATED_PORTS runtime/ports/counter.cpp runtime/ports/board_clock.cpp runtime/ports/memory_protection.cpp)
file(WRITE ${BOARD_DIR}/apart.ld "SECTIONS { }\n")
set(PROBE_IMAGES "")
foreach(board IN LISTS PROBED_CORES)
  set(probe probe/${board})
  set(CPU_${probe} ${CPU_${board}})
  set(DRIVER_${probe} -DDEUTERON_PROBE)
  set(MAP_${probe} "-DDEUTERON_BOARD_NAME=\"probe\"" "-DDEUTERON_BOARD_MAP=\"boards/probe/map.h\"")
  file(GLOB_RECURSE isa_sources CONFIGURE_DEPENDS kernels/*_${ISA_${board}}.S kernels/*_${ISA_${board}}.cpp)
  set(objects "")
  foreach(source IN LISTS RUNTIME_SOURCES BOARD_SOURCES PROBE_SOURCES isa_sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    if(name IN_LIST EMULATED_PORTS)
      continue()
    endif()
    set(object ${BOARD_DIR}/${board}/${name}.o)
    if(source IN_LIST PROBE_SOURCES OR name IN_LIST PROBE_PORTS OR (MODEL_${board} AND name IN_LIST PLAYED_SOURCES))
      set(object ${BOARD_DIR}/${probe}/${name}.o)
      optimization_of(${name} optimization)
      set(trace "")
      if(DEUTERON_TRACE)
        set(trace -DDEUTERON_TRACE)
      endif()
      if(NOT object IN_LIST objects)
        compile_for_board(${probe} ${source} ${object} ${optimization} ${trace})
      endif()
    endif()
    list(APPEND objects ${object})
  endforeach()
  list(REMOVE_DUPLICATES objects)
  set(image ${BOARD_DIR}/${board}.parts)
  string(REPLACE ";" "\n" list_of_objects "${objects}")
  file(GENERATE OUTPUT ${BOARD_DIR}/${board}.parts.objects CONTENT "${list_of_objects}\n")
  add_custom_command(OUTPUT ${image}
    COMMAND ${ARM_CXX} ${CPU_${board}} -r -nostdlib @${BOARD_DIR}/${board}.parts.objects -Wl,--start-group -lc -lgcc -lm -Wl,--end-group
            -Wl,--unique,--strip-debug,-T,${BOARD_DIR}/apart.ld -o ${image}
    DEPENDS ${objects} ${BOARD_DIR}/${board}.parts.objects COMMENT "${board}: parts" VERBATIM)
  list(APPEND PROBE_IMAGES ${image})
endforeach()
if(BOARDS)
  add_custom_target(firmware DEPENDS ${BOARD_IMAGES} ${PROBE_IMAGES})
endif()

# What the tracer costs (tests/tracing.py): one board's image without it, and another in whose link its files are not there at all.
set(TRACER_SOURCES runtime/trace.cpp runtime/etdump.cpp runtime/call_name.cpp npu/neutron/delegate/profile.cpp
    runtime/ports/board_clock.cpp runtime/ports/cycle_counters.cpp runtime/ports/systick_clock.cpp)
if(DEUTERON_TRACE AND "mps2-an505" IN_LIST BOARDS)
  set(board mps2-an505)
  set(untraced "")
  set(bare "")
  foreach(source IN LISTS RUNTIME_SOURCES MODEL_${board} BOARD_SOURCES)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    set(object ${BOARD_DIR}/${board}/${name}.o)
    if(name IN_LIST TRACED_SOURCES)
      set(object ${BOARD_DIR}/${board}/${name}.untraced.o)
      optimization_of(${name} optimization)
      compile_for_board(${board} ${source} ${object} ${optimization})
    endif()
    list(APPEND untraced ${object})
    if(NOT name IN_LIST TRACER_SOURCES)
      list(APPEND bare ${object})
    endif()
  endforeach()
  file(GLOB_RECURSE isa_sources CONFIGURE_DEPENDS kernels/*_${ISA_${board}}.S kernels/*_${ISA_${board}}.cpp)
  foreach(source IN LISTS isa_sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    list(APPEND untraced ${BOARD_DIR}/${board}/${name}.o)
    list(APPEND bare ${BOARD_DIR}/${board}/${name}.o)
  endforeach()
  foreach(kind untraced bare)
    set(image ${BOARD_DIR}/${board}.${kind}.elf)
    string(REPLACE ";" "\n" list_of_objects "${${kind}}")
    file(GENERATE OUTPUT ${BOARD_DIR}/${board}.${kind}.objects CONTENT "${list_of_objects}\n")
    add_custom_command(OUTPUT ${image}
      COMMAND ${ARM_CXX} ${CPU_${board}} @${BOARD_DIR}/${board}.${kind}.objects -nostartfiles -Wl,--gc-sections
              -L${PROJECT_SOURCE_DIR}/runtime/ports -T${PROJECT_SOURCE_DIR}/boards/${board}/memory.ld -o ${image}
      DEPENDS ${${kind}} ${LINKER_SCRIPTS} ${BOARD_DIR}/${board}.${kind}.objects COMMENT "${board}, ${kind}: image" VERBATIM)
  endforeach()
  add_custom_target(untraced_firmware DEPENDS ${BOARD_DIR}/${board}.untraced.elf ${BOARD_DIR}/${board}.bare.elf)
else()
  add_custom_target(untraced_firmware)
endif()

# The table and the images as constants. A C file with .incbin; it is compiled anew when an image has changed.
set(embedded "")
set(table "")
set(all_images ${BOARD_IMAGES} ${PROBE_IMAGES})
foreach(board IN LISTS ALL_BOARDS)
  set(image "")
  foreach(kind elf parts)
    string(MAKE_C_IDENTIFIER ${board}_${kind} symbol)
    if("${BOARD_DIR}/${board}.${kind}" IN_LIST all_images)
      string(APPEND embedded "__asm__(\".section .rodata\\n.balign 16\\n.global ${symbol}, ${symbol}_end\\n\"
          \"${symbol}:\\n.incbin \\\"${BOARD_DIR}/${board}.${kind}\\\"\\n${symbol}_end:\\n.byte 0\\n.previous\\n\");
extern const unsigned char ${symbol}[], ${symbol}_end[];\n")
      list(APPEND image "${symbol}, ${symbol}_end")
    else()
      list(APPEND image "0, 0")
    endif()
  endforeach()
  list(JOIN image ", " image)
  string(APPEND table "  {${ROW_${board}}, ${image}},\n")
endforeach()
# QEMU's plugin that counts blocks, for this machine.
set(plugin ${BOARD_DIR}/block_counts.so)
add_custom_command(OUTPUT ${plugin}
  COMMAND ${CMAKE_C_COMPILER} -shared -fPIC -O2 -fvisibility=hidden -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR} -s
          ${PROJECT_SOURCE_DIR}/boards/cycles/block_counts.c -o ${plugin}
  DEPENDS boards/cycles/block_counts.c boards/cycles/marks.h COMMENT "plugin of the emulator" VERBATIM)
string(APPEND embedded "__asm__(\".section .rodata\\n.balign 16\\n.global deuteron_block_counts, deuteron_block_counts_end\\n\"
    \"deuteron_block_counts:\\n.incbin \\\"${plugin}\\\"\\ndeuteron_block_counts_end:\\n.byte 0\\n.previous\\n\");\n")
list(LENGTH ALL_BOARDS board_count)
file(CONFIGURE OUTPUT ${BOARD_DIR}/images.c CONTENT "#include \"boards/images.h\"
${embedded}const struct deuteron_board deuteron_boards[] = {
${table}};
const int deuteron_board_count = ${board_count};
" @ONLY)
set_source_files_properties(${BOARD_DIR}/images.c PROPERTIES OBJECT_DEPENDS "${BOARD_IMAGES};${PROBE_IMAGES};${plugin}")
# By the compiler itself: a compiler cache may not see that an image behind .incbin has changed.
add_library(board_images OBJECT ${BOARD_DIR}/images.c)
set_target_properties(board_images PROPERTIES C_COMPILER_LAUNCHER "" POSITION_INDEPENDENT_CODE ON)
target_include_directories(board_images PRIVATE ${PROJECT_SOURCE_DIR})

file(GLOB BOARD_HOST_SOURCES CONFIGURE_DEPENDS boards/*.cpp boards/cycles/*.cpp)
list(FILTER BOARD_HOST_SOURCES EXCLUDE REGEX "_test\\.cpp$")
group_sources(BOARD_HOST_SOURCES boards 10)
add_library(deuteron_boards STATIC ${BOARD_HOST_SOURCES} $<TARGET_OBJECTS:board_images>)
target_link_libraries(deuteron_boards PUBLIC deuteron_core)

# Only programs link it: a library that did would wait for the images before it compiles its first file.
function(link_boards)
  foreach(program deuteron deuteron_program compiler_tests)
    if(TARGET ${program})
      target_link_libraries(${program} PRIVATE deuteron_boards deuteron_firmware_files)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL link_boards)
