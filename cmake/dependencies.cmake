# What comes from Debian. RocksDB, its compressors and libuv are linked statically, so that
# build/dolmen runs where they are not installed; OpenSSL and zlib get their security fixes
# from the system.
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
find_library(UV_LIBRARY NAMES libuv_a.a libuv.a uv REQUIRED)
find_library(ZSTD_LIBRARY NAMES libzstd.a zstd REQUIRED)
find_library(ROCKSDB_LIBRARY NAMES librocksdb.a rocksdb REQUIRED)
set(ROCKSDB_LIBRARIES ${ROCKSDB_LIBRARY})
foreach(name snappy lz4 zstd bz2 gflags)
  find_library(${name}_LIBRARY NAMES lib${name}.a ${name})
  if(${name}_LIBRARY)
    list(APPEND ROCKSDB_LIBRARIES ${${name}_LIBRARY})
  endif()
endforeach()

# What events are delivered with: the headers are enough, the libraries are loaded when they are
# needed (src/base/library.h). Without a header its targets say so.
foreach(library curl/curl.h librdkafka/rdkafka.h nats/nats.h postgresql/libpq-fe.h sqlite3.h)
  string(REGEX MATCH "curl|rdkafka|nats|libpq|sqlite3" name ${library})
  string(TOUPPER ${name} NAME)
  find_path(${NAME}_INCLUDE ${library})
  if(${NAME}_INCLUDE)
    list(APPEND PUBLISH_DEFINITIONS DOLMEN_HAVE_${NAME})
  endif()
endforeach()
