/* The options of `ptxi run`. */
#include "run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORKERS = 1024 }; /* of ptxiCtxSetWorkers() */

enum {
    OPT_HEX = 256, OPT_STRICT, OPT_BUDGET, OPT_TIMEOUT, OPT_FMAD, OPT_COOPERATIVE, OPT_UNCHECKED, OPT_SCHEDULE,
    OPT_SCHEDULES, OPT_ON_FAULT, OPT_TIER, OPT_CLUSTERS, OPT_SHARD,
    OPT_CHECKPOINT, OPT_EVERY, OPT_RESUME
};

const char ptxi_cmd_run_letters[] = "k:g:b:s:a:o:r:cw:d:h";

const struct option ptxi_cmd_run_options[] = {
    { "kernel", required_argument, NULL, 'k' },
    { "grid", required_argument, NULL, 'g' },
    { "block", required_argument, NULL, 'b' },
    { "shared", required_argument, NULL, 's' },
    { "arg", required_argument, NULL, 'a' },
    { "out", required_argument, NULL, 'o' },
    { "hex", no_argument, NULL, OPT_HEX },
    { "repeat", required_argument, NULL, 'r' },
    { "count", no_argument, NULL, 'c' },
    { "workers", required_argument, NULL, 'w' },
    { "device", required_argument, NULL, 'd' },
    { "strict", no_argument, NULL, OPT_STRICT },
    { "budget", required_argument, NULL, OPT_BUDGET },
    { "timeout", required_argument, NULL, OPT_TIMEOUT },
    { "fmad", required_argument, NULL, OPT_FMAD },
    { "cooperative", no_argument, NULL, OPT_COOPERATIVE },
    { "clusters", required_argument, NULL, OPT_CLUSTERS }, { "shard", required_argument, NULL, OPT_SHARD },
    { "checkpoint", required_argument, NULL, OPT_CHECKPOINT },
    { "checkpoint-every", required_argument, NULL, OPT_EVERY },
    { "resume", no_argument, NULL, OPT_RESUME },
    { "unchecked", no_argument, NULL, OPT_UNCHECKED },
    { "tier", required_argument, NULL, OPT_TIER },
    { "schedule", required_argument, NULL, OPT_SCHEDULE }, { "schedules", required_argument, NULL, OPT_SCHEDULES },
    { "on-fault", required_argument, NULL, OPT_ON_FAULT },
    CMD_CHECK_OPTIONS,
    { "help", no_argument, NULL, 'h' },
    { 0 },
};

/* X, X,Y or X,Y,Z; also with x instead of commas. */
static bool parse_triple(const char *option, const char *s, unsigned v[3])
{
    char digits[16];
    unsigned long long n;

    v[0] = v[1] = v[2] = 1;
    for (int k = 0; k < 3; k++) {
        size_t len = strcspn(s, ",x");

        snprintf(digits, sizeof digits, "%.*s", (int)len, s);
        if (len >= sizeof digits || !ptxi_cmd_number(digits, 0x7fffffff, &n) || !n)
            break;
        v[k] = (unsigned)n;
        if (!s[len])
            return true;
        s += len + 1;
    }
    ptxi_cmd_error("%s: expected X, X,Y or X,Y,Z, each at least 1, got '%s'", option, optarg);
    return false;
}

static bool parse_number(const char *option, unsigned long long max, unsigned *value)
{
    unsigned long long n;

    if (!ptxi_cmd_number(optarg, max, &n)) {
        ptxi_cmd_error("%s: expected a number up to %llu, got '%s'", option, max, optarg);
        return false;
    }
    *value = (unsigned)n;
    return true;
}

/* N or N=FILE */
static bool parse_output(struct run *r)
{
    struct run_output *o = &r->outputs[r->output_count++];
    char digits[16];
    unsigned long long n;
    size_t len = strcspn(optarg, "=");

    snprintf(digits, sizeof digits, "%.*s", (int)len, optarg);
    if (len >= sizeof digits || !ptxi_cmd_number(digits, UINT32_MAX, &n) || (optarg[len] && !optarg[len + 1])) {
        ptxi_cmd_error("--out: expected N or N=FILE, got '%s'", optarg);
        return false;
    }
    *o = (struct run_output){ (unsigned)n, optarg[len] ? optarg + len + 1 : NULL };
    return true;
}

static bool parse_arg(struct run *r)
{
    char *why;
    unsigned number = r->arg_count++;
    bool ok = ptxi_cmd_parse_arg(&r->args[number], optarg, &why);

    if (!ok)
        ptxi_cmd_error("argument %u, '%s': %s", number, optarg, why ? why : "out of memory");
    free(why);
    return ok;
}

/* `range`: what the message says about it. */
static bool parse_seconds(const char *option, const char *range, double *seconds)
{
    char *end;
    double s = strtod(optarg, &end);

    if (*end || end == optarg || !(s >= 0 && s < 1e9)) {
        ptxi_cmd_error("%s: expected a number of seconds%s, got '%s'", option, range, optarg);
        return false;
    }
    *seconds = s;
    return true;
}

