/* Which bytes of global memory are uninitialised. Addresses are those of the host, so the process has one table. Memory
 * that it does not know is initialised. A shadow byte has a bit for each bit of its byte: set if it is undefined. */
#ifndef PTXI_EXEC_INIT_INIT_SHADOW_H
#define PTXI_EXEC_INIT_INIT_SHADOW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Any thread. If memory is short, bytes become initialised. Before the first call of ptxi_init_undefine() the others do
 * nothing. */
bool ptxi_init_is_used(void); /* whether it was called */
void ptxi_init_undefine(uint64_t address, uint64_t size);
void ptxi_init_define(uint64_t address, uint64_t size);
void ptxi_init_copy(uint64_t to, uint64_t from, uint64_t size); /* the ranges may overlap */

/* Whether all bytes of a shadow are 0. */
static inline bool ptxi_init_is_zero(const unsigned char *shadow, uint64_t size)
{
    uint64_t any = 0, word;

    for (; size >= sizeof word; size -= sizeof word, shadow += sizeof word) {
        memcpy(&word, shadow, sizeof word);
        any |= word;
    }
    for (; size; size--)
        any |= *shadow++;
    return !any;
}

bool ptxi_init_is_defined(uint64_t address, uint64_t size);

void ptxi_init_get(uint64_t address, uint32_t size, unsigned char *shadow);
void ptxi_init_set(uint64_t address, uint32_t size, const unsigned char *shadow);

#endif
