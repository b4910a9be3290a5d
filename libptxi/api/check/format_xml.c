/* Reports in the XML of JUnit. */
#include "api/check/formats.h"

#include <inttypes.h>

/* Characters that XML 1.0 does not have, and bytes above ASCII (their encoding is not known) become '?'. */
void ptxi_xml_put_escaped(const char *s, struct ptxi_str *out)
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
    ptxi_xml_put_escaped(ptxi_str_text(&text), out);
    ptxi_str_puts(out, "\">");
    ptxi_str_clear(&text);
    ptxi_format_text(f, false, &text);
    ptxi_xml_put_escaped(ptxi_str_text(&text), out);
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
    bool nothing = ptxi_report_is_incomplete(in->tools, &t);

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
