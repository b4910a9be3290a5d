#include "api/check/format.h"

#include "api/check/formats.h"

#include <string.h>

static const char *const names[] = {
    [PTXI_REPORT_TEXT] = "text", [PTXI_REPORT_COMPUTE_SANITIZER] = "compute-sanitizer", [PTXI_REPORT_XML] = "xml",
    [PTXI_REPORT_JSON] = "json", [PTXI_REPORT_SARIF] = "sarif", [PTXI_REPORT_JUNIT] = "junit",
    [PTXI_REPORT_RULES] = "rules",
};

enum { FORMATS = sizeof names / sizeof *names };

bool ptxi_report_parse_format(const char *name, ptxiReportFormat *format)
{
    for (unsigned k = 0; k < FORMATS; k++)
        if (!strcmp(names[k], name)) {
            *format = (ptxiReportFormat)k;
            return true;
        }
    return false;
}

void ptxi_report_put_format_names(struct ptxi_str *out)
{
    for (unsigned k = 0; k < FORMATS; k++)
        ptxi_str_printf(out, "%s%s", !k ? "" : k + 1 < FORMATS ? ", " : " or ", names[k]);
}

/* ---- dispatch */

bool ptxi_report_is_streamed(ptxiReportFormat format)
{
    return format == PTXI_REPORT_TEXT || format == PTXI_REPORT_COMPUTE_SANITIZER || format == PTXI_REPORT_JSON ||
           format == PTXI_REPORT_RULES;
}

void ptxi_report_format_begin(ptxiReportFormat format, struct ptxi_str *out)
{
    if (format == PTXI_REPORT_COMPUTE_SANITIZER)
        ptxi_format_compat_begin(out);
}

void ptxi_report_format_one(ptxiReportFormat format, const struct ptxi_found *found, bool colour,
                            struct ptxi_str *out)
{
    switch (format) {
    case PTXI_REPORT_COMPUTE_SANITIZER: ptxi_format_compat(found, out); break;
    case PTXI_REPORT_JSON: ptxi_format_json(found, out); break;
    case PTXI_REPORT_RULES: ptxi_format_rule(found, out); break;
    default: ptxi_format_text(found, colour, out); break;
    }
}

void ptxi_report_format_summary(ptxiReportFormat format, const struct ptxi_report_input *in, struct ptxi_str *out)
{
    struct ptxi_check_totals t;

    ptxi_report_totals(in, &t);
    switch (format) {
    case PTXI_REPORT_TEXT: ptxi_format_text_summary(in, &t, out); break;
    case PTXI_REPORT_COMPUTE_SANITIZER: ptxi_format_compat_summary(in, &t, out); break;
    case PTXI_REPORT_JSON: ptxi_format_json_summary(&t, out); break;
    default: break;
    }
}

struct one { ptxiReportFormat format; bool colour; };

static void format_one(struct ptxi_str *out, const struct ptxi_found *found, void *user)
{
    const struct one *o = user;

    ptxi_report_format_one(o->format, found, o->colour, out);
}

void ptxi_report_format(const struct ptxi_report_input *in, ptxiReportFormat format, struct ptxi_str *out)
{
    struct one one = { format, in->colour };

    switch (format) {
    case PTXI_REPORT_XML: ptxi_format_xml(in, out); break;
    case PTXI_REPORT_SARIF: ptxi_format_sarif(in, out); break;
    case PTXI_REPORT_JUNIT: ptxi_format_junit(in, out); break;
    default:
        ptxi_report_format_begin(format, out);
        ptxi_report_for_each(in, out, format_one, &one);
        ptxi_report_format_summary(format, in, out);
        break;
    }
}
