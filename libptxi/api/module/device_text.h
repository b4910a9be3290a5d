/* Functions of the device runtime that are PTX themselves, because they wait for other threads. */
#ifndef PTXI_API_MODULE_DEVICE_TEXT_H
#define PTXI_API_MODULE_DEVICE_TEXT_H

#include "base/diag.h"
#include "parse/ast.h"

/* Whether the device text has the function. */
bool ptxi_device_text_has(const char *name);

/* Whether the module calls a function of the device text and does not define it. */
bool ptxi_device_text_is_needed(const struct ptxi_module_ast *tree);

/* The text, which becomes a part of such a module. It ends with a NUL. */
extern const char ptxi_device_text[];

#endif
