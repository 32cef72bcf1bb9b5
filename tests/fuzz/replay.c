/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds every file of the given folders to a fuzz target, so that inputs which once found something
 * run with every test. A folder without files is an error: a corpus that went missing tests
 * nothing.
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    uint8_t *data = NULL;
    int failed = 1;

    if (!file || fstat(fileno(file), &info) != 0)
        goto out;
    /* No byte more than the file has, so that reading behind the end is noticed. */
    data = malloc(info.st_size > 0 ? (size_t)info.st_size : 1);
    if (!data || fread(data, 1, (size_t)info.st_size, file) != (size_t)info.st_size)
        goto out;
    (void)LLVMFuzzerTestOneInput(data, (size_t)info.st_size);
    failed = 0;
out:
    if (failed)
        (void)fprintf(stderr, "cannot read %s\n", path);
    free(data);
    if (file)
        (void)fclose(file);
    return failed;
}

static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int failed = 0;
    int count = 0;

    if (!dir) {
        (void)fprintf(stderr, "cannot open %s\n", folder);
        return 1;
    }
    while ((entry = readdir(dir)) != NULL) {
        char path[4096];

        if (entry->d_name[0] == '.')
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path)
            continue;
        failed |= replay_file(path);
        count++;
    }
    (void)closedir(dir);
    (void)printf("%s: %d inputs\n", folder, count);
    return failed || count == 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;

    for (int i = 1; i < argc; i++)
        failed |= replay_folder(argv[i]);
    return failed;
}
