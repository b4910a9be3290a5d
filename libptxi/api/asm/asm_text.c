/* Inline assembly as text: constraints, the template, the module, and the mapping of places. */
#include "api/asm/asm_template.h"

#include <ctype.h>
#include <string.h>

static const struct {
    char letter;
    uint8_t size;     /* bytes; 0: a constant */
    const char *type; /* of its register */
} letters[] = {
    { 'h', 2, "b16" }, { 'r', 4, "b32" }, { 'l', 8, "b64" }, { 'f', 4, "f32" }, { 'd', 8, "f64" }, { 'q', 16, "b128" },
    { 'n', 0, NULL }, { 'C', 0, NULL },
};

static const char *type_of(char letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            return letters[i].type;
    return NULL;
}

/* ---- places */

static struct ptxi_loc place_of(const char *text, size_t offset, size_t length)
{
    struct ptxi_loc loc = { 1, 1, (uint32_t)length };

    for (size_t i = 0; i < offset; i++) {
        loc.col = text[i] == '\n' ? 1 : loc.col + 1;
        loc.line += text[i] == '\n';
    }
    return loc;
}

static size_t offset_of(const char *text, struct ptxi_loc loc)
{
    const char *s = text;

    for (uint32_t line = 1; line < loc.line && *s; line++) {
        s += strcspn(s, "\n");
        s += *s == '\n';
    }
    return (size_t)(s - text) + (loc.col ? loc.col - 1 : 0);
}

static size_t origin_of(const struct ptxi_asm *a, size_t at)
{
    uint32_t from;

    at = (at - a->begin) * sizeof from;
    if (at >= a->origin.len)
        return strlen(a->text);
    memcpy(&from, a->origin.s + at, sizeof from);
    return from;
}

struct ptxi_loc ptxi_asm_origin(const struct ptxi_asm *a, struct ptxi_loc loc)
{
    if (!loc.line || !a->module.s)
        return loc;
    size_t at = offset_of(a->module.s, loc);

    if (at < a->begin)
        return PTXI_LOC_NONE;
    size_t first = origin_of(a, at), end = origin_of(a, at + loc.len);

    return place_of(a->text, first, end > first && loc.len ? end - first : 1);
}

static bool follows_template(const struct ptxi_asm *a, struct ptxi_loc loc)
{
    return loc.line && offset_of(a->module.s, loc) >= a->begin + a->origin.len / sizeof(uint32_t);
}

/* The parser detects an incomplete template at words after its end, which are not in the user's text. Therefore one
 * message replaces all messages at such words. */
void ptxi_asm_point(const struct ptxi_asm *a, struct ptxi_diag *diags)
{
    bool any = false, drop = false;

    for (struct ptxi_diag_entry **p = &diags->first, *e; (e = *p);) {
        if (e->severity != PTXI_DIAG_NOTE) {
            bool after_end = follows_template(a, e->loc);

            drop = after_end && any;
            any = true;
            if (after_end)
                e->msg = "the template ends in the middle of a statement";
        }
        e->loc = ptxi_asm_origin(a, e->loc);
        if (drop)
            *p = e->next;
        else
            p = &e->next;
    }
}

/* ---- constraints */

static bool refuse_constraint(struct ptxi_diag *diags, struct ptxi_loc loc, const char *message)
{
    ptxi_diag_add(diags, PTXI_DIAG_ERROR, loc, "%s", message);
    ptxi_diag_add(diags, PTXI_DIAG_NOTE, PTXI_LOC_NONE,
                  "accepted: h, r, l, q (16, 32, 64, 128 bits), f (f32), d (f64), each with = or + before it for an "
                  "output; n (an integer constant), C (text); commas between constraints, outputs before inputs");
    return false;
}

/* Reads a constraint. Returns an error message or NULL. */
static const char *read_constraint(const char *s, size_t n, bool only_inputs, struct ptxi_asm_operand *o)
{
    size_t i = 0;

    *o = (struct ptxi_asm_operand){ .reads = true };
    if (n && (*s == '=' || *s == '+')) {
        o->writes = true;
        o->reads = *s == '+';
        s++, n--;
    }
    if (n > 1)
        return "a constraint must have only one letter";
    while (i < sizeof letters / sizeof *letters && (!n || letters[i].letter != *s))
        i++;
    if (i == sizeof letters / sizeof *letters)
        return n ? "unknown constraint letter" : "missing constraint letter";
    o->letter = letters[i].letter;
    o->size = letters[i].size;
    if (o->writes && !o->size)
        return "a constant cannot be an output";
    return o->writes && only_inputs ? "an output must not follow an input" : NULL;
}

