/* Places in the source that PTX was compiled from, as its .loc directives name them. */
#ifndef PTXI_API_ERROR_SOURCE_H
#define PTXI_API_ERROR_SOURCE_H

#include "base/str.h"
#include "parse/ast.h"

/* The file of a line, or NULL if it is not known. `line` may be NULL. */
const char *ptxi_source_file(const struct ptxi_module_ast *tree, const struct ptxi_source_line *line);

/* Appends "file:line:column: label: message", the text of the line with a caret, and a note for each function that the
 * code was inlined into. The text is omitted if the file cannot be read. `file` is that of the line. */
void ptxi_source_render(const struct ptxi_module_ast *tree, const struct ptxi_source_line *line, const char *label,
                        const char *message, struct ptxi_str *out);

#endif
