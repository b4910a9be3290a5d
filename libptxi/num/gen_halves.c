/* Run by the build: writes the results of the approximate instructions for all operands of 16 bits. */
#include "num/approx_tables.c"

#include <stdio.h>

#define TABLE_OF(name) { #name, ptxi_num_##name },
static const struct {
    const char *name;
    uint16_t (*result)(uint16_t);
} tables[] = { PTXI_NUM_HALVES(TABLE_OF) };

int main(void)
{
    puts("#include \"num/approx.h\"");
    for (unsigned t = 0; t < sizeof tables / sizeof *tables; t++) {
        printf("\nconst struct ptxi_num_halves ptxi_num_%s_of = { {", tables[t].name);
        for (unsigned a = 0; a < 0x10000; a++)
            printf("%s%u,", a % 32 ? "" : "\n", tables[t].result((uint16_t)a));
        puts("\n}, 0 };");
    }
    return ferror(stdout) || fflush(stdout);
}
