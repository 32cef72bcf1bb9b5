/* SPDX-License-Identifier: Apache-2.0 */
/* Retracting, reverting and deleting definitions, what uses them; refresh and reload. */
#include "base/error.h"
#include "host/host.h"
#include "operations/bulk.h"
#include "operations/definitions_private.h"
#include "runtime/node/client.h"

/* ---- retracting, reverting ------------------------------------------------------------------- */

/* The row as it is now; its data as stored where they cannot be parsed. */
static int read_again(const struct pawl_op *op, struct pawl_definition_row *row)
{
    const struct pawl_definition_ref ref = {.version_id = row->id};
    int status = op_definition_row(op, &ref, row);

    if (status == PAWL_OK)
        status = op_definition_in_step(op, row);
    return status == PAWL_EPARSE ? PAWL_OK : status;
}

int pawl__op_definition_retract(const struct pawl_op *op, struct pawl_str definition_id,
                                bool *was_published, struct pawl_definition_row *out)
{
    struct pawl_definition_ref ref = {.definition_id = definition_id,
                                      .versions = {PAWL_VERSIONS_PUBLISHED, 0}};
    struct pawl_definition_row row;
    struct op_record record;
    bool is_published;
    int status = op_definition_row(op, &ref, &row);

    is_published = status == PAWL_OK;
    if (status == PAWL_ENOTFOUND) {
        ref.versions.pick = PAWL_VERSIONS_LATEST;
        status = op_definition_row(op, &ref, &row);
    }
    if (status == PAWL_OK)
        status = op_definition_check_writable(op, definition_id);
    if (status == PAWL_OK && is_published)
        status = op_record_begin(op, &record, "retract", "definition", definition_id);
    if (status == PAWL_OK && is_published)
        status =
            op_record_end(op, &record, true,
                          pawl__definitions_retract_by(op_definitions(op), record.by, definition_id,
                                                       op->deadline_ns, op->err));
    if (status == PAWL_OK) {
        status = read_again(op, &row);
        if (is_published)
            status = pawl__error_after_commit(op->err, status, "the definition %.*s was retracted",
                                              PAWL_STR_ARG(definition_id));
    }
    if (status == PAWL_OK) {
        *was_published = is_published;
        *out = row;
    }
    return status;
}

int pawl__op_definition_revert(const struct pawl_op *op, struct pawl_str definition_id,
                               int64_t version, struct pawl_definition_row *out)
{
    struct op_record record;
    int status = op_definition_check_writable(op, definition_id);

    if (status == PAWL_OK)
        status = op_record_begin(op, &record, "revert", "definition", definition_id);
    if (status == PAWL_OK)
        status = op_record_end(op, &record, false,
                               pawl__definitions_revert(op_definitions(op), record.by,
                                                        definition_id, version, op->arena, out,
                                                        op->deadline_ns, op->err));
    return status;
}

/* ---- deleting ----------------------------------------------------------------------------------
 */

/* Instances that are deleted between two looks at the list. */
#define INSTANCES_BATCH 100u
/* Their rows, and what deleting them takes. */
#define BATCH_BYTES_MAX ((size_t)256 << 20)

static void of_definition(struct op_query *query, const struct pawl_definition_delete *request)
{
    op_query_init(query, PAWL_TABLE_INSTANCES, NULL, false);
    op_where_given(query, "version_id", request->version_id);
    op_where_given(query, "definition_id", request->definition_id);
}

static int check_unused(const struct pawl_op *op, const struct pawl_definition_delete *request)
{
    struct pawl_str what =
        request->definition_id.len > 0 ? request->definition_id : request->version_id;
    const struct pawl_definition_ref latest = {.definition_id = request->definition_id,
                                               .versions = {PAWL_VERSIONS_LATEST, 0}};
    struct pawl_definition_row row;
    struct op_query query;
    uint64_t count = 0;
    int status;

    of_definition(&query, request);
    op_where_text(&query, "status", PAWL_EQ, pawl__str("Running"));
    status = op_count(op, &query, &count);
    /* One that is not there is not "still used" by what was started when it was. */
    if (status == PAWL_OK && count > 0 && request->version_id.len == 0)
        status = op_definition_row(op, &latest, &row);
    if (status == PAWL_OK && count > 0)
        return pawl__error_set(
            op->err, PAWL_ECONFLICT,
            "%ju instance%s of %.*s still run%s and could not continue without it",
            (uintmax_t)count, count == 1 ? "" : "s", PAWL_STR_ARG(what), count == 1 ? "s" : "");
    return status;
}

