/* Reports as compute-sanitizer writes them, in lines for readers and in XML (format_xml.c has the rest of XML). The
 * shapes of lines and the tags are those of its version 2026.4. What it does not know has other words in the same
 * places, and in XML an element <ptxi>. */
#include "api/check/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- words of both formats */

static const char *direction(enum ptxi_access access)
{
    static const char *const words[] = { [PTXI_AK_NONE] = "read", [PTXI_AK_LOAD] = "read", [PTXI_AK_STORE] = "write",
                                         [PTXI_AK_ATOMIC] = "atomic" };

    return words[access];
}

/* The same as the first word of a line. */
static const char *direction_title(enum ptxi_access access)
{
    static const char *const words[] = { [PTXI_AK_NONE] = "Read", [PTXI_AK_LOAD] = "Read", [PTXI_AK_STORE] = "Write",
                                         [PTXI_AK_ATOMIC] = "Atomic" };

    return words[access];
}

static const char *space_of(const struct ptxi_finding *x)
{
    return x->space == PTXI_FINDING_NO_SPACE ? "global" : ptxi_report_space_name(x->space);
}

/* What is wrong with an access. */
static const char *access_error(const struct ptxi_finding *x)
{
    switch (x->kind) {
    case PTXI_FINDING_MISALIGNED: return "misaligned";
    case PTXI_FINDING_READ_ONLY: return "read-only";
    case PTXI_FINDING_PEER: return "not accessible from this device";
    default: return "out of bounds";
    }
}

static const char *barrier_error(const struct ptxi_finding *x)
{
    switch (x->kind) {
    case PTXI_FINDING_DIVERGED: return "Divergent thread(s) in warp";
    case PTXI_FINDING_MASK: return "Invalid arguments";
    default: return ptxi_finding_kinds[x->kind].text;
    }
}

static bool is_leak(const struct ptxi_finding *x)
{
    return x->kind == PTXI_FINDING_HOST_LEAK || x->kind == PTXI_FINDING_KERNEL_LEAK;
}

static bool is_race(const struct ptxi_finding *x)
{
    return ptxi_finding_kinds[x->kind].tool == PTXI_TOOL_RACE;
}

static bool is_access(const struct ptxi_finding *x)
{
    return ptxi_finding_kinds[x->kind].tool == PTXI_TOOL_MEMORY && x->site_count && x->size;
}

static void put_failed_call(const struct ptxi_finding *x, struct ptxi_str *out)
{
    const struct ptxi_finding_error *e = &x->error;

    if (e->name)
        ptxi_str_printf(out, "Program hit %s (error %d)", e->name, e->number);
    else
        ptxi_str_printf(out, "Program hit error %d", e->number);
    if (e->text)
        ptxi_str_printf(out, " due to \"%s\"", e->text);
    ptxi_str_printf(out, " on CUDA API call to %s.", ptxi_report_called(x));
}

/* The headline of a record of XML, and of lines but for races and barriers. */
static void put_text(const struct ptxi_finding *x, struct ptxi_str *out)
{
    if (ptxi_report_is_call(x))
        put_failed_call(x, out);
    else if (is_leak(x))
        ptxi_str_printf(out, "Leaked %" PRIu64 " bytes", x->object_size);
    else if (is_access(x))
        ptxi_str_printf(out, "Invalid __%s__ %s of size %u bytes", space_of(x), direction(x->sites[0].access), x->size);
    else if (ptxi_finding_kinds[x->kind].tool == PTXI_TOOL_INIT)
        ptxi_str_printf(out, "Uninitialized value: %s", ptxi_finding_kinds[x->kind].text);
    else
        ptxi_str_printf(out, "Error: %s", ptxi_finding_kinds[x->kind].text);
}

/* The name of a function with its parameters: "f(int *)". */
static void put_signature(const char *name, struct ptxi_str *out)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_report_put_function(name, &s);
    const char *text = ptxi_str_text(&s);

    for (size_t k = 0; text[k]; k++) {
        if (text[k] == '*' && k && !strchr(" *(", text[k - 1]))
            ptxi_str_putc(out, ' ');
        ptxi_str_putc(out, text[k]);
    }
    ptxi_str_free(&s);
}

/* ---- lines */

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static void put_place(const struct ptxi_found_site *s, struct ptxi_str *out)
{
    unsigned line;
    const char *file = ptxi_report_file(s, &line);

    if (s->site.what) {
        ptxi_str_printf(out, "by %s", s->site.what);
        return;
    }
    ptxi_str_puts(out, "at ");
    put_signature(s->function ? s->function : "<unknown>", out);
    ptxi_str_printf(out, "+0x%x", 16 * s->site.at);
    if (file)
        ptxi_str_printf(out, " in %s:%u", base_name(file), line);
}

