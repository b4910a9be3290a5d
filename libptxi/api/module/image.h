/* Linked images: the texts of several parts in one text. */
#ifndef PTXI_API_MODULE_IMAGE_H
#define PTXI_API_MODULE_IMAGE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of ptxiLinkComplete() is a text: a line that identifies it, and a line with size and name before
 * each part. A limit of registers that is not 0 has a line before the parts. */
void ptxi_image_write(const struct ptxi_texts *parts, unsigned max_registers, struct ptxi_str *out);

/* A part without symbols, for images without parts. */
extern const struct ptxi_texts ptxi_image_empty;

/* Finds the parts of such an image. Another text is one part with that name. False: the image is damaged, or
 * arena->oom is set. */
bool ptxi_image_read(const char *text, size_t size, const char *name, struct ptxi_arena *arena,
                     struct ptxi_texts *texts);
uint32_t ptxi_image_lines(const struct ptxi_text *t); /* number of lines of the part */
bool ptxi_image_is_linked(const char *text, size_t size);
unsigned ptxi_image_max_registers(const char *text, size_t size); /* 0: no limit, or another text */

#endif
