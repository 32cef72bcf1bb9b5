/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zip archives; see zip.h. The form is that of PKWARE's APPNOTE: files with a local head each, then
 * the directory, then its end record. What is read goes by the directory; local heads are only
 * checked.
 */
#include "http/zip.h"

#include "base/error.h"
#include "drivers/zlib.h"

#define LOCAL_MARK 0x04034b50u
#define ENTRY_MARK 0x02014b50u
#define END_MARK 0x06054b50u
#define LOCAL_BYTES 30u
#define ENTRY_BYTES 46u
#define END_BYTES 22u
#define COMMENT_BYTES_MAX 65535u

#define STORED 0u
#define DEFLATED 8u
#define VERSION 20u
#define FLAG_ENCRYPTED 0x0001u
#define FLAG_UTF8 0x0800u
#define DATE_1980 0x0021u

static uint32_t crc32_of(struct pawl_str bytes)
{
    uint32_t table[256], crc = 0xffffffffu;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320u : table[i] >> 1;
    }
    for (size_t i = 0; i < bytes.len; i++)
        crc = table[(crc ^ (unsigned char)bytes.ptr[i]) & 0xff] ^ crc >> 8;
    return ~crc;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

struct written {
    uint32_t crc, packed, size, offset, method;
};

static void put16(struct pawl_buf *out, uint32_t value)
{
    pawl__buf_byte(out, (char)(value & 0xff));
    pawl__buf_byte(out, (char)(value >> 8 & 0xff));
}

static void put32(struct pawl_buf *out, uint32_t value)
{
    put16(out, value & 0xffff);
    put16(out, value >> 16);
}

/* What a local head and an entry of the directory have in common. */
static void put_common(struct pawl_buf *out, const struct written *file, struct pawl_str name)
{
    put16(out, VERSION);
    put16(out, FLAG_UTF8);
    put16(out, file->method);
    put16(out, 0);
    put16(out, DATE_1980);
    put32(out, file->crc);
    put32(out, file->packed);
    put32(out, file->size);
    put16(out, (uint32_t)name.len);
    put16(out, 0);
}

static void put_local(struct pawl_buf *out, const struct written *file, struct pawl_str name)
{
    put32(out, LOCAL_MARK);
    put_common(out, file, name);
    pawl__buf_str(out, name);
}

static void put_entry(struct pawl_buf *out, const struct written *file, struct pawl_str name)
{
    put32(out, ENTRY_MARK);
    put16(out, VERSION);
    put_common(out, file, name);
    put16(out, 0); /* comment */
    put16(out, 0); /* disk */
    put16(out, 0);
    put32(out, 0);
    put32(out, file->offset);
    pawl__buf_str(out, name);
}

static void put_end(struct pawl_buf *out, size_t count, size_t begin, size_t directory)
{
    uint32_t size = (uint32_t)(out->len - directory);

    put32(out, END_MARK);
    put16(out, 0);
    put16(out, 0);
    put16(out, (uint32_t)count);
    put16(out, (uint32_t)count);
    put32(out, size);
    put32(out, (uint32_t)(directory - begin));
    put16(out, 0);
}

/* Its content, packed if that makes it smaller; then the head, whose sizes are known only now. */
static void put_file(struct pawl_zlib *zlib, const struct pawl_zip_file *file,
                     struct written *written, struct pawl_buf *out)
{
    struct pawl_buf packed;
    struct pawl_str content = file->content;

    pawl__buf_init(&packed, out->alloc, content.len);
    written->crc = crc32_of(content);
    written->size = (uint32_t)content.len;
    written->method = STORED;
    if (zlib && content.len > 0 && pawl__zlib_deflate(zlib, content, &packed) == PAWL_OK) {
        written->method = DEFLATED;
        content = pawl__buf_peek(&packed);
    }
    written->packed = (uint32_t)content.len;
    put_local(out, written, file->name);
    pawl__buf_str(out, content);
    pawl__buf_release(&packed);
}

static int check_written(const struct pawl_zip_file *files, size_t count, struct pawl_error *err)
{
    size_t total = 0;

    if (count > PAWL_ZIP_FILES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "an archive has at most %u files",
                               PAWL_ZIP_FILES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (files[i].name.len == 0 || files[i].name.len > PAWL_ZIP_NAME_BYTES_MAX)
            return pawl__error_set(err, PAWL_ELIMIT, "the name of a file has at most %u bytes",
                                   PAWL_ZIP_NAME_BYTES_MAX);
        if (files[i].content.len > PAWL_ZIP_BYTES_MAX - total)
            return pawl__error_set(err, PAWL_ELIMIT, "an archive has at most %zu bytes of content",
                                   PAWL_ZIP_BYTES_MAX);
        total += files[i].content.len;
    }
    return PAWL_OK;
}

int pawl__zip_write(const struct pawl_zip_file *files, size_t count, struct pawl_buf *out,
                    struct pawl_error *err)
{
    struct written written[PAWL_ZIP_FILES_MAX];
    struct pawl_zlib *zlib = NULL;
    size_t begin = out->len, directory;
    int status = check_written(files, count, err);

