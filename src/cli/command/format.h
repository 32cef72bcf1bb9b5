/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats as printf knows them, with the text of the format, which is the program's own, kept apart
 * from the texts that are put into it, which are anybody's.
 */
#ifndef PAWL_CLI_COMMAND_FORMAT_H
#define PAWL_CLI_COMMAND_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

struct pawl_cli_format {
    void (*own)(void *ctx, const char *bytes, size_t len);
    /* An argument of %s or %c. */
    void (*argument)(void *ctx, const char *bytes, size_t len);
    void *ctx;
    va_list args; /* started and ended by the caller */
};

/*
 * Knows %% and d u x f s c, with '-', width, precision ('*' too) and the lengths l ll j z. Anything
 * else is a bug of the caller and asserts.
 */
void pawl__cli_format(struct pawl_cli_format *to, const char *format);

#endif
