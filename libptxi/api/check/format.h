/* Reports of findings in any format. */
#ifndef PTXI_API_CHECK_FORMAT_H
#define PTXI_API_CHECK_FORMAT_H

#include "ptxi.h"

#include "api/check/report_parts.h"

/* Appends the report. */
void ptxi_report_format(const struct ptxi_report_input *in, ptxiReportFormat format, struct ptxi_str *out);
/* The format with this name. False for an unknown one. */
bool ptxi_report_parse_format(const char *name, ptxiReportFormat *format);
/* Appends the names of all formats, as a list in a sentence. */
void ptxi_report_put_format_names(struct ptxi_str *out);
/* Whether each finding can be written when it is found, before the summary. */
bool ptxi_report_is_streamed(ptxiReportFormat format);
/* What comes first, one finding, or the summary, of such a format. */
void ptxi_report_format_begin(ptxiReportFormat format, struct ptxi_str *out);
void ptxi_report_format_one(ptxiReportFormat format, const struct ptxi_found *found, bool colour,
                            struct ptxi_str *out);
void ptxi_report_format_summary(ptxiReportFormat format, const struct ptxi_report_input *in, struct ptxi_str *out);

#endif
