/* Reports for readers, and rules. */
#include "api/check/formats.h"

#include <inttypes.h>
#include <string.h>

/* ---- text */

static void put_place(const struct ptxi_found_site *s, struct ptxi_str *out)
{
    if (s->source_file && s->source_line)
        ptxi_str_printf(out, "%s:%u", s->source_file, s->source_line);
    if (s->ptx_line)
        ptxi_str_printf(out, "%s%s:%u", s->source_file && s->source_line ? ", " : "", s->ptx_file ? s->ptx_file : "PTX",
                        s->ptx_line);
    if (s->ptx_text)
        ptxi_str_printf(out, ": %s", s->ptx_text);
}

static void put_thread(const struct ptxi_finding_site *s, struct ptxi_str *out)
{
    if (s->what) {
        ptxi_str_printf(out, "%s", s->what);
        return;
    }
    ptxi_str_printf(out, "block (%u,%u,%u), thread (%u,%u,%u)", s->ctaid[0], s->ctaid[1], s->ctaid[2], s->tid[0],
                    s->tid[1], s->tid[2]);
    if (s->threads > 1)
        ptxi_str_printf(out, " and %u more of its warp", s->threads - 1);
}

static void put_site(const struct ptxi_found_site *s, bool earlier, struct ptxi_str *out)
{
    ptxi_str_printf(out, "note: %s%s by ", earlier ? "earlier " : "", ptxi_report_access_name(s->site.access));
    put_thread(&s->site, out);
    if (s->site.has_value)
        ptxi_str_printf(out, ", value 0x%" PRIx64, s->site.value);
    if (s->site.what) {
        ptxi_str_putc(out, '\n');
        return;
    }
    ptxi_str_puts(out, "\nnote:   at ");
    put_place(s, out);
    if (s->function) {
        ptxi_str_puts(out, " in ");
        ptxi_report_put_function(s->function, out);
    }
    ptxi_str_putc(out, '\n');
}

static void put_object(const struct ptxi_finding *x, struct ptxi_str *out)
{
    const char *what = x->object_freed ? "freed allocation" : "allocation";

    if (!x->object_size)
        return;
    ptxi_str_puts(out, "note: ");
    if (x->address >= x->object && x->address < x->object + x->object_size)
        ptxi_str_printf(out, "at byte %" PRIu64 " of", x->address - x->object);
    else if (x->address < x->object)
        ptxi_str_printf(out, "%" PRIu64 " bytes before", x->object - x->address);
    else if (x->address == x->object + x->object_size)
        ptxi_str_puts(out, "right after the end of");
    else
        ptxi_str_printf(out, "%" PRIu64 " bytes after the end of", x->address - x->object - x->object_size);
    if (x->name)
        ptxi_str_printf(out, " %s", x->name);
    else
        ptxi_str_printf(out, " the %s", what);
    ptxi_str_printf(out, " of %" PRIu64 " bytes at 0x%" PRIx64 "\n", x->object_size, x->object);
}

static void put_calls(const struct ptxi_finding *x, struct ptxi_str *out)
{
    struct ptxi_str calls;

    ptxi_str_init(&calls, NULL);
    if (ptxi_report_calls(x, &calls))
        ptxi_str_printf(out, "note: %s by\n%s", ptxi_report_is_call(x) ? "called" : "allocated",
                        ptxi_str_text(&calls));
    ptxi_str_free(&calls);
}

static const char *colour_of(enum ptxi_finding_severity s)
{
    static const char *const colours[] = {
        [PTXI_FINDING_BENIGN] = "\033[1;36m", [PTXI_FINDING_WARNING] = "\033[1;35m",
        [PTXI_FINDING_ERROR] = "\033[1;31m",
    };

    return colours[s];
}

