/* Makes calls of ptxi.h with random arguments. calls.awk generates calls.gen.c from the header, and arguments.c
 * chooses the arguments. calls.c makes the calls one after the other, stress.c from many threads. */
#ifndef PTXI_TESTS_CALLS_H
#define PTXI_TESTS_CALLS_H

#include "ptxi.h"

#include <pthread.h>
#include <stdbool.h>

struct call {
    const char *name;
    ptxiResult (*with_any_arguments)(void);
};

extern const struct call calls[];
extern const unsigned call_count;

/* ---- worlds: contexts and their objects */

enum { MOST_OBJECTS = 512, MEMORY = 4096 };

struct object {
    const char *type; /* NULL: none */
    unsigned long long value;
};

struct world {
    pthread_mutex_t lock;
    struct object objects[MOST_OBJECTS];
    unsigned count;
    bool disturbed; /* other threads may destroy its objects at any time, so that creating it may fail */
};

struct object find(struct world *w, const char *type); /* any object of the type */
void add(struct world *w, const char *type, unsigned long long value);
void make_world(struct world *w); /* adds a context, which becomes current, and one object of each type */

/* Fills memory with a valid structure or with objects of the type. Does nothing for other types. */
void describe(struct world *w, const char *type, void *memory, size_t size);

/* ---- arguments */

struct argument {
    const char *type;
    unsigned long long value;
};

void arguments_from(struct world *here, struct world *elsewhere);
void seed_arguments(unsigned long long seed); /* of the calling thread */
unsigned below(unsigned n);

/* Returns a value of the type ("function" for pointers to functions) for the parameter with this name. */
unsigned long long argument(const char *type, const char *name);

/* The same for a structure that is passed by value. */
void *structure(const char *type, const char *name);

ptxiResult call_with_arguments(const struct call *c);
unsigned arguments_of_call(const struct argument **at); /* the index of the type in the last call of the thread */

/* Ends the program with a message about the last call of the thread if the condition is false. */
void must(bool holds, const char *what);
#define OK(call) must((call) == PTXI_SUCCESS, #call)

/* A program that works after any calls, and gives 64. */
enum { COUNTED = 64 };
ptxiResult run_program(unsigned *counted);

void nothing(void);

#endif
