/* Starts the statistics. */
#ifndef PTXI_API_OBSERVE_STATISTICS_H
#define PTXI_API_OBSERVE_STATISTICS_H

/* From now on statistics are kept. They are written when the process ends: to stderr if `where` is "stderr", otherwise
 * appended to the file of that name. */
void ptxi_statistics_begin(const char *where);

#endif
