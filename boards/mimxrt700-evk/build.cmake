# SPDX-License-Identifier: Apache-2.0
# A firmware for the MIMXRT700-EVK: start-up, clocks, power and console are the MCUXpresso SDK's, which stays where it is.
set(MCUX_SDK "" CACHE PATH "the MCUXpresso SDK (west workspace: its folder mcuxsdk): has devices/, drivers/, components/, examples/")
set(device devices/RT/RT700/MIMXRT798S)
set(board_files examples/_boards/mimxrt700evk)

# Folders with headers, and the sources that start_board() (port.cpp) comes to. Newer SDKs have the start-up in C.
set(SDK_FOLDERS ${device} ${device}/drivers devices/RT/RT700/periph arch/arm/CMSIS/Core/Include drivers/common drivers/cache/xcache drivers/glikey
  drivers/gpio drivers/lpflexcomm drivers/lpi2c drivers/lpuart drivers/xspi components/debug_console_lite components/pmic/pca9422 components/str
  components/uart ${board_files} ${board_files}/flash_config ${board_files}/common/clock/cm33_core0 ${board_files}/common/pin_mux/cm33_core0)
set(SDK_SOURCES ${device}/system_MIMXRT798S_cm33_core0.c ${device}/drivers/fsl_clock.c ${device}/drivers/fsl_power.c ${device}/drivers/fsl_reset.c
  drivers/common/fsl_common.c drivers/common/fsl_common_arm.c drivers/cache/xcache/fsl_cache.c drivers/glikey/fsl_glikey.c
  drivers/gpio/fsl_gpio.c drivers/lpflexcomm/fsl_lpflexcomm.c drivers/lpi2c/fsl_lpi2c.c drivers/lpuart/fsl_lpuart.c
  components/debug_console_lite/fsl_debug_console.c components/pmic/pca9422/fsl_pca9422.c components/str/fsl_str.c
  components/uart/fsl_adapter_lpuart.c ${board_files}/board.c ${board_files}/pmic_support.c ${board_files}/flash_config/flash_config.c
  ${board_files}/common/clock/cm33_core0/clock_config.c ${board_files}/common/pin_mux/cm33_core0/pin_mux.c)
set(start_up_in_c ${device}/startup_MIMXRT798S_cm33_core0.c)
if(EXISTS ${MCUX_SDK}/${start_up_in_c})
  list(APPEND SDK_SOURCES ${start_up_in_c})
else()
  list(APPEND SDK_SOURCES ${device}/gcc/startup_MIMXRT798S_cm33_core0.S)
endif()

if(NOT MCUX_SDK)
  message(FATAL_ERROR "This project needs the MCUXpresso SDK: cmake -S . -B build -DMCUX_SDK=PATH (west init -m "
    "https://github.com/nxp-mcuxpresso/mcuxsdk-manifests.git; west update_board --set board mimxrt700evk)")
endif()
foreach(source IN LISTS SDK_SOURCES)
  if(NOT EXISTS ${MCUX_SDK}/${source})
    message(FATAL_ERROR "the MCUXpresso SDK in ${MCUX_SDK} has no ${source}, which start-up or board files are made of. "
      "Give the folder that has devices/, drivers/, components/ and examples/ (24.12 or newer)")
  endif()
endforeach()

list(TRANSFORM SDK_FOLDERS PREPEND ${MCUX_SDK}/)
list(TRANSFORM SDK_SOURCES PREPEND ${MCUX_SDK}/)
add_library(mcux_sdk OBJECT ${SDK_SOURCES})
target_include_directories(mcux_sdk SYSTEM PUBLIC ${SDK_FOLDERS})
# The flash's header is asked for, the start-up goes to main, clears .bss and fills what is not cached.
target_compile_definitions(mcux_sdk PUBLIC CPU_MIMXRT798SGFOA_cm33_core0 MCUXPRESSO_SDK SDK_DEBUGCONSOLE_UART SDK_I2C_BASED_COMPONENT_USED=1
  BOOT_HEADER_ENABLE=1 __STARTUP_CLEAR_BSS __STARTUP_INITIALIZE_NONCACHEDATA __START=main NDEBUG)
target_compile_options(mcux_sdk PRIVATE ${CPU_FLAGS} -Os -w -ffunction-sections -fdata-sections -ffreestanding -fno-common)
target_link_libraries(firmware PRIVATE mcux_sdk)
set(LINKER_FOLDERS ${ports} ${CMAKE_CURRENT_SOURCE_DIR}/deuteron)

# The vendor's libraries, where the SDK has them.
set(neutron ${MCUX_SDK}/middleware/eiq/neutron/rt700/cm33)
if(NPU AND NOT NPU_MODEL_SOURCES AND NOT NEUTRON_DRIVER)
  foreach(library Driver Firmware)
    if(NOT EXISTS ${neutron}/libNeutron${library}.a)
      message(FATAL_ERROR "there is no ${neutron}/libNeutron${library}.a: -DNEUTRON_DRIVER=libNeutronDriver.a "
        "-DNEUTRON_FIRMWARE=libNeutronFirmware.a say where the vendor's libraries are, of the converter's version")
    endif()
  endforeach()
  set(NEUTRON_DRIVER ${neutron}/libNeutronDriver.a)
  set(NEUTRON_FIRMWARE ${neutron}/libNeutronFirmware.a)
endif()
