/* Diagnostics of a PTX text, kept after the text is gone. */
#ifndef PTXI_API_ERROR_DIAG_STORE_H
#define PTXI_API_ERROR_DIAG_STORE_H

#include "ptxi.h"

#include "base/diag.h"

struct ptxi_diag_store;

/* A copy of the diagnostics, rendered with the lines that they are about. NULL if there are no diagnostics or no
 * memory. */
struct ptxi_diag_store *ptxi_diag_store_create(const struct ptxi_diag *d, const struct ptxi_texts *texts);
void ptxi_diag_store_free(struct ptxi_diag_store *s); /* NULL does nothing */

/* NULL if there is no diagnostic with this index. */
const ptxiDiagnostic *ptxi_diag_store_at(const struct ptxi_diag_store *s, unsigned index);

#endif
