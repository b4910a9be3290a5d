/* Where the program has allocated memory. Noted while a sanitizer is or has been on, and kept after the memory has been
 * freed. */
#ifndef PTXI_API_MEMORY_ALLOCATION_SITES_H
#define PTXI_API_MEMORY_ALLOCATION_SITES_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* From now on, allocations are noted. */
void ptxi_allocation_sites_enable(void);
/* The calling thread allocates memory. */
void ptxi_allocation_sites_note(uint64_t base, uint64_t size);
/* Appends a line for each call that led to the latest allocation that contains the address. False: it is not known. */
bool ptxi_allocation_sites_print(uint64_t address, struct ptxi_str *out);

#endif
