# The Python package drift: an extension module over the public headers (python/src), and Python (python/drift).
#
# Built where pybind11 and a Python that has NumPy are found; DRIFT_PYTHON=OFF leaves it out, ON insists. In the build folder the
# package is python/drift, so that PYTHONPATH=build/release/python imports it. DRIFT_PYTHON_EXECUTABLE names another interpreter.
set(DRIFT_PYTHON AUTO CACHE STRING "Build the Python package: AUTO, ON or OFF")
set(DRIFT_PYTHON_EXECUTABLE "" CACHE FILEPATH "Interpreter to build the Python package for; empty: the first that has NumPy")
if(NOT DRIFT_PYTHON)
  return()
endif()

# Debian's NumPy is Debian's Python's: a python3 that comes first on the PATH may have none.
function(drift_find_python result why)
  if(DRIFT_PYTHON_EXECUTABLE)  # told, not looked for: a fresh virtual environment has no NumPy yet
    set(${result} ${DRIFT_PYTHON_EXECUTABLE} PARENT_SCOPE)
    return()
  endif()
  set(${result} "" PARENT_SCOPE)
  find_program(path_python python3)
  mark_as_advanced(path_python)
  foreach(candidate IN ITEMS /usr/bin/python3 "${path_python}")
    if(NOT EXISTS "${candidate}")
      continue()
    endif()
    execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(${result} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${why} "no Python with NumPy" PARENT_SCOPE)
endfunction()

drift_find_python(drift_python why_no_python)
if(drift_python)
  set(Python_EXECUTABLE ${drift_python})
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
  if(Python_FOUND)
    find_package(pybind11 2.10 QUIET CONFIG)
  endif()
  if(NOT Python_FOUND)
    set(why_no_python "no headers of ${drift_python} (python3-dev)")
  elseif(NOT pybind11_FOUND)
    set(why_no_python "no pybind11 2.10 (pybind11-dev)")
  endif()
endif()
if(why_no_python)
  if(DRIFT_PYTHON STREQUAL "AUTO")
    message(STATUS "drift: no Python package and none of its tests: ${why_no_python}; make python installs what is missing")
    return()
  endif()
  message(FATAL_ERROR "drift: the Python package cannot be built: ${why_no_python}; tools/install-packages --python installs it")
endif()
message(STATUS "drift: Python package for ${drift_python} (${Python_VERSION})")

set(drift_python_folder ${PROJECT_BINARY_DIR}/python/drift)
file(GLOB drift_python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cpp)
pybind11_add_module(drift_python MODULE NO_EXTRAS ${drift_python_sources})
target_link_libraries(drift_python PRIVATE drift drift_flags)
add_dependencies(drift_package drift_python)
set(drift_python_install "lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages")
execute_process(COMMAND ${drift_python} -c "import sysconfig; print('posix_local' in sysconfig.get_scheme_names())"
                OUTPUT_VARIABLE is_debian OUTPUT_STRIP_TRAILING_WHITESPACE)
if(is_debian STREQUAL "True")  # where Debian's Python looks, under /usr/local
  set(drift_python_install "lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/dist-packages")
