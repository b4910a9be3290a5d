#include "api/check/rules.h"

#include "base/arena.h"

#include <regex.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    struct rule *next;
    bool only;                        /* else suppress */
    const char *tool, *kind;          /* NULL: any */
    bool has_kernel, has_function;
    regex_t kernel, function;
    const char *file;                 /* the end of a path, or NULL */
    unsigned line;                    /* 0: any */
    uint64_t first_launch, last_launch; /* 0, 0: any */
    bool has_block;
    uint32_t block[3];
};

struct ptxi_rules {
    _Atomic unsigned refs;
    struct ptxi_arena arena;
    struct rule *rules;
    bool has_only;
};

/* ---- reading */

struct reader {
    struct ptxi_rules *rules;
    struct ptxi_str *message;
    const char *at;
    unsigned line;
};

static bool fail(struct reader *r, const char *what, const char *word)
{
    ptxi_str_printf(r->message, "line %u: %s '%s'", r->line, what, word);
    return false;
}

/* The next word of the line, in the arena. NULL at the end of the line, or without memory. */
static const char *next_word(struct reader *r)
{
    struct ptxi_str s;
    bool quoted = false;

    r->at += strspn(r->at, " \t\r");
    if (!*r->at || *r->at == '\n' || *r->at == '#')
        return NULL;
    ptxi_str_init(&s, NULL);
    for (; *r->at && *r->at != '\n' && (quoted || !strchr(" \t\r", *r->at)); r->at++)
        if (*r->at == '"')
            quoted = !quoted;
        else
            ptxi_str_putc(&s, *r->at);
    char *word = ptxi_arena_strndup(&r->rules->arena, ptxi_str_text(&s), s.len);

    ptxi_str_free(&s);
    return word;
}

static bool read_regex(struct reader *r, regex_t *to, bool *has, const char *text)
{
    if (*has || regcomp(to, text, REG_EXTENDED | REG_NOSUB))
        return fail(r, "not a regular expression:", text);
    return *has = true;
}

/* FILE[:LINE] */
static bool read_place(struct rule *rule, char *text)
{
    char *colon = strrchr(text, ':'), *end;

    rule->file = text;
    if (!colon)
        return true;
    rule->line = (unsigned)strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end) {
        rule->line = 0;
        return true; /* the colon is a part of the name */
    }
    *colon = 0;
    return true;
}

static bool read_launch(struct rule *rule, const char *text)
{
    char *end;

    rule->first_launch = rule->last_launch = strtoull(text, &end, 10);
    if (*end == '-')
        rule->last_launch = strtoull(end + 1, &end, 10);
    return !*end && rule->first_launch && rule->first_launch <= rule->last_launch;
}

static bool read_block(struct rule *rule, const char *text)
{
    int used = 0;

    rule->has_block = true;
    sscanf(text, "%u,%u,%u%n", &rule->block[0], &rule->block[1], &rule->block[2], &used);
    return used && !text[used];
}

/* TOOL or TOOL.KIND */
static bool read_kind(struct rule *rule, char *word)
{
    char *dot = strchr(word, '.');
    bool known = false;

    if (dot)
        *dot++ = 0;
    for (unsigned k = 0; k < PTXI_FINDING_KINDS; k++)
        known |= !strcmp(ptxi_tool_names[ptxi_finding_kinds[k].tool], word) &&
                 (!dot || !strcmp(ptxi_finding_kinds[k].rule, dot));
    rule->tool = word;
    rule->kind = dot;
    if (!known && dot)
        dot[-1] = '.'; /* for the message */
    return known;
}

static bool read_word(struct reader *r, struct rule *rule, char *word)
{
    if (!strncmp(word, "kernel=", 7))
        return read_regex(r, &rule->kernel, &rule->has_kernel, word + 7);
    if (!strncmp(word, "function=", 9) && !rule->only)
        return read_regex(r, &rule->function, &rule->has_function, word + 9);
    if (!strncmp(word, "at=", 3) && !rule->only)
        return read_place(rule, word + 3);
    if (!strncmp(word, "launch=", 7) && rule->only)
        return read_launch(rule, word + 7) || fail(r, "expected launch=FIRST or FIRST-LAST, got", word);
    if (!strncmp(word, "block=", 6) && rule->only)
        return read_block(rule, word + 6) || fail(r, "expected block=X,Y,Z, got", word);
    if (!rule->only && !rule->tool && !strchr(word, '='))
        return read_kind(rule, word) || fail(r, "unknown tool or kind", word);
    return fail(r, "unexpected word", word);
}

