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
