// `include "file"`: a model that is made of several files becomes one text, which has each file in
// the place where it is included. Comments say which line of which file follows (diagnostic.h), so
// that whoever tells of a mistake, here or on a server, tells the right place.
//
// A file that two others include is there once. One that includes itself, through others, is an
// error.
#include "base/files.h"
#include "cli/command.h"
#include "model/lexer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INCLUDE_DEPTH = 16, INCLUDE_FILES = 256, MEMORY = 256 << 20, TEXT_MAX = 16 << 20 };

struct including {
    struct cli_input *input;
    struct arena arena;
    struct buf *out;
    unsigned depth;
    size_t count;
    struct included {
        dev_t device;
        ino_t inode;
        bool open; // it is being read: to include it here would never end
    } files[INCLUDE_FILES];
};

// `by` names the place that includes it: "shop.dolmen:3: include: ", or nothing.
static bool include_file(struct including *all, const char *path, const char *by);

// The next `include "file"` at or behind a token, outside of braces; the count if there is none.
static size_t next_include(const struct model_tokens *tokens, size_t from, int *depth)
{
    for (size_t i = from; i + 1 < tokens->count; i++) {
        const struct model_token *token = &tokens->list[i];
        *depth += (token->kind == MODEL_TOKEN_LBRACE) - (token->kind == MODEL_TOKEN_RBRACE);
        if (*depth == 0 && token->first && model_token_is(tokens, token, "include") &&
            tokens->list[i + 1].kind == MODEL_TOKEN_STRING && !tokens->list[i + 1].first)
            return i;
    }
    return tokens->count;
}

// The path of an included file, which is relative to the file that names it; NULL after telling.
static const char *include_path(struct including *all, const char *from, struct slice name,
                                uint32_t line)
{
    bool fits = name.len > 0 && name.len < 4096;
    for (size_t i = 0; i < name.len; i++)
        fits = fits && name.ptr[i] >= ' ' && name.ptr[i] != '\\';
    if (!fits) {
        (void)cli_fail(all->input, "%s:%u: include: this is no name of a file.", from, line);
        return NULL;
    }
    const char *slash = strrchr(from, '/');
    bool alone = name.ptr[0] == '/' || slash == NULL;
    int folder = alone ? 0 : (int)(slash - from) + 1;
    char *path = arena_printf(&all->arena, "%.*s%.*s", folder, from, SLICE_FMT(name));
    if (path == NULL)
        (void)cli_fail(all->input, "%s: out of memory.", from);
    return path;
}

static void end_line(struct buf *out)
{
    if (out->len > 0 && out->ptr[out->len - 1] != '\n')
        buf_byte(out, '\n');
}

// The text of a file with its includes in their places.
static bool include_text(struct including *all, const char *path, struct slice text)
{
    struct model_tokens tokens;
    struct diagnostics quiet; // what is wrong with the text is told by whoever parses all of it
    size_t at = 0;
    int depth = 0;
    diagnostics_init(&quiet, &all->arena);
    bool cut = memmem(text.ptr, text.len, "include", 7) != NULL &&
               model_tokens_read(&tokens, text, &all->arena, &quiet);
    for (size_t i = cut ? next_include(&tokens, 0, &depth) : 0; cut && i < tokens.count;
         i = next_include(&tokens, i + 2, &depth)) {
        const struct model_token *word = &tokens.list[i];
        const struct model_token *name = &tokens.list[i + 1];
        const char *other = include_path(all, path, model_token_text(&tokens, name), word->line);
        const char *by = arena_printf(&all->arena, "%s:%u: include: ", path, word->line);
        if (other == NULL || by == NULL)
            return false;
        buf_slice(all->out, slice_of(text.ptr + at, word->start - at));
        end_line(all->out);
        if (!include_file(all, other, by))
            return false;
        end_line(all->out);
        // What follows in the line keeps its column.
        diagnostic_file_mark(all->out, slice_str(path), word->line);
        for (uint32_t k = 1; k < name->column + (name->end - name->start); k++)
            buf_byte(all->out, ' ');
        at = name->end;
    }
    buf_slice(all->out, slice_of(text.ptr + at, text.len - at));
    return !all->out->failed || cli_fail(all->input, "'%s': the model is too large.", path);
}

// Whether the file is to be put here: not if it is there already (*again).
static bool note_file(struct including *all, const char *path, int fd, bool *again)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return cli_fail(all->input, "cannot read '%s': %s.", path, strerror(errno));
    for (size_t i = 0; i < all->count; i++) {
        const struct included *one = &all->files[i];
        if (one->device != info.st_dev || one->inode != info.st_ino)
            continue;
        *again = true;
        return !one->open ||
               cli_fail(all->input, "'%s' includes itself, through other files.", path);
    }
    if (all->count == INCLUDE_FILES || all->depth == INCLUDE_DEPTH)
        return cli_fail(all->input,
                        "'%s': a model is made of at most %d files, and they nest %d deep.", path,
                        INCLUDE_FILES, INCLUDE_DEPTH);
    all->files[all->count++] =
        (struct included){.device = info.st_dev, .inode = info.st_ino, .open = true};
    return true;
}

static bool include_open(struct including *all, const char *path, int fd)
{
    bool again = false;
    size_t own = all->count;
    if (!note_file(all, path, fd, &again))
        return false;
    if (again)
        return true;
    struct buf text;
    buf_init(&text, TEXT_MAX);
    bool ok = file_read(fd, &text) || cli_fail(all->input, "cannot read '%s': %s.", path,
                                               text.failed ? "it is too large" : strerror(errno));
    if (ok && all->depth > 0)
        diagnostic_file_mark(all->out, slice_str(path), 1);
    struct slice content = buf_view(&text);
    if (ok && all->depth > 0 && slice_begins(content, SLICE_LIT("\xef\xbb\xbf")))
        content = slice_of(content.ptr + 3, content.len - 3);
    all->depth++;
    ok = ok && include_text(all, path, content);
    all->depth--;
    all->files[own].open = false;
    buf_release(&text);
    return ok;
}

static bool include_file(struct including *all, const char *path, const char *by)
{
    bool standard = all->depth == 0 && strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cli_fail(all->input, "%scannot read '%s': %s.", by, path, strerror(errno));
    bool ok = include_open(all, path, fd);
    if (!standard)
        (void)close(fd);
    return ok;
}

bool cli_read_model(struct cli_input *input, const char *path, struct buf *out)
{
    struct including all = {.input = input, .out = out};
    arena_init(&all.arena, MEMORY);
    bool ok = include_file(&all, path, "");
    arena_release(&all.arena);
    return ok;
}
