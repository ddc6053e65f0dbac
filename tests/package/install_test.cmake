# Installs the build into an empty prefix, moves the prefix elsewhere, and builds and runs a project that knows drift only by
# find_package(drift). Variables: tests/package/CMakeLists.txt.

# run(text [EXPECT_FAILURE] command...): the command's output in `text`; a wrong exit status ends the test.
function(run text)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXPECT_FAILURE" "" "")
  execute_process(COMMAND ${arg_UNPARSED_ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  list(JOIN arg_UNPARSED_ARGUMENTS " " command)
  if(arg_EXPECT_FAILURE AND status EQUAL 0)
    message(FATAL_ERROR "This should have failed:\n${command}\n${output}")
  elseif(NOT arg_EXPECT_FAILURE AND NOT status EQUAL 0)
    message(FATAL_ERROR "Status ${status} from\n${command}\n${output}")
  endif()
  set(${text} "${output}" PARENT_SCOPE)
endfunction()

# Ends the test unless the text matches; the pattern's groups are left in `group_1` and `group_2`.
function(expect_match text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "Expected to find '${pattern}' in\n${text}")
  endif()
  set(group_1 "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(group_2 "${CMAKE_MATCH_2}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${work})
run(output ${CMAKE_COMMAND} --install ${drift_build} --prefix ${work}/first)
set(prefix ${work}/moved)
file(RENAME ${work}/first ${prefix})

set(configure ${CMAKE_COMMAND} -G ${generator} -S ${consumer} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release
              -DCMAKE_CXX_COMPILER=${compiler} "-DCMAKE_CXX_FLAGS=${flags}")
run(output ${configure} -B ${work}/build)
run(output ${CMAKE_COMMAND} --build ${work}/build)
run(output ${work}/build/wave)
message(STATUS "${output}")

# On the map it is closer to the wave than the observations were (noise 0.05): it has learnt, and not the noise.
expect_match("${output}" "^rms error ([0-9.]+), mean sd ([0-9.]+)\n$")
if(NOT group_1 LESS 0.05 OR NOT group_2 LESS 0.1)
  message(FATAL_ERROR "The consumer's model has not learnt its wave:\n${output}")
endif()

# The version file is read: a version that is not there is refused.
file(WRITE ${work}/wrong_version/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES NONE)\nfind_package(drift 99.0 REQUIRED)\n")
run(output EXPECT_FAILURE ${CMAKE_COMMAND} -S ${work}/wrong_version -B ${work}/wrong_version/build -DCMAKE_PREFIX_PATH=${prefix})
expect_match("${output}" "version: ${drift_version}")

# pkg-config finds the moved tree too, and what it says is enough to build the same program.
find_program(pkg_config pkg-config)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${libdir}/pkgconfig)
  run(output ${pkg_config} --modversion drift)
  expect_match("${output}" "^${drift_version}\n")
  run(flags_and_libraries ${pkg_config} --cflags --libs drift)
  separate_arguments(flags_and_libraries UNIX_COMMAND "${flags_and_libraries}")
  separate_arguments(consumer_flags UNIX_COMMAND "${flags}")
  run(output ${compiler} -std=c++20 -O2 ${consumer_flags} ${consumer}/main.cpp -o ${work}/wave ${flags_and_libraries})
  run(output ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${prefix}/${libdir} ${work}/wave)
  expect_match("${output}" "^rms error")
endif()

# The moved Python package imports, with the library moved with it, where it was built.
if(python AND EXISTS ${prefix}/${python_folder}/drift/__init__.py AND NOT flags MATCHES "sanitize")
  run(output ${CMAKE_COMMAND} -E env PYTHONPATH=${prefix}/${python_folder} ${python} -B -c
      "import drift; print(drift.__version__, [line.split()[-1] for line in open('/proc/self/maps') if 'libdrift' in line][0])")
  expect_match("${output}" "^${drift_version} ${prefix}/${libdir}/libdrift\\.so")
endif()

# The soname changes with each minor version.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" so_version ${drift_version})
if(NOT EXISTS ${prefix}/${libdir}/libdrift.so.${so_version})
  message(FATAL_ERROR "libdrift.so.${so_version} is not installed")
endif()

if(has_command)
  # Bash's completion, and a manual page for the command and each of its verbs that man renders without complaint.
  if(NOT EXISTS ${prefix}/share/bash-completion/completions/drift)
    message(FATAL_ERROR "bash's completion is not installed")
  endif()
  if(help2man)
    file(GLOB verbs RELATIVE ${root}/docs/verbs ${root}/docs/verbs/*.md)
    list(TRANSFORM verbs REPLACE "^(.*)\\.md$" "-\\1")
    find_program(man man)
    foreach(verb IN ITEMS "" LISTS verbs)
      set(page ${prefix}/share/man/man1/drift${verb}.1)
      file(READ ${page} text)
      expect_match("${text}" "\n.SH NAME\ndrift[^\n]* .- [A-Z]")
      if(man)
        run(output ${CMAKE_COMMAND} -E env MANROFFSEQ= LC_ALL=C.UTF-8 MANWIDTH=80 ${man} --warnings -l ${page})
        if(output MATCHES "warning:")
          message(FATAL_ERROR "man complains of ${page}:\n${output}")
        endif()
      endif()
    endforeach()
  endif()

  # The moved command runs, and with the library moved beside it, not the one in the build folder.
  run(output ${prefix}/bin/drift --version)
  expect_match("${output}" "${drift_version}")
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${prefix}/bin/drift RESOLVED_DEPENDENCIES_VAR libraries
       UNRESOLVED_DEPENDENCIES_VAR unresolved POST_EXCLUDE_REGEXES "^/lib" "^/usr/lib")
  list(FILTER libraries INCLUDE REGEX "/libdrift\\.so")
  file(REAL_PATH "${libraries}" library)
  expect_match("${library}" "^${prefix}/${libdir}/libdrift\\.so")
endif()
