/* CUDA C++ on the command line: compiled to PTX with nvcc, or with NVRTC if there is no nvcc. */
#ifndef PTXI_COMPILE_H
#define PTXI_COMPILE_H

#include "command.h"

#include <stddef.h>

/* Whether the name of the file ends in ".cu". */
bool ptxi_cmd_is_cuda(const char *file);

/* Compile a file for the device of ptxi_cmd_open(). NULL after messages. A NUL follows the PTX. The caller frees it. */
char *ptxi_cmd_compile(const char *file, size_t *size);

#endif
