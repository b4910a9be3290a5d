/* Names and the scopes in which they have a meaning.
 *
 * One hash table holds every name of the module. Each name has a list of its meanings, innermost scope first. Each
 * scope has a list of the meanings that end with it. */
#ifndef PTXI_PARSE_SYMBOL_H
#define PTXI_PARSE_SYMBOL_H

#include "base/hash.h"
#include "parse/ast.h"

struct parser;

enum { PTXI_MAX_SCOPES = 128 }; /* nested blocks */

enum ptxi_sym_kind {
    PTXI_SYM_REG,      /* register, or a range of registers */
    PTXI_SYM_VAR,
    PTXI_SYM_FUNC,
    PTXI_SYM_LABEL,
    PTXI_SYM_BRANCHES, /* label of a .branchtargets */
    PTXI_SYM_PROTO,    /* label of a .callprototype */
    PTXI_SYM_TARGETS   /* label of a .calltargets */
};

/* A name has three lists of meanings: of exactly this name, of the range name<n>, and of the name as a label. */
enum ptxi_chain { PTXI_CHAIN_EXACT, PTXI_CHAIN_RANGE, PTXI_CHAIN_LABEL, PTXI_CHAINS };

/* One meaning of a name in one scope. */
struct ptxi_sym {
    uint8_t kind;   /* enum ptxi_sym_kind */
    uint8_t type;   /* registers: enum ptxi_type */
    uint8_t vector; /* registers: number of elements, 1 for a scalar */
    uint8_t chain;  /* enum ptxi_chain */
    uint16_t depth; /* of its scope */
    uint16_t text;  /* number of the module it comes from, where several are concatenated */
    struct ptxi_loc loc;
    struct ptxi_sym *outer;   /* the meaning of the same name that this one hides */
    struct ptxi_sym *sibling; /* next meaning of the same scope */
    struct ptxi_entry *entry;
    union {
        struct { uint32_t first, count; }; /* registers: first id, and number of names in the range */
        struct ptxi_var *var;
        struct ptxi_func *func;
        uint32_t target;                   /* label: instruction index */
        struct ptxi_targets *table;
        struct ptxi_signature *signature;
        struct { const struct ptxi_func **funcs; uint32_t func_count; };
    };
};

struct ptxi_entry {
    const struct ptxi_name *name;
    struct ptxi_sym *meaning[PTXI_CHAINS]; /* innermost of each list, or NULL */
    struct ptxi_sym *linked; /* meaning for the parts of a linked module that declare the name with linkage, or NULL */
    bool numbered_names;     /* some name that is this one and a number has been declared separately */
    uint32_t section_text;   /* text + 1 if the name is a label in a .section, else 0 */
    uint32_t string_offset;  /* of such a label in .debug_str */
    bool in_debug_str;
    UT_hash_handle hh;
};

/* A use of a label before its definition. */
struct ptxi_label_ref {
    struct ptxi_label_ref *next;
    struct ptxi_entry *entry;
    struct ptxi_loc loc;
    uint32_t *slot; /* receives the instruction index */
};

struct ptxi_scope {
    struct ptxi_sym *syms;
    struct ptxi_label_ref *refs, **refs_end; /* in the order of the text */
};

struct ptxi_names_in_scope {
    struct ptxi_entry *table;
    struct ptxi_scope scopes[PTXI_MAX_SCOPES];
    unsigned depth;                /* scopes[depth] is the innermost scope; scopes[0] is the module's */
    struct ptxi_entry *recent[64]; /* cache of short names, because register prefixes are looked up very often */
    struct ptxi_sym *free_syms;
    struct ptxi_label_ref *free_refs;
};

/* The result of a lookup. */
struct ptxi_found {
    struct ptxi_sym *sym;
    uint32_t index; /* the number after the prefix of a range, else 0 */
};

/* Opens a scope. False, with an error, if blocks are nested too deeply. */
bool ptxi_scope_open(struct parser *p);

/* Closes the innermost scope. Labels that are still unknown pass to the outer scope, or are reported at the end of
 * the function. */
void ptxi_scope_close(struct parser *p);

/* Ends a part of a linked module. Its names are forgotten, but those with linkage can be adopted by later parts. */
void ptxi_scope_end_part(struct parser *p);

/* Makes the symbol that an earlier part has declared with linkage visible in this part. NULL if no part has. */
struct ptxi_sym *ptxi_scope_adopt_linked(struct parser *p, struct ptxi_entry *e);

/* The entry of a name, created if it is new. NULL when memory is short. */
struct ptxi_entry *ptxi_scope_entry(struct parser *p, const char *s, size_t n);

/* Declares a name in the innermost scope. NULL if memory is short, or, with an error, if the scope already has the
 * name. */
struct ptxi_sym *ptxi_scope_add(struct parser *p, enum ptxi_sym_kind kind, enum ptxi_chain chain, const char *s,
                                size_t n, struct ptxi_loc loc, uint32_t range);

bool ptxi_scope_find(struct parser *p, const char *s, size_t n, struct ptxi_found *out);

/* Stores the label's instruction index in *slot, now or when the label is defined. */
bool ptxi_scope_use_label(struct parser *p, const char *s, size_t n, struct ptxi_loc loc, uint32_t *slot);

#endif
