# Manual pages and completion, made from what the command itself prints, so that there is no second text. Run by the build:
# -D drift=... -D help2man=... -D version=... -D verbs=... -D out=...

# page(name title words...): the manual page of `drift words...`.
function(page name)
  execute_process(COMMAND ${drift} ${ARGN} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^\n]+" summary "${help}")
  string(REGEX REPLACE "[.]$" "" summary "${summary}")
  # help2man runs a program by itself; this one stands for the command with its verb.
  file(WRITE ${out}/${name} "#!/bin/sh\nexec '${drift}' ${ARGN} \"$@\"\n")
  file(CHMOD ${out}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  execute_process(COMMAND ${help2man} --no-info --name=${summary} --version-string=${version} --source=drift\ ${version}
                          --manual=drift --output=${out}/${name}.1 ${out}/${name}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${out}/${name})
endfunction()

file(REMOVE_RECURSE ${out})
page(drift)
foreach(verb IN LISTS verbs)
  page(drift-${verb} ${verb})
endforeach()
