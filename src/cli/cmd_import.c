/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl import FILE...`: definitions and instances that Elsa or Pawl exported.
 *
 * Every file is read twice, one at a time: definitions go first, whatever the order of the files,
 * because an instance is taken over only where the version of its definition is. A file that fails
 * is reported and the others go on.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "operations/definitions.h"
#include "operations/instances.h"
#include "os/file.h"
#include "os/process.h"

#define FILES_MAX 1000000u
#define FOLDERS_DEPTH_MAX 16
#define FILE_BYTES_MAX ((size_t)1 << 30)

enum pass { PASS_DEFINITIONS, PASS_INSTANCES, PASS_COUNT };

struct import {
    struct pawl_cli_session *session;
    const char **paths;
    size_t count, cap;
    struct pawl_str stdin_text; /* read once; ptr NULL: not yet */
    struct pawl_arena arena;    /* of one file */
    struct pawl_builder b;      /* of the report, in the cli's arena */
    struct pawl_json report;
    bool strict, terminal;
    size_t done[PASS_COUNT], skipped, failed;
    int code; /* of the first that failed */
};

/* ---- files --------------------------------------------------------------------------------- */

static int add_path(struct import *import, const char *path, struct pawl_error *err)
{
    struct pawl_arena *arena = &import->session->cli->arena;

    if (import->count == FILES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "more than %u files: import them in parts",
                               FILES_MAX);
    if (import->count == import->cap) {
        size_t cap = import->cap ? import->cap * 2 : 64;
        const char **grown = pawl__arena_alloc_array(arena, cap, sizeof *grown);

        if (!grown)
            return pawl__error_code(err, pawl__arena_status(arena));
        if (import->count > 0)
            memcpy(grown, import->paths, import->count * sizeof *grown);
        import->paths = grown;
        import->cap = cap;
    }
    import->paths[import->count++] = path;
    return PAWL_OK;
}

/* A file that was named, or each *.json in a folder and the folders in it. */
static int add_operand(struct import *import, const char *path, int depth, struct pawl_error *err)
{
    struct pawl_arena *arena = &import->session->cli->arena;
    struct pawl_error not_a_folder;
    struct pawl_str *names;
    size_t count;
    int status;

    if (strcmp(path, "-") == 0 || pawl__file_is_regular(path))
        return add_path(import, path, err);
    if (depth == FOLDERS_DEPTH_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%s: folders in folders, %d deep", path, depth);
    status = pawl__folder_list(path, arena, &names, &count, &not_a_folder);
    if (status == PAWL_EINVAL && depth == 0)
        return add_path(import, path, err); /* a pipe, say: it was named */
    if (status == PAWL_EINVAL) {
        pawl_log(&import->session->cli->log, PAWL_LOG_WARN, "left out: neither a file nor a folder",
                 pawl_log_text("path", path));
        return PAWL_OK;
    }
    if (status != PAWL_OK) {
        *err = not_a_folder;
        return status;
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const char *inner = pawl__arena_printf(arena, "%s/%s", path, names[i].ptr);

        if (!inner)
            status = pawl__error_code(err, pawl__arena_status(arena));
        else if (!pawl__file_is_regular(inner))
            status = add_operand(import, inner, depth + 1, err);
        else if (pawl__str_ends(names[i], pawl__str(".json")))
            status = add_path(import, inner, err);
    }
    return status;
}

static int read_json(struct import *import, const char *path, struct pawl_json *out,
                     struct pawl_error *err)
{
    struct pawl_cli *cli = import->session->cli;
    struct pawl_json_limits limits = pawl__json_limits_default;
    bool is_stdin = strcmp(path, "-") == 0;
    struct pawl_str text = import->stdin_text;
    int status = PAWL_OK;

    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    if (!is_stdin || !text.ptr)
        status = pawl__cli_read(cli, is_stdin ? &cli->arena : &import->arena, path, &text, err);
    if (status == PAWL_OK && is_stdin)
        import->stdin_text = text;
    if (status == PAWL_OK && pawl__str_starts(text, pawl__str("PK\003\004")))
        return pawl__error_set(err, PAWL_EUNSUPPORTED,
                               "this is a ZIP archive: unpack it and import the folder");
    return status == PAWL_OK ? pawl__json_parse(&import->arena, text, &limits, out, NULL, err)
                             : status;
}

static enum pass pass_of(const struct pawl_json *json)
{
    return pawl__op_instance_is_export(json) ? PASS_INSTANCES : PASS_DEFINITIONS;
}

/* ---- the report ---------------------------------------------------------------------------- */

static void clear_progress(struct import *import)
{
    if (import->terminal)
        pawl__cli_print(&import->session->cli->err, "\r\033[K");
}

static void note(struct import *import, const char *path, const char *what, const char *did,
                 struct pawl_str id, const char *error)
{
    struct pawl_cli *cli = import->session->cli;
    struct pawl_builder *b = &import->b;
    struct pawl_json one = pawl__json_object(), text = pawl__json_null();

    if (import->session->as_json) {
        pawl__cli_put(b, &one, "file", pawl__str(path));
        pawl__cli_put(b, &one, "what", pawl__str(what));
        pawl__cli_put(b, &one, "result", pawl__str(did));
        if (b->status == PAWL_OK)
            b->status = pawl__json_string_copy(b->arena, id, &text);
        pawl__build(b, &one, "id", text);
        if (b->status == PAWL_OK)
            b->status = pawl__json_string_copy(b->arena, pawl__str(error), &text);
        pawl__build(b, &one, "error", error ? text : pawl__json_null());
        pawl__build_append(b, &import->report, one);
        return;
    }
    if (error)
        return;
    clear_progress(import);
    pawl__cli_print(&cli->out, "%s %s ", did, what);
    pawl__cli_write_safe(&cli->out, id);
    pawl__cli_print(&cli->out, "\n");
    pawl__cli_flush(&cli->out);
}

/* What is there already is no failure, unless strict. */
static void note_failure(struct import *import, const char *path, const char *what,
                         struct pawl_str id, const struct pawl_error *err)
{
    struct pawl_cli *cli = import->session->cli;
    bool skipped = err->code == PAWL_EEXISTS && !import->strict;

    note(import, path, what, skipped ? "skipped" : "failed", id, err->msg);
    clear_progress(import);
    pawl__cli_flush(&cli->out);
    if (skipped) {
        import->skipped++;
        pawl__cli_print(&cli->err, "skipped ");
    } else {
        import->failed++;
        if (import->code == PAWL_CLI_EXIT_OK)
            import->code = pawl__cli_exit_of(err->code);
        pawl__cli_print(&cli->err, "failed ");
    }
    pawl__cli_write_safe(&cli->err, pawl__str(pawl__cli_file_name(path)));
    pawl__cli_print(&cli->err, ": ");
    pawl__cli_write_safe(&cli->err, pawl__str(err->msg));
    pawl__cli_print(&cli->err, "\n");
}

static void show_progress(struct import *import, enum pass pass, size_t at)
{
    struct pawl_cli_stream *to = &import->session->cli->err;

    if (!import->terminal)
        return;
    pawl__cli_print(to, "\r%s: %zu of %zu files\033[K",
                    pass == PASS_DEFINITIONS ? "definitions" : "instances", at + 1, import->count);
    pawl__cli_flush(to);
}

/* ---- definitions --------------------------------------------------------------------------- */

static int import_definition(struct import *import, const struct pawl_json *json,
                             struct pawl_str *id, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(import->session, err);
    struct pawl_definition_row row;
    int status;

    if (!pawl__json_get_nocase(json, pawl__str("root")))
        return pawl__error_set(err, PAWL_EPARSE,
                               "this is neither a definition, which has a member 'root', nor an "
                               "instance, which has 'WorkflowState'");
    op.arena = &import->arena;
    status = pawl__op_definition_import(&op, json, &row);
    if (status == PAWL_OK)
        *id = row.definition_id;
    return status;
}

/* ---- the passes ---------------------------------------------------------------------------- */

static int import_instance(struct import *import, const struct pawl_json *json, struct pawl_str *id,
                           struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(import->session, err);
    struct pawl_outcome outcome;
    int status = pawl__op_instance_import(&op, json, &outcome);

    if (status == PAWL_OK)
        *id = pawl__arena_str(&import->arena, pawl__str(outcome.instance_id));
    return status;
}

/* A file that cannot be read is reported in the first pass alone. */
static int import_file(struct import *import, enum pass pass, const char *path,
                       struct pawl_error *err)
{
    const char *what = pass == PASS_DEFINITIONS ? "definition" : "instance";
    struct pawl_str id = pawl__str("");
    struct pawl_json json;
    int status = read_json(import, path, &json, err);

    if (status != PAWL_OK ? pass == PASS_INSTANCES : pass_of(&json) != pass)
        return PAWL_OK;
    if (status == PAWL_OK)
        status = pass == PASS_DEFINITIONS ? import_definition(import, &json, &id, err)
                                          : import_instance(import, &json, &id, err);
    if (status == PAWL_OK) {
        import->done[pass]++;
        note(import, path, what, "imported", id, NULL);
        return PAWL_OK;
    }
    if (pawl_error_class(status) == PAWL_CLASS_TRANSIENT || status == PAWL_ESTOPPED)
        return pawl__error_prefix(err, status, "%s", pawl__cli_file_name(path));
    note_failure(import, path, what, id, err);
    return PAWL_OK;
}

static int import_all(struct import *import, struct pawl_error *err)
{
    int status = PAWL_OK;

    for (int pass = 0; pass < PASS_COUNT && status == PAWL_OK; pass++) {
        for (size_t i = 0; i < import->count && status == PAWL_OK; i++) {
            show_progress(import, (enum pass)pass, i);
            *err = (struct pawl_error)PAWL_ERROR_INIT;
            status = import_file(import, (enum pass)pass, import->paths[i], err);
            pawl__arena_reset(&import->arena);
        }
    }
    clear_progress(import);
    return status;
}

static int finish(struct import *import, struct pawl_error *err)
{
    struct pawl_cli *cli = import->session->cli;
    int code;

    if (import->b.status != PAWL_OK) {
        (void)pawl__error_code(err, import->b.status);
        return pawl__cli_fail(cli, err, NULL);
    }
    code =
        import->session->as_json ? pawl__cli_print_json(cli, &import->report, 0) : PAWL_CLI_EXIT_OK;
    pawl__cli_flush(&cli->out);
    pawl__cli_print(&cli->err,
                    "%zu definition%s and %zu instance%s imported, %zu skipped, %zu "
                    "failed\n",
                    import->done[PASS_DEFINITIONS], import->done[PASS_DEFINITIONS] == 1 ? "" : "s",
                    import->done[PASS_INSTANCES], import->done[PASS_INSTANCES] == 1 ? "" : "s",
                    import->skipped, import->failed);
    return code != PAWL_CLI_EXIT_OK ? code : import->code;
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct import import = {.session = session,
                            .b = {.arena = &cli->arena},
                            .report = pawl__json_array(),
                            .strict = pawl__cli_flag(&cli->args, "strict"),
                            .terminal = pawl__fd_is_terminal(fileno(cli->err.file))};
    int code, status = PAWL_OK;

    session->as_json = pawl__cli_flag(&cli->args, "json");
    pawl__arena_init(&import.arena, &cli->env->alloc, FILE_BYTES_MAX);
    for (size_t i = 0; i < cli->args.operand_count && status == PAWL_OK; i++)
        status = add_operand(&import, cli->args.operands[i], 0, err);
    if (status == PAWL_OK)
        status = import_all(&import, err);
    if (status == PAWL_OK && !pawl__cli_flag(&cli->args, "detach"))
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK)
        code = pawl__cli_fail(cli, err,
                              pawl__cli_session_hint(status) ? pawl__cli_session_hint(status)
                                                             : pawl__cli_read_hint(status));
    else
        code = finish(&import, err);
    pawl__arena_release(&import.arena);
    return code;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "strict",
     .kind = PAWL_CLI_FLAG,
     .help = "What is there already is an error, not skipped"},
    {.name = "detach",
     .letter = 'd',
     .kind = PAWL_CLI_FLAG,
     .help = "Only import; a worker fires the timers that are due"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print a JSON array, one object per file"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_import = {
    .name = "import",
    .summary = "Take over definitions and instances that Elsa or Pawl exported",
    .operands = "FILE...",
    .help =
        "Each FILE is an instance as Elsa exports it, with bookmarks and logs, or a definition;\n"
        "'-' is standard input; of a folder, all *.json files in it and below. Definitions\n"
        "come first, with their ids and versions, and are published unless they say that\n"
        "they are drafts. Instances start where they stood; timers whose time has passed\n"
        "fire at once.\n",
    .options = options,
    .run = run,
};
