/* ptxi extract: the PTX texts in executables, shared libraries, objects, archives and fat binaries. */
#include "load.h"

#include "api/inspect/inspect.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct extract {
    const char *directory; /* NULL: the current one */
    const char *target;    /* NULL: all */
    bool list;
};

/* ---- the table */

enum { MOST_KERNELS = 4 }; /* names in a line of the table */

struct kernels {
    char *names;
    size_t size;
    FILE *out;
    unsigned count;
};

static void add_kernel(void *ctx, const char *name)
{
    struct kernels *k = ctx;

    if (k->count++ < MOST_KERNELS)
        fprintf(k->out, " %s", name);
}

/* "2: f g", "9: f g h i ...", or "-" if the kernels cannot be listed. */
static void print_kernels(const struct ptxi_binary_entry *e)
{
    struct kernels k = { .names = NULL };

    k.out = open_memstream(&k.names, &k.size);
    if (!k.out)
        return;
    bool ok = ptxi_inspect_kernels(e, add_kernel, &k);

    fclose(k.out);
    if (!ok)
        putchar('-');
    else if (!k.count)
        putchar('0');
    else
        printf("%u:%s%s", k.count, k.names, k.count > MOST_KERNELS ? " ..." : "");
    free(k.names);
}

static void print_entry(const struct ptxi_binary_entry *e)
{
    printf("%6u  %-7s  %-8s  %-11s  %10zu  ", e->number, e->kind, e->target, e->compression, e->size);
    print_kernels(e);
    if (e->member)
        printf("  (%s)", e->member);
    putchar('\n');
}

static void print_heading(const char *name)
{
    printf("%s:\n%6s  %-7s  %-8s  %-11s  %10s  %s\n", name, "number", "kind", "target", "compression", "bytes",
           "kernels");
}

/* ---- files */

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    if (!strcmp(file, "-"))
        return "stdin";
    return slash ? slash + 1 : file;
}

static bool write_file(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(text, 1, size, f) == size;

    if (f && fclose(f))
        ok = false;
    if (ok)
        puts(path);
    else
        ptxi_cmd_error("%s: %s", path, strerror(errno));
    return ok;
}

static bool extract_entry(const struct extract *x, const struct ptxi_binary_entry *e, const char *file)
{
    char *text = NULL, *path = NULL;
    size_t size;
    const char *message = ptxi_inspect_extract(e, &text, &size);
    bool ok = false;

    if (message)
        ptxi_cmd_error("%s: entry %u: %s", file, e->number, message);
    else if (asprintf(&path, "%s%s%s.%u.%s.ptx", x->directory ? x->directory : "", x->directory ? "/" : "",
                      base_name(file), e->number, e->target) < 0)
        ptxi_cmd_error("%s: %s", file, strerror(ENOMEM));
    else
        ok = write_file(path, text, size);
    free(path);
    free(text);
    return ok;
}

static bool is_wanted(const struct extract *x, const struct ptxi_binary_entry *e)
{
    return (x->list || e->is_ptx) && (!x->target || !strcmp(x->target, e->target));
}

static bool process_entries(const struct extract *x, const struct ptxi_binary *b, const char *file)
{
    unsigned used = 0;
    bool ok = true;

    if (x->list)
        print_heading(ptxi_cmd_file_name(file));
    for (unsigned i = 0; i < b->count; i++) {
        if (!is_wanted(x, &b->entries[i]))
            continue;
        used++;
        if (x->list)
            print_entry(&b->entries[i]);
        else
            ok &= extract_entry(x, &b->entries[i], file);
    }
    if (used)
        return ok;
    ptxi_cmd_error("%s: the file contains no %s%s%s%s", file, x->list ? "device code" : "PTX", x->target ? " for " : "",
                   x->target ? x->target : "", !x->list && b->count ? "; --list shows what it contains" : "");
    return false;
}

static bool process_data(const struct extract *x, const char *data, size_t size, const char *file)
{
    struct ptxi_binary b;

    if (!ptxi_inspect_is_binary(data, size)) {
        ptxi_cmd_error("%s: not an executable, shared library, object, archive or fat binary", file);
        return false;
    }
    const char *message = ptxi_inspect_open_binary(&b, data, size);

    if (message) {
        ptxi_cmd_error("%s: %s", file, message);
        return false;
    }
    bool ok = process_entries(x, &b, file);

    ptxi_inspect_close_binary(&b);
    return ok;
}

static bool process_file(const struct extract *x, const char *file)
{
    size_t size;
    char *data = ptxi_cmd_read(file, CMD_MOST_FILE, &size);
    bool ok = data && process_data(x, data, size, file);

    free(data);
    return ok;
}

static bool make_directory(const struct extract *x)
{
    if (x->list || !x->directory || !mkdir(x->directory, 0777) || errno == EEXIST)
        return true;
    ptxi_cmd_error("%s: %s", x->directory, strerror(errno));
    return false;
}

int ptxi_cmd_extract(int argc, char **argv)
{
    static const struct option options[] = {
        { "output", required_argument, NULL, 'o' }, { "list", no_argument, NULL, 'l' },
        { "arch", required_argument, NULL, 'a' }, { "help", no_argument, NULL, 'h' }, { 0 },
    };
    struct extract x = { .list = false };
    bool ok = true;

    for (int c; (c = getopt_long(argc, argv, "o:la:h", options, NULL)) != -1;) {
        switch (c) {
        case 'o': x.directory = optarg; break;
        case 'l': x.list = true; break;
        case 'a': x.target = optarg; break;
        case 'h': return CMD_SHOW_HELP;
        default: return ptxi_cmd_usage();
        }
    }
    if (!ptxi_cmd_has_files(argc))
        return CMD_USAGE;
    if (!make_directory(&x))
        return CMD_FAILED;
    for (int i = optind; i < argc; i++)
        ok &= process_file(&x, argv[i]);
    return ok ? CMD_OK : CMD_FAILED;
}
