/* Buffers in columns. */
#include "cmd.h"

#include "num/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, TEXT = 40 };

static double as_double(const struct cmd_type *t, uint64_t bits)
{
    if (t->size == 8)
        return ptxi_num_f64(bits);
    if (t->size == 4)
        return (double)ptxi_num_f32((uint32_t)bits);
    if (t->name[0] == 'f')
        return (double)ptxi_num_f32_from_f16_bits((uint16_t)bits);
    return (double)ptxi_num_f32((uint32_t)bits << 16);
}

/* The shortest decimal that reads back as the same f32 or f64; the 16-bit formats by way of f32. */
static int print_float(char *s, const struct cmd_type *t, uint64_t bits)
{
    double v = as_double(t, bits);
    int most = t->size == 8 ? 17 : 9, n = 0;

    if (isnan(v))
        return snprintf(s, TEXT, "nan");
    for (int p = most > 9 ? 15 : 6; p <= most; p++) {
        n = snprintf(s, TEXT, "%.*g", p, v);
        if (t->size == 8 ? strtod(s, NULL) == v : strtof(s, NULL) == (float)v)
            break;
    }
    return n;
}

static int print_one(char *s, const struct cmd_type *t, const unsigned char *at, bool hex)
{
    uint64_t bits = 0;
    unsigned unused = 64 - 8u * t->size;

    memcpy(&bits, at, t->size);
    if (hex || t->class == CMD_BITS)
        return snprintf(s, TEXT, "0x%0*" PRIx64, 2 * t->size, bits);
    if (t->class == CMD_FLOAT)
        return print_float(s, t, bits);
    if (t->class == CMD_SIGNED)
        return snprintf(s, TEXT, "%" PRId64, (int64_t)(bits << unused) >> unused);
    return snprintf(s, TEXT, "%" PRIu64, bits);
}

static int widest(const struct cmd_type *t, const unsigned char *data, size_t count, bool hex)
{
    char s[TEXT];
    int most = 1;

    for (size_t i = 0; i < count; i++) {
        int n = print_one(s, t, data + i * t->size, hex);

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
        print_one(s, t, data + i * t->size, hex);
        printf(" %*s", width, s);
        if ((i + 1) % columns == 0 || i + 1 == count)
            putchar('\n');
    }
}
