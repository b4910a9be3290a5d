/* Helpers of all samples: stop on a failed call, and find the PTX file. */
#ifndef PTXI_SAMPLE_H
#define PTXI_SAMPLE_H

#include "ptxi.h"

#include <stdio.h>
#include <stdlib.h>

/* Checks an API call. If it fails, prints the call and the library's message, and ends the program. */
#define MUST(call) sample_must(call, #call)

static inline void sample_must(ptxiResult r, const char *call)
{
    const char *text = NULL;

    if (r == PTXI_SUCCESS)
        return;
    ptxiGetErrorString(r, &text);
    fprintf(stderr, "%s: %s\n", call, text ? text : "unknown error");
    ptxiDiagnostic d = { .size = sizeof d };
    if (r == PTXI_ERROR_INVALID_PTX && ptxiGetLastDiagnostic(0, &d) == PTXI_SUCCESS)
        fprintf(stderr, "%s\n", d.text);
    exit(1);
}

/* The path of the module to load: the first argument of the program, else the file next to the source of the sample. */
#define PTX_PATH(argc, argv, name) ((argc) > 1 ? (argv)[1] : SAMPLES_DIR "/" name)

#endif