static bool parse_timeout(struct run *r)
{
    double s = 0;

    if (!parse_seconds("--timeout", " greater than 0", &s))
        return false;
    r->milliseconds = (unsigned long long)(s * 1e3 + 0.999999);
    if (!r->milliseconds)
        ptxi_cmd_error("--timeout: expected a number of seconds greater than 0, got '%s'", optarg);
    return r->milliseconds;
}

static bool parse_budget(struct run *r)
{
    if (ptxi_cmd_number(optarg, INT64_MAX, &r->budget) && r->budget)
        return true;
    ptxi_cmd_error("--budget: expected a number of instructions, at least 1, got '%s'", optarg);
    return false;
}

/* FIRST:COUNT */
static bool parse_clusters(struct run *r)
{
    char digits[24];
    size_t len = strcspn(optarg, ":");

    snprintf(digits, sizeof digits, "%.*s", (int)len, optarg);
    if (len < sizeof digits && optarg[len] && ptxi_cmd_number(digits, INT64_MAX, &r->first_cluster) &&
        ptxi_cmd_number(optarg + len + 1, INT64_MAX, &r->cluster_count) && r->cluster_count)
        return true;
    ptxi_cmd_error("--clusters: expected FIRST:COUNT, with at least one cluster, got '%s'", optarg);
    return false;
}

/* I/N */
static bool parse_shard(struct run *r)
{
    char digits[16];
    size_t len = strcspn(optarg, "/");

    snprintf(digits, sizeof digits, "%.*s", (int)len, optarg);
    if (len < sizeof digits && optarg[len] && ptxi_cmd_number(digits, INT32_MAX, &r->shard) &&
        ptxi_cmd_number(optarg + len + 1, INT32_MAX, &r->shards) && r->shard && r->shard <= r->shards)
        return true;
    ptxi_cmd_error("--shard: expected I/N with I from 1 to N, got '%s'", optarg);
    return false;
}

static bool parse_schedule(struct run *r)
{
    r->schedule_given = true;
    return ptxi_cmd_schedule("--schedule", optarg, &r->schedule);
}

static bool parse_tier(struct run *r)
{
    r->tier_given = true;
    return ptxi_cmd_tier("--tier", optarg, &r->tier);
}

static bool parse_on_fault(struct run *r)
{
    r->on_fault_given = true;
    if (!strcmp(optarg, "fail"))
        r->on_fault = PTXI_ON_FAULT_FAIL;
    else if (!strcmp(optarg, "report"))
        r->on_fault = PTXI_ON_FAULT_REPORT;
    else {
        ptxi_cmd_error("--on-fault: expected fail or report, got '%s'", optarg);
        return false;
    }
    return true;
}

static bool parse_fmad(struct run *r)
{
    bool fmad;

    if (!ptxi_cmd_bool("--fmad", optarg, &fmad))
        return false;
    r->load.no_contract = !fmad;
    return true;
}

bool ptxi_cmd_run_option(struct run *r, int option)
{
    assert(option != 'h');
    switch (option) {
    case 'k': r->kernel = optarg; return true;
    case 'g': return parse_triple("--grid", optarg, r->grid);
    case 'b': r->block_given = true; return parse_triple("--block", optarg, r->block);
    case 's': return parse_number("--shared", 0x7fffffff, &r->shared);
    case 'a': return parse_arg(r);
    case 'o': return parse_output(r);
    case 'r': return parse_number("--repeat", 1000000000, &r->repeat);
    case 'c': r->count = true; return true;
    case 'w': return parse_number("--workers", MOST_WORKERS, &r->workers);
    case 'd': r->device = optarg; return true;
    case OPT_HEX: r->hex = true; return true;
    case OPT_STRICT: r->load.strict = true; return true;
    case OPT_BUDGET: return parse_budget(r);
    case OPT_TIMEOUT: return parse_timeout(r);
    case OPT_FMAD: return parse_fmad(r);
    case OPT_CLUSTERS: return parse_clusters(r);
    case OPT_SHARD: return parse_shard(r);
    case OPT_CHECKPOINT: r->checkpoint = optarg; return true;
    case OPT_EVERY: return parse_seconds("--checkpoint-every", "", &r->every);
    case OPT_RESUME: r->resume = true; return true;
    case OPT_COOPERATIVE: r->cooperative = true; return true;
    case OPT_UNCHECKED: r->unchecked = true; return true;
    case OPT_SCHEDULE: return parse_schedule(r);
    case OPT_TIER: return parse_tier(r);
    case OPT_SCHEDULES: return parse_number("--schedules", 1000000, &r->seeds);
    case OPT_ON_FAULT: return parse_on_fault(r);
    default: return ptxi_cmd_check_option(option, optarg);
    }
}
