/* Reports in XML: with the tags of compute-sanitizer, and as JUnit does. */
#include "api/check/formats.h"

#include <inttypes.h>

/* Characters that XML 1.0 does not have, and bytes above ASCII, whose encoding is not known, become '?'. */
static void put_escaped(const char *s, struct ptxi_str *out)
{
    for (; *s; s++)
        switch (*s) {
        case '&': ptxi_str_puts(out, "&amp;"); break;
        case '<': ptxi_str_puts(out, "&lt;"); break;
        case '>': ptxi_str_puts(out, "&gt;"); break;
        case '"': ptxi_str_puts(out, "&quot;"); break;
        case '\n': case '\t': ptxi_str_putc(out, *s); break;
        default: ptxi_str_putc(out, *s >= 0x20 && *s < 0x7f ? *s : '?'); break;
        }
}

static void put_element(const char *tag, const char *text, struct ptxi_str *out)
{
    if (!text)
        return;
    ptxi_str_printf(out, "<%s>", tag);
    put_escaped(text, out);
    ptxi_str_printf(out, "</%s>\n", tag);
}

/* ---- compute-sanitizer */

static void put_name(const char *tag, const char *name, struct ptxi_str *out)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_report_put_function(name, &s);
    put_element(tag, ptxi_str_text(&s), out);
    ptxi_str_free(&s);
}

static void put_index(const char *tag, const uint32_t v[3], struct ptxi_str *out)
{
    ptxi_str_printf(out, "<%s><x>%u</x><y>%u</y><z>%u</z></%s>\n", tag, v[0], v[1], v[2], tag);
}

static void put_site(const struct ptxi_found_site *s, struct ptxi_str *out)
{
    unsigned line;
    const char *file = ptxi_report_file(s, &line);

    ptxi_str_puts(out, "<site>\n");
    put_element("type", ptxi_report_access_name(s->site.access), out);
    put_name("func", s->function, out);
    put_element("file", file, out);
    if (line)
        ptxi_str_printf(out, "<line>%u</line>\n", line);
    put_index("threadId", s->site.tid, out);
    put_index("blockId", s->site.ctaid, out);
    ptxi_str_puts(out, "</site>\n");
}

static void put_record(struct ptxi_str *out, const struct ptxi_found *f, void *unused)
{
    const struct ptxi_finding *x = &f->finding;
    const struct ptxi_finding_kind_info *kind = &ptxi_finding_kinds[x->kind];
    struct ptxi_str message;

    (void)unused;
    ptxi_str_init(&message, NULL);
    ptxi_report_message(f, &message);
    ptxi_str_printf(out, "<record>\n<kind>%s.%s</kind>\n<level>%s</level>\n<count>%" PRIu64 "</count>\n",
                    ptxi_tool_names[kind->tool], kind->rule, ptxi_finding_severity_names[x->severity], f->count);
    put_element("what", ptxi_str_text(&message), out);
    ptxi_str_free(&message);
    if (f->kernel)
        put_name("kernel", f->kernel, out);
    if (x->size)
        ptxi_str_printf(out, "<where><addr>0x%" PRIx64 "</addr><size>%u</size></where>\n", x->address, x->size);
    for (unsigned s = 0; s < x->site_count; s++)
        put_site(&f->sites[s], out);
    ptxi_str_puts(out, "</record>\n");
}

void ptxi_format_xml(const struct ptxi_report_input *in, struct ptxi_str *out)
{
    struct ptxi_check_totals t;

    ptxi_report_totals(in, &t);
    ptxi_str_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ComputeSanitizerOutput>\n");
    ptxi_report_for_each(in, out, put_record, NULL);
    ptxi_str_printf(out, "<summary><launches>%" PRIu64 "</launches><accesses>%" PRIu64 "</accesses><unchecked>%" PRIu64
                    "</unchecked><errors>%" PRIu64 "</errors></summary>\n</ComputeSanitizerOutput>\n", t.launches,
                    t.accesses, t.unchecked, ptxi_report_problems(&t));
}

/* ---- JUnit: a test for each tool, which fails once for each finding */

struct case_of { enum ptxi_tool tool; };

static void put_failure(struct ptxi_str *out, const struct ptxi_found *f, void *user)
{
    const struct case_of *c = user;
    const struct ptxi_finding_kind_info *kind = &ptxi_finding_kinds[f->finding.kind];
    struct ptxi_str text;

    if (kind->tool != c->tool || f->finding.severity == PTXI_FINDING_BENIGN)
        return;
    ptxi_str_init(&text, NULL);
    ptxi_report_message(f, &text);
    ptxi_str_printf(out, "<failure type=\"%s.%s\" message=\"", ptxi_tool_names[kind->tool], kind->rule);
    put_escaped(ptxi_str_text(&text), out);
    ptxi_str_puts(out, "\">");
    ptxi_str_clear(&text);
    ptxi_format_text(f, false, &text);
    put_escaped(ptxi_str_text(&text), out);
    ptxi_str_puts(out, "</failure>\n");
    ptxi_str_free(&text);
}

static bool has_failures(const struct ptxi_check_totals *t, enum ptxi_tool tool)
{
    return t->found[tool][PTXI_FINDING_ERROR] + t->found[tool][PTXI_FINDING_WARNING] > 0;
}

void ptxi_format_junit(const struct ptxi_report_input *in, struct ptxi_str *out)
{
    struct ptxi_check_totals t;
    unsigned failures = 0, tests = 0;

    ptxi_report_totals(in, &t);
    for (unsigned k = 0; k < PTXI_TOOLS; k++) {
        tests += (in->tools >> k & 1) || has_failures(&t, (enum ptxi_tool)k);
        failures += has_failures(&t, (enum ptxi_tool)k);
    }
    bool nothing = t.launches == 0 || t.unchecked;

    ptxi_str_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"ptxi\" tests=\"%u\""
                    " failures=\"%u\" errors=\"%d\">\n", tests + 1, failures, nothing);
    for (unsigned k = 0; k < PTXI_TOOLS; k++)
        if ((in->tools >> k & 1) || has_failures(&t, (enum ptxi_tool)k)) {
            ptxi_str_printf(out, "<testcase classname=\"ptxi\" name=\"%s\">\n", ptxi_tool_names[k]);
            ptxi_report_for_each(in, out, put_failure, &(struct case_of){ (enum ptxi_tool)k });
            ptxi_str_puts(out, "</testcase>\n");
        }
    ptxi_str_puts(out, "<testcase classname=\"ptxi\" name=\"coverage\">\n");
    if (nothing)
        ptxi_str_printf(out, "<error type=\"unchecked\" message=\"checked %" PRIu64 " launches, %" PRIu64
                        " accesses, %" PRIu64 " unchecked\"/>\n", t.launches, t.accesses, t.unchecked);
    ptxi_str_puts(out, "</testcase>\n</testsuite></testsuites>\n");
}
