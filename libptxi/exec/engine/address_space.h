/* Windows of the generic address space. Host addresses are below them. All other generic addresses are global.
 * PTX ISA, "Generic Addressing". */
#ifndef PTXI_EXEC_ENGINE_ADDRESS_SPACE_H
#define PTXI_EXEC_ENGINE_ADDRESS_SPACE_H

#include <stdint.h>

#define PTXI_SHARED_WINDOW (UINT64_C(1) << 60)
#define PTXI_LOCAL_WINDOW (UINT64_C(1) << 60 | UINT64_C(1) << 32)
#define PTXI_WINDOW_SIZE (UINT64_C(1) << 32)

/* Distance of the shared memory of consecutive cluster ranks, in the shared window and in shared addresses. */
#define PTXI_SHARED_STEP (UINT32_C(1) << 24)

#endif