bool ptxi_asm_constraints(struct ptxi_asm *a, const char *constraints, struct ptxi_diag *diags)
{
    bool only_inputs = false;
    const char *s = constraints;

    a->count = 0;
    if (!s[strspn(s, " \t")])
        return true;
    for (;; s++) {
        s += strspn(s, " \t");
        size_t n = strcspn(s, ", \t");
        const char *wrong = a->count == PTXI_ASM_OPERANDS ? "more than 30 operands"
                                                          : read_constraint(s, n, only_inputs, &a->operands[a->count]);

        if (wrong)
            return refuse_constraint(diags, place_of(constraints, (size_t)(s - constraints), n), wrong);
        only_inputs = !a->operands[a->count++].writes;
        s += n;
        s += strspn(s, " \t");
        if (!*s)
            return true;
        if (*s != ',')
            return refuse_constraint(diags, place_of(constraints, (size_t)(s - constraints), 1),
                                     "missing comma between constraints");
    }
}

/* ---- the template */

/* Appends text that comes from the template at `from`. same: all bytes come from that place, not from consecutive
 * ones. */
static void append(struct ptxi_asm *a, const char *s, size_t n, size_t from, bool same)
{
    ptxi_str_put(&a->module, s, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)(from + (same ? 0 : i));

        ptxi_str_put(&a->origin, (const char *)&at, sizeof at);
    }
}

static size_t comment_length(const char *s)
{
    const char *end;

    if (s[0] != '/' || (s[1] != '/' && s[1] != '*'))
        return 0;
    if (s[1] == '/')
        return strcspn(s, "\n");
    end = strstr(s + 2, "*/");
    return end ? (size_t)(end + 2 - s) : strlen(s);
}

static void note_operands(const struct ptxi_asm *a, struct ptxi_diag *diags)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    for (unsigned i = 0; i < a->count; i++) {
        const struct ptxi_asm_operand *o = &a->operands[i];

        const char *prefix = o->reads ? "+" : "=";

        if (i)
            ptxi_str_puts(&s, ", ");
        ptxi_str_printf(&s, "%%%u \"%s%c\"", i, o->writes ? prefix : "", o->letter);
    }
    ptxi_diag_add(diags, PTXI_DIAG_NOTE, PTXI_LOC_NONE, "operands: %s", a->count ? ptxi_str_text(&s) : "none");
    ptxi_str_free(&s);
}

/* Returns the value of `n` digits. Large values are cut off, because no operand has such a number. */
static unsigned long read_number(const char *s, size_t n)
{
    unsigned long v = 0;

    for (size_t i = 0; i < n && v < 1000000; i++)
        v = v * 10 + (unsigned long)(s[i] - '0');
    return v;
}

static void paste_constant(struct ptxi_asm *a, unsigned operand, const void *value, size_t from)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    if (a->operands[operand].letter == 'C')
        ptxi_str_puts(&s, value);
    else
        ptxi_str_printf(&s, "%lld", *(const long long *)value);
    a->module.oom |= s.oom;
    append(a, ptxi_str_text(&s), s.len, from, true);
    ptxi_str_free(&s);
}

/* Expands a % at text[i]. Returns the number of bytes that it takes, or 0 after a message. */
static size_t expand_percent(struct ptxi_asm *a, size_t i, void *const *values, struct ptxi_diag *diags)
{
    const char *s = a->text + i;
    bool twice = s[1] == '%';
    size_t n = strspn(s + 1 + twice, "0123456789");
    unsigned long k = read_number(s + 1 + twice, n);

    if (twice && n && k < a->count) {
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, place_of(a->text, i, 2 + n),
                      "'%%%lu' is an operand, so '%%%%%lu' cannot be the name of a register", k, k);
        return 0;
    }
    if (twice || !n) { /* %%, or a % without a number, is a % of PTX */
        append(a, s, 1, i, false);
        return 1u + twice;
    }
    if (k >= a->count) {
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, place_of(a->text, i, 1 + n), "operand %%%.*s does not exist",
                      (int)n, s + 1);
        note_operands(a, diags);
        return 0;
    }
    if (a->operands[k].size)
        append(a, s, 1 + n, i, false);
    else
        paste_constant(a, (unsigned)k, values[k], i);
    return 1 + n;
}

/* Counts braces. The template must not close the kernel, or leave a brace open. */
static bool count_braces(struct ptxi_asm *a, size_t i, size_t *open, unsigned *depth, struct ptxi_diag *diags)
{
    if (a->text[i] == '{' && (*depth)++ == 0)
        *open = i;
    if (a->text[i] == '}' && (*depth)-- == 0) {
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, place_of(a->text, i, 1), "'}' without a preceding '{'");
        return false;
    }
    return true;
}

