/* SPDX-License-Identifier: Apache-2.0 */
/* All built-in activity types, for the composition of an engine. */
#ifndef PAWL_ACTIVITIES_ACTIVITIES_H
#define PAWL_ACTIVITIES_ACTIVITIES_H

#include "engine/engine.h"

/* Adds every built-in type. PAWL_ENOMEM: some may have been added. */
PAWL_MUST_CHECK int pawl__activities_register(struct pawl_engine *engine);

#endif
