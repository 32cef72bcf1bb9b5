/* SPDX-License-Identifier: Apache-2.0 */
/* What the settings say about how long things are kept. */
#ifndef PAWL_CLI_RETENTION_H
#define PAWL_CLI_RETENTION_H

#include "cli/session.h"
#include "runtime/retention.h"

struct pawl_retention_policy pawl__cli_retention_policy(const struct pawl_cli_session *session);

#endif
