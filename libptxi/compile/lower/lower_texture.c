/* Textures and surfaces: all registers of an instruction in one list, behind what its qualifiers say. */
#include "compile/lower/lower.h"

#include <stddef.h>
#include <string.h>

enum { MOST = 40 };

/* A register that holds the texture's or surface's number, or the address of its variable. */
static uint32_t object(struct ptxi_build *b, const struct ptxi_address *a)
{
    struct ptxi_mem mem;
    uint32_t sum;

    if (!ptxi_build_address(b, a, PTXI_SPACE_GLOBAL, &mem))
        return PTXI_NONE;
    if (mem.base == PTXI_NONE || mem.space != PTXI_SPACE_GLOBAL) {
        ptxi_build_unsupported(b, "state space");
        return PTXI_NONE;
    }
    if (!mem.offset)
        return mem.base;
    sum = ptxi_build_temp(b, PTXI_RC_64);
    ptxi_build_pure(b, PTXI_OP_add_i64, sum, mem.base, ptxi_build_const(b, PTXI_RC_64, (uint64_t)(int64_t)mem.offset), PTXI_NONE);
    return sum;
}

static const struct ptxi_operand *elements(const struct ptxi_operand *o, unsigned *count)
{
    *count = o->form == PTXI_OPD_VECTOR ? o->count : 1;
    return o->form == PTXI_OPD_VECTOR ? o->elements : o;
}

/* Where to write the operand of that name; returns how many registers it has. */
static unsigned results(struct ptxi_build *b, const char *name, uint32_t *v)
{
    enum ptxi_class class = ptxi_class_of(ptxi_build_type(b, name));
    unsigned count;
    const struct ptxi_operand *e = elements(ptxi_build_operand(b, name), &count);

    for (unsigned k = 0; k < count; k++)
        v[k] = e[k].form == PTXI_OPD_SINK ? PTXI_NONE : ptxi_build_def(b, &e[k], class);
    return count;
}

static void results_end(struct ptxi_build *b, const char *name, const uint32_t *v)
{
    unsigned count;
    const struct ptxi_operand *e = elements(ptxi_build_operand(b, name), &count);

    for (unsigned k = 0; k < count; k++)
        if (v[k] != PTXI_NONE)
            ptxi_build_def_end(b, &e[k], v[k], ptxi_build_type(b, name));
}

/* `most` values of the operand of that name; what PTX lets stand behind them is not looked at. */
static unsigned sources(struct ptxi_build *b, const char *name, unsigned most, uint32_t *v)
{
    const struct ptxi_operand *o = ptxi_build_operand(b, name), *e;
    enum ptxi_class class;
    unsigned count;

    if (!o)
        return 0;
    class = ptxi_class_of(ptxi_build_type(b, name));
    e = elements(o, &count);
    count = count < most ? count : most;
    for (unsigned k = 0; k < count; k++)
        v[k] = ptxi_build_use(b, &e[k], class);
    return count;
}

/* Dimensions, and whether the first coordinate is a layer. */
static void read_geometry(const struct ptxi_match *m, struct ptxi_tex *head)
{
    static const struct {
        const char *word;
        uint8_t dimensions, layered, cube, samples;
    } geometries[] = {
        { "1d", 1, 0, 0, 0 }, { "2d", 2, 0, 0, 0 }, { "3d", 3, 0, 0, 0 }, { "a1d", 1, 1, 0, 0 }, { "a2d", 2, 1, 0, 0 },
        { "cube", 3, 0, 1, 0 }, { "acube", 3, 1, 1, 0 }, { "2dms", 2, 0, 0, 1 }, { "a2dms", 2, 1, 0, 1 },
    };
    uint16_t word = ptxi_isa_slot(m, "geom");

    for (unsigned k = 0; k < sizeof geometries / sizeof *geometries; k++)
        if (!strcmp(ptxi_words[word], geometries[k].word)) {
            head->dimensions = geometries[k].dimensions;
            head->layered = geometries[k].layered;
            head->cube = geometries[k].cube;
            head->samples = geometries[k].samples;
        }
}

