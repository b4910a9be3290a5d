#include "api/error/diag_store.h"

#include "base/arena.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct ptxi_diag_store {
    unsigned count;
    ptxiDiagnostic *at;
    struct ptxi_arena arena;
};

void ptxi_diag_store_free(struct ptxi_diag_store *s)
{
    if (!s)
        return;
    ptxi_arena_free(&s->arena);
    free(s);
}

static ptxiSeverity severity_of(const struct ptxi_diag_entry *e)
{
    switch (e->severity) {
    case PTXI_DIAG_ERROR: return PTXI_SEVERITY_ERROR;
    case PTXI_DIAG_WARNING: return PTXI_SEVERITY_WARNING;
    default: return PTXI_SEVERITY_NOTE;
    }
}

static const char *copy_string(struct ptxi_arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = ptxi_arena_alloc(a, n, 1);

    return p ? memcpy(p, s, n) : NULL;
}

static void render_entry(struct ptxi_str *out, const struct ptxi_diag_entry *e, const struct ptxi_texts *texts)
{
    struct ptxi_loc loc = e->loc;
    const struct ptxi_text *t = ptxi_text_at(texts, &loc);

    ptxi_diag_render_one(out, t->s, t->size, t->name, loc, ptxi_diag_severity_name(e->severity), e->msg);
}

static void store_one(struct ptxi_diag_store *s, const struct ptxi_diag_entry *e, const struct ptxi_texts *texts)
{
    struct ptxi_loc loc = e->loc;
    const struct ptxi_text *t = ptxi_text_at(texts, &loc);
    struct ptxi_str rendered;

    ptxi_str_init(&rendered, NULL);
    render_entry(&rendered, e, texts);
    s->at[s->count++] = (ptxiDiagnostic){
        .size = sizeof(ptxiDiagnostic), .severity = severity_of(e), .line = loc.line,
        .file = copy_string(&s->arena, t->name),
        .column = loc.line ? loc.col : 0,
        .length = loc.line ? loc.len : 0,
        .message = copy_string(&s->arena, e->msg), .text = copy_string(&s->arena, ptxi_str_text(&rendered)),
    };
    ptxi_str_free(&rendered);
}

struct ptxi_diag_store *ptxi_diag_store_create(const struct ptxi_diag *d, const struct ptxi_texts *texts)
{
    unsigned n = 0;

    for (const struct ptxi_diag_entry *e = d->first; e; e = e->next)
        n++;
    struct ptxi_diag_store *s = n ? calloc(1, sizeof *s) : NULL;

    if (!s)
        return NULL;
    ptxi_arena_init(&s->arena, NULL);
    s->at = ARENA_NEW(&s->arena, ptxiDiagnostic, n);
    for (const struct ptxi_diag_entry *e = d->first; e && s->at; e = e->next)
        store_one(s, e, texts);
    return s;
}

const ptxiDiagnostic *ptxi_diag_store_at(const struct ptxi_diag_store *s, unsigned index)
{
    return index < s->count ? &s->at[index] : NULL;
}
