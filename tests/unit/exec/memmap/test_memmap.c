/* Tests the map of memory that kernels may access. */
#include "unit/support/bits.h"

#include "exec/memmap/memmap.h"

#include <pthread.h>
#include <string.h>

static struct ptxi_memmap *map;

static void set_up(void)
{
    map = ptxi_memmap_create();
    ck_assert_ptr_nonnull(map);
}

static void tear_down(void)
{
    ptxi_memmap_destroy(map);
}

static enum ptxi_memmap_result add(uint64_t base, uint64_t size, uint32_t flags)
{
    struct ptxi_mem_region r = { .base = base, .size = size, .flags = flags, .owner = map };

    return ptxi_memmap_add(map, &r);
}

START_TEST(finds_inside_and_nearest)
{
    struct ptxi_mem_region r;

    ck_assert_int_eq(ptxi_memmap_find(map, 5, &r), PTXI_MEMMAP_EMPTY);
    ck_assert_int_eq(add(1000, 100, PTXI_MEM_RWA), PTXI_MEMMAP_OK);
    ck_assert_int_eq(add(2000, 1, PTXI_MEM_READ), PTXI_MEMMAP_OK);
    static const struct { uint64_t addr; enum ptxi_memmap_hit hit; uint64_t base; } rows[] = {
        { 0, PTXI_MEMMAP_NEAREST, 1000 },    { 999, PTXI_MEMMAP_NEAREST, 1000 },  { 1000, PTXI_MEMMAP_INSIDE, 1000 },
        { 1099, PTXI_MEMMAP_INSIDE, 1000 },  { 1100, PTXI_MEMMAP_NEAREST, 1000 }, { 1549, PTXI_MEMMAP_NEAREST, 1000 },
        { 1550, PTXI_MEMMAP_NEAREST, 2000 }, { 2000, PTXI_MEMMAP_INSIDE, 2000 },  { 2001, PTXI_MEMMAP_NEAREST, 2000 },
        { UINT64_MAX, PTXI_MEMMAP_NEAREST, 2000 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq(ptxi_memmap_find(map, rows[i].addr, &r), rows[i].hit);
        ck_bits64_at(r.base, rows[i].base, "address %llu", (unsigned long long)rows[i].addr);
    }
    ck_assert_ptr_eq(r.owner, map);
    ck_assert_uint_eq(r.flags, PTXI_MEM_READ);
    ck_assert_uint_eq(r.id, 2);
}
END_TEST

START_TEST(overlapping_regions_are_refused)
{
    ck_assert_int_eq(add(1000, 100, 0), PTXI_MEMMAP_OK);
    ck_assert_int_eq(add(1000, 100, 0), PTXI_MEMMAP_OVERLAP);
    ck_assert_int_eq(add(1099, 1, 0), PTXI_MEMMAP_OVERLAP);
    ck_assert_int_eq(add(999, 2, 0), PTXI_MEMMAP_OVERLAP);
    ck_assert_int_eq(add(0, 5000, 0), PTXI_MEMMAP_OVERLAP);
    ck_assert_int_eq(add(500, 0, 0), PTXI_MEMMAP_OVERLAP);
    ck_assert_int_eq(add(UINT64_MAX - 1, 3, 0), PTXI_MEMMAP_OVERLAP);
    ck_assert_int_eq(add(1100, 1, 0), PTXI_MEMMAP_OK);
    ck_assert_int_eq(add(999, 1, 0), PTXI_MEMMAP_OK);
    ck_assert_uint_eq(ptxi_memmap_count(map), 3);
}
END_TEST

START_TEST(covers_whole_ranges_only)
{
    struct ptxi_mem_region r;

    add(1000, 100, 0);
    add(1100, 100, 0);
    ck_assert(ptxi_memmap_covers(map, 1000, 100, &r));
    ck_assert(ptxi_memmap_covers(map, 1099, 1, &r));
    ck_assert(ptxi_memmap_covers(map, 1050, 0, &r));
    ck_assert(!ptxi_memmap_covers(map, 1000, 101, &r));
    ck_assert(!ptxi_memmap_covers(map, 1099, 2, &r));
    ck_assert(!ptxi_memmap_covers(map, 999, 1, &r));
    ck_assert(!ptxi_memmap_covers(map, 1150, UINT64_MAX, &r));
}
END_TEST

START_TEST(overlaps_are_found)
{
    add(1000, 100, 0);
    add(1200, 50, 0);
    ck_assert(ptxi_memmap_overlaps(map, 1000, 1));
    ck_assert(ptxi_memmap_overlaps(map, 1099, 1));
    ck_assert(ptxi_memmap_overlaps(map, 999, 2));
    ck_assert(ptxi_memmap_overlaps(map, 0, UINT64_MAX));
    ck_assert(ptxi_memmap_overlaps(map, 1110, 91));
    ck_assert(!ptxi_memmap_overlaps(map, 1100, 100));
    ck_assert(!ptxi_memmap_overlaps(map, 0, 1000));
    ck_assert(!ptxi_memmap_overlaps(map, 1250, UINT64_MAX - 1250));
}
END_TEST

START_TEST(mapped_regions_are_joined)
{
    enum { SIZE = 100, MANY = 300 }; /* several leaves */
    struct ptxi_mem_region r;

    for (unsigned k = 0; k < MANY; k++)
        ck_assert_int_eq(add(1000 + k * SIZE, SIZE, PTXI_MEM_RWA | PTXI_MEM_MAPPED), PTXI_MEMMAP_OK);
    ck_assert_int_eq(add(1000 - SIZE, SIZE, PTXI_MEM_RWA), PTXI_MEMMAP_OK);
    ck_assert(ptxi_memmap_covers(map, 1000, MANY * SIZE, &r));
    ck_assert(ptxi_memmap_covers(map, 1000 + MANY * SIZE - 1, 1, &r));
    ck_assert_int_eq(ptxi_memmap_find(map, 1000 + MANY * SIZE - 1, &r), PTXI_MEMMAP_INSIDE);
    ck_assert(r.base == 1000 && r.size == MANY * SIZE);
    ck_assert(!ptxi_memmap_covers(map, 1000, MANY * SIZE + 1, &r));
    ck_assert(!ptxi_memmap_covers(map, 999, 2, &r));
    ptxi_memmap_set_flags(map, 1000 + 10 * SIZE, PTXI_MEM_READ | PTXI_MEM_MAPPED);
    ck_assert_int_eq(ptxi_memmap_find(map, 1000 + 9 * SIZE, &r), PTXI_MEMMAP_INSIDE);
    ck_assert(r.base == 1000 && r.size == 10 * SIZE);
    ck_assert(ptxi_memmap_covers(map, 1000 + 10 * SIZE, SIZE, &r));
    ck_assert(r.base == 1000 + 10 * SIZE && r.size == SIZE);
    ck_assert_uint_eq(ptxi_memmap_count(map), MANY + 1);
}
END_TEST

START_TEST(generation_grows_when_a_region_is_removed)
{
    uint64_t g = ptxi_memmap_generation(map);
    struct ptxi_mem_region r;

    add(1000, 100, PTXI_MEM_RWA);
    ck_assert(!ptxi_memmap_set_flags(map, 1001, PTXI_MEM_FREED));
    ck_assert(!ptxi_memmap_remove(map, 999));
    ck_assert_uint_eq(ptxi_memmap_generation(map), g);
    ck_assert(ptxi_memmap_set_flags(map, 1000, PTXI_MEM_FREED));
    ck_assert_uint_gt(ptxi_memmap_generation(map), g);
    ck_assert_int_eq(ptxi_memmap_find(map, 1050, &r), PTXI_MEMMAP_INSIDE);
    ck_assert_uint_eq(r.flags, PTXI_MEM_FREED);
    g = ptxi_memmap_generation(map);
    ck_assert(ptxi_memmap_remove(map, 1000));
    ck_assert_uint_gt(ptxi_memmap_generation(map), g);
    ck_assert_int_eq(ptxi_memmap_find(map, 1050, &r), PTXI_MEMMAP_EMPTY);
}
END_TEST

enum { SLOTS = 2000, SLOT = 64 };

/* A slot of 64 bytes holds at most one region, which begins at its start and has slot_size bytes. */
static void check_lookups(const uint8_t *slot_size)
{
    size_t count = 0;

    for (int i = 0; i < SLOTS; i++) {
        struct ptxi_mem_region r;
        uint64_t base = (uint64_t)(i + 1) * SLOT;
        enum ptxi_memmap_hit at = ptxi_memmap_find(map, base, &r);

        count += slot_size[i] != 0;
        ck_assert_int_eq(at == PTXI_MEMMAP_INSIDE, slot_size[i] != 0);
        if (slot_size[i]) {
            ck_bits64(r.base, base);
            ck_bits64(r.size, (uint64_t)slot_size[i]);
            ck_assert(ptxi_memmap_find(map, base + slot_size[i], &r) != PTXI_MEMMAP_INSIDE || r.base == base + SLOT);
        }
    }
    ck_assert_uint_eq(ptxi_memmap_count(map), count);
}

START_TEST(results_match_a_plain_table)
{
    static uint8_t slot_size[SLOTS];
    uint64_t x = 88172645463325252u + (uint64_t)_i;

    memset(slot_size, 0, sizeof slot_size);
    for (int step = 0; step < 40000; step++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int i = _i == 0 ? step % SLOTS : (int)(x % SLOTS); /* 0: in the order of addresses */
        uint64_t base = (uint64_t)(i + 1) * SLOT;

        if (slot_size[i]) {
            ck_assert(ptxi_memmap_remove(map, base));
            slot_size[i] = 0;
        } else {
            slot_size[i] = (uint8_t)(1 + x / SLOTS % SLOT);
            ck_assert_int_eq(add(base, slot_size[i], PTXI_MEM_RWA), PTXI_MEMMAP_OK);
        }
        if (step % 5000 == 1999)
            check_lookups(slot_size);
    }
    check_lookups(slot_size);
}
END_TEST

/* Regions of up to 64 MiB at any address in 1 GiB, so that all levels of the page map are used. */
enum { LARGE = 64 };
#define LARGE_AREA (UINT64_C(1) << 30)

static const struct ptxi_mem_region *find_plainly(const struct ptxi_mem_region *list, uint64_t addr)
{
    for (int i = 0; i < LARGE; i++)
        if (addr - list[i].base < list[i].size)
            return &list[i];
    return NULL;
}

static bool overlaps(const struct ptxi_mem_region *list, uint64_t base, uint64_t size)
{
    for (int i = 0; i < LARGE; i++)
        if (list[i].size && base < list[i].base + list[i].size && list[i].base < base + size)
            return true;
    return false;
}

/* An address next to the begin or end of a region, or any address. */
static uint64_t choose_address(const struct ptxi_mem_region *list, uint64_t origin)
{
    const struct ptxi_mem_region *r = &list[random64() % LARGE];

    switch (random64() % 4) {
    case 0:
        return r->base + random64() % 3 - 1;
    case 1:
        return r->base + r->size + random64() % 3 - 1;
    case 2:
        return r->base + (r->size ? random64() % r->size : 0);
    default:
        return origin + random64() % LARGE_AREA;
    }
}

static void check_large(const struct ptxi_mem_region *list, uint64_t origin)
{
    for (int i = 0; i < 200; i++) {
        uint64_t addr = choose_address(list, origin), size = random64() % 2 ? 1 : 1 + random64() % (1 << 20);
        const struct ptxi_mem_region *expected = find_plainly(list, addr);
        struct ptxi_mem_region r;
        bool covered = expected && size <= expected->size - (addr - expected->base);

        ck_assert_int_eq(ptxi_memmap_covers(map, addr, size, &r), covered);
        ck_assert_int_eq(ptxi_memmap_find(map, addr, &r) == PTXI_MEMMAP_INSIDE, expected != NULL);
        if (expected) {
            ck_bits64(r.base, expected->base);
            ck_bits64(r.size, expected->size);
            ck_assert_uint_eq(r.flags, expected->flags);
        }
    }
}

/* Sizes and bases are multiples of 2^_i, the last of them of 8 MiB. The areas begin within the page map, at its end and
 * above it. */
START_TEST(large_regions_match_a_list)
{
    static const uint64_t origins[] = { 0, (UINT64_C(1) << 47) - LARGE_AREA / 2, UINT64_C(1) << 60 };
    const uint64_t origin = origins[_i % 3], unit = UINT64_C(1) << (_i / 3 * 4);
    struct ptxi_mem_region list[LARGE] = { { .size = 0 } };

    for (int step = 0; step < 4000; step++) {
        struct ptxi_mem_region *r = &list[random64() % LARGE];

        if (r->size) {
            ck_assert(ptxi_memmap_remove(map, r->base));
            r->size = 0;
        } else {
            uint64_t base = origin + random64() % LARGE_AREA / unit * unit;
            uint64_t size = unit + (random64() % (UINT64_C(1) << 26) >> random64() % 26) / unit * unit;
            bool free = !overlaps(list, base, size);

            *r = (struct ptxi_mem_region){ .base = base, .size = size, .flags = (uint32_t)random64() };
            ck_assert_int_eq(ptxi_memmap_add(map, r), free ? PTXI_MEMMAP_OK : PTXI_MEMMAP_OVERLAP);
            r->size = free ? size : 0;
        }
        if (step % 20 == 0)
            check_large(list, origin);
    }
}
END_TEST

START_TEST(regions_too_large_for_the_page_map_are_found)
{
    struct ptxi_mem_region r;

    ck_assert_int_eq(add(UINT64_C(1) << 42, UINT64_C(3) << 40, PTXI_MEM_RWA), PTXI_MEMMAP_OK);
    ck_assert_int_eq(add(4096, 4096, PTXI_MEM_RWA), PTXI_MEMMAP_OK);
    ck_assert(ptxi_memmap_covers(map, (UINT64_C(1) << 42) + 12345, UINT64_C(2) << 40, &r));
    ck_assert(ptxi_memmap_covers(map, 5000, 100, &r));
    ck_assert(!ptxi_memmap_covers(map, 9000, 1, &r));
    ck_assert(ptxi_memmap_remove(map, UINT64_C(1) << 42));
    ck_assert(!ptxi_memmap_covers(map, (UINT64_C(1) << 42) + 12345, 1, &r));
    ck_assert(ptxi_memmap_covers(map, 5000, 100, &r));
}
END_TEST

static _Atomic bool stop;

static void *reader(void *failed)
{
    while (!stop) {
        struct ptxi_mem_region r;

        for (uint64_t a = 0; a < 1000 * 100; a += 97)
            if (ptxi_memmap_find(map, a, &r) == PTXI_MEMMAP_INSIDE && a - r.base >= 64)
                *(bool *)failed = true;
    }
    return NULL;
}

START_TEST(concurrent_readers_and_a_writer)
{
    pthread_t t[3];
    bool failed[3] = { false };

    stop = false;
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, reader, &failed[i]);
    for (int round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < 1000; i++)
            ck_assert_int_eq(add(i * 100, 64, PTXI_MEM_RWA), PTXI_MEMMAP_OK);
        for (uint64_t i = 0; i < 1000; i++)
            ck_assert(ptxi_memmap_remove(map, (i * 7 % 1000) * 100));
    }
    stop = true;
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
        ck_assert(!failed[i]);
    }
    ck_assert_uint_eq(ptxi_memmap_count(map), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("memmap");
    TCase *t = tcase_create("memmap");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, finds_inside_and_nearest);
    tcase_add_test(t, overlapping_regions_are_refused);
    tcase_add_test(t, covers_whole_ranges_only);
    tcase_add_test(t, overlaps_are_found);
    tcase_add_test(t, mapped_regions_are_joined);
    tcase_add_test(t, generation_grows_when_a_region_is_removed);
    tcase_add_loop_test(t, results_match_a_plain_table, 0, 3);
    tcase_add_loop_test(t, large_regions_match_a_list, 0, 18);
    tcase_add_test(t, regions_too_large_for_the_page_map_are_found);
    tcase_add_test(t, concurrent_readers_and_a_writer);
    suite_add_tcase(s, t);
    return run_suite(s);
}