static int delete_instance(const struct pawl_op *op, struct pawl_str id)
{
    struct pawl_workflow_client *client;
    int status = pawl__workflow_runtime_client(pawl__host_get(op->host, PAWL_SLOT_RUNTIME), id,
                                               &client, op->err);

    if (status != PAWL_OK)
        return status;
    client->by = op->record;
    status = pawl__workflow_client_delete(client, op->deadline_ns, op->err);
    pawl__workflow_client_close(client);
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

/* The rows of each batch are given up before the next is read. */
static int delete_instances(const struct pawl_op *op, const struct pawl_definition_delete *request,
                            uint64_t *count)
{
    struct pawl_rows rows = {0};
    struct pawl_op batch = *op;
    struct pawl_arena arena;
    int status = PAWL_OK;

    pawl__arena_init(&arena, &op_env(op)->alloc, BATCH_BYTES_MAX);
    batch.arena = &arena;
    do {
        const struct pawl_instance_row *all;
        struct op_query query;

        pawl__arena_reset(&arena);
        of_definition(&query, request);
        status = op_find_all(&batch, &query, INSTANCES_BATCH, &rows);
        all = rows.rows;
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            status = delete_instance(&batch, all[i].id);
            *count += status == PAWL_OK;
            if (status != PAWL_OK)
                status = pawl__error_prefix(op->err, status, "instance %.*s was not deleted",
                                            PAWL_STR_ARG(all[i].id));
        }
    } while (status == PAWL_OK && rows.count == INSTANCES_BATCH);
    pawl__arena_release(&arena);
    return status;
}

/* The version that is meant, by its id; whether it may be deleted. */
static int resolve(const struct pawl_op *op, struct pawl_definition_delete *request)
{
    const struct pawl_definition_ref ref = {
        .version_id = request->version > 0 ? pawl__str("") : request->version_id,
        .definition_id = request->definition_id,
        .versions = {request->version > 0 ? PAWL_VERSIONS_NUMBER : PAWL_VERSIONS_ALL,
                     request->version},
    };
    struct pawl_definition_row row = {.definition_id = request->definition_id};
    int status = PAWL_OK;

    if (request->definition_id.len == 0 && request->version_id.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "no definition id is given");
    if (request->version > 0 || request->version_id.len > 0) {
        status = op_definition_row(op, &ref, &row);
        if (status == PAWL_OK)
            request->version_id = row.id;
        /* Instances of a version that is gone can be deleted by its id. */
        if (status == PAWL_ENOTFOUND && request->version == 0 && request->with_instances)
            status = PAWL_OK;
    }
    if (status == PAWL_OK)
        status = op_definition_check_writable(op, row.definition_id);
    if (request->version_id.len > 0)
        request->definition_id = pawl__str("");
    return status;
}

/*
 * The definition goes first, so that nothing starts it while its instances go. When the call ends
 * in between, calling it again goes on.
 */
int pawl__op_definition_delete(const struct pawl_op *op,
                               const struct pawl_definition_delete *request,
                               struct pawl_definition_deleted *out)
{
    struct pawl_definition_deleted deleted = {.definitions = 1};
    struct pawl_definition_delete which = *request;
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json asked = pawl__json_object();
    struct op_record record;
    struct pawl_op part = *op;
    int status = resolve(op, &which);

    if (status == PAWL_OK && !which.force && !which.with_instances)
        status = check_unused(op, &which);
    if (status == PAWL_OK)
        status = op_record_begin(op, &record, "delete", "definition",
                                 which.version_id.len > 0 ? which.version_id : which.definition_id);
    pawl__build_bool(&b, &asked, "force", which.force);
    pawl__build_bool(&b, &asked, "withInstances", which.with_instances);
    if (status == PAWL_OK && (which.force || which.with_instances))
        status = op_record_asked(op, &record, &b, &asked);
    if (status != PAWL_OK)
        return status;
    part.record = record.by;
    status = which.version_id.len > 0
                 ? pawl__definitions_delete_version(op_definitions(op), record.by, which.version_id,
                                                    op->deadline_ns, op->err)
                 : pawl__definitions_delete_by(op_definitions(op), record.by, which.definition_id,
                                               op->deadline_ns, op->err);
    status = op_record_end(op, &record, true, status);
    if (which.with_instances && (status == PAWL_OK || status == PAWL_ENOTFOUND)) {
        struct pawl_error before = op->err ? *op->err : (struct pawl_error)PAWL_ERROR_INIT;
        int then = delete_instances(&part, &which, &deleted.instances);

        deleted.definitions = status == PAWL_OK;
        if (then != PAWL_OK && deleted.definitions + deleted.instances == 0)
            return then;
        if (then != PAWL_OK)
            return op_partly(op, then, "%s%ju of its instances were deleted",
                             deleted.definitions ? "the definition and " : "",
                             (uintmax_t)deleted.instances);
        if (status == PAWL_ENOTFOUND && deleted.instances > 0)
            status = PAWL_OK;
        else if (status != PAWL_OK && op->err)
            *op->err = before;
    }
    if (status == PAWL_OK)
        *out = deleted;
    return status;
}

