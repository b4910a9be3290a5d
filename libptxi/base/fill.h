/* The initial content of memory and registers that a kernel may read before it writes them: registers, local, shared
 * and tensor memory, and new allocations. */
#ifndef PTXI_BASE_FILL_H
#define PTXI_BASE_FILL_H

#include <stddef.h>
#include <string.h>

/* The value of each byte: 0, or the value of the environment variable PTXI_FILL. It does not change after the library
 * is initialized. */
extern unsigned char ptxi_fill_byte;

/* Fills new memory, or memory that is about to be reused. */
static inline void ptxi_fill(void *p, size_t bytes)
{
    memset(p, ptxi_fill_byte, bytes);
}

/* memset() for small sizes, mostly in units of 16 bytes. */
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
