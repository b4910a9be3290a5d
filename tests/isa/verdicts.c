/* Checks whether the front end accepts instructions, and compares with ptxas.
 *
 *   verdicts [-n] frame.ptx < lines
 *
 * A line is "90a 90 + add.f32 %r8, %r16, %r24;": target, PTX version * 10, verdict of ptxas and instruction. Verdicts
 * are + (accepted), - (rejected) and ? (not known). The instruction is inserted into frame.ptx. For "?" the program
 * prints "ok" or the error. For other verdicts it prints only differences, and exits with status 1 if there are any.
 *
 * With -n the lines are intended differences, and the program reports those that do not differ. A line
 * "module 0 + .version 8.0 .target ..." contains a whole module. Lines with # at the start are comments. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/ast.h"

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *s = NULL;
    long n;

    if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) || !(s = malloc(n + 1)) ||
        fread(s, 1, n, f) != (size_t)n) {
        fprintf(stderr, "verdicts: cannot read '%s'\n", path);
        exit(2);
    }
    s[n] = 0;
    fclose(f);
    return s;
}

struct question {
    char target[8], verdict;
    unsigned version;
    const char *instruction;
};

/* Writes the frame to `out`, with each @WORD replaced. */
static size_t fill_frame(const char *frame, const struct question *q, char *out, size_t size)
{
    bool store = strstr(q->instruction, "[f") != NULL;
    size_t n = 0;

    while (*frame && n + 8200 < size) {
        if (*frame != '@') {
            out[n++] = *frame++;
            continue;
        }
        frame++;
        if (!strncmp(frame, "VERSION", 7))
            n += (size_t)sprintf(out + n, "%u.%u", q->version / 10, q->version % 10);
        else if (!strncmp(frame, "TARGET", 6))
            n += (size_t)sprintf(out + n, "sm_%s", q->target);
        else if (!strncmp(frame, "B128", 4))
            n += (size_t)sprintf(out + n, "%s", q->version >= 83 && atoi(q->target) >= 70 ? ".reg .b128 %q<240>;" : "");
        else if (!strncmp(frame, store ? "FUNC" : "ENTRY", 4))
            n += (size_t)sprintf(out + n, "%.8000s", q->instruction);
        frame += strcspn(frame, " \n");
    }
    return n;
}

/* Returns NULL if the front end accepts the text, else the error, allocated in the arena. */
static const char *judge(const char *frame, const struct question *q, struct ptxi_arena *arena)
{
    static char room[1 << 16];
    struct ptxi_parse_options options = { .file = "frame.ptx" };
    struct ptxi_diag diags;
    bool module = !strcmp(q->target, "module");
    const char *text = module ? q->instruction : room;
    size_t size = module ? strlen(text) : fill_frame(frame, q, room, sizeof room);

    ptxi_diag_init(&diags, arena);
    if (ptxi_parse(text, size, &options, arena, &diags))
        return NULL;
    for (const struct ptxi_diag_entry *e = diags.first; e; e = e->next)
        if (e->severity == PTXI_DIAG_ERROR)
            return e->msg;
    return "out of memory";
}

int main(int argc, char **argv)
{
    char *line = NULL, *frame;
    size_t room = 0;
    unsigned asked = 0, different = 0;
    bool on_purpose = argc == 3 && !strcmp(argv[1], "-n");

    if (argc != 2 + on_purpose)
        return fprintf(stderr, "usage: verdicts [-n] frame.ptx < lines\n"), 2;
    frame = read_file(argv[1 + on_purpose]);
    while (getline(&line, &room, stdin) >= 0) {
        struct question q;
        struct ptxi_arena arena;
        const char *error;
        int at = 0;

        line[strcspn(line, "\n")] = 0;
        if (*line == '#' || !*line)
            continue;
        if (sscanf(line, "%7s %u %c %n", q.target, &q.version, &q.verdict, &at) != 3 || !at)
            return fprintf(stderr, "verdicts: malformed line: %s\n", line), 2;
        q.instruction = line + at;
        ptxi_arena_init(&arena, NULL);
        error = judge(frame, &q, &arena);
        asked++;
        if (q.verdict == '?') {
            printf("%s\n", error ? error : "ok");
        } else if (((q.verdict == '+') != !error) != on_purpose) {
            different++;
            printf("%s   -- %s\n", line, error ? error : "taken");
        }
        ptxi_arena_free(&arena);
    }
    free(line);
    free(frame);
    fprintf(stderr, "%u lines, %u judged %s ptxas\n", asked, different, on_purpose ? "as by" : "otherwise than by");
    return asked == 0 || different > 0;
}
