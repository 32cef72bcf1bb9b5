/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A started host on duty: its folder of definitions is loaded, a pool of workers does what is due,
 * and a thread sees to what is not kept any longer. `pawl worker` is this until a signal comes; a
 * program with workers of the library has it from pawl_open() to pawl_close().
 */
#ifndef PAWL_HOST_DUTY_H
#define PAWL_HOST_DUTY_H

#include "host/host.h"
#include "runtime/values.h"

struct pawl_duty;

#define PAWL_DUTY_AUTO INT64_C(-1) /* what the setting `workers` says by "auto" */

/* What the settings retention.* say. */
struct pawl_retention_policy pawl__retention_policy(const struct pawl_configuration *configuration);

/*
 * Loads the definitions, then begins the work with so many threads; PAWL_DUTY_AUTO: one for each
 * processor. 0: loads and does nothing; it is a node that only responds. Borrows the host, which
 * must be started and outlive it. Definitions that cannot be loaded are logged and counted in
 * *failed (NULL allowed); they keep nothing else from running.
 */
PAWL_MUST_CHECK int pawl__duty_open(struct pawl_host *host, int64_t workers, uint32_t *failed,
                                    struct pawl_duty **out, struct pawl_error *err);
/*
 * Ends: takes nothing more, lets bursts end at their next activity, and waits for them until then.
 * PAWL_ETIMEDOUT: something still runs, and pawl__duty_close() would wait for it.
 */
PAWL_MUST_CHECK int pawl__duty_wind_up(struct pawl_duty *duty, int64_t deadline_ns);
/* Takes nothing more and waits until what is being done is done. NULL allowed. */
void pawl__duty_close(struct pawl_duty *duty);

/*
 * PAWL_OK while the node may work. PAWL_ECONFLICT: another process has joined the store under its
 * name, and this one does nothing more.
 */
PAWL_MUST_CHECK int pawl__duty_check(struct pawl_duty *duty, struct pawl_error *err);

/* Threads that do the work. */
uint32_t pawl__duty_workers(const struct pawl_duty *duty);
void pawl__duty_counts(struct pawl_duty *duty, struct pawl_pool_counts *out);

#endif
