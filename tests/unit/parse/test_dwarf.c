/* Tests the reader of DWARF data: a small unit, the same unit cut off at each byte and with each byte changed, and
 * random data. */
#include "parse/dwarf.h"
#include "unit/support/bits.h"

#include <string.h>

#define U16(n) ((n) & 0xff), ((n) >> 8)
#define U32(n) U16((n) & 0xffff), U16((n) >> 16)
#define U64(n) U32(n), U32(0)

/* Numbers of entries: a unit, a base type, an array and its range, a function, a variable in it, a typedef. */
enum { UNIT = 1, BASE, ARRAY, RANGE, FUNCTION, VARIABLE, TYPEDEF, NAMELESS, UNBOUNDED };

static const uint8_t abbrev[] = {
    UNIT,      0x11, 1,    0x03, 0x08, 0,    0,                             /* name: string */
    BASE,      0x24, 0,    0x03, 0x08, 0x0b, 0x0b, 0,    0,                 /* byte_size: data1 */
    ARRAY,     0x01, 1,    0x49, 0x13, 0,    0,                             /* type: ref4 */
    RANGE,     0x21, 0,    0x37, 0x0b, 0,    0,                             /* count: data1 */
    FUNCTION,  0x2e, 1,    0x03, 0x08, 0x11, 0x01, 0,    0,                 /* low_pc: addr */
    VARIABLE,  0x34, 0,    0x02, 0x0a, 0x03, 0x08, 0x49, 0x13, 0,        0, /* location: block1 */
    TYPEDEF,   0x16, 0,    0x03, 0x08, 0x49, 0x13, 0,    0,    NAMELESS, 0x05,
    0,         0x02, 0x18, 0x49, 0x13, 0,    0, /* a parameter; location: exprloc */
    UNBOUNDED, 0x21, 0,    0,    0,    0,
};

/* Places of types, from the start of the unit. */
enum { HEADER = 11, INT_AT = HEADER + 3, ARRAY_AT = INT_AT + 6, ALIAS_AT = ARRAY_AT + 10, OPEN_AT = ALIAS_AT + 7 };
#define PLACE(offset) 11, 0x03, U64(0), 0x23, offset
#define AT_ALONE      9, 0x03, U64(0)

static uint8_t info[] = {
    U32(0),
    U16(2),
    U32(0),
    8, /* length, version, .debug_abbrev, address size */
    UNIT,
    'u',
    0,
    BASE,
    'i',
    'n',
    't',
    0,
    4,
    ARRAY,
    U32(INT_AT),
    RANGE,
    3,
    RANGE,
    5,
    0, /* int[3][5] */
    TYPEDEF,
    'a',
    0,
    U32(ARRAY_AT),
    ARRAY,
    U32(INT_AT),
    UNBOUNDED,
    0, /* int[] */
    FUNCTION,
    'f',
    0,
    U64(0),
    VARIABLE,
    PLACE(0),
    'x',
    0,
    U32(ALIAS_AT),
    VARIABLE,
    PLACE(60),
    'y',
    0,
    U32(INT_AT),
    VARIABLE,
    AT_ALONE,
    'z',
    0,
    U32(OPEN_AT),
    VARIABLE,
    2,
    0x90,
    7,
    'r',
    0,
    U32(INT_AT), /* in a register */
    NAMELESS,
    PLACE(64),
    U32(INT_AT),
    0,
    0,
};

struct result {
    struct ptxi_dwarf_variable v[8];
    unsigned count;
};

static void add(void *ctx, const struct ptxi_dwarf_variable *v)
{
    struct result *r = ctx;

    if (v->name)
        ck_assert_uint_le(strlen(v->name), sizeof info);
    if (r->count < sizeof r->v / sizeof *r->v)
        r->v[r->count++] = *v;
}

/* Reads copies that are not longer than the data, so that sanitizers see reads beyond it. */
static struct result read_copies(const uint8_t *i, size_t info_size, const uint8_t *a, size_t abbrev_size)
{
    uint8_t *own_info = malloc(info_size + !info_size), *own_abbrev = malloc(abbrev_size + !abbrev_size);
    struct result r = { .count = 0 };

