/* Linking: PTX and images with PTX go to libptxi, LTO-IR goes to NVIDIA's library, which makes PTX of it. */
#include "nvjitlink.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 1 << 16 };

void ptxi_nvjitlink_log(struct log *log, const char *format, ...)
{
    va_list arguments;
    char *text, *more;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    more = realloc(log->text, log->length + (size_t)length + 1);
    if (more) {
        memcpy(more + log->length, text, (size_t)length + 1);
        log->text = more;
        log->length += (size_t)length;
    }
    free(text);
}

/* ---- contexts */

int ptxi_nvjitlink_enter(struct nvJitLink *link, bool *pushed)
{
    ptxiContext current = NULL;

    *pushed = false;
    if (ptxiInit(0) || ptxiCtxGetCurrent(&current))
        return ERROR_INTERNAL;
    if (current)
        return SUCCESS;
    if (!link->context && ptxiDevicePrimaryCtxRetain(&link->context, 0))
        return ERROR_INTERNAL;
    if (ptxiCtxPushCurrent(link->context))
        return ERROR_INTERNAL;
    *pushed = true;
    return SUCCESS;
}

void ptxi_nvjitlink_leave(bool pushed)
{
    ptxiContext context;

    if (pushed)
        ptxiCtxPopCurrent(&context);
}

/* ---- the link state of libptxi */

static int create_state(struct nvJitLink *link)
{
    static ptxiJitOption options[] = { PTXI_JIT_ERROR_LOG_BUFFER, PTXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                       PTXI_JIT_STRICT_SYMBOLS, PTXI_JIT_MAX_REGISTERS };

    if (link->state)
        return SUCCESS;
    link->messages = calloc(1, MESSAGE_BYTES);
    if (!link->messages)
        return ERROR_INTERNAL;
    link->settings[0] = link->messages;
    link->settings[1] = (void *)(uintptr_t)MESSAGE_BYTES;
    link->settings[2] = (void *)(uintptr_t)1;
    link->settings[3] = (void *)(uintptr_t)link->options.max_registers;
    return ptxiLinkCreate(4, options, link->settings, &link->state) ? ERROR_INTERNAL : SUCCESS;
}

/* Copies the new messages of the link state to the error log. */
static void copy_messages(struct nvJitLink *link)
{
    const char *text = link->messages + link->messages_used;
    size_t length = strlen(text);

    if (length)
        ptxi_nvjitlink_log(&link->errors, "%s%s", text, text[length - 1] == '\n' ? "" : "\n");
    link->messages_used += length;
}

void ptxi_nvjitlink_close(struct nvJitLink *link)
{
    bool pushed;

    if (link->state && !ptxi_nvjitlink_enter(link, &pushed)) {
        ptxiLinkDestroy(link->state);
        if (link->callers)
            ptxiLinkDestroy(link->callers);
        ptxi_nvjitlink_leave(pushed);
    }
    if (link->context)
        ptxiDevicePrimaryCtxRelease(0);
    ptxi_nvjitlink_free_lto(link->lto);
    free(link->messages);
    free(link->ptx);
}

/* ---- inputs */

/* Finds the type of an input by its first bytes. Everything else may be PTX. */
static int detect_type(const unsigned char *data, size_t size)
{
    enum { MACHINE = 18, EM_CUDA_NUMBER = 190 };

    if (size >= 8 && !memcmp(data, "!<arch>\n", 8))
        return INPUT_LIBRARY;
    if (size > MACHINE + 1 && !memcmp(data, "\177ELF", 4))
        return data[MACHINE] == EM_CUDA_NUMBER && !data[MACHINE + 1] ? INPUT_CUBIN : INPUT_OBJECT;
    if (size >= 4 && !memcmp(data, "\x50\xed\x55\xba", 4))
        return INPUT_FATBIN;
    if (size >= 4 && !memcmp(data, "\xed\x43\x4e\x7f", 4))
        return INPUT_LTOIR;
    return INPUT_PTX;
}

static ptxiJitInputType driver_type(int type)
{
    switch (type) {
    case INPUT_FATBIN:
        return PTXI_JIT_INPUT_FATBINARY;
    case INPUT_OBJECT:
        return PTXI_JIT_INPUT_OBJECT;
    case INPUT_LIBRARY:
        return PTXI_JIT_INPUT_LIBRARY;
    case INPUT_CUBIN:
        return PTXI_JIT_INPUT_CUBIN;
    default:
        return PTXI_JIT_INPUT_PTX;
    }
}

/* The result for an input that libptxi refuses. */
static int input_error(ptxiResult r, int type)
{
    switch (r) {
    case PTXI_SUCCESS:
        return SUCCESS;
    case PTXI_ERROR_INVALID_PTX:
        return ERROR_PTX_COMPILE;
    case PTXI_ERROR_INVALID_IMAGE:
        return type == INPUT_ANY ? ERROR_UNRECOGNIZED_INPUT : ERROR_INCORRECT_INPUT_TYPE;
    case PTXI_ERROR_NO_BINARY_FOR_GPU:
    case PTXI_ERROR_NOT_SUPPORTED:
        return ERROR_INVALID_INPUT;
    default:
        return ERROR_INTERNAL;
    }
}

