/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl config`: the settings with their sources, and the services composed from them. */
#include "cli/commands.h"

#include "base/error.h"
#include "base/json/json.h"
#include "cli/command/output.h"
#include "cli/session/configure.h"
#include "host/features.h"

#define OUTPUT_MAX ((size_t)16 << 20)
#define EMPTY "-"

static const char *const origin_names[] = {
    [PAWL_ORIGIN_DEFAULT] = "default",
    [PAWL_ORIGIN_FILE] = "file",
    [PAWL_ORIGIN_VARIABLE] = "variable",
    [PAWL_ORIGIN_OPTION] = "option",
};

/* The value as it may be shown, in the arena; NULL when there is no memory. */
static const char *shown(struct pawl_cli *cli, const struct pawl_configuration *configuration,
                         enum pawl_setting_id id)
{
    struct pawl_str copy = {NULL, 0};
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, PAWL_CONFIGURATION_BYTES_MAX);
    pawl__configuration_show(configuration, id, &buf);
    if (buf.status == PAWL_OK)
        copy = pawl__arena_str(&cli->arena, pawl__buf_peek(&buf));
    pawl__buf_release(&buf);
    return copy.ptr;
}

/* ---- text -------------------------------------------------------------------------------- */

static void put_cell(struct pawl_cli_stream *to, const char *text, int width)
{
    pawl__cli_write_safe(to, pawl__str(text));
    pawl__cli_print(to, "%*s", width > (int)strlen(text) ? width - (int)strlen(text) : 0, "");
}

static int print_settings(struct pawl_cli *cli, const struct pawl_configuration *configuration)
{
    struct pawl_cli_stream *to = &cli->out;
    const char *values[PAWL_SETTING_COUNT];
    int width = 0;

    for (unsigned i = 0; i < PAWL_SETTING_COUNT; i++) {
        values[i] = shown(cli, configuration, (enum pawl_setting_id)i);
        if (!values[i])
            return PAWL_ENOMEM;
        if (values[i][0] == '\0')
            values[i] = EMPTY;
        if ((int)strlen(values[i]) > width && strlen(values[i]) <= 40)
            width = (int)strlen(values[i]);
    }
    pawl__cli_print(to, "%sSettings%s", pawl__cli_style(to, PAWL_CLI_BOLD),
                    pawl__cli_style(to, PAWL_CLI_PLAIN));
    for (size_t i = 0; i < configuration->file_count; i++) {
        pawl__cli_print(to, "%s%s", i == 0 ? "  (file: " : ", ", configuration->files[i]);
        pawl__cli_print(to, "%s", i + 1 == configuration->file_count ? ")" : "");
    }
    pawl__cli_print(to, "\n");
    for (unsigned i = 0; i < PAWL_SETTING_COUNT; i++) {
        enum pawl_setting_id id = (enum pawl_setting_id)i;
        bool usual = configuration->values[id].origin == PAWL_ORIGIN_DEFAULT;

        pawl__cli_print(to, "  %-24s", pawl__setting(id)->name);
        put_cell(to, values[i], width + 2);
        pawl__cli_print(to, "%s", usual ? pawl__cli_style(to, PAWL_CLI_DIM) : "");
        pawl__cli_write_safe(to, pawl__str(pawl__configuration_place(configuration, id)));
        pawl__cli_print(to, "%s\n", usual ? pawl__cli_style(to, PAWL_CLI_PLAIN) : "");
    }
    return PAWL_OK;
}

static void print_services(struct pawl_cli *cli, const struct pawl_host *host)
{
    struct pawl_cli_stream *to = &cli->out;

    pawl__cli_print(to, "\n%sServices%s\n", pawl__cli_style(to, PAWL_CLI_BOLD),
                    pawl__cli_style(to, PAWL_CLI_PLAIN));
    for (unsigned i = 0; i < PAWL_SLOT_COUNT; i++) {
        struct pawl_slot_view view;

        pawl__host_view(host, (enum pawl_slot)i, &view);
        pawl__cli_print(to, "  %-24s", pawl__slot_key((enum pawl_slot)i));
        if (view.service.name)
            pawl__cli_print(to, "%s  by feature %s", view.service.name, view.service.feature);
        else
            pawl__cli_print(to, EMPTY);
        if (view.replaced.name)
            pawl__cli_print(to, ", in place of %s by %s", view.replaced.name,
                            view.replaced.feature);
        for (size_t j = 0; j < view.decorator_count; j++)
            pawl__cli_print(to, "%s %s by %s", j == 0 ? ", decorated:" : ",",
                            view.decorators[j].name, view.decorators[j].feature);
        pawl__cli_print(to, "\n");
    }
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void write_text(struct pawl_json_writer *json, const char *key, const char *text)
{
    pawl__json_write_key_text(json, key);
    if (text)
        pawl__json_write_string_text(json, text);
    else
        pawl__json_write_null(json);
}

static int write_settings(struct pawl_cli *cli, struct pawl_json_writer *json,
                          const struct pawl_configuration *configuration)
{
    pawl__json_write_key_text(json, "settings");
    pawl__json_write_begin_array(json);
    for (unsigned i = 0; i < PAWL_SETTING_COUNT; i++) {
        enum pawl_setting_id id = (enum pawl_setting_id)i;
        const char *value = shown(cli, configuration, id);

        if (!value)
            return PAWL_ENOMEM;
        pawl__json_write_begin_object(json);
        write_text(json, "name", pawl__setting(id)->name);
        write_text(json, "value", value);
        write_text(json, "source", origin_names[configuration->values[id].origin]);
        write_text(json, "place", pawl__configuration_place(configuration, id));
        pawl__json_write_end_object(json);
    }
    pawl__json_write_end_array(json);
    return PAWL_OK;
}

static void write_part(struct pawl_json_writer *json, struct pawl_slot_part part)
{
    pawl__json_write_begin_object(json);
    write_text(json, "name", part.name);
    write_text(json, "feature", part.feature);
    pawl__json_write_end_object(json);
}

static void write_service(struct pawl_json_writer *json, const struct pawl_host *host,
                          enum pawl_slot slot)
{
    struct pawl_slot_view view;

    pawl__host_view(host, slot, &view);
    pawl__json_write_begin_object(json);
    write_text(json, "slot", pawl__slot_key(slot));
    write_text(json, "service", view.service.name);
    write_text(json, "feature", view.service.feature);
    pawl__json_write_key_text(json, "replaced");
    if (view.replaced.name)
        write_part(json, view.replaced);
    else
        pawl__json_write_null(json);
    pawl__json_write_key_text(json, "decorators");
    pawl__json_write_begin_array(json);
    for (size_t i = 0; i < view.decorator_count; i++)
        write_part(json, view.decorators[i]);
    pawl__json_write_end_array(json);
    pawl__json_write_end_object(json);
}

static int print_json(struct pawl_cli *cli, const struct pawl_configuration *configuration,
                      const struct pawl_host *host)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "files");
    pawl__json_write_begin_array(&json);
    for (size_t i = 0; i < configuration->file_count; i++)
        pawl__json_write_string_text(&json, configuration->files[i]);
    pawl__json_write_end_array(&json);
    if (write_settings(cli, &json, configuration) != PAWL_OK)
        buf.status = PAWL_ENOMEM;
    if (buf.status == PAWL_OK) {
        pawl__json_write_key_text(&json, "services");
        pawl__json_write_begin_array(&json);
        for (unsigned i = 0; i < PAWL_SLOT_COUNT; i++)
            write_service(&json, host, (enum pawl_slot)i);
        pawl__json_write_end_array(&json);
        pawl__json_write_end_object(&json);
    }
    return pawl__cli_write_json(cli, &buf);
}

/* ---- the command ------------------------------------------------------------------------- */

static int show(struct pawl_cli *cli, const struct pawl_configuration *configuration)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_host *host = NULL;
    int code, status = pawl__host_new(cli->env, configuration, &host, &err);

    if (status == PAWL_OK)
        status = pawl__host_compose(host, &err);
    if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, pawl__cli_configure_hint(status));
    } else if (pawl__cli_flag(&cli->args, "json")) {
        code = print_json(cli, configuration, host);
    } else if (print_settings(cli, configuration) == PAWL_OK) {
        print_services(cli, host);
        code = PAWL_CLI_EXIT_OK;
    } else {
        (void)pawl__error_code(&err, PAWL_ENOMEM);
        code = pawl__cli_fail(cli, &err, NULL);
    }
    pawl__host_free(host);
    return code;
}

static int run(struct pawl_cli *cli)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_configuration configuration;
    int code;

    if (pawl__cli_configure(cli, &configuration, &err) != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_configure_hint(err.code));
    code = show(cli, &configuration);
    pawl__configuration_release(&configuration);
    return code;
}

static const struct pawl_cli_option options[] = {
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print one JSON object"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_config = {
    .name = "config",
    .summary = "Show the settings, where they come from, and the services they select",
    .help = "Nothing is started or opened. Values come from defaults, files of 'key = value'\n"
            "lines, environment variables and options; later ones override earlier ones, except\n"
            "that http.deny accumulates. The files are /etc/pawl/pawl.conf, then the one that\n"
            "--config or PAWL_CONFIG names, else ~/.config/pawl/pawl.conf and ./pawl.conf. Each\n"
            "value is shown with its origin, '-' if not set. Passwords in URIs are not shown.\n",
    .options = options,
    .run = run,
};
