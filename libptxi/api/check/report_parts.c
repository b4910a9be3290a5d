#include "api/check/report_parts.h"

#include "ptxi.h"

#include "api/memory/allocation_sites.h"
#include "api/observe/host_stack.h"
#include "base/demangle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ptxi_report_for_each(const struct ptxi_report_input *in, struct ptxi_str *out, ptxi_report_each *each, void *user)
{
    const struct ptxi_found *f;

    for (size_t k = 0; k < in->count; k++) {
        ptxi_findings_hold(in->lists[k]);
        for (size_t i = 0; (f = ptxi_findings_at(in->lists[k], i)) != NULL; i++)
            each(out, f, user);
        ptxi_findings_release(in->lists[k]);
    }
}

static void add_totals(struct ptxi_check_totals *to, const struct ptxi_check_totals *t)
{
    to->launches += t->launches;
    to->accesses += t->accesses;
    to->unchecked += t->unchecked;
    to->dropped += t->dropped;
    to->suppressed += t->suppressed;
    for (unsigned tool = 0; tool < PTXI_TOOLS; tool++)
        for (unsigned s = 0; s < PTXI_FINDING_SEVERITIES; s++)
            to->found[tool][s] += t->found[tool][s];
}

void ptxi_report_totals(const struct ptxi_report_input *in, struct ptxi_check_totals *totals)
{
    struct ptxi_check_totals t;

    *totals = (struct ptxi_check_totals){ 0 };
    for (size_t k = 0; k < in->count; k++) {
        ptxi_findings_totals(in->lists[k], &t);
        add_totals(totals, &t);
    }
}

uint64_t ptxi_report_count(const struct ptxi_check_totals *t, enum ptxi_finding_severity s)
{
    uint64_t n = 0;

    for (unsigned tool = 0; tool < PTXI_TOOLS; tool++)
        n += t->found[tool][s];
    return n;
}

uint64_t ptxi_report_problems(const struct ptxi_check_totals *t)
{
    return ptxi_report_count(t, PTXI_FINDING_ERROR) + ptxi_report_count(t, PTXI_FINDING_WARNING);
}

bool ptxi_report_is_incomplete(unsigned tools, const struct ptxi_check_totals *t)
{
    return (t->launches == 0 && tools & PTXI_SANITIZER_ALL) || t->unchecked;
}

/* ---- parts */

void ptxi_report_put_function(const char *name, struct ptxi_str *out)
{
    if (name)
        ptxi_demangle(name, out);
}

const char *ptxi_report_access_name(enum ptxi_access access)
{
    static const char *const access_names[] = {
        [PTXI_AK_NONE] = "use", [PTXI_AK_LOAD] = "read", [PTXI_AK_STORE] = "write", [PTXI_AK_ATOMIC] = "atomic access",
    };

    return access_names[access];
}

const char *ptxi_report_space_name(enum ptxi_finding_space space)
{
    static const char *const space_names[] = {
        [PTXI_FINDING_NO_SPACE] = "", [PTXI_FINDING_GLOBAL] = "global", [PTXI_FINDING_SHARED] = "shared",
        [PTXI_FINDING_LOCAL] = "local", [PTXI_FINDING_REGISTER] = "register",
        [PTXI_FINDING_CONST] = "constant", [PTXI_FINDING_PARAM] = "parameter", [PTXI_FINDING_SURFACE] = "surface",
        [PTXI_FINDING_TENSOR] = "tensor",
    };

    return space_names[space];
}

const char *ptxi_report_file(const struct ptxi_found_site *s, unsigned *line)
{
    bool source = s->source_file && s->source_line;

    *line = source ? s->source_line : s->ptx_line;
    return source ? s->source_file : s->ptx_file;
}

void ptxi_report_message(const struct ptxi_found *f, struct ptxi_str *out)
{
    const struct ptxi_finding *x = &f->finding;

    ptxi_str_puts(out, ptxi_finding_kinds[x->kind].text);
    if (x->size)
        ptxi_str_printf(out, ", %u byte%s", x->size, x->size == 1 ? "" : "s");
    if (x->space == PTXI_FINDING_REGISTER)
        ptxi_str_puts(out, " of a register");
    else if (x->space != PTXI_FINDING_NO_SPACE)
        ptxi_str_printf(out, " of %s memory at 0x%" PRIx64, ptxi_report_space_name(x->space), x->address);
    if (x->detail)
        ptxi_str_printf(out, ": %s", x->detail);
}

bool ptxi_report_is_call(const struct ptxi_finding *x)
{
    return x->kind == PTXI_FINDING_CALL;
}

const char *ptxi_report_called(const struct ptxi_finding *x)
{
    return x->sites[0].what ? x->sites[0].what : "<unknown>";
}

bool ptxi_report_calls(const struct ptxi_finding *x, struct ptxi_str *out)
{
    enum { SHOWN = 8 };

    if (x->error.stack)
        ptxi_host_stack_print(x->error.stack, SHOWN, out);
    if (ptxi_report_is_call(x))
        return x->error.stack != NULL;
    if (x->object_size)
        return ptxi_allocation_sites_print(x->object, out);
    return x->space == PTXI_FINDING_GLOBAL && ptxi_allocation_sites_print(x->address, out);
}

void ptxi_report_each_call(const struct ptxi_finding *x, struct ptxi_str *out, ptxi_report_call *each)
{
    struct ptxi_str calls;
    char *rest, *line;
    unsigned number = 0;

    ptxi_str_init(&calls, NULL);
    ptxi_report_calls(x, &calls);
    char *text = strdup(ptxi_str_text(&calls)); /* lines such as "  #0 main at file.c:1" */

    for (line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        const char *call = strchr(line + strspn(line, " "), ' ');

        each(x, out, number++, call ? call + 1 : line);
    }
    free(text);
    ptxi_str_free(&calls);
}
