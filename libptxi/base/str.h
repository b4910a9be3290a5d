/* A string that grows.
 *
 *     struct ptxi_str s;
 *     ptxi_str_init(&s, NULL);
 *     ptxi_str_printf(&s, "%d warps", n);
 *     puts(ptxi_str_text(&s));
 *     ptxi_str_free(&s);
 *
 * Ownership: the string owns its memory until ptxi_str_free(). Errors: if memory is exhausted, an append does nothing
 * and the flag `oom` stays set, so a caller can check once after many appends. */
#ifndef PTXI_BASE_STR_H
#define PTXI_BASE_STR_H

#include "base/alloc.h"

#include <stdarg.h>
#include <stdbool.h>

struct ptxi_str {
    char *s; /* NULL before the first append, then NUL-terminated */
    size_t len, cap;
    const struct ptxi_alloc *alloc;
    bool oom; /* an append was lost; the string is a prefix of the full text */
};

void ptxi_str_init(struct ptxi_str *b, const struct ptxi_alloc *alloc); /* if alloc is NULL, uses ptxi_alloc_default */
void ptxi_str_free(struct ptxi_str *b);
void ptxi_str_clear(struct ptxi_str *b); /* makes it empty, keeps the memory */
void ptxi_str_put(struct ptxi_str *b, const char *s, size_t n);
void ptxi_str_puts(struct ptxi_str *b, const char *s);
void ptxi_str_fill(struct ptxi_str *b, char c, size_t n);
void ptxi_str_printf(struct ptxi_str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ptxi_str_vprintf(struct ptxi_str *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* The text. It is never NULL, and valid until the next change. */
static inline const char *ptxi_str_text(const struct ptxi_str *b)
{
    return b->s ? b->s : "";
}

static inline void ptxi_str_putc(struct ptxi_str *b, char c)
{
    ptxi_str_fill(b, c, 1);
}

#endif
