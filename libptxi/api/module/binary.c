/* Takes PTX out of fat binaries, for loading and linking. */
#include "api/module/binary.h"

#include "api/module/image.h"
#include "fatbin/file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PRELINKED = 1 << 16 }; /* parts of a program; a longer list is not one */

/* The text that is taken out of an image. */
struct taking {
    struct ptxi_arena arena;
    struct ptxi_load_options *options;
    const char *name; /* of the image in messages */
    unsigned sm;
    struct ptxi_fatbin_list list;
    struct ptxi_text *texts; /* malloc'ed, as the text of each */
    uint32_t count;
    bool has_device_runtime; /* left out */
};

/* ---- messages */

static ptxiResult refuse(struct taking *t, ptxiResult r, const char *message, const char *note)
{
    struct ptxi_text one = { t->name, "", 0, 1 };
    struct ptxi_diag diags;

    ptxi_diag_init(&diags, &t->arena);
    ptxi_diag_add(&diags, PTXI_DIAG_ERROR, PTXI_LOC_NONE, "%s: %s", t->name, message);
    if (note)
        ptxi_diag_add(&diags, PTXI_DIAG_NOTE, PTXI_LOC_NONE, "%s", note);
    ptxi_load_report(t->options, &diags, &(struct ptxi_texts){ &one, 1 });
    return r;
}

static ptxiResult refuse_fatbin(struct taking *t, enum ptxi_fatbin_result r)
{
    switch (r) {
    case PTXI_FATBIN_NO_MEMORY: return PTXI_ERROR_OUT_OF_MEMORY;
    case PTXI_FATBIN_NO_LZ4: case PTXI_FATBIN_NO_ZSTD:
        return refuse(t, PTXI_ERROR_NOT_SUPPORTED, ptxi_fatbin_message(r), NULL);
    default: return refuse(t, PTXI_ERROR_INVALID_IMAGE, ptxi_fatbin_message(r), NULL);
    }
}

/* Appends "SASS for sm_90", unless the list has it already. */
static void describe_entry(const struct ptxi_fatbin_entry *e, struct ptxi_str *out)
{
    struct ptxi_str one;

    ptxi_str_init(&one, NULL);
    ptxi_str_printf(&one, "%s for ", ptxi_fatbin_kind_name(e->kind));
    ptxi_fatbin_target_name(e->target, &one);
    ptxi_str_puts(&one, ", ");
    if (!strstr(ptxi_str_text(out), ptxi_str_text(&one)))
        ptxi_str_puts(out, ptxi_str_text(&one));
    ptxi_str_free(&one);
}

/* Appends what the fat binaries contain. */
static void describe(const struct taking *t, struct ptxi_str *out)
{
    struct ptxi_fatbin_entry e;
    struct ptxi_fatbin f;

    for (uint32_t i = 0; i < t->list.count; i++) {
        if (ptxi_fatbin_open(&f, t->list.at[i].data, t->list.at[i].size))
            continue;
        while (!ptxi_fatbin_next(&f, &e))
            describe_entry(&e, out);
    }
    if (out->len > 2)
        out->s[out->len -= 2] = 0; /* the last ", " */
    else
        ptxi_str_puts(out, "no device code");
}

/* The message for an image without PTX for the device. */
static ptxiResult refuse_contents(struct taking *t, const char *contents)
{
    const char *message = ptxi_arena_printf(&t->arena, "no PTX for %s: the image contains %s",
                                            t->options->module.strict ? "this device" : "any device", contents);
    const char *note = ptxi_arena_printf(&t->arena, "nvcc -gencode arch=compute_%u,code=compute_%u, or -arch=sm_%u, "
                                         "embeds PTX", t->sm, t->sm, t->sm);

    if (!message || !note)
        return PTXI_ERROR_OUT_OF_MEMORY;
    return refuse(t, PTXI_ERROR_NO_BINARY_FOR_GPU, message, note);
}

static ptxiResult refuse_list(struct taking *t)
{
    struct ptxi_str contents;

    ptxi_str_init(&contents, NULL);
    describe(t, &contents);
    ptxiResult r = contents.oom ? PTXI_ERROR_OUT_OF_MEMORY : refuse_contents(t, ptxi_str_text(&contents));

    ptxi_str_free(&contents);
    return r;
}

