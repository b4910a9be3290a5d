/* Colours for messages on terminals. */
#ifndef PTXI_BASE_PAINT_H
#define PTXI_BASE_PAINT_H

#include "base/str.h"

#include <stdio.h>

/* Whether text for this stream may have colours: it is a terminal that has them, and NO_COLOR is not set. */
bool ptxi_paint_wanted(FILE *f);

/* Appends messages in the form of ptxi_diag_render() with colours as gcc's. It only looks for the words that such
 * messages have, so other text stays as it is. */
void ptxi_paint(const char *text, struct ptxi_str *out);

/* Writes messages to a stream in one piece, with colours if the stream wants them. */
void ptxi_paint_write(const char *text, FILE *f);

#endif