static void read_head(const struct ptxi_match *m, struct ptxi_tex *head)
{
    enum ptxi_type d = (enum ptxi_type)ptxi_isa_slot(m, "D");
    uint16_t component = ptxi_isa_slot(m, "comp");

    *head = (struct ptxi_tex){ 0 };
    read_geometry(m, head);
    head->integer = ptxi_isa_slot(m, "C") == PTXI_T_s32 || head->samples;
    head->level = ptxi_build_has(m, PTXI_Q_level) ? PTXI_TEX_LEVEL : ptxi_build_has(m, PTXI_Q_grad) ? PTXI_TEX_GRAD : PTXI_TEX_BASE;
    head->result = d == PTXI_T_f16 ? PTXI_TEX_16 : d == PTXI_T_f16x2 ? PTXI_TEX_2X16 : PTXI_TEX_32;
    if (component != PTXI_NO_WORD)
        head->component = (uint16_t)(1 + (strchr("rgba", *ptxi_words[component]) - "rgba"));
}

void ptxi_lower_tex(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *resident = ptxi_build_operand(b, "p");
    const struct ptxi_address *a = ptxi_build_operand(b, "a")->address;
    struct ptxi_tex head;

    read_head(inst->match, &head);
    unsigned coordinates = head.dimensions + (head.layered != 0) + (head.samples != 0), writes, count;
    uint32_t v[MOST], texture = object(b, a), sampler = a->sampler ? ptxi_build_use(b, a->sampler, PTXI_RC_64) : PTXI_NONE;

    if (texture == PTXI_NONE)
        return;
    count = writes = results(b, "d", v);
    head.first[0] = (uint16_t)count;
    count += sources(b, "c", coordinates, v + count);
    head.first[1] = (uint16_t)count;
    count += sources(b, "lod", 1, v + count);
    count += sources(b, "dPdx", head.dimensions, v + count);
    head.first[2] = (uint16_t)count;
    count += sources(b, "dPdy", head.dimensions, v + count);
    head.first[3] = (uint16_t)count;
    count += sources(b, "e", head.dimensions, v + count);
    head.first[4] = (uint16_t)count;
    count += sources(b, "f", 1, v + count);
    head.first[5] = (uint16_t)count;
    ptxi_build_list(b, &(struct ptxi_list_op){ ptxi_isa_op(inst->match), .a = texture, .b = sampler, .head = &head,
                                               .head_count = offsetof(struct ptxi_tex, slots) / sizeof(uint16_t), .v = v, .writes = writes, .count = count });
    results_end(b, "d", v);
    if (resident && resident->form != PTXI_OPD_SINK) /* all of a texture is there */
        ptxi_build_move(b, ptxi_build_def(b, resident, PTXI_RC_PRED), ptxi_build_const(b, PTXI_RC_PRED, 1));
}

void ptxi_lower_txq(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    static const char *const queries[] = {
        [PTXI_TXQ_WIDTH] = "width", [PTXI_TXQ_HEIGHT] = "height", [PTXI_TXQ_DEPTH] = "depth", [PTXI_TXQ_CHANNEL_DATA_TYPE] = "channel_data_type",
        [PTXI_TXQ_CHANNEL_ORDER] = "channel_order", [PTXI_TXQ_NORMALIZED] = "normalized_coords", [PTXI_TXQ_ARRAY_SIZE] = "array_size",
        [PTXI_TXQ_LEVELS] = "num_mipmap_levels", [PTXI_TXQ_SAMPLES] = "num_samples", [PTXI_TXQ_FILTER] = "filter_mode", [PTXI_TXQ_ADDRESS_0] = "addr_mode_0",
        [PTXI_TXQ_ADDRESS_1] = "addr_mode_1", [PTXI_TXQ_ADDRESS_2] = "addr_mode_2", [PTXI_TXQ_UNNORMALIZED] = "force_unnormalized_coords",
        [PTXI_TXQ_LAYOUT] = "memory_layout",
    };
    const char *word = ptxi_words[ptxi_isa_slot(inst->match, "query")];
    uint32_t a = object(b, ptxi_build_operand(b, "a")->address), level = PTXI_NONE, d;
    struct ptxi_ir_inst *i;

    if (a == PTXI_NONE)
        return;
    sources(b, "lod", 1, &level);
    results(b, "d", &d);
    i = ptxi_build_op(b, ptxi_isa_op(inst->match), d, a, level, PTXI_NONE);
    i->flags |= PTXI_IF_READS;
    for (uint16_t q = 0; q < sizeof queries / sizeof *queries; q++)
        if (!strcmp(word, queries[q]))
            i->mods = q;
    if (inst->match->row->family == PTXI_M_suq)
        i->mods |= PTXI_TXQ_SURFACE;
    results_end(b, "d", &d);
}

