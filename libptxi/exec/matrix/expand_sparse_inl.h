/* A template: moves the stored elements of a sparse A to their columns. The other elements become zero, and
 * t->stored marks the stored ones. Include it with
 *
 *   NAME   the function
 *
 *   CODES  the type of *codes: struct codes_16 or struct codes_32
 *
 *   TYPE   the type of an element */
static void __attribute__((noinline))
NAME(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool parts, CODES *codes, struct ptxi_tile *t)
{
    TYPE stored[DEPTH / 2][M];
    uint8_t column[M][K];

    assert(x->k <= DEPTH);
    read_sparse_columns(w, x, first, column);
    memcpy(stored, codes->a, x->k / 2u * sizeof *stored);
    memset(codes->a, 0, x->k * sizeof *codes->a);
    memset(t->stored, 0, sizeof t->stored);
    for (unsigned k = 0; k < x->k / 2u; k++)
        for (unsigned m = 0; m < M; m++) {
            unsigned at = tile_position(x, parts, column[m][k]);

            codes->a[at][m] = stored[k][m];
            t->stored[at] |= (uint16_t)(1u << m);
        }
}
#undef NAME
#undef CODES
#undef TYPE