    if (status != PAWL_OK)
        return status;
    if (pawl__zlib_open(out->alloc, &zlib, NULL) != PAWL_OK)
        zlib = NULL;
    for (size_t i = 0; i < count; i++) {
        written[i].offset = (uint32_t)(out->len - begin);
        put_file(zlib, &files[i], &written[i], out);
    }
    directory = out->len;
    for (size_t i = 0; i < count; i++)
        put_entry(out, &written[i], files[i].name);
    put_end(out, count, begin, directory);
    pawl__zlib_close(zlib);
    status = out->status;
    if (status == PAWL_OK)
        return PAWL_OK;
    out->len = begin;
    out->status = PAWL_OK;
    return pawl__error_code(err, status);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

struct entry {
    uint32_t flags, method, crc, packed, size, offset;
    struct pawl_str name;
};

struct reading {
    struct pawl_str archive;
    struct pawl_arena *arena;
    struct pawl_zlib *zlib; /* NULL: not needed yet */
    struct pawl_zip_file *files;
    size_t count, total;
    struct pawl_error *err;
};

static uint32_t get16(struct pawl_str bytes, size_t at)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr + at;

    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(struct pawl_str bytes, size_t at)
{
    return get16(bytes, at) | get16(bytes, at + 2) << 16;
}

static int damaged(const struct reading *reading, const char *what)
{
    return pawl__error_set(reading->err, PAWL_EPARSE, "The archive is damaged or no zip: %s.",
                           what);
}

/* The end record: the last one whose comment reaches to the end. SIZE_MAX: there is none. */
static size_t find_end(struct pawl_str archive)
{
    size_t last = archive.len < END_BYTES ? 0 : archive.len - END_BYTES;

    for (size_t back = 0; archive.len >= END_BYTES && back <= COMMENT_BYTES_MAX && back <= last;
         back++) {
        size_t at = last - back;

        if (get32(archive, at) == END_MARK && get16(archive, at + 20) == back)
            return at;
    }
    return SIZE_MAX;
}

/* Inside the folder where somebody might unpack it. */
static bool is_safe_name(struct pawl_str name)
{
    size_t from = 0;

    if (name.len == 0 || name.len > PAWL_ZIP_NAME_BYTES_MAX || !pawl__utf8_valid(name) ||
        name.ptr[0] == '/')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == '\\' || name.ptr[i] == ':')
            return false;
    }
    while (from <= name.len) {
        size_t slash = pawl__str_find(name, '/', from);
        size_t end = slash == SIZE_MAX ? name.len : slash;
        struct pawl_str part = pawl__str_slice(name, from, end);

        if (pawl__str_is(part, "..") || pawl__str_is(part, "."))
            return false;
        from = end + 1;
    }
    return true;
}

/* At `*at` in the directory, which ends at `end`. */
static int read_entry(const struct reading *reading, size_t *at, size_t end, struct entry *out)
{
    struct pawl_str bytes = reading->archive;
    size_t name_len, rest;

    if (end - *at < ENTRY_BYTES || get32(bytes, *at) != ENTRY_MARK)
        return damaged(reading, "its directory is cut off");
    name_len = get16(bytes, *at + 28);
    rest = get16(bytes, *at + 30) + (size_t)get16(bytes, *at + 32);
    if (end - *at - ENTRY_BYTES < name_len + rest)
        return damaged(reading, "its directory is cut off");
    *out = (struct entry){
        .flags = get16(bytes, *at + 8),
        .method = get16(bytes, *at + 10),
        .crc = get32(bytes, *at + 16),
        .packed = get32(bytes, *at + 20),
        .size = get32(bytes, *at + 24),
        .offset = get32(bytes, *at + 42),
        .name = pawl__str_slice(bytes, *at + ENTRY_BYTES, *at + ENTRY_BYTES + name_len),
    };
    *at += ENTRY_BYTES + name_len + rest;
    if (!is_safe_name(out->name))
        return pawl__error_set(reading->err, PAWL_EPARSE,
                               "The archive has a file name that is not accepted: absolute, with "
                               "'..', a backslash, a colon, or not UTF-8.");
    return PAWL_OK;
}

static int check_entry(struct reading *reading, const struct entry *entry)
{
    if (entry->flags & FLAG_ENCRYPTED)
        return pawl__error_set(reading->err, PAWL_EPARSE, "The archive is encrypted.");
    if (entry->method != STORED && entry->method != DEFLATED)
        return pawl__error_set(reading->err, PAWL_EPARSE,
                               "The archive is packed in a way that is not supported (%u).",
                               entry->method);
    if (entry->size == UINT32_MAX || entry->packed == UINT32_MAX || entry->offset == UINT32_MAX)
        return pawl__error_set(reading->err, PAWL_EPARSE, "64-bit archives are not supported.");
    if (reading->count == PAWL_ZIP_FILES_MAX)
        return pawl__error_set(reading->err, PAWL_ELIMIT, "The archive has more than %u files.",
                               PAWL_ZIP_FILES_MAX);
    if (entry->size > PAWL_ZIP_BYTES_MAX - reading->total)
        return pawl__error_set(reading->err, PAWL_ELIMIT,
                               "The archive has more than %zu bytes of content.",
                               PAWL_ZIP_BYTES_MAX);
    reading->total += entry->size;
    if (reading->total > PAWL_ZIP_RATIO_FREE_BYTES &&
        reading->total / PAWL_ZIP_RATIO_MAX > reading->archive.len)
        return pawl__error_set(reading->err, PAWL_ELIMIT,
                               "The content of the archive is more than %u times its size.",
                               PAWL_ZIP_RATIO_MAX);
    for (size_t i = 0; i < reading->count; i++) {
        if (pawl__str_equal(reading->files[i].name, entry->name))
            return damaged(reading, "it has two files of one name");
    }
    return PAWL_OK;
}

