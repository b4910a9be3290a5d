/* Reports for programs: JSON lines, and SARIF 2.1.0. */
#include "ptxi.h"

#include "api/check/formats.h"

#include <inttypes.h>
#include <string.h>

/* ---- JSON */

/* Bytes that are not UTF-8 become U+FFFD, so that the text is valid. Returns the length of the character. */
static unsigned utf8_length(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    unsigned n = 0;

    if (u[0] < 0x80)
        return 1;
    if (u[0] >= 0xc2 && u[0] <= 0xdf)
        n = 2;
    else if (u[0] >= 0xe0 && u[0] <= 0xef)
        n = 3;
    else if (u[0] >= 0xf0 && u[0] <= 0xf4)
        n = 4;
    for (unsigned k = 1; k < n; k++)
        if ((u[k] & 0xc0) != 0x80)
            return 0;
    if (n == 3 && ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f)))
        return 0;
    if (n == 4 && ((u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f)))
        return 0;
    return n;
}

static void put_string(const char *s, struct ptxi_str *out)
{
    ptxi_str_putc(out, '"');
    while (*s) {
        unsigned n = utf8_length(s);

        if (!n)
            ptxi_str_puts(out, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            ptxi_str_printf(out, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || *s == 0x7f)
            ptxi_str_printf(out, "\\u%04x", (unsigned)*s);
        else
            ptxi_str_put(out, s, n);
        s += n ? n : 1;
    }
    ptxi_str_putc(out, '"');
}

/* "key":"text", and a comma before it. Nothing if the text is NULL. */
static void put_member(const char *key, const char *text, struct ptxi_str *out)
{
    if (!text)
        return;
    ptxi_str_printf(out, ",\"%s\":", key);
    put_string(text, out);
}

static void put_demangled(const char *key, const char *name, struct ptxi_str *out)
{
    struct ptxi_str s;

    if (!name)
        return;
    ptxi_str_init(&s, NULL);
    ptxi_report_put_function(name, &s);
    put_member(key, ptxi_str_text(&s), out);
    ptxi_str_free(&s);
}

static void put_message(const struct ptxi_found *f, struct ptxi_str *out)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_report_message(f, &s);
    put_string(ptxi_str_text(&s), out);
    ptxi_str_free(&s);
}

/* Numbers of 64 bits are strings, because readers of JSON have doubles. */
static void put_site(const struct ptxi_found_site *s, struct ptxi_str *out)
{
    const struct ptxi_finding_site *x = &s->site;

    ptxi_str_printf(out, "{\"access\":\"%s\"", ptxi_report_access_name(x->access));
    ptxi_str_printf(out, ",\"block\":[%u,%u,%u],\"thread\":[%u,%u,%u],\"threads\":%u", x->ctaid[0], x->ctaid[1],
                    x->ctaid[2], x->tid[0], x->tid[1], x->tid[2], x->threads ? x->threads : 1);
    if (x->has_value)
        ptxi_str_printf(out, ",\"value\":\"0x%" PRIx64 "\"", x->value);
    put_demangled("function", s->function, out);
    put_member("ptx_file", s->ptx_file, out);
    if (s->ptx_line)
        ptxi_str_printf(out, ",\"ptx_line\":%u,\"ptx_column\":%u", s->ptx_line, s->ptx_column);
    put_member("ptx", s->ptx_text, out);
    if (s->source_file && s->source_line) {
        put_member("file", s->source_file, out);
        ptxi_str_printf(out, ",\"line\":%u", s->source_line);
    }
    ptxi_str_putc(out, '}');
}

static void put_calls(const struct ptxi_finding *x, struct ptxi_str *out)
{
    struct ptxi_str calls;

    ptxi_str_init(&calls, NULL);
    if (ptxi_report_calls(x, &calls))
        put_member(ptxi_report_is_call(x) ? "called_by" : "allocated_by", ptxi_str_text(&calls), out);
    ptxi_str_free(&calls);
}

static void put_failed_call(const struct ptxi_finding *x, struct ptxi_str *out)
{
    ptxi_str_printf(out, ",\"call\":{\"number\":%d", x->error.number);
    put_member("function", ptxi_report_called(x), out);
    put_member("error", x->error.name, out);
    put_member("text", x->error.text, out);
    ptxi_str_putc(out, '}');
}

