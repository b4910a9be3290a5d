/* Places of findings, and failed launches as findings. */
#include "api/check/check.h"

#include "api/error/source.h"
#include "api/module/module.h"

#include <stdio.h>
#include <string.h>

/* The line of a text, without indentation. It is valid until the thread's next call, because it is copied from a
 * longer text. */
static const char *line_of(const struct ptxi_text *t, uint32_t line)
{
    static _Thread_local char copy[160];
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_diag_put_line(&s, t, line);
    const char *text = ptxi_str_text(&s) + strspn(ptxi_str_text(&s), " \t");
    size_t n = strlen(text);

    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : sizeof copy - 1), text);
    ptxi_str_free(&s);
    return copy;
}

/* Whether a file seems to be a header of the CUDA toolkit or of CCCL. */
static bool is_of_toolkit(const char *file)
{
    static const char *const parts[] = { "/cuda", "/nvidia/", "/cccl/", "/targets/" };

    if (!strncmp(file, "/usr/include/", 13))
        return true;
    for (size_t k = 0; strstr(file, "/include/") && k < sizeof parts / sizeof *parts; k++)
        if (strstr(file, parts[k]))
            return true;
    return false;
}

/* The line of the program itself: functions such as __syncwarp() are inlined from headers of the toolkit. */
static void find_source(const struct ptxi_module_ast *tree, const struct ptxi_source_line *line,
                        struct ptxi_found_site *site)
{
    const struct ptxi_inlined_call *call = line ? line->inlined : NULL;
    const char *file = ptxi_source_file(tree, line);

    if (!(site->source_file = file))
        return;
    site->source_line = line->line;
    for (; file && is_of_toolkit(file) && call; call = call->caller) {
        const struct ptxi_source_line at = { call->file, call->line, call->column, NULL };

        if (!(file = ptxi_source_file(tree, &at)) || is_of_toolkit(file))
            continue;
        site->source_file = file;
        site->source_line = at.line;
    }
}

void ptxi_check_resolve(const struct ptxi_code *code, uint32_t at, struct ptxi_found_site *site)
{
    const struct ptxiModule_st *m = code->module;

    if (!m || at >= code->count || !code->locs[at].line)
        return;
    const struct ptxi_source_loc *where = &code->locs[at];
    struct ptxi_loc loc = { where->line, where->column, 1 };
    const struct ptxi_text *t = ptxi_text_at(&m->texts, &loc);

    site->ptx_file = t->name;
    site->ptx_line = loc.line;
    site->ptx_column = loc.col;
    site->ptx_text = line_of(t, loc.line);
    find_source(m->tree, where->source, site);
}

/* ---- failed launches */

/* The kind of a fault. NUMBER: no tool finds it. */
static enum ptxi_finding_kind kind_of(enum ptxi_fault_kind fault)
{
    static const uint8_t kinds[] = {
#define KIND(fault, kind) [PTXI_FK_##fault] = 1 + PTXI_FINDING_##kind
        KIND(OUT_OF_BOUNDS, OUT_OF_BOUNDS), KIND(MISALIGNED, MISALIGNED), KIND(NULL, NULL_POINTER),
        KIND(FREED, FREED), KIND(READ_ONLY, READ_ONLY), KIND(PEER, PEER), KIND(OTHER_SHARED, SHARED_BOUNDS),
        KIND(NO_CTA, SHARED_BOUNDS), KIND(NO_RANK, SHARED_BOUNDS), KIND(OTHER_LOCAL, LOCAL_BOUNDS),
        KIND(ADDRESS_SPACE, ADDRESS_SPACE), KIND(STACK, STACK), KIND(FREE, INVALID_FREE),
        KIND(FREE_TWICE, DOUBLE_FREE), KIND(MISUSE, MISUSE), KIND(DEADLOCK, DEADLOCK), KIND(BARRIER, BARRIER),
        KIND(BARRIER_USE, BARRIER),
#undef KIND
    };

    return (size_t)fault < sizeof kinds && kinds[fault] ? (enum ptxi_finding_kind)(kinds[fault] - 1)
                                                        : PTXI_FINDING_KINDS;
}

static enum ptxi_finding_space space_of(const struct ptxi_fault_report *f)
{
    static const uint8_t spaces[] = {
        [PTXI_FS_GLOBAL] = PTXI_FINDING_GLOBAL, [PTXI_FS_SHARED] = PTXI_FINDING_SHARED,
        [PTXI_FS_LOCAL] = PTXI_FINDING_LOCAL, [PTXI_FS_CONST] = PTXI_FINDING_CONST,
        [PTXI_FS_PARAM] = PTXI_FINDING_PARAM, [PTXI_FS_SURFACE] = PTXI_FINDING_SURFACE,
    };

    return f->access_size ? (enum ptxi_finding_space)spaces[f->space] : PTXI_FINDING_NO_SPACE;
}

void ptxi_check_add_fault(struct ptxi_findings *f, unsigned tools, const struct ptxi_fault_report *fault,
                          uint64_t count, const char *kernel, uint64_t launch)
{
    enum ptxi_finding_kind kind = kind_of(fault->kind);

    if (kind == PTXI_FINDING_KINDS || !(tools >> ptxi_finding_kinds[kind].tool & 1))
        return;
    struct ptxi_finding x = {
        .kind = kind, .severity = ptxi_finding_kinds[kind].severity, .site_count = 1,
        .sites = { ptxi_finding_site_at(fault) },
        .space = space_of(fault), .address = fault->address, .size = fault->access_size,
        .object = fault->near_base, .object_size = fault->near_size, .object_freed = fault->near_freed,
        .name = fault->area, .detail = fault->detail[0] ? fault->detail : NULL, .repeated = count - 1,
    };
    ptxi_findings_add(f, &x, kernel, launch);
}
