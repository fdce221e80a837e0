// What the tests of src/transfer share: items from typed JSON, files in a directory of their own,
// and readers over texts.
#ifndef TESTS_TRANSFER_SUPPORT_H
#define TESTS_TRANSFER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transfer/item_reader.h"
#include "transfer/sink.h"
#include "json/shape.h"
#include "json/writer.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Everything an item can hold, in typed JSON, as the writer writes it.
#define ALL_TYPES                                                                                  \
    "{\"b\":{\"B\":\"AAEC/w==\"},\"bs\":{\"BS\":[\"AA==\",\"AQ==\"]},\"empty\":{\"S\":\"\"},"      \
    "\"l\":{\"L\":[{\"N\":\"1\"},{\"L\":[]},{\"M\":{}}]},"                                         \
    "\"m\":{\"M\":{\"a b\":{\"S\":\"x\"},\"true\":{\"BOOL\":true}}},\"n\":{\"N\":\"-1.5\"},"       \
    "\"ns\":{\"NS\":[\"-2\",\"0.000000000000000000000000000000000001\",\"100\"]},"                 \
    "\"nul\":{\"NULL\":true},\"pk\":{\"S\":\"x\"},"                                                \
    "\"s\":{\"S\":\"quote \\\" comma , line\\nend \\\\ \xc3\xa9 \xf0\x9f\x98\x80 'single' "        \
    "\\u0001\"},\"ss\":{\"SS\":[\"a\",\"b,\\\"c\"]},\"t\":{\"BOOL\":false}}"

struct fixture {
    struct arena arena;
    struct error error;
    char directory[64];
};

static inline int fixture_setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena, (size_t)256 << 20);
    error_init(&f->error, &f->arena);
    (void)snprintf(f->directory, sizeof(f->directory), "/tmp/dolmen-transfer-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    *state = f;
    return 0;
}

static inline int fixture_remove(const char *path, const struct stat *info, int kind,
                                 struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(nftw(f->directory, fixture_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
    arena_release(&f->arena);
    free(f);
    return 0;
}

static inline char *fixture_path(struct fixture *f, const char *name)
{
    char *path = arena_printf(&f->arena, "%s/%s", f->directory, name);
    assert_non_null(path);
    return path;
}

static inline struct slice item_of(struct fixture *f, const char *json)
{
    struct slice item;
    if (!json_decode_item(slice_str(json), &f->arena, &item, &f->error))
        fail_msg("%s: %s", json, f->error.message);
    return item;
}

static inline void assert_item(struct slice item, const char *json)
{
    struct buf out;
    buf_init(&out, 1 << 24);
    struct json_writer w = json_writer_to(&out);
    json_item(&w, item);
    buf_byte(&out, 0);
    assert_string_equal((const char *)out.ptr, json);
    buf_release(&out);
}

static inline void file_make(struct fixture *f, const char *path, struct slice text,
                             enum transfer_compression compression)
{
    struct sink *sink = sink_open(path, compression, 0, &f->error);
    assert_non_null(sink);
    assert_true(sink_write(sink, text, &f->error));
    assert_true(sink_close(sink, NULL, &f->error));
}

static inline struct item_reader *reader_over(struct fixture *f, struct slice text,
                                              const struct item_reader_options *options)
{
    char *path = fixture_path(f, "input");
    file_make(f, path, text, TRANSFER_NONE);
    struct item_reader *reader = item_reader_open(path, options, &f->error);
    assert_non_null(reader);
    return reader;
}

#endif
