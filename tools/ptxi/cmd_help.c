/* The commands and what they say of themselves. */
#include "cmd.h"

static const char run_help[] =
    "Usage: ptxi run FILE... [OPTIONS]\n"
    "\n"
    "Launch one kernel of a PTX file and print what it left in its arguments. Several files are linked: what one declares\n"
    ".extern, another one defines.\n"
    "\n"
    "  -k, --kernel NAME      the kernel; may be left out where the file has only one\n"
    "  -g, --grid X[,Y[,Z]]   blocks in the grid (1)\n"
    "  -b, --block X[,Y[,Z]]  threads in a block (what .reqntid says, else 1)\n"
    "  -s, --shared BYTES     dynamic shared memory of a block (0)\n"
    "  -a, --arg SPEC         the next argument, see below; once for each parameter\n"
    "  -o, --out N[=FILE]     after the launch, print argument N, from 0, or write its bytes to FILE; may be repeated\n"
    "      --hex              print in hexadecimal\n"
    "  -r, --repeat N         launch N times more and say how fast; each launch finds the arguments as given\n"
    "  -c, --count            say how many instructions were executed\n"
    "  -w, --workers N        host threads (PTXI_WORKERS, else one a processor)\n"
    "  -d, --device NAME      device profile, such as sm_80 (PTXI_DEVICE, else sm_90)\n"
    "      --schedule ORDER   of warps (PTXI_SCHED, else run): run, each until it waits; fair, all advance together as on\n"
    "                         a GPU; seed:N, random\n"
    "      --strict           refuse a module that the device could not run\n"
    "      --budget N         fail after about N warp instructions\n"
    "      --timeout SECONDS  fail after that time\n"
    "      --fmad=BOOL        false: never fuse an unrounded mul with an add (true, as ptxas does)\n"
    "      --cooperative      all blocks are alive at once and may wait for each other\n"
    "      --unchecked        do not check memory accesses\n"
    "\n"
    "A SPEC is one of\n"
    "\n"
    "  TYPE=VALUE             a value: u32=7, f32=0.5, s64=-1, f32=0f3F800000\n"
    "  TYPE[N]=CONTENTS       a buffer of N elements in device memory; its address is the argument\n"
    "  val:TYPE[N]=CONTENTS   the elements themselves, for a parameter that is a structure or an array\n"
    "  same:N                 the buffer of argument N again\n"
    "\n"
    "TYPE is u, s or b with 8, 16, 32 or 64, or f16, bf16, f32, f64. CONTENTS are\n"
    "\n"
    "  (nothing)              zeros; so is TYPE[N] alone\n"
    "  1,2,3                  the elements; a single one fills the buffer; N may be left out\n"
    "  ramp[:FIRST[:STEP]]    FIRST, FIRST + STEP, ...; 0, 1, ... by default\n"
    "  rand[:SEED]            random: floats from 0 to 1, all bits of integers\n"
    "  @FILE                  bytes of a file; N may be left out\n"
    "\n"
    "What the kernel prints goes to stdout, measurements and errors to stderr. Exit status: 0, 1 if the launch failed or\n"
    "the file is not valid, 2 for a bad command line.\n"
    "\n"
    "Examples:\n"
    "  ptxi run lerp.ptx --block 8 --arg 'f32[8]=ramp' --arg 'f32[8]=1' --arg 'f32[8]' --arg f32=0.5 --out 2\n"
    "  ptxi run sgemm.ptx -k sgemm -g 4,4 -b 16,16 -a s32=64 -a s32=64 -a s32=64 -a 'f32[4096]=rand:1' \\\n"
    "      -a 'f32[4096]=rand:2' -a 'f32[4096]' -o 5=c.bin --repeat 10\n";

