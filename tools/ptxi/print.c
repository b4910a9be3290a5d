/* Contents of buffers, printed in columns. */
#include "argument.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100 /* columns of a row */, TEXT = 40 /* room for an element */ };

static bool reads_back(const char *s, const struct cmd_type *t, double v)
{
    return t->format == PTXI_FLOAT_F64 ? strtod(s, NULL) == v : strtof(s, NULL) == (float)v;
}

/* The shortest decimal number that reads back as the same f64, or as the same f32 for the other formats. */
static int format_float(char *s, const struct cmd_type *t, uint64_t bits)
{
    double v = ptxi_inspect_float(t->format, bits);
    bool is_f64 = t->format == PTXI_FLOAT_F64;
    int most = is_f64 ? 17 : 9, n = 0;

    if (isnan(v))
        return snprintf(s, TEXT, "nan");
    for (int digits = is_f64 ? 15 : 6; digits <= most; digits++) {
        n = snprintf(s, TEXT, "%.*g", digits, v);
        if (reads_back(s, t, v))
            break;
    }
    return n;
}

/* Returns the number of characters. */
static int format_element(char *s, const struct cmd_type *t, const unsigned char *at, bool hex)
{
    uint64_t bits = 0;
    unsigned unused = 64 - 8u * t->size;

    assert(t->size >= 1 && t->size <= sizeof bits);
    memcpy(&bits, at, t->size);
    if (hex || t->class == CMD_BITS)
        return snprintf(s, TEXT, "0x%0*" PRIx64, 2 * t->size, bits);
    if (t->class == CMD_FLOAT)
        return format_float(s, t, bits);
    if (t->class == CMD_SIGNED)
        return snprintf(s, TEXT, "%" PRId64, (int64_t)(bits << unused) >> unused);
    return snprintf(s, TEXT, "%" PRIu64, bits);
}

static int widest(const struct cmd_type *t, const unsigned char *data, size_t count, bool hex)
{
    char s[TEXT];
    int most = 1;

    for (size_t i = 0; i < count; i++) {
        int n = format_element(s, t, data + i * t->size, hex);

        assert(n > 0 && n < TEXT);
        most = n > most ? n : most;
    }
    return most;
}

void ptxi_cmd_print(const struct cmd_type *t, const unsigned char *data, size_t count, bool hex)
{
    int width = widest(t, data, count, hex), index = snprintf(NULL, 0, "%zu", count ? count - 1 : 0);
    size_t columns = 16;
    char s[TEXT];

    while (columns > 1 && index + 1 + (int)columns * (width + 1) > WIDTH)
        columns /= 2;
    for (size_t i = 0; i < count; i++) {
        if (i % columns == 0)
            printf("%*zu:", index, i);
        format_element(s, t, data + i * t->size, hex);
        printf(" %*s", width, s);
        if ((i + 1) % columns == 0 || i + 1 == count)
            putchar('\n');
    }
}
