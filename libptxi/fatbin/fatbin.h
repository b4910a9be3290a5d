/* Reads fat binaries, the containers in which nvcc and the fatbinary tool store device code. A fat binary has a header
 * and entries. An entry is PTX text, GPU code (SASS, in an ELF file), or NVVM IR, for one architecture, and may be
 * compressed.
 *
 *     struct ptxi_fatbin f;
 *     struct ptxi_fatbin_entry e;
 *     enum ptxi_fatbin_result r = ptxi_fatbin_open(&f, image, size);
 *     while (!r && !(r = ptxi_fatbin_next(&f, &e)))
 *         ...
 *     if (r != PTXI_FATBIN_END)
 *         puts(ptxi_fatbin_message(r));
 *
 * Ownership: all pointers in entries are into the image. Errors: a result other than PTXI_FATBIN_OK. Every size and
 * offset of the image is checked before it is used. */
#ifndef PTXI_FATBIN_FATBIN_H
#define PTXI_FATBIN_FATBIN_H

#include "base/str.h"
#include "isa/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptxi_fatbin_result {
    PTXI_FATBIN_OK,
    PTXI_FATBIN_END,         /* there is no further entry */
    PTXI_FATBIN_NO_MAGIC,    /* not a fat binary */
    PTXI_FATBIN_VERSION,     /* a version of the format that this reader does not know */
    PTXI_FATBIN_TRUNCATED,   /* the image is smaller than its header says */
    PTXI_FATBIN_BAD_ENTRY,   /* sizes or offsets of an entry contradict each other */
    PTXI_FATBIN_BAD_FILE,    /* an ELF file or archive is damaged */
    PTXI_FATBIN_THIN,        /* an archive without the contents of its members */
    PTXI_FATBIN_CORRUPT,     /* compressed data is damaged */
    PTXI_FATBIN_TOO_LARGE,   /* more than PTXI_MOST_TEXT bytes */
    PTXI_FATBIN_NO_LZ4,      /* this build of the library cannot decompress LZ4 */
    PTXI_FATBIN_NO_ZSTD,
    PTXI_FATBIN_NO_MEMORY,
};

/* One sentence without a full stop. Static. */
const char *ptxi_fatbin_message(enum ptxi_fatbin_result r);

enum ptxi_fatbin_kind { PTXI_FATBIN_PTX = 1, PTXI_FATBIN_ELF = 2, PTXI_FATBIN_NVVM = 8 };
enum ptxi_fatbin_compression { PTXI_FATBIN_PLAIN, PTXI_FATBIN_LZ4, PTXI_FATBIN_ZSTD };

struct ptxi_fatbin_entry {
    unsigned kind; /* enum ptxi_fatbin_kind, or a kind that this reader does not know */
    unsigned number; /* from 1 */
    struct ptxi_target target;
    enum ptxi_fatbin_compression compression;
    const unsigned char *data;
    size_t stored;    /* bytes in the image, without padding if compressed */
    size_t size;      /* bytes after decompression, perhaps with padding at the end */
    const char *name; /* the source file, not NUL-terminated; only debug builds have it */
    size_t name_size; /* 0: no name */
};

/* A position in a fat binary. */
struct ptxi_fatbin {
    const unsigned char *at, *end;
    unsigned number; /* of entries before `at` */
};

/* Whether the image begins with the magic number. Reads the image only up to the first byte that differs, so that the
 * image may be a NUL-terminated text. */
bool ptxi_fatbin_is(const void *image);

/* Starts at the first entry. `size` is the size of the image, which may be larger than the fat binary. SIZE_MAX: the
 * size is not known, and the header's is trusted. */
enum ptxi_fatbin_result ptxi_fatbin_open(struct ptxi_fatbin *f, const void *image, size_t size);
enum ptxi_fatbin_result ptxi_fatbin_next(struct ptxi_fatbin *f, struct ptxi_fatbin_entry *e);

/* Chooses the PTX that the driver compiles for a device sm_<sm>. If there is none and `any`, chooses the PTX for the
 * oldest target. PTXI_FATBIN_END: there is none. `f` is a copy, so the caller's position stays. */
enum ptxi_fatbin_result ptxi_fatbin_select(struct ptxi_fatbin f, unsigned sm, bool any, struct ptxi_fatbin_entry *e);

/* Decompresses an entry and appends a NUL. The caller frees it with free(). *size is the number of bytes; for PTX it
 * does not count the padding. */
enum ptxi_fatbin_result ptxi_fatbin_extract(const struct ptxi_fatbin_entry *e, char **data, size_t *size);

/* The name of a kind for messages: "PTX", "SASS", "NVVM IR" or "unknown code". */
const char *ptxi_fatbin_kind_name(unsigned kind);

/* Appends "sm_90a". */
void ptxi_fatbin_target_name(struct ptxi_target t, struct ptxi_str *out);

/* ---- wrappers: what programs pass to __cudaRegisterFatBinary(), in the section .nvFatBinSegment */

struct ptxi_fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *prelinked; /* version 2: NULL-terminated array of the fat binaries that `data` was linked from;
                                     version 1: the name of a file, or NULL */
};

bool ptxi_fatbin_is_wrapper(const void *image); /* reads as ptxi_fatbin_is() */

#endif
