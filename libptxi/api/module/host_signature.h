/* Signatures of host functions: "float(int, {float, float[3]}, const char *)". */
#ifndef PTXI_API_MODULE_HOST_SIGNATURE_H
#define PTXI_API_MODULE_HOST_SIGNATURE_H

#include "api/module/host_call.h"
#include "parse/ast.h"

/* Reads the signature of a host function for the declaration `f`, and prepares the call. False with the reason in
 * `why`; an empty reason means that there is no memory. */
enum { PTXI_HOST_REASON = 160 };
bool ptxi_host_signature(struct ptxi_host *h, const struct ptxi_func *f, const char *signature,
                         char why[PTXI_HOST_REASON]);

#endif
