#include "api/module/device_text.h"

#include <string.h>

/* The grid barrier of cooperative groups as functions, which libcudadevrt.a defines for a driver. The headers of CUDA
 * before 11 and Numba call them; later headers have the same barrier inline. The handle is the address of the workspace
 * of a cooperative launch. Its second word is a counter. Each block adds 1, but block 0 adds as much as makes the
 * sum 2^31. So the highest bit changes when all blocks have arrived. The results are 0 and cudaErrorUnknown. */
#define SYNCHRONIZE(name) \
    ".weak .func (.param .b32 result) " name "(.param .b64 handle, .param .b32 flags)\n{\n" \
    "    .reg .pred %p, %q; .reg .b32 %x, %y, %z, %n, %add, %old, %new; .reg .b64 %at;\n" \
    "    ld.param.u64 %at, [handle];\n" \
    "    mov.u32 %new, 999;\n" \
    "    setp.eq.u64 %p, %at, 0; @%p bra END;\n" \
    "    barrier.sync 0;\n" \
    "    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;\n" \
    "    or.b32 %x, %x, %y; or.b32 %x, %x, %z;\n" \
    "    setp.ne.u32 %p, %x, 0; @%p bra ARRIVED;\n" \
    "    mov.u32 %x, %nctaid.x; mov.u32 %y, %nctaid.y; mov.u32 %z, %nctaid.z;\n" \
    "    mul.lo.u32 %n, %x, %y; mul.lo.u32 %n, %n, %z;\n" \
    "    sub.u32 %n, 0x80000001, %n;\n" \
    "    mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z;\n" \
    "    or.b32 %x, %x, %y; or.b32 %x, %x, %z;\n" \
    "    setp.eq.u32 %q, %x, 0;\n" \
    "    selp.b32 %add, %n, 1, %q;\n" \
    "    fence.acq_rel.gpu;\n" \
    "    atom.global.add.u32 %old, [%at + 4], %add;\n" \
    "POLL:\n" \
    "    ld.relaxed.gpu.global.u32 %new, [%at + 4];\n" \
    "    xor.b32 %new, %new, %old;\n" \
    "    setp.ge.s32 %q, %new, 0; @%q bra POLL;\n" \
    "    fence.acq_rel.gpu;\n" \
    "ARRIVED:\n" \
    "    barrier.sync 0;\n" \
    "    mov.u32 %new, 0;\n" \
    "END:\n" \
    "    st.param.b32 [result], %new;\n" \
    "    ret;\n}\n"

const char ptxi_device_text[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
    "    .reg .pred %p; .reg .b32 %scope, %low, %high; .reg .b64 %at;\n"
    "    ld.param.u32 %scope, [scope];\n"
    "    mov.u64 %at, 0;\n"
    "    setp.ne.u32 %p, %scope, 1;\n" /* 1: the grid; there are no groups of several devices */
    "    @%p bra END;\n"
    "    mov.b32 %high, %envreg1; mov.b32 %low, %envreg2;\n"
    "    mov.b64 %at, {%low, %high};\n"
    "END:\n"
    "    st.param.b64 [handle], %at;\n"
    "    ret;\n}\n"
    SYNCHRONIZE("cudaCGSynchronize") SYNCHRONIZE("cudaCGSynchronizeGrid");

bool ptxi_device_text_has(const char *name)
{
    static const char *const names[] = { "cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaCGSynchronizeGrid" };

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

bool ptxi_device_text_is_needed(const struct ptxi_module_ast *tree)
{
    for (uint32_t i = 0; i < tree->func_count; i++)
        if (!tree->funcs[i]->has_body && !tree->funcs[i]->alias_of && ptxi_device_text_has(tree->funcs[i]->name->s))
            return true;
    return false;
}
