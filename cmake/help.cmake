# What `dolmen COMMAND --help` prints, as C strings: src/cli/help/NAME.txt becomes `help_NAME`.
# @TARGET_OPTIONS@ in a text stands for target.options, the rows that many commands share.
set(directory ${CMAKE_SOURCE_DIR}/src/cli/help)
file(GLOB texts CONFIGURE_DEPENDS ${directory}/*.txt)
file(READ ${directory}/target.options TARGET_OPTIONS)
string(REGEX REPLACE "\n$" "" TARGET_OPTIONS "${TARGET_OPTIONS}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${directory}/target.options ${texts})

set(code "#include \"cli/command.h\"\n")
foreach(path ${texts})
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text)
  string(CONFIGURE "${text}" text @ONLY)
  string(HEX "${text}" bytes)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND code "const char help_${name}[] = {${bytes}0};\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/cli_help.c CONTENT "${code}")
target_sources(dolmen_cli PRIVATE ${CMAKE_BINARY_DIR}/cli_help.c)
