/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl why INSTANCE`: what it waits for, since when, and what would wake it. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "views/why.h"

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static void put(struct pawl_cli *cli, const char *before, struct pawl_str text, const char *after)
{
    pawl__cli_write_own(&cli->out, before);
    pawl__cli_write_safe(&cli->out, text);
    pawl__cli_write_own(&cli->out, after);
}

/* "2026-01-02 03:04:05" of a member with a time. */
static void put_time(struct pawl_cli *cli, const char *before, const struct pawl_json *object,
                     const char *key)
{
    struct pawl_str time = text_of(object, key);

    if (time.len < 19)
        return;
    pawl__cli_write_own(&cli->out, before);
    pawl__cli_print(&cli->out, "%.10s %.8s", time.ptr, time.ptr + 11);
}

/* A single one is in the summary already. */
static void put_wait(struct pawl_cli *cli, const struct pawl_json *wait, bool single)
{
    const struct pawl_json *children = pawl__json_get_text(wait, "children");

    if (!single)
        put(cli, "for ", text_of(wait, "text"), "\n");
    put(cli, "    at activity ", text_of(wait, "activityId"), "");
    put_time(cli, ", since ", wait, "since");
    pawl__cli_print(&cli->out, " UTC\n");
    for (uint32_t i = 0; pawl__json_len(children) > 1 && i < pawl__json_len(children); i++) {
        const struct pawl_json *child = pawl__json_at(children, i);

        put(cli, "    child ", text_of(child, "instanceId"), "  ");
        put(cli, "", text_of(child, "subStatus"), "\n");
    }
    if (text_of(wait, "command").len > 0)
        put(cli, pawl__str_is(text_of(wait, "for"), "timer") ? "    not to wait: " : "    ",
            text_of(wait, "command"), "\n");
}

static void put_mail(struct pawl_cli *cli, const struct pawl_json *mail)
{
    put(cli, "mail: ", text_of(mail, "text"), "");
    put_time(cli, ", since ", mail, "since");
    pawl__cli_print(&cli->out, "\n");
    put(cli, "    ", text_of(mail, "because"), "\n");
    if (text_of(mail, "error").len > 0)
        put(cli, "    the last error was: ", text_of(mail, "error"), "\n");
}

static void put_incident(struct pawl_cli *cli, const struct pawl_json *incident)
{
    if (!pawl__json_is(incident, PAWL_JSON_OBJECT))
        return;
    put(cli, "last incident: activity ", text_of(incident, "activityId"), "");
    put_time(cli, ", at ", incident, "timestamp");
    put(cli, " UTC\n    ", text_of(incident, "message"), "\n");
}

static void put_rest(struct pawl_cli *cli, const struct pawl_json *why)
{
    const struct pawl_json *commands = pawl__json_get_text(why, "commands");
    const struct pawl_json *given_up = pawl__json_get_text(why, "givenUp");
    uint32_t letters = pawl__json_len(given_up);

    if (letters > 0)
        pawl__cli_print(&cli->out, "given up: %u piece%s of its work\n", letters,
                        letters == 1 ? "" : "s");
    for (uint32_t i = 0; i < pawl__json_len(given_up); i++) {
        const struct pawl_json *letter = pawl__json_at(given_up, i);

        put(cli, "    ", text_of(letter, "text"), "");
        put_time(cli, ", at ", letter, "givenUpAt");
        put(cli, " UTC: ", text_of(letter, "error"), "\n");
    }
    for (uint32_t i = 0; i < pawl__json_len(commands); i++) {
        put(cli, "to ", text_of(pawl__json_at(commands, i), "to"), ": ");
        put(cli, "", text_of(pawl__json_at(commands, i), "command"), "\n");
    }
}

static void show(struct pawl_cli *cli, const struct pawl_json *why)
{
    const struct pawl_json *waits = pawl__json_get_text(why, "waitsFor");
    const struct pawl_json *mail = pawl__json_get_text(why, "mail");
    const struct pawl_json *holder = pawl__json_get_text(why, "heldBy");
    bool single = pawl__json_len(waits) == 1 &&
                  pawl__str_starts(text_of(why, "summary"), pawl__str("it waits for "));
    int64_t version = 0;

    (void)pawl__json_to_int(pawl__json_get_text(why, "version"), &version);
    put(cli, "", text_of(why, "instanceId"), "  ");
    put(cli, "", text_of(why, "subStatus"), "  ");
    put(cli, "", text_of(why, "definitionId"), "");
    pawl__cli_print(&cli->out, " version %lld\n", (long long)version);
    put(cli, "", text_of(why, "summary"), "\n");
    if (pawl__json_true(pawl__json_get_text(why, "cancelRequested")) &&
        pawl__str_is(text_of(why, "status"), "Running"))
        pawl__cli_print(&cli->out, "its cancellation was requested\n");
    for (uint32_t i = 0; i < pawl__json_len(waits); i++)
        put_wait(cli, pawl__json_at(waits, i), single);
    for (uint32_t i = 0; i < pawl__json_len(mail); i++)
        put_mail(cli, pawl__json_at(mail, i));
    if (pawl__json_is(holder, PAWL_JSON_OBJECT))
        put(cli, "held: ", text_of(holder, "text"), "\n");
    put_incident(cli, pawl__json_get_text(why, "lastIncident"));
    put_rest(cli, why);
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json said = pawl__json_null();
    struct pawl_why why;
    int status = pawl__op_instance_why(&op, pawl__str(cli->args.operands[0]), &why);

    if (status == PAWL_OK) {
        said = pawl__view_why(&b, &why, pawl__cli_store_words(cli, &cli->arena));
        if (b.status != PAWL_OK)
            status = pawl__error_code(err, b.status);
    }
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err,
                              status == PAWL_ENOTFOUND ? "'pawl ps --all' lists the instances"
                                                       : pawl__cli_session_hint(status));
    if (pawl__cli_flag(&cli->args, "json"))
        return pawl__cli_print_json(cli, &said, 2);
    show(cli, &said);
    return PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the same as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_why = {
    .name = "why",
    .summary = "Say why an instance does not continue, and what would resume it",
    .operands = "INSTANCE",
    .help = "What it waits for and since when, with the command that resumes it; mail that has\n"
            "not been delivered, and why; which node runs it; what failed last. If it has ended:\n"
            "how and when.\n",
    .options = options,
    .run = run,
};
