# Builds one runner image for each emulated board with the cross compiler and puts all of them into the program (tools/emulate.h).
# Ninja compiles the sources of all boards in parallel; header dependencies come from the compiler. Included by the root CMakeLists.txt,
# after RUNTIME_SOURCES and TOOL_SOURCES are known.
set(BOARD_DIR ${PROJECT_BINARY_DIR}/boards)
set(BOARD_HOST_SOURCES tools/emulate.cpp tools/board_report.cpp tools/board_symbols.cpp tools/status_text.cpp tools/watched_process.cpp)
list(FILTER TOOL_SOURCES EXCLUDE REGEX "/(emulate|board_report|board_symbols|status_text|watched_process)\\.cpp$")

find_program(ARM_CXX arm-none-eabi-g++)
find_program(ARM_NM arm-none-eabi-nm)
set(ALL_BOARDS mps3-an547 mps2-an505 mps2-an386 mps2-an385)
set(BOARDS "")
if(DEUTERON_FIRMWARE AND ARM_CXX AND ARM_NM AND EXISTS ${PROJECT_SOURCE_DIR}/backends/all_kernels.cpp)
  set(BOARDS ${ALL_BOARDS})
elseif(DEUTERON_FIRMWARE)
  message(WARNING "no board runners: arm-none-eabi-g++ is missing (apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi)")
endif()

# Flags of the core, and the instruction set whose own kernels (ops/*/kernel_<isa>.cpp, ops/**/*_<isa>.S) it runs.
set(CPU_mps3-an547 -mcpu=cortex-m55 -mfloat-abi=hard)
set(CPU_mps2-an505 -mcpu=cortex-m33 -mfloat-abi=hard -mfpu=auto)
set(CPU_mps2-an386 -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=auto)
set(CPU_mps2-an385 -mcpu=cortex-m3 -mfloat-abi=soft)
set(ISA_mps3-an547 mve)
set(ISA_mps2-an505 dsp)
set(ISA_mps2-an386 dsp)
set(ISA_mps2-an385 scalar)

