#include "dump_native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/inspect/inspect.h"

static void print_titles(const struct ptxi_native_info *info, unsigned *next, unsigned long at)
{
    while (*next < info->pieces && info->at[*next] <= at)
        puts(info->title[(*next)++]);
}

static void print_bytes(const struct ptxi_native_info *info)
{
    unsigned next = 0;

    for (size_t at = info->begin; at < info->size; at++) {
        print_titles(info, &next, at);
        printf("%s%02x%s", at == info->at[next - 1] ? "          " : " ", info->bytes[at],
               at + 1 == info->size || (next < info->pieces && at + 1 == info->at[next]) ? "\n" : "");
    }
}

/* The lines of objdump begin with an offset and a colon. False: it printed nothing. */
static bool print_lines(const struct ptxi_native_info *info, FILE *lines)
{
    unsigned next = 0;
    char line[400];
    bool any = false;

    while (fgets(line, sizeof line, lines)) {
        char *end;
        unsigned long at = strtoul(line, &end, 16);

        if (end == line || *end != ':')
            continue;
        print_titles(info, &next, at);
        printf("          %s", line);
        any = true;
    }
    return any;
}

static bool disassemble(const struct ptxi_native_info *info, const char *path)
{
    char command[300];
    FILE *lines;
    bool done;

    snprintf(command, sizeof command,
             "objdump -D -w --no-show-raw-insn -b binary -m i386:x86-64 -M intel --start-address=%zu %s 2>/dev/null",
             info->begin, path);
    fflush(stdout);
    lines = popen(command, "r");
    if (!lines)
        return false;
    done = print_lines(info, lines);
    pclose(lines);
    return done;
}

static void show(void *ctx, const struct ptxi_native_info *info)
{
    char path[] = "/tmp/ptxi-native-XXXXXX";
    int file = mkstemp(path);
    bool done = false;

    (void)ctx;
    printf("%s: %zu bytes of machine code, and %zu of constants\n", info->name, info->size - info->begin, info->begin);
    if (file >= 0) {
        done = write(file, info->bytes, info->size) == (ssize_t)info->size && disassemble(info, path);
        close(file);
        unlink(path);
    }
    if (!done)
        print_bytes(info);
}

ptxiResult ptxi_cmd_dump_native(ptxiModule m, const char *function)
{
    return ptxi_inspect_native(m, function, show, NULL);
}
