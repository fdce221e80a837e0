// Runs inputs through a fuzz target without libFuzzer: the committed corpus in `make test`, and a
// finding under a debugger.
//
//   fuzz_NAME FILE_OR_DIRECTORY…
//
// It names each file before it runs it, so the last name printed is the one that failed.
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    printf("%s\n", path);
    (void)fflush(stdout);
    uint8_t *data = NULL;
    size_t len = 0;
    size_t cap = 0;
    size_t got;
    do {
        cap += 64 << 10;
        data = realloc(data, cap);
        ensure(data != NULL);
        got = fread(data + len, 1, cap - len, file);
        len += got;
    } while (got > 0);
    (void)fclose(file);
    // Exactly as long as the input is, for the address sanitizer.
    struct slice input = fuzz_copy(slice_of(data, len));
    free(data);
    (void)LLVMFuzzerTestOneInput(input.ptr, input.len);
    fuzz_free(input);
    return true;
}

static bool run_directory(const char *path, DIR *directory, size_t *count)
{
    bool good = true;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (entry->d_name[0] == '.')
            continue;
        char name[4096];
        int len = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        ensure(len > 0 && (size_t)len < sizeof(name));
        good = run_file(name) && good;
        ++*count;
    }
    return good;
}

int main(int argc, char **argv)
{
    bool good = argc > 1;
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        if (directory != NULL) {
            good = run_directory(argv[i], directory, &count) && good;
            (void)closedir(directory);
        } else {
            good = run_file(argv[i]) && good;
            count++;
        }
    }
    printf("%zu inputs\n", count);
    return good && count > 0 ? 0 : 1;
}
