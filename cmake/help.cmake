# What `dolmen COMMAND --help` prints: src/commands/help/NAME.txt becomes `help_NAME_txt`.
# @TARGET_OPTIONS@ in a text stands for target.options, the rows that many commands share, followed by
# those of trust.options; @TRUST_OPTIONS@ for the latter alone.
set(directory ${CMAKE_SOURCE_DIR}/src/commands/help)
file(GLOB texts CONFIGURE_DEPENDS ${directory}/*.txt)
file(READ ${directory}/target.options TARGET_OPTIONS)
file(READ ${directory}/trust.options TRUST_OPTIONS)
string(REGEX REPLACE "\n$" "" TRUST_OPTIONS "${TRUST_OPTIONS}")
string(APPEND TARGET_OPTIONS "${TRUST_OPTIONS}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${directory}/target.options
             ${directory}/trust.options)
foreach(text ${texts})
  get_filename_component(name ${text} NAME)
  configure_file(${text} ${CMAKE_BINARY_DIR}/help/${name} @ONLY)
  embed(dolmen_commands help ${CMAKE_BINARY_DIR}/help/${name})
endforeach()
