/* Hints about managed memory. */
#ifndef PTXI_API_MEMORY_MANAGED_H
#define PTXI_API_MEMORY_MANAGED_H

void ptxi_managed_forget_freed(void); /* drops hints about memory that has been freed */

#endif
