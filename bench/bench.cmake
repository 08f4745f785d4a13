# SPDX-License-Identifier: Apache-2.0
# Benches that are programs of their own: `ninja -C build neutron_cycles`.
if(TARGET neutron_model)
  add_executable(neutron_cycles EXCLUDE_FROM_ALL bench/neutron_cycles.cpp)
  target_link_libraries(neutron_cycles PRIVATE neutron_model fmt::fmt)
endif()
if(TARGET deuteron_boards)
  add_executable(cpu_cost EXCLUDE_FROM_ALL bench/cpu_cost.cpp)
  target_link_libraries(cpu_cost PRIVATE deuteron_core deuteron_boards)
  add_executable(wait_states EXCLUDE_FROM_ALL bench/wait_states.cpp)
  target_link_libraries(wait_states PRIVATE deuteron_verbs deuteron_boards deuteron_firmware_files)
  add_executable(price_blocks EXCLUDE_FROM_ALL bench/price_blocks.cpp)
  target_link_libraries(price_blocks PRIVATE deuteron_core deuteron_boards)
endif()
