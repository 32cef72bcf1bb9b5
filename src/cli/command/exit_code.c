/* SPDX-License-Identifier: Apache-2.0 */
/* The exit codes as data, from the one list in command.h. */
#include "cli/command/command.h"

const struct pawl_cli_exit_row pawl__cli_exit_rows[] = {
#define EXIT_ROW(name, number, class, text) {number, PAWL_CLASS_##class, text},
    PAWL_CLI_EXIT_LIST(EXIT_ROW)
#undef EXIT_ROW
        {0, PAWL_CLASS_NONE, NULL},
};

int pawl__cli_exit_of(int code)
{
    enum pawl_error_class error_class = pawl_error_class(code);

    if (error_class == PAWL_CLASS_NONE)
        return PAWL_CLI_EXIT_OK;
    for (const struct pawl_cli_exit_row *row = pawl__cli_exit_rows; row->text; row++) {
        if (row->error_class == error_class)
            return row->number;
    }
    return PAWL_CLI_EXIT_FATAL;
}
