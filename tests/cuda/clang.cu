/* The functions of plain.h for clang. No header of CUDA is used. */
#include "plain.h"

#define KERNEL(name, ins, outs) \
    extern "C" __attribute__((global)) void name(const uint32_t *in, uint64_t *out, int n) \
    { \
        int t = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x(); \
        if (t < n) \
            name##_one(in + t * ins, out + t * outs); \
    }
PLAIN_COMMON(KERNEL)
