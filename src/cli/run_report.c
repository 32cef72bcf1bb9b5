/* SPDX-License-Identifier: Apache-2.0 */
/* What `pawl run` says: steps, problems, the end. */
#include "cli/run.h"

#include "base/error.h"
#include "base/stimuli.h"
#include "base/time/datetime.h"
#include "operations/instances.h"
#include "views/instances.h"

#define JSON_MAX ((size_t)1 << 30)
/* Of one file; a run is no validation. */
#define PROBLEMS_SHOWN 5u

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* ---- while it runs ------------------------------------------------------------------------- */

void pawl__run_trace(struct run *run, const struct pawl_trace *step)
{
    struct pawl_cli_stream *to = &run->cli->err;

    pawl__cli_flush(&run->cli->out);
    pawl__cli_print(to, "%s> %-9.*s  ", pawl__cli_style(to, PAWL_CLI_DIM),
                    PAWL_STR_ARG(step->event));
    pawl__cli_write_safe(to, step->activity_type);
    pawl__cli_print(to, "  ");
    pawl__cli_write_safe(to, step->activity_id);
    if (!pawl__str_is(step->instance_id, run->entry_id)) {
        pawl__cli_print(to, "  of ");
        pawl__cli_write_safe(to, step->definition_id);
    }
    if (step->message.len > 0) {
        pawl__cli_print(to, ": ");
        pawl__cli_write_safe(to, step->message);
    }
    pawl__cli_print(to, "%s\n", pawl__cli_style(to, PAWL_CLI_PLAIN));
}

void pawl__run_show_wait(struct run *run, int64_t due_us)
{
    struct pawl_cli_stream *to = &run->cli->err;
    char text[PAWL_DATETIME_TEXT_SIZE];

    if (!run->trace)
        return;
    (void)pawl__datetime_format(pawl__datetime_from_unix_ns(due_us * 1000), text);
    pawl__cli_print(to, "%s> waiting until %s%s\n", pawl__cli_style(to, PAWL_CLI_DIM), text,
                    pawl__cli_style(to, PAWL_CLI_PLAIN));
}

void pawl__run_show_problems(struct run *run, const struct pawl_cli_definition *file,
                             const struct pawl_problems *problems)
{
    struct pawl_cli_stream *to = &run->cli->err;
    uint32_t shown = problems->count < PROBLEMS_SHOWN ? problems->count : PROBLEMS_SHOWN;
    uint32_t left = problems->count - shown + problems->dropped;

    for (uint32_t i = 0; i < shown; i++) {
        const struct pawl_problem *problem = &problems->items[i];
        struct pawl_json_place place;

        pawl__cli_locate(file, problem->pointer, &place);
        pawl__cli_write_safe(to, pawl__str(pawl__cli_file_name(file->path)));
        pawl__cli_print(to, ":%u:%u: %swarning%s: ", place.line, place.column,
                        pawl__cli_style(to, PAWL_CLI_BOLD), pawl__cli_style(to, PAWL_CLI_PLAIN));
        pawl__cli_write_safe(to, pawl__str(problem->message));
        pawl__cli_print(to, "\n");
    }
    if (left > 0)
        pawl__cli_print(to, "%s: %u more; 'pawl validate' shows them all\n",
                        pawl__cli_file_name(file->path), left);
}

/* ---- what it waits for ----------------------------------------------------------------------- */

static void say(struct pawl_cli_stream *to, const char *before, struct pawl_str text,
                const char *after)
{
    pawl__cli_write_own(to, before);
    pawl__cli_write_safe(to, text);
    pawl__cli_write_own(to, after);
}

static void say_bookmark(struct pawl_cli_stream *to, const struct pawl_json *bookmark)
{
    const struct pawl_json *payload = pawl__json_get_text(bookmark, "payload");
    struct pawl_str name = text_of(bookmark, "name");

    say(to, "  activity ", text_of(bookmark, "activityId"), " waits for ");
    if (pawl__str_is(name, PAWL_STIMULUS_EVENT))
        say(to, "the event '", text_of(payload, PAWL_STIMULUS_EVENT_NAME), "': --event sends it\n");
    else if (pawl__str_is(name, PAWL_STIMULUS_TASK))
        say(to, "the task '", text_of(payload, PAWL_STIMULUS_TASK_NAME),
            "', which is done externally\n");
    else if (pawl__json_get_text(payload, PAWL_STIMULUS_CHILD_ID))
        say(to, "the end of instance ", text_of(payload, PAWL_STIMULUS_CHILD_ID), "\n");
    else if (pawl__json_get_text(payload, "path"))
        say(to, "a request to ", text_of(payload, "path"), ", which a server receives\n");
    else
        say(to, "", name, "\n");
}

static uint32_t say_bookmarks(struct run *run, const struct pawl_json *state)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(state, "bookmarks");

    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++)
        say_bookmark(&run->cli->err, pawl__json_at(bookmarks, i));
    return pawl__json_len(bookmarks);
}

