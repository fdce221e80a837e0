# Files as constants of the binary. embed(target files...): the bytes of dir/client.ts become
# `const char runtime_client_ts[]`, ended by a NUL. Run as a script (cmake -P), it writes one of them.
#
# CMake reads files as hexadecimal digits without changing a byte, so that nothing else is needed.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
  string(REGEX REPLACE "(\\\\x0a)" "\\1\"\n    \"" bytes "${bytes}")
  file(WRITE ${OUTPUT} "// Made from ${FILE} by cmake/embed.cmake.\n"
       "extern const char ${NAME}[];\nconst char ${NAME}[] =\n    \"${bytes}\";\n")
  return()
endif()

function(embed target)
  foreach(input ${ARGN})
    get_filename_component(file ${input} NAME)
    string(MAKE_C_IDENTIFIER runtime_${file} name)
    set(output ${CMAKE_BINARY_DIR}/embedded/${name}.c)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DFILE=${file} -DNAME=${name}
              -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${input} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
      COMMENT "Embedding ${file}" VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endforeach()
endfunction()