/* The packed bytes of an entry. */
static int find_packed(const struct reading *reading, const struct entry *entry,
                       struct pawl_str *out)
{
    struct pawl_str bytes = reading->archive;
    size_t at = entry->offset, begin;

    if (bytes.len < LOCAL_BYTES || at > bytes.len - LOCAL_BYTES || get32(bytes, at) != LOCAL_MARK)
        return damaged(reading, "a file is not where its directory says");
    begin = at + LOCAL_BYTES + get16(bytes, at + 26) + get16(bytes, at + 28);
    if (begin > bytes.len || entry->packed > bytes.len - begin)
        return damaged(reading, "a file is cut off");
    *out = pawl__str_slice(bytes, begin, begin + entry->packed);
    return PAWL_OK;
}

static int unpack(struct reading *reading, const struct entry *entry, struct pawl_str packed,
                  struct pawl_str *out)
{
    char *to = pawl__arena_alloc(reading->arena, (size_t)entry->size + 1);
    int status = PAWL_OK;

    if (!to)
        return pawl__error_code(reading->err, pawl__arena_status(reading->arena));
    if (entry->method == STORED) {
        if (packed.len != entry->size)
            return damaged(reading, "the sizes of a file differ");
        if (packed.len > 0)
            memcpy(to, packed.ptr, packed.len);
    } else {
        if (!reading->zlib)
            status = pawl__zlib_open(reading->arena->alloc, &reading->zlib, reading->err);
        if (status != PAWL_OK)
            return status;
        status = pawl__zlib_inflate(reading->zlib, packed, to, entry->size);
        if (status == PAWL_ENOMEM)
            return pawl__error_code(reading->err, status);
        if (status != PAWL_OK)
            return damaged(reading, "a file cannot be unpacked");
    }
    *out = pawl__str_make(to, entry->size);
    return crc32_of(*out) == entry->crc ? PAWL_OK : damaged(reading, "a checksum is wrong");
}

static int read_file(struct reading *reading, const struct entry *entry)
{
    struct pawl_zip_file *file = &reading->files[reading->count];
    struct pawl_str packed;
    int status = check_entry(reading, entry);

    if (status == PAWL_OK)
        status = find_packed(reading, entry, &packed);
    if (status == PAWL_OK)
        status = unpack(reading, entry, packed, &file->content);
    if (status != PAWL_OK)
        return status;
    file->name = pawl__arena_str(reading->arena, entry->name);
    if (!file->name.ptr)
        return pawl__error_code(reading->err, pawl__arena_status(reading->arena));
    reading->count++;
    return PAWL_OK;
}

static int read_all(struct reading *reading)
{
    struct pawl_str bytes = reading->archive;
    size_t end = find_end(bytes), at, count, size;
    struct entry entry;
    int status = PAWL_OK;

    if (end == SIZE_MAX)
        return damaged(reading, "it has no directory");
    count = get16(bytes, end + 10);
    size = get32(bytes, end + 12);
    at = get32(bytes, end + 16);
    if (get16(bytes, end + 4) != 0 || get16(bytes, end + 6) != 0 || get16(bytes, end + 8) != count)
        return damaged(reading, "it is a part of several");
    if (at > end || size != end - at)
        return damaged(reading, "its directory is not where it should be");
    if (count > PAWL_ZIP_FILES_MAX)
        return pawl__error_set(reading->err, PAWL_ELIMIT, "The archive has more than %u files.",
                               PAWL_ZIP_FILES_MAX);
    reading->files = pawl__arena_alloc_array(reading->arena, count + 1, sizeof *reading->files);
    if (!reading->files)
        return pawl__error_code(reading->err, pawl__arena_status(reading->arena));
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        status = read_entry(reading, &at, end, &entry);
        if (status == PAWL_OK && entry.name.ptr[entry.name.len - 1] != '/')
            status = read_file(reading, &entry);
    }
    return status;
}

int pawl__zip_read(struct pawl_str archive, struct pawl_arena *arena, struct pawl_zip *out,
                   struct pawl_error *err)
{
    struct reading reading = {.archive = archive, .arena = arena, .err = err};
    int status = read_all(&reading);

    pawl__zlib_close(reading.zlib);
    if (status == PAWL_OK)
        *out = (struct pawl_zip){reading.files, reading.count};
    return status;
}
