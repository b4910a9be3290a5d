/* Loading of texts: options, files, messages. */
#include "api/module/image.h"
#include "api/module/load.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages */

static void render_entry(struct ptxi_str *out, const struct ptxi_diag_entry *e, const struct ptxi_texts *texts)
{
    struct ptxi_loc loc = e->loc;
    const struct ptxi_text *t = ptxi_text_at(texts, &loc);

    ptxi_diag_render_one(out, t->s, t->size, t->name, loc, ptxi_diag_severity_name(e->severity), e->msg);
}

/* ---- options */

static ptxiResult read_dialect(struct ptxi_load_options *o, intptr_t value)
{
    o->module.dialect = (unsigned)value;
    return ptxi_api_is_dialect((unsigned)value) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

static ptxiResult read_option(struct ptxi_load_options *o, ptxiJitOption option, void **value)
{
    bool on = (int)(intptr_t)*value != 0;

    switch ((int)option) {
    case PTXI_JIT_WALL_TIME: o->wall_time = value; break;
    case PTXI_JIT_INFO_LOG_BUFFER: o->info.buffer = *value; break;
    case PTXI_JIT_INFO_LOG_BUFFER_SIZE_BYTES: o->info.size = (unsigned)(uintptr_t)*value,
    o->info.size_value = value; break;
    case PTXI_JIT_ERROR_LOG_BUFFER: o->error.buffer = *value; break;
    case PTXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: o->error.size = (unsigned)(uintptr_t)*value,
    o->error.size_value = value; break;
    case PTXI_JIT_FMA: o->module.no_contract = !on; break;
    case PTXI_JIT_MAX_REGISTERS: o->module.max_registers = (unsigned)(uintptr_t)*value; break;
    case PTXI_JIT_OPTIMIZATION_LEVEL: o->module.as_written |= !on; break;
    case PTXI_JIT_GENERATE_DEBUG_INFO: o->module.as_written |= on; break;
    case PTXI_JIT_STRICT_TARGET: o->module.strict = on; break;
    case PTXI_JIT_STRICT_SYMBOLS: o->module.resolved = on; break;
    case PTXI_JIT_DIALECT: return read_dialect(o, (intptr_t)*value);
    case PTXI_JIT_FILE_NAME: o->module.name = *value; break;
    case PTXI_JIT_LOG_VERBOSE: o->verbose = on; break;
    case PTXI_JIT_THREADS_PER_BLOCK:
    case PTXI_JIT_TARGET_FROM_CONTEXT: case PTXI_JIT_TARGET: case PTXI_JIT_FALLBACK_STRATEGY:
    case PTXI_JIT_GENERATE_LINE_INFO: case PTXI_JIT_CACHE_MODE: case PTXI_JIT_FAST_COMPILE:
    case PTXI_JIT_POSITION_INDEPENDENT_CODE: case PTXI_JIT_MIN_CTA_PER_SM: case PTXI_JIT_MAX_THREADS_PER_BLOCK:
    case PTXI_JIT_OVERRIDE_DIRECTIVE_VALUES: break;
    default: return PTXI_ERROR_INVALID_VALUE;
    }
    return PTXI_SUCCESS;
}

ptxiResult ptxi_load_options(struct ptxi_load_options *o, unsigned n, ptxiJitOption *options, void **values)
{
    ptxiResult r = PTXI_SUCCESS;

    if (n && (!options || !values))
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n && !r; i++)
        r = read_option(o, options[i], &values[i]);
    return r;
}

/* Writes errors and their notes to one log, and warnings and their notes to the other. */
static void write_log(struct ptxi_log *log, const struct ptxi_diag *d, enum ptxi_diag_severity which,
                      const struct ptxi_texts *texts)
{
    struct ptxi_str s;
    bool on = false;

    if (!log->buffer && !log->size_value)
        return;
    ptxi_str_init(&s, NULL);
    for (const struct ptxi_diag_entry *e = d->first; e; e = e->next) {
        if (e->severity != PTXI_DIAG_NOTE)
            on = e->severity == which;
        if (on)
            render_entry(&s, e, texts);
    }
    if (log->buffer && log->size) {
        size_t room = log->size - 1 - log->used, n = s.len < room ? s.len : room;

        memcpy(log->buffer + log->used, ptxi_str_text(&s), n);
        assert(log->used + n < log->size);
        log->used += n;
        log->buffer[log->used] = 0;
    }
    if (log->size_value)
        *log->size_value = (void *)(uintptr_t)(log->used ? log->used + 1 : 0); /* the driver counts the NUL */
    ptxi_str_free(&s);
}

