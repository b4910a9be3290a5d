/* The content of what a kernel may read before anything has been written there: registers, local, shared and tensor memory, new allocations. */
#ifndef PTXI_BASE_FILL_H
#define PTXI_BASE_FILL_H

#include <stddef.h>
#include <string.h>

/* Each byte of it. 0, unless the environment variable PTXI_FILL says otherwise; does not change after the start of the library. */
extern unsigned char ptxi_fill_byte;

/* Fills memory that has just been given out, or is about to be. */
static inline void ptxi_fill(void *p, size_t bytes)
{
    memset(p, ptxi_fill_byte, bytes);
}

/* memset() for few bytes, most of them in units of 16. */
static inline void ptxi_fill_few(unsigned char *p, unsigned char byte, size_t bytes)
{
    typedef unsigned char unit __attribute__((vector_size(16), may_alias, aligned(1)));
    enum { FEW_BYTES = 256 };
    unit value = (unit){ 0 } + byte;

    if (bytes > FEW_BYTES) {
        memset(p, byte, bytes);
        return;
    }
    for (; bytes >= sizeof(unit); bytes -= sizeof(unit), p += sizeof(unit))
        *(unit *)p = value;
    for (; bytes; bytes--)
        *p++ = byte;
}

#endif
