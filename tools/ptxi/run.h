/* The parts of `ptxi run`: options (run_options.c), launches and measurements (run_launch.c), and the rest (run.c). */
#ifndef PTXI_RUN_H
#define PTXI_RUN_H

#include "argument.h"
#include "load.h"

#include <getopt.h>

/* A buffer to show after the launch. */
struct run_output {
    unsigned arg;
    const char *file; /* NULL: print it */
};

struct run {
    /* From the command line. */
    const char *kernel, *device;       /* names, or NULL */
    unsigned grid[3], block[3], shared;
    bool block_given;
    bool hex, count, cooperative, unchecked, schedule_given, on_fault_given, tier_given;
    unsigned repeat, workers;          /* 0: none, and the default */
    unsigned seeds;                    /* of random schedules to try after the launch */
    unsigned long long first_cluster, cluster_count; /* of the grid to run; count 0: all */
    unsigned long long shard, shards; /* the part of the grid to run, from 1; shards 0: all */
    unsigned long long budget, milliseconds; /* 0: no limit */
    ptxiTier tier;
    unsigned long long schedule;       /* as ptxiCtxSetSchedule() takes it */
    ptxiOnFault on_fault;
    const char *checkpoint;            /* file, or NULL */
    double every;                      /* seconds between checkpoints */
    bool resume;
    uint64_t command;                  /* hash of what decides the result, as the command line has it */
    bool resumed;                      /* the buffers are those of a checkpoint */
    struct cmd_load_options load;
    struct cmd_arg *args;              /* room for one for each word of the command line, as for outputs */
    struct run_output *outputs;
    unsigned arg_count, output_count;

    ptxiFunction function;
    void **params;                     /* for ptxiLaunchKernel */
};

/* Read an option that getopt_long() has found. False after a message, or if getopt_long() has printed one. */
bool ptxi_cmd_run_option(struct run *r, int option);


extern const struct option ptxi_cmd_run_options[];
extern const char ptxi_cmd_run_letters[]; /* the short options */

/* Copy the contents of the arguments to their buffers. */
ptxiResult ptxi_cmd_fill_buffers(const struct run *r);

/* The launch of the whole grid, without attributes. */
ptxiLaunchConfig ptxi_cmd_launch_config(const struct run *r);

/* With --resume: restore the context, which has no modules yet, and give arguments their buffers. False after a
 * message. */
bool ptxi_cmd_resume(struct run *r);
/* Launch the kernel, and save the context meanwhile. */
ptxiResult ptxi_cmd_launch_saved(const struct run *r);

/* The number of clusters of the grid; of blocks, without clusters. */
unsigned long long ptxi_cmd_count_clusters(const struct run *r);

/* Launch the kernel as often as requested, and print the measurements. */
ptxiResult ptxi_cmd_launch(const struct run *r);

/* Launches the kernel with each seed, and says which of them find more or give other results. Afterwards the buffers
 * are as before. `launch` launches it once. */
typedef ptxiResult run_one(const struct run *r);
ptxiResult ptxi_cmd_try_seeds(const struct run *r, run_one *launch);

#endif
