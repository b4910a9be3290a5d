/* shfl whose source lanes are constants. The numbers of the lanes are a table in front of the code. */
#include "exec/sync/lane_collectives.h"
#include "native/builder.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

enum { MAX_PARTS = PTXI_LANES * 4 / 32 };

/* The lane from which each lane gets its value, and the lanes for which it is in range. */
struct sources {
    uint32_t lane[PTXI_LANES];
    ptxi_lanes in_range;
};

static bool find_sources(const struct ptxi_code *code, insn *i, enum ptxi_shfl_mode mode, struct sources *s)
{
    uint32_t b, c;

    if (!ptxi_native_find_constant(code, i->b, &b) || !ptxi_native_find_constant(code, i->c, &c))
        return false;
    s->in_range = 0;
    for (uint32_t l = 0; l < PTXI_LANES; l++) {
        uint32_t in;

        s->lane[l] = ptxi_shfl_source(mode, l, b, c, &in);
        s->in_range |= (ptxi_lanes)(in & 1) << l;
    }
    return true;
}

static bool find_mode(unsigned op, enum ptxi_shfl_mode *mode)
{
    switch (op) {
    case PTXI_OP_shfl_up: *mode = PTXI_SHFL_UP; return true;
    case PTXI_OP_shfl_down: *mode = PTXI_SHFL_DOWN; return true;
    case PTXI_OP_shfl_bfly: *mode = PTXI_SHFL_BFLY; return true;
    case PTXI_OP_shfl_idx: *mode = PTXI_SHFL_IDX; return true;
    default: return false;
    }
}

void ptxi_native_put_lane_tables(builder *c)
{
    for (uint32_t k = 0; k < c->code->count; k++) {
        enum ptxi_shfl_mode mode;
        struct sources s;

        if (!find_mode(c->code->insns[k].op, &mode) || !find_sources(c->code, &c->code->insns[k], mode, &s))
            continue;
        c->table_of[k] = c->x.size;
        ptxi_x86_data(&c->x, s.lane, sizeof s.lane);
    }
}

/* The lanes of part k whose source is in part `from`. */
static uint32_t lanes_from(const struct sources *s, unsigned per_part, unsigned k, unsigned from)
{
    uint32_t lanes = 0;

    for (unsigned l = 0; l < per_part; l++)
        lanes |= (uint32_t)(s->lane[k * per_part + l] / per_part == from) << l;
    return lanes;
}

/* d = the lanes of part `a` that the table names. With `lanes`, only these change. */
static void permute(builder *c, unsigned d, unsigned table, unsigned a, uint32_t lanes, bool is_first)
{
    if (is_first) {
        ptxi_x86_vector(&c->x, PTXI_V_PERMD, d, table, ptxi_x86_reg(a));
    } else if (c->x.wide) {
        ptxi_x86_imm(&c->x, PTXI_RAX, lanes);
        ptxi_x86_kmovw_to(&c->x, 1, PTXI_RAX);
        ptxi_x86_vector_masked(&c->x, PTXI_V_PERMD, d, table, ptxi_x86_reg(a), -1, 1);
    } else {
        const unsigned t = ptxi_native_temporary(c);

        ptxi_x86_vector(&c->x, PTXI_V_PERMD, t, table, ptxi_x86_reg(a));
        ptxi_x86_vector_imm(&c->x, PTXI_V_BLENDD, d, d, ptxi_x86_reg(t), lanes);
    }
}

/* Part k of the result. Returns its register. *raw is set if it may have any NaN. */
static unsigned permute_part(builder *c, insn *i, const struct sources *s, unsigned k, bool *raw)
{
    const unsigned parts = ptxi_native_parts(c, 32), per_part = PTXI_LANES / parts;
    const unsigned d = ptxi_native_new(c), table = ptxi_native_temporary(c);
    bool is_first = true;

    ptxi_x86_vector(&c->x, PTXI_V_MOV, table, 0,
                    ptxi_x86_at(PTXI_RIP, (int32_t)(c->table_of[c->now] + k * c->bytes)));
    for (unsigned from = 0; from < parts; from++) {
        const uint32_t lanes = lanes_from(s, per_part, k, from);
        unsigned a;

        if (!lanes)
            continue;
        a = ptxi_native_source_f32(c, ptxi_native_part(c, i->a, from));
        *raw |= c->cache.raw >> a & 1;
        permute(c, d, table, a, lanes, is_first);
        is_first = false;
    }
    ptxi_native_end_part(c);
    return d;
}

bool ptxi_native_emit_shfl(builder *c, insn *i, uint32_t mode, uint32_t unused)
{
    const unsigned parts = ptxi_native_parts(c, 32), predicate = (uint16_t)i->imm;
    bool raw[MAX_PARTS] = { false };
    unsigned d[MAX_PARTS];
    struct sources s;

    (void)unused;
    if (c->partial || !find_sources(c->code, i, (enum ptxi_shfl_mode)mode, &s))
        return false;
    for (unsigned k = 0; k < parts; k++)
        d[k] = permute_part(c, i, &s, k, &raw[k]);
    for (unsigned k = 0; k < parts; k++)
        if (raw[k])
            ptxi_native_define_f32(c, i->d, k, d[k]);
        else
            ptxi_native_define(c, i->d, k, 32, d[k]);
    if (predicate != PTXI_NO_SLOT)
        ptxi_x86_store_imm(&c->x, 32, ptxi_native_frame(predicate, 0), (int32_t)s.in_range);
    return true;
}
