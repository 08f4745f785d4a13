# SPDX-License-Identifier: Apache-2.0
# The longest tests, the longest first: ctest starts them first, so that no long one is left for one processor while another has nothing to do.
# (It remembers how long a test took, but a fresh clone does not know it.)
set(LONGEST_TESTS
    stock.recorded python_package sizes stock.runtime op_cases neutron_splits documents compare onnx_models c_state torch_operators tflite_models site
    board_kernels_mps3-an547 neutron_partitions same_bytes tracing neutron_ports packages neutron_shapes
    golden Cli SplitRows QuantizationFixtures Damage OnBoard endings Models/TfliteDamage PlanMemory Recipes Pack)
# Is called at the end of the root CMakeLists.txt, when all tests are there.
function(start_longest_first)
  set(cost 1000)
  foreach(name IN LISTS LONGEST_TESTS)
    if(TEST ${name})
      set_tests_properties(${name} PROPERTIES COST ${cost})
    endif()
    math(EXPR cost "${cost} - 1")
  endforeach()
endfunction()
