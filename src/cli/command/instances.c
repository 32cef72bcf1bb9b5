/* SPDX-License-Identifier: Apache-2.0 */
/* Instances as people and programs see them. */
#include "cli/command/instances.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/command/output.h"
#include "operations/instances.h"
#include "views/instances.h"

#define OUTPUT_MAX ((size_t)256 << 20)

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* What a bookmark waits for, in few words. */
static void show_bookmark(struct pawl_cli *cli, const struct pawl_json *bookmark)
{
    const struct pawl_json *payload = pawl__json_get_text(bookmark, "payload");
    static const char *const telling[] = {"eventName", "resumeAt",        "executeAt",
                                          "taskName",  "childInstanceId", "path"};

    pawl__cli_print(&cli->out, "  waits for ");
    pawl__cli_write_safe(&cli->out, text_of(bookmark, "name"));
    for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++) {
        struct pawl_str text = text_of(payload, telling[i]);

        if (text.len == 0)
            continue;
        pawl__cli_print(&cli->out, " ");
        pawl__cli_write_safe(&cli->out, text);
    }
    pawl__cli_print(&cli->out, " (activity ");
    pawl__cli_write_safe(&cli->out, text_of(bookmark, "activityId"));
    pawl__cli_print(&cli->out, ", bookmark ");
    pawl__cli_write_safe(&cli->out, text_of(bookmark, "id"));
    pawl__cli_print(&cli->out, ")\n");
}

static void show_incident(struct pawl_cli *cli, const struct pawl_json *incident)
{
    pawl__cli_print(&cli->out, "  incident at ");
    pawl__cli_write_safe(&cli->out, text_of(incident, "activityId"));
    pawl__cli_print(&cli->out, ": ");
    pawl__cli_write_safe(&cli->out, text_of(incident, "message"));
    pawl__cli_print(&cli->out, "\n");
}

void pawl__cli_show_trouble(struct pawl_cli *cli, const char *before,
                            const struct pawl_instance_row *row)
{
    char time[PAWL_CLI_TIME_TEXT];

    if (row->retry_us == 0 && (row->trouble.len == 0 || !pawl__str_is(row->status, "Finished")))
        return;
    if (row->retry_us == 0)
        pawl__cli_print(&cli->out, "%s", before);
    else if (row->retry_us == PAWL_TIME_NEVER)
        pawl__cli_print(&cli->out, "%sset aside: ", before);
    else
        pawl__cli_print(&cli->out, "%stried again at %s: ", before,
                        pawl__cli_time_text(row->retry_us, time));
    pawl__cli_write_safe(&cli->out, row->trouble);
}

static void show_text(struct pawl_cli *cli, const struct pawl_instance_row *row,
                      const struct pawl_json *state)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(state, "bookmarks");
    const struct pawl_json *incidents = pawl__json_get_text(state, "incidents");

    pawl__cli_write_safe(&cli->out, row->id);
    pawl__cli_print(&cli->out, "  ");
    pawl__cli_write_safe(&cli->out, row->sub_status);
    pawl__cli_print(&cli->out, "  ");
    pawl__cli_write_safe(&cli->out, row->definition_id);
    pawl__cli_print(&cli->out, " version %lld\n", (long long)row->version);
    if (row->retry_us != 0 || row->trouble.len > 0) {
        pawl__cli_show_trouble(cli, "  ", row);
        pawl__cli_print(&cli->out, "\n");
    }
    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++)
        show_bookmark(cli, pawl__json_at(bookmarks, i));
    for (uint32_t i = 0; i < pawl__json_len(incidents); i++)
        show_incident(cli, pawl__json_at(incidents, i));
}

int pawl__cli_print_view(struct pawl_cli *cli, const struct pawl_builder *b,
                         const struct pawl_json *view)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_buf json;

    if (b->status != PAWL_OK) {
        (void)pawl__error_code(&err, b->status);
        return pawl__cli_fail(cli, &err, NULL);
    }
    pawl__buf_init(&json, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_write(&json, view, PAWL_JSON_ESCAPE_MINIMAL);
    return pawl__cli_write_json(cli, &json);
}

static int read_instance(struct pawl_cli_session *session, struct pawl_str instance_id,
                         struct pawl_instance_shown *shown, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    int status = pawl__op_instance_show(&op, instance_id, true, shown);

    if (status != PAWL_OK || shown->unreadable.code == PAWL_OK)
        return status;
    /* There is nothing to print in the place of a state; for people the row still tells. */
    if (!session->as_json) {
        pawl__cli_print(&session->cli->err, "its state cannot be read: %s\n",
                        shown->unreadable.msg);
        return PAWL_OK;
    }
    *err = shown->unreadable;
    return err->code;
}

static int show(struct pawl_cli_session *session, const struct pawl_instance_shown *shown)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    int code = PAWL_CLI_EXIT_OK;

    if (session->as_json) {
        struct pawl_json view = pawl__view_state(&b, &shown->state);

        code = pawl__cli_print_view(cli, &b, &view);
    } else {
        show_text(cli, &shown->row, &shown->state);
    }
    if (code != PAWL_CLI_EXIT_OK)
        return code;
    return pawl__str_is(shown->row.sub_status, "Faulted") ? PAWL_CLI_EXIT_FAILED : PAWL_CLI_EXIT_OK;
}

int pawl__cli_show_instance(struct pawl_cli_session *session, struct pawl_str instance_id,
                            struct pawl_error *err)
{
    struct pawl_instance_shown shown;
    int status = read_instance(session, instance_id, &shown, err);

    return status == PAWL_OK ? show(session, &shown)
                             : pawl__cli_fail(session->cli, err, pawl__cli_session_hint(status));
}

/* All that is known of it. */
static int show_id(struct pawl_cli_session *session, struct pawl_str instance_id)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json view = pawl__json_object();
    int code = PAWL_CLI_EXIT_OK;

    if (session->as_json) {
        pawl__build_text(&b, &view, "id", instance_id);
        code = pawl__cli_print_view(cli, &b, &view);
    } else {
        pawl__cli_write_safe(&cli->out, instance_id);
        pawl__cli_print(&cli->out, "\n");
    }
    pawl__cli_print(&cli->err, "hint: 'pawl show %.*s' shows it\n", PAWL_STR_ARG(instance_id));
    return code;
}

int pawl__cli_show_changed(struct pawl_cli_session *session, struct pawl_str instance_id,
                           struct pawl_error *err)
{
    struct pawl_instance_shown shown;
    int status = read_instance(session, instance_id, &shown, err);

    if (status == PAWL_OK)
        return show(session, &shown);
    status = pawl__cli_session_stored(session, status, "the instance could not be read", err);
    return status == PAWL_OK ? show_id(session, instance_id)
                             : pawl__cli_fail(session->cli, err, pawl__cli_session_hint(status));
}
