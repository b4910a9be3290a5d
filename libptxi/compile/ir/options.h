/* The options of a compilation. */
#ifndef PTXI_COMPILE_IR_OPTIONS_H
#define PTXI_COMPILE_IR_OPTIONS_H

#include "parse/ast.h"

struct ptxi_ir;

struct ptxi_compile_options {
    void *ctx; /* for the callbacks */
    /* Addresses that are known once a module is loaded. */
    uint64_t (*global_address)(void *ctx, const struct ptxi_var *var);
    uint64_t (*function_address)(void *ctx, const struct ptxi_func *func);
    unsigned sm;     /* the architecture that decides bits */
    bool contract;   /* fuse mul and add as ptxas does */
    bool as_written; /* run no pass that changes bits, like ptxas with -O0 */
    bool count;      /* emit operation `count` at the begin of every block */
    /* Emit operations that check accesses and synchronisation. take_places() reserves numbers for the places of a
     * function with `count` instructions and returns the first one. */
    bool check;
    enum ptxi_track_option { PTXI_TRACK_NONE, PTXI_TRACK_WRITES, PTXI_TRACK_ALL } track; /* of global memory */
    uint32_t (*take_places)(void *ctx, uint32_t count);
    bool init;       /* track uninitialised values */
    bool pointers;   /* compare the object of an access with that of its pointer */
    bool verify;     /* verify the register allocation, for tests */
    /* Called after every pass with its name (compile.c), to print the intermediate form with ptxi_ir_print(); NULL: no
     * such call. */
    void (*after_pass)(void *ctx, const char *pass, const struct ptxi_ir *ir);
};

#endif