static void put_host_frame(const struct ptxi_finding *x, struct ptxi_str *out, unsigned number, const char *call)
{
    if (!number)
        ptxi_str_printf(out, "=========     Saved host backtrace up to driver entry point at %s\n",
                        ptxi_report_is_call(x) ? "error" : "allocation time");
    ptxi_str_printf(out, "=========         Host Frame: %s\n", call);
}

static void put_race(const struct ptxi_found *f, struct ptxi_str *out)
{
    const struct ptxi_finding *x = &f->finding;

    ptxi_str_printf(out, "========= %s: Race reported between %s access ",
                    x->severity == PTXI_FINDING_ERROR ? "Error" : "Warning", direction_title(x->sites[1].access));
    put_place(&f->sites[1], out);
    ptxi_str_printf(out, "\n=========     and %s access ", direction_title(x->sites[0].access));
    put_place(&f->sites[0], out);
    ptxi_str_printf(out, " [%" PRIu64 " hazard%s]\n", f->count, f->count == 1 ? "" : "s");
    ptxi_report_each_call(x, out, put_host_frame);
    ptxi_str_puts(out, "========= \n");
}

static void put_nearest(const struct ptxi_finding *x, struct ptxi_str *out)
{
    uint64_t end = x->object + x->object_size;

    ptxi_str_puts(out, "=========     and is ");
    if (x->address < x->object)
        ptxi_str_printf(out, "%" PRIu64 " bytes before", x->object - x->address);
    else if (x->address >= end)
        ptxi_str_printf(out, "%" PRIu64 " bytes after", x->address - end + 1);
    else
        ptxi_str_puts(out, "inside");
    ptxi_str_printf(out, " the nearest %s at 0x%" PRIx64 " of size %" PRIu64 " bytes\n",
                    x->object_freed ? "freed allocation" : "allocation", x->object, x->object_size);
}

static void put_address(const struct ptxi_finding *x, struct ptxi_str *out)
{
    if (is_access(x))
        ptxi_str_printf(out, "=========     Access to 0x%" PRIx64 " is %s\n", x->address, access_error(x));
    else if (x->size)
        ptxi_str_printf(out, "=========     Address 0x%" PRIx64 "\n", x->address);
    if (x->object_size && x->space == PTXI_FINDING_GLOBAL)
        put_nearest(x, out);
}

void ptxi_format_compat(const struct ptxi_found *f, struct ptxi_str *out)
{
    const struct ptxi_finding *x = &f->finding;
    const struct ptxi_finding_site *s = &x->sites[0];

    if (x->severity == PTXI_FINDING_BENIGN)
        return;
    if (is_race(x)) {
        put_race(f, out);
        return;
    }
    ptxi_str_puts(out, "========= ");
    if (ptxi_finding_kinds[x->kind].tool == PTXI_TOOL_SYNC)
        ptxi_str_printf(out, "Barrier error detected. %s.", barrier_error(x));
    else
        put_text(x, out);
    if (is_leak(x))
        ptxi_str_printf(out, " at 0x%" PRIx64, x->object);
    ptxi_str_putc(out, '\n');
    if (x->site_count && !ptxi_report_is_call(x)) {
        ptxi_str_puts(out, "=========     ");
        put_place(&f->sites[0], out);
        ptxi_str_printf(out, "\n=========     by thread (%u,%u,%u) in block (%u,%u,%u)\n", s->tid[0], s->tid[1],
                        s->tid[2], s->ctaid[0], s->ctaid[1], s->ctaid[2]);
    }
    put_address(x, out);
    ptxi_report_each_call(x, out, put_host_frame);
    ptxi_str_puts(out, "========= \n");
}

void ptxi_format_compat_begin(struct ptxi_str *out)
{
    ptxi_str_puts(out, "========= COMPUTE-SANITIZER\n");
}

struct leaks { uint64_t bytes, count; };

static void add_leak(struct ptxi_str *out, const struct ptxi_found *f, void *user)
{
    struct leaks *l = user;

    (void)out;
    l->count += is_leak(&f->finding);
    l->bytes += is_leak(&f->finding) ? f->finding.object_size : 0;
}

