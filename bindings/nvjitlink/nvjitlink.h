/* Declarations that the files of libnvJitLink share. The library links PTX, and asks NVIDIA's library to compile LTO-IR
 * to PTX. */
#ifndef PTXI_NVJITLINK_H
#define PTXI_NVJITLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "ptxi.h"

/* nvJitLinkResult. CUDA 12 uses older numbers for the results that CUDA 13 has added. */
enum nvjitlink_result {
    SUCCESS = 0,
    ERROR_UNRECOGNIZED_OPTION = 1,
    ERROR_MISSING_ARCH = 2,
    ERROR_INVALID_INPUT = 3,
    ERROR_PTX_COMPILE = 4,
    ERROR_NVVM_COMPILE = 5,
    ERROR_INTERNAL = 6,
    ERROR_UNRECOGNIZED_INPUT = 8,
#if NVJITLINK_MAJOR >= 13
    ERROR_NULL_INPUT = 10,
    ERROR_INCOMPATIBLE_OPTIONS = 11,
    ERROR_INCORRECT_INPUT_TYPE = 12,
    ERROR_UNRECOGNIZED_ARCH = 16,
    ERROR_LTO_NOT_ENABLED = 18,
#else
    ERROR_NULL_INPUT = ERROR_INVALID_INPUT,
    ERROR_INCOMPATIBLE_OPTIONS = ERROR_INVALID_INPUT,
    ERROR_INCORRECT_INPUT_TYPE = ERROR_INVALID_INPUT,
    ERROR_UNRECOGNIZED_ARCH = ERROR_INTERNAL,
    ERROR_LTO_NOT_ENABLED = ERROR_INTERNAL,
#endif
};

/* nvJitLinkInputType */
enum input_type {
    INPUT_NONE = 0,
    INPUT_CUBIN = 1,
    INPUT_PTX = 2,
    INPUT_LTOIR = 3,
    INPUT_FATBIN = 4,
    INPUT_OBJECT = 5,
    INPUT_LIBRARY = 6,
    INPUT_INDEX = 7,
    INPUT_ANY = 10,
};

/* A text that grows. NULL, or a string. */
struct log {
    char *text;
    size_t length;
};

/* ---- options.c */

struct options {
    bool lto, ptx;
    const char *arch;               /* in `copies` */
    unsigned max_registers;         /* 0: no limit */
    char **copies;                  /* all options, for NVIDIA's library */
    unsigned count;
};

/* Reads the options, which options.def lists, and copies them. Needs a current context. */
int ptxi_nvjitlink_read_options(struct options *o, unsigned count, const char *const *options, struct log *errors);
void ptxi_nvjitlink_free_options(struct options *o);

/* ---- lto.c: NVIDIA's library, which compiles LTO-IR */

struct lto;

/* Adds LTO-IR, or an image with LTO-IR, after creating the link with NVIDIA's library for the first one. */
int ptxi_nvjitlink_add_lto(struct lto **lto, const struct options *o, int type, const void *data, size_t size,
                           const char *name, struct log *errors);
/* Compiles what has been added. *ptx is a string of *size bytes with its NUL; the caller frees it. `callers` is PTX
 * that may call functions of the LTO-IR, or NULL. */
int ptxi_nvjitlink_complete_lto(struct lto *lto, const char *callers, char **ptx, size_t *size, struct log *errors,
                                struct log *infos);
void ptxi_nvjitlink_free_lto(struct lto *lto);

/* ---- keep.c: functions of LTO-IR that PTX calls */

/* Returns LTO-IR that uses the functions that the PTX does not define. The caller frees it. NULL: the PTX defines all,
 * or NVRTC, which compiles the LTO-IR, cannot be used. */
char *ptxi_nvjitlink_keep(const char *ptx, size_t *size);
/* Copies the result of a link with this LTO-IR, without it, so that the PTX can call the functions. False: there is no
 * memory. */
bool ptxi_nvjitlink_publish(const char *callers, const char *ptx, char **text, size_t *size);

/* ---- link.c */

/* nvJitLinkHandle. One thread at a time uses it. */
struct nvJitLink {
    struct options options;
    struct log errors, infos;
    ptxiContext context;            /* primary context of device 0, if the link had to retain it */
    ptxiLinkState state;            /* NULL: no input */
    void *settings[4];              /* values of the options of `state` */
    char *messages;                 /* error log of `state` */
    size_t messages_used;           /* bytes of it that `errors` contains */
    unsigned inputs;                /* number of inputs that are not LTO-IR */
    ptxiLinkState callers;          /* with -lto: these inputs again, to find the functions that they do not define */
    struct lto *lto;                /* NULL: no LTO-IR */
    void *image;                    /* result, owned by `state`; NULL: not linked */
    size_t image_bytes;             /* with the NUL at the end */
    char *ptx;                      /* PTX of the LTO-IR; NULL: none */
    size_t ptx_bytes;               /* with the NUL at the end */
    bool completed;                 /* Complete was called, or the options are wrong */
};

/* Between these calls the thread has a context, which libptxi needs for a link and nvJitLink does not. */
int ptxi_nvjitlink_enter(struct nvJitLink *link, bool *pushed);
void ptxi_nvjitlink_leave(bool pushed);

int ptxi_nvjitlink_add(struct nvJitLink *link, int type, const void *data, size_t size, const char *name);
int ptxi_nvjitlink_complete(struct nvJitLink *link);
void ptxi_nvjitlink_close(struct nvJitLink *link);

/* Appends a message. Without memory for it, the message is lost. */
void ptxi_nvjitlink_log(struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