static bool read_line(struct reader *r)
{
    const char *word = next_word(r);

    if (!word)
        return true;
    if (strcmp(word, "suppress") && strcmp(word, "only"))
        return fail(r, "expected 'suppress' or 'only', got", word);
    struct rule *rule = ARENA_NEW(&r->rules->arena, struct rule, 1);

    if (!rule)
        return false;
    rule->only = !strcmp(word, "only");
    rule->next = r->rules->rules;
    r->rules->rules = rule;
    r->rules->has_only |= rule->only;
    while ((word = next_word(r)))
        if (!read_word(r, rule, (char *)word))
            return false;
    return true;
}

struct ptxi_rules *ptxi_rules_parse(const char *text, struct ptxi_str *message)
{
    struct reader r = { .rules = calloc(1, sizeof *r.rules), .message = message, .at = text, .line = 1 };

    if (!r.rules)
        return NULL;
    r.rules->refs = 1;
    ptxi_arena_init(&r.rules->arena, NULL);
    for (; *r.at; r.line++) {
        if (!read_line(&r) || r.rules->arena.oom) {
            ptxi_rules_unref(r.rules);
            return NULL;
        }
        r.at += strcspn(r.at, "\n");
        r.at += *r.at == '\n';
    }
    return r.rules;
}

struct ptxi_rules *ptxi_rules_ref(struct ptxi_rules *r)
{
    if (r)
        atomic_fetch_add(&r->refs, 1);
    return r;
}

void ptxi_rules_unref(struct ptxi_rules *r)
{
    if (!r || atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    for (struct rule *rule = r->rules; rule; rule = rule->next) {
        if (rule->has_kernel)
            regfree(&rule->kernel);
        if (rule->has_function)
            regfree(&rule->function);
    }
    ptxi_arena_free(&r->arena);
    free(r);
}

/* ---- matching */

static bool matches(const regex_t *regex, const char *s)
{
    return s && !regexec(regex, s, 0, NULL, 0);
}

static bool launch_matches(const struct rule *rule, const char *kernel, uint64_t launch)
{
    if (rule->has_kernel && !matches(&rule->kernel, kernel))
        return false;
    return !rule->first_launch || (launch >= rule->first_launch && launch <= rule->last_launch);
}

bool ptxi_rules_check_launch(const struct ptxi_rules *r, const char *kernel, uint64_t launch)
{
    if (!r || !r->has_only)
        return true;
    for (const struct rule *rule = r->rules; rule; rule = rule->next)
        if (rule->only && launch_matches(rule, kernel, launch))
            return true;
    return false;
}

static bool ends_with(const char *path, const char *end)
{
    size_t n = path ? strlen(path) : 0, m = strlen(end);

    return path && n >= m && !strcmp(path + n - m, end) && (n == m || path[n - m - 1] == '/' || end[0] == '/');
}

static bool site_matches(const struct rule *rule, const struct ptxi_found_site *s)
{
    if (rule->has_function && !matches(&rule->function, s->function))
        return false;
    if (!rule->file)
        return true;
    return (ends_with(s->source_file, rule->file) && (!rule->line || rule->line == s->source_line)) ||
           (ends_with(s->ptx_file, rule->file) && (!rule->line || rule->line == s->ptx_line));
}

static bool suppresses(const struct rule *rule, const struct ptxi_found *f)
{
    const struct ptxi_finding_kind_info *kind = &ptxi_finding_kinds[f->finding.kind];
    bool site = f->finding.site_count == 0 && !rule->has_function && !rule->file;

    if (rule->tool && strcmp(rule->tool, ptxi_tool_names[kind->tool]))
        return false;
    if ((rule->kind && strcmp(rule->kind, kind->rule)) || (rule->has_kernel && !matches(&rule->kernel, f->kernel)))
        return false;
    for (unsigned s = 0; s < f->finding.site_count; s++)
        site |= site_matches(rule, &f->sites[s]);
    return site;
}

static bool is_of_block(const struct rule *rule, const struct ptxi_finding *f)
{
    bool found = !rule->has_block || !f->site_count;

    for (unsigned s = 0; s < f->site_count; s++)
        found |= !memcmp(rule->block, f->sites[s].ctaid, sizeof rule->block);
    return found;
}

bool ptxi_rules_want_block(const struct ptxi_rules *r, const struct ptxi_finding *f, const char *kernel,
                           uint64_t launch)
{
    if (!r->has_only || !kernel)
        return true;
    for (const struct rule *rule = r->rules; rule; rule = rule->next)
        if (rule->only && launch_matches(rule, kernel, launch) && is_of_block(rule, f))
            return true;
    return false;
}

bool ptxi_rules_suppress(const struct ptxi_rules *r, const struct ptxi_found *f)
{
    for (const struct rule *rule = r->rules; rule; rule = rule->next)
        if (!rule->only && suppresses(rule, f))
            return true;
    return false;
}
