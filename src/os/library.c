/* SPDX-License-Identifier: Apache-2.0 */
/* Loading shared libraries by dlopen; see library.h. */
#include "os/library.h"

#include "base/assert.h"
#include "base/error.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

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

/* The message names the first soname: it is the preferred one. */
static void *load(const struct pawl_library_need *need, struct pawl_error *err)
{
    const char *text;

    PAWL_ASSERT(need->sonames[0]);
    for (size_t i = 0; i < PAWL_LIBRARY_SONAMES_MAX && need->sonames[i]; i++) {
        /* It stays in the process once it is loaded: client libraries and what they bring along
         * keep tables and exit handlers of their own and leak them when they are unloaded. */
        void *handle = dlopen(need->sonames[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

        if (handle)
            return handle;
        text = dlerror();
        if (text && !says_not_installed(text, need->sonames[i])) {
            (void)pawl__error_set(err, PAWL_EMISSING,
                                  "%s cannot be loaded: apt-get install --reinstall %s (%s)",
                                  need->sonames[i], need->package, text);
            return NULL;
        }
    }
    (void)pawl__error_set(err, PAWL_EMISSING, "%s is not installed: apt-get install %s",
                          need->sonames[0], need->package);
    return NULL;
}

int pawl__library_open(const struct pawl_library_need *need, void *table, struct pawl_library *out,
                       struct pawl_error *err)
{
    void *handle = load(need, err);

    if (!handle)
        return PAWL_EMISSING;
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
