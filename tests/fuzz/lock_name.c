/* SPDX-License-Identifier: Apache-2.0 */
/* Any name of a lock has a name at every service, within its limits and well-formed. */
#include "base/assert.h"
#include "locks/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_azure(struct pawl_str name, size_t units_max)
{
    char text[PAWL_AZURE_LOCK_NAME_SIZE], path[PAWL_AZURE_LOCK_PATH_SIZE];
    size_t len = pawl__lock_name_azure(name, units_max, text);

    PAWL_ASSERT(len > 0 && len <= 3 * units_max && text[len] == '\0');
    PAWL_ASSERT(pawl__utf8_valid(pawl__str_make(text, len)));
    if (pawl__lock_name_azure_path(name, units_max, path, NULL) == PAWL_OK)
        PAWL_ASSERT(path[0] != '\0' && path[0] != '/' && strlen(path) < sizeof path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_str name = pawl__str_make((const char *)data, size);
    char file[PAWL_LOCK_FILE_NAME_SIZE], text[PAWL_SQLSERVER_LOCK_NAME_SIZE];
    char key_text[PAWL_PG_LOCK_KEY_TEXT_SIZE];
    struct pawl_pg_lock_key key;
    size_t len;

    pawl__lock_name_file(name, file);
    PAWL_ASSERT(pawl__utf8_valid(pawl__str(file)) && !strchr(file, '/'));
    PAWL_ASSERT(pawl__str_ends(pawl__str(file), pawl__str(".lock")));
    pawl__lock_name_postgres(name, &key);
    pawl__lock_name_postgres_text(&key, key_text);
    PAWL_ASSERT(strlen(key_text) > 0);
    len = pawl__lock_name_sqlserver_text(name, text);
    PAWL_ASSERT(len < sizeof text && pawl__utf8_valid(pawl__str_make(text, len)));
    check_azure(name, PAWL_AZURE_LOCK_UNITS_MAX);
    check_azure(name, PAWL_AZURE_LOCK_UNITS_MAX_EMULATOR);
    return 0;
}
