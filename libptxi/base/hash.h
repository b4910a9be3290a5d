/* Hash tables: uthash with a random seed, so that no input can choose collisions, with memory from an arena, and with
 * insertions that can fail instead of ending the process.
 *
 * A function that inserts must have `struct ptxi_arena *hash_arena` in scope.
 *
 * Ownership: the table and its buckets are in that arena and are freed with it. HASH_CLEAR is not needed. Errors: a
 * failed insertion leaves the table unchanged. Test HASH_ADDED(hh, elem) after an insertion.
 *
 * If the key is an interned name, its pointer is hashed: use HASH_ADD_PTR, HASH_FIND_PTR, or the *_BYHASHVALUE forms
 * with ptxi_hash_ptr(). */
#ifndef PTXI_BASE_HASH_H
#define PTXI_BASE_HASH_H

#include "base/arena.h"

#include <stdint.h>
#include <string.h>

extern uint64_t ptxi_hash_seed; /* random; set before main */

static inline uint64_t ptxi_hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t ptxi_hash_load(const char *p, unsigned n)
{
    uint64_t v = 0;

    memcpy(&v, p, n);
    return v;
}

/* A hash that is the same in all processes, for data in files. Parts of data are hashed one after another, each with
 * the hash so far; the sizes of all but the last are multiples of 8. */
static inline uint64_t ptxi_hash_stable(uint64_t h, const void *data, size_t size)
{
    const char *p = data;

    for (; size >= 8; size -= 8, p += 8)
        h = ptxi_hash_mix(h ^ ptxi_hash_load(p, 8) ^ 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu) + (h >> 7);
    return size ? ptxi_hash_mix(h ^ ptxi_hash_load(p, (unsigned)size), 0x8ebc6af09c88c6e3u) + size : h;
}

/* Keys are short names, so overlapping 8-byte loads and one widening multiplication hash up to 16 bytes. */
static inline unsigned ptxi_hash_bytes(const void *key, size_t n)
{
    const char *p = key;
    uint64_t h = ptxi_hash_seed ^ n * 0x9e3779b97f4a7c15u, a, b;

    for (; n > 16; p += 16, n -= 16)
        h = ptxi_hash_mix(ptxi_hash_load(p, 8) ^ 0xa0761d6478bd642fu, ptxi_hash_load(p + 8, 8) ^ h);
    if (n >= 8) {
        a = ptxi_hash_load(p, 8);
        b = ptxi_hash_load(p + n - 8, 8);
    } else if (n >= 4) {
        a = ptxi_hash_load(p, 4);
        b = ptxi_hash_load(p + n - 4, 4);
    } else {
        a = n ? (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n >> 1] << 8 | (uint8_t)p[n - 1] : 0;
        b = 0;
    }
    h = ptxi_hash_mix(a ^ 0xe7037ed1a0b428dbu, b ^ h);
    h = ptxi_hash_mix(h ^ 0x8ebc6af09c88c6e3u, ptxi_hash_seed | 1);
    return (unsigned)(h ^ h >> 32);
}

static inline unsigned ptxi_hash_ptr(const void *p)
{
    uint64_t h = ptxi_hash_mix((uintptr_t)p ^ ptxi_hash_seed, 0x9e3779b97f4a7c15u);

    return (unsigned)(h ^ h >> 32);
}

#define HASH_FUNCTION(key, len, hashv) ((hashv) = ptxi_hash_bytes((key), (len)))
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) ptxi_arena_alloc(hash_arena, (size), alignof(max_align_t))
#define uthash_free(p, size) ((void)(p), (void)(size))
#define uthash_bzero(p, n) ((void)(p), (void)(n)) /* arena memory is zeroed */
#define uthash_nonfatal_oom(elem) ((void)(elem))

#include <uthash.h>

/* uthash doubles the number of buckets when the longest chain reaches this length. In a table with random keys such a
 * chain occurs at a mean length of about one. A lower threshold would let the table grow without bound, since some
 * keys always collide. */
#undef HASH_BKT_CAPACITY_THRESH
#define HASH_BKT_CAPACITY_THRESH 7U

#define HASH_ADDED(hh, elem) ((elem)->hh.tbl != NULL)

#endif
