# SPDX-License-Identifier: Apache-2.0
# How device sources are optimized: kernels and what transposes at the NPU's border for speed, what runs once for size. Names are relative to
# the root of the sources. Used by boards/boards.cmake and by the projects that `deuteron firmware` writes. SMALL_LOADER: the loader for size.
function(optimization_of name result)
  # Loops of packed convolutions, linear layers and products are assembly, and an RNN has few of its own: what stands around them is half as
  # long as with -O3.
  if(name MATCHES "^kernels/(conv2d/packed(_shifts)?|recurrent/rnn|matmul)/kernel_(dsp|mve)[.]cpp$|^kernels/(linear|recurrent/(gru|lstm))/kernel_mve[.]cpp$")
    set(${result} -Os PARENT_SCOPE)
  # Loops are written for the instruction set; with -O3 gcc 12 makes vectors of what is left for the ends as well, and a third more code.
  # But for those that pass functions on: with -O2 these are called through pointers.
  elseif(name MATCHES "^kernels/.+/kernel_(dsp|mve)[.]cpp$|^kernels/(((avg|max)_pool2d|minimum|reduce)/kernel_scalar|permute/kernel)[.]cpp$" AND
         NOT name MATCHES "^kernels/(depthwise_conv2d/kernel|conv2d/packed_add(_shifts)?/)")
    set(${result} -O2 PARENT_SCOPE)
  elseif(name MATCHES "^kernels/.+/(kernel[^/]*|[^/]+_scalar)[.](cpp|S)$|^kernels/.+[.]S$|^npu/neutron/delegate/reorder[.]cpp$")
    set(${result} -O3 PARENT_SCOPE)
  elseif(SMALL_LOADER AND name MATCHES "^runtime/[^/]+$")
    set(${result} -Os PARENT_SCOPE)
  # Half the code of -O3. The loader reads every byte of a program's description: with -Os it needs 40 % more instructions.
  elseif(NOT SMALL_LOADER AND name MATCHES "^kernels/.+/bind[.]cpp$")
    set(${result} -O2 PARENT_SCOPE)
  elseif(name MATCHES "^runtime/[^/]+$|^(kernels/portable/.*|npu/neutron/kernels/[^/]+/kernel[.]cpp)$")
    set(${result} -O2 PARENT_SCOPE)
  else()
    set(${result} -Os PARENT_SCOPE)
  endif()
endfunction()
