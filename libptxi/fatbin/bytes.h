/* Little-endian numbers at any address. All formats that this directory reads are little-endian. */
#ifndef PTXI_FATBIN_BYTES_H
#define PTXI_FATBIN_BYTES_H

#include <stdint.h>

static inline uint16_t ptxi_read_le16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t ptxi_read_le32(const unsigned char *p)
{
    return ptxi_read_le16(p) | (uint32_t)ptxi_read_le16(p + 2) << 16;
}

static inline uint64_t ptxi_read_le64(const unsigned char *p)
{
    return ptxi_read_le32(p) | (uint64_t)ptxi_read_le32(p + 4) << 32;
}

#endif
