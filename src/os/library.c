/* SPDX-License-Identifier: Apache-2.0 */
/* Loading shared libraries by dlopen; see library.h. */
#include "os/library.h"

#include "base/assert.h"
#include "base/error.h"
#include "os/errno.h"
#include "os/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* More than any client library takes with all that it needs. */
#define PROBE_BYTES ((size_t)64 << 20)

/*
 * dlopen says why only in words. "Not there" reads "NAME: cannot open shared object file: …" with
 * the name that was asked for; any other text (a dependency is missing, the file is damaged) is
 * worth showing.
 */
static bool says_not_installed(const char *text, const char *soname)
{
    size_t length = strlen(soname);

    return strncmp(text, soname, length) == 0 &&
           strstr(text + length, "cannot open shared object file: No such file") != NULL;
}

/* Whether there is room for any library that may be asked for, with all that it needs. */
static bool has_memory(void)
{
    void *probe =
        mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (probe == MAP_FAILED)
        return false;
    (void)munmap(probe, PROBE_BYTES);
    return true;
}

/*
 * A part of the library could not be mapped: there is no memory, or the system does not let its
 * code be executed (a file system mounted with noexec, SELinux). Some versions of the C library add
 * which; where it does not, the memory tells.
 */
static int map_shortage(const char *text)
{
    if (strstr(text, "Operation not permitted") || strstr(text, "Permission denied"))
        return 0;
    return has_memory() ? 0 : ENOMEM;
}

/* The errno value behind a text that says what this process lacks; 0: the library is to blame. */
static int shortage_of(const char *text)
{
    static const struct {
        const char *words;
        int errnum;
    } known[] = {
        {"Too many open files in system", ENFILE},
        {"Too many open files", EMFILE},
        {"Cannot allocate memory", ENOMEM},
        {"out of memory", ENOMEM},
        {"Input/output error", EIO},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(text, known[i].words))
            return known[i].errnum;
    return strstr(text, "failed to map segment") ? map_shortage(text) : 0;
}

static int refuse_for_now(const char *soname, int errnum, struct pawl_error *err)
{
    return pawl__os_error(err, errnum, "%s cannot be loaded now", soname);
}

/*
 * The message names the first soname: it is the preferred one. Without a descriptor nothing is
 * tried: the loader would take its index of libraries for damaged, and never read it again.
 */
static int load(const struct pawl_library_need *need, void **out, struct pawl_error *err)
{
    int errnum = pawl__file_shortage();
    const char *text;

    PAWL_ASSERT(need->sonames[0]);
    if (errnum != 0)
        return refuse_for_now(need->sonames[0], errnum, err);
    for (size_t i = 0; i < PAWL_LIBRARY_SONAMES_MAX && need->sonames[i]; i++) {
        /* It stays in the process once it is loaded: client libraries and what they bring along
         * keep tables and exit handlers of their own and leak them when they are unloaded. */
        *out = dlopen(need->sonames[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (*out)
            return PAWL_OK;
        text = dlerror();
        if (!text || says_not_installed(text, need->sonames[i]))
            continue;
        errnum = shortage_of(text);
        if (errnum != 0)
            return refuse_for_now(need->sonames[i], errnum, err);
        return pawl__error_set(err, PAWL_EMISSING,
                               "%s cannot be loaded: apt-get install --reinstall %s (%s)",
                               need->sonames[i], need->package, text);
    }
    return pawl__error_set(err, PAWL_EMISSING, "%s is not installed: apt-get install %s",
                           need->sonames[0], need->package);
}

int pawl__library_open(const struct pawl_library_need *need, void *table, struct pawl_library *out,
                       struct pawl_error *err)
{
    void *handle = NULL;
    int status = load(need, &handle, err);

    if (!handle)
        return status;
    /* All are looked up before any is stored, so that a failure leaves the table as it was. */
    for (size_t i = 0; i < need->symbol_count; i++) {
        if (dlsym(handle, need->symbols[i].name))
            continue;
        (void)dlclose(handle);
        return pawl__error_set(
            err, PAWL_EMISSING, "%s lacks the function %s: install a newer %s (apt-get install %s)",
            need->sonames[0], need->symbols[i].name, need->package, need->package);
    }
    for (size_t i = 0; i < need->symbol_count; i++) {
        void *function = dlsym(handle, need->symbols[i].name);

        memcpy((char *)table + need->symbols[i].offset, &function, sizeof function);
    }
    out->handle = handle;
    return PAWL_OK;
}

void pawl__library_close(struct pawl_library *library)
{
    if (library->handle)
        (void)dlclose(library->handle);
    library->handle = NULL;
}
