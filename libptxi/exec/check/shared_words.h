/* A quick test of accesses to shared memory. Between two barriers of a CTA most words are read only, or accessed by one
 * thread, or by atomic operations only. Each word has a state that says so. An access that fits the state of its words
 * cannot race. If it tells something new about them, it is only noted in a log. As soon as an access may race, the log
 * is replayed into the lines of the race checker (race.c), which then checks all accesses until the next barrier.
 *
 * A state is the time of an access, a kind and a thread. All accesses since the barrier by other threads happen before
 * this access of the thread, except those that the kind names. */
#ifndef PTXI_EXEC_CHECK_SHARED_WORDS_H
#define PTXI_EXEC_CHECK_SHARED_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum ptxi_word_kind {
    PTXI_WORD_READ = 1,      /* read by the thread */
    PTXI_WORD_READ_BY_WARP,  /* also by others of its warp */
    PTXI_WORD_READ_BY_ALL,   /* also by other warps */
    PTXI_WORD_WRITTEN,       /* written by the thread */
    PTXI_WORD_OWNED,         /* written and read by the thread */
    PTXI_WORD_WRITTEN_READ,  /* written, and afterwards read by threads of the warp */
    PTXI_WORD_ATOMIC,        /* like the first three, with atomic operations */
    PTXI_WORD_ATOMIC_BY_WARP,
    PTXI_WORD_ATOMIC_BY_ALL
};

enum {
    PTXI_WORD_LANE_BITS = 5, PTXI_WORD_THREAD_BITS = 10, PTXI_WORD_TIME_SHIFT = 14,
    PTXI_WORD_TIMES = 1 << (32 - PTXI_WORD_TIME_SHIFT)
};

/* An access of some lanes in the log. */
struct ptxi_word_access {
    uint32_t clock, meta, lanes; /* as in struct ptxi_record */
    uint32_t size : 8, write : 1, row : 1; /* row: there is one address, that of lane 0, and the others follow */
    uint32_t addresses[];        /* of the lanes */
};
enum { PTXI_WORD_ACCESS_WORDS = 4 }; /* without addresses */

enum { PTXI_WORD_LOG = 1 << 16 }; /* words */

struct ptxi_shared_words {
    uint32_t *states;      /* NULL: memory is short */
    uint32_t bytes;        /* of shared memory that have a state */
    uint32_t base;         /* clock of time 0 */
    uint32_t epoch;        /* clock of the barrier to which the log belongs */
    uint32_t exact;        /* clock of the barrier since which the race checker checks all accesses; 0: never */
    uint32_t *log, log_size;
    /* By lines of 32 words: the barrier since which all words are READ_BY_ALL, or ATOMIC_BY_ALL. That lasts until the
     * next barrier, because any other access may race. */
    uint32_t *read_lines, *atomic_lines;
    uint32_t lines_since;  /* the barrier since which there is such a line */
    uint32_t tries;        /* number of times that lines might have become so */
};
enum { PTXI_WORD_LINE = 128, PTXI_WORD_MAX_LINES = 16 }; /* bytes of a line; lines of an access that are looked at */

struct ptxi_check_cta;
struct ptxi_insn;
struct ptxi_warp;

/* Makes states for all words. If memory is short there are none, and the race checker does everything. */
void ptxi_shared_words_create(struct ptxi_shared_words *s, uint64_t bytes);
void ptxi_shared_words_free(struct ptxi_shared_words *s);
/* Prepares for accesses at a clock, which has exceeded the times of states, or after another barrier. */
void ptxi_shared_words_begin(struct ptxi_shared_words *s, uint32_t clock, uint32_t barrier);
/* Iterates over the log; the first call has *at = 0. NULL: there are no more. */
const struct ptxi_word_access *ptxi_shared_words_next(const struct ptxi_shared_words *s, uint32_t *at);

#endif
