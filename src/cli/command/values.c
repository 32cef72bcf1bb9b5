/* SPDX-License-Identifier: Apache-2.0 */
/* Values of workflows on the command line; see values.h. */
#include "cli/command/values.h"

#include "base/decimal.h"
#include "base/error.h"
#include "cli/command/output.h"

#include <string.h>

int pawl__cli_value(struct pawl_cli *cli, struct pawl_str text, struct pawl_json *out)
{
    if (pawl__json_parse(&cli->arena, text, NULL, out, NULL, NULL) == PAWL_OK)
        return PAWL_OK;
    return pawl__json_string_copy(&cli->arena, text, out);
}

int pawl__cli_payload(struct pawl_cli *cli, const char *text, struct pawl_json *out,
                      struct pawl_error *err)
{
    struct pawl_str from = pawl__str(text);
    int status =
        text[0] == '@' ? pawl__cli_read_regular(cli, &cli->arena, text + 1, &from, err) : PAWL_OK;

    if (status != PAWL_OK)
        return status;
    if (!pawl__utf8_valid(from))
        return pawl__error_set(err, PAWL_EINVAL, "the payload is not UTF-8");
    status = pawl__cli_value(cli, from, out);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/* @FILE */
static int add_members(struct pawl_cli *cli, struct pawl_json *to, const char *path,
                       struct pawl_error *err)
{
    struct pawl_json object;
    struct pawl_str text;
    int status = pawl__cli_read_regular(cli, &cli->arena, path, &text, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_parse(&cli->arena, text, NULL, &object, NULL, err);
    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "%s", pawl__cli_file_name(path));
    if (!pawl__json_is(&object, PAWL_JSON_OBJECT))
        return pawl__error_set(err, PAWL_EINVAL, "%s: expected an object with values, not %s",
                               pawl__cli_file_name(path), pawl__json_type_name(&object));
    status = pawl__json_merge(&cli->arena, to, &object, PAWL_JSON_MERGE_OVER);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

int pawl__cli_add_value(struct pawl_cli *cli, struct pawl_json *object, const char *text,
                        struct pawl_error *err)
{
    const char *equals = strchr(text, '=');
    struct pawl_json value;
    struct pawl_str from;
    int status = PAWL_OK;

    if (text[0] == '@')
        return add_members(cli, object, text + 1, err);
    if (!equals || equals == text)
        return pawl__error_set(err, PAWL_EINVAL,
                               "'%s' is not a value: write NAME=VALUE, NAME=@FILE or @FILE", text);
    from = pawl__str(equals + 1);
    if (equals[1] == '@')
        status = pawl__cli_read_regular(cli, &cli->arena, equals + 2, &from, err);
    if (status != PAWL_OK)
        return status;
    if (!pawl__utf8_valid(from))
        return pawl__error_set(err, PAWL_EINVAL, "the value of '%.*s' is not UTF-8",
                               (int)(equals - text), text);
    status = pawl__cli_value(cli, from, &value);
    if (status == PAWL_OK)
        status = pawl__json_set(&cli->arena, object, pawl__str_make(text, (size_t)(equals - text)),
                                value);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

int pawl__cli_values(struct pawl_cli *cli, const char *option, struct pawl_json *out,
                     struct pawl_error *err)
{
    const char *text;
    size_t at = 0;
    int status = PAWL_OK;

    *out = pawl__json_object();
    while (status == PAWL_OK && (text = pawl__cli_next(&cli->args, option, &at)) != NULL)
        status = pawl__cli_add_value(cli, out, text, err);
    return status;
}

int pawl__cli_time(const struct pawl_cli_args *args, const char *option, struct pawl_datetime *out,
                   bool *given, struct pawl_error *err)
{
    const char *text = pawl__cli_text(args, option, NULL);
    struct pawl_error why = PAWL_ERROR_INIT;

    *given = text != NULL;
    if (!text || pawl__datetime_parse(pawl__str(text), out, &why) == PAWL_OK)
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EINVAL,
                           "--%s: '%s' is not a time like 2026-11-16T07:12:03Z: %s", option, text,
                           why.msg);
}

int pawl__cli_pick_version(const struct pawl_cli_args *args, enum pawl_version_pick usual,
                           struct pawl_version_options *out, struct pawl_error *err)
{
    const char *text = pawl__cli_text(args, "version", NULL);
    int64_t number = 0;

    *out = (struct pawl_version_options){.pick = usual};
    if (!text)
        return PAWL_OK;
    if (strcmp(text, "published") == 0) {
        out->pick = PAWL_VERSIONS_PUBLISHED;
    } else if (strcmp(text, "latest") == 0) {
        out->pick = PAWL_VERSIONS_LATEST;
    } else if (strspn(text, "0123456789") == strlen(text) &&
               pawl__decimal_to_int(pawl__str(text), &number) && number >= 1) {
        *out = (struct pawl_version_options){PAWL_VERSIONS_NUMBER, number};
    } else {
        return pawl__error_set(err, PAWL_EINVAL,
                               "--version is a number, 'published' or 'latest', not '%s'", text);
    }
    return PAWL_OK;
}
