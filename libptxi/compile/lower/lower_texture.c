/* Textures and surfaces: all registers of an instruction are in one list, after the information of its qualifiers. */
#include "compile/lower/lower_state.h"

#include <assert.h>
#include <stddef.h>

enum {
    MAX_REGISTERS = 40,
    TEX_HEAD = offsetof(struct ptxi_tex, slots) / sizeof(uint16_t),
    SURFACE_HEAD = offsetof(struct ptxi_surface, slots) / sizeof(uint16_t)
};

/* --- operands --- */

/* The number in a kernel's parameter of type .texref, .samplerref or .surfref. */
static uint32_t load_handle(struct ptxi_lower *l, const struct ptxi_address *a)
{
    struct ptxi_lower_mem mem;
    uint32_t d = ptxi_lower_temp(l, PTXI_RC_64);
    struct ptxi_ir_inst *i;

    if (!ptxi_lower_address(l, a, PTXI_SPACE_PARAM, &mem))
        return PTXI_NONE;
    i = ptxi_lower_op(l, PTXI_OP_ld_param_64, d, mem.base, PTXI_NONE, PTXI_NONE);
    i->imm = (int32_t)mem.offset;
    ptxi_lower_note_access(l, i, &mem, 8, 0);
    return d;
}

/* A register that holds the texture's or surface's number, or the address of its variable. */
static uint32_t object_register(struct ptxi_lower *l, const struct ptxi_address *a)
{
    struct ptxi_lower_mem mem;

    if (a->var && a->var->space == PTXI_SPACE_PARAM && a->var->opaque && l->func->is_entry)
        return load_handle(l, a);
    if (!ptxi_lower_address(l, a, PTXI_SPACE_GLOBAL, &mem))
        return PTXI_NONE;
    if (mem.base == PTXI_NONE || mem.space != PTXI_SPACE_GLOBAL) {
        ptxi_lower_unsupported(l, "state space");
        return PTXI_NONE;
    }
    return mem.offset ? ptxi_lower_add_offset(l, mem.base, mem.offset) : mem.base;
}

static const struct ptxi_operand *elements(const struct ptxi_operand *o, unsigned *count)
{
    *count = o->form == PTXI_OPD_VECTOR ? o->count : 1;
    return o->form == PTXI_OPD_VECTOR ? o->elements : o;
}

/* Fills v with the registers to write for an operand. Returns their number. */
static unsigned result_registers(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, uint32_t *v)
{
    enum ptxi_class class = ptxi_ir_class_of(ptxi_lower_operand_type(l, name));
    unsigned count;
    const struct ptxi_operand *e = elements(ptxi_lower_operand(l, name), &count);

    for (unsigned k = 0; k < count; k++)
        v[k] = e[k].form == PTXI_OPD_SINK ? PTXI_NONE : ptxi_lower_def(l, &e[k], class);
    return count;
}

static void end_results(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, const uint32_t *v)
{
    unsigned count;
    const struct ptxi_operand *e = elements(ptxi_lower_operand(l, name), &count);

    for (unsigned k = 0; k < count; k++)
        if (v[k] != PTXI_NONE)
            ptxi_lower_end_def(l, &e[k], v[k], ptxi_lower_operand_type(l, name));
}

/* Fills v with at most `most` values of an operand; PTX allows more, which are ignored. Returns their number. */
static unsigned source_registers(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, unsigned most, uint32_t *v)
{
    const struct ptxi_operand *o = ptxi_lower_operand(l, name), *e;
    enum ptxi_class class;
    unsigned count;

    if (!o)
        return 0;
    class = ptxi_ir_class_of(ptxi_lower_operand_type(l, name));
    e = elements(o, &count);
    count = count < most ? count : most;
    for (unsigned k = 0; k < count; k++)
        v[k] = ptxi_lower_use(l, &e[k], class);
    return count;
}

/* --- tex, tld4 --- */

