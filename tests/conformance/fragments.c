/* Cases of ldmatrix, stmatrix and movmatrix for 16-bit elements. Each thread of a block has a 16-byte cell in shared
 * memory, which is a row of a matrix. A thread passes the address of another thread's cell. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/fragments.h"

#include <string.h>

enum { INPUTS = 2, SPACES = 2 };

static const char *const texts[] = {
    "ldmatrix.sync.aligned.m8n8.x1", "ldmatrix.sync.aligned.m8n8.x2", "ldmatrix.sync.aligned.m8n8.x4",
    "ldmatrix.sync.aligned.m8n8.x1.trans", "ldmatrix.sync.aligned.m8n8.x2.trans", "ldmatrix.sync.aligned.m8n8.x4.trans",
    "stmatrix.sync.aligned.m8n8.x1", "stmatrix.sync.aligned.m8n8.x2", "stmatrix.sync.aligned.m8n8.x4",
    "stmatrix.sync.aligned.m8n8.x1.trans", "stmatrix.sync.aligned.m8n8.x2.trans", "stmatrix.sync.aligned.m8n8.x4.trans",
    "movmatrix.sync.aligned.m8n8.trans",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void put_registers(FILE *out, const char *text)
{
    fputs(strstr(text, "x4") ? "{%r0, %r1, %r2, %r3}" : strstr(text, "x2") ? "{%r0, %r1}" : "{%r0}", out);
}

static void put_body(FILE *out, const char *text, bool generic)
{
    const char *space = generic ? "" : ".shared";

    fputs("    mov.b64 {%r0, %r1}, %d0;\n    mov.b64 {%r2, %r3}, %d1;\n    st.shared.v2.b64 [%shared], {%d1, %d0};\n   "
          " bar.sync 0;\n"
          "    mad.lo.u32 %r4, %thread, 5, 3;\n    and.b32 %r4, %r4, 127;\n    mov.u64 %d2, cells;\n    mad.wide.u32 "
          "%d2, %r4, 16, %d2;\n",
          out);
    if (generic)
        fputs("    cvta.shared.u64 %d2, %d2;\n", out);
    if (text[0] == 'm') {
        fprintf(out, "    %s.b16 %%r0, %%r0;\n", text);
    } else if (text[0] == 'l') {
        fprintf(out, "    %s%s.b16 ", text, space);
        put_registers(out, text);
        fputs(", [%d2];\n", out);
    } else {
        fprintf(out, "    %s%s.b16 [%%d2], ", text, space);
        put_registers(out, text);
        fputs(";\n    bar.sync 0;\n    ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%shared];\n", out);
    }
}

bool fragment_build(struct conformance_case *c, unsigned number)
{
    const char *text = texts[number % TEXTS];
    bool generic = number / TEXTS;
    size_t size;
    FILE *out;

    if (number >= TEXTS * SPACES)
        return false;
    memset(c, 0, sizeof *c);
    out = open_memstream(&c->body, &size);
    put_body(out, text, generic);
    fclose(out);
    out = open_memstream(&c->name, &size);
    fprintf(out, "%s%s.b16", text, generic || text[0] == 'm' ? "" : ".shared");
    fclose(out);
    c->shared_cell = true;
    c->inputs = INPUTS;
    for (unsigned i = 0; i < INPUTS; i++) {
        c->input[i] =
            (struct column){ .class = VALUE_INT, .bits = 64, .lanes = 1, .width = 64, .position = (uint8_t)i };
        c->input_register[i] = (uint8_t)i;
    }
    c->registers[REG_64] = 3;
    c->registers[REG_32] = 5;
    c->outputs = 4;
    for (unsigned i = 0; i < c->outputs; i++)
        c->output_register[i] = (uint8_t)i;
    c->rows = COLUMN_CROSSED;
    c->fine = COLUMN_CROSSED;
    c->key = column_hash(0, c->body, strlen(c->body));
    return true;
}
