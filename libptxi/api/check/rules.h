/* Rules: which launches are checked, and which findings are suppressed. One rule in a line; # begins a comment.
 *
 *     suppress [TOOL[.KIND]] [kernel=REGEX] [function=REGEX] [at=FILE[:LINE]]
 *     only [kernel=REGEX] [launch=FIRST[-LAST]] [block=X,Y,Z]
 *
 * A finding is suppressed if all words of a rule match one of its sites. Words with spaces are in double quotes. If
 * there are rules `only`, a launch is checked if one matches, and findings of other blocks are dropped. */
#ifndef PTXI_API_CHECK_RULES_H
#define PTXI_API_CHECK_RULES_H

#include "base/str.h"
#include "exec/finding/finding.h"

#include <stdbool.h>
#include <stdint.h>

struct ptxi_rules;

/* NULL after an error, which is appended to `message`, or without memory. */
struct ptxi_rules *ptxi_rules_parse(const char *text, struct ptxi_str *message);
struct ptxi_rules *ptxi_rules_ref(struct ptxi_rules *r); /* NULL gives NULL */
void ptxi_rules_unref(struct ptxi_rules *r);             /* NULL does nothing */

/* Any thread. Without rules, all launches are checked and all findings are kept. */
bool ptxi_rules_check_launch(const struct ptxi_rules *r, const char *kernel, uint64_t launch);
bool ptxi_rules_want_block(const struct ptxi_rules *r, const struct ptxi_finding *f, const char *kernel,
                           uint64_t launch);
bool ptxi_rules_suppress(const struct ptxi_rules *r, const struct ptxi_found *found);

#endif
