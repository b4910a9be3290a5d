#include "api/module/host_call.h"

#include "api/handle/handle.h"
#include "base/str.h"
#include "exec/engine/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void ptxi_host_unref(struct ptxi_host *h)
{
    if (!h)
        return;
    unsigned before = atomic_fetch_sub(&h->refs, 1);

    assert(before);
    if (before != 1)
        return;
    ptxi_arena_free(&h->arena);
    free(h);
}

/* ---- a call */

/* The call of a kernel's thread that this host thread is executing. */
static __thread struct {
    struct ptxi_builtin_call *call;
    const struct ptxi_host *host;
    unsigned lane;
    bool failed;
} current;

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

static void gather_arguments(const struct ptxi_host *h, const struct ptxi_builtin_call *c, unsigned lane,
                             unsigned char *room, void **values)
{
    unsigned word = 0;

    for (unsigned i = 0; i < h->count; i++) {
        size_t size = h->params[i]->size;

        values[i] = room;
        for (size_t n = 0; n < size; n += 4, word++)
            memcpy(room + n, &c->args[word][lane], size - n < 4 ? size - n : 4);
        room += round_up(size, 16);
    }
}

static void scatter_result(const struct ptxi_host *h, struct ptxi_builtin_call *c, unsigned lane,
                           const unsigned char *result)
{
    for (unsigned word = 0; word < c->ret_words; word++) {
        uint32_t x = 0;
        size_t left = h->ret_bytes - 4 * word;

        memcpy(&x, result + 4 * word, left < 4 ? left : 4);
        c->rets[word][lane] = x;
    }
    c->given_words = c->ret_words;
}

/* libffi widens integers that are narrower than a register (ffi_arg). A callback does not, so this does. */
static void widen_result(const struct ptxi_host *h, unsigned char *result)
{
    int64_t x;

    switch (h->callback ? h->ret->type : FFI_TYPE_VOID) {
    case FFI_TYPE_UINT8: x = *(uint8_t *)result; break;
    case FFI_TYPE_SINT8: x = *(int8_t *)result; break;
    case FFI_TYPE_UINT16: x = *(uint16_t *)result; break;
    case FFI_TYPE_SINT16: x = *(int16_t *)result; break;
    default: return;
    }
    memcpy(result, &x, sizeof x);
}

/* Makes the call of the current lane. `args` and `result` have room for its values. */
static void call_lane(struct ptxi_host *h, struct ptxi_builtin_call *call, void **values, unsigned char *args,
                      unsigned char *result)
{
    gather_arguments(h, call, current.lane, args, values);
    memset(result, 0, 16);
    ptxi_builtin_leave(call);
    if (h->callback)
        h->callback(h->user, values, result);
    else
        ffi_call(&h->cif, h->function, result, values);
    ptxi_builtin_return(call);
    widen_result(h, result);
    scatter_result(h, call, current.lane, result);
}

/* Lanes call one after the other, so that a function sees the threads of a warp in order. */
bool ptxi_host_call(struct ptxi_builtin_call *call, void *user)
{
    struct ptxi_host *h = user;
    _Alignas(16) unsigned char args[16 * PTXI_MAX_BUILTIN_WORDS], result[4 * PTXI_MAX_BUILTIN_WORDS + 16];
    void *values[PTXI_MAX_BUILTIN_WORDS + 1];

    if (call->arg_words != h->arg_words || (call->ret_words && call->ret_words != h->ret_words)) {
        ptxi_fault(call->warp, call->insn, PTXI_FK_BRANCH, call->lanes, 0, 0,
                   "indirect call of a host function with other parameters");
        return false;
    }
    current.call = call;
    current.host = h;
    current.failed = false;
    ptxi_call_set_callback(true);
    for (uint64_t left = call->lanes; left && !current.failed; left &= left - 1) {
        current.lane = ptxi_first_lane(left);
        current.failed = !ptxi_builtin_may_continue(call);
        if (!current.failed)
            call_lane(h, call, values, args, result);
    }
    ptxi_call_set_callback(false);
    current.call = NULL;
    return !current.failed;
}

/* ---- what a host function can ask about its call */

ptxiResult ptxiHostGetThread(ptxiHostThread *thread)
{
    if (!current.call)
        return PTXI_ERROR_NOT_PERMITTED;
    if (!thread || thread->size < offsetof(ptxiHostThread, lane))
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_warp *w = current.call->warp;
    const struct ptxi_grid *g = w->cta->grid;
    unsigned t = w->first_thread + current.lane;
    size_t size = thread->size;
    ptxiHostThread x = {
        .size = size, .gridDim = { g->grid[0], g->grid[1], g->grid[2] },
        .blockDim = { g->block[0], g->block[1], g->block[2] },
        .block = { w->cta->ctaid[0], w->cta->ctaid[1], w->cta->ctaid[2] },
        .lane = t % 32, .warp = t / 32, .function = current.host->name, .kernel = g->code->name,
    };

    ptxi_grid_thread_index(g, t, x.thread);
    memcpy(thread, &x, size < sizeof x ? size : sizeof x);
    return PTXI_SUCCESS;
}

ptxiResult ptxiHostFail(const char *message)
{
    struct ptxi_str s;

    if (!current.call)
        return PTXI_ERROR_NOT_PERMITTED;
    if (current.failed)
        return PTXI_SUCCESS;
    ptxi_str_init(&s, NULL);
    ptxi_str_printf(&s, "%s: %s", current.host->name, message ? message : "no reason given");
    ptxi_fault(current.call->warp, current.call->insn, PTXI_FK_HOST, (ptxi_lanes)1 << current.lane, 0, 0,
               ptxi_str_text(&s));
    ptxi_str_free(&s);
    current.failed = true;
    return PTXI_SUCCESS;
}

ptxiResult ptxiHostGetPointer(void **pointer, ptxiDevicePtr address, size_t bytes, int write)
{
    struct ptxi_builtin_call *c = current.call;

    if (!c || current.failed)
        return PTXI_ERROR_NOT_PERMITTED;
    if (!pointer || !bytes || address + bytes < address)
        return PTXI_ERROR_INVALID_VALUE;
    unsigned char *p = ptxi_builtin_pointer(c, current.lane, address, bytes, write);

    current.failed = !p;
    if (!p)
        return PTXI_ERROR_ILLEGAL_ADDRESS;
    *pointer = p;
    return PTXI_SUCCESS;
}
