/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the records of what operators changed; Pawl's own, the reference keeps none. */
#ifndef PAWL_VIEWS_AUDIT_H
#define PAWL_VIEWS_AUDIT_H

#include "operations/audit.h"
#include "views/view.h"

/* requestId, timestamp, actor, door, action, kind, target?, count, result. */
struct pawl_json pawl__view_audit(struct pawl_builder *b, const struct pawl_audit_row *row);

#endif
