/* The rows of insn.def as arrays, and the numbered names that the files of the table generator share. */
#include "isa/gen.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row_source rows[] = {
#define SET(name, words)
#define ROW(mnemonic, syntax, operands, ptx, target, exec, section) \
    { #mnemonic, syntax, operands, ptx, target, exec, section, __FILE__, __LINE__, 0 },
#define NEED(...)
#define IOP(...)
#include "isa/insn.def"
#include "isa/dialect.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

enum { DIALECT_COUNT = 0
#define ROW(...) + 1
#include "isa/dialect.def"
#undef ROW
};

const struct need_source needs[] = {
#define SET(name, words)
#define ROW(...)
#define NEED(mnemonic, word, ptx, target) { #mnemonic, #word, ptx, target },
#define IOP(...)
#include "isa/insn.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

const int row_count = sizeof rows / sizeof *rows, isa_row_count = sizeof rows / sizeof *rows - DIALECT_COUNT;
const int need_count = sizeof needs / sizeof *needs;

/* The flags as internal.def writes them. */
enum {
    PLAIN = 0,
    BRANCH = PTXI_OP_FLAG_BRANCH,
    LOAD = PTXI_OP_FLAG_LOAD,
    STORE = PTXI_OP_FLAG_STORE,
    V2 = PTXI_OP_FLAG_V2,
    V4 = PTXI_OP_FLAG_V4,
    BYTES_2 = PTXI_OP_FLAG_BYTES_2,
    BYTES_4 = PTXI_OP_FLAG_BYTES_4,
    BYTES_8 = PTXI_OP_FLAG_BYTES_8,
    GLOBAL = PTXI_OP_FLAG_GLOBAL,
    SHARED = PTXI_OP_FLAG_SHARED,
    GENERIC = PTXI_OP_FLAG_GENERIC,
    AT = PTXI_OP_FLAG_AT,
    SIGNED = PTXI_OP_FLAG_SIGNED,
};

static const struct {
    const char *name;
    unsigned flags;
} internal_ops[] = {
#define SET(name, words)
#define ROW(...)
#define NEED(...)
#define IOP(name, flags) { #name, flags },
#include "isa/insn.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};
enum { INTERNAL_OPS = sizeof internal_ops / sizeof *internal_ops };

/* Words that keep their order or that may be repeated. Their numbers follow those of the types. */
const struct group groups[] = {
    /* State spaces and layouts of matrices. Like types, they keep their order where an instruction has several
     * (destination, then source; A, then B). */
    { "SPACE",
      { "const", "global", "local", "param", "param::entry", "param::func", "shared", "shared::cta",
        "shared::cluster" } },
    { "LAYOUT", { "row", "col" } },
    /* A bitwise operation and the use of its result; a container and the format of its elements. */
    { "FORMAT", { "and", "xor", "popc", "b8x16", "b6x16_p32", "b4x16_p64" } },
    /* Words that ptxas accepts twice. The second one has no effect. */
    { "REPEATABLE", { "approx", "cc", "NaN", "relu", "sat", "satfinite", "shiftamt", "sync", "uni" } },
    { NULL, { NULL } }
};

const struct ptxi_type_info ptxi_types[PTXI_TYPE_COUNT] = {
#define TYPE(id, bits, class) { #id, bits, #class[0] },
#include "isa/type.def"
#undef TYPE
};

enum { MAX_OPS = 8192, MAX_MNEMONICS = 512, MAX_NAMES = 512 };

static char *word_names[MAX_WORDS], *op_names[MAX_OPS], *mnemonic_names[MAX_MNEMONICS], *operands[MAX_NAMES],
            *slots[MAX_NAMES];

struct name_list words = { "qualifiers", MAX_WORDS, 0, word_names };
struct name_list ops = { "operations", MAX_OPS, 0, op_names };
struct name_list mnemonics = { "mnemonics", MAX_MNEMONICS, 0, mnemonic_names };
struct name_list operand_names = { "operand names", MAX_NAMES, 0, operands };
struct name_list slot_names = { "slot names", MAX_NAMES, 0, slots };

const struct row_source *current;

void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (current)
        fprintf(stderr, "%s:%d: %s%s", current->file, current->line, current->mnemonic, current->syntax);
    else
        fprintf(stderr, "insn.def");
    fprintf(stderr, ": ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    exit(1);
}

static char *copy(const char *s, size_t n)
{
    char *p = malloc(n + 1);

    if (!p)
        die("out of memory");
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}

int find_name(const struct name_list *list, const char *s, size_t n)
{
    for (int i = 0; i < list->count; i++)
        if (strlen(list->names[i]) == n && !memcmp(list->names[i], s, n))
            return i;
    return -1;
}

int add_name(struct name_list *list, const char *s, size_t n)
{
    int i = find_name(list, s, n);

    if (i >= 0)
        return i;
    if (list->count == list->max)
        die("too many %s", list->what);
    list->names[list->count] = copy(s, n);
    return list->count++;
}

unsigned op_flags(int op)
{
    assert(op < ops.count);
    for (int i = 0; i < INTERNAL_OPS; i++)
        if (!strcmp(internal_ops[i].name, ops.names[op]))
            return internal_ops[i].flags;
    return 0;
}

/* One more than the number of the mnemonic of the first row that names the operation, or 0. */
static int op_mnemonics[MAX_OPS];

int op_mnemonic(int op)
{
    assert(op < ops.count);
    return op_mnemonics[op] - 1;
}

void set_op_mnemonic(int op, int mnemonic)
{
    assert(op < ops.count && !op_mnemonics[op]);
    op_mnemonics[op] = mnemonic + 1;
}

void add_internal_ops(void)
{
    for (int i = 0; i < INTERNAL_OPS; i++)
        add_name(&ops, internal_ops[i].name, strlen(internal_ops[i].name));
}
