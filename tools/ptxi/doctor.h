/* The parts of `ptxi doctor`: what a file contains (doctor_file.c), which files a program loads (doctor_depend.c), and
 * the conclusions (doctor.c). */
#ifndef PTXI_DOCTOR_H
#define PTXI_DOCTOR_H

#include "command.h"

#include <stddef.h>

/* ---- doctor_file.c */

enum { MOST_TARGETS = 24 };

struct doctor_targets {
    char name[MOST_TARGETS][16]; /* "sm_90a", ascending */
    unsigned count;
};

struct doctor_file {
    bool has_runtime;            /* a copy of the CUDA runtime is linked into the file */
    const char *error;           /* why the device code cannot be read; static; NULL: it can */
    unsigned programs;           /* device programs */
    unsigned without_ptx;        /* those of them that cannot run */
    struct doctor_targets ptx, sass;
};

/* Examine an ELF file, archive or fat binary. NULL, or a message. The message is static. */
const char *ptxi_cmd_examine(const char *path, struct doctor_file *f);

/* ---- doctor_depend.c */

struct doctor_library {
    char *name;                  /* as the program requests it: "libcudart.so.13" */
    char *path;                  /* NULL: not found */
};

struct doctor_list {
    struct doctor_library *at;
    size_t count;
};

/* List the libraries that the dynamic loader loads for an executable or library, under the current LD_LIBRARY_PATH, and
 * functions of CUDA that none of them has. The lists are empty if the loader does not load the file. False after a
 * message. */
bool ptxi_cmd_list_libraries(const char *file, struct doctor_list *list, struct doctor_list *missing);

/* List the shared libraries below the directory of a Python package, with paths as names. The list is empty if there
 * is no such package. False after a message. */
bool ptxi_cmd_list_package(const char *package, struct doctor_list *list);

/* Append a library that is not in the list yet. Copies the strings. False: no memory. */
bool ptxi_cmd_add_library(struct doctor_list *list, const char *name, const char *path);
void ptxi_cmd_free_libraries(struct doctor_list *list);

#endif
