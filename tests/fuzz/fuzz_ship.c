// What a source sends to its replica: pages of a copy and entries of its log. Bytes of any kind are
// refused, or applied with the state that says so; a state is never believed that was not stored.
//
// Input: 'P' and a page, or 'E' and entries, with "\n--\n" between several of them.
#include "fuzz.h"

#include "engine/ship.h"
#include "store/store.h"

static const char BETWEEN[] = "\n--\n";

static struct slice next_piece(struct slice *in)
{
    struct slice rest = *in;
    for (size_t i = 0; i + sizeof(BETWEEN) - 1 <= rest.len; i++) {
        if (memcmp(rest.ptr + i, BETWEEN, sizeof(BETWEEN) - 1) != 0)
            continue;
        size_t gone = i + sizeof(BETWEEN) - 1;
        *in = slice_of(rest.ptr + gone, rest.len - gone);
        return slice_of(rest.ptr, i);
    }
    *in = slice_of(NULL, 0);
    return rest;
}

static void check_stored(struct store *store, const struct follow_state *state)
{
    struct follow_state stored;
    struct store_error error;
    ensure(follow_load(store, &stored, &error));
    ensure(stored.phase == state->phase && stored.number == state->number);
    ensure(stored.mark == state->mark && stored.until == state->until);
    ensure(stored.after_len == state->after_len);
    ensure(memcmp(stored.after, state->after, state->after_len) == 0);
    ensure(strcmp(stored.source, state->source) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_of(data, size);
    struct store_error error = {.text = ""};
    struct follow_state state = {.phase = FOLLOW_COPYING, .source = "http://127.0.0.1:1"};
    struct store *store = store_open_memory(&error);
    ensure(store != NULL && follow_save(store, &state, &error));
    while (rest.len > 0) {
        struct slice piece = next_piece(&rest);
        uint8_t kind = fuzz_byte(&piece);
        struct slice bytes = fuzz_copy(piece);
        uint64_t before = state.number;
        uint64_t last;
        bool ok = kind == 'E' ? follow_entries(store, bytes, &state, &last, &error)
                              : follow_page(store, bytes, &state, &error);
        fuzz_free(bytes);
        if (!ok) {
            // The one who follows begins again with what is stored: numbers only grow.
            ensure(error.text[0] != 0);
            ensure(follow_load(store, &state, &error) && state.number >= before);
        }
        check_stored(store, &state);
    }
    store_close(store);
    return 0;
}
