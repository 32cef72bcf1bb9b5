/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reading files of the time zone database; base/time/timezone.c reads them. */
#include "os/tzdata.h"

#include "base/buf.h"
#include "base/error.h"
#include "os/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_FOLDER "/usr/share/zoneinfo"
#define LOCALTIME_PATH "/etc/localtime"
#define NAME_LENGTH_MAX 100 /* the longest real one has 32 */

static const char *database_folder(void)
{
    const char *folder = getenv("TZDIR");

    return folder && folder[0] ? folder : DEFAULT_FOLDER;
}

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+';
}

/* Parts of name_char() between single slashes: this leaves no way out of the folder. */
static bool name_valid(struct pawl_str name)
{
    bool part = false;

    if (name.len > NAME_LENGTH_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '/' ? !part : !name_char(name.ptr[i]))
            return false;
        part = name.ptr[i] != '/';
    }
    return part;
}

static int load_path(const struct pawl_allocator *alloc, const char *path, struct pawl_str name,
                     struct pawl_timezone **out, struct pawl_error *err)
{
    struct pawl_buf bytes;
    int status;

    pawl__buf_init(&bytes, alloc, PAWL_TIMEZONE_BYTES_MAX + 4096);
    if (pawl__file_is_regular(path))
        status = pawl__file_read_regular(path, &bytes, err);
    else /* nothing, a folder (America), or a pipe */
        status = pawl__error_set(err, PAWL_ENOTFOUND, "%s is not a file", path);
    if (status == PAWL_OK)
        status = pawl__timezone_new(alloc, name, pawl__buf_peek(&bytes), out, err);
    if (status == PAWL_EPARSE || status == PAWL_ELIMIT) {
        /* Nobody typed it: it is a file, and it is damaged. */
        status = PAWL_ECORRUPT;
        if (err)
            err->code = status;
    }
    pawl__buf_release(&bytes);
    return status;
}

/* Distinguishes "no such zone" from "no zones at all". */
static int set_not_found(const char *folder, struct pawl_str name, struct pawl_error *err)
{
    if (access(folder, F_OK) != 0)
        return pawl__error_set(err, PAWL_EMISSING,
                               "time zone %.*s: there is no time zone database at %s; install the "
                               "package tzdata, or set TZDIR to where it is",
                               PAWL_STR_ARG(name), folder);
    return pawl__error_set(err, PAWL_ENOTFOUND,
                           "time zone %.*s is not in %s; names look like Europe/Berlin; install "
                           "the packages tzdata and tzdata-legacy if the name is right",
                           PAWL_STR_ARG(name), folder);
}

int pawl__tzdata_load(const struct pawl_allocator *alloc, struct pawl_str name,
                      struct pawl_timezone **out, struct pawl_error *err)
{
    const char *folder = database_folder();
    char path[PATH_MAX];
    int length, status;

    if (!name_valid(name))
        return pawl__error_set(err, PAWL_EINVAL,
                               "\"%.*s\" is not the name of a time zone; expected one such as "
                               "Europe/Berlin or UTC",
                               PAWL_STR_ARG(pawl__str_slice(name, 0, NAME_LENGTH_MAX)));
    if (pawl__str_is(name, "UTC") || pawl__str_is(name, "Etc/UTC"))
        return pawl__timezone_new_utc(alloc, out, err);
    length = snprintf(path, sizeof path, "%s/%.*s", folder, PAWL_STR_ARG(name));
    if (length < 0 || (size_t)length >= sizeof path)
        return pawl__error_set(err, PAWL_ELIMIT, "the path in TZDIR is too long");
    status = load_path(alloc, path, name, out, err);
    return status == PAWL_ENOTFOUND ? set_not_found(folder, name, err) : status;
}

/* What /etc/localtime links to, cut to the name in the database; "localtime" when it is no link. */
static struct pawl_str local_name(const char *path, char target[PATH_MAX])
{
    static const char folder[] = "/zoneinfo/";
    ssize_t length = readlink(path, target, PATH_MAX - 1);
    const char *name;

    target[length > 0 ? length : 0] = '\0';
    name = strstr(target, folder);
    return pawl__str(name ? name + sizeof folder - 1 : "localtime");
}

static int load_localtime(const struct pawl_allocator *alloc, const char *path,
                          struct pawl_timezone **out, struct pawl_error *err)
{
    char target[PATH_MAX];

    return load_path(alloc, path, local_name(path, target), out, err);
}

int pawl__tzdata_local(const struct pawl_allocator *alloc, struct pawl_timezone **out,
                       struct pawl_error *err)
{
    const char *tz = getenv("TZ");
    int status;

    if (!tz) {
        status = load_localtime(alloc, LOCALTIME_PATH, out, err);
        return status == PAWL_ENOTFOUND ? pawl__timezone_new_utc(alloc, out, err) : status;
    }
    if (tz[0] == ':')
        tz++;
    if (tz[0] == '\0')
        return pawl__timezone_new_utc(alloc, out, err);
    if (tz[0] == '/')
        return load_localtime(alloc, tz, out, err);
    status = pawl__tzdata_load(alloc, pawl__str(tz), out, err);
    if (status != PAWL_EINVAL && status != PAWL_ENOTFOUND && status != PAWL_EMISSING)
        return status;
    /* EST5EDT is a file and a rule, CET-1CEST,M3.5.0,M10.5.0/3 only a rule; no rule, then the
       message about the name is the better one. */
    if (pawl__timezone_new_posix(alloc, pawl__str(tz), out, NULL) == PAWL_OK)
        return PAWL_OK;
    return pawl__error_prefix(err, status, "the environment variable TZ");
}