/* mods: which kind of variable, as exec/texture/texture.h numbers them. */
void ptxi_lower_istypep(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    uint32_t a = ptxi_build_use(b, ptxi_build_operand(b, "a"), PTXI_RC_64), d = ptxi_build_def(b, ptxi_build_operand(b, "p"), PTXI_RC_PRED);
    struct ptxi_ir_inst *i = ptxi_build_op(b, ptxi_isa_op(inst->match), d, a, PTXI_NONE, PTXI_NONE);

    i->mods = ptxi_build_has(inst->match, PTXI_Q_texref) ? 1 : ptxi_build_has(inst->match, PTXI_Q_surfref) ? 2 : 3;
    i->flags |= PTXI_IF_READS;
}

/* The reduction for values of 64 bits or 32, with a sign or without. */
static uint16_t reduction(const struct ptxi_match *m, bool wide, bool is_signed)
{
    if (ptxi_build_has(m, PTXI_Q_add))
        return wide ? PTXI_OP_atom_add_i64 : PTXI_OP_atom_add_i32;
    if (ptxi_build_has(m, PTXI_Q_and))
        return PTXI_OP_atom_and_b32;
    if (ptxi_build_has(m, PTXI_Q_or))
        return PTXI_OP_atom_or_b32;
    if (ptxi_build_has(m, PTXI_Q_min))
        return wide ? (is_signed ? PTXI_OP_atom_min_s64 : PTXI_OP_atom_min_u64) : is_signed ? PTXI_OP_atom_min_s32 : PTXI_OP_atom_min_u32;
    return wide ? (is_signed ? PTXI_OP_atom_max_s64 : PTXI_OP_atom_max_u64) : is_signed ? PTXI_OP_atom_max_s32 : PTXI_OP_atom_max_u32;
}

void ptxi_lower_surface(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    static const uint16_t widths[] = { [PTXI_RC_PRED] = 0, [PTXI_RC_16] = 2, [PTXI_RC_32] = 4, [PTXI_RC_64] = 8 };
    const struct ptxi_match *m = inst->match;
    bool load = ptxi_isa_op(m) == PTXI_OP_suld;
    enum ptxi_type type = ptxi_build_type(b, load ? "d" : "c");
    uint32_t v[MOST], surface = object(b, ptxi_build_operand(b, "a")->address);
    struct ptxi_surface head = { .bytes = ptxi_types[type].bits / 8, .wide = widths[ptxi_class_of(type)] };
    struct ptxi_tex geometry = { 0 };
    unsigned count;

    if (surface == PTXI_NONE)
        return;
    read_geometry(m, &geometry);
    head.dimensions = geometry.dimensions;
    head.layered = geometry.layered;
    head.formatted = ptxi_build_has(m, PTXI_Q_p);
    head.beyond = ptxi_isa_slot(m, "clamp") == PTXI_Q_trap ? PTXI_SURFACE_TRAP : ptxi_isa_slot(m, "clamp") == PTXI_Q_zero ? PTXI_SURFACE_ZERO : PTXI_SURFACE_CLAMP;
    for (unsigned s = 0; s < 2 && ptxi_isa_op(m) == PTXI_OP_sured; s++)
        head.reduce[s] = reduction(m, head.bytes == 8, head.formatted ? s : ptxi_types[type].class == 'S');
    count = head.values = (uint16_t)(load ? results(b, "d", v) : sources(b, "c", 4, v));
    count += sources(b, "b", head.dimensions + (head.layered != 0u), v + count);
    ptxi_build_list(b, &(struct ptxi_list_op){ ptxi_isa_op(m), .a = surface, .b = PTXI_NONE, .head = &head,
                                               .head_count = offsetof(struct ptxi_surface, slots) / sizeof(uint16_t), .v = v,
                                               .writes = load ? head.values : 0, .count = count });
    if (load)
        results_end(b, "d", v);
}
