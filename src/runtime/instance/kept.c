/* SPDX-License-Identifier: Apache-2.0 */
/* What the Memory driver has at the end of a burst, for the next one of the same request. */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "runtime/bytes.h"
#include "runtime/task.h"

void pawl__request_init(struct pawl_request *request, const struct pawl_allocator *alloc)
{
    pawl__arena_init(&request->arena, alloc, RUNTIME_BYTES_MAX);
    pawl__map_init(&request->kept, alloc, (struct pawl_hash_seed){3, 4});
}

void pawl__request_release(struct pawl_request *request)
{
    pawl__map_release(&request->kept);
    pawl__arena_release(&request->arena);
}

struct pawl_json pawl__runtime_find_kept(const struct pawl_request *request,
                                         struct pawl_str instance_id)
{
    const struct pawl_json *value = request ? pawl__map_get(&request->kept, instance_id) : NULL;

    return value ? *value : pawl__json_null();
}

int pawl__runtime_store_kept(struct runtime_run *run)
{
    struct pawl_request *request = run->task->request;
    struct pawl_json *value;
    struct pawl_str id;
    int status;

    if (!request)
        return PAWL_OK;
    value = pawl__arena_alloc(&request->arena, sizeof *value);
    id = pawl__arena_str(&request->arena, run->row.id);
    if (!value || !id.ptr)
        return pawl__error_code(run->task->err, pawl__arena_status(&request->arena));
    status = pawl__json_copy(&request->arena, pawl__burst_kept(run->burst), value);
    if (status == PAWL_OK)
        status = pawl__map_put(&request->kept, id, value);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(run->task->err, status);
}
