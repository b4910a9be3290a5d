/* Names and texts of errors. */
#include "runtime.h"

static const struct error_text {
    int number;
    const char *name, *text;
} errors[] = {
#define ERROR(number, name, text) { number, "cuda" #name, text },
#include "errors.def"
#undef ERROR
};

static const struct error_text *find_error(int number)
{
    static const struct error_text unknown = { 0, "unrecognized error code", "unrecognized error code" };

    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == number)
            return &errors[i];
    return &unknown;
}

PTXI_API const char *cudaGetErrorName(int error);
PTXI_API const char *cudaGetErrorName(int error)
{
    return find_error(error)->name;
}

PTXI_API const char *cudaGetErrorString(int error);
PTXI_API const char *cudaGetErrorString(int error)
{
    return find_error(error)->text;
}

void ptxi_runtime_report(const char *function, int error)
{
    const struct error_text *e = find_error(error);

    ptxiReportCall(function, error, e->name, e->text);
}
