/* Generates random programs of integers, predicates and branches as text. */
#ifndef PTXI_TESTS_RANDOM_PROGRAM_H
#define PTXI_TESTS_RANDOM_PROGRAM_H

#include "unit/support/compiled.h"

struct random {
    uint64_t state;
};

static inline uint32_t draw(struct random *r, uint32_t n)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->state >> 33) % n;
}

enum { REGS = 12, PREDS = 4 };

static inline void random_op(struct random *r, struct ptxi_str *s)
{
    static const char *const names[] = { "add.s32", "sub.s32", "mul.lo.s32", "xor.b32", "and.b32" };
    uint32_t kind = draw(r, 12);

    if (kind < 3)
        ptxi_str_printf(s, "@%s%%p%u ", draw(r, 2) ? "!" : "", draw(r, PREDS));
    if (kind == 3)
        ptxi_str_printf(s, "setp.%s.s32 %%p%u, %%r%u, %%r%u;\n", draw(r, 2) ? "lt" : "eq", draw(r, PREDS),
                        draw(r, REGS), draw(r, REGS));
    else if (kind == 4)
        ptxi_str_printf(s, "st.global.u32 [%%rd1+%u], %%r%u;\n", 4 * draw(r, 16), draw(r, REGS));
    else if (kind == 5)
        ptxi_str_printf(s, "ld.global.u32 %%r%u, [%%rd1+%u];\n", draw(r, REGS), 4 * draw(r, 16));
    else if (kind == 6)
        ptxi_str_printf(s, "mov.u32 %%r%u, %%r%u;\n", draw(r, REGS), draw(r, REGS));
    else if (kind == 7)
        ptxi_str_printf(s, "cvt.u64.u32 %%rd2, %%r%u;\nadd.s64 %%rd3, %%rd2, %%rd3;\n", draw(r, REGS));
    else if (kind == 8)
        ptxi_str_printf(s, "mov.u32 %%r%u, %u;\n", draw(r, REGS), draw(r, 5));
    else
        ptxi_str_printf(s, "%s %%r%u, %%r%u, %%r%u;\n", names[draw(r, 5)], draw(r, REGS), draw(r, REGS), draw(r, REGS));
}

static inline void begin_program(struct ptxi_str *s)
{
    ptxi_str_puts(s, HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<40>;\n.reg .pred %p<10>;\n.reg .b64 "
                          "%rd<9>;\n"
                         "ld.param.u64 %rd1, [p];\nmov.u32 %r30, %tid.x;\nmov.u64 %rd3, 1;\nmov.u32 %r20, 300;\n");
    for (unsigned k = 0; k < REGS; k++)
        ptxi_str_printf(s, "add.s32 %%r%u, %%r30, %u;\n", k, k * 5);
    for (unsigned k = 0; k < PREDS; k++)
        ptxi_str_printf(s, "setp.lt.s32 %%p%u, %%r%u, 100;\n", k, k * 2);
}

static inline void end_program(struct ptxi_str *s)
{
    ptxi_str_puts(s, "END:\n");
    for (unsigned k = 0; k < REGS; k++)
        ptxi_str_printf(s, "st.global.u32 [%%rd1+%u], %%r%u;\n", 100 + 4 * k, k);
    ptxi_str_puts(s, "ret;\n}\n");
}

static inline void structured_body(struct random *r, struct ptxi_str *s, unsigned depth, unsigned *label,
                                   unsigned *counter)
{
    for (uint32_t n = 1 + draw(r, 5); n; n--) {
        uint32_t kind = depth < 4 ? draw(r, 5) : 4;
        unsigned l = *label;

        if (kind == 0) { /* if; the join may come before the arm */
            *label += 2;
            ptxi_str_printf(s, "@%%p%u bra L%u;\n", draw(r, PREDS), l);
            structured_body(r, s, depth + 1, label, counter);
            ptxi_str_printf(s, "L%u:\n", l);
        } else if (kind == 1) { /* if, else */
            *label += 2;
            ptxi_str_printf(s, "@%%p%u bra L%u;\n", draw(r, PREDS), l);
            structured_body(r, s, depth + 1, label, counter);
            ptxi_str_printf(s, "bra L%u;\nL%u:\n", l + 1, l);
            structured_body(r, s, depth + 1, label, counter);
            ptxi_str_printf(s, "L%u:\n", l + 1);
        } else if (kind == 2 && *counter < 8) { /* a loop with an exit in the middle */
            unsigned c = 22 + (*counter)++;

            *label += 2;
            ptxi_str_printf(s, "mov.u32 %%r%u, %u;\nL%u:\n", c, 1 + draw(r, 3), l);
            structured_body(r, s, depth + 1, label, counter);
            ptxi_str_printf(s, "@%%p%u bra L%u;\n", draw(r, PREDS), l + 1);
            structured_body(r, s, depth + 1, label, counter);
            ptxi_str_printf(s, "add.s32 %%r%u, %%r%u, -1;\nsetp.lt.s32 %%p9, 0, %%r%u;\n@%%p9 bra L%u;\nL%u:\n", c, c,
                            c, l, l + 1);
        } else {
            random_op(r, s);
        }
    }
}

static inline void structured_program(struct random *r, struct ptxi_str *s)
{
    unsigned label = 0, counter = 0;

    begin_program(s);
    structured_body(r, s, 0, &label, &counter);
    end_program(s);
}

#endif
