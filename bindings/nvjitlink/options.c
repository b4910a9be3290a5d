/* Options of nvJitLinkCreate(). Most are for a compiler: libptxi needs -lto, -ptx and -maxrregcount. */
#include "nvjitlink.h"

#include <stdlib.h>
#include <string.h>

static const struct option {
    const char *name;
    bool value;                     /* "=" and a value must follow */
} known_options[] = {
#define FLAG(name) { "-" #name, false },
#define VALUE(name) { "-" #name "=", true },
#include "options.def"
};

static bool is_known(const char *text)
{
    for (unsigned i = 0; i < sizeof known_options / sizeof *known_options; i++) {
        const struct option *o = &known_options[i];

        if (o->value ? !strncmp(text, o->name, strlen(o->name)) : !strcmp(text, o->name))
            return true;
    }
    return false;
}

/* True if PTX for the architecture can be parsed. */
static bool is_architecture(const char *number)
{
    static const char head[] = ".version 9.1\n.target sm_", tail[] = "\n.address_size 64\n";
    char text[sizeof head + sizeof tail + 8];
    ptxiLinkState state;
    bool known;

    if (!*number || number[strspn(number, "0123456789af")] || strlen(number) > 8)
        return false;
    strcpy(text, head);
    strcat(text, number);
    strcat(text, tail);
    if (ptxiLinkCreate(0, NULL, NULL, &state))
        return false;
    known = !ptxiLinkAddData(state, PTXI_JIT_INPUT_PTX, text, strlen(text), NULL, 0, NULL, NULL);
    ptxiLinkDestroy(state);
    return known;
}

static int check_architecture(const struct options *o, struct log *errors)
{
    const bool virtual = o->arch && !strncmp(o->arch, "compute_", 8);

    if (!o->arch)
        return ERROR_MISSING_ARCH;
    if (!virtual && strncmp(o->arch, "sm_", 3)) {
        ptxi_nvjitlink_log(errors, "unrecognized architecture (%s)\n", o->arch);
        return ERROR_UNRECOGNIZED_ARCH;
    }
    if (virtual && !o->ptx) {
        ptxi_nvjitlink_log(errors, "ERROR: virtual arch requires -ptx\n");
        return ERROR_INCOMPATIBLE_OPTIONS;
    }
    if (!is_architecture(strchr(o->arch, '_') + 1)) {
        ptxi_nvjitlink_log(errors, "unrecognized architecture (%s)\n", o->arch);
        return ERROR_UNRECOGNIZED_ARCH;
    }
    return SUCCESS;
}

static int read_option(struct options *o, const char *text, struct log *errors)
{
    if (!text || !is_known(text)) {
        ptxi_nvjitlink_log(errors, "unrecognized option: %s\n", text ? text : "(null)");
        return ERROR_UNRECOGNIZED_OPTION;
    }
    o->copies[o->count] = strdup(text);
    if (!o->copies[o->count])
        return ERROR_INTERNAL;
    if (!strncmp(text, "-arch=", 6))
        o->arch = o->copies[o->count] + 6;
    if (!strncmp(text, "-maxrregcount=", 14))
        o->max_registers = (unsigned)strtoul(text + 14, NULL, 10);
    o->lto |= !strcmp(text, "-lto");
    o->ptx |= !strcmp(text, "-ptx");
    o->count++;
    return SUCCESS;
}

int ptxi_nvjitlink_read_options(struct options *o, unsigned count, const char *const *options, struct log *errors)
{
    int error = SUCCESS;

    o->copies = calloc((size_t)count + 1, sizeof *o->copies); /* one more for -ptx */
    if (!o->copies)
        return ERROR_INTERNAL;
    for (unsigned i = 0; i < count && !error; i++)
        error = read_option(o, options[i], errors);
    if (!error && o->ptx && !o->lto) {
        ptxi_nvjitlink_log(errors, "ERROR: -ptx requires -lto\n");
        error = ERROR_INCOMPATIBLE_OPTIONS;
    }
    return error ? error : check_architecture(o, errors);
}

void ptxi_nvjitlink_free_options(struct options *o)
{
    for (unsigned i = 0; i < o->count; i++)
        free(o->copies[i]);
    free(o->copies);
}
