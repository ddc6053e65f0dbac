# The GPU engine: built if nvcc of CUDA 12.0 or later is found and there is a GPU, or DRIFT_CUDA_ARCHITECTURES names what to compile
# for; otherwise no_cuda.cpp takes its place: a first build does not wait for kernels that nothing here can run.
# CUDA's runtime is linked statically and no other library of CUDA is used, so that what is built runs on machines without them.
#
# The bench alone looks for cuBLAS, when it runs, to measure the card's own product (card_product.cpp).
include(DriftCudaChecks)
option(DRIFT_CUDA "Build the GPU engine if nvcc and a GPU are found" ON)
set(DRIFT_CUDA_ARCHITECTURES "auto" CACHE STRING
    "What the GPU engine is compiled for: auto (this machine's cards; none: no GPU engine), all, or real architectures (90 means 90a) and virtual ones for GPUs to come")

add_custom_target(bundle_programs)  # what `make bundle` packs
add_dependencies(bundle_programs drift_command)

set(cuda_folder ${CMAKE_CURRENT_SOURCE_DIR}/src/engine/cuda)
find_program(DRIFT_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDACXX PATHS /usr/local/cuda/bin /opt/cuda/bin)
set(why_no_cuda "")
if(NOT DRIFT_CUDA)
  set(why_no_cuda "DRIFT_CUDA is off")
elseif(NOT DRIFT_NVCC)
  set(why_no_cuda "nvcc is not found")
else()
  drift_nvcc_release(${DRIFT_NVCC} nvcc_release)
  if(DRIFT_CUDA_ARCHITECTURES STREQUAL "auto")
    find_program(NVIDIA_SMI nvidia-smi)
    drift_native_cuda_architectures("${NVIDIA_SMI}" cuda_architectures)
  elseif(DRIFT_CUDA_ARCHITECTURES STREQUAL "all")
    set(cuda_architectures ${drift_all_cuda_architectures})
  else()
    drift_cuda_architectures("${DRIFT_CUDA_ARCHITECTURES}" cuda_architectures)
  endif()
  if(nvcc_release VERSION_LESS drift_least_cuda)  # also where it is empty
    set(why_no_cuda "${DRIFT_NVCC} is of CUDA ${nvcc_release}, and ${drift_least_cuda} or later is needed (-D DRIFT_NVCC=... names another)")
  elseif(NOT cuda_architectures)
    set(why_no_cuda "nvcc is there but no GPU is (-D DRIFT_CUDA_ARCHITECTURES=all builds it for other machines)")
  endif()
endif()
if(why_no_cuda)
  target_sources(drift_engine PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src/engine/no_cuda.cpp)
  message(STATUS "drift: no GPU engine: ${why_no_cuda}")
  if(DRIFT_TESTS)  # for `make gpu-test`
    add_custom_target(test_cuda COMMAND ${CMAKE_COMMAND} -E echo "no GPU tests: ${why_no_cuda}" COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${DRIFT_NVCC})
endif()
set(CMAKE_CUDA_ARCHITECTURES OFF)
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know that nvcc 12 and later have C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)
set(cuda_options "")
foreach(architecture IN LISTS cuda_architectures)
  if(architecture MATCHES "^(.*)-virtual$")
    list(APPEND cuda_options "SHELL:-gencode arch=compute_${CMAKE_MATCH_1},code=compute_${CMAKE_MATCH_1}")
  else()
    list(APPEND cuda_options "SHELL:-gencode arch=compute_${architecture},code=sm_${architecture}")
  endif()
endforeach()

file(GLOB cuda_sources CONFIGURE_DEPENDS ${cuda_folder}/*.cu ${cuda_folder}/*.cpp)
list(FILTER cuda_sources EXCLUDE REGEX "_test\\.cpp$")
target_sources(drift_engine PRIVATE ${cuda_sources})
# Host files of the GPU engine are compiled one by one: they share names, and few machines compile them.
set_source_files_properties(${cuda_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set_target_properties(drift_engine PROPERTIES CUDA_ARCHITECTURES OFF CUDA_STANDARD 20)
# No compiler cache, whatever C++ has: ccache preprocesses without __CUDA_ARCH__, so it takes a kernel that has changed under an
# #ifdef of the architecture for the one that it knows, and gives back the old object.
set_target_properties(drift_engine PROPERTIES CUDA_COMPILER_LAUNCHER "")
set(host_warnings -Wall,-Wextra)
if(CMAKE_COMPILE_WARNING_AS_ERROR)  # CMake tells nvcc, which does not tell the host's compiler
  string(APPEND host_warnings ",-Werror")
endif()
target_compile_options(drift_engine PRIVATE
  "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options};--expt-relaxed-constexpr;-Xcompiler=${host_warnings}>")
target_include_directories(drift_engine SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(drift_engine PUBLIC CUDA::cudart_static)
set_property(GLOBAL APPEND PROPERTY DRIFT_ROOM_LIBRARIES CUDA::cudart_static)
message(STATUS "drift: GPU engine by ${DRIFT_NVCC} for ${cuda_architectures}")

if(DRIFT_TESTS)
  file(GLOB cuda_tests CONFIGURE_DEPENDS ${cuda_folder}/*_test.cpp)
  if(cuda_tests)
    add_executable(test_cuda ${cuda_tests})
    target_link_libraries(test_cuda PRIVATE drift_engine drift_flags GTest::gtest GTest::gtest_main GTest::gmock)
    drift_find_libraries_beside(test_cuda)
    add_dependencies(bundle_programs test_cuda)
    gtest_discover_tests(test_cuda TEST_PREFIX cuda. DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "unit;gpu")
  endif()
endif()
