/* The image that ptxiLinkComplete() returns: a line that identifies it, a line with the limit of registers if there is
 * one, then the parts, each after a line with its size and name. */
#include "api/module/image.h"

#include <stdlib.h>
#include <string.h>

static const char magic[] = "// ptxi linked image\n", limit[] = "// registers ";

static const char empty_text[] = ".version 6.0\n.target sm_30\n.address_size 64\n";
const struct ptxi_texts ptxi_image_empty = {
    &(const struct ptxi_text){ "<link>", empty_text, sizeof empty_text - 1, 1 }, 1,
};

enum { MAX_PARTS = 1 << 16 };

bool ptxi_image_is_linked(const char *text, size_t size)
{
    return size >= sizeof magic - 1 && !memcmp(text, magic, sizeof magic - 1);
}

/* Returns the text after the line that identifies the image. */
static const char *after_magic(const char *text)
{
    return text + sizeof magic - 1;
}

unsigned ptxi_image_max_registers(const char *text, size_t size)
{
    const char *s;

    if (!ptxi_image_is_linked(text, size))
        return 0;
    s = after_magic(text); /* the text has a NUL after its end */
    return strncmp(s, limit, sizeof limit - 1) ? 0 : (unsigned)strtoul(s + sizeof limit - 1, NULL, 10);
}

void ptxi_image_write(const struct ptxi_texts *parts, unsigned max_registers, struct ptxi_str *out)
{
    ptxi_str_puts(out, magic);
    if (max_registers)
        ptxi_str_printf(out, "%s%u\n", limit, max_registers);
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct ptxi_text *t = &parts->at[i];

        ptxi_str_printf(out, "// %zu %s\n", t->size, t->name);
        ptxi_str_put(out, t->s, t->size);
        ptxi_str_putc(out, '\n');
    }
}

uint32_t ptxi_image_lines(const struct ptxi_text *t)
{
    uint32_t n = 1;

    for (const char *s = t->s; (s = memchr(s, '\n', (size_t)(t->s + t->size - s))); s++)
        n++;
    return n;
}

/* Reads the part at `s`. Returns its end, or NULL. */
static const char *read_part(const char *s, const char *end, struct ptxi_arena *arena, struct ptxi_text *t)
{
    const char *nl = memchr(s, '\n', (size_t)(end - s));
    char *name;

    if (!nl || end - s < 3 || memcmp(s, "// ", 3))
        return NULL;
    t->size = strtoull(s + 3, &name, 10);
    if (name == s + 3 || *name++ != ' ' || name > nl)
        return NULL;
    t->s = nl + 1;
    if (t->size >= (size_t)(end - t->s) || t->s[t->size] != '\n')
        return NULL;
    t->name = ptxi_arena_strndup(arena, name, (size_t)(nl - name));
    return t->name ? t->s + t->size + 1 : NULL;
}

/* Returns the first part of the image, or its end. */
static const char *first_part(const char *text, const char *end)
{
    const char *s = after_magic(text), *nl;

    if (!ptxi_image_max_registers(text, (size_t)(end - text)))
        return s;
    nl = memchr(s, '\n', (size_t)(end - s));
    return nl ? nl + 1 : end;
}

static bool read_linked(const char *text, const char *end, struct ptxi_arena *arena, struct ptxi_texts *texts)
{
    uint32_t cap = 0, line = 1;
    struct ptxi_text *at = NULL;
    const char *s = first_part(text, end);

    for (texts->count = 0; s < end; texts->count++) {
        if (texts->count == cap) {
            struct ptxi_text *more = ARENA_NEW(arena, struct ptxi_text, cap = cap ? 2 * cap : 4);

            if (!more)
                return false;
            if (at)
                memcpy(more, at, texts->count * sizeof *at);
            texts->at = at = more;
        }
        struct ptxi_text *t = &at[texts->count];

        s = texts->count < MAX_PARTS ? read_part(s, end, arena, t) : NULL;
        if (!s)
            return false;
        t->first_line = line;
        line += ptxi_image_lines(t);
    }
    return texts->count > 0;
}

bool ptxi_image_read(const char *text, size_t size, const char *name, struct ptxi_arena *arena,
                     struct ptxi_texts *texts)
{
    struct ptxi_text *one;

    if (ptxi_image_is_linked(text, size))
        return read_linked(text, text + size, arena, texts);
    one = ARENA_NEW(arena, struct ptxi_text, 1);
    if (!one)
        return false;
    *one = (struct ptxi_text){ name, text, size, 1 };
    *texts = (struct ptxi_texts){ one, 1 };
    return true;
}