void ptxi_format_json(const struct ptxi_found *f, struct ptxi_str *out)
{
    const struct ptxi_finding *x = &f->finding;
    const struct ptxi_finding_kind_info *kind = &ptxi_finding_kinds[x->kind];

    ptxi_str_printf(out, "{\"type\":\"finding\",\"tool\":\"%s\",\"kind\":\"%s\",\"severity\":\"%s\",\"count\":%" PRIu64,
                    ptxi_tool_names[kind->tool], kind->rule, ptxi_finding_severity_names[x->severity], f->count);
    ptxi_str_puts(out, ",\"message\":");
    put_message(f, out);
    put_demangled("kernel", f->kernel, out);
    if (f->launch)
        ptxi_str_printf(out, ",\"launch\":%" PRIu64, f->launch);
    if (x->space != PTXI_FINDING_NO_SPACE && x->space != PTXI_FINDING_REGISTER)
        ptxi_str_printf(out, ",\"space\":\"%s\",\"address\":\"0x%" PRIx64 "\"", ptxi_report_space_name(x->space),
                        x->address);
    if (x->size)
        ptxi_str_printf(out, ",\"bytes\":%u", x->size);
    if (x->object_size) {
        ptxi_str_printf(out, ",\"object\":{\"address\":\"0x%" PRIx64 "\",\"bytes\":%" PRIu64 ",\"freed\":%s", x->object,
                        x->object_size, x->object_freed ? "true" : "false");
        put_member("name", x->name, out);
        ptxi_str_putc(out, '}');
    }
    if (ptxi_report_is_call(x))
        put_failed_call(x, out);
    put_calls(x, out);
    ptxi_str_puts(out, ",\"sites\":[");
    for (unsigned s = 0; s < x->site_count && !ptxi_report_is_call(x); s++) {
        ptxi_str_puts(out, s ? "," : "");
        put_site(&f->sites[s], out);
    }
    ptxi_str_puts(out, "]}\n");
}

void ptxi_format_json_summary(const struct ptxi_check_totals *t, struct ptxi_str *out)
{
    ptxi_str_printf(out, "{\"type\":\"summary\",\"launches\":%" PRIu64 ",\"accesses\":%" PRIu64, t->launches,
                    t->accesses);
    ptxi_str_printf(out, ",\"unchecked\":%" PRIu64, t->unchecked);
    for (unsigned s = 0; s < PTXI_FINDING_SEVERITIES; s++)
        ptxi_str_printf(out, ",\"%s\":%" PRIu64, ptxi_finding_severity_names[s],
                        ptxi_report_count(t, (enum ptxi_finding_severity)s));
    ptxi_str_printf(out, ",\"suppressed\":%" PRIu64 ",\"not_listed\":%" PRIu64 "}\n", t->suppressed, t->dropped);
}

/* ---- SARIF */

static void put_rules(struct ptxi_str *out)
{
    ptxi_str_puts(out, "\"rules\":[");
    for (unsigned k = 0; k < PTXI_FINDING_KINDS; k++) {
        ptxi_str_printf(out, "%s{\"id\":\"%s.%s\",\"shortDescription\":{\"text\":", k ? "," : "",
                        ptxi_tool_names[ptxi_finding_kinds[k].tool], ptxi_finding_kinds[k].rule);
        put_string(ptxi_finding_kinds[k].text, out);
        ptxi_str_puts(out, "}}");
    }
    ptxi_str_putc(out, ']');
}

/* A path as a URI reference (RFC 3986). */
static void put_uri(const char *path, struct ptxi_str *out)
{
    ptxi_str_puts(out, path[0] == '/' ? "\"file://" : "\"");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c))
            ptxi_str_putc(out, (char)c);
        else
            ptxi_str_printf(out, "%%%02X", c);
    }
    ptxi_str_putc(out, '"');
}

