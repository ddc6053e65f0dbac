# drift_room(name USES targets... [SUBFOLDERS folders...])
#
# A room is a folder of src/ and a static library drift_<name>. Its headers are included as "<name>/header.h" through an include
# folder that holds a link to this room alone, so that including a room that is not among USES (or theirs) does not compile.
# Every x_test.cpp beside the code becomes part of the test program test_<name>.
function(drift_room name)
  cmake_parse_arguments(room "" "" "USES;SUBFOLDERS" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/src/${name})
  set(patterns ${folder}/*.cpp)
  foreach(subfolder IN LISTS room_SUBFOLDERS)
    list(APPEND patterns ${folder}/${subfolder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  # One of several files for one job: only the chosen sgemm_*.cpp is built, and no_cuda.cpp where CUDA is missing (DriftCuda).
  list(FILTER sources EXCLUDE REGEX "/(sgemm_[a-z]+|no_cuda)\\.cpp$")
  if(EXISTS ${folder}/${DRIFT_SGEMM})
    list(APPEND sources ${folder}/${DRIFT_SGEMM})
  endif()

  set(link_folder ${CMAKE_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${link_folder})
  file(CREATE_LINK ${folder} ${link_folder}/${name} SYMBOLIC)

  add_library(drift_${name} STATIC ${sources})
  set_target_properties(drift_${name} PROPERTIES LINKER_LANGUAGE CXX UNITY_BUILD ${DRIFT_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  drift_compile_alone(${sources})
  target_include_directories(drift_${name} PUBLIC ${link_folder} ${CMAKE_CURRENT_SOURCE_DIR}/include)
  target_link_libraries(drift_${name} PUBLIC ${room_USES} PRIVATE drift_flags)
  set(libraries ${room_USES})
  list(FILTER libraries INCLUDE REGEX "::|^drift_(blas|lapack)$")  # what is not a room
  set_property(GLOBAL APPEND PROPERTY DRIFT_ROOM_OBJECTS $<TARGET_OBJECTS:drift_${name}>)
  set_property(GLOBAL APPEND PROPERTY DRIFT_ROOM_LIBRARIES ${libraries})

  if(DRIFT_TESTS AND tests)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE drift_${name} drift_flags GTest::gtest GTest::gtest_main GTest::gmock)
    # What is tested is optimised; the tests themselves compile in three quarters of the time, with sanitizers in a quarter.
    if(DRIFT_SANITIZE)
      target_compile_options(test_${name} PRIVATE -O0)
    else()
      target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
  endif()
endfunction()

# drift_compile_alone(sources...): what Highway compiles once per instruction set includes itself and cannot share a unit.
function(drift_compile_alone)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} highway REGEX "HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
    if(highway)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# drift_find_libraries_beside(program): in a folder of bin/ and lib/ (tools/make-bundle) the program finds its libraries in lib/, and so
# do they theirs, which takes an RPATH: a RUNPATH goes for the program's own needs alone. LD_LIBRARY_PATH would do it too, but GMT,
# which drift starts, would inherit it and find libraries that are not its own.
function(drift_find_libraries_beside program)
  set_property(TARGET ${program} APPEND PROPERTY BUILD_RPATH "$ORIGIN/../lib")
  target_link_options(${program} PRIVATE LINKER:--disable-new-dtags)
endfunction()
