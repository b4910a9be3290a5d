/* What the formats of reports share. */
#ifndef PTXI_API_CHECK_REPORT_PARTS_H
#define PTXI_API_CHECK_REPORT_PARTS_H

#include "base/str.h"
#include "exec/finding/finding.h"

#include <stdbool.h>
#include <stddef.h>

/* The findings of some contexts. */
struct ptxi_report_input {
    struct ptxi_findings *const *lists;
    size_t count;
    unsigned tools;  /* that were on, bits of ptxiSanitizer */
    bool colour;     /* with escape sequences for terminals, if the format is for readers */
};

/* Calls a function for each finding. */
typedef void ptxi_report_each(struct ptxi_str *out, const struct ptxi_found *found, void *user);
void ptxi_report_for_each(const struct ptxi_report_input *in, struct ptxi_str *out, ptxi_report_each *each, void *user);
void ptxi_report_totals(const struct ptxi_report_input *in, struct ptxi_check_totals *totals);
/* The number of findings of a severity, and that of errors and warnings. */
uint64_t ptxi_report_count(const struct ptxi_check_totals *t, enum ptxi_finding_severity s);
uint64_t ptxi_report_problems(const struct ptxi_check_totals *t);

/* Whether the tools that look at launches, if one is on, have checked none, or not all of them completely. */
bool ptxi_report_is_incomplete(unsigned tools, const struct ptxi_check_totals *t);

/* "data race: write after write: detail", in one line. */
void ptxi_report_message(const struct ptxi_found *f, struct ptxi_str *out);
const char *ptxi_report_access_name(enum ptxi_access access);
const char *ptxi_report_space_name(enum ptxi_finding_space space); /* "" if there is none */
/* Appends a function's name as it is written in the source. */
void ptxi_report_put_function(const char *name, struct ptxi_str *out);
/* The file and the line for readers: of the source, or else of the PTX. NULL and 0: not known. */
const char *ptxi_report_file(const struct ptxi_found_site *s, unsigned *line);

/* Whether the finding is a call that fails. */
bool ptxi_report_is_call(const struct ptxi_finding *x);
/* The name of its function. */
const char *ptxi_report_called(const struct ptxi_finding *x);

/* Appends the calls that have allocated the memory of the finding, or those that led to the one that fails, one in each
 * line. False: they are not known. */
bool ptxi_report_calls(const struct ptxi_finding *x, struct ptxi_str *out);
/* The same, call by call, from number 0, the innermost one. */
typedef void ptxi_report_call(const struct ptxi_finding *x, struct ptxi_str *out, unsigned number, const char *call);
void ptxi_report_each_call(const struct ptxi_finding *x, struct ptxi_str *out, ptxi_report_call *each);

#endif
