/* SPDX-License-Identifier: Apache-2.0 */
/* Roles; see identity.h. Data of a role: {name, permissions}. */
#include "base/error.h"
#include "base/json/builder.h"
#include "operations/identity_private.h"

static int read_role(const struct pawl_op *op, const struct pawl_document_row *row,
                     struct pawl_role *out)
{
    struct pawl_json data;
    int status = identity_read(op, row, &data);

    if (status != PAWL_OK)
        return status;
    out->id = row->id;
    out->name = pawl__json_str(pawl__json_get_text(&data, "name"));
    status =
        identity_texts(op->arena, pawl__json_get_text(&data, "permissions"), &out->permissions);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

int pawl__op_roles_list(const struct pawl_op *op, struct pawl_role_list *out)
{
    const struct pawl_document_row *rows = NULL;
    struct pawl_role *roles;
    size_t count = 0;
    int status = identity_find_all(op, KIND_ROLE, &rows, &count);

    if (status != PAWL_OK)
        return status;
    roles = pawl__arena_alloc_array(op->arena, count + 1, sizeof *roles);
    if (!roles)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = read_role(op, &rows[i], &roles[i]);
    if (status == PAWL_OK)
        *out = (struct pawl_role_list){roles, count};
    return status;
}

int pawl__op_role_show(const struct pawl_op *op, struct pawl_str id, struct pawl_role *out)
{
    const struct pawl_document_row *row = NULL;
    int status = identity_find(op, KIND_ROLE, "id", id, &row);

    if (status == PAWL_OK && !row)
        status =
            pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no role '%.*s'", PAWL_STR_ARG(id));
    return status == PAWL_OK ? read_role(op, row, out) : status;
}

/* ---- changing ------------------------------------------------------------------------------- */

/* "Order Clerk" is "order-clerk", as Elsa makes it. */
static struct pawl_str id_of_name(struct pawl_arena *arena, struct pawl_str name)
{
    char *id = pawl__arena_alloc(arena, name.len + 1);
    size_t len = 0;

    if (!id)
        return pawl__str("");
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80)
            id[len++] = c;
        else if (len > 0 && id[len - 1] != '-')
            id[len++] = '-';
    }
    while (len > 0 && id[len - 1] == '-')
        len--;
    id[len] = '\0';
    return pawl__str_make(id, len);
}

struct role_change {
    const struct pawl_role_request *request;
    struct pawl_str id;
};

static int make_data(const struct pawl_op *op, const struct pawl_role_request *request,
                     struct pawl_str *out)
{
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json data = pawl__json_object();
    int status = PAWL_OK;

    pawl__build_text(&b, &data, "name", pawl__arena_str(op->arena, request->name));
    pawl__build(&b, &data, "permissions",
                identity_array(op->arena, &request->permissions, &status));
    if (status == PAWL_OK)
        status = b.status;
    return status == PAWL_OK ? identity_write(op, &data, out) : pawl__error_code(op->err, status);
}

static int plan_create(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct role_change *change = ctx;
    struct pawl_document_row row = {.kind = pawl__str(KIND_ROLE),
                                    .id = change->id,
                                    .name = change->id,
                                    .lookup = pawl__str(""),
                                    .revision = 1,
                                    .created_us = plan->now_us,
                                    .updated_us = plan->now_us,
                                    .expires_us = PAWL_TIME_NEVER};
    int status = make_data(op, change->request, &row.data);

    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_INSERT, &row);
    return status;
}

static int check(const struct pawl_op *op, const struct pawl_role_request *request)
{
    int status = identity_check_name(op, request->name);

    if (status == PAWL_OK)
        status = identity_check_name(op, request->id);
    if (status == PAWL_OK && request->permissions.count > PAWL_IDENTITY_TEXTS_MAX)
        status = pawl__error_set(op->err, PAWL_EINVAL, "a role has at most %u permissions",
                                 PAWL_IDENTITY_TEXTS_MAX);
    if (status == PAWL_OK)
        status = identity_check_permissions(op, &request->permissions, request->grantor);
    return status;
}

int pawl__op_role_create(const struct pawl_op *op, const struct pawl_role_request *request,
                         struct pawl_role *out)
{
    struct role_change change = {request, request->id};
    int status = check(op, request);

    if (status != PAWL_OK)
        return status;
    if (change.id.len == 0)
        change.id = id_of_name(op->arena, request->name);
    if (change.id.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "a role has a name with a letter in it");
    status = identity_change(op, &(struct identity_change){.action = "create",
                                                           .name = request->name,
                                                           .keys = {"permissions"},
                                                           .lists = {request->permissions},
                                                           .kind = KIND_ROLE,
                                                           .target = change.id,
                                                           .plan = plan_create,
                                                           .ctx = &change});
    if (status == PAWL_OK)
        *out = (struct pawl_role){change.id, request->name, request->permissions};
    return status;
}

/* One who takes permissions from a role must be able to give them back. */
static int plan_update(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct role_change *change = ctx;
    const struct pawl_document_row *found = NULL;
    struct pawl_document_row row;
    struct pawl_role before;
    int status = identity_get(op, KIND_ROLE, change->id, &found);

    if (status == PAWL_OK)
        status = read_role(op, found, &before);
    if (status == PAWL_OK)
        status = identity_check_permissions(op, &before.permissions, change->request->grantor);
    if (status != PAWL_OK)
        return status;
    row = *found;
    row.revision++;
    row.updated_us = plan->now_us;
    status = make_data(op, change->request, &row.data);
    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_PUT, &row);
    return status;
}

int pawl__op_role_update(const struct pawl_op *op, const struct pawl_role_request *request,
                         struct pawl_role *out)
{
    struct role_change change = {request, request->id};
    int status = check(op, request);

    if (status == PAWL_OK)
        status = identity_change(op, &(struct identity_change){.action = "update",
                                                               .name = request->name,
                                                               .keys = {"permissions"},
                                                               .lists = {request->permissions},
                                                               .kind = KIND_ROLE,
                                                               .target = change.id,
                                                               .plan = plan_update,
                                                               .ctx = &change});
    if (status == PAWL_OK)
        *out = (struct pawl_role){change.id, request->name, request->permissions};
    return status;
}

static int plan_delete(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct role_change *change = ctx;
    const struct pawl_document_row *found = NULL;
    struct pawl_role before;
    int status = identity_get(op, KIND_ROLE, change->id, &found);

    if (status == PAWL_OK)
        status = read_role(op, found, &before);
    if (status == PAWL_OK)
        status = identity_check_permissions(op, &before.permissions, change->request->grantor);
    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_DELETE, found);
    return status;
}

int pawl__op_role_delete(const struct pawl_op *op, struct pawl_str id,
                         const struct pawl_texts *grantor)
{
    const struct pawl_role_request request = {.grantor = grantor};
    struct role_change change = {&request, id};

    return identity_change(op, &(struct identity_change){.action = "delete",
                                                         .kind = KIND_ROLE,
                                                         .target = id,
                                                         .plan = plan_delete,
                                                         .ctx = &change,
                                                         .has_no_result = true});
}