/* Adds an input a second time. If this fails, functions that it calls may be missing, which the link reports. */
static void add_caller(struct nvJitLink *link, int detected, const void *data, size_t size, const char *name)
{
    if (link->callers || !ptxiLinkCreate(0, NULL, NULL, &link->callers))
        ptxiLinkAddData(link->callers, driver_type(detected), (void *)(uintptr_t)data, size, name, 0, NULL, NULL);
}

/* True if only the LTO-IR of an image counts. Such a link returns PTX of its LTO-IR. */
static bool needs_lto(const struct nvJitLink *link, int detected)
{
    return link->options.lto && link->options.ptx && detected != INPUT_CUBIN && detected != INPUT_PTX;
}

/* Without PTX, an image may have LTO-IR. */
static int add_input(struct nvJitLink *link, int type, int detected, const void *data, size_t size, const char *name)
{
    ptxiResult r;
    int error = create_state(link);

    if (error)
        return error;
    r = ptxiLinkAddData(link->state, driver_type(detected), (void *)(uintptr_t)data, size, name, 0, NULL, NULL);
    if (r == PTXI_ERROR_NO_BINARY_FOR_GPU && link->options.lto && detected != INPUT_CUBIN) {
        link->messages_used += strlen(link->messages + link->messages_used); /* no error */
        return ptxi_nvjitlink_add_lto(&link->lto, &link->options, type, data, size, name, &link->errors);
    }
    copy_messages(link);
    link->inputs += !r;
    if (!r && link->options.lto)
        add_caller(link, detected, data, size, name);
    return input_error(r, type);
}

static int refuse(struct nvJitLink *link, int error, const char *text, const char *name)
{
    ptxi_nvjitlink_log(&link->errors, "ERROR: %s: %s\n", name, text);
    return error;
}

int ptxi_nvjitlink_add(struct nvJitLink *link, int type, const void *data, size_t size, const char *name)
{
    const int found = detect_type(data, size);
    /* The result of an earlier link, which is loaded like GPU code, is a text. */
    const int detected = type == INPUT_CUBIN && found == INPUT_PTX ? INPUT_CUBIN : found;
    bool pushed;
    int error;

    name = name ? name : "<input>";
    if (link->completed)
        return refuse(link, ERROR_INTERNAL, "the link is complete", name);
    if (!size)
        return refuse(link, ERROR_INVALID_INPUT, "no data", name);
    if (type != INPUT_ANY && type != detected)
        return refuse(link, ERROR_INCORRECT_INPUT_TYPE, "the data is not of the type of the input", name);
    if (found == INPUT_CUBIN)
        return refuse(link, ERROR_INVALID_INPUT, "GPU code cannot be linked; libptxi executes PTX", name);
    if (found == INPUT_LTOIR && !link->options.lto)
        return refuse(link, ERROR_LTO_NOT_ENABLED, "LTO-IR input cannot be used without LTO enabled (-lto)", name);
    if (found == INPUT_LTOIR || needs_lto(link, detected))
        return ptxi_nvjitlink_add_lto(&link->lto, &link->options, type, data, size, name, &link->errors);
    error = ptxi_nvjitlink_enter(link, &pushed);
    if (!error) {
        error = add_input(link, type, detected, data, size, name);
        ptxi_nvjitlink_leave(pushed);
    }
    return error;
}

/* ---- completion */

static int compile_lto(struct nvJitLink *link)
{
    void *callers = NULL;
    bool pushed;
    int error = ptxi_nvjitlink_enter(link, &pushed);

    if (error)
        return error;
    if (link->callers && ptxiLinkComplete(link->callers, &callers, NULL))
        callers = NULL;
    error = ptxi_nvjitlink_complete_lto(link->lto, callers, &link->ptx, &link->ptx_bytes, &link->errors, &link->infos);
    ptxi_nvjitlink_leave(pushed);
    return error;
}

/* Compiles the LTO-IR. */
static int complete_lto(struct nvJitLink *link)
{
    if (link->options.ptx && link->inputs) {
        ptxi_nvjitlink_log(&link->errors, "ERROR: -ptx requires that all inputs have LTOIR\n");
        return ERROR_INCORRECT_INPUT_TYPE;
    }
    if (!link->lto) {
        ptxi_nvjitlink_log(&link->errors, "ERROR: no input has LTO-IR, but -lto is set\n");
        return ERROR_NVVM_COMPILE;
    }
    return compile_lto(link);
}

static int complete(struct nvJitLink *link)
{
    int error = create_state(link);
    ptxiResult r = PTXI_SUCCESS;

    if (error)
        return error;
    if (link->ptx)
        r = ptxiLinkAddData(link->state, PTXI_JIT_INPUT_PTX, link->ptx, link->ptx_bytes, "<LTO-IR>", 0, NULL, NULL);
    if (!r)
        r = ptxiLinkComplete(link->state, &link->image, &link->image_bytes);
    copy_messages(link);
    link->image_bytes += 1;
    return r ? ERROR_INTERNAL : SUCCESS;
}

int ptxi_nvjitlink_complete(struct nvJitLink *link)
{
    int error = SUCCESS;
    bool pushed;

    if (link->completed)
        return ERROR_INTERNAL;
    link->completed = true;
    if (link->options.lto)
        error = complete_lto(link);
    if (error || link->options.ptx)
        return error;
    error = ptxi_nvjitlink_enter(link, &pushed);
    if (!error) {
        error = complete(link);
        ptxi_nvjitlink_leave(pushed);
    }
    return error;
}