/* Dimensions, and whether the first coordinate is a layer. */
static void read_geometry(const struct ptxi_match *m, struct ptxi_tex *head)
{
    static const struct {
        uint16_t word;
        uint8_t dimensions, layered, cube, samples;
    } geometries[] = {
        { PTXI_Q_1d, 1, 0, 0, 0 },   { PTXI_Q_2d, 2, 0, 0, 0 },    { PTXI_Q_3d, 3, 0, 0, 0 },
        { PTXI_Q_a1d, 1, 1, 0, 0 },  { PTXI_Q_a2d, 2, 1, 0, 0 },   { PTXI_Q_cube, 3, 0, 1, 0 },
        { PTXI_Q_acube, 3, 1, 1, 0 }, { PTXI_Q_2dms, 2, 0, 0, 1 }, { PTXI_Q_a2dms, 2, 1, 0, 1 },
    };
    uint16_t word = ptxi_isa_slot_word(m, PTXI_SLOT_geom);

    for (unsigned k = 0; k < sizeof geometries / sizeof *geometries; k++)
        if (word == geometries[k].word) {
            head->dimensions = geometries[k].dimensions;
            head->layered = geometries[k].layered;
            head->cube = geometries[k].cube;
            head->samples = geometries[k].samples;
        }
    assert(head->dimensions);
}

static uint16_t tex_level(const struct ptxi_match *m)
{
    if (ptxi_isa_has_word(m, PTXI_Q_level))
        return PTXI_TEX_LEVEL;
    return ptxi_isa_has_word(m, PTXI_Q_grad) ? PTXI_TEX_GRAD : PTXI_TEX_BASE;
}

static uint16_t tex_result(const struct ptxi_match *m)
{
    switch (ptxi_isa_slot_word(m, PTXI_SLOT_D)) {
    case PTXI_T_f16: return PTXI_TEX_16;
    case PTXI_T_f16x2: return PTXI_TEX_2X16;
    default: return PTXI_TEX_32;
    }
}

/* The component that tld4 fetches, from 1 on; 0: tex. */
static uint16_t tex_component(const struct ptxi_match *m)
{
    switch (ptxi_isa_slot_word(m, PTXI_SLOT_comp)) {
    case PTXI_Q_r: return 1;
    case PTXI_Q_g: return 2;
    case PTXI_Q_b: return 3;
    case PTXI_Q_a: return 4;
    default: return 0;
    }
}

static void read_head(const struct ptxi_match *m, struct ptxi_tex *head)
{
    *head = (struct ptxi_tex){ 0 };
    read_geometry(m, head);
    head->integer = ptxi_isa_slot_word(m, PTXI_SLOT_C) == PTXI_T_s32 || head->samples;
    head->level = tex_level(m);
    head->result = tex_result(m);
    head->component = tex_component(m);
}

void ptxi_lower_rule_tex(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *resident = ptxi_lower_operand(l, PTXI_OPERAND_p);
    const struct ptxi_address *a = ptxi_lower_operand(l, PTXI_OPERAND_a)->address;
    struct ptxi_tex head;
    unsigned coordinates, writes, count;
    uint32_t v[MAX_REGISTERS], texture = object_register(l, a);
    uint32_t sampler = a->sampler ? ptxi_lower_use(l, a->sampler, PTXI_RC_64) : PTXI_NONE;

    if (texture == PTXI_NONE)
        return;
    read_head(inst->match, &head);
    coordinates = head.dimensions + (head.layered != 0) + (head.samples != 0);
    count = writes = result_registers(l, PTXI_OPERAND_d, v);
    head.first[0] = (uint16_t)count;
    count += source_registers(l, PTXI_OPERAND_c, coordinates, v + count);
    head.first[1] = (uint16_t)count;
    count += source_registers(l, PTXI_OPERAND_lod, 1, v + count);
    count += source_registers(l, PTXI_OPERAND_dPdx, head.dimensions, v + count);
    head.first[2] = (uint16_t)count;
    count += source_registers(l, PTXI_OPERAND_dPdy, head.dimensions, v + count);
    head.first[3] = (uint16_t)count;
    count += source_registers(l, PTXI_OPERAND_e, head.dimensions, v + count);
    head.first[4] = (uint16_t)count;
    count += source_registers(l, PTXI_OPERAND_f, 1, v + count);
    head.first[5] = (uint16_t)count;
    assert(count <= MAX_REGISTERS);
    ptxi_lower_list_op(l, &(struct ptxi_lower_list){ ptxi_isa_op(inst->match), .a = texture, .b = sampler,
                                                     .head = &head, .head_count = TEX_HEAD, .v = v, .writes = writes,
                                                         .count = count });
    end_results(l, PTXI_OPERAND_d, v);
    if (resident && resident->form != PTXI_OPD_SINK) /* the whole texture is resident */
        ptxi_lower_move(l, ptxi_lower_def(l, resident, PTXI_RC_PRED), ptxi_lower_const(l, PTXI_RC_PRED, 1));
}

