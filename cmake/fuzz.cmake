# Fuzz targets: tests/fuzz/fuzz_<name>.c. With DOLMEN_FUZZ (the preset `fuzz`, clang) they are linked
# with libFuzzer; otherwise with tests/fuzz/replay.c, which runs tests/fuzz/corpus/<name>.
option(DOLMEN_FUZZ "Link the fuzz targets with libFuzzer" OFF)

file(GLOB fuzz_targets CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source ${fuzz_targets})
  get_filename_component(name ${source} NAME_WE)
  if(NOT TARGET dolmen_server)
    continue()
  endif()
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE tests/unit)
  target_link_libraries(${name} PRIVATE dolmen_server dolmen_infer dolmen_lint dolmen_policy dolmen_crypt)
  if(DOLMEN_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${name} PRIVATE tests/fuzz/replay.c)
  endif()
endforeach()
