/* Tests the reader of fat binaries with files that nvcc has made. */
#include "unit/support/binary_file.h"

#include "fatbin/file.h"

#ifdef HAVE_LZ4
#define LZ4_RESULT PTXI_FATBIN_OK
#else
#define LZ4_RESULT PTXI_FATBIN_NO_LZ4
#endif
#ifdef HAVE_ZSTD
#define ZSTD_RESULT PTXI_FATBIN_OK
#else
#define ZSTD_RESULT PTXI_FATBIN_NO_ZSTD
#endif

static const struct one_entry {
    const char *file;
    enum ptxi_fatbin_kind kind;
    enum ptxi_fatbin_compression compression;
    enum ptxi_fatbin_result extracted;
    const char *name, *contains;
} ones[] = {
    { "fatbin/plain.fatbin", PTXI_FATBIN_PTX, PTXI_FATBIN_PLAIN, PTXI_FATBIN_OK, "", ".visible .entry target(" },
    { "fatbin/lz4.fatbin", PTXI_FATBIN_PTX, PTXI_FATBIN_LZ4, LZ4_RESULT, "", ".visible .entry target(" },
    { "fatbin/zstd.fatbin", PTXI_FATBIN_PTX, PTXI_FATBIN_ZSTD, ZSTD_RESULT, "", ".visible .entry target(" },
    { "fatbin/named.fatbin", PTXI_FATBIN_PTX, PTXI_FATBIN_ZSTD, ZSTD_RESULT, "target.cu", ".visible .entry target(" },
    { "fatbin/sass.fatbin", PTXI_FATBIN_ELF, PTXI_FATBIN_PLAIN, PTXI_FATBIN_OK, "", "\177ELF" },
    { "fatbin/nvvm.fatbin", PTXI_FATBIN_NVVM, PTXI_FATBIN_ZSTD, PTXI_FATBIN_CORRUPT, "", "" },
};

/* NVVM IR is encrypted before it is marked as compressed, so it is never extracted. */
START_TEST(files_with_one_entry)
{
    const struct one_entry *x = &ones[_i];
    struct file f = read_binary(x->file);
    struct ptxi_fatbin_entry e;
    struct ptxi_fatbin b;
    size_t size = 0;
    char *data = NULL;

    ck_assert_int_eq(ptxi_fatbin_file_kind(f.data, f.size), PTXI_FILE_FATBIN);
    ck_assert_int_eq(ptxi_fatbin_open(&b, f.data, f.size), PTXI_FATBIN_OK);
    ck_assert_int_eq(ptxi_fatbin_next(&b, &e), PTXI_FATBIN_OK);
    ck_assert_uint_eq(e.kind, x->kind);
    ck_assert_uint_eq(e.number, 1);
    ck_assert_uint_eq(e.target.sm, 90);
    ck_assert_int_eq(e.target.suffix, 0);
    ck_assert_int_eq(e.compression, x->compression);
    ck_assert_uint_eq(e.name_size, strlen(x->name));
    ck_assert(!e.name_size || !memcmp(e.name, x->name, e.name_size));
    if (x->kind != PTXI_FATBIN_NVVM)
        ck_assert_int_eq(ptxi_fatbin_extract(&e, &data, &size), x->extracted);
    if (data) {
        ck_assert(memmem(data, size, x->contains, strlen(x->contains)));
        ck_assert_int_eq(data[size], 0);
    }
    free(data);
    ck_assert_int_eq(ptxi_fatbin_next(&b, &e), PTXI_FATBIN_END);
    free(f.data);
}
END_TEST

/* ---- selection */

/* The devices that have a choice. suffix '-': none. `any`: the entry for the oldest target is taken if none fits. */
static const struct choice {
    const char *file;
    unsigned sm;
    bool any;
    unsigned target;
    char suffix;
} choices[] = {
    { "fatbin/targets.fatbin", 70, false, 0, '-' },
    { "fatbin/targets.fatbin", 70, true, 75, 0 },
    { "fatbin/targets.fatbin", 75, false, 75, 0 },
    { "fatbin/targets.fatbin", 86, false, 80, 0 },
    { "fatbin/targets.fatbin", 89, true, 80, 0 },
    { "fatbin/targets.fatbin", 90, false, 90, 'a' },
    { "fatbin/targets.fatbin", 100, false, 100, 'a' },
    { "fatbin/targets.fatbin", 103, false, 100, 'f' },
    { "fatbin/targets.fatbin", 110, false, 90, 0 },
    { "fatbin/targets.fatbin", 120, false, 120, 'f' },
    { "fatbin/targets.fatbin", 121, false, 121, 0 },
    { "fatbin/targets.fatbin", 130, false, 121, 0 },
    { "fatbin/specific.fatbin", 90, false, 90, 'a' },
    { "fatbin/specific.fatbin", 80, false, 0, '-' },
    { "fatbin/specific.fatbin", 120, false, 0, '-' },
    { "fatbin/specific.fatbin", 120, true, 90, 'a' },
    { "fatbin/sass.fatbin", 90, true, 0, '-' },
    { "fatbin/nvvm.fatbin", 90, true, 0, '-' },
};

