/* The layout of fat binaries. NVIDIA does not document it; the fields are those that public readers of the format
 * agree on, compared with the output of nvcc 13.0. */
#include "fatbin/fatbin.h"

#include "base/file.h"
#include "fatbin/bytes.h"

#include <string.h>

/* The header of a fat binary: magic, version (16 bits), its own size (16 bits), size of all entries (64 bits). */
enum { HEADER_SIZE = 16, HEADER_VERSION = 1 };

/* Byte offsets in the header of an entry. */
enum {
    AT_KIND = 0,             /* 16 bits */
    AT_HEADER_SIZE = 4,      /* 32 bits: the data follows */
    AT_PADDED_SIZE = 8,      /* 64 bits: size of the data, to the next entry */
    AT_COMPRESSED_SIZE = 16, /* 32 bits; 0: not compressed */
    AT_SM = 28,              /* 32 bits */
    AT_NAME = 32,            /* 32 bits: offset in the header */
    AT_NAME_SIZE = 36,       /* 32 bits */
    AT_FLAGS = 40,           /* 64 bits */
    AT_SIZE = 56,            /* 64 bits: size after decompression; 0: not compressed */
    ENTRY_SIZE = 64          /* the least; names and options follow */
};

enum {
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_SPECIFIC = 0x100000, /* architecture-specific target, such as sm_90a */
    FLAG_FAMILY = 0x200000    /* family-specific target, such as sm_100f */
};

static const unsigned char magic[4] = { 0x50, 0xed, 0x55, 0xba };
static const unsigned char wrapper_magic[4] = { 0xb1, 0x43, 0x62, 0x46 };

const char *ptxi_fatbin_message(enum ptxi_fatbin_result r)
{
    static const char *const messages[] = {
        [PTXI_FATBIN_OK] = "no error",
        [PTXI_FATBIN_END] = "no further entry",
        [PTXI_FATBIN_NO_MAGIC] = "not a fat binary",
        [PTXI_FATBIN_VERSION] = "the fat binary has an unknown version",
        [PTXI_FATBIN_TRUNCATED] = "the fat binary is truncated",
        [PTXI_FATBIN_BAD_ENTRY] = "the fat binary is damaged: sizes in an entry are wrong",
        [PTXI_FATBIN_BAD_FILE] = "the file is damaged: sizes in its headers are wrong",
        [PTXI_FATBIN_THIN] = "a thin archive does not contain its members",
        [PTXI_FATBIN_CORRUPT] = "the fat binary is damaged: an entry cannot be decompressed",
        [PTXI_FATBIN_TOO_LARGE] = "an entry of the fat binary is larger than 1 GiB",
        [PTXI_FATBIN_NO_LZ4] = "the fat binary is compressed with LZ4, and libptxi was built without liblz4: install "
                               "it and configure --with-lz4, or compile with nvcc -compress-mode=none",
        [PTXI_FATBIN_NO_ZSTD] = "the fat binary is compressed with Zstandard, and libptxi was built without libzstd: "
                                "install it and configure --with-zstd, or compile with nvcc -compress-mode=none",
        [PTXI_FATBIN_NO_MEMORY] = "out of memory",
    };

    return messages[r];
}

static bool begins_with(const void *image, const unsigned char *bytes)
{
    const unsigned char *p = image;

    for (int i = 0; i < 4; i++)
        if (p[i] != bytes[i])
            return false;
    return true;
}

bool ptxi_fatbin_is(const void *image)
{
    return begins_with(image, magic);
}

bool ptxi_fatbin_is_wrapper(const void *image)
{
    return begins_with(image, wrapper_magic);
}

enum ptxi_fatbin_result ptxi_fatbin_open(struct ptxi_fatbin *f, const void *image, size_t size)
{
    const unsigned char *p = image;

    if (size < sizeof magic || !ptxi_fatbin_is(p))
        return PTXI_FATBIN_NO_MAGIC;
    if (size < HEADER_SIZE)
        return PTXI_FATBIN_TRUNCATED;
    uint16_t header = ptxi_read_le16(p + 6);
    uint64_t entries = ptxi_read_le64(p + 8);

    if (ptxi_read_le16(p + 4) != HEADER_VERSION || header < HEADER_SIZE)
        return PTXI_FATBIN_VERSION;
    /* Also refuses sizes that the address space does not have, if the size of the image is unknown. */
    if (header > size || entries > size - header || entries > UINTPTR_MAX - (uintptr_t)p - header)
        return PTXI_FATBIN_TRUNCATED;
    *f = (struct ptxi_fatbin){ p + header, p + header + entries, 0 };
    return PTXI_FATBIN_OK;
}

static struct ptxi_target read_target(const unsigned char *p)
{
    uint64_t flags = ptxi_read_le64(p + AT_FLAGS);
    uint32_t sm = ptxi_read_le32(p + AT_SM);
    struct ptxi_target t = { .sm = sm < UINT16_MAX ? (uint16_t)sm : UINT16_MAX };