static ptxiResult refuse_cubin(struct taking *t, struct ptxi_target target)
{
    const char *contents = ptxi_arena_printf(&t->arena, "SASS for sm_%u", target.sm);

    return contents ? refuse_contents(t, contents) : PTXI_ERROR_OUT_OF_MEMORY;
}

/* ---- texts */

/* libcudadevrt, which nvcc adds to programs that launch kernels from kernels, calls private functions of NVIDIA's
 * driver, with these names. libptxi has the functions of that library built in. */
static bool is_device_runtime(const char *text)
{
    return strstr(text, " __cuda_syscall_cnpv2");
}

/* The name is that of the file which `ptxi extract` writes. NULL: out of memory. */
static const char *name_text(struct taking *t, const struct ptxi_fatbin_found *f, const struct ptxi_fatbin_entry *e)
{
    struct ptxi_str target;

    ptxi_str_init(&target, NULL);
    ptxi_fatbin_target_name(e->target, &target);
    const char *name = ptxi_arena_printf(&t->arena, "%s.%u.%s.ptx", t->name, f->first + e->number - 1,
                                         ptxi_str_text(&target));

    ptxi_str_free(&target);
    return name;
}

static bool append_text(struct taking *t, struct ptxi_text text)
{
    struct ptxi_text *more = realloc(t->texts, (t->count + 1) * sizeof *more);

    if (!more)
        return false;
    t->texts = more;
    more[t->count++] = text;
    return true;
}

static ptxiResult add_entry(struct taking *t, const struct ptxi_fatbin_found *f, const struct ptxi_fatbin_entry *e)
{
    struct ptxi_text text = { .name = name_text(t, f, e), .first_line = 1 };
    char *s;
    enum ptxi_fatbin_result r = text.name ? ptxi_fatbin_extract(e, &s, &text.size) : PTXI_FATBIN_NO_MEMORY;

    if (r)
        return refuse_fatbin(t, r);
    text.s = s;
    if (is_device_runtime(s)) {
        t->has_device_runtime = true;
        free(s);
        return PTXI_SUCCESS;
    }
    if (append_text(t, text))
        return PTXI_SUCCESS;
    free(s);
    return PTXI_ERROR_OUT_OF_MEMORY;
}

/* Adds the text that each fat binary from `first` on has for the device, if there is none yet. `any`: also one for
 * another device. */
static ptxiResult add_texts(struct taking *t, uint32_t first, uint32_t end, bool any)
{
    enum ptxi_fatbin_result found;
    struct ptxi_fatbin_entry e;
    ptxiResult r = PTXI_SUCCESS;
    struct ptxi_fatbin f;

    if (t->count)
        return PTXI_SUCCESS;
    for (uint32_t i = first; i < end && !r; i++) {
        found = ptxi_fatbin_open(&f, t->list.at[i].data, t->list.at[i].size);
        if (!found)
            found = ptxi_fatbin_select(f, t->sm, any, &e);
        if (!found)
            r = add_entry(t, &t->list.at[i], &e);
        else if (found != PTXI_FATBIN_END)
            r = refuse_fatbin(t, found);
    }
    return r;
}

/* The result of `linked` fat binaries at the begin of the list, or else the texts of the others together. Parts that
 * only another device could run are left out if there are others. A program without parts for the device runs with the
 * profile of its own target, as PTX text does, unless the options refuse that. */
static ptxiResult take_list(struct taking *t, uint32_t linked)
{
    ptxiResult r = PTXI_SUCCESS;

    for (int any = 0; any <= !t->options->module.strict && !r; any++) {
        r = add_texts(t, 0, linked, any);
        if (!r)
            r = add_texts(t, linked, t->list.count, any);
    }
    if (r || t->count)
        return r;
    return t->has_device_runtime ? PTXI_SUCCESS : refuse_list(t);
}

/* ---- images */

static ptxiResult append_fatbin(struct taking *t, const void *data)
{
    struct ptxi_fatbin_found found = { .data = data, .size = SIZE_MAX };
    enum ptxi_fatbin_result r = data ? ptxi_fatbin_append(&t->list, &t->arena, found) : PTXI_FATBIN_NO_MAGIC;

    return r ? refuse_fatbin(t, r) : PTXI_SUCCESS;
}

