#include "exec/check/shared_words.h"

#include <stdlib.h>
#include <string.h>

void ptxi_shared_words_create(struct ptxi_shared_words *s, uint64_t bytes)
{
    s->bytes = (uint32_t)(bytes & ~UINT64_C(3));
    s->states = calloc((size_t)s->bytes / 4 + 1, sizeof *s->states);
    s->read_lines = calloc(2 * ((size_t)s->bytes / PTXI_WORD_LINE + 1), sizeof *s->read_lines);
    s->log = s->states && s->read_lines ? malloc(PTXI_WORD_LOG * sizeof *s->log) : NULL;
    if (!s->log)
        ptxi_shared_words_free(s);
    else
        s->atomic_lines = s->read_lines + s->bytes / PTXI_WORD_LINE + 1;
}

void ptxi_shared_words_free(struct ptxi_shared_words *s)
{
    free(s->states);
    free(s->read_lines);
    free(s->log);
    *s = (struct ptxi_shared_words){ .states = NULL };
}

void ptxi_shared_words_begin(struct ptxi_shared_words *s, uint32_t clock, uint32_t barrier)
{
    if (clock - s->base >= PTXI_WORD_TIMES - 1 && s->epoch != barrier) {
        memset(s->states, 0, s->bytes);
        s->base = barrier - 1; /* a time is never 0 */
    }
    if (s->epoch != barrier) {
        s->epoch = barrier;
        s->log_size = 0;
    }
    if (clock - s->base >= PTXI_WORD_TIMES - 1)
        s->exact = barrier;
}

const struct ptxi_word_access *ptxi_shared_words_next(const struct ptxi_shared_words *s, uint32_t *at)
{
    const struct ptxi_word_access *a = (const struct ptxi_word_access *)(const void *)&s->log[*at];

    if (*at >= s->log_size)
        return NULL;
    *at += PTXI_WORD_ACCESS_WORDS + (a->row ? 1 : (uint32_t)__builtin_popcount(a->lanes));
    return a;
}
