/* Memory for machine code. It is mapped twice: readable and writable, and readable and executable. No mapping is both
 * writable and executable. */
#ifndef PTXI_NATIVE_EXEC_MEMORY_H
#define PTXI_NATIVE_EXEC_MEMORY_H

#include <stddef.h>

/* Copies code to executable memory that is aligned to 64 bytes. NULL: the system refuses it, or there is none left. Any
 * thread. */
void *ptxi_exec_memory_new(const void *code, size_t size);
void ptxi_exec_memory_free(void *code, size_t size);

#endif
