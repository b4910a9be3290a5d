/* assert of kernels. CUDA C++ Programming Guide, "Assertion". */
#include <stdio.h>

#include "exec/builtin/builtin_call.h"
#include "exec/builtin/kernel_functions.h"
#include "exec/engine/engine.h"

/* The message of a lane's failed assertion. `place`: the thread, in the words of CUDA's driver, or an empty string. */
static void format_message(struct ptxi_builtin_call *call, unsigned l, const char *place, char *text, size_t size)
{
    char message[160], file[160], function[120];

    ptxi_builtin_read_string(call, l, ptxi_builtin_arg64(call, 0, l), message, sizeof message);
    ptxi_builtin_read_string(call, l, ptxi_builtin_arg64(call, 2, l), file, sizeof file);
    ptxi_builtin_read_string(call, l, ptxi_builtin_arg64(call, 5, l), function, sizeof function);
    snprintf(text, size, "%s:%u: %s: %sAssertion `%s` failed.", file, ptxi_builtin_arg32(call, 4, l), function, place,
             message);
}

/* void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t char_size)
 * The message of each thread is also written to the standard error output. */
bool ptxi_builtin_assertfail(struct ptxi_builtin_call *call, void *user)
{
    const uint32_t *c = call->warp->cta->ctaid, *b = call->warp->cta->grid->block;
    char text[512], place[100];

    (void)user;
    for (uint64_t left = call->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint32_t t = call->warp->first_thread + l;

        snprintf(place, sizeof place, "block: [%u,%u,%u], thread: [%u,%u,%u] ", c[0], c[1], c[2], t % b[0],
                 t / b[0] % b[1],
                 t / b[0] / b[1]);
        format_message(call, l, place, text, sizeof text);
        ptxi_builtin_leave(call);
        fprintf(stderr, "%s\n", text);
        ptxi_builtin_return(call);
    }
    format_message(call, ptxi_first_lane(call->lanes), "", text, sizeof text);
    ptxi_fault(call->warp, call->insn, PTXI_FK_ASSERT, call->lanes, 0, 0, text);
    return false;
}
