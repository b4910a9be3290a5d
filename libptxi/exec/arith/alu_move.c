/* Moves between slots, packing, widening and narrowing: the operations of isa/internal.def that neither jump nor
 * access memory. */
#include "exec/engine/op_shapes.h"

#include <assert.h>

typedef unsigned __int128 u128;

OP1(mov_16, uint16_t, uint16_t, a[l])
OP1(mov_32, uint32_t, uint32_t, a[l])
OP1(mov_64, uint64_t, uint64_t, a[l])
OP1(mov_128, u128, u128, a[l])

OP( mov_pred )
{
    ptxi_set_pred(w, i->d, ptxi_pred(w, i->a));
    NEXT;
}

OP( fill_32 )
{
    uint32_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, (uint32_t)i->imm);
    NEXT;
}

OP2(pack_2x8, uint16_t, uint16_t, uint16_t, (uint16_t)((uint8_t)a[l] | b[l] << 8))
OP2(pack_2x16, uint32_t, uint16_t, uint16_t, a[l] | (uint32_t)b[l] << 16)
OP2(pack_2x32, uint64_t, uint32_t, uint32_t, a[l] | (uint64_t)b[l] << 32)
OP2(pack_2x64, u128, uint64_t, uint64_t, a[l] | (u128)b[l] << 64)

#define PACK_4(name, td, t, expr)                                                                             \
    OP( name )                                                                                                \
    {                                                                                                         \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);                    \
        const t *e = PTXI_SLOT(w, (uint16_t)i->imm);                                                          \
        td *d = PTXI_SLOT(w, i->d);                                                                           \
                                                                                                              \
        WRITE_LANES(d, expr);                                                                                 \
        NEXT;                                                                                                 \
    }
#define BYTE(x) (uint32_t)(uint8_t)(x)
PACK_4(pack_4x8, uint32_t, uint16_t, (uint8_t)a[l] | BYTE(b[l]) << 8 | BYTE(c[l]) << 16 | BYTE(e[l]) << 24)
PACK_4(pack_4x16, uint64_t, uint16_t, a[l] | (uint64_t)b[l] << 16 | (uint64_t)c[l] << 32 | (uint64_t)e[l] << 48)
PACK_4(pack_4x32, u128, uint32_t, (a[l] | (uint64_t)b[l] << 32) | (u128)(c[l] | (uint64_t)e[l] << 32) << 64)

/* Element imm of a source. mods is the width of the source in bytes. */
#define UNPACK(td, ta, te)                                                     \
    do {                                                                       \
        const ta *a = PTXI_SLOT(w, i->a);                                      \
        td *d = PTXI_SLOT(w, i->d);                                            \
        unsigned shift = (unsigned)i->imm * 8 * (unsigned)sizeof(te);          \
                                                                               \
        assert(shift + 8 * sizeof(te) <= 8 * sizeof(ta));                      \
        WRITE_LANES(d, (te)(a[l] >> shift));                                   \
        NEXT;                                                                  \
    } while (0)

OP( unpack_8 )
{
    if (i->mods == 2)
        UNPACK(uint16_t, uint16_t, uint8_t);
    if (i->mods == 4)
        UNPACK(uint16_t, uint32_t, uint8_t);
    assert(i->mods == 8);
    UNPACK(uint16_t, uint64_t, uint8_t);
}

OP( unpack_16 )
{
    if (i->mods == 4)
        UNPACK(uint16_t, uint32_t, uint16_t);
    if (i->mods == 8)
        UNPACK(uint16_t, uint64_t, uint16_t);
    assert(i->mods == 16);
    UNPACK(uint16_t, u128, uint16_t);
}

OP( unpack_32 )
{
    if (i->mods == 8)
        UNPACK(uint32_t, uint64_t, uint32_t);
    assert(i->mods == 16);
    UNPACK(uint32_t, u128, uint32_t);
}

OP( unpack_64 )
{
    UNPACK(uint64_t, u128, uint64_t);
}

/* Some compilers do not vectorize the sign extension of a byte to 16 bits. */
#define SIGNED_8(x) (int16_t)((int16_t)(uint16_t)((x) << 8) >> 8)
#define EXTEND_8(n)                                            \
    OP1(ext_u8_##n, uint##n##_t, uint16_t, (uint8_t)a[l])      \
    OP1(ext_s8_##n, int##n##_t, uint16_t, SIGNED_8(a[l]))
EXTEND_8(16)
EXTEND_8(32)
EXTEND_8(64)
OP1(ext_u16_32, uint32_t, uint16_t, a[l])
OP1(ext_s16_32, int32_t, int16_t, a[l])
OP1(ext_u16_64, uint64_t, uint16_t, a[l])
OP1(ext_s16_64, int64_t, int16_t, a[l])
OP1(ext_u32_64, uint64_t, uint32_t, a[l])
OP1(ext_s32_64, int64_t, int32_t, a[l])
OP1(trunc_32_16, uint16_t, uint32_t, (uint16_t)a[l])
OP1(trunc_64_16, uint16_t, uint64_t, (uint16_t)a[l])
OP1(trunc_64_32, uint32_t, uint64_t, (uint32_t)a[l])

/* --- parameter words of calls --- */
#define LOAD_WORD(name, td, t)                                 \
    OP( ldp_##name )                                           \
    {                                                          \
        const uint32_t *word = PTXI_SLOT(w, i->b);             \
        td *d = PTXI_SLOT(w, i->d);                            \
        unsigned shift = (unsigned)i->imm * 8;                 \
                                                               \
        assert(shift + 8 * sizeof(t) <= 32);                   \
        WRITE_LANES(d, (td)(t)(word[l] >> shift));             \
        NEXT;                                                  \
    }
LOAD_WORD(u8_16, uint16_t, uint8_t)
LOAD_WORD(s8_16, int16_t, int8_t)
LOAD_WORD(16, uint16_t, uint16_t)
LOAD_WORD(32, uint32_t, uint32_t)

OP( ldp_64 )
{
    const uint32_t *low = PTXI_SLOT(w, i->b), *high = PTXI_SLOT(w, i->b + 2);
    uint64_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, low[l] | (uint64_t)high[l] << 32);
    NEXT;
}

#define STORE_WORD(name, t, mask)                                                     \
    OP( stp_##name )                                                                  \
    {                                                                                 \
        const t *a = PTXI_SLOT(w, i->a);                                              \
        uint32_t *word = PTXI_SLOT(w, i->b);                                          \
        unsigned shift = (unsigned)i->imm * 8;                                        \
        uint32_t keep = ~((uint32_t)(mask) << shift);                                 \
                                                                                      \
        assert((uint64_t)(mask) << shift <= UINT32_MAX);                              \
        WRITE_LANES(word, (word[l] & keep) | ((uint32_t)a[l] << shift & ~keep));      \
        NEXT;                                                                         \
    }
STORE_WORD(8, uint16_t, 0xff)
STORE_WORD(16, uint16_t, 0xffff)
STORE_WORD(32, uint32_t, 0xffffffff)

OP( stp_64 )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint32_t *low = PTXI_SLOT(w, i->b), *high = PTXI_SLOT(w, i->b + 2);

    WRITE_LANES(low, (uint32_t)a[l]);
    WRITE_LANES(high, (uint32_t)(a[l] >> 32));
    NEXT;
}