static void put_location(const struct ptxi_found_site *s, const char *message, struct ptxi_str *out)
{
    unsigned line = 0;
    const char *file = ptxi_report_file(s, &line);

    ptxi_str_putc(out, '{');
    if (file) {
        ptxi_str_puts(out, "\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
        put_uri(file, out);
        ptxi_str_putc(out, '}');
        if (line)
            ptxi_str_printf(out, ",\"region\":{\"startLine\":%u}", line);
        ptxi_str_puts(out, "},");
    }
    ptxi_str_puts(out, "\"logicalLocations\":[{\"kind\":\"function\",\"name\":");
    put_string(s->function ? s->function : "", out);
    ptxi_str_puts(out, "}]");
    if (message) {
        ptxi_str_puts(out, ",\"message\":{\"text\":");
        put_string(message, out);
        ptxi_str_putc(out, '}');
    }
    ptxi_str_putc(out, '}');
}

/* A frame of SARIF's call stack. */
static void put_frame(const struct ptxi_finding *x, struct ptxi_str *out, unsigned number, const char *call)
{
    if (number)
        ptxi_str_putc(out, ',');
    else
        ptxi_str_printf(out, ",\"stacks\":[{\"message\":{\"text\":\"%s by\"},\"frames\":[",
                        ptxi_report_is_call(x) ? "called" : "allocated");
    ptxi_str_puts(out, "{\"location\":{\"message\":{\"text\":");
    put_string(call, out);
    ptxi_str_puts(out, "}}}");
}

static void put_stack(const struct ptxi_finding *x, struct ptxi_str *out)
{
    size_t before = out->len;

    ptxi_report_each_call(x, out, put_frame);
    if (out->len > before)
        ptxi_str_puts(out, "]}]");
}

static const char *sarif_level(enum ptxi_finding_severity s)
{
    static const char *const levels[] = {
        [PTXI_FINDING_BENIGN] = "note", [PTXI_FINDING_WARNING] = "warning", [PTXI_FINDING_ERROR] = "error",
    };

    return levels[s];
}

static void put_result(struct ptxi_str *out, const struct ptxi_found *f, void *user)
{
    const struct ptxi_finding *x = &f->finding;
    bool *any = user;

    ptxi_str_printf(out, "%s{\"ruleId\":\"%s.%s\",\"ruleIndex\":%u,\"level\":\"%s\",\"occurrenceCount\":%" PRIu64
                    ",\"message\":{\"text\":", *any ? ",\n" : "\n", ptxi_tool_names[ptxi_finding_kinds[x->kind].tool],
                    ptxi_finding_kinds[x->kind].rule, (unsigned)x->kind, sarif_level(x->severity), f->count);
    *any = true;
    put_message(f, out);
    ptxi_str_putc(out, '}');
    if (x->site_count) {
        ptxi_str_puts(out, ",\"locations\":[");
        put_location(&f->sites[0], NULL, out);
        ptxi_str_putc(out, ']');
    }
    if (x->site_count > 1) {
        ptxi_str_puts(out, ",\"relatedLocations\":[");
        put_location(&f->sites[1], ptxi_report_access_name(x->sites[1].access), out);
        ptxi_str_putc(out, ']');
    }
    put_stack(x, out);
    ptxi_str_putc(out, '}');
}

void ptxi_format_sarif(const struct ptxi_report_input *in, struct ptxi_str *out)
{
    struct ptxi_check_totals t;
    bool any = false;

    ptxi_report_totals(in, &t);
    ptxi_str_puts(out, "{\"version\":\"2.1.0\",\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"runs\":"
                  "[{\"tool\":{\"driver\":{\"name\":\"libptxi\",");
    ptxi_str_printf(out, "\"version\":\"%d.%d.%d\",", PTXI_VERSION_MAJOR, PTXI_VERSION_MINOR, PTXI_VERSION_PATCH);
    put_rules(out);
    ptxi_str_printf(out, "}},\"properties\":{\"launches\":%" PRIu64 ",\"accesses\":%" PRIu64 ",\"unchecked\":%" PRIu64
                    "},\"results\":[", t.launches, t.accesses, t.unchecked);
    ptxi_report_for_each(in, out, put_result, &any);
    ptxi_str_puts(out, "]}]}\n");
}