static const char check_help[] =
    "Usage: ptxi check [OPTIONS] FILE...\n"
    "\n"
    "Parse and check PTX files, and list the instructions in them that this version cannot execute yet.\n"
    "\n"
    "  -q, --quiet        only errors\n"
    "  -d, --device NAME  device profile, such as sm_80\n"
    "      --strict       a file that the device could not run is an error\n"
    "\n"
    "Messages about the text go to stderr, a line a file to stdout. FILE may be - for stdin. Exit status: 0 if every file\n"
    "is valid and can be executed, 1 if one is not valid, 2 for a bad command line, 3 if all are valid but one contains\n"
    "instructions that cannot be executed yet.\n"
    "\n"
    "Examples:\n"
    "  ptxi check *.ptx\n"
    "  nvcc -ptx -arch=sm_90 -o - kernel.cu | ptxi check -\n";

static const char list_help[] =
    "Usage: ptxi list [OPTIONS] FILE...\n"
    "\n"
    "List the kernels of PTX files: signature, registers, memory, limits.\n"
    "\n"
    "  -d, --device NAME  device profile, such as sm_80\n"
    "\n"
    "Registers are 32-bit ones a thread, estimated from liveness. Exit status: 0, 1 if a file is not valid, 2 for a bad\n"
    "command line.\n"
    "\n"
    "Example:\n"
    "  ptxi list samples/lerp.ptx\n";

static const char dump_help[] =
    "Usage: ptxi dump [OPTIONS] FILE...\n"
    "\n"
    "Show the bytecode that PTX files are compiled to.\n"
    "\n"
    "  -f, --function NAME  only this kernel or function\n"
    "      --fmad=BOOL      false: never fuse an unrounded mul with an add\n"
    "\n"
    "Exit status: 0, 1 if a file is not valid or has no such function, 2 for a bad command line.\n"
    "\n"
    "Example:\n"
    "  ptxi dump samples/sgemm.ptx --function sgemm\n";

static const char layout_help[] =
    "Usage: ptxi layout INSTRUCTION.SHAPE.TYPE OPERAND\n"
    "       ptxi layout ldmatrix.m8n8.xN[.trans] | stmatrix.m8n8.xN[.trans] | movmatrix.m8n8\n"
    "       ptxi layout ldmatrix.m16n16.xN.trans | ldmatrix.m8n16.xN | stmatrix.m16n8.xN.trans\n"
    "       ptxi layout tcgen05.SHAPE.xN\n"
    "       ptxi layout swizzle.32B | swizzle.64B | swizzle.128B\n"
    "\n"
    "Draw where the elements of a matrix are: in which register of which lane, or in swizzled shared memory.\n"
    "\n"
    "INSTRUCTION is mma, mma.sp, wgmma, wgmma.sp or wmma, TYPE that of A. OPERAND is A, B, C or D, with .f16 behind it for\n"
    "results of that type, .col for the other layout of A and B of m8n8k4; of a sparse one A is shown as it is stored, and\n"
    "E are the metadata. Matrices of m16n16, m8n16 and m16n8 are of bytes. tcgen05 stands for tcgen05.ld and tcgen05.st.\n"
    "Registers count from 0 in the operand. Exit status: 0, 2 for a bad command line.\n"
    "\n"
    "Examples:\n"
    "  ptxi layout mma.m16n8k16.f16 A\n"
    "  ptxi layout mma.m16n8k16.f16 D.f16\n"
    "  ptxi layout mma.sp.m16n8k64.s8 E\n"
    "  ptxi layout wmma.m16n16k16.f16 B\n"
    "  ptxi layout tcgen05.16x256b.x1\n"
    "  ptxi layout swizzle.128B\n";

static const char help_help[] =
    "Usage: ptxi help [COMMAND]\n"
    "\n"
    "Show what a command does, or the list of commands.\n";

const struct cmd ptxi_cmds[] = {
    { "run", ptxi_cmd_run, "launch a kernel", run_help },
    { "check", ptxi_cmd_check, "check files, and whether they can be executed", check_help },
    { "list", ptxi_cmd_list, "list kernels with their signatures and what they use", list_help },
    { "dump", ptxi_cmd_dump, "show bytecode", dump_help },
    { "layout", ptxi_cmd_layout, "draw where the elements of matrices are", layout_help },
    { "help", ptxi_cmd_help, "show help", help_help },
    { 0 },
};
