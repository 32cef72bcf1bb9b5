/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters of the bookmark queue: work that was given up. */
#include "operations/letters.h"
#include "api/items.h"
#include "views/letters.h"

#define LETTERS API_ELSA "/bookmark-queue/dead-letters"
#define USUAL_ROWS 50u

struct list_request {
    struct api_number page, size;
    struct pawl_str instance_id;
};

static const struct api_field list_fields[] = {
    API_FIELD(struct list_request, page, "page", API_NUMBER, API_IN_QUERY),
    API_FIELD(struct list_request, size, "pageSize", API_NUMBER, API_IN_QUERY),
    API_FIELD(struct list_request, instance_id, "workflowInstanceId", API_TEXT, API_IN_QUERY),
};

struct letter_request {
    struct pawl_str id;
};

static const struct api_field letter_fields[] = {
    API_FIELD(struct letter_request, id, "id", API_TEXT, API_IN_PATH),
};

static void list_letters(struct api_call *call, const void *data)
{
    const struct list_request *request = data;
    struct pawl_letter_query query = {.instance_id = api_given(request->instance_id),
                                      .page = api_page(request->page, request->size, USUAL_ROWS)};
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json items = pawl__json_array();
    struct pawl_letter_list found;
    int status = pawl__op_letters_list(&call->op, &query, &found);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    for (size_t i = 0; i < found.count; i++)
        pawl__build_append(&b, &items, pawl__view_letter(&b, &found.rows[i]));
    api_respond_page(call, &b, items, found.page.total);
}

static void show_letter(struct api_call *call, const void *data)
{
    const struct letter_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_dead_letter_row row;
    struct pawl_json shown;
    int status = pawl__op_letter_show(&call->op, request->id, &row);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    shown = pawl__view_letter_whole(&b, &row);
    api_respond(call, &b, &shown);
}

/* Of one that cannot be replayed, 409 has what became of it. */
static void refuse_replay(struct api_call *call, struct pawl_str id)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_dead_letter_row row;
    struct pawl_json out;
    int status = pawl__op_letter_show(&call->op, id, &row);

    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    out = pawl__view_letter_replay(&b, false, row.replayed_id);
    api_respond_with(call, 409, &b, &out);
}

static void replay_letter(struct api_call *call, const void *data)
{
    const struct letter_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_str work_id;
    struct pawl_json out;
    int status = pawl__op_letter_replay(&call->op, request->id, &work_id);

    if (status == PAWL_ECONFLICT) {
        refuse_replay(call, request->id);
    } else if (status != PAWL_OK) {
        api_fail(call, status);
    } else {
        out = pawl__view_letter_replay(&b, true, work_id);
        api_respond(call, &b, &out);
    }
}

static void delete_letter(struct api_call *call, const void *data)
{
    const struct letter_request *request = data;
    int status = pawl__op_letter_delete(&call->op, request->id);

    if (status == PAWL_OK)
        api_respond_status(call, 204);
    else
        api_fail(call, status);
}

#define READ "read:bookmark-queue:dead-letters"

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = LETTERS,
     .permission = READ,
     .handle = list_letters,
     API_FIELDS(struct list_request, list_fields),
     .summary = "Work that was given up, the latest first",
     .result = "DeadLetters"},
    {.method = "POST",
     .path = LETTERS,
     .permission = READ,
     .handle = list_letters,
     .body = API_BODY_OPTIONAL,
     API_FIELDS(struct list_request, list_fields),
     .summary = "Work that was given up, with the filter in the body",
     .result = "DeadLetters"},
    {.method = "GET",
     .path = LETTERS "/{id}",
     .permission = READ,
     .handle = show_letter,
     API_FIELDS(struct letter_request, letter_fields),
     .summary = "One dead letter with its payload",
     .result = "DeadLetter"},
    {.method = "DELETE",
     .path = LETTERS "/{id}",
     .permission = "delete:bookmark-queue:dead-letters",
     .handle = delete_letter,
     API_FIELDS(struct letter_request, letter_fields),
     .summary = "Deletes a dead letter"},
    {.method = "POST",
     .path = LETTERS "/{id}/replay",
     .permission = "replay:bookmark-queue:dead-letters",
     .handle = replay_letter,
     .body = API_BODY_IGNORED,
     API_FIELDS(struct letter_request, letter_fields),
     .summary = "Makes the work due again",
     .result = "Replayed"},
};
const struct api_family api_letters = API_FAMILY("Dead letters", endpoints);
