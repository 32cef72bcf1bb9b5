/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may set for its whole process. A library leaves that to the program it is part of.
 */
#ifndef PAWL_HOST_PROCESS_H
#define PAWL_HOST_PROCESS_H

/* Settings that make stores faster. To be called first in main(), before there are threads. */
void pawl__host_tune_process(void);

#endif
