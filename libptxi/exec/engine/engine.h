/* The warp engine as handlers see it. The headers by subject: warp.h, cta.h, grid.h, divergence.h, frame.h, call.h,
 * fault_report.h. */
#ifndef PTXI_EXEC_ENGINE_ENGINE_H
#define PTXI_EXEC_ENGINE_ENGINE_H

#include "exec/engine/address_space.h"
#include "exec/engine/call.h"
#include "exec/engine/cta.h"
#include "exec/engine/divergence.h"
#include "exec/engine/fault_report.h"
#include "exec/engine/frame.h"
#include "exec/engine/grid.h"
#include "exec/engine/warp.h"
#include "exec/memmap/rcu.h"

#endif