/* ---- those that use it -------------------------------------------------------------------------
 */

/* Of one definition, those that use it through others included. */
#define CONSUMERS_MAX 10000u

static bool has_id(const struct pawl_definition_ids *ids, struct pawl_str id)
{
    for (size_t i = 0; i < ids->count; i++) {
        if (pawl__str_equal(ids->items[i], id))
            return true;
    }
    return false;
}

/* Those that use this one, and that are not among them yet. */
static int add_direct(const struct pawl_op *op, struct pawl_str definition_id,
                      struct pawl_definition_ids *all)
{
    struct pawl_definition_ids direct;
    int status = pawl__definitions_consumers(op_definitions(op), definition_id, op->arena, &direct,
                                             op->deadline_ns, op->err);

    for (size_t i = 0; status == PAWL_OK && i < direct.count; i++) {
        if (has_id(all, direct.items[i]))
            continue;
        if (all->count == CONSUMERS_MAX)
            return pawl__error_set(op->err, PAWL_ELIMIT,
                                   "more than %u definitions use this one, directly or through "
                                   "others",
                                   CONSUMERS_MAX);
        all->items[all->count++] = direct.items[i];
    }
    return status;
}

int pawl__op_definition_consumers(const struct pawl_op *op, struct pawl_str definition_id,
                                  struct pawl_definition_ids *out)
{
    struct pawl_definition_ids all = {
        .items = pawl__arena_alloc_array(op->arena, CONSUMERS_MAX, sizeof *all.items)};
    int status;

    if (!all.items)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    status = add_direct(op, definition_id, &all);
    for (size_t i = 0; status == PAWL_OK && i < all.count; i++) {
        status = add_direct(op, all.items[i], &all);
        if (status == PAWL_ENOTFOUND) /* it was deleted meanwhile */
            status = PAWL_OK;
    }
    if (status == PAWL_OK)
        *out = all;
    return status;
}

int pawl__op_definition_update_references(const struct pawl_op *op, struct pawl_str definition_id,
                                          struct pawl_definition_list *out)
{
    const struct pawl_definition_ref ref = {.definition_id = definition_id,
                                            .versions = {PAWL_VERSIONS_LATEST, 0}};
    struct pawl_definition_ids ids = {NULL, 0};
    struct pawl_definition_row row;
    struct op_record record;
    int status = op_definition_row(op, &ref, &row);

    if (status == PAWL_OK)
        status = op_record_begin(op, &record, "update-references", "definition", definition_id);
    if (status == PAWL_OK)
        status = op_record_end(op, &record, false,
                               pawl__definitions_update_references(op_definitions(op), record.by,
                                                                   definition_id, op->arena, &ids,
                                                                   op->deadline_ns, op->err));
    if (status != PAWL_OK)
        return status;
    status = op_definitions_of(op, PAWL_VERSIONS_LATEST, ids.items, ids.count, out);
    return ids.count == 0 ? status
                          : pawl__error_after_commit(op->err, status,
                                                     "%zu definitions that use %.*s were updated",
                                                     ids.count, PAWL_STR_ARG(definition_id));
}

/* ---- refresh, reload ---------------------------------------------------------------------------
 */

int pawl__op_definitions_refresh(const struct pawl_op *op, const struct pawl_str *definition_ids,
                                 size_t count, struct pawl_refreshed *out)
{
    return pawl__refresher_refresh(pawl__host_get(op->host, PAWL_SLOT_REFRESHER),
                                   &(struct pawl_refresh){.ids = definition_ids, .count = count},
                                   op->arena, out, op->deadline_ns, op->err);
}

int pawl__op_definitions_reload(const struct pawl_op *op, struct pawl_reloaded *out)
{
    return pawl__reloader_reload(pawl__host_get(op->host, PAWL_SLOT_RELOADER), out, op->deadline_ns,
                                 op->err);
}