void ptxi_load_report(struct ptxi_load_options *o, const struct ptxi_diag *d, const struct ptxi_texts *texts)
{
    ptxi_api_store_diags(d, texts);
    write_log(&o->error, d, PTXI_DIAG_ERROR, texts);
    write_log(&o->info, d, PTXI_DIAG_WARNING, texts);
}

static void add_summary(struct ptxi_load_options *o, struct ptxi_diag *d, ptxiModule m)
{
    if (o->verbose && m)
        ptxi_diag_add(d, PTXI_DIAG_WARNING, PTXI_LOC_NONE, "%u kernels for %s, run as %s", m->kernel_count,
                      ptxi_profile_for_sm(m->tree->target.sm)->name, m->profile->name);
}

double ptxi_load_clock(void)
{
    return (double)ptxi_clock_monotonic_ns() / 1e6;
}

void ptxi_load_store_time(const struct ptxi_load_options *o, double since)
{
    float ms = (float)(ptxi_load_clock() - since);

    if (o->wall_time)
        memcpy(o->wall_time, &ms, sizeof ms);
}

/* ---- loading */

bool ptxi_load_is_ptx(const char *s)
{
    for (;;) {
        s += strspn(s, " \t\r\n\f\v");
        if (s[0] == '/' && s[1] == '/') {
            s += strcspn(s, "\n");
        } else if (s[0] == '/' && s[1] == '*') {
            s = strstr(s + 2, "*/");
            if (!s)
                return false;
            s += 2;
        } else {
            return *s == '.';
        }
    }
}

static ptxiResult make_module(ptxiContext ctx, char *text, size_t size, struct ptxi_load_options *o,
                              struct ptxi_arena *arena, ptxiModule *m)
{
    struct ptxi_diag diags;
    struct ptxi_texts texts;
    bool ptx = ptxi_load_is_ptx(text);

    ptxi_diag_init(&diags, arena);
    if (!ptxi_image_read(text, size, o->module.name, arena, &texts))
        return arena->oom ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_INVALID_IMAGE;
    if (!o->module.max_registers)
        o->module.max_registers = ptxi_image_max_registers(text, size);
    ptxiResult r = ptxi_module_create(ctx, text, &texts, &o->module, &diags, m);

    if (r == PTXI_ERROR_INVALID_PTX && !ptx)
        r = PTXI_ERROR_INVALID_IMAGE;
    add_summary(o, &diags, *m);
    ptxi_load_report(o, &diags, &texts);
    if (r || ptxi_module_publish(*m))
        return r;
    (*m)->text = NULL; /* the caller keeps it */
    ptxi_module_free(*m);
    return PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxi_load_text(ptxiContext ctx, char *text, size_t size, struct ptxi_load_options *o, ptxiModule *module)
{
    struct ptxi_arena arena;
    ptxiModule m = NULL;
    double start = ptxi_load_clock();

    if (!o->module.name)
        o->module.name = "<ptx>";
    ptxi_arena_init(&arena, NULL);
    ptxiResult r = make_module(ctx, text, size, o, &arena, &m);

    ptxi_load_store_time(o, start);
    ptxi_arena_free(&arena);
    if (r)
        free(text);
    if (!r)
        *module = m;
    return r;
}

ptxiResult ptxi_load_read_file(const char *name, char **text, size_t *size)
{
    FILE *f = fopen(name, "rb");

    if (!f)
        return PTXI_ERROR_FILE_NOT_FOUND;
    *text = ptxi_read_all(f, PTXI_MOST_TEXT, size);
    int why = errno;

    fclose(f);
    if (*text)
        return PTXI_SUCCESS;
    switch (why) {
    case ENOMEM: return PTXI_ERROR_OUT_OF_MEMORY;
    case EFBIG: return PTXI_ERROR_INVALID_IMAGE;
    default: return PTXI_ERROR_FILE_NOT_FOUND;
    }
}
