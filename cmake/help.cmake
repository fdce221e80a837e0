# What `dolmen COMMAND --help` prints: src/commands/help/NAME.txt becomes `help_NAME_txt`.
# @TARGET_OPTIONS@ in a text stands for target.options, the rows that many commands share, followed by
# those of trust.options; @TRUST_OPTIONS@ for the latter alone; @SERVE_OPTIONS@ for what serve.txt has.
set(directory ${CMAKE_SOURCE_DIR}/src/commands/help)
file(GLOB texts CONFIGURE_DEPENDS ${directory}/*.txt)
file(READ ${directory}/target.options TARGET_OPTIONS)
file(READ ${directory}/trust.options TRUST_OPTIONS)
string(REGEX REPLACE "\n$" "" TRUST_OPTIONS "${TRUST_OPTIONS}")
string(APPEND TARGET_OPTIONS "${TRUST_OPTIONS}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${directory}/target.options
             ${directory}/trust.options ${directory}/serve.txt)
file(READ ${directory}/serve.txt SERVE_OPTIONS)
string(FIND "${SERVE_OPTIONS}" "Options:\n" begin)
math(EXPR begin "${begin} + 9")
string(FIND "${SERVE_OPTIONS}" "\n  --help" end)
math(EXPR length "${end} - ${begin}")
string(SUBSTRING "${SERVE_OPTIONS}" ${begin} ${length} SERVE_OPTIONS)
foreach(text ${texts})
  get_filename_component(name ${text} NAME)
  configure_file(${text} ${CMAKE_BINARY_DIR}/help/${name} @ONLY)
  embed(dolmen_commands help ${CMAKE_BINARY_DIR}/help/${name})
endforeach()
