# What DriftCuda.cmake asks before it builds the GPU engine; apart from it so that a test can ask the same (tests/package).

# nvcc has C++20 and sm_90a's wgmma from this release on, and CUDA's cudaGraphInstantiate its present form.
set(drift_least_cuda 12.0)

# Sets `result` to the release of an nvcc, "12.4"; empty where it does not say.
function(drift_nvcc_release nvcc result)
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE text ERROR_QUIET)
  if(text MATCHES "release ([0-9]+\\.[0-9]+)")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${result} "" PARENT_SCOPE)
  endif()
endfunction()

# What a bundle is compiled for: cards from the A100 on, and by PTX those to come.
set(drift_all_cuda_architectures 80 89 90a 90-virtual)

# Sets `result` to the architectures that the cards of this machine need: nothing if there is no card, all if none of the real
# ones fits a card. Compiling for one takes a third of the time.
function(drift_native_cuda_architectures nvidia_smi result)
  set(${result} "" PARENT_SCOPE)
  execute_process(COMMAND ${nvidia_smi} --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE status)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" cards "${text}")
  if(NOT status EQUAL 0 OR NOT cards)
    return()
  endif()
  set(needed "")
  foreach(card IN LISTS cards)
    if(card MATCHES "^8\\.[0-8]$")  # code for 8.0 runs on all of these
      list(APPEND needed 80)
    elseif(card STREQUAL "8.9")
      list(APPEND needed 89)
    elseif(card STREQUAL "9.0")
      list(APPEND needed 90a)
    else()
      set(${result} ${drift_all_cuda_architectures} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES needed)
  set(${result} ${needed} PARENT_SCOPE)
endfunction()

# Sets `result` to the architectures of a list as they are compiled for. The fused kernels want sm_90a: real code for 90 without the
# `a` would run on the same cards without them, so 90 means 90a.
function(drift_cuda_architectures architectures result)
  set(chosen "")
  foreach(architecture IN LISTS architectures)
    if(NOT architecture MATCHES "^[0-9]+[af]?(-real|-virtual)?$")
      message(FATAL_ERROR "DRIFT_CUDA_ARCHITECTURES: '${architecture}' is not an architecture; give numbers such as 80, 90a or 90-virtual")
    endif()
    string(REGEX REPLACE "-real$" "" architecture ${architecture})
    if(architecture STREQUAL "90")
      set(architecture 90a)
    endif()
    list(APPEND chosen ${architecture})
  endforeach()
  list(REMOVE_DUPLICATES chosen)
  set(${result} "${chosen}" PARENT_SCOPE)
endfunction()
