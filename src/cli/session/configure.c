/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of a command's configuration; see configure.h. */
#include "cli/session/configure.h"

#include "base/error.h"

#include <stdlib.h>

static const char *variable(void *ctx, const char *name)
{
    (void)ctx;
    return getenv(name);
}

/* The options that have a name of their own, then those of --set. */
static int read_options(struct pawl_cli *cli, struct pawl_configuration *configuration,
                        struct pawl_error *err)
{
    const char *pair;
    size_t at = 0;
    int status = PAWL_OK;

    while (status == PAWL_OK && (pair = pawl__cli_next(&cli->args, "set", &at)))
        status = pawl__configuration_set_pair(configuration, pair, "--set", err);
    for (unsigned i = 0; i < PAWL_SETTING_COUNT && status == PAWL_OK; i++) {
        enum pawl_setting_id id = (enum pawl_setting_id)i;
        const struct pawl_setting *setting = pawl__setting(id);
        const char *text = NULL;
        char place[64];

        if (!setting->option || !pawl__cli_knows(&cli->args, setting->option))
            continue;
        if (setting->type != PAWL_SETTING_BOOL)
            text = pawl__cli_text(&cli->args, setting->option, NULL);
        else if (pawl__cli_flag(&cli->args, setting->option))
            text = "true";
        if (!text)
            continue;
        (void)snprintf(place, sizeof place, "--%s", setting->option);
        status = pawl__configuration_set(configuration, id, pawl__str_trim(pawl__str(text)),
                                         PAWL_ORIGIN_OPTION, place, err);
    }
    return status;
}

static void adjust_log(struct pawl_cli *cli, const struct pawl_configuration *configuration)
{
    struct pawl_log_config config = cli->log.config;

    (void)pawl_log_level_parse(pawl__configuration_text(configuration, PAWL_SETTING_ID_LOG_LEVEL),
                               &config.level);
    config.format =
        strcmp(pawl__configuration_text(configuration, PAWL_SETTING_ID_LOG_FORMAT), "json") == 0
            ? PAWL_LOG_FORMAT_JSON
            : PAWL_LOG_FORMAT_TEXT;
    pawl_log_init(&cli->log, &config);
}

int pawl__cli_configure(struct pawl_cli *cli, struct pawl_configuration *out,
                        struct pawl_error *err)
{
    struct pawl_configuration_sources sources = {
        .file = pawl__cli_text(&cli->args, "config", NULL),
        .variable = variable,
    };
    int status;

    pawl__configuration_init(out, &cli->env->alloc);
    status = read_options(cli, out, err);
    if (status == PAWL_OK)
        status = pawl__configuration_read(out, &sources, err);
    if (status != PAWL_OK) {
        pawl__configuration_release(out);
        return status;
    }
    adjust_log(cli, out);
    pawl_log(&cli->log, PAWL_LOG_DEBUG, "settings read",
             pawl_log_text("file", out->file_count ? out->files[out->file_count - 1] : ""));
    return PAWL_OK;
}

const char *pawl__cli_configure_hint(int code)
{
    switch (code) {
    case PAWL_EPARSE:
    case PAWL_EINVAL:
        return "'pawl help settings' lists the settings and what they may be";
    case PAWL_ENOTFOUND:
        return "check the path that --config or PAWL_CONFIG names";
    case PAWL_EPERM:
        return "'pawl help settings' says which files are read";
    default:
        return NULL;
    }
}
