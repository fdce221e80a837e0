// Aligned columns. Widths are counted in characters, so that text beyond ASCII lines up too.
#include "generate/text.h"

struct grid_cell {
    size_t start;
    size_t len;
    size_t width;
};

void grid_init(struct grid *grid, size_t columns)
{
    buf_init(&grid->text, 16 << 20);
    buf_init(&grid->cells, 16 << 20);
    grid->columns = columns;
    grid->start = 0;
}

void grid_release(struct grid *grid)
{
    buf_release(&grid->text);
    buf_release(&grid->cells);
}

void grid_cell(struct grid *grid)
{
    struct grid_cell cell = {.start = grid->start, .len = grid->text.len - grid->start};
    for (size_t i = cell.start; i < grid->text.len; i++)
        cell.width += (grid->text.ptr[i] & 0xc0) != 0x80;
    buf_add(&grid->cells, &cell, sizeof(cell));
    grid->start = grid->text.len;
}

void grid_cell_text(struct grid *grid, const char *text)
{
    buf_text(&grid->text, text);
    grid_cell(grid);
}

static size_t row_count(const struct grid *grid)
{
    return grid->cells.len / sizeof(struct grid_cell) / grid->columns;
}

static struct grid_cell cell_at(const struct grid *grid, size_t row, size_t column)
{
    struct grid_cell cell;
    size_t index = row * grid->columns + column;
    memcpy(&cell, grid->cells.ptr + index * sizeof(cell), sizeof(cell));
    return cell;
}

static void add_cell(const struct grid *grid, struct grid_cell cell, struct buf *out)
{
    if (cell.len > 0)
        buf_add(out, grid->text.ptr + cell.start, cell.len);
}

static void repeat(struct buf *out, uint8_t byte, size_t count)
{
    while (count-- > 0)
        buf_byte(out, byte);
}

static void column_widths(const struct grid *grid, size_t least, size_t widths[GRID_COLUMNS])
{
    for (size_t column = 0; column < grid->columns; column++) {
        widths[column] = least;
        for (size_t row = 0; row < row_count(grid); row++) {
            size_t width = cell_at(grid, row, column).width;
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
}

static void fail_with(const struct grid *grid, struct buf *out)
{
    if (grid->text.failed || grid->cells.failed)
        out->failed = true;
}

void grid_markdown(const struct grid *grid, struct buf *out)
{
    size_t widths[GRID_COLUMNS];
    fail_with(grid, out);
    column_widths(grid, 3, widths);
    for (size_t row = 0; row < row_count(grid); row++) {
        for (size_t column = 0; column < grid->columns; column++) {
            struct grid_cell cell = cell_at(grid, row, column);
            buf_text(out, column == 0 ? "| " : " | ");
            add_cell(grid, cell, out);
            repeat(out, ' ', widths[column] - cell.width);
        }
        buf_text(out, " |\n");
        for (size_t column = 0; row == 0 && column < grid->columns; column++) {
            buf_text(out, column == 0 ? "| " : " | ");
            repeat(out, '-', widths[column]);
        }
        if (row == 0)
            buf_text(out, " |\n");
    }
}

void grid_assignments(const struct grid *grid, const char *before, struct buf *out)
{
    size_t widths[GRID_COLUMNS];
    fail_with(grid, out);
    column_widths(grid, 0, widths);
    for (size_t row = 0; row < row_count(grid); row++) {
        struct grid_cell name = cell_at(grid, row, 0);
        buf_text(out, before);
        add_cell(grid, name, out);
        repeat(out, ' ', widths[0] - name.width);
        buf_text(out, " = ");
        add_cell(grid, cell_at(grid, row, 1), out);
        buf_byte(out, '\n');
    }
}
