/* Shared by the parts of the program `verify`. */
#ifndef PTXI_TESTS_VERIFY_H
#define PTXI_TESTS_VERIFY_H

#include <stdbool.h>

#include "conformance/cases.h"
#include "conformance/recording.h"
#include "ptxi.h"

/* Each function prints its findings and returns true on failure. */
bool verify_cases(const struct cases *cs, const struct recording *r, bool verbose, const char *text);
bool verify_sample(const struct cases *cs, const struct recording *r, unsigned every, const char *text);
bool verify_matrix(const struct recording *r, unsigned quarters, bool verbose, const char *text, unsigned part,
                   unsigned parts);
bool verify_all(const struct cases *cs, const struct recording *r, const char *state, unsigned part, unsigned parts,
                const char *text);

/* Loads a module from text, or returns NULL. `apart`: do not fuse products and sums. */
ptxiModule verify_load(const char *text, bool apart);

/* verify_unsupported() returns true if the last failure was an unsupported instruction. verify_show_report() prints
 * the report of this failure. */
bool verify_unsupported(void);
void verify_show_report(void);

ptxiDevicePtr verify_memory(size_t bytes);

#endif