/* --- queries --- */

static uint16_t query(const struct ptxi_match *m)
{
    static const uint16_t words[] = {
        [PTXI_TXQ_WIDTH] = PTXI_Q_width,
        [PTXI_TXQ_HEIGHT] = PTXI_Q_height,
        [PTXI_TXQ_DEPTH] = PTXI_Q_depth,
        [PTXI_TXQ_CHANNEL_DATA_TYPE] = PTXI_Q_channel_data_type,
        [PTXI_TXQ_CHANNEL_ORDER] = PTXI_Q_channel_order,
        [PTXI_TXQ_NORMALIZED] = PTXI_Q_normalized_coords,
        [PTXI_TXQ_ARRAY_SIZE] = PTXI_Q_array_size,
        [PTXI_TXQ_LEVELS] = PTXI_Q_num_mipmap_levels,
        [PTXI_TXQ_SAMPLES] = PTXI_Q_num_samples,
        [PTXI_TXQ_FILTER] = PTXI_Q_filter_mode,
        [PTXI_TXQ_ADDRESS_0] = PTXI_Q_addr_mode_0,
        [PTXI_TXQ_ADDRESS_1] = PTXI_Q_addr_mode_1,
        [PTXI_TXQ_ADDRESS_2] = PTXI_Q_addr_mode_2,
        [PTXI_TXQ_UNNORMALIZED] = PTXI_Q_force_unnormalized_coords,
        [PTXI_TXQ_LAYOUT] = PTXI_Q_memory_layout,
    };
    uint16_t word = ptxi_isa_slot_word(m, PTXI_SLOT_query), q = 0;

    while (q < sizeof words / sizeof *words && words[q] != word)
        q++;
    assert(q < sizeof words / sizeof *words);
    return q;
}

void ptxi_lower_rule_txq(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    uint32_t a = object_register(l, ptxi_lower_operand(l, PTXI_OPERAND_a)->address), level = PTXI_NONE, d;
    struct ptxi_ir_inst *i;

    if (a == PTXI_NONE)
        return;
    source_registers(l, PTXI_OPERAND_lod, 1, &level);
    result_registers(l, PTXI_OPERAND_d, &d);
    i = ptxi_lower_op(l, ptxi_isa_op(inst->match), d, a, level, PTXI_NONE);
    i->flags |= PTXI_IF_READS;
    i->mods = query(inst->match);
    if (inst->match->row->family == PTXI_M_suq)
        i->mods |= PTXI_TXQ_SURFACE;
    end_results(l, PTXI_OPERAND_d, &d);
}

/* The kind of variable as exec/texture/texture.h numbers it. */
static uint16_t object_type(const struct ptxi_match *m)
{
    if (ptxi_isa_has_word(m, PTXI_Q_texref))
        return 1;
    return ptxi_isa_has_word(m, PTXI_Q_surfref) ? 2 : 3;
}

void ptxi_lower_rule_istypep(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    uint32_t a = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_a), PTXI_RC_64);
    uint32_t d = ptxi_lower_def(l, ptxi_lower_operand(l, PTXI_OPERAND_p), PTXI_RC_PRED);
    struct ptxi_ir_inst *i = ptxi_lower_op(l, ptxi_isa_op(inst->match), d, a, PTXI_NONE, PTXI_NONE);

    i->mods = object_type(inst->match);
    i->flags |= PTXI_IF_READS;
}

