/* Turns images of any kind into texts that can be loaded: PTX, fat binaries, files that contain fat binaries. */
#ifndef PTXI_API_MODULE_BINARY_H
#define PTXI_API_MODULE_BINARY_H

#include "api/module/load.h"

/* Copies PTX text, or takes the PTX for a device sm_<sm> out of a fat binary or of the wrapper of one. The PTX of a
 * wrapper's prelinked fat binaries becomes a linked image. `image` may be in memory of any size: text ends with a NUL,
 * and fat binaries have their size in their header. *text has a NUL after its *size bytes; the caller frees it. It
 * is NULL on failure.
 *
 * @return PTXI_SUCCESS, or after a message for the logs
 *         PTXI_ERROR_INVALID_IMAGE      a damaged fat binary
 *         PTXI_ERROR_NO_BINARY_FOR_GPU  no PTX, or o->module.strict is set and there is none for the device
 *         PTXI_ERROR_NOT_SUPPORTED      compressed in a way that this build cannot read
 *         PTXI_ERROR_OUT_OF_MEMORY */
ptxiResult ptxi_binary_read(const void *image, unsigned sm, struct ptxi_load_options *o, char **text, size_t *size);

/* The same for an image with a known size: also an object, executable, shared library or static archive, and no
 * wrapper. All fat binaries in it are parts of one program. Text may be of any kind. Takes ownership of `data`, which
 * has a NUL after its `size` bytes. */
ptxiResult ptxi_binary_convert(char *data, size_t size, unsigned sm, struct ptxi_load_options *o, char **text,
                               size_t *text_size);

/* Takes the texts of one program, as ptxi_fatbin_group() numbers them, out of a file with fat binaries. */
ptxiResult ptxi_binary_take_program(const char *data, size_t size, unsigned program, unsigned sm,
                                    struct ptxi_load_options *o, char **text, size_t *text_size);

#endif
