/* Directives and statements: the grammar above expressions and operands. One section per file, lowest layer first. */
#ifndef PTXI_PARSE_STATEMENT_H
#define PTXI_PARSE_STATEMENT_H

#include "parse/parser.h"

enum { PTXI_MAX_NAME_RANGE = 1 << 16 }; /* variables or labels declared as x<n> */

/* ---- target.c: .version, .target, .address_size ---- */

/* Parses the directives that begin a module. */
bool ptxi_target_parse_module_head(struct parser *p);
/* Parses a .target, which may also be inside a body. */
bool ptxi_target_parse(struct parser *p);

/* ---- attribute.c: .attribute, .pragma and linking directives ---- */

enum { PTXI_ATTRIBUTE_MANAGED = 1, PTXI_ATTRIBUTE_UNIFIED = 2 };
/* Parses .attribute(...) and adds PTXI_ATTRIBUTE_... to *attributes. */
bool ptxi_attribute_parse(struct parser *p, uint8_t *attributes);

/* Where a .pragma is. */
enum ptxi_pragma_place {
    PTXI_PRAGMA_MODULE,
    PTXI_PRAGMA_HEAD, /* between a function's head and body */
    PTXI_PRAGMA_BODY
};
bool ptxi_pragma_parse(struct parser *p, enum ptxi_pragma_place place);

/* Parses an optional linking directive to an enum ptxi_linkage. */
bool ptxi_linkage_parse(struct parser *p, uint8_t *linkage);

/* ---- debug.c: .file, .loc, .section, @@DWARF, and their counterparts for intermediate languages ---- */

bool ptxi_debug_parse_file(struct parser *p);
bool ptxi_debug_parse_intermediate_loc(struct parser *p);
bool ptxi_debug_parse_sources(struct parser *p); /* .nv_intermediate_source_section */
bool ptxi_debug_parse_metadata(struct parser *p); /* .metadata_section */
bool ptxi_debug_parse_loc(struct parser *p);
bool ptxi_debug_parse_section(struct parser *p);
bool ptxi_debug_parse_dwarf(struct parser *p);

/* ---- emit.c: registers and instructions of the current function ---- */

/* Adds registers and returns the first id. PTXI_NO_REG if memory is short, or, with an error, if there are too many. */
uint32_t ptxi_registers_add(struct parser *p, const struct ptxi_name *name, enum ptxi_type type, unsigned vector,
                            uint32_t count, bool numbered, struct ptxi_loc loc);
/* Appends an instruction, and the line mark that waits for it. */
bool ptxi_inst_emit(struct parser *p, const struct ptxi_inst *in);

/* ---- var.c: variables and parameters ---- */

/* True if the current token can begin a declaration of variables or registers. */
bool ptxi_var_can_start(const struct parser *p);
/* Parses a declaration up to ';', from the state space or what precedes it. */
bool ptxi_var_parse(struct parser *p, uint8_t linkage);
/* Parses one parameter. Its name is not declared yet. */
struct ptxi_var *ptxi_var_parse_param(struct parser *p, bool entry, bool prototype);
bool ptxi_var_declare_reg_param(struct parser *p, struct ptxi_var *v);

/* ---- init.c, declare.c: what var.c needs for a variable ---- */

enum { PTXI_MAX_DIMENSIONS = 8 };

/* The dimensions of a variable, and the state of its initializer while it is parsed. */
struct ptxi_initializer {
    struct parser *p;
    const struct ptxi_var *v;
    uint64_t dims[PTXI_MAX_DIMENSIONS + 1];   /* sizes, a vector's last; 0 if the initializer decides */
    uint64_t stride[PTXI_MAX_DIMENSIONS + 1]; /* bytes of one element of each dimension */
    unsigned dim_count;
    unsigned scalar; /* bytes of a scalar */
    uint64_t limit;  /* maximum bytes of the initializer */
};

/* init.c: parses an initializer after its '=', which is at `loc`. */
bool ptxi_init_parse(struct ptxi_initializer *in, struct ptxi_var *v, struct ptxi_loc loc);

/* declare.c: declares the name of the variable, or merges the variable with the one that already has the name. */
bool ptxi_var_declare(struct parser *p, struct ptxi_var *v, const struct ptxi_token *name);

/* ---- func_head.c: heads of functions, prototypes ---- */

/* Parses from .entry or .func up to the body. */
bool ptxi_func_head_parse(struct parser *p, struct ptxi_func *head, struct ptxi_token *name);
/* Parses what follows .callprototype. */
bool ptxi_func_head_parse_prototype(struct parser *p, struct ptxi_func *f);
/* True if two functions take and return the same. `types`: element types must be equal too, not only sizes. */
bool ptxi_signature_equal(const struct ptxi_signature *a, const struct ptxi_signature *b, bool types);

/* ---- any_width.c: integers of any width ---- */

struct ptxi_odd_width {
    unsigned bits;
    unsigned container;  /* width of the registers: 16, 32 or 64 */
    char letter;         /* s, u or b */
    uint32_t at, length; /* position of its qualifier in the opcode, without the dot */
};
/* True if an opcode has an integer type of a width that PTX does not have, and this width can be emulated. */
bool ptxi_any_width_find(const struct ptxi_token *op, struct ptxi_odd_width *w);
/* Emits the instructions that do it, for the operands in p->raw. `like` has the location and the guard. */
bool ptxi_any_width_emit(struct parser *p, const struct ptxi_token *op, struct ptxi_odd_width *w, struct ptxi_loc loc,
                         const struct ptxi_inst *like);

/* ---- label.c, inst.c, func.c: labels, instructions, functions ---- */

bool ptxi_label_parse(struct parser *p);
bool ptxi_inst_parse(struct parser *p);
/* Parses a function or kernel from .func or .entry to its end. */
bool ptxi_func_parse(struct parser *p, uint8_t linkage, bool entry);
bool ptxi_func_parse_alias(struct parser *p);

#endif
