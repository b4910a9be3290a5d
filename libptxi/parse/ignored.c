/* Forms with modifiers that ptxas accepts in every instruction (ignored.def). */
#include "parse/ignored.h"

#include "isa/op.gen.h"

static const struct group {
    const char *words; /* with '|' between them */
    unsigned max;
    char class;
    uint16_t family;  /* and the head of the only instruction, if `head` is not NULL */
    const char *head;
} groups[] = {
#define IGNORED(words, max, class) { words, max, class, 0, NULL },
#define IGNORED_IN(mnemonic, head, words) { words, 1, 0, PTXI_M_##mnemonic, head },
#define HEEDED(mnemonic, word)
#include "isa/ignored.def"
#undef IGNORED
#undef IGNORED_IN
#undef HEEDED
};
enum { GROUPS = sizeof groups / sizeof *groups };

static const struct { uint16_t family; const char *word; } heeded[] = {
#define IGNORED(words, max, class)
#define IGNORED_IN(mnemonic, head, words)
#define HEEDED(mnemonic, word) { PTXI_M_##mnemonic, word },
#include "isa/ignored.def"
#undef IGNORED
#undef IGNORED_IN
#undef HEEDED
};

static bool is_in_group(const struct group *g, uint16_t word)
{
    const char *s = ptxi_words[word];
    size_t n = strlen(s);

    for (const char *p = g->words; p; p = strchr(p, '|')) {
        p += *p == '|';
        if (!strncmp(p, s, n) && (p[n] == '|' || !p[n]))
            return true;
    }
    return false;
}

/* The words of the head, in their order. Returns their number. */
static unsigned get_head(const struct ptxi_match *m, uint16_t *words)
{
    unsigned n = 0;

    for (unsigned s = 0; s < m->row->head_count; s++)
        if (m->words[s] != PTXI_NO_WORD)
            words[n++] = m->words[s];
    return n;
}

/* True if the head of the row that *m is about is this one. */
static bool is_head(const struct ptxi_match *m, const char *head)
{
    uint16_t words[PTXI_MAX_SLOTS];
    unsigned n = get_head(m, words), i = 0;

    for (const char *p = head; *p; i++) {
        size_t length = strcspn(p, "|");

        if (i == n || strlen(ptxi_words[words[i]]) != length || memcmp(ptxi_words[words[i]], p, length))
            return false;
        p += length + (p[length] == '|');
    }
    return i == n;
}

/* The group of a word that the row of *m may ignore, or GROUPS. */
static unsigned find_group(const struct ptxi_match *m, uint16_t word)
{
    unsigned g = 0;

    for (; g < GROUPS; g++)
        if (word != PTXI_NO_WORD && is_in_group(&groups[g], word) &&
            (!groups[g].head || (groups[g].family == m->row->family && is_head(m, groups[g].head))))
            break;
    return g;
}

/* True if the row is of the instruction with this head. */
static bool has_head(const struct ptxi_row *row, const uint16_t *head, unsigned count)
{
    struct ptxi_match m;
    unsigned bad;

    if (!ptxi_isa_match(row, head, count, &m, &bad) && bad != count)
        return false;
    for (unsigned s = 0; s < row->head_count; s++)
        if (m.words[s] == PTXI_NO_WORD && !row->slots[s].optional)
            return false;
    return true;
}

static bool has_word_of_group(const struct ptxi_row *row, const struct group *g)
{
    for (unsigned s = 0; s < row->slot_count; s++)
        for (unsigned i = 0; i < row->slots[s].word_count; i++) {
            uint16_t word = row->slots[s].words[i];

            if (is_in_group(g, word) || (word < PTXI_TYPE_COUNT && ptxi_types[word].class == g->class))
                return true;
        }
    return false;
}

/* True if the instruction does not ignore the group. */
static bool heeds(const struct ptxi_family *f, const struct ptxi_match *m, const struct group *g)
{
    uint16_t head[PTXI_MAX_SLOTS];
    unsigned n = get_head(m, head);

    for (unsigned i = 0; g->class && i < sizeof heeded / sizeof *heeded; i++)
        if (heeded[i].family == m->row->family && (!heeded[i].word || ptxi_isa_has(m, heeded[i].word)))
            return true;
    for (unsigned i = 0; i < f->count; i++)
        if (has_head(&ptxi_rows[f->first + i], head, n) && has_word_of_group(&ptxi_rows[f->first + i], g))
            return true;
    return false;
}

bool ptxi_form_match_ignoring(const struct ptxi_family *f, const struct ptxi_row *row, const uint16_t *words,
                              unsigned count, struct ptxi_match *m)
{
    uint16_t kept[PTXI_MAX_QUALIFIERS], head[PTXI_MAX_SLOTS];
    unsigned n = count, bad, first = count, dropped[GROUPS] = { 0 };

    assert(count <= PTXI_MAX_QUALIFIERS);
    memcpy(kept, words, count * sizeof *words);
    while (!ptxi_isa_match(row, kept, n, m, &bad)) {
        unsigned g = bad < n ? find_group(m, kept[bad]) : GROUPS;

        if (g == GROUPS || (groups[g].max && dropped[g] == groups[g].max))
            return false;
        dropped[g]++;
        first = first < bad ? first : bad;
        n--;
        memmove(&kept[bad], &kept[bad + 1], (n - bad) * sizeof *kept);
    }
    if (n == count || first < get_head(m, head))
        return false;
    for (unsigned g = 0; g < GROUPS; g++)
        if (dropped[g] && heeds(f, m, &groups[g]))
            return false;
    return true;
}