void ptxi_format_text(const struct ptxi_found *f, bool colour, struct ptxi_str *out)
{
    const struct ptxi_finding *x = &f->finding;
    const struct ptxi_finding_kind_info *kind = &ptxi_finding_kinds[x->kind];
    unsigned line = 0;
    const char *file = x->site_count ? ptxi_report_file(&f->sites[0], &line) : NULL;

    if (file)
        ptxi_str_printf(out, "%s:%u: ", file, line);
    ptxi_str_printf(out, "%s%s:%s ", colour ? colour_of(x->severity) : "", ptxi_finding_severity_names[x->severity],
                    colour ? "\033[0m" : "");
    ptxi_report_message(f, out);
    ptxi_str_printf(out, " [%s.%s]\n", ptxi_tool_names[kind->tool], kind->rule);
    for (unsigned s = 0; s < x->site_count && !ptxi_report_is_call(x); s++)
        put_site(&f->sites[s], s > 0, out);
    put_object(x, out);
    put_calls(x, out);
    if (f->kernel) {
        ptxi_str_puts(out, "note: kernel ");
        ptxi_report_put_function(f->kernel, out);
        ptxi_str_printf(out, ", launch %" PRIu64 "\n", f->launch);
    }
    if (f->count > 1)
        ptxi_str_printf(out, "note: found %" PRIu64 " times\n", f->count);
}

/* A call that fails is written at once. The count follows at the end. */
static void put_repeated_call(struct ptxi_str *out, const struct ptxi_found *f, void *unused)
{
    const struct ptxi_finding *x = &f->finding;

    (void)unused;
    if (ptxi_report_is_call(x) && f->written && f->count > f->written)
        ptxi_str_printf(out, "note: %s has returned %s %" PRIu64 " times at one place\n", ptxi_report_called(x),
                        x->error.name ? x->error.name : "an error", f->count);
}

void ptxi_format_text_summary(const struct ptxi_report_input *in, const struct ptxi_check_totals *t,
                              struct ptxi_str *out)
{
    ptxi_report_for_each(in, out, put_repeated_call, NULL);
    ptxi_str_printf(out, "checked %" PRIu64 " launches, %" PRIu64 " accesses, %" PRIu64 " unchecked: ", t->launches,
                    t->accesses, t->unchecked);
    ptxi_str_printf(out, "%" PRIu64 " errors, %" PRIu64 " warnings, %" PRIu64 " benign",
                    ptxi_report_count(t, PTXI_FINDING_ERROR), ptxi_report_count(t, PTXI_FINDING_WARNING),
                    ptxi_report_count(t, PTXI_FINDING_BENIGN));
    if (t->suppressed)
        ptxi_str_printf(out, ", %" PRIu64 " suppressed", t->suppressed);
    if (t->dropped)
        ptxi_str_printf(out, ", %" PRIu64 " not listed", t->dropped);
    ptxi_str_putc(out, '\n');
}

/* ---- rules that suppress what was found */

static void put_escaped(const char *s, struct ptxi_str *out)
{
    for (; *s; s++) {
        if (strchr(".[]{}()*+?^$|\\", *s))
            ptxi_str_putc(out, '\\');
        ptxi_str_putc(out, *s);
    }
}

void ptxi_format_rule(const struct ptxi_found *f, struct ptxi_str *out)
{
    const struct ptxi_finding_kind_info *kind = &ptxi_finding_kinds[f->finding.kind];
    unsigned line = 0;
    const char *file = f->finding.site_count ? ptxi_report_file(&f->sites[0], &line) : NULL;

    if (f->finding.severity == PTXI_FINDING_BENIGN)
        return;
    ptxi_str_printf(out, "suppress %s.%s", ptxi_tool_names[kind->tool], kind->rule);
    if (f->kernel) {
        ptxi_str_puts(out, " kernel=^");
        put_escaped(f->kernel, out);
        ptxi_str_putc(out, '$');
    }
    if (ptxi_report_is_call(&f->finding)) {
        ptxi_str_puts(out, " function=^");
        put_escaped(ptxi_report_called(&f->finding), out);
        ptxi_str_putc(out, '$');
    }
    if (file)
        ptxi_str_printf(out, " \"at=%s:%u\"", file, line);
    ptxi_str_putc(out, '\n');
}
