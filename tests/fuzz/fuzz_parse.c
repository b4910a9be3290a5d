/* Fuzz target for lexer, parser and semantic checks. With -fsanitize=fuzzer this is a libFuzzer target. Otherwise
 * main() replays the given files, with mutations and with every tenth allocation failing. */
#include "mutate.h"
#include "parse/ast.h"
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns whether an allocation failed. */
static bool parse(const char *text, size_t size, unsigned long failing)
{
    struct countdown c = { failing };
    struct ptxi_alloc alloc = countdown_alloc(&c);
    struct ptxi_parse_options options = { .file = "fuzz.ptx" };
    struct ptxi_module_ast *m;
    struct ptxi_arena arena;
    struct ptxi_diag diags;
    struct ptxi_str out;

    ptxi_arena_init(&arena, &alloc);
    ptxi_diag_init(&diags, &arena);
    m = ptxi_parse(text, size, &options, &arena, &diags);
    if (m ? diags.errors > 0 : !diags.errors && !arena.oom && !failing)
        abort(); /* tree and errors, or neither */
    ptxi_str_init(&out, NULL);
    ptxi_diag_render(&diags, text, size, options.file, &out);
    ptxi_str_free(&out);
    ptxi_arena_free(&arena);
    return failing && !c.left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef FUZZER
    if (tedious(data, size))
        return 0;
#endif
    /* exactly `size` bytes, so that sanitizers detect reads past the end */
    char *text = malloc(size ? size : 1);

    if (!text)
        return 0;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)data[i];
    parse(text, size, 0);
    free(text);
    return 0;
}

#ifndef FUZZER
enum { MUTANTS = 40 };

static int replay(const char *name)
{
    static uint8_t data[1 << 24];
    size_t n;

    if (!read_input(name, data, sizeof data, &n))
        return 1;
    LLVMFuzzerTestOneInput(data, n);
    mutants(data, n, MUTANTS);
    for (unsigned long k = 1; parse((const char *)data, n, k); k += 1 + k / 10)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;

    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i]);
    printf("%d files\n", argc - 1);
    return failed;
}
#endif
