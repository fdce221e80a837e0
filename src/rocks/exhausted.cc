// How the process ends when memory or threads run out inside RocksDB, on any of its threads: with a
// sentence, since C++ would only throw what nobody catches. See memory_exhausted() in base.
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "base/attributes.h"
#include "base/log.h"
#include "rocks/rocks.h"

// An exception that nobody catches: RocksDB could not start a thread, or it is a bug.
static void exception_uncaught()
{
    try {
        std::exception_ptr thrown = std::current_exception();
        if (thrown)
            std::rethrow_exception(thrown);
    } catch (const std::system_error &error) {
        log_line(LOG_ERROR, "the system refuses a thread: %s", error.what());
        memory_exhausted();
    } catch (const std::exception &error) {
        log_line(LOG_ERROR, "rocksdb: %s", error.what());
    } catch (...) {
    }
    std::abort();
}

void store_end_cleanly(void)
{
    std::set_new_handler(memory_exhausted);
    std::set_terminate(exception_uncaught);
}
