/* Compares what a tracker records of random writes with one mask and one place for each eight bytes. */
#include "unit/support/bits.h"

#include <pthread.h>
#include <string.h>

#include "exec/track/track.h"

enum {
    PAGES = 3,
    BYTES = PAGES * PTXI_TRACK_PAGE,
    WORDS = BYTES / 8,
    BLOCKS = BYTES / PTXI_TRACK_BLOCK,
    PLACES = 5,
    THREADS = 4
};

static const uint64_t base = UINT64_C(0x7f0123400000);

static struct ptxi_tracker *tracker;
static uint32_t expected[WORDS];

static void set_up(void)
{
    tracker = ptxi_tracker_create(false);
    ck_assert_ptr_nonnull(tracker);
    memset(expected, 0, sizeof expected);
}

static void tear_down(void)
{
    ptxi_tracker_unref(tracker);
}

/* A worker notes that it writes `bytes` bytes at an offset. */
static void note(unsigned worker, bool alone, uint64_t offset, uint32_t bytes, uint32_t place)
{
    struct ptxi_track_ranges *r = &((struct ptxi_tracker_head *)tracker)->ranges[worker];
    const struct ptxi_track_range range = { base + offset, bytes, place };

    if (r->next == r->end)
        ptxi_track_note_full(tracker, alone, r, range);
    else if (!alone || bytes != PTXI_TRACK_ROW || !ptxi_track_write_row(r, base + offset, place))
        *r->next++ = range;
}

static void expect(uint64_t offset, uint32_t bytes, uint32_t place)
{
    for (uint64_t at = offset; at < offset + bytes; at++)
        expected[at / 8] = place << PTXI_TRACK_PLACE | (expected[at / 8] & PTXI_TRACK_MASK) | 1u << at % 8;
}

static void write_range(uint64_t offset, uint32_t bytes, uint32_t place)
{
    note(0, true, offset, bytes, place);
    expect(offset, bytes, place);
}

/* `mask`: the bits of words to compare. */
static void compare(uint32_t mask)
{
    static uint32_t found[WORDS];

    ptxi_tracker_finish(tracker);
    ck_assert(ptxi_tracker_is_complete(tracker));
    memset(found, 0, sizeof found);
    for (const struct ptxi_track_page *p = ptxi_tracker_pages(tracker); p; p = p->next) {
        ck_assert(p->address >= base && p->address < base + BYTES);
        for (unsigned k = 0; k < PTXI_TRACK_WORDS; k++)
            found[(p->address - base) / 8 + k] = ptxi_track_written(p, k);
    }
    for (unsigned k = 0; k < WORDS; k++)
        ck_bits32_at(found[k] & mask, expected[k] & mask, "word %u", k);
}

static uint32_t random_place(void)
{
    return 1 + (uint32_t)(random64() % PLACES);
}

START_TEST(ranges_of_any_size)
{
    static const uint32_t most[] = { 3, 40, 200, 5000, PTXI_TRACK_PAGE + 500 };

    random_state += (uint64_t)_i;
    for (unsigned k = 0; k < 3000; k++) {
        const uint32_t bytes = 1 + (uint32_t)(random64() % most[(unsigned)_i]);

        write_range(random64() % (BYTES - bytes + 1), bytes, random_place());
    }
    compare(UINT32_MAX);
}
END_TEST

/* Blocks that are written in part, then as a whole, again and again: their words are moved. */
START_TEST(blocks_that_are_written_again)
{
    for (unsigned round = 0; round < 8; round++)
        for (unsigned block = 0; block < BLOCKS; block++) {
            const uint64_t at = (uint64_t)block * PTXI_TRACK_BLOCK;
            const uint32_t first = (uint32_t)(random64() % 32);

            if (random64() % 8)
                write_range(at + first, 1 + (uint32_t)(random64() % 31), random_place());
            if (block % 3 && random64() % 2)
                write_range(at, PTXI_TRACK_BLOCK, random_place());
        }
    compare(UINT32_MAX);
}
END_TEST

START_TEST(rows_that_follow_each_other)
{
    uint32_t place = 1;

    for (uint64_t at = 20; at + 128 <= BYTES; at += 128) {
        write_range(at, 128, place);
        if (random64() % 4 == 0)
            place = random_place();
    }
    compare(UINT32_MAX);
}
END_TEST

/* Rows that go to known pages at once, then ranges after which they must be noted. */
START_TEST(rows_in_any_order)
{
    for (unsigned k = 0; k < 200000; k++)
        if (k % 50000 < 40000)
            write_range(random64() % (BYTES / 64 - PTXI_TRACK_ROW / 64) * 64, PTXI_TRACK_ROW, random_place());
        else
            write_range(random64() % (BYTES - PTXI_TRACK_ROW), PTXI_TRACK_ROW, random_place());
    compare(UINT32_MAX);
}
END_TEST

struct thread {
    pthread_t id;
    unsigned worker;
    uint64_t seed;
};

enum { NOTES = 20000 };

/* The range number k of a thread. */
static uint64_t range_of(const struct thread *t, unsigned k, uint32_t *bytes)
{
    const uint64_t x = (t->seed + k) * UINT64_C(0x9e3779b97f4a7c15) ^ t->seed << 20;

    *bytes = 1 + (uint32_t)(x >> 40) % 150;
    return (x >> 8) % (BYTES - 150);
}

static void *run_thread(void *thread)
{
    const struct thread *t = thread;

    for (unsigned k = 0; k < NOTES; k++) {
        uint32_t bytes;
        const uint64_t offset = range_of(t, k, &bytes);

        note(t->worker, false, offset, bytes, t->worker + 1);
    }
    return NULL;
}

START_TEST(several_workers)
{
    struct thread threads[THREADS];

    for (unsigned n = 0; n < THREADS; n++) {
        threads[n] = (struct thread){ .worker = n, .seed = random64() };
        ck_assert_int_eq(pthread_create(&threads[n].id, NULL, run_thread, &threads[n]), 0);
    }
    for (unsigned n = 0; n < THREADS; n++)
        pthread_join(threads[n].id, NULL);
    for (unsigned n = 0; n < THREADS; n++)
        for (unsigned k = 0; k < NOTES; k++) {
            uint32_t bytes;
            const uint64_t offset = range_of(&threads[n], k, &bytes);

            expect(offset, bytes, 1);
        }
    compare(PTXI_TRACK_MASK);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tracker");
    TCase *t = tcase_create("tracker");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, ranges_of_any_size, 0, 5);
    tcase_add_test(t, blocks_that_are_written_again);
    tcase_add_test(t, rows_that_follow_each_other);
    tcase_add_test(t, rows_in_any_order);
    tcase_add_test(t, several_workers);
    suite_add_tcase(s, t);
    return run_suite(s);
}
