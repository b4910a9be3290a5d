/* Uninitialised values: what the operations of init_ops.c need. */
#ifndef PTXI_EXEC_INIT_INIT_H
#define PTXI_EXEC_INIT_INIT_H

#include "exec/check/state.h"
#include "exec/engine/warp.h"

/* A value that lanes do not know decides something (enum ptxi_init_use), or is written to memory (PTXI_INIT_OUTPUT). */
enum { PTXI_INIT_OUTPUT = 16 };
void ptxi_init_report(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned use, ptxi_lanes lanes, uint64_t address,
                      uint32_t size);

/* A lane stores bytes with the shadow `from`, at most 16, to global memory. An undefined result of arithmetic is
 * reported. computed: it is one; otherwise its shadow says so. */
void ptxi_init_store_global(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address,
                            uint32_t size, const unsigned char *from, bool computed);

/* The shadow of bytes in shared memory. NULL: they are initialised, or outside of it. */
unsigned char *ptxi_init_shared(const struct ptxi_warp *w, uint64_t address, uint32_t size);

/* Whether bytes of shared memory are known to be defined without a look at their shadow. */
static inline bool ptxi_init_shared_is_known(const struct ptxi_warp *w, uint64_t address, uint64_t size)
{
    const struct ptxi_cta *c = ptxi_cta_of_shared(w->cta, &address);

    return c && c->check && ptxi_defined_lines_has(&c->check->defined, address, size);
}
/* The shadow of the bytes is zero: notes it for the future. */
void ptxi_init_shared_seen(const struct ptxi_warp *w, uint64_t address, uint64_t size);
/* Bytes of the shared memory of the CTA's cluster may have become undefined. */
void ptxi_init_shared_spoilt(struct ptxi_cta *c);

/* The shadow of bytes in a lane's .local memory, with the same NULL. */
unsigned char *ptxi_init_local(const struct ptxi_warp *w, unsigned lane, uint64_t address, uint32_t size);
/* The shadow of all shared memory of the CTA. NULL: it is not tracked. */
unsigned char *ptxi_init_own_shared(const struct ptxi_warp *w);

/* Bytes of the shared memory of a CTA, or of global memory if it is NULL. */
struct ptxi_init_place {
    struct ptxi_cta *shared;
    uint64_t address;
};
/* An operation that is not tracked writes bytes: they are initialised, or as undefined as the bytes it copies. */
void ptxi_init_note_write(const struct ptxi_init_place *to, uint32_t size);
/* Bytes of shared memory become undefined. */
void ptxi_init_note_undefined(const struct ptxi_init_place *to, uint32_t size);
/* The shadow of bytes of shared memory. NULL: they are initialised, or elsewhere. */
unsigned char *ptxi_init_bytes(const struct ptxi_init_place *p, uint32_t size);
void ptxi_init_get_bytes(const struct ptxi_init_place *from, uint32_t size, unsigned char *shadow);
void ptxi_init_set_bytes(const struct ptxi_warp *w, const struct ptxi_init_place *to, uint32_t size,
                         const unsigned char *shadow);
void ptxi_init_note_copy(const struct ptxi_warp *w, const struct ptxi_init_place *to,
                         const struct ptxi_init_place *from, uint32_t size);
/* Bytes of global memory get a shadow. They become initialised if the program or others may write to them unseen. */
void ptxi_init_set_global(const struct ptxi_warp *w, uint64_t address, uint32_t size, const unsigned char *shadow);

#endif
