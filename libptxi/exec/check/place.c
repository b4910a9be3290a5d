#include "exec/check/place.h"

#include <pthread.h>
#include <stdlib.h>

#include "exec/check/check.h"

/* Functions by their first place, ascending. */
static struct entry {
    const struct ptxi_code *code;
    const void *owner;
} *list;
static uint32_t count, allocated;
static _Atomic uint32_t next = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint32_t ptxi_places_take(uint32_t n)
{
    uint32_t first = atomic_load(&next);

    /* once there are too many, all have the number of an unknown place */
    do {
        if (n > PTXI_PLACE_UNKNOWN - first)
            return PTXI_PLACE_UNKNOWN;
    } while (!atomic_compare_exchange_weak(&next, &first, first + n));
    return first;
}

static uint32_t find(uint32_t place)
{
    uint32_t lo = 0, hi = count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (list[mid].code->first_place <= place)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void ptxi_places_add(const struct ptxi_code *code, const void *owner)
{
    if (!code->first_place || code->first_place == PTXI_PLACE_UNKNOWN)
        return;
    pthread_mutex_lock(&lock);
    if (count == allocated) {
        uint32_t more = allocated ? 2 * allocated : 64;
        struct entry *new = realloc(list, more * sizeof *new);

        if (new) {
            list = new;
            allocated = more;
        }
    }
    if (count < allocated) { /* else its places stay unknown */
        uint32_t at = find(code->first_place);

        for (uint32_t k = count++; k > at; k--)
            list[k] = list[k - 1];
        list[at] = (struct entry){ code, owner };
    }
    pthread_mutex_unlock(&lock);
}

void ptxi_places_remove(const void *owner)
{
    uint32_t kept = 0;

    pthread_mutex_lock(&lock);
    for (uint32_t k = 0; k < count; k++)
        if (list[k].owner != owner)
            list[kept++] = list[k];
    count = kept;
    if (!count) {
        free(list);
        list = NULL;
        allocated = 0;
    }
    pthread_mutex_unlock(&lock);
}

const struct ptxi_code *ptxi_place_find(uint32_t place, uint32_t *at)
{
    const struct ptxi_code *code = NULL;
    uint32_t k;

    pthread_mutex_lock(&lock);
    k = find(place);
    if (k && place - list[k - 1].code->first_place < list[k - 1].code->count) {
        code = list[k - 1].code;
        *at = place - code->first_place;
    }
    pthread_mutex_unlock(&lock);
    return code;
}
