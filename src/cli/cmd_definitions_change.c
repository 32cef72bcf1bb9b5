/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl definitions publish`, `retract`, `revert`, `rm`, `consumers` and `update`. */
#include "base/error.h"
#include "cli/cmd_definitions.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "views/definitions.h"

static int say(struct pawl_cli_session *session, const char *did, int64_t version)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json said = pawl__json_object();

    if (!pawl__cli_flag(&cli->args, "json")) {
        pawl__cli_print(&cli->out, "%s %s", did, cli->args.operands[0]);
        if (version > 0)
            pawl__cli_print(&cli->out, " version %lld", (long long)version);
        pawl__cli_print(&cli->out, "\n");
        return PAWL_CLI_EXIT_OK;
    }
    pawl__cli_put(&b, &said, did, pawl__cli_definitions_id(session));
    if (version > 0)
        pawl__build_int(&b, &said, "version", version);
    return pawl__cli_print_json(cli, &said, 0);
}

/* "published order version 3", or its summary. */
static int say_version(struct pawl_cli_session *session, const char *did,
                       const struct pawl_definition_row *row, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json summary;

    if (!pawl__cli_flag(&cli->args, "json")) {
        pawl__cli_print(&cli->out, "%s ", did);
        pawl__cli_write_safe(&cli->out, row->definition_id);
        pawl__cli_print(&cli->out, " version %lld\n", (long long)row->version);
        return PAWL_CLI_EXIT_OK;
    }
    summary = pawl__view_definition_summary(&b, row);
    return pawl__cli_definitions_print(session, &b, &summary, 0, err);
}

/* ---- publish, retract, revert -------------------------------------------------------------- */

static int publish(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_cli *cli = session->cli;
    struct pawl_definition_ref ref = {.definition_id = pawl__cli_definitions_id(session)};
    struct pawl_definition_saved saved;
    int status = pawl__cli_pick_version(&cli->args, PAWL_VERSIONS_LATEST, &ref.versions, err);

    if (status == PAWL_OK)
        status = pawl__op_definition_publish(&op, &ref, &saved);
    if (status != PAWL_OK)
        return pawl__cli_definitions_failed(session, err);
    pawl__cli_definitions_problems(cli, cli->args.operands[0], &saved.publication.problems);
    if (!saved.publication.succeeded) {
        pawl__cli_print(&cli->out, "refused %s: nothing was changed\n", cli->args.operands[0]);
        return PAWL_CLI_EXIT_INVALID;
    }
    return say_version(session, "published", &saved.row, err);
}

static int run_publish(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, publish);
}

static const struct pawl_cli_option version_options[] = {
    PAWL_CLI_VERSION_OPTION("latest"),
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_definitions_publish = {
    .name = "publish",
    .summary = "Publish a version that is in the store",
    .operands = "ID",
    .help = "'pawl publish' stores a file and publishes it.\n",
    .options = version_options,
    .run = run_publish,
};

static int retract(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_definition_row row;
    bool was_published = true;
    int status =
        pawl__op_definition_retract(&op, pawl__cli_definitions_id(session), &was_published, &row);

    if (status == PAWL_OK && !was_published)
        status =
            pawl__error_set(err, PAWL_ENOTFOUND, "no version of the definition %s is published",
                            session->cli->args.operands[0]);
    return status == PAWL_OK ? say(session, "retracted", 0)
                             : pawl__cli_definitions_failed(session, err);
}

static int run_retract(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, retract);
}

const struct pawl_cli_command pawl__cli_definitions_retract = {
    .name = "retract",
    .summary = "Unpublish a definition",
    .operands = "ID",
    .help =
        "It can no longer be started, by name or by a trigger. Running instances continue, and\n"
        "'pawl definitions publish' publishes it again.\n",
    .run = run_retract,
};

static int revert(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_str text = pawl__str(session->cli->args.operands[1]);
    struct pawl_version_options version;
    struct pawl_definition_row row;
    int status;

    if (pawl__version_options_read(text, &version, NULL) != PAWL_OK ||
        version.pick != PAWL_VERSIONS_NUMBER) {
        (void)pawl__error_set(err, PAWL_EINVAL, "a version is a number from 1, not '%.*s'",
                              PAWL_STR_ARG(text));
        return pawl__cli_definitions_failed(session, err);
    }
    status =
        pawl__op_definition_revert(&op, pawl__cli_definitions_id(session), version.number, &row);
    return status == PAWL_OK ? say_version(session, "made", &row, err)
                             : pawl__cli_definitions_failed(session, err);
}

static int run_revert(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, revert);
}

const struct pawl_cli_command pawl__cli_definitions_revert = {
    .name = "revert",
    .summary = "Make a new draft from an old version",
    .operands = "ID VERSION",
    .help = "The published version does not change until the draft is published.\n",
    .run = run_revert,
};

/* ---- rm -------------------------------------------------------------------------------------- */

static int remove_definition(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &session->cli->args;
    struct pawl_op op = pawl__cli_session_op(session, err);
    const struct pawl_definition_delete request = {
        .definition_id = pawl__cli_definitions_id(session),
        .version = pawl__cli_number(args, "version", 0),
        .force = pawl__cli_flag(args, "force"),
        .with_instances = pawl__cli_flag(args, "instances"),
    };
    struct pawl_definition_deleted deleted;
    int status = pawl__op_definition_delete(&op, &request, &deleted);

    if (status == PAWL_ECONFLICT)
        return pawl__cli_fail(session->cli, err,
                              "'pawl ps --definition ID' lists them; --force deletes it anyway, "
                              "'pawl definitions retract ID' only prevents new ones");
    return status == PAWL_OK ? say(session, "deleted", request.version)
                             : pawl__cli_definitions_failed(session, err);
}

static int run_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, remove_definition);
}

static const struct pawl_cli_option rm_options[] = {
    {.name = "version",
     .kind = PAWL_CLI_NUMBER,
     .arg = "N",
     .help = "Only this version; the highest one left becomes the latest",
     .min = 1,
     .max = INT32_MAX},
    {.name = "force", .kind = PAWL_CLI_FLAG, .help = "Even if instances of it are running"},
    {.name = "instances", .kind = PAWL_CLI_FLAG, .help = "Also its instances, in whatever state"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_definitions_rm = {
    .name = "rm",
    .summary = "Delete a definition with all its versions and triggers",
    .operands = "ID",
    .help = "Refused while instances of it are running. Ended instances are kept.\n",
    .options = rm_options,
    .run = run_rm,
};

/* ---- consumers, update ----------------------------------------------------------------------- */

/* One id on each line, or an array. */
static int say_ids(struct pawl_cli_session *session, const struct pawl_str *ids, size_t count,
                   struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};

    if (pawl__cli_flag(&cli->args, "json")) {
        struct pawl_json all = pawl__view_ids(&b, ids, count);

        return pawl__cli_definitions_print(session, &b, &all, 0, err);
    }
    for (size_t i = 0; i < count; i++) {
        pawl__cli_write_safe(&cli->out, ids[i]);
        pawl__cli_print(&cli->out, "\n");
    }
    return PAWL_CLI_EXIT_OK;
}

static int consumers(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_definition_ids ids;
    int status = pawl__op_definition_consumers(&op, pawl__cli_definitions_id(session), &ids);

    return status == PAWL_OK ? say_ids(session, ids.items, ids.count, err)
                             : pawl__cli_definitions_failed(session, err);
}

static int run_consumers(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, consumers);
}

const struct pawl_cli_command pawl__cli_definitions_consumers = {
    .name = "consumers",
    .summary = "List the definitions that use one as an activity",
    .operands = "ID",
    .run = run_consumers,
};

static int update(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_definition_list changed;
    struct pawl_str *ids;
    int status =
        pawl__op_definition_update_references(&op, pawl__cli_definitions_id(session), &changed);

    if (status != PAWL_OK)
        return pawl__cli_definitions_failed(session, err);
    ids = pawl__arena_alloc_array(op.arena, changed.count + 1, sizeof *ids);
    if (!ids) {
        (void)pawl__error_code(err, pawl__arena_status(op.arena));
        return pawl__cli_definitions_failed(session, err);
    }
    for (size_t i = 0; i < changed.count; i++)
        ids[i] = changed.rows[i].definition_id;
    return say_ids(session, ids, changed.count, err);
}

static int run_update(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, update);
}

const struct pawl_cli_command pawl__cli_definitions_update = {
    .name = "update-references",
    .summary = "Make all users of a definition use its published version",
    .operands = "ID",
    .help =
        "Prints the definitions that changed. Each gets a new version, published if the old was.\n",
    .run = run_update,
};