static void put_number(struct ptxi_str *out, uint64_t n, const char *what)
{
    ptxi_str_printf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void put_race_summary(uint64_t errors, uint64_t warnings, struct ptxi_str *out)
{
    ptxi_str_puts(out, "========= RACECHECK SUMMARY: ");
    put_number(out, errors + warnings, "hazard");
    ptxi_str_puts(out, " displayed (");
    put_number(out, errors, "error");
    ptxi_str_puts(out, ", ");
    put_number(out, warnings, "warning");
    ptxi_str_puts(out, ")\n");
}

void ptxi_format_compat_summary(const struct ptxi_report_input *in, const struct ptxi_check_totals *t,
                                struct ptxi_str *out)
{
    const uint64_t *races = t->found[PTXI_TOOL_RACE];
    struct leaks leaks = { 0 };

    ptxi_report_for_each(in, out, add_leak, &leaks);
    if (leaks.count) {
        ptxi_str_printf(out, "========= LEAK SUMMARY: %" PRIu64 " bytes leaked in ", leaks.bytes);
        put_number(out, leaks.count, "allocation");
        ptxi_str_putc(out, '\n');
    }
    if (in->tools >> PTXI_TOOL_RACE & 1 || races[PTXI_FINDING_ERROR] + races[PTXI_FINDING_WARNING])
        put_race_summary(races[PTXI_FINDING_ERROR], races[PTXI_FINDING_WARNING], out);
    if (in->tools == 1u << PTXI_TOOL_RACE)
        return;
    ptxi_str_puts(out, "========= ERROR SUMMARY: ");
    put_number(out, ptxi_report_problems(t), "error");
    ptxi_str_putc(out, '\n');
}

/* ---- XML */

static void open_tag(struct ptxi_str *out, unsigned depth, const char *tag)
{
    ptxi_str_printf(out, "%*s<%s>\n", 2 * (int)depth, "", tag);
}

static void close_tag(struct ptxi_str *out, unsigned depth, const char *tag)
{
    ptxi_str_printf(out, "%*s</%s>\n", 2 * (int)depth, "", tag);
}

static void put_element(struct ptxi_str *out, unsigned depth, const char *tag, const char *text)
{
    ptxi_str_printf(out, "%*s<%s>", 2 * (int)depth, "", tag);
    ptxi_xml_put_escaped(text, out);
    ptxi_str_printf(out, "</%s>\n", tag);
}

static void put_number_element(struct ptxi_str *out, unsigned depth, const char *tag, uint64_t n)
{
    ptxi_str_printf(out, "%*s<%s>%" PRIu64 "</%s>\n", 2 * (int)depth, "", tag, n, tag);
}

static void put_hex_element(struct ptxi_str *out, unsigned depth, const char *tag, uint64_t n)
{
    ptxi_str_printf(out, "%*s<%s>0x%" PRIx64 "</%s>\n", 2 * (int)depth, "", tag, n, tag);
}

static void put_index(struct ptxi_str *out, unsigned depth, const char *tag, const uint32_t v[3])
{
    static const char *const names[] = { "x", "y", "z" };

    open_tag(out, depth, tag);
    for (unsigned k = 0; k < 3; k++)
        put_number_element(out, depth + 1, names[k], v[k]);
    close_tag(out, depth, tag);
}

static void put_who(struct ptxi_str *out, const struct ptxi_finding_site *s)
{
    open_tag(out, 2, "who");
    put_index(out, 3, "threadIdx", s->tid);
    put_index(out, 3, "blockIdx", s->ctaid);
    close_tag(out, 2, "who");
}

/* The name of a function without its parameters. */
static void put_function(struct ptxi_str *out, unsigned depth, const char *name)
{
    struct ptxi_str s;
    unsigned open = 0;

    ptxi_str_init(&s, NULL);
    ptxi_report_put_function(name, &s);
    char *text = strdup(ptxi_str_text(&s));
    size_t n = text ? strlen(text) : 0;

    while (n && (open || text[n - 1] == ')')) {
        n--;
        if (text[n] == ')')
            open++;
        else if (text[n] == '(' && !--open)
            break;
    }
    if (n)
        text[n] = 0;
    put_element(out, depth, "func", n ? text : name);
    free(text);
    ptxi_str_free(&s);
}

static void put_where(struct ptxi_str *out, unsigned depth, const struct ptxi_found_site *s)
{
    unsigned line;
    const char *file = ptxi_report_file(s, &line);

    open_tag(out, depth, "where");
    put_function(out, depth + 1, s->function ? s->function : "<unknown>");
    if (file) {
        put_element(out, depth + 1, "path", file);
        put_number_element(out, depth + 1, "line", line);
    }
    put_hex_element(out, depth + 1, "pc", UINT64_C(16) * s->site.at);
    close_tag(out, depth, "where");
}

static void put_race_what(struct ptxi_str *out, const struct ptxi_found *f)
{
    open_tag(out, 2, "what");
    put_element(out, 3, "text", "Race condition");
    open_tag(out, 3, "source");
    put_element(out, 4, "direction", direction_title(f->finding.sites[1].access));
    put_where(out, 4, &f->sites[1]);
    close_tag(out, 3, "source");
    open_tag(out, 3, "destination");
    put_element(out, 4, "direction", direction_title(f->finding.sites[0].access));
    put_where(out, 4, &f->sites[0]);
    put_number_element(out, 4, "count", f->count);
    close_tag(out, 3, "destination");
    close_tag(out, 2, "what");
}

static void put_error(struct ptxi_str *out, const struct ptxi_finding *x)
{
    put_element(out, 3, "api", ptxi_report_called(x));
    if (x->error.name)
        put_element(out, 3, "error", x->error.name);
    if (x->error.text)
        put_element(out, 3, "message", x->error.text);
    ptxi_str_printf(out, "      <result>%d</result>\n", x->error.number);
}

static void put_what(struct ptxi_str *out, const struct ptxi_finding *x)
{
    struct ptxi_str text;
    bool sync = ptxi_finding_kinds[x->kind].tool == PTXI_TOOL_SYNC;

    ptxi_str_init(&text, NULL);
    put_text(x, &text);
    if (is_access(x))
        ptxi_str_printf(&text, " is %s", access_error(x));
    open_tag(out, 2, "what");
    put_element(out, 3, "text", sync ? "Barrier error" : ptxi_str_text(&text));
    ptxi_str_free(&text);
    if (sync)
        put_element(out, 3, "type", barrier_error(x));
    if (is_access(x)) {
        ptxi_str_printf(out, "      <space>__%s__</space>\n", space_of(x));
        put_number_element(out, 3, "size", x->size);
        put_element(out, 3, "direction", direction(x->sites[0].access));
        put_element(out, 3, "error", access_error(x));
        put_hex_element(out, 3, "address", x->address);
    } else if (x->size || is_leak(x)) {
        put_hex_element(out, 3, "address", x->address);
        put_number_element(out, 3, "size", is_leak(x) ? x->object_size : x->size);
    }
    if (is_leak(x))
        put_element(out, 3, "type", "generic");
    if (ptxi_report_is_call(x))
        put_error(out, x);
    close_tag(out, 2, "what");
}

static const char *record_kind(const struct ptxi_finding *x)
{
    static const char *const kinds[] = { [PTXI_TOOL_MEMORY] = "Precise", [PTXI_TOOL_RACE] = "Analysis",
                                         [PTXI_TOOL_INIT] = "Initcheck", [PTXI_TOOL_SYNC] = "Synccheck",
                                         [PTXI_TOOL_API] = "Api" };

    return is_leak(x) ? "Leak" : kinds[ptxi_finding_kinds[x->kind].tool];
}

static void put_call(const struct ptxi_finding *x, struct ptxi_str *out, unsigned number, const char *call)
{
    ptxi_str_puts(out, number ? "" : ">\n");
    put_element(out, 3, ptxi_report_is_call(x) ? "calledBy" : "allocatedBy", call);
}

/* The rest of an element: the calls, if they are known. */
static void put_calls(struct ptxi_str *out, const struct ptxi_finding *x)
{
    size_t before = out->len;

    ptxi_report_each_call(x, out, put_call);
    if (out->len > before)
        close_tag(out, 2, "ptxi");
    else
        ptxi_str_puts(out, "/>\n");
}

static void put_record(struct ptxi_str *out, const struct ptxi_found *f, void *unused)
{
    const struct ptxi_finding *x = &f->finding;
    const struct ptxi_finding_kind_info *kind = &ptxi_finding_kinds[x->kind];
    bool has_level = (kind->tool == PTXI_TOOL_MEMORY && !is_leak(x)) || is_race(x);
    bool has_thread = x->site_count && !is_race(x) && !ptxi_report_is_call(x);

    (void)unused;
    if (x->severity == PTXI_FINDING_BENIGN)
        return;
    open_tag(out, 1, "record");
    put_element(out, 2, "kind", record_kind(x));
    if (has_level)
        put_element(out, 2, "level", x->severity == PTXI_FINDING_ERROR ? "Error" : "Warning");
    if (has_thread)
        put_who(out, &x->sites[0]);
    if (is_race(x))
        put_race_what(out, f);
    else
        put_what(out, x);
    if (has_thread)
        put_where(out, 2, &f->sites[0]);
    ptxi_str_printf(out, "    <ptxi kind=\"%s.%s\" launch=\"%" PRIu64 "\" count=\"%" PRIu64 "\"",
                    ptxi_tool_names[kind->tool], kind->rule, f->launch, f->count);
    put_calls(out, x);
    close_tag(out, 1, "record");
}

void ptxi_format_xml(const struct ptxi_report_input *in, struct ptxi_str *out)
{
    struct ptxi_check_totals t;

    ptxi_report_totals(in, &t);
    ptxi_str_puts(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ComputeSanitizerOutput>\n");
    ptxi_report_for_each(in, out, put_record, NULL);
    ptxi_str_printf(out, "  <ptxi launches=\"%" PRIu64 "\" accesses=\"%" PRIu64 "\" unchecked=\"%" PRIu64
                    "\" errors=\"%" PRIu64 "\"/>\n</ComputeSanitizerOutput>\n", t.launches, t.accesses, t.unchecked,
                    ptxi_report_problems(&t));
}