static bool expand_text(struct ptxi_asm *a, void *const *values, struct ptxi_diag *diags)
{
    size_t open = 0;
    unsigned depth = 0;

    for (size_t i = 0, n; a->text[i]; i += n) {
        n = comment_length(a->text + i);
        if (!n && a->text[i] == '%') {
            n = expand_percent(a, i, values, diags);
            if (!n)
                return false;
            continue;
        }
        if (!n && !count_braces(a, i, &open, &depth, diags))
            return false;
        n += !n;
        append(a, a->text + i, n, i, false);
    }
    if (depth)
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, place_of(a->text, open, 1), "'{' without a matching '}'");
    return !depth;
}

/* ---- the module */

static void write_declarations(struct ptxi_asm *a, unsigned sm)
{
    struct ptxi_str *s = &a->module;

    ptxi_str_printf(s,
                    ".version 9.5\n.target sm_%u%s\n.address_size 64\n"
                    ".visible .entry " PTXI_ASM_KERNEL "(.param .u64 ptxi_asm_first", sm,
                    sm >= 90 ? "a" : "");
    for (unsigned i = 0; i < a->count; i++)
        if (a->operands[i].size)
            ptxi_str_printf(s, ", .param .u64 ptxi_asm_p%u", i);
    ptxi_str_puts(s, ")\n{\n.reg .b32 %ptxi_asm_a, %ptxi_asm_b;\n.reg .b64 %ptxi_asm_i, %ptxi_asm_p;\n");
    for (unsigned i = 0; i < a->count; i++)
        if (a->operands[i].size)
            ptxi_str_printf(s, ".reg .%s %%%u;\n", type_of(a->operands[i].letter), i);
}

/* Operands are in arrays. The index of a thread's elements is the number of the thread. */
static void write_thread_number(struct ptxi_str *s)
{
    ptxi_str_puts(s, "mov.u32 %ptxi_asm_a, %ctaid.x;\nmov.u32 %ptxi_asm_b, %ntid.x;\n"
                     "mul.wide.u32 %ptxi_asm_i, %ptxi_asm_a, %ptxi_asm_b;\nmov.u32 %ptxi_asm_a, %tid.x;\n"
                     "cvt.u64.u32 %ptxi_asm_p, %ptxi_asm_a;\nadd.u64 %ptxi_asm_i, %ptxi_asm_i, %ptxi_asm_p;\n"
                     "ld.param.u64 %ptxi_asm_p, [ptxi_asm_first];\nadd.u64 %ptxi_asm_i, %ptxi_asm_i, %ptxi_asm_p;\n");
}

static void write_address(struct ptxi_asm *a, unsigned i)
{
    ptxi_str_printf(&a->module,
                    "ld.param.u64 %%ptxi_asm_p, [ptxi_asm_p%u];\n"
                    "mad.lo.u64 %%ptxi_asm_p, %%ptxi_asm_i, %u, %%ptxi_asm_p;\n", i,
                    a->operands[i].size);
}

static const char *stored_type(const struct ptxi_asm_operand *o)
{
    switch (o->size) {
    case 16: return "b128";
    case 8: return "b64";
    case 4: return "b32";
    default: return "b16";
    }
}

bool ptxi_asm_expand(struct ptxi_asm *a, void *const *values, unsigned sm, struct ptxi_diag *diags)
{
    ptxi_str_clear(&a->module);
    ptxi_str_clear(&a->origin);
    write_declarations(a, sm);
    write_thread_number(&a->module);
    for (unsigned i = 0; i < a->count; i++)
        if (a->operands[i].size && a->operands[i].reads) {
            write_address(a, i);
            ptxi_str_printf(&a->module, "ld.global.%s %%%u, [%%ptxi_asm_p];\n", stored_type(&a->operands[i]), i);
        }
    ptxi_str_puts(&a->module, "// begin inline asm\n");
    a->begin = a->module.len;
    if (!expand_text(a, values, diags))
        return false;
    ptxi_str_puts(&a->module, "\n// end inline asm\n");
    for (unsigned i = 0; i < a->count; i++)
        if (a->operands[i].writes) {
            write_address(a, i);
            ptxi_str_printf(&a->module, "st.global.%s [%%ptxi_asm_p], %%%u;\n", stored_type(&a->operands[i]), i);
        }
    ptxi_str_puts(&a->module, "ret;\n}\n");
    return !a->module.oom && !a->origin.oom;
}

void ptxi_asm_free(struct ptxi_asm *a)
{
    ptxi_str_free(&a->module);
    ptxi_str_free(&a->origin);
}
