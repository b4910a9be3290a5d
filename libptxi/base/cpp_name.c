#include "base/cpp_name.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Appends a name without anonymous namespaces, and without blanks that separate no words. */
static void put_plain(struct ptxi_str *out, const char *s)
{
    static const char anonymous[] = "(anonymous namespace)::";

    while (*s) {
        if (!strncmp(s, anonymous, sizeof anonymous - 1))
            s += sizeof anonymous - 1;
        else if (*s != ' ' || (out->len && is_word(out->s[out->len - 1]) && is_word(s[1])))
            ptxi_str_putc(out, *s++);
        else
            s++;
    }
}

/* The parts of "void space::scale<float>(float*)": `name` is the start of "space", and the other ones are the ends of
 * "scale", "<float>" and the whole. */
struct parts {
    const char *name, *name_end, *arguments_end, *end;
};

static bool opens(char c)
{
    return c == '(' || c == '<' || c == '[' || c == '{';
}

static bool closes(char c)
{
    return c == ')' || c == '>' || c == ']' || c == '}';
}

/* The bracket that the one before `end` closes. Without such a bracket: `end`. */
static const char *find_opening(const char *begin, const char *end, char closing)
{
    int depth = 0;

    if (end == begin || end[-1] != closing)
        return end;
    for (const char *p = end - 1; p >= begin; p--) {
        depth += closes(*p) - opens(*p);
        if (!depth)
            return p;
    }
    return end;
}

static struct parts split(const char *s)
{
    struct parts p = { .name = s, .end = s + strlen(s) };
    int depth = 0;

    p.arguments_end = find_opening(s, p.end, ')');
    p.name_end = find_opening(s, p.arguments_end, '>');
    for (const char *at = p.name_end; at > s; at--) {
        depth += closes(at[-1]) - opens(at[-1]);
        if (!depth && (at[-1] == ' ' || at[-1] == '*' || at[-1] == '&')) { /* after the type of the result */
            p.name = at;
            break;
        }
    }
    return p;
}

static bool is_range(const char *begin, const char *end, const char *query)
{
    size_t n = (size_t)(end - begin);

    return strlen(query) == n && !memcmp(begin, query, n);
}

static unsigned match_from(const char *name, const struct parts *p, const char *query)
{
    if (is_range(name, p->end, query))
        return 3;
    if (is_range(name, p->arguments_end, query))
        return 2;
    return is_range(name, p->name_end, query);
}

/* The name after the next "::" that is outside of brackets, or NULL. */
static const char *skip_space(const char *s, const char *end)
{
    int depth = 0;

    for (; s + 1 < end; s++) {
        depth += opens(*s) - closes(*s);
        if (!depth && s[0] == ':' && s[1] == ':')
            return s + 2;
    }
    return NULL;
}

static unsigned match_parts(const struct parts *p, const char *query)
{
    unsigned found = match_from(p->name, p, query);

    if (found)
        return found + 3;
    for (const char *s = skip_space(p->name, p->name_end); s && !found; s = skip_space(s, p->name_end))
        found = match_from(s, p, query);
    return found;
}

unsigned ptxi_cpp_name_match(const char *demangled, const char *query)
{
    struct ptxi_str name, wanted;
    unsigned found = 0;

    ptxi_str_init(&name, NULL);
    ptxi_str_init(&wanted, NULL);
    put_plain(&name, demangled);
    put_plain(&wanted, query);
    if (wanted.len && !name.oom && !wanted.oom) {
        struct parts p = split(ptxi_str_text(&name));

        found = strcmp(name.s, wanted.s) ? match_parts(&p, wanted.s) : 7;
    }
    ptxi_str_free(&name);
    ptxi_str_free(&wanted);
    return found;
}
