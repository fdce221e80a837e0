# What `dolmen COMMAND --help` prints: src/cli/help/NAME.txt becomes `help_NAME_txt`.
# @TARGET_OPTIONS@ in a text stands for target.options, the rows that many commands share.
set(directory ${CMAKE_SOURCE_DIR}/src/cli/help)
file(GLOB texts CONFIGURE_DEPENDS ${directory}/*.txt)
file(READ ${directory}/target.options TARGET_OPTIONS)
string(REGEX REPLACE "\n$" "" TARGET_OPTIONS "${TARGET_OPTIONS}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${directory}/target.options)
foreach(text ${texts})
  get_filename_component(name ${text} NAME)
  configure_file(${text} ${CMAKE_BINARY_DIR}/help/${name} @ONLY)
  embed(dolmen_cli help ${CMAKE_BINARY_DIR}/help/${name})
endforeach()
