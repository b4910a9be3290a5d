/* The formats of reports, each in a file of its name. */
#ifndef PTXI_API_CHECK_FORMATS_H
#define PTXI_API_CHECK_FORMATS_H

#include "api/check/report_parts.h"

void ptxi_format_text(const struct ptxi_found *f, bool colour, struct ptxi_str *out);
void ptxi_format_text_summary(const struct ptxi_report_input *in, const struct ptxi_check_totals *t,
                              struct ptxi_str *out);
void ptxi_format_compat(const struct ptxi_found *f, struct ptxi_str *out);
void ptxi_format_compat_begin(struct ptxi_str *out);
void ptxi_format_compat_summary(const struct ptxi_report_input *in, const struct ptxi_check_totals *t,
                                struct ptxi_str *out);
void ptxi_format_rule(const struct ptxi_found *f, struct ptxi_str *out);
void ptxi_format_json(const struct ptxi_found *f, struct ptxi_str *out);
void ptxi_format_json_summary(const struct ptxi_check_totals *t, struct ptxi_str *out);
void ptxi_format_sarif(const struct ptxi_report_input *in, struct ptxi_str *out);
void ptxi_format_xml(const struct ptxi_report_input *in, struct ptxi_str *out);
/* Appends text of an element or an attribute. */
void ptxi_xml_put_escaped(const char *s, struct ptxi_str *out);
void ptxi_format_junit(const struct ptxi_report_input *in, struct ptxi_str *out);

#endif
