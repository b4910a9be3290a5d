/* A growing string. Failures stick: append freely, look at `oom` once at the end.
 *
 *     struct ptxi_str s;
 *     ptxi_str_init(&s, NULL);
 *     ptxi_str_printf(&s, "%d warps", n);
 *     puts(ptxi_str_text(&s));
 *     ptxi_str_free(&s); */
#ifndef PTXI_BASE_STR_H
#define PTXI_BASE_STR_H

#include "base/alloc.h"

#include <stdarg.h>
#include <stdbool.h>

struct ptxi_str {
    char *s; /* NUL-terminated once anything was appended */
    size_t len, cap;
    const struct ptxi_alloc *alloc;
    bool oom; /* an append was lost; what is here is a prefix */
};

void ptxi_str_init(struct ptxi_str *b, const struct ptxi_alloc *alloc); /* NULL: ptxi_alloc_default */
void ptxi_str_free(struct ptxi_str *b);
void ptxi_str_clear(struct ptxi_str *b); /* empty it, keep the memory */
void ptxi_str_put(struct ptxi_str *b, const char *s, size_t n);
void ptxi_str_puts(struct ptxi_str *b, const char *s);
void ptxi_str_fill(struct ptxi_str *b, char c, size_t n);
void ptxi_str_printf(struct ptxi_str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ptxi_str_vprintf(struct ptxi_str *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Never NULL; valid until the next change. */
static inline const char *ptxi_str_text(const struct ptxi_str *b)
{
    return b->s ? b->s : "";
}

static inline void ptxi_str_putc(struct ptxi_str *b, char c)
{
    ptxi_str_fill(b, c, 1);
}

#endif