# The same arithmetic as on the host needs -ffp-contract=off: these cores have a fused multiply-add.
set(BOARD_FLAGS -mthumb -std=c++17 -O3 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit -fno-math-errno -ffunction-sections
    -fdata-sections -ffp-contract=off -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror -I${PROJECT_SOURCE_DIR}
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(NEUTRON_MODEL_SOURCES)
  list(APPEND BOARD_FLAGS -DDEUTERON_NEUTRON_DRIVER)
endif()
file(GLOB BOARD_SOURCES CONFIGURE_DEPENDS runtime/ports/*.cpp firmware/runner/*.cpp)
# The tracer is in the runner if it is asked for; nothing else of the runtime knows of it (runtime/trace.h).
set(TRACED_SOURCES firmware/runner/runner.cpp runtime/ports/start.cpp)
file(GLOB LINKER_SCRIPTS CONFIGURE_DEPENDS runtime/ports/*.ld)

set(BOARD_IMAGES "")
foreach(board IN LISTS BOARDS)
  string(TOUPPER "BOARD_${board}" define)
  string(REPLACE "-" "_" define ${define})
  file(GLOB isa_sources CONFIGURE_DEPENDS ops/*_${ISA_${board}}.S ops/*/*_${ISA_${board}}.S ops/*/kernel_${ISA_${board}}.cpp)
  set(objects "")
  foreach(source IN LISTS RUNTIME_SOURCES NEUTRON_MODEL_SOURCES BOARD_SOURCES isa_sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    set(object ${BOARD_DIR}/${board}/${name}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    set(trace "")
    if(DEUTERON_TRACE AND name IN_LIST TRACED_SOURCES)
      set(trace -DDEUTERON_TRACE)
    endif()
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${ARM_CXX} ${CPU_${board}} ${BOARD_FLAGS} -D${define} ${trace} -MMD -MT ${object} -MF ${object}.d
              -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "${board}: ${name}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(image ${BOARD_DIR}/${board}.elf)
  string(REPLACE ";" "\n" list_of_objects "${objects}")
  file(GENERATE OUTPUT ${BOARD_DIR}/${board}.objects CONTENT "${list_of_objects}\n")
  add_custom_command(OUTPUT ${image}
    COMMAND ${ARM_CXX} ${CPU_${board}} -mthumb @${BOARD_DIR}/${board}.objects -nostartfiles -Wl,--gc-sections
            -L${PROJECT_SOURCE_DIR}/runtime/ports -T${PROJECT_SOURCE_DIR}/runtime/ports/${board}.ld -o ${image}
    COMMAND ${CMAKE_COMMAND} -DNM=${ARM_NM} -DIMAGE=${image} -P ${PROJECT_SOURCE_DIR}/runtime/ports/check_no_heap.cmake
    DEPENDS ${objects} ${LINKER_SCRIPTS} runtime/ports/check_no_heap.cmake ${BOARD_DIR}/${board}.objects
    COMMENT "${board}: image" VERBATIM)
  list(APPEND BOARD_IMAGES ${image})
endforeach()
if(BOARDS)
  add_custom_target(firmware DEPENDS ${BOARD_IMAGES})
endif()

# What the tracer costs (tests/tracing.py): one board's image without it, and another in whose link its files are not there at all.
set(TRACER_SOURCES runtime/trace.cpp runtime/etdump.cpp runtime/call_name.cpp backends/neutron_delegate/profile.cpp
    runtime/ports/board_clock.cpp runtime/ports/cycle_counters.cpp runtime/ports/systick_clock.cpp)
if(DEUTERON_TRACE AND "mps2-an505" IN_LIST BOARDS)
  set(board mps2-an505)
  set(untraced "")
  set(bare "")
  foreach(source IN LISTS RUNTIME_SOURCES NEUTRON_MODEL_SOURCES BOARD_SOURCES)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    set(object ${BOARD_DIR}/${board}/${name}.o)
    if(name IN_LIST TRACED_SOURCES)
      set(object ${BOARD_DIR}/${board}/${name}.untraced.o)
      add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${ARM_CXX} ${CPU_${board}} ${BOARD_FLAGS} -DBOARD_MPS2_AN505 -MMD -MT ${object} -MF ${object}.d
                -c ${source} -o ${object}
        DEPENDS ${source} DEPFILE ${object}.d COMMENT "${board}, untraced: ${name}" VERBATIM)
    endif()
    list(APPEND untraced ${object})
    if(NOT name IN_LIST TRACER_SOURCES)
      list(APPEND bare ${object})
    endif()
  endforeach()
  file(GLOB isa_sources CONFIGURE_DEPENDS ops/*_${ISA_${board}}.S ops/*/*_${ISA_${board}}.S ops/*/kernel_${ISA_${board}}.cpp)
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
      COMMAND ${ARM_CXX} ${CPU_${board}} -mthumb @${BOARD_DIR}/${board}.${kind}.objects -nostartfiles -Wl,--gc-sections
              -L${PROJECT_SOURCE_DIR}/runtime/ports -T${PROJECT_SOURCE_DIR}/runtime/ports/${board}.ld -o ${image}
      DEPENDS ${${kind}} ${LINKER_SCRIPTS} ${BOARD_DIR}/${board}.${kind}.objects COMMENT "${board}, ${kind}: image" VERBATIM)
  endforeach()
  add_custom_target(untraced_firmware DEPENDS ${BOARD_DIR}/${board}.untraced.elf ${BOARD_DIR}/${board}.bare.elf)
else()
  add_custom_target(untraced_firmware)
endif()

# The images as constants. A C file with .incbin; it is compiled anew when an image has changed.
set(embedded "")
set(table "")
foreach(board IN LISTS BOARDS)
  string(REPLACE "-" "_" symbol ${board})
  string(APPEND embedded "__asm__(\".section .rodata\\n.balign 16\\n.global board_${symbol}, board_${symbol}_end\\n\"
        \"board_${symbol}:\\n.incbin \\\"${BOARD_DIR}/${board}.elf\\\"\\nboard_${symbol}_end:\\n.byte 0\\n.previous\\n\");
extern const unsigned char board_${symbol}[], board_${symbol}_end[];\n")
  string(APPEND table "  {\"${board}\", board_${symbol}, board_${symbol}_end},\n")
endforeach()
list(LENGTH BOARDS board_count)
file(CONFIGURE OUTPUT ${BOARD_DIR}/images.c CONTENT "#include \"tools/board_images.h\"
${embedded}const struct deuteron_board_image deuteron_board_images[] = {
${table}  {0, 0, 0}};
const int deuteron_board_image_count = ${board_count};
" @ONLY)
set_source_files_properties(${BOARD_DIR}/images.c PROPERTIES OBJECT_DEPENDS "${BOARD_IMAGES}")

add_library(deuteron_boards STATIC ${BOARD_HOST_SOURCES} ${BOARD_DIR}/images.c)
target_link_libraries(deuteron_boards PUBLIC deuteron_options PRIVATE deuteron_runtime fmt::fmt)

# Only programs link it: a library that did would wait for the images before it compiles its first file.
function(link_boards)
  foreach(program deuteron compiler_tests)
    if(TARGET ${program})
      target_link_libraries(${program} PRIVATE deuteron_boards deuteron_firmware_files)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL link_boards)