START_TEST(selection)
{
    const struct choice *x = &choices[_i];
    struct file f = read_binary(x->file);
    struct ptxi_fatbin_entry e;
    struct ptxi_fatbin b;

    ck_assert_int_eq(ptxi_fatbin_open(&b, f.data, f.size), PTXI_FATBIN_OK);
    enum ptxi_fatbin_result r = ptxi_fatbin_select(b, x->sm, x->any, &e);

    ck_assert_int_eq(r, x->suffix == '-' ? PTXI_FATBIN_END : PTXI_FATBIN_OK);
    if (!r) {
        ck_assert_uint_eq(e.target.sm, x->target);
        ck_assert_int_eq(e.target.suffix, x->suffix);
        ck_assert_uint_eq(e.kind, PTXI_FATBIN_PTX);
    }
    free(f.data);
}
END_TEST

START_TEST(target_names)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_fatbin_target_name((struct ptxi_target){ 90, 'a' }, &s);
    ptxi_fatbin_target_name((struct ptxi_target){ 80, 0 }, &s);
    ck_assert_str_eq(ptxi_str_text(&s), "sm_90asm_80");
    ptxi_str_free(&s);
}
END_TEST

/* ---- files */

struct found {
    struct ptxi_arena arena;
    struct ptxi_fatbin_list list;
};

static enum ptxi_fatbin_result find(struct found *x, const void *data, size_t size)
{
    *x = (struct found){ .list = { 0 } };
    ptxi_arena_init(&x->arena, NULL);
    return ptxi_fatbin_find(data, size, &x->arena, &x->list);
}

static const struct file_case {
    const char *file;
    enum ptxi_fatbin_file kind;
    unsigned count, relocatable, programs;
} file_cases[] = {
    { "fatbin/targets.fatbin", PTXI_FILE_FATBIN, 1, 0, 1 },
    { "fatbin/sass.fatbin", PTXI_FILE_FATBIN, 1, 0, 1 },
    { "fatbin/whole.elf", PTXI_FILE_ELF, 1, 0, 1 },
    { "fatbin/part1.elf", PTXI_FILE_ELF, 1, 1, 1 },
    { "fatbin/parts.ar", PTXI_FILE_ARCHIVE, 2, 2, 1 },
    { "fatbin/programs.elf", PTXI_FILE_ELF, 4, 2, 3 },
    { "fatbin/target.cu", PTXI_FILE_OTHER, 0, 0, 0 },
};

START_TEST(files)
{
    const struct file_case *x = &file_cases[_i];
    struct file f = read_binary(x->file);
    struct found found;
    unsigned relocatable = 0, first = 1;

    ck_assert_int_eq(ptxi_fatbin_file_kind(f.data, f.size), x->kind);
    ck_assert_int_eq(find(&found, f.data, f.size), PTXI_FATBIN_OK);
    ck_assert_uint_eq(found.list.count, x->count);
    for (uint32_t i = 0; i < found.list.count; i++) {
        relocatable += found.list.at[i].relocatable;
        ck_assert_uint_eq(found.list.at[i].first, first);
        first += x->count == 1 ? found.list.entries : 1;
    }
    ck_assert_uint_eq(relocatable, x->relocatable);
    ck_assert_uint_eq(ptxi_fatbin_group(&found.list), x->programs);
    ptxi_arena_free(&found.arena);
    free(f.data);
}
END_TEST

/* nvcc -rdc=true: one fat binary with linked GPU code, and one with the PTX of each part. */
START_TEST(a_fat_binary_without_ptx_is_no_program_beside_others)
{
    struct file sass = read_binary("fatbin/sass.fatbin"), ptx = read_binary("fatbin/plain.fatbin");
    struct ptxi_fatbin_found found[] = {
        { .data = (unsigned char *)sass.data, .size = sass.size },
        { .data = (unsigned char *)ptx.data, .size = ptx.size, .relocatable = true },
        { .data = (unsigned char *)ptx.data, .size = ptx.size, .relocatable = true },
    };
    struct ptxi_fatbin_list list = { .at = found, .count = 3 };

    ck_assert_uint_eq(ptxi_fatbin_group(&list), 1);
    ck_assert_uint_eq(found[0].program, 0);
    ck_assert_uint_eq(found[1].program, 1);
    ck_assert_uint_eq(found[2].program, 1);
    list.count = 1;
    ck_assert_uint_eq(ptxi_fatbin_group(&list), 1);
    ck_assert_uint_eq(found[0].program, 1);
    free(sass.data);
    free(ptx.data);
}
END_TEST

