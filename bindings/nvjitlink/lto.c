/* LTO-IR is an intermediate language of NVIDIA's compiler. NVIDIA's nvJitLink compiles it, and is asked for PTX. */
#include "nvjitlink.h"
#include "real.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

/* Functions of NVIDIA's library. */
struct functions {
#define FUNCTION(name, parameters) int (*name) parameters;
#include "functions.def"
#undef FUNCTION
};

struct lto {
    struct nvJitLink *handle;       /* of NVIDIA's library */
    size_t copied;                  /* bytes of its error log that have been copied */
};

static struct functions functions;
static char reason[512];            /* why there are no functions; empty: there are */

static void load(void)
{
    static const struct standin_library library = {
        .soname = "libnvJitLink.so." TEXT(NVJITLINK_MAJOR),
        .variable = "PTXI_NVJITLINK",
        .wheel = NVJITLINK_MAJOR >= 13 ? "nvidia/cu" TEXT(NVJITLINK_MAJOR) "/lib" : "nvidia/nvjitlink/lib",
    };
    bool complete = true;
    void *handle = ptxi_standin_open(&library, reason, sizeof reason);

    if (!handle)
        return;
#define FUNCTION(name, parameters) \
    functions.name = (int (*) parameters)dlsym(handle, "nvJitLink" #name); \
    complete = complete && functions.name;
#include "functions.def"
#undef FUNCTION
    if (complete)
        *reason = 0;
}

/* Appends the part of a log that is new. */
static void copy_log(struct nvJitLink *handle, int (*get_size)(struct nvJitLink *, size_t *),
                     int (*get)(struct nvJitLink *, char *), size_t *copied, struct log *to)
{
    size_t size = 0;
    char *text;

    if (get_size(handle, &size) || size <= *copied)
        return;
    text = calloc(1, size + 1);
    if (text && !get(handle, text) && strlen(text) > *copied) {
        ptxi_nvjitlink_log(to, "%s", text + *copied);
        *copied = strlen(text);
    }
    free(text);
}

static void copy_errors(struct lto *lto, struct log *errors)
{
    copy_log(lto->handle, functions.GetErrorLogSize, functions.GetErrorLog, &lto->copied, errors);
}

static int create(struct lto **result, const struct options *o, struct log *errors)
{
    static char ptx[] = "-ptx";
    struct lto *lto = calloc(1, sizeof *lto);
    int error;

    if (!lto)
        return ERROR_INTERNAL;
    if (!o->ptx)
        o->copies[o->count] = ptx;
    error = functions.Create(&lto->handle, o->count + !o->ptx, (const char *const *)o->copies);
    if (lto->handle)
        copy_errors(lto, errors);
    if (error)
        ptxi_nvjitlink_free_lto(lto);
    else
        *result = lto;
    return error;
}

int ptxi_nvjitlink_add_lto(struct lto **lto, const struct options *o, int type, const void *data, size_t size,
                           const char *name, struct log *errors)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int error = SUCCESS;

    pthread_once(&once, load);
    if (*reason) {
        ptxi_nvjitlink_log(errors, "ERROR: %s: only NVIDIA's nvJitLink can compile LTO-IR: %s\n", name, reason);
        return ERROR_INTERNAL;
    }
    if (!*lto)
        error = create(lto, o, errors);
    if (!error) {
        error = functions.AddData((*lto)->handle, type, data, size, name);
        copy_errors(*lto, errors);
    }
    return error;
}

/* Keeps functions that PTX calls. False: there are none, or this is not possible. */
static bool keep(struct lto *lto, const char *callers)
{
    size_t size = 0;
    char *more = callers ? ptxi_nvjitlink_keep(callers, &size) : NULL;
    bool kept = more && !functions.AddData(lto->handle, INPUT_LTOIR, more, size, "<functions that PTX calls>");

    free(more);
    return kept;
}

static int publish(const char *callers, char **ptx, size_t *size)
{
    char *text = NULL;

    if (!ptxi_nvjitlink_publish(callers, *ptx, &text, size))
        return ERROR_INTERNAL;
    free(*ptx);
    *ptx = text;
    return SUCCESS;
}

int ptxi_nvjitlink_complete_lto(struct lto *lto, const char *callers, char **ptx, size_t *size, struct log *errors,
                                struct log *infos)
{
    const bool kept = keep(lto, callers);
    size_t copied = 0;
    int error = functions.Complete(lto->handle);

    copy_errors(lto, errors);
    copy_log(lto->handle, functions.GetInfoLogSize, functions.GetInfoLog, &copied, infos);
    if (!error)
        error = functions.GetLinkedPtxSize(lto->handle, size);
    if (error)
        return error;
    *ptx = calloc(1, *size + 1);
    if (!*ptx)
        return ERROR_INTERNAL;
    error = functions.GetLinkedPtx(lto->handle, *ptx);
    *size = strlen(*ptx) + 1;
    return kept && !error ? publish(callers, ptx, size) : error;
}

void ptxi_nvjitlink_free_lto(struct lto *lto)
{
    if (!lto)
        return;
    if (lto->handle)
        functions.Destroy(&lto->handle);
    free(lto);
}