/* --- surfaces --- */

/* The reduction of values of 64 (`wide`) or 32 bits, with or without a sign. */
static uint16_t reduction(const struct ptxi_match *m, bool wide, bool is_signed)
{
    static const uint16_t min[2][2] = { { PTXI_OP_atom_min_u32, PTXI_OP_atom_min_s32 },
                                        { PTXI_OP_atom_min_u64, PTXI_OP_atom_min_s64 } };
    static const uint16_t max[2][2] = { { PTXI_OP_atom_max_u32, PTXI_OP_atom_max_s32 },
                                        { PTXI_OP_atom_max_u64, PTXI_OP_atom_max_s64 } };

    if (ptxi_isa_has_word(m, PTXI_Q_add))
        return wide ? PTXI_OP_atom_add_i64 : PTXI_OP_atom_add_i32;
    if (ptxi_isa_has_word(m, PTXI_Q_and))
        return PTXI_OP_atom_and_b32;
    if (ptxi_isa_has_word(m, PTXI_Q_or))
        return PTXI_OP_atom_or_b32;
    return ptxi_isa_has_word(m, PTXI_Q_min) ? min[wide][is_signed] : max[wide][is_signed];
}

/* The treatment of accesses outside the surface. */
static uint16_t surface_beyond(const struct ptxi_match *m)
{
    switch (ptxi_isa_slot_word(m, PTXI_SLOT_clamp)) {
    case PTXI_Q_trap: return PTXI_SURFACE_TRAP;
    case PTXI_Q_zero: return PTXI_SURFACE_ZERO;
    default: return PTXI_SURFACE_CLAMP;
    }
}

void ptxi_lower_rule_surface(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    static const uint16_t widths[] = { [PTXI_RC_PRED] = 0, [PTXI_RC_16] = 2, [PTXI_RC_32] = 4, [PTXI_RC_64] = 8 };
    const struct ptxi_match *m = inst->match;
    bool load = ptxi_isa_op(m) == PTXI_OP_suld;
    enum ptxi_type type = ptxi_lower_operand_type(l, load ? PTXI_OPERAND_d : PTXI_OPERAND_c);
    uint32_t v[MAX_REGISTERS], surface = object_register(l, ptxi_lower_operand(l, PTXI_OPERAND_a)->address);
    struct ptxi_surface head = { .bytes = ptxi_types[type].bits / 8, .wide = widths[ptxi_ir_class_of(type)] };
    struct ptxi_tex geometry = { 0 };
    unsigned count;

    if (surface == PTXI_NONE)
        return;
    read_geometry(m, &geometry);
    head.dimensions = geometry.dimensions;
    head.layered = geometry.layered;
    head.formatted = ptxi_isa_has_word(m, PTXI_Q_p);
    head.beyond = surface_beyond(m);
    for (unsigned s = 0; s < 2 && ptxi_isa_op(m) == PTXI_OP_sured; s++)
        head.reduce[s] = reduction(m, head.bytes == 8, head.formatted ? s : ptxi_types[type].class == 'S');
    if (load)
        head.values = (uint16_t)result_registers(l, PTXI_OPERAND_d, v);
    else
        head.values = (uint16_t)source_registers(l, PTXI_OPERAND_c, 4, v);
    count = head.values;
    count += source_registers(l, PTXI_OPERAND_b, head.dimensions + (head.layered != 0u), v + count);
    ptxi_lower_list_op(l, &(struct ptxi_lower_list){ ptxi_isa_op(m), .a = surface, .b = PTXI_NONE, .head = &head,
                                                     .head_count = SURFACE_HEAD, .v = v,
                                                         .writes = load ? head.values : 0,
                                                     .count = count });
    if (load)
        end_results(l, PTXI_OPERAND_d, v);
}