/* fatbinary_section.h of the CUDA toolkit describes wrappers. */
static ptxiResult take_wrapper(struct taking *t, const struct ptxi_fatbin_wrapper *w)
{
    bool has_parts = w->version == 2;
    ptxiResult r = w->data || !has_parts ? append_fatbin(t, w->data) : PTXI_SUCCESS;
    uint32_t linked = t->list.count;

    for (size_t i = 0; has_parts && w->prelinked && !r && w->prelinked[i]; i++)
        r = i < MOST_PRELINKED ? append_fatbin(t, w->prelinked[i]) : PTXI_ERROR_INVALID_IMAGE;
    return r ? r : take_list(t, linked);
}

static ptxiResult take_image(struct taking *t, const void *image)
{
    struct ptxi_fatbin_wrapper w;
    struct ptxi_target target;

    if (ptxi_fatbin_is_cubin(image, &target))
        return refuse_cubin(t, target);
    if (ptxi_fatbin_is_wrapper(image)) {
        memcpy(&w, image, sizeof w);
        return take_wrapper(t, &w);
    }
    ptxiResult r = append_fatbin(t, image);

    return r ? r : take_list(t, 0);
}

/* Keeps the fat binaries of one program. */
static void keep_program(struct ptxi_fatbin_list *list, unsigned program)
{
    uint32_t kept = 0;

    ptxi_fatbin_group(list);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i].program == program)
            list->at[kept++] = list->at[i];
    list->count = kept;
}

/* `program`  0: all of the file together. */
static ptxiResult take_file(struct taking *t, const char *data, size_t size, unsigned program)
{
    struct ptxi_target target;

    if (ptxi_fatbin_file_kind(data, size) == PTXI_FILE_CUBIN && ptxi_fatbin_is_cubin(data, &target))
        return refuse_cubin(t, target);
    enum ptxi_fatbin_result r = ptxi_fatbin_find(data, size, &t->arena, &t->list);

    if (!r && program)
        keep_program(&t->list, program);
    return r ? refuse_fatbin(t, r) : take_list(t, 0);
}

static void begin(struct taking *t, unsigned sm, struct ptxi_load_options *o)
{
    *t = (struct taking){ .options = o, .name = o->module.name ? o->module.name : "<fatbin>", .sm = sm };
    ptxi_arena_init(&t->arena, NULL);
}

/* Makes the linked image and releases all that has been taken. */
static ptxiResult end(struct taking *t, ptxiResult r, char **text, size_t *size)
{
    struct ptxi_str out;

    ptxi_str_init(&out, NULL);
    if (!r)
        ptxi_image_write(t->count ? &(struct ptxi_texts){ t->texts, t->count } : &ptxi_image_empty, 0, &out);
    if (out.oom)
        r = PTXI_ERROR_OUT_OF_MEMORY;
    if (r)
        ptxi_str_free(&out);
    *text = r ? NULL : out.s;
    *size = r ? 0 : out.len;
    for (uint32_t i = 0; i < t->count; i++)
        free((char *)(uintptr_t)t->texts[i].s);
    free(t->texts);
    ptxi_arena_free(&t->arena);
    return r;
}

ptxiResult ptxi_binary_read(const void *image, unsigned sm, struct ptxi_load_options *o, char **text, size_t *size)
{
    struct ptxi_target target;
    struct taking t;

    if (!ptxi_fatbin_is(image) && !ptxi_fatbin_is_wrapper(image) && !ptxi_fatbin_is_cubin(image, &target)) {
        *text = strdup(image);
        *size = *text ? strlen(*text) : 0;
        return *text ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
    }
    begin(&t, sm, o);
    return end(&t, take_image(&t, image), text, size);
}

ptxiResult ptxi_binary_convert(char *data, size_t size, unsigned sm, struct ptxi_load_options *o, char **text,
                               size_t *text_size)
{
    struct taking t;

    if (ptxi_fatbin_file_kind(data, size) == PTXI_FILE_OTHER) {
        *text = data;
        *text_size = size;
        return PTXI_SUCCESS;
    }
    begin(&t, sm, o);
    ptxiResult r = end(&t, take_file(&t, data, size, 0), text, text_size);

    free(data);
    return r;
}

ptxiResult ptxi_binary_take_program(const char *data, size_t size, unsigned program, unsigned sm,
                                    struct ptxi_load_options *o, char **text, size_t *text_size)
{
    struct taking t;

    begin(&t, sm, o);
    return end(&t, take_file(&t, data, size, program), text, text_size);
}
