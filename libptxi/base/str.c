#include "base/str.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void ptxi_str_init(struct ptxi_str *b, const struct ptxi_alloc *alloc)
{
    *b = (struct ptxi_str){ .alloc = alloc ? alloc : &ptxi_alloc_default };
}

void ptxi_str_free(struct ptxi_str *b)
{
    if (b->s)
        ptxi_alloc_put(b->alloc, b->s);
    ptxi_str_init(b, b->alloc);
}

void ptxi_str_clear(struct ptxi_str *b)
{
    b->len = 0;
    b->oom = false;
    if (b->s)
        b->s[0] = 0;
}

/* Makes room for n more bytes and a NUL. */
static bool reserve(struct ptxi_str *b, size_t n)
{
    if (b->oom)
        return false;
    assert(b->len < b->cap || (!b->s && !b->len && !b->cap));
    if (n < b->cap - b->len)
        return true;

    size_t cap = b->cap ? b->cap : 64;

    while (cap - b->len <= n) {
        if (cap > SIZE_MAX / 4) {
            b->oom = true;
            return false;
        }
        cap *= 2;
    }
    char *s = ptxi_alloc_resize(b->alloc, b->s, cap);

    if (!s) {
        b->oom = true;
        return false;
    }
    b->s = s;
    b->cap = cap;
    return true;
}

void ptxi_str_put(struct ptxi_str *b, const char *s, size_t n)
{
    assert(s || !n);
    if (!reserve(b, n))
        return;
    if (n)
        memcpy(b->s + b->len, s, n);
    b->len += n;
    b->s[b->len] = 0;
}

void ptxi_str_puts(struct ptxi_str *b, const char *s)
{
    ptxi_str_put(b, s, strlen(s));
}

void ptxi_str_fill(struct ptxi_str *b, char c, size_t n)
{
    if (!reserve(b, n))
        return;
    memset(b->s + b->len, c, n);
    b->len += n;
    b->s[b->len] = 0;
}

void ptxi_str_vprintf(struct ptxi_str *b, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && reserve(b, (size_t)n)) {
        vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void ptxi_str_printf(struct ptxi_str *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    ptxi_str_vprintf(b, fmt, ap);
    va_end(ap);
}