    if (flags & FLAG_SPECIFIC)
        t.suffix = 'a';
    else if (flags & FLAG_FAMILY)
        t.suffix = 'f';
    return t;
}

/* Fills in compression and sizes. False: they contradict each other. */
static bool read_sizes(const unsigned char *p, uint64_t padded, struct ptxi_fatbin_entry *e)
{
    uint64_t flags = ptxi_read_le64(p + AT_FLAGS);

    e->stored = e->size = padded;
    e->compression = PTXI_FATBIN_PLAIN;
    if (!(flags & (FLAG_LZ4 | FLAG_ZSTD)))
        return true;
    e->compression = flags & FLAG_ZSTD ? PTXI_FATBIN_ZSTD : PTXI_FATBIN_LZ4;
    e->stored = ptxi_read_le32(p + AT_COMPRESSED_SIZE);
    e->size = ptxi_read_le64(p + AT_SIZE);
    return e->stored && e->stored <= padded && e->size && !((flags & FLAG_LZ4) && (flags & FLAG_ZSTD));
}

/* Names that reach beyond the header are an error, as all other sizes are. */
static bool read_name(const unsigned char *p, uint32_t header, struct ptxi_fatbin_entry *e)
{
    uint32_t offset = ptxi_read_le32(p + AT_NAME), size = ptxi_read_le32(p + AT_NAME_SIZE);

    e->name = NULL;
    e->name_size = 0;
    if (!size)
        return true;
    if (offset < ENTRY_SIZE || offset > header || size > header - offset)
        return false;
    e->name = (const char *)p + offset;
    e->name_size = strnlen(e->name, size);
    return true;
}

enum ptxi_fatbin_result ptxi_fatbin_next(struct ptxi_fatbin *f, struct ptxi_fatbin_entry *e)
{
    const unsigned char *p = f->at;
    size_t left = (size_t)(f->end - p);

    if (!left)
        return PTXI_FATBIN_END;
    if (left < ENTRY_SIZE)
        return PTXI_FATBIN_BAD_ENTRY;
    uint32_t header = ptxi_read_le32(p + AT_HEADER_SIZE);
    uint64_t padded = ptxi_read_le64(p + AT_PADDED_SIZE);

    if (header < ENTRY_SIZE || header > left || padded > left - header)
        return PTXI_FATBIN_BAD_ENTRY;
    e->kind = ptxi_read_le16(p + AT_KIND);
    e->target = read_target(p);
    e->data = p + header;
    if (!read_sizes(p, padded, e) || !read_name(p, header, e))
        return PTXI_FATBIN_BAD_ENTRY;
    e->number = ++f->number;
    f->at = p + header + padded;
    return PTXI_FATBIN_OK;
}

/* ---- selection */

/* How specific a target is: the architecture-specific one has the most instructions, then the family-specific one. */
static int specificity(struct ptxi_target t)
{
    switch (t.suffix) {
    case 'a': return 2;
    case 'f': return 1;
    default: return 0;
    }
}

/* Whether PTX for target `a` is chosen before that for `b` on a device that runs both. The highest number wins, because
 * its code was written for the device that resembles this one most; with the same number, the most specific target. */
static bool is_better(struct ptxi_target a, struct ptxi_target b)
{
    return a.sm != b.sm ? a.sm > b.sm : specificity(a) > specificity(b);
}

enum ptxi_fatbin_result ptxi_fatbin_select(struct ptxi_fatbin f, unsigned sm, bool any, struct ptxi_fatbin_entry *e)
{
    enum ptxi_fatbin_result r;
    struct ptxi_fatbin_entry x;
    bool found = false, found_runs = false;

    while (!(r = ptxi_fatbin_next(&f, &x))) {
        bool runs = ptxi_isa_target_runs_on(x.target, sm);

        if (x.kind != PTXI_FATBIN_PTX || (!runs && (!any || found_runs)))
            continue;
        if (!found || (runs && !found_runs) || (runs ? is_better(x.target, e->target) : x.target.sm < e->target.sm))
            *e = x;
        found = true;
        found_runs |= runs;
    }
    return r == PTXI_FATBIN_END && found ? PTXI_FATBIN_OK : r;
}

const char *ptxi_fatbin_kind_name(unsigned kind)
{
    switch (kind) {
    case PTXI_FATBIN_PTX: return "PTX";
    case PTXI_FATBIN_ELF: return "SASS";
    case PTXI_FATBIN_NVVM: return "NVVM IR";
    default: return "unknown code";
    }
}

void ptxi_fatbin_target_name(struct ptxi_target t, struct ptxi_str *out)
{
    ptxi_str_printf(out, "sm_%u", t.sm);
    if (t.suffix)
        ptxi_str_putc(out, t.suffix);
}
