// Aligned columns. Widths are counted in characters, so that text beyond ASCII lines up too.
#include "write/text.h"

void grid_init(struct grid *grid, struct writer *w, size_t columns)
{
    grid->w = w;
    grid->columns = columns;
    buf_init(&grid->cells, 16 << 20);
}

void grid_cell(struct grid *grid, struct slice text)
{
    buf_add(&grid->cells, &text, sizeof(text));
}

static size_t row_count(const struct grid *grid)
{
    return grid->cells.len / sizeof(struct slice) / grid->columns;
}

static struct slice cell_at(const struct grid *grid, size_t row, size_t column)
{
    struct slice cell;
    size_t index = row * grid->columns + column;
    memcpy(&cell, grid->cells.ptr + index * sizeof(cell), sizeof(cell));
    return cell;
}

static size_t column_width(const struct grid *grid, size_t column, size_t least)
{
    for (size_t row = 0; row < row_count(grid); row++) {
        size_t width = slice_characters(cell_at(grid, row, column));
        least = width > least ? width : least;
    }
    return least;
}

static void padded(struct buf *out, struct slice text, uint8_t with, size_t width)
{
    buf_slice(out, text);
    for (size_t i = slice_characters(text); i < width; i++)
        buf_byte(out, with);
}

static void grid_release(struct grid *grid)
{
    grid->w->out->failed = grid->w->out->failed || grid->cells.failed;
    buf_release(&grid->cells);
}

void grid_markdown(struct grid *grid)
{
    struct buf *out = grid->w->out;
    size_t widths[GRID_COLUMNS];
    for (size_t column = 0; column < grid->columns; column++)
        widths[column] = column_width(grid, column, 3); // Markdown wants three dashes
    for (size_t row = 0; row < row_count(grid); row++) {
        for (size_t column = 0; column < grid->columns; column++) {
            buf_text(out, column == 0 ? "| " : " | ");
            padded(out, cell_at(grid, row, column), ' ', widths[column]);
        }
        buf_text(out, " |\n");
        for (size_t column = 0; row == 0 && column < grid->columns; column++) {
            buf_text(out, column == 0 ? "| " : " | ");
            padded(out, SLICE_LIT(""), '-', widths[column]);
        }
        buf_text(out, row == 0 ? " |\n" : "");
    }
    grid_release(grid);
}

void grid_assignments(struct grid *grid, const char *before)
{
    struct buf *out = grid->w->out;
    size_t width = column_width(grid, 0, 0);
    for (size_t row = 0; row < row_count(grid); row++) {
        buf_text(out, before);
        padded(out, cell_at(grid, row, 0), ' ', width);
        PUT(grid->w, " = %s\n", cell_at(grid, row, 1));
    }
    grid_release(grid);
}
