# Tests that run in-process. tests/run runs them, and the suites that talk to a server.

# Unit tests: tests/unit/<module>/test_<name>.c links <module> and what is below it. The engine does
# not know what is on disk; its tests do. Those of http make certificates.
set(unit_engine_needs dolmen_rocks)
set(unit_verify_needs dolmen_rocks)
set(unit_http_needs dolmen_crypt)
file(GLOB unit_tests CONFIGURE_DEPENDS tests/unit/*/test_*.c)
foreach(source ${unit_tests})
  get_filename_component(directory ${source} DIRECTORY)
  get_filename_component(module ${directory} NAME)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^test_" "" name ${name})
  if(TARGET dolmen_${module})
    add_executable(unit_${module}_${name} ${source})
    target_include_directories(unit_${module}_${name} PRIVATE tests/unit)
    target_link_libraries(unit_${module}_${name} PRIVATE dolmen_${module} ${unit_${module}_needs} cmocka)
    add_test(NAME unit_${module}_${name} COMMAND unit_${module}_${name}
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
endforeach()

# Golden tests: tests/golden/<name>.c runs requests through the public header.
file(GLOB golden_tests CONFIGURE_DEPENDS tests/golden/*.c)
foreach(source ${golden_tests})
  get_filename_component(name ${source} NAME_WE)
  if(TARGET libdolmen)
    add_executable(golden_${name} ${source})
    target_link_libraries(golden_${name} PRIVATE libdolmen)
    add_test(NAME golden_${name} COMMAND golden_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
endforeach()

# Examples: examples/<name>.c sees the public header only, and must succeed.
file(GLOB examples CONFIGURE_DEPENDS examples/*.c)
foreach(source ${examples})
  get_filename_component(name ${source} NAME_WE)
  if(TARGET libdolmen)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(example_${name} PRIVATE libdolmen)
    add_test(NAME example_${name} COMMAND example_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
endforeach()
