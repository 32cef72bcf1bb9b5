/* SPDX-License-Identifier: Apache-2.0 */
/* Names, texts and classes of the codes, from the one list in <pawl/error.h>; message filling. */
#include "base/error.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pawl_error_name(int code)
{
    switch (code) {
    case PAWL_OK:
        return "PAWL_OK";
#define ERROR_NAME(name, number, class, text)                                                      \
    case number:                                                                                   \
        return "PAWL_" #name;
        PAWL_ERROR_LIST(ERROR_NAME)
#undef ERROR_NAME
    default:
        return "PAWL_E?";
    }
}

const char *pawl_error_text(int code)
{
    switch (code) {
    case PAWL_OK:
        return "no error";
#define ERROR_TEXT(name, number, class, text)                                                      \
    case number:                                                                                   \
        return text;
        PAWL_ERROR_LIST(ERROR_TEXT)
#undef ERROR_TEXT
    default:
        return "unknown error";
    }
}

enum pawl_error_class pawl_error_class(int code)
{
    switch (code) {
    case PAWL_OK:
        return PAWL_CLASS_NONE;
#define ERROR_CLASS(name, number, class, text)                                                     \
    case number:                                                                                   \
        return PAWL_CLASS_##class;
        PAWL_ERROR_LIST(ERROR_CLASS)
#undef ERROR_CLASS
    default:
        return PAWL_CLASS_FATAL;
    }
}

const char *pawl_error_class_name(enum pawl_error_class error_class)
{
    switch (error_class) {
    case PAWL_CLASS_NONE:
        return "none";
    case PAWL_CLASS_CALLER:
        return "caller";
    case PAWL_CLASS_DEFINITE:
        return "definite";
    case PAWL_CLASS_TRANSIENT:
        return "transient";
    case PAWL_CLASS_UNKNOWN:
        return "unknown";
    case PAWL_CLASS_FATAL:
        return "fatal";
    }
    return "none";
}

/* Ends a message that was cut with "…", at the start of a character and not inside one. */
static void mark_cut(char *msg)
{
    const size_t last = PAWL_ERROR_MSG_SIZE - sizeof "…";
    size_t end = last;

    /* A character has three more bytes at the most; what runs on longer is no UTF-8. */
    while (last - end < 4 && ((unsigned char)msg[end] & 0xC0) == 0x80)
        end--;
    memcpy(msg + end, "…", sizeof "…");
}

PAWL_PRINTF(2, 0)
static void format_message(char *msg, const char *format, va_list args)
{
    int length = vsnprintf(msg, PAWL_ERROR_MSG_SIZE, format, args);

    if (length < 0) /* printf's own failure: say at least where the message would begin */
        (void)snprintf(msg, PAWL_ERROR_MSG_SIZE, "%s", format);
    else if (length >= PAWL_ERROR_MSG_SIZE)
        mark_cut(msg);
}

void pawl__error_write(struct pawl_error *err, int code, const char *format, ...)
{
    va_list args;

    if (!err)
        return;
    err->code = code;
    va_start(args, format);
    format_message(err->msg, format, args);
    va_end(args);
}

/* Puts a prefix and what joins it to the rest before the message. */
PAWL_PRINTF(3, 0)
static void put_before(struct pawl_error *err, const char *joint, const char *format, va_list args)
{
    char old[PAWL_ERROR_MSG_SIZE];
    size_t length;

    memcpy(old, err->msg, sizeof old);
    format_message(err->msg, format, args);
    length = strlen(err->msg);
    if ((size_t)snprintf(err->msg + length, sizeof err->msg - length, "%s: %s", joint, old) >=
        sizeof err->msg - length)
        mark_cut(err->msg);
}

int pawl__error_prefix(struct pawl_error *err, int code, const char *format, ...)
{
    va_list args;

    if (!err || err->code == PAWL_OK)
        return code;
    va_start(args, format);
    put_before(err, "", format, args);
    va_end(args);
    return err->code;
}

bool pawl__error_says_unchanged(int code)
{
    enum pawl_error_class class = pawl_error_class(code);

    return class == PAWL_CLASS_CALLER || class == PAWL_CLASS_DEFINITE ||
           class == PAWL_CLASS_TRANSIENT;
}

int pawl__error_after_commit(struct pawl_error *err, int status, const char *format, ...)
{
    va_list args;

    if (!pawl__error_says_unchanged(status))
        return status;
    if (!err)
        return PAWL_EUNKNOWN;
    if (err->code == PAWL_OK)
        (void)pawl__error_code(err, status);
    va_start(args, format);
    put_before(err, "; what followed is unknown", format, args);
    va_end(args);
    err->code = PAWL_EUNKNOWN;
    return PAWL_EUNKNOWN;
}

int pawl__error_code(struct pawl_error *err, int code)
{
    return pawl__error_set(err, code, "%s", pawl_error_text(code));
}

_Noreturn void pawl__assert_failed(const char *file, int line, const char *function,
                                   const char *expression)
{
    (void)fprintf(stderr, "pawl: bug: %s:%d: %s: assertion failed: %s\n", file, line, function,
                  expression);
    abort();
}
