/* The functions that libnvJitLink exports. nvJitLink.h calls them by names with the version of CUDA that the program
 * was compiled with; all versions have the same parameters. */
#include "nvjitlink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION(name, parameters) PTXI_API int nvJitLink##name parameters;
#include "functions.def"
#undef FUNCTION

static void free_handle(struct nvJitLink *link)
{
    ptxi_nvjitlink_close(link);
    ptxi_nvjitlink_free_options(&link->options);
    free(link->errors.text);
    free(link->infos.text);
    free(link);
}

static int read_options(struct nvJitLink *link, unsigned count, const char *const *options)
{
    bool pushed;
    int error = ptxi_nvjitlink_enter(link, &pushed);

    if (!error) {
        error = ptxi_nvjitlink_read_options(&link->options, count, options, &link->errors);
        ptxi_nvjitlink_leave(pushed);
    }
    link->completed = error != SUCCESS; /* accepts no inputs */
    return error;
}

/* The handle is valid if the options are wrong: the program reads the error log. */
int nvJitLinkCreate(struct nvJitLink **handle, uint32_t count, const char *const *options)
{
    struct nvJitLink *link;

    if (!handle || (count && !options))
        return ERROR_NULL_INPUT;
    link = calloc(1, sizeof *link);
    if (!link)
        return ERROR_INTERNAL;
    *handle = link;
    return read_options(link, count, options);
}

int nvJitLinkDestroy(struct nvJitLink **handle)
{
    if (!handle || !*handle)
        return ERROR_NULL_INPUT;
    free_handle(*handle);
    *handle = NULL;
    return SUCCESS;
}

int nvJitLinkAddData(struct nvJitLink *handle, int type, const void *data, size_t size, const char *name)
{
    if (!handle || !data)
        return ERROR_NULL_INPUT;
    return ptxi_nvjitlink_add(handle, type, data, size, name);
}

/* Reads a file. The caller frees the result. */
static char *read_file(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    char *data = NULL;
    long length;

    if (!f)
        return NULL;
    if (!fseek(f, 0, SEEK_END) && (length = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
        data = malloc((size_t)length + 1);
        *size = data ? fread(data, 1, (size_t)length, f) : 0;
    }
    fclose(f);
    return data;
}

int nvJitLinkAddFile(struct nvJitLink *handle, int type, const char *name)
{
    size_t size;
    char *data;
    int error;

    if (!handle || !name)
        return ERROR_NULL_INPUT;
    data = read_file(name, &size);
    if (!data) {
        ptxi_nvjitlink_log(&handle->errors, "no such file: %s\n", name);
        return ERROR_INVALID_INPUT;
    }
    error = ptxi_nvjitlink_add(handle, type, data, size, name);
    free(data);
    return error;
}

int nvJitLinkComplete(struct nvJitLink *handle)
{
    return handle ? ptxi_nvjitlink_complete(handle) : (int)ERROR_NULL_INPUT;
}

/* ---- results */

static int get_size(const struct nvJitLink *handle, size_t *size, const void *result, size_t bytes)
{
    if (!size)
        return ERROR_NULL_INPUT;
    *size = 0;
    if (!handle->completed || !result)
        return ERROR_INTERNAL;
    *size = bytes;
    return SUCCESS;
}

static int get_bytes(const struct nvJitLink *handle, void *to, const void *result, size_t bytes)
{
    if (!to)
        return ERROR_NULL_INPUT;
    if (!handle->completed || !result)
        return ERROR_INTERNAL;
    memcpy(to, result, bytes);
    return SUCCESS;
}

int nvJitLinkGetLinkedCubinSize(struct nvJitLink *handle, size_t *size)
{
    return handle ? get_size(handle, size, handle->image, handle->image_bytes) : (int)ERROR_NULL_INPUT;
}

int nvJitLinkGetLinkedCubin(struct nvJitLink *handle, void *cubin)
{
    return handle ? get_bytes(handle, cubin, handle->image, handle->image_bytes) : (int)ERROR_NULL_INPUT;
}

int nvJitLinkGetLinkedPtxSize(struct nvJitLink *handle, size_t *size)
{
    if (!handle)
        return ERROR_NULL_INPUT;
    if (!handle->options.ptx)
        return ERROR_INVALID_INPUT;
    return get_size(handle, size, handle->ptx, handle->ptx_bytes);
}

int nvJitLinkGetLinkedPtx(struct nvJitLink *handle, char *ptx)
{
    if (!handle)
        return ERROR_NULL_INPUT;
    if (!handle->options.ptx)
        return ERROR_INVALID_INPUT;
    return get_bytes(handle, ptx, handle->ptx, handle->ptx_bytes);
}

/* ---- logs */

static int get_log_size(const struct log *log, size_t *size)
{
    if (!size)
        return ERROR_NULL_INPUT;
    *size = log->text ? log->length + 1 : 0;
    return SUCCESS;
}

static int get_log(const struct log *log, char *text)
{
    if (!text)
        return ERROR_NULL_INPUT;
    if (log->text)
        memcpy(text, log->text, log->length + 1);
    return SUCCESS;
}

int nvJitLinkGetErrorLogSize(struct nvJitLink *handle, size_t *size)
{
    return handle ? get_log_size(&handle->errors, size) : (int)ERROR_NULL_INPUT;
}

int nvJitLinkGetErrorLog(struct nvJitLink *handle, char *log)
{
    return handle ? get_log(&handle->errors, log) : (int)ERROR_NULL_INPUT;
}

int nvJitLinkGetInfoLogSize(struct nvJitLink *handle, size_t *size)
{
    return handle ? get_log_size(&handle->infos, size) : (int)ERROR_NULL_INPUT;
}

int nvJitLinkGetInfoLog(struct nvJitLink *handle, char *log)
{
    return handle ? get_log(&handle->infos, log) : (int)ERROR_NULL_INPUT;
}

/* ---- versions */

PTXI_API int nvJitLinkVersion(unsigned *major, unsigned *minor);
int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return ERROR_NULL_INPUT;
    *major = NVJITLINK_MAJOR;
    *minor = NVJITLINK_MINOR;
    return SUCCESS;
}

/* Programs that were compiled with a later minor version of CUDA find their names, too. */
#define VERSIONED(name, parameters, major, minor) \
    PTXI_API int __nvJitLink##name##_##major##_##minor parameters __attribute__((alias("nvJitLink" #name)));
#define VERSIONS(name, parameters, major) \
    VERSIONED(name, parameters, major, 0) VERSIONED(name, parameters, major, 1) \
    VERSIONED(name, parameters, major, 2) VERSIONED(name, parameters, major, 3) \
    VERSIONED(name, parameters, major, 4) VERSIONED(name, parameters, major, 5) \
    VERSIONED(name, parameters, major, 6) VERSIONED(name, parameters, major, 7) \
    VERSIONED(name, parameters, major, 8) VERSIONED(name, parameters, major, 9)
#if NVJITLINK_MAJOR == 13
#define FUNCTION(name, parameters) VERSIONS(name, parameters, 13)
#else
#define FUNCTION(name, parameters) VERSIONS(name, parameters, 12)
#endif
#include "functions.def"