/* What instances besides the first wait for. */
static uint32_t say_waits_of_others(struct run *run)
{
    const struct pawl_op op = pawl__cli_scratch_op(&run->scratch, &run->entry_arena, NULL);
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list list;
    uint32_t count = 0;

    query.status = pawl__str("Running");
    query.page = (struct pawl_page_request){.limit = PAWL_PAGE_ROWS_MAX, .reversed = true};
    if (pawl__op_instances_list(&op, &query, &list) != PAWL_OK)
        return 0;
    for (size_t i = 0; i < list.count; i++) {
        struct pawl_instance_shown shown;

        if (!pawl__str_is(list.rows[i].id, run->entry_id) &&
            pawl__op_instance_show(&op, list.rows[i].id, true, &shown) == PAWL_OK)
            count += say_bookmarks(run, &shown.state);
    }
    return count;
}

static void say_waits(struct run *run)
{
    uint32_t count = say_bookmarks(run, &run->entry_state);

    if (say_waits_of_others(run) + count == 0)
        pawl__cli_print(&run->cli->err,
                        "  it waits for nothing: no remaining branch can continue\n");
}

static void say_incidents(struct run *run)
{
    const struct pawl_json *incidents = pawl__json_get_text(&run->entry_state, "incidents");
    struct pawl_cli_stream *to = &run->cli->err;

    for (uint32_t i = 0; i < pawl__json_len(incidents); i++) {
        const struct pawl_json *incident = pawl__json_at(incidents, i);
        const struct pawl_json *exception = pawl__json_get_text(incident, "exception");

        say(to, "  activity ", text_of(incident, "activityId"), " (");
        say(to, "", text_of(incident, "activityType"), "): ");
        say(to, "", text_of(incident, "message"), "");
        for (exception = pawl__json_get_text(exception, "innerException"); exception;
             exception = pawl__json_get_text(exception, "innerException"))
            say(to, ": ", text_of(exception, "message"), "");
        pawl__cli_print(to, "\n");
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The name people gave it, else its id. */
static struct pawl_str title_of(const struct run *run)
{
    struct pawl_str name =
        pawl__json_str(pawl__json_get_nocase(&run->files[0].json, pawl__str("name")));

    return name.len > 0 ? name : run->definitions[0].row.definition_id;
}

static void show_summary(struct run *run, struct pawl_str sub_status, bool finished)
{
    struct pawl_cli_stream *to = &run->cli->err;

    pawl__cli_flush(&run->cli->out);
    pawl__cli_print(to, "%s%.*s%s  ", pawl__cli_style(to, finished ? PAWL_CLI_GREEN : PAWL_CLI_RED),
                    PAWL_STR_ARG(sub_status), pawl__cli_style(to, PAWL_CLI_PLAIN));
    pawl__cli_write_safe(to, title_of(run));
    pawl__cli_print(to, "  (%zu %s)\n", run->activity_count,
                    run->activity_count == 1 ? "activity" : "activities");
    say_incidents(run);
    if (!run->entry_is_final)
        say_waits(run);
}

static int write_json(struct run *run)
{
    const struct pawl_json *state = &run->entry_state;
    struct pawl_builder b = {.arena = &run->entry_arena};
    struct pawl_json view = pawl__view_state(&b, state);
    struct pawl_json_writer json;
    struct pawl_error err;
    struct pawl_buf buf;

    if (run->lines_lost || b.status != PAWL_OK) {
        (void)pawl__error_code(&err, PAWL_ENOMEM);
        return pawl__cli_fail(run->cli, &err, NULL);
    }
    pawl__buf_init(&buf, &run->cli->env->alloc, JSON_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "status");
    pawl__json_write_string(&json, text_of(state, "subStatus"));
    pawl__json_write_key_text(&json, "definitionId");
    pawl__json_write_string(&json, run->definitions[0].row.definition_id);
    pawl__json_write_key_text(&json, "name");
    pawl__json_write_string(&json, title_of(run));
    pawl__json_write_key_text(&json, "activities");
    pawl__json_write_int(&json, (int64_t)run->activity_count);
    pawl__json_write_key_text(&json, "lines");
    pawl__json_write_value(&json, &run->lines);
    pawl__json_write_key_text(&json, "state");
    pawl__json_write_value(&json, &view);
    pawl__json_write_end_object(&json);
    return pawl__cli_write_json(run->cli, &buf);
}

int pawl__run_report(struct run *run)
{
    struct pawl_str sub_status = text_of(&run->entry_state, "subStatus");
    bool finished = pawl__str_is(sub_status, "Finished");
    int code = PAWL_CLI_EXIT_OK;

    if (run->as_json)
        code = write_json(run);
    else
        show_summary(run, sub_status, finished);
    return code == PAWL_CLI_EXIT_OK && !finished ? PAWL_CLI_EXIT_FAILED : code;
}
