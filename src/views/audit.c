/* SPDX-License-Identifier: Apache-2.0 */
/* Views of records; see audit.h. */
#include "views/audit.h"

struct pawl_json pawl__view_audit(struct pawl_builder *b, const struct pawl_audit_row *row)
{
    struct pawl_json out = pawl__json_object(), data;

    pawl__view_text(b, &out, "requestId", row->id);
    pawl__view_time(b, &out, "timestamp", row->created_us);
    pawl__view_text(b, &out, "actor", row->actor);
    pawl__view_text(b, &out, "door", row->door);
    pawl__view_text(b, &out, "action", row->action);
    pawl__view_text(b, &out, "kind", row->kind);
    pawl__view_optional(b, &out, "target", row->target);
    pawl__build_int(b, &out, "count", row->count);
    pawl__view_text(b, &out, "result", row->result);
    if (row->data.len > 0 &&
        pawl__json_parse(b->arena, row->data, NULL, &data, NULL, NULL) == PAWL_OK)
        pawl__build(b, &out, "data", data);
    return out;
}