endif()
set(DRIFT_PYTHON_INSTALL_DIR ${drift_python_install} CACHE STRING "Where make install puts the Python package, under the prefix")
file(RELATIVE_PATH drift_python_to_lib ${CMAKE_INSTALL_PREFIX}/${DRIFT_PYTHON_INSTALL_DIR}/drift ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(drift_python PROPERTIES OUTPUT_NAME _drift LIBRARY_OUTPUT_DIRECTORY ${drift_python_folder}
                                              INSTALL_RPATH "$ORIGIN;$ORIGIN/${drift_python_to_lib}")

# The package's Python beside the module, by links, and the stubs of its settings, which the module itself writes.
file(MAKE_DIRECTORY ${drift_python_folder})
file(GLOB drift_python_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/drift
     ${PROJECT_SOURCE_DIR}/python/drift/*.py ${PROJECT_SOURCE_DIR}/python/drift/*.pyi ${PROJECT_SOURCE_DIR}/python/drift/py.typed)
foreach(file IN LISTS drift_python_files)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/drift/${file} ${drift_python_folder}/${file} SYMBOLIC)
endforeach()
if(NOT DRIFT_SANITIZE)  # an interpreter without the sanitizer cannot load the module just like that
  add_custom_command(TARGET drift_python POST_BUILD VERBATIM
                     COMMAND ${drift_python} -B ${PROJECT_SOURCE_DIR}/python/make_stubs.py ${PROJECT_BINARY_DIR}/python)
  set(drift_python_stubs ${drift_python_folder}/_verbs.pyi ${drift_python_folder}/sklearn.pyi)
endif()

install(TARGETS drift_python DESTINATION ${DRIFT_PYTHON_INSTALL_DIR}/drift OPTIONAL COMPONENT python)
install(DIRECTORY python/drift DESTINATION ${DRIFT_PYTHON_INSTALL_DIR} COMPONENT python
        FILES_MATCHING PATTERN *.py PATTERN *.pyi PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(FILES ${drift_python_stubs} DESTINATION ${DRIFT_PYTHON_INSTALL_DIR}/drift OPTIONAL COMPONENT python)

# One test per file of tests. Those of types, notebooks and the wheel skip what they miss; pytest itself must be there.
option(DRIFT_ALL_PYTHON_TESTS "Skip no test of the Python package: a missing module is a failure, and pip install . compiles it all" OFF)
if(NOT DRIFT_TESTS)
  return()
endif()
execute_process(COMMAND ${drift_python} -c "import pytest, pandas, xarray, netCDF4" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 0 AND DRIFT_ALL_PYTHON_TESTS)
  message(FATAL_ERROR "drift: pytest, pandas, xarray or netCDF4 is missing; tools/install-packages --tests installs them")
elseif(NOT status EQUAL 0)
  message(STATUS "drift: no tests of the Python package: pytest, pandas, xarray or netCDF4 is missing (tools/install-packages --tests)")
  return()
endif()
if(DRIFT_SANITIZE MATCHES "thread")
  message(STATUS "drift: no tests of the Python package under the thread sanitizer, which the interpreter is not built with")
  return()
endif()
set(drift_python_environment "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;MPLBACKEND=Agg"
                             "DRIFT_COMMAND=$<TARGET_FILE:drift_command>" "DRIFT_BUILD_FOLDER=${PROJECT_BINARY_DIR}"
                             "MALLOC_PERTURB_=85")  # what is freed is overwritten: a view that outlives its owner shows
if(DRIFT_SANITIZE)  # the interpreter leaks what it keeps until its end
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so OUTPUT_VARIABLE cxx OUTPUT_STRIP_TRAILING_WHITESPACE)
  # The C++ library too, for the sanitizer looks for its exceptions at the start.
  list(APPEND drift_python_environment "LD_PRELOAD=${asan} ${cxx}" "ASAN_OPTIONS=detect_leaks=0")
endif()
file(GLOB drift_python_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tests/test_*.py)
if(DRIFT_ALL_PYTHON_TESTS)
  list(APPEND drift_python_environment "DRIFT_ALL_PYTHON_TESTS=1")
endif()
foreach(file IN LISTS drift_python_tests)
  cmake_path(GET file STEM name)
  if(DRIFT_SANITIZE AND NOT name MATCHES "dataset|from_xarray|predict|interrupt")
    continue()  # where memory changes hands: views and their owners, results, threads, callbacks
  endif()
  set(timeout_s 900)
  if(DRIFT_ALL_PYTHON_TESTS AND name STREQUAL "test_install")
    set(timeout_s 3600)  # it compiles the library
  endif()
  add_test(NAME python.${name} COMMAND ${drift_python} -m pytest -q -p no:cacheprovider ${file} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/python/tests)
  set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT ${timeout_s} ENVIRONMENT "${drift_python_environment}")
endforeach()
