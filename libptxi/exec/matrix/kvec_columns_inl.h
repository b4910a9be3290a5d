/* A template: places the stored elements of A at their columns. Include it with
 *
 *   NAME   the function
 *
 *   FROM   the type of an element in a K vector
 *
 *   TO     the type of an element of the result, as wide or wider
 *
 * The result is transposed, a[column][row]. If A is sparse, `column` says to which columns its stored elements
 * belong, and the others are zero. */
static inline void NAME(const struct operand_format *f, unsigned char (*kvec)[KVEC_BYTES],
                        uint8_t (*column)[KVEC_MAX_K], TO (*a)[MMA_ROWS])
{
    if (f->sparse)
        memset(a, 0, f->k * sizeof *a);
    for (unsigned m = 0; m < MMA_ROWS; m++) {
        FROM stored[KVEC_BYTES / sizeof(FROM)];

        memcpy(stored, kvec[m], sizeof stored);
        for (unsigned k = 0; k < stored_k(f); k++)
            a[f->sparse ? column[m][k] : k][m] = stored[k];
    }
}
#undef NAME
#undef FROM
#undef TO
