#include "base/fill.h"

unsigned char ptxi_fill_byte;