    memcpy(own_info, i, info_size);
    memcpy(own_abbrev, a, abbrev_size);
    ptxi_dwarf_find_variables(&(struct ptxi_dwarf){ own_info, own_abbrev, info_size, abbrev_size }, &r, add);
    for (unsigned k = 0; k < r.count; k++)
        r.v[k].name = NULL; /* the copy is freed */
    free(own_info);
    free(own_abbrev);
    return r;
}

START_TEST(variables)
{
    static const struct {
        uint64_t offset, size;
        const char *name;
    } want[] = {
        { 0, 60, "x" },
        { 60, 4, "y" },
        { 0, 0, "z" },
        { 64, 4, NULL },
    };
    struct result r = { .count = 0 };

    ptxi_dwarf_find_variables(&(struct ptxi_dwarf){ info, abbrev, sizeof info, sizeof abbrev }, &r, add);
    ck_assert_uint_eq(r.count, sizeof want / sizeof *want);
    for (unsigned k = 0; k < r.count; k++) {
        ck_assert_uint_eq(r.v[k].offset, want[k].offset);
        ck_assert_uint_eq(r.v[k].size, want[k].size);
        ck_assert(want[k].name ? r.v[k].name && !strcmp(r.v[k].name, want[k].name) : !r.v[k].name);
        ck_assert_uint_eq(info[r.v[k].at - 1], 3);
    }
}
END_TEST

/* The variables before the end are found. */
START_TEST(truncated)
{
    uint8_t cut[sizeof info];

    for (size_t n = 0; n < sizeof info; n++) {
        const uint32_t length = n < 4 ? 0 : (uint32_t)n - 4;

        ck_assert_uint_eq(read_copies(info, n, abbrev, sizeof abbrev).count, 0); /* the length is wrong */
        memcpy(cut, info, sizeof cut);
        memcpy(cut, &length, sizeof length);
        ck_assert_uint_le(read_copies(cut, n, abbrev, sizeof abbrev).count, 4);
    }
    for (size_t n = 0; n < sizeof abbrev - 1; n++)
        ck_assert_uint_le(read_copies(info, sizeof info, abbrev, n).count, 4);
}
END_TEST

START_TEST(changed)
{
    uint8_t i[sizeof info], a[sizeof abbrev];

    memcpy(i, info, sizeof i);
    memcpy(a, abbrev, sizeof a);
    for (size_t n = 0; n < sizeof i; n++)
        for (unsigned change = 1; change < 256; change++) {
            i[n] ^= (uint8_t)change;
            read_copies(i, sizeof i, a, sizeof a);
            i[n] ^= (uint8_t)change;
        }
    for (size_t n = 0; n < sizeof a; n++)
        for (unsigned change = 1; change < 256; change++) {
            a[n] ^= (uint8_t)change;
            read_copies(i, sizeof i, a, sizeof a);
            a[n] ^= (uint8_t)change;
        }
}
END_TEST

START_TEST(random_data)
{
    uint8_t i[sizeof info], a[sizeof abbrev];

    for (unsigned round = 0; round < 100000; round++) {
        memcpy(i, info, sizeof i);
        memcpy(a, abbrev, sizeof a);
        for (unsigned n = 0; n < 1 + round % 8; n++) {
            i[4 + random64() % (sizeof i - 4)] = (uint8_t)random64();
            a[random64() % sizeof a] = (uint8_t)random64();
        }
        read_copies(i, sizeof i, a, sizeof a);
    }
}
END_TEST

/* A type that contains itself, and arrays with more bytes than there are numbers. */
START_TEST(endless)
{
    uint8_t i[sizeof info];

    memcpy(i, info, sizeof i);
    i[ALIAS_AT + 3] = ALIAS_AT;
    ck_assert_uint_eq(read_copies(i, sizeof i, abbrev, sizeof abbrev).v[0].size, 0);
    memcpy(i, info, sizeof i);
    i[ARRAY_AT + 1] = ARRAY_AT;
    ck_assert_uint_eq(read_copies(i, sizeof i, abbrev, sizeof abbrev).v[0].size, 0);
}
END_TEST

int main(void)
{
    const uint32_t length = sizeof info - sizeof length;
    Suite *s = suite_create("dwarf");
    TCase *t = tcase_create("dwarf");

    memcpy(info, &length, sizeof length);
    tcase_add_test(t, variables);
    tcase_add_test(t, truncated);
    tcase_add_test(t, changed);
    tcase_add_test(t, random_data);
    tcase_add_test(t, endless);
    suite_add_tcase(s, t);
    return run_suite(s);
}
