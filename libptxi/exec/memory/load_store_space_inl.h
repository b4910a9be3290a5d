/* All loads and stores in one state space. Parameters:
 *
 *   SPACE                 suffix of the names of handlers and of base_SPACE() and covers_SPACE(), see load_store.c
 *   SPACE_ID              enum ptxi_mem_space
 *   ADDRESS_BITS          32 or 64
 *   PATH_OF_WHOLE_LOADS   the fastest path of loads of one element that is as wide in memory as in the register
 *   PATH_OF_LOADS         the same for other frequent loads
 *   PATH_OF_STORES        the same for stores. If it is not defined, the space is read-only.
 *   HAS_ADDRESS_REGISTERS defined: there are also handlers with address registers */
#if ADDRESS_BITS == 32
#define ADDRESS uint32_t
#else
#define ADDRESS uint64_t
#endif

#define LOAD (u8_16, 1, uint8_t, uint16_t, PATH_OF_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (s8_16, 1, int8_t, int16_t, PATH_OF_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (u8_32, 1, uint8_t, uint32_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (s8_32, 1, int8_t, int32_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (u8_64, 1, uint8_t, uint64_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (s8_64, 1, int8_t, int64_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (16, 1, uint16_t, uint16_t, PATH_OF_WHOLE_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (u16_32, 1, uint16_t, uint32_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (s16_32, 1, int16_t, int32_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (u16_64, 1, uint16_t, uint64_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (s16_64, 1, int16_t, int64_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (32, 1, uint32_t, uint32_t, PATH_OF_WHOLE_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (u32_64, 1, uint32_t, uint64_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (s32_64, 1, int32_t, int64_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (64, 1, uint64_t, uint64_t, PATH_OF_WHOLE_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (128, 1, bytes_16, bytes_16, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (v2_u8_16, 2, uint8_t, uint16_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (v4_u8_16, 4, uint8_t, uint16_t, PATH_OF_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (v2_s8_16, 2, int8_t, int16_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (v4_s8_16, 4, int8_t, int16_t, PATH_ANY)
#include "exec/memory/load_inl.h"
#define LOAD (v2_16, 2, uint16_t, uint16_t, PATH_OF_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (v4_16, 4, uint16_t, uint16_t, PATH_OF_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (v2_32, 2, uint32_t, uint32_t, PATH_OF_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (v4_32, 4, uint32_t, uint32_t, PATH_OF_LOADS)
#include "exec/memory/load_inl.h"
#define LOAD (v2_64, 2, uint64_t, uint64_t, PATH_OF_LOADS)
#include "exec/memory/load_inl.h"

#ifdef PATH_OF_STORES
#define STORE (8, 1, uint8_t, uint16_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (16, 1, uint16_t, uint16_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (32, 1, uint32_t, uint32_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (64, 1, uint64_t, uint64_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (128, 1, bytes_16, bytes_16, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (v2_8, 2, uint8_t, uint16_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (v4_8, 4, uint8_t, uint16_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (v2_16, 2, uint16_t, uint16_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (v4_16, 4, uint16_t, uint16_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (v2_32, 2, uint32_t, uint32_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (v4_32, 4, uint32_t, uint32_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#define STORE (v2_64, 2, uint64_t, uint64_t, PATH_OF_STORES)
#include "exec/memory/store_inl.h"
#endif

#undef ADDRESS
#undef SPACE
#undef SPACE_ID
#undef ADDRESS_BITS
#undef PATH_OF_LOADS
#undef PATH_OF_WHOLE_LOADS
#undef PATH_OF_STORES
#undef HAS_ADDRESS_REGISTERS