START_TEST(kernels_in_gpu_code)
{
    struct file f = read_binary("fatbin/sass.fatbin");
    struct ptxi_fatbin_entry e;
    struct ptxi_target t;
    struct ptxi_fatbin b;
    uint32_t section = 0;
    size_t size;
    char *cubin;

    ck_assert_int_eq(ptxi_fatbin_open(&b, f.data, f.size), PTXI_FATBIN_OK);
    ck_assert_int_eq(ptxi_fatbin_next(&b, &e), PTXI_FATBIN_OK);
    ck_assert_int_eq(ptxi_fatbin_extract(&e, &cubin, &size), PTXI_FATBIN_OK);
    ck_assert_int_eq(ptxi_fatbin_file_kind(cubin, size), PTXI_FILE_CUBIN);
    ck_assert(ptxi_fatbin_is_cubin(cubin, &t));
    ck_assert_uint_eq(t.sm, 90);
    ck_assert_str_eq(ptxi_fatbin_next_kernel(cubin, size, &section), "target");
    ck_assert(!ptxi_fatbin_next_kernel(cubin, size, &section));
    free(cubin);
    free(f.data);
}
END_TEST

/* ---- archives */

struct member {
    const char *header; /* name field */
    const void *data;
    size_t size;
};

static struct file make_archive(const struct member *m, unsigned count)
{
    struct file f = { .data = malloc(1 << 16), .size = 8 };

    ck_assert(f.data);
    memcpy(f.data, "!<arch>\n", 8);
    for (unsigned i = 0; i < count; i++) {
        char header[61];

        snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", m[i].header, "0", "0", "0", "644",
                 m[i].size);
        memcpy(f.data + f.size, header, 60);
        memcpy(f.data + f.size + 60, m[i].data, m[i].size);
        f.size += 60 + m[i].size;
        if (f.size % 2)
            f.data[f.size++] = '\n';
    }
    return f;
}

START_TEST(names_of_members)
{
    struct file o = read_binary("fatbin/part1.elf");
    char bsd[2048] = "bsd_name.o\0\0";
    const char names[] = "a_name_that_is_too_long.o/\nsecond.o/\n";
    struct found found;

    memcpy(bsd + 12, o.data, o.size);
    struct file a = make_archive((const struct member[]){
        { "/", "symbols", 7 }, { "//", names, sizeof names - 1 }, { "short.o/", o.data, o.size },
        { "/27", o.data, o.size }, { "text.txt/", "odd", 3 }, { "#1/12", bsd, 12 + o.size },
        { "/0", o.data, o.size }, { "/999", o.data, o.size } }, 8);
    static const char *const expected[] = { "short.o", "second.o", "bsd_name.o", "a_name_that_is_too_long.o", "" };

    ck_assert_int_eq(find(&found, a.data, a.size), PTXI_FATBIN_OK);
    ck_assert_uint_eq(found.list.count, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_str_eq(found.list.at[i].member, expected[i]);
    ptxi_arena_free(&found.arena);
    free(a.data);
    free(o.data);
}
END_TEST

START_TEST(thin_archives_are_refused)
{
    struct found found;

    ck_assert_int_eq(find(&found, "!<thin>\n", 8), PTXI_FATBIN_THIN);
    ptxi_arena_free(&found.arena);
}
END_TEST

/* With more than 65279 sections, section 0 has the numbers. */
START_TEST(elf_with_many_sections)
{
    struct file o = read_binary("fatbin/part1.elf");
    struct found found;
    uint64_t at, count = 0;
    uint32_t names = 0;

    memcpy(&at, o.data + 40, 8);
    memcpy(&count, o.data + 60, 2);
    memcpy(&names, o.data + 62, 2);
    memcpy(o.data + 60, "\0\0\xff\xff", 4);
    memcpy(o.data + at + 32, &count, 8);
    memcpy(o.data + at + 40, &names, 4);
    ck_assert_int_eq(find(&found, o.data, o.size), PTXI_FATBIN_OK);
    ck_assert_uint_eq(found.list.count, 1);
    ptxi_arena_free(&found.arena);
    free(o.data);
}
END_TEST

#define LENGTH(array) (int)(sizeof array / sizeof *array)

int main(void)
{
    Suite *s = suite_create("fatbin");
    TCase *t = tcase_create("fatbin");

    tcase_add_loop_test(t, files_with_one_entry, 0, LENGTH(ones));
    tcase_add_loop_test(t, selection, 0, LENGTH(choices));
    tcase_add_test(t, target_names);
    tcase_add_loop_test(t, files, 0, LENGTH(file_cases));
    tcase_add_test(t, a_fat_binary_without_ptx_is_no_program_beside_others);
    tcase_add_test(t, kernels_in_gpu_code);
    tcase_add_test(t, names_of_members);
    tcase_add_test(t, thin_archives_are_refused);
    tcase_add_test(t, elf_with_many_sections);
    suite_add_tcase(s, t);
    return run_suite(s);
}
