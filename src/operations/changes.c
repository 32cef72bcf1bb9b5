/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of instances; see changes.h. */
#include "operations/changes.h"

#include "base/error.h"
#include "base/map.h"
#include "operations/query.h"
#include "runtime/runtime.h"

void pawl__op_changes_listen(struct pawl_host *host, pawl_changed_fn *changed, void *ctx)
{
    const struct pawl_op op = {.host = host};

    pawl__runtime_listen(op_runtime(&op), changed, ctx);
}

static int map_rows(const struct pawl_op *op, const struct pawl_rows *rows, struct pawl_map *map)
{
    const struct pawl_instance_row *row = rows->rows;
    int status = PAWL_OK;

    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++)
        status = pawl__map_put(map, row[i].id, (void *)(uintptr_t)&row[i]);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

int pawl__op_instance_revisions(const struct pawl_op *op, const struct pawl_str *ids, size_t count,
                                int64_t *revisions)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    struct pawl_map map;
    int status;

    if (count > PAWL_REVISIONS_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "revisions of at most %u instances",
                               PAWL_REVISIONS_MAX);
    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    status = op_where_in(op, &query, "id", ids, count);
    if (status == PAWL_OK)
        status = op_find_all(op, &query, PAWL_REVISIONS_MAX, &rows);
    if (status != PAWL_OK)
        return status;
    pawl__map_init(&map, op->arena->alloc, (struct pawl_hash_seed){0x72657673, 0});
    status = map_rows(op, &rows, &map);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        const struct pawl_instance_row *row = pawl__map_get(&map, ids[i]);

        revisions[i] = row ? row->revision : 0;
    }
    pawl__map_release(&map);
    return status;
}
