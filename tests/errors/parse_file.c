/* Parses and checks PTX files, and prints the messages that a loader would print.
 *
 *   parse_file [-t] file.ptx ...     -t: print the processor time and the memory, best of five runs
 *
 * The exit status is 0 if all files are valid. */
#include "parse/ast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *read_file(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    char *text = NULL;
    size_t cap = 0, n = 0;

    if (!f)
        return NULL;
    do {
        char *bigger = cap - n < 4096 ? realloc(text, cap = cap * 2 + 65536) : text;

        if (!bigger)
            break;
        text = bigger;
        n += fread(text + n, 1, cap - n, f);
    } while (!feof(f) && !ferror(f));
    fclose(f);
    *size = n;
    return text;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned long count_lines(const char *text, size_t size)
{
    unsigned long n = 0;

    for (size_t i = 0; i < size; i++)
        n += text[i] == '\n';
    return n;
}

static void print_time(const char *name, const char *text, size_t size)
{
    struct ptxi_parse_options options = { .file = name };
    unsigned long lines = count_lines(text, size), insts = 0;
    size_t memory = 0;
    double best = 1e9;

    for (int i = 0; i < 5; i++) {
        struct ptxi_arena arena;
        struct ptxi_diag diags;
        double start = now();
        struct ptxi_module_ast *m;

        ptxi_arena_init(&arena, NULL);
        ptxi_diag_init(&diags, &arena);
        m = ptxi_parse(text, size, &options, &arena, &diags);
        start = now() - start;
        best = start < best ? start : best;
        memory = arena.total;
        insts = 0;
        for (uint32_t f = 0; m && f < m->func_count; f++)
            insts += m->funcs[f]->inst_count;
        ptxi_arena_free(&arena);
    }
    printf("%s: %lu lines, %lu instructions, %.3f ms, %.2f M lines/s, %.1f MB/s, %zu KB, %.0f bytes an instruction\n",
           name, lines, insts, best * 1e3,
           (double)lines / best / 1e6, (double)size / best / 1e6, memory >> 10, insts ? (double)memory / (double)insts
           : 0.0);
}

static bool check(const char *name, const char *text, size_t size)
{
    const char *slash = strrchr(name, '/'), *shown = slash ? slash + 1 : name;
    struct ptxi_parse_options options = { .file = shown };
    struct ptxi_module_ast *m;
    struct ptxi_arena arena;
    struct ptxi_diag diags;
    struct ptxi_str out;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    ptxi_str_init(&out, NULL);
    m = ptxi_parse(text, size, &options, &arena, &diags);
    ptxi_diag_render(&diags, text, size, shown, &out);
    fputs(ptxi_str_text(&out), stderr);
    ptxi_str_free(&out);
    ptxi_arena_free(&arena);
    return m != NULL;
}

int main(int argc, char **argv)
{
    bool timed = argc > 1 && !strcmp(argv[1], "-t"), ok = true;

    for (int i = 1 + timed; i < argc; i++) {
        size_t size = 0;
        char *text = read_file(argv[i], &size);

        if (!text) {
            perror(argv[i]);
            return 2;
        }
        if (timed)
            print_time(argv[i], text, size);
        else
            ok &= check(argv[i], text, size);
        free(text);
    }
    return !ok;
}
