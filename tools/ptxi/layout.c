/* ptxi layout: where the elements of matrices are, in registers and in swizzled shared memory, drawn as grids. */
#include "command.h"

#include "api/inspect/inspect.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- registers */

/* "4-7" at the right of `width` columns. */
static void print_range(int width, unsigned first, unsigned count)
{
    char text[32];

    if (count > 1)
        snprintf(text, sizeof text, "%u-%u", first, first + count - 1);
    else
        snprintf(text, sizeof text, "%u", first);
    printf("%*s", width, text);
}

static void print_place(int width, const struct ptxi_matrix_layout *l, const struct ptxi_element_place *p)
{
    char text[32];

    if (l->is_metadata)
        snprintf(text, sizeof text, "%u:[%u]", p->lane, p->bit);
    else if (l->group_is_partial)
        snprintf(text, sizeof text, "%u:%u[%u]", p->lane, p->reg, p->bit);
    else
        snprintf(text, sizeof text, "%u:%u", p->lane, p->reg);
    printf("%*s", width, text);
}

/* A cell for each group of elements. */
static void print_grid(const struct ptxi_matrix_layout *l)
{
    unsigned cell_columns = l->group_in_column ? 1 : l->group;
    unsigned cell_rows = l->group_in_column ? l->group : 1;
    int width = l->group_is_partial ? 12 : 8;

    assert(l->group && l->rows % cell_rows == 0 && l->columns % cell_columns == 0);
    printf("%8s", "");
    for (unsigned c = 0; c < l->columns; c += cell_columns)
        print_range(width, c, cell_columns);
    puts("");
    for (unsigned r = 0; r < l->rows; r += cell_rows) {
        print_range(8, r, cell_rows);
        for (unsigned c = 0; c < l->columns; c += cell_columns)
            print_place(width, l, &l->places[r * l->columns + c]);
        puts("");
    }
}

static void print_legend(const struct ptxi_matrix_layout *l)
{
    if (l->is_metadata)
        printf("%s, selector 0: lane:[lowest bit] of the 4 bits for each chunk of A\n", l->title);
    else if (l->group_is_partial)
        printf("%s: lane:register[lowest bit] of each element\n", l->title);
    else if (l->group == 1)
        printf("%s: lane:register of each element\n", l->title);
    else
        printf("%s: lane:register of each element; the elements of a cell, %s, fill the register from its low bits\n",
               l->title, l->group_in_column ? "from top to bottom" : "from left to right");
}

static int show_layout(struct ptxi_matrix_layout *l)
{
    if (l->note)
        puts(l->note);
    print_legend(l);
    print_grid(l);
    free(l->places);
    return CMD_OK;
}

static int show_matrix(const char *name, const char *operand)
{
    struct ptxi_matrix_layout l;
    const char *expected = NULL;

    switch (ptxi_inspect_layout(name, operand, &l, &expected)) {
    case PTXI_LAYOUT_OK:
        return show_layout(&l);
    case PTXI_LAYOUT_NO_MEMORY:
        ptxi_cmd_error("out of memory");
        return CMD_FAILED;
    case PTXI_LAYOUT_WRONG_OPERAND:
        assert(expected);
        ptxi_cmd_error("%s: expected operand %s", name, expected);
        return ptxi_cmd_usage();
    default:
        ptxi_cmd_error("unknown layout '%s'%s", name, operand ? " with an operand" : " without an operand");
        return ptxi_cmd_usage();
    }
}

/* ---- swizzled shared memory */

enum { UNIT = 16, LINE = 128 }; /* bytes */

static void print_swizzle_head(unsigned width)
{
    printf("swizzle.%uB: shared memory in lines of 128 bytes, aligned to %u bytes; row:unit, with units of 16 bytes\n",
           width, 8 * width);
    printf("%8s", "byte");
    for (unsigned at = 0; at < LINE; at += UNIT)
        printf("%8u", at);
    printf("\n%8s", "banks");
    for (unsigned at = 0; at < LINE; at += UNIT)
        print_range(8, at / 4, 4);
    puts("");
}

static int show_swizzle(unsigned width)
{
    unsigned units = width / UNIT, rows = LINE / width; /* of a line */

    print_swizzle_head(width);
    for (unsigned line = 0; line < 8 / rows; line++) {
        printf("%8u", line * LINE);
        for (unsigned place = 0; place < LINE / UNIT; place++) {
            char text[32];

            snprintf(text, sizeof text, "%u:%u", line * rows + place / units, place % units ^ (line % units));
            printf("%8s", text);
        }
        puts("");
    }
    return CMD_OK;
}

/* Bytes of the swizzle; 0: not the name of one. */
static unsigned swizzle_width(const char *name)
{
    static const unsigned widths[] = { 32, 64, 128 };
    char known[32];

    for (unsigned k = 0; k < sizeof widths / sizeof *widths; k++) {
        snprintf(known, sizeof known, "swizzle.%uB", widths[k]);
        if (!strcmp(name, known))
            return widths[k];
    }
    return 0;
}

int ptxi_cmd_layout(int argc, char **argv)
{
    static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
    int c = getopt_long(argc, argv, "h", options, NULL);

    if (c != -1)
        return c == 'h' ? CMD_SHOW_HELP : ptxi_cmd_usage();
    int names = argc - optind;

    if (names < 1 || names > 2) {
        ptxi_cmd_error(names < 1 ? "no layout given" : "too many arguments; expected a layout and an operand");
        return ptxi_cmd_usage();
    }
    if (names == 1 && swizzle_width(argv[optind]))
        return show_swizzle(swizzle_width(argv[optind]));
    return show_matrix(argv[optind], names == 2 ? argv[optind + 1] : NULL);
}
