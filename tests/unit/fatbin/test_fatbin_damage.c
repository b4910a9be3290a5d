/* Tests that the reader of fat binaries refuses damaged input: wrong sizes, truncated and mutated files. The sanitizers
 * detect reads outside of the input, which is allocated with its exact size. */
#include "unit/support/binary_file.h"

#include "base/file.h"
#include "fatbin/file.h"

static const char *const files[] = {
    "fatbin/plain.fatbin", "fatbin/lz4.fatbin", "fatbin/zstd.fatbin", "fatbin/named.fatbin", "fatbin/targets.fatbin",
    "fatbin/sass.fatbin", "fatbin/nvvm.fatbin", "fatbin/part1.elf", "fatbin/parts.ar", "fatbin/programs.elf",
};

/* ---- wrong fields */

enum { HEADER = 16 }; /* the first entry follows */

/* A field of the first entry, or of the header if `at` is negative: -HEADER is the magic number. */
static const struct field {
    const char *file;
    int at;
    unsigned bytes;
    uint64_t value;
    enum ptxi_fatbin_result result;
} fields[] = {
    { "fatbin/plain.fatbin", -16, 4, 0xba55ed51, PTXI_FATBIN_NO_MAGIC },
    { "fatbin/plain.fatbin", -12, 2, 2, PTXI_FATBIN_VERSION },
    { "fatbin/plain.fatbin", -10, 2, 8, PTXI_FATBIN_VERSION },
    { "fatbin/plain.fatbin", -10, 2, 0xffff, PTXI_FATBIN_TRUNCATED },
    { "fatbin/plain.fatbin", -8, 8, UINT64_MAX, PTXI_FATBIN_TRUNCATED },
    { "fatbin/plain.fatbin", -8, 8, UINT64_MAX - 15, PTXI_FATBIN_TRUNCATED },
    { "fatbin/plain.fatbin", -8, 8, 63, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/plain.fatbin", 4, 4, 63, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/plain.fatbin", 4, 4, UINT32_MAX, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/plain.fatbin", 8, 8, UINT64_MAX, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/plain.fatbin", 8, 8, 1 << 20, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/plain.fatbin", 36, 4, 1, PTXI_FATBIN_BAD_ENTRY },          /* a name at offset 0 */
    { "fatbin/named.fatbin", 32, 4, UINT32_MAX, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/named.fatbin", 36, 4, UINT32_MAX, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/zstd.fatbin", 16, 4, 0, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/zstd.fatbin", 16, 4, UINT32_MAX, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/zstd.fatbin", 40, 8, 0xa011, PTXI_FATBIN_BAD_ENTRY },      /* LZ4 and zstd */
    { "fatbin/zstd.fatbin", 56, 8, 0, PTXI_FATBIN_BAD_ENTRY },
    { "fatbin/zstd.fatbin", 56, 8, UINT64_MAX, PTXI_FATBIN_TOO_LARGE },
    { "fatbin/lz4.fatbin", 56, 8, PTXI_MOST_TEXT + 1, PTXI_FATBIN_TOO_LARGE },
#ifdef HAVE_ZSTD
    { "fatbin/zstd.fatbin", 56, 8, 100, PTXI_FATBIN_CORRUPT },
    { "fatbin/zstd.fatbin", 56, 8, 1 << 20, PTXI_FATBIN_CORRUPT },
    { "fatbin/zstd.fatbin", 80, 4, 0, PTXI_FATBIN_CORRUPT },             /* the data */
#endif
#ifdef HAVE_LZ4
    { "fatbin/lz4.fatbin", 56, 8, 100, PTXI_FATBIN_CORRUPT },
    { "fatbin/lz4.fatbin", 56, 8, 1 << 20, PTXI_FATBIN_CORRUPT },
    { "fatbin/lz4.fatbin", 40, 8, 0x8011, PTXI_FATBIN_CORRUPT },         /* said to be zstd */
#endif
};

/* Reads all entries. Returns the first error. */
static enum ptxi_fatbin_result read_fatbin(const void *data, size_t size)
{
    struct ptxi_fatbin_entry e;
    struct ptxi_fatbin f;
    char *contents;
    size_t n;
    enum ptxi_fatbin_result r = ptxi_fatbin_open(&f, data, size);

    while (!r && !(r = ptxi_fatbin_next(&f, &e))) {
        r = ptxi_fatbin_extract(&e, &contents, &n);
        if (!r)
            free(contents);
    }
    return r == PTXI_FATBIN_END ? PTXI_FATBIN_OK : r;
}

START_TEST(wrong_fields)
{
    const struct field *x = &fields[_i];
    struct file f = read_binary(x->file);

    memcpy(f.data + HEADER + x->at, &x->value, x->bytes);
    ck_assert_int_eq(read_fatbin(f.data, f.size), x->result);
    ck_assert(*ptxi_fatbin_message(x->result));
    free(f.data);
}
END_TEST

/* ---- any damage */

static void read_kernels(const void *data, size_t size)
{
    uint32_t section = 0;

    for (const char *name; (name = ptxi_fatbin_next_kernel(data, size, &section));)
        ck_assert_uint_ne(strlen(name), SIZE_MAX);
}

/* Extracts everything. */
static void read_found(const struct ptxi_fatbin_found *found)
{
    struct ptxi_fatbin_entry e;
    struct ptxi_fatbin f;
    char *data;
    size_t size;

    ck_assert_int_eq(ptxi_fatbin_open(&f, found->data, found->size), PTXI_FATBIN_OK);
    ck_assert_int_ne(ptxi_fatbin_select(f, 90, true, &e), PTXI_FATBIN_NO_MAGIC);
    while (!ptxi_fatbin_next(&f, &e)) {
        ck_assert_uint_ne(strnlen(e.name_size ? e.name : "", e.name_size), SIZE_MAX);
        if (ptxi_fatbin_extract(&e, &data, &size))
            continue;
        ck_assert_int_eq(data[size], 0);
        read_kernels(data, size);
        free(data);
    }
}

static enum ptxi_fatbin_result read_all(const char *data, size_t size)
{
    struct ptxi_fatbin_list list = { .count = 0 };
    struct ptxi_arena arena;

    ptxi_arena_init(&arena, NULL);
    enum ptxi_fatbin_result r = ptxi_fatbin_find(data, size, &arena, &list);

    ck_assert_uint_le(ptxi_fatbin_group(&list), list.count);
    for (uint32_t i = 0; i < list.count; i++)
        read_found(&list.at[i]);
    read_kernels(data, size);
    ptxi_arena_free(&arena);
    return r;
}

START_TEST(truncated_files)
{
    struct file f = read_binary(files[_i]);
    bool raw = ptxi_fatbin_is(f.data);

    ck_assert_int_eq(read_all(f.data, f.size), PTXI_FATBIN_OK);
    for (size_t n = 0; n < f.size; n++) {
        char *part = malloc(n ? n : 1);

        ck_assert(part);
        memcpy(part, f.data, n);
        enum ptxi_fatbin_result r = read_all(part, n);

        if (raw)
            ck_assert_int_eq(r, n < 4 ? PTXI_FATBIN_OK : PTXI_FATBIN_TRUNCATED);
        free(part);
    }
    free(f.data);
}
END_TEST

static uint32_t next_random(uint32_t *state)
{
    return (*state = *state * 1664525u + 1013904223u) >> 8;
}

/* Bytes that are likely to break size checks. */
static char damage(uint32_t r, char old)
{
    static const char likely[] = { 0, 1, 0x7f, (char)0x80, (char)0xff, 0x10, 0x40 };

    return r % 3 ? likely[r / 3 % sizeof likely] : (char)(old ^ 1 << r / 3 % 8);
}

START_TEST(mutated_files)
{
    struct file f = read_binary(files[_i]);
    char *copy = malloc(f.size);
    uint32_t state = (uint32_t)_i;

    ck_assert(copy);
    for (int k = 0; k < 3000; k++) {
        memcpy(copy, f.data, f.size);
        for (uint32_t n = next_random(&state) % 4 + 1; n--;) {
            /* half of the changes are in headers at the begin */
            size_t at = next_random(&state) % (next_random(&state) % 2 ? 96 : f.size);

            copy[at] = damage(next_random(&state), copy[at]);
        }
        read_all(copy, f.size);
    }
    free(copy);
    free(f.data);
}
END_TEST

#define LENGTH(array) (int)(sizeof array / sizeof *array)

int main(void)
{
    Suite *s = suite_create("fatbin_damage");
    TCase *t = tcase_create("fatbin_damage");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, wrong_fields, 0, LENGTH(fields));
    tcase_add_loop_test(t, truncated_files, 0, LENGTH(files));
    tcase_add_loop_test(t, mutated_files, 0, LENGTH(files));
    suite_add_tcase(s, t);
    return run_suite(s);
}
