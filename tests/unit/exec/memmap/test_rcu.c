/* Tests that no thread is in a critical section while readers are stopped. */
#include "unit/support/bits.h"

#include "exec/memmap/rcu.h"

#include <pthread.h>

enum { READERS = 4, STOPS = 50 };

static _Atomic unsigned long words[READERS]; /* each is written by one thread in its sections, without other order */
static _Atomic bool end;

static void *read_and_write(void *word)
{
    _Atomic unsigned long *w = word;
    struct ptxi_rcu_reader *r = ptxi_rcu_register();

    ck_assert_ptr_nonnull(r);
    while (!end) {
        ptxi_rcu_read_lock(r);
        for (int i = 0; i < 20; i++) {
            for (int k = 0; k < 50; k++)
                atomic_store_explicit(w, atomic_load_explicit(w, memory_order_relaxed) + 1, memory_order_relaxed);
            ptxi_rcu_quiescent_state(r);
        }
        ptxi_rcu_read_unlock(r);
    }
    ptxi_rcu_unregister(r);
    return NULL;
}

static unsigned long sum(void)
{
    unsigned long n = 0;

    for (int i = 0; i < READERS; i++)
        n += atomic_load_explicit(&words[i], memory_order_relaxed);
    return n;
}

static void *stop_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < STOPS; i++) {
        ptxi_rcu_stop();
        unsigned long before = sum();

        for (int k = 0; k < 2000; k++)
            ck_assert_uint_eq(sum(), before);
        ptxi_rcu_resume();
        for (int spin = 0; spin < 1000000 && sum() == before; spin++) /* they go on */
            ptxi_rcu_synchronize();
        ck_assert_uint_ne(sum(), before);
    }
    return NULL;
}

START_TEST(readers_are_stopped)
{
    pthread_t readers[READERS], other;

    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_and_write, &words[i]), 0);
    ck_assert_int_eq(pthread_create(&other, NULL, stop_often, NULL), 0);
    stop_often(NULL);
    pthread_join(other, NULL);
    end = true;
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("read-copy-update");
    TCase *t = tcase_create("read-copy-update");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, readers_are_stopped);
    suite_add_tcase(s, t);
    return run_suite(s);
}
