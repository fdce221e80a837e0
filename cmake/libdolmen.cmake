# libdolmen: all modules up to src/api in one archive. There is no shared library, because
# Debian's librocksdb.a cannot be part of one.
if(NOT TARGET dolmen_api)
  return()
endif()

set(objects)
foreach(name base value store text crypt json expr wal engine sign policy verify rocks model eval diff guard migration tables partiql transfer
        work expire capture stream backup exchange infer report retain live identity change
        requests call items control history designs accounts api)
  if(TARGET dolmen_${name})
    list(APPEND objects $<TARGET_OBJECTS:dolmen_${name}>)
  endif()
endforeach()

add_library(libdolmen STATIC ${objects})
target_link_libraries(libdolmen INTERFACE OpenSSL::Crypto ${ROCKSDB_LIBRARIES}
                      ${ZSTD_LIBRARY} ZLIB::ZLIB Threads::Threads stdc++ m dl)
set_target_properties(libdolmen PROPERTIES OUTPUT_NAME dolmen LINKER_LANGUAGE C)

configure_file(cmake/dolmen.pc.in dolmen.pc @ONLY)
install(TARGETS libdolmen ARCHIVE)
install(FILES include/dolmen.h TYPE INCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/dolmen.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What bench/embedded runs.
add_executable(bench_embedded EXCLUDE_FROM_ALL bench/embedded.c)
target_link_libraries(bench_embedded PRIVATE libdolmen)

# What bench/policy runs.
if(TARGET dolmen_policy)
  add_executable(bench_policy EXCLUDE_FROM_ALL bench/policy.c)
  target_link_libraries(bench_policy PRIVATE dolmen_policy)
endif()

# What bench/authorize runs.
add_executable(bench_authorize EXCLUDE_FROM_ALL bench/authorize.c)
target_link_libraries(bench_authorize PRIVATE dolmen_api)
