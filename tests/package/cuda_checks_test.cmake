# An nvcc that is too old is known by its release, 90 is compiled for as 90a, and without a GPU nothing is compiled for one. -D root=... -D work=...
cmake_minimum_required(VERSION 3.25)
include(${root}/cmake/DriftCudaChecks.cmake)

function(expect_equal what found wanted)
  if(NOT "${found}" STREQUAL "${wanted}")
    message(SEND_ERROR "${what}: '${found}', expected '${wanted}'")
  endif()
endfunction()

# As Debian 12's own nvcc answers, a recent one, and something else.
foreach(case IN ITEMS "Cuda compilation tools, release 11.8, V11.8.89|11.8" "Cuda compilation tools, release 12.4, V12.4.131|12.4" "hello|")
  string(REGEX MATCH "^([^|]*)[|](.*)$" _ "${case}")
  set(wanted "${CMAKE_MATCH_2}")
  file(WRITE ${work}/nvcc "#!/bin/sh\necho '${CMAKE_MATCH_1}'\n")
  file(CHMOD ${work}/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  drift_nvcc_release(${work}/nvcc release)
  expect_equal("release" "${release}" "${wanted}")
endforeach()
if(NOT "11.8" VERSION_LESS drift_least_cuda OR "12.0" VERSION_LESS drift_least_cuda)
  message(SEND_ERROR "11.8 must be too old and 12.0 new enough, but the least is ${drift_least_cuda}")
endif()

drift_cuda_architectures("80;89;90a;90-virtual" found)
expect_equal("the default" "${found}" "80;89;90a;90-virtual")
drift_cuda_architectures("80;90" found)
expect_equal("90" "${found}" "80;90a")
drift_cuda_architectures("90-real;90a;100-virtual" found)
expect_equal("90-real" "${found}" "90a;100-virtual")
drift_cuda_architectures("80;90-virtual" found)
expect_equal("PTX" "${found}" "80;90-virtual")

# The cards of this machine are compiled for; with one of another kind, all; without any, nothing.
function(expect_native cards wanted)
  file(WRITE ${work}/nvidia-smi "#!/bin/sh\nprintf '${cards}\\n'\n")
  file(CHMOD ${work}/nvidia-smi PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  drift_native_cuda_architectures(${work}/nvidia-smi found)
  expect_equal("cards ${cards}" "${found}" "${wanted}")
endfunction()
expect_native("9.0" "90a")
expect_native("8.6" "80")
expect_native("8.9\\n8.9\\n9.0" "89;90a")
expect_native("12.0" "${drift_all_cuda_architectures}")
expect_native("9.0\\n12.0" "${drift_all_cuda_architectures}")
expect_native("No devices were found" "")
drift_native_cuda_architectures(${work}/no-such-program found)
expect_equal("no nvidia-smi" "${found}" "")

# The whole configuration falls back and says so.
if(DEFINED generator)
  file(WRITE ${work}/nvcc "#!/bin/sh\necho 'Cuda compilation tools, release 11.8, V11.8.89'\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${root} -B ${work}/build -G ${generator} -D DRIFT_NVCC=${work}/nvcc -D DRIFT_TESTS=OFF
                          -D CMAKE_CXX_COMPILER=${compiler}
                  OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT text MATCHES "drift: no GPU engine: [^\n]*nvcc is of CUDA 11.8, and 12.0 or later is needed")
    message(SEND_ERROR "with nvcc 11.8: ${status}\n${text}\n${error}")
  endif()
  file(WRITE ${work}/nvcc "#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${root} -B ${work}/build -D NVIDIA_SMI=${work}/no-such-program
                  OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT text MATCHES "drift: no GPU engine: nvcc is there but no GPU is [^\n]*DRIFT_CUDA_ARCHITECTURES=all")
    message(SEND_ERROR "without a GPU: ${status}\n${text}\n${error}")
  endif()
endif()
