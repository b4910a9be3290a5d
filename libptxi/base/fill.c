/* The fill byte. The library sets it once, at its initialization. */
#include "base/fill.h"

unsigned char ptxi_fill_byte;
