#include "isa/isa.h"
#include "isa/op.gen.h"

#include <assert.h>
#include <string.h>

extern const uint16_t ptxi_words_sorted[];

/* Compares the n characters of s with a word, as strcmp() does. */
static int compare_word(const char *s, size_t n, const char *word)
{
    int c = strncmp(s, word, n);

    return c ? c : -(word[n] != 0);
}

uint16_t ptxi_isa_word(const char *s, size_t n)
{
    unsigned lo = 0, hi = ptxi_word_count;

    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        int c = compare_word(s, n, ptxi_words[ptxi_words_sorted[mid]]);

        if (c == 0)
            return ptxi_words_sorted[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return PTXI_NO_WORD;
}

const struct ptxi_family *ptxi_isa_family(const char *s, size_t n)
{
    unsigned lo = 0, hi = ptxi_family_count;

    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        int c = compare_word(s, n, ptxi_families[mid].mnemonic);

        if (c == 0)
            return &ptxi_families[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

static bool slot_accepts(const struct ptxi_slot *slot, uint16_t word)
{
    for (unsigned i = 0; i < slot->word_count; i++)
        if (slot->words[i] == word)
            return true;
    return false;
}

/* Where the groups of words end (gen.c). */
enum {
    SPACES_END = PTXI_TYPE_COUNT + PTXI_SPACE_WORDS,
    LAYOUTS_END = SPACES_END + PTXI_LAYOUT_WORDS,
    FORMATS_END = LAYOUTS_END + PTXI_FORMAT_WORDS,
    REPEATABLE_END = FORMATS_END + PTXI_REPEATABLE_WORDS
};

enum { WORD_CLASSES = 5 };

/* Words of one class keep their order: 1 types, 2 state spaces, 3 layouts, 4 formats. All other words are of class
 * 0. */
static unsigned word_class(uint16_t word)
{
    static const uint16_t ends[WORD_CLASSES - 1] = { PTXI_TYPE_COUNT, SPACES_END, LAYOUTS_END, FORMATS_END };

    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (word < ends[i])
            return i + 1;
    return 0;
}

static bool is_repeatable(uint16_t word)
{
    return word >= FORMATS_END && word < REPEATABLE_END;
}

bool ptxi_isa_has_word(const struct ptxi_match *m, uint16_t word)
{
    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (m->words[s] == word)
            return true;
    return false;
}

/* Fills the slots. *misplaced is the first word of the head that is not in its place, or `count`. */
static bool fill_slots(const struct ptxi_row *row, const uint16_t *quals, unsigned count, struct ptxi_match *m,
                       unsigned *bad, unsigned *misplaced)
{
    unsigned from[WORD_CLASSES] = { 0 }; /* per class: the first slot that its next word may fill */
    /* number of head slots passed; one more after a word that is not of the head */
    unsigned head = 0;

    assert(row->slot_count <= PTXI_MAX_SLOTS && row->head_count <= row->slot_count);
    m->row = row;
    m->mods = 0;
    memset(m->words, 0xff, sizeof m->words);
    *misplaced = count;
    for (unsigned q = 0; q < count; q++) {
        unsigned class = word_class(quals[q]), s = from[class];

        while (s < row->slot_count && (m->words[s] != PTXI_NO_WORD || !slot_accepts(&row->slots[s], quals[q])))
            s++;
        if (s == row->slot_count && is_repeatable(quals[q]) && ptxi_isa_has_word(m, quals[q]))
            continue;
        if (s == row->slot_count) {
            *bad = q;
            return false;
        }
        if (s < row->head_count && *misplaced == count &&
            (s < head || (q && head == 0) || head == row->head_count + 1u))
            *misplaced = q;
        head = s < row->head_count ? s + 1 : row->head_count + 1u;
        m->words[s] = quals[q];
        if (class)
            from[class] = s + 1;
        m->mods |= ptxi_word_mods[quals[q]];
    }
    *bad = count;
    for (unsigned s = 0; s < row->slot_count; s++)
        if (!row->slots[s].optional && m->words[s] == PTXI_NO_WORD)
            return false;
    return true;
}

bool ptxi_isa_match(const struct ptxi_row *row, const uint16_t *quals, unsigned count, struct ptxi_match *m,
                    unsigned *bad)
{
    unsigned misplaced;

    if (!fill_slots(row, quals, count, m, bad, &misplaced))
        return false;
    if (misplaced < count)
        *bad = misplaced;
    return misplaced == count;
}

int ptxi_isa_misplaced_word(const struct ptxi_row *row, const uint16_t *quals, unsigned count)
{
    struct ptxi_match m;
    unsigned bad, misplaced;

    return fill_slots(row, quals, count, &m, &bad, &misplaced) && misplaced < count ? (int)misplaced : -1;
}

/* The type of the same class and twice the width, for .wide. */
static enum ptxi_type doubled_type(enum ptxi_type t)
{
    switch (t) {
    case PTXI_T_u8: return PTXI_T_u16;
    case PTXI_T_s8: return PTXI_T_s16;
    case PTXI_T_u16: return PTXI_T_u32;
    case PTXI_T_s16: return PTXI_T_s32;
    case PTXI_T_u32: return PTXI_T_u64;
    case PTXI_T_s32: return PTXI_T_s64;
    default: return PTXI_T_NONE;
    }
}

static enum ptxi_type bits_type(enum ptxi_type t)
{
    switch (ptxi_types[t].bits) {
    case 8: return PTXI_T_b8;
    case 16: return PTXI_T_b16;
    case 32: return PTXI_T_b32;
    case 64: return PTXI_T_b64;
    case 128: return PTXI_T_b128;
    default: return PTXI_T_NONE;
    }
}

enum ptxi_type ptxi_isa_operand_type(const struct ptxi_match *m, const struct ptxi_opspec *spec)
{
    uint16_t word;

    if (spec->type_rule == PTXI_TR_FIXED)
        return spec->type < PTXI_TYPE_COUNT ? spec->type : PTXI_T_NONE;
    word = m->words[spec->type];
    if (word >= PTXI_TYPE_COUNT)
        return PTXI_T_NONE;
    if (spec->type_rule == PTXI_TR_DOUBLE)
        return doubled_type(word);
    return spec->type_rule == PTXI_TR_BITS ? bits_type(word) : (enum ptxi_type)word;
}

/* The number of elements in a word: the only number of v2, x128 and 3d, the number after the n in m64n8k16. */
static unsigned element_count(const char *word)
{
    const char *n = *word == 'm' && strchr(word, 'n') ? strchr(word, 'n') : word;
    unsigned number = 0;

    for (n += *n < '0' || *n > '9'; *n >= '0' && *n <= '9'; n++)
        number = number * 10 + (*n - '0');
    return number;
}

bool ptxi_isa_vector_varies(const struct ptxi_opspec *spec)
{
    return spec->vector & PTXI_VECTOR_OF_SLOT;
}

unsigned ptxi_isa_operand_vector(const struct ptxi_match *m, const struct ptxi_opspec *spec)
{
    unsigned times = spec->vector >> PTXI_VECTOR_TIMES & 15, divided = spec->vector >> PTXI_VECTOR_DIVIDED & 7;
    uint16_t word;

    if (!ptxi_isa_vector_varies(spec))
        return spec->vector;
    assert((spec->vector & 0xff) < m->row->slot_count);
    word = m->words[spec->vector & 0xff];
    return word == PTXI_NO_WORD ? 0 : ((element_count(ptxi_words[word]) << times) + (1u << divided) - 1) >> divided;
}

uint16_t ptxi_isa_op(const struct ptxi_match *m)
{
    const struct ptxi_row *row = m->row;
    unsigned index = 0;

    if (!row->ops)
        return 0;
    for (unsigned i = 0; i < row->exec_slot_count; i++) {
        const struct ptxi_slot *s = &row->slots[row->exec_slots[i]];
        unsigned k = 0;

        while (k < s->word_count && s->words[k] != m->words[row->exec_slots[i]])
            k++;
        assert(k < s->word_count || (s->optional && m->words[row->exec_slots[i]] == PTXI_NO_WORD));
        index = index * (s->word_count + s->optional) + k;
    }
    return row->ops[index];
}

uint16_t ptxi_isa_slot(const struct ptxi_match *m, const char *name)
{
    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (!strcmp(m->row->slots[s].name, name))
            return m->words[s];
    return PTXI_NO_WORD;
}

uint16_t ptxi_isa_slot_word(const struct ptxi_match *m, unsigned slot)
{
    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (m->row->slots[s].id == slot)
            return m->words[s];
    return PTXI_NO_WORD;
}

bool ptxi_isa_has(const struct ptxi_match *m, const char *word)
{
    uint16_t id = ptxi_isa_word(word, strlen(word));

    return id != PTXI_NO_WORD && ptxi_isa_has_word(m, id);
}

/* sm_110 was called sm_101 before PTX 9.0. */
static unsigned current_name(unsigned sm)
{
    return sm == 101 ? 110 : sm;
}

bool ptxi_isa_target_runs_on(struct ptxi_target target, unsigned sm)
{
    unsigned own = current_name(target.sm);

    switch (target.suffix) {
    case 'a': return own == sm;
    case 'f': return own <= sm && own / 10 == sm / 10;
    default: return own <= sm;
    }
}

static bool meets_target(const struct ptxi_target *need, struct ptxi_target target)
{
    unsigned sm = current_name(target.sm);

    switch (need->suffix) {
    case 'a': return target.suffix == 'a' && sm == need->sm;
    case 'f': return target.suffix != 0 && sm / 10 == need->sm / 10 && sm >= need->sm;
    default: return sm >= need->sm;
    }
}

static bool meets_any_target(const struct ptxi_target *targets, unsigned count, struct ptxi_target target)
{
    for (unsigned i = 0; i < count; i++)
        if (meets_target(&targets[i], target))
            return true;
    return false;
}

bool ptxi_isa_target_ok(const struct ptxi_row *row, struct ptxi_target target)
{
    return meets_any_target(row->targets, row->target_count, target);
}

const struct ptxi_need *ptxi_isa_unmet_need(const struct ptxi_match *m, unsigned version, struct ptxi_target target,
                                            struct ptxi_need *need)
{
    const struct ptxi_row *row = m->row;
    const struct ptxi_family *f = ptxi_isa_family(row->mnemonic, strlen(row->mnemonic));

    if (version < row->ptx || (row->ptx_end && version >= row->ptx_end && target.sm >= row->ptx_end_sm) ||
        !ptxi_isa_target_ok(row, target)) {
        *need = (struct ptxi_need){ row->targets, PTXI_NO_WORD, row->ptx, row->target_count };
        return need;
    }
    for (unsigned i = 0; i < f->need_count; i++) {
        const struct ptxi_need *n = &ptxi_needs[f->first_need + i];

        if ((version < n->ptx || !meets_any_target(n->targets, n->target_count, target)) &&
            ptxi_isa_has_word(m, n->word))
            return n;
    }
    return NULL;
}
