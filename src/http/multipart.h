/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a form (multipart/form-data, RFC 7578) whose bytes are complete.
 *
 *     status = pawl__multipart_open(content_type, body, &form);
 *     while (status == PAWL_OK && (status = pawl__multipart_next(&form, arena, &part)) == PAWL_OK)
 *         …
 *     // PAWL_ENOTFOUND: there was no other
 */
#ifndef PAWL_HTTP_MULTIPART_H
#define PAWL_HTTP_MULTIPART_H

#include "base/arena.h"
#include "base/str.h"

#define PAWL_MULTIPART_PARTS_MAX 1000
#define PAWL_MULTIPART_HEAD_BYTES_MAX ((size_t)16 << 10)

struct pawl_multipart {
    struct pawl_str boundary; /* borrowed, as are all bytes */
    struct pawl_str rest;
    uint32_t count;
    bool ended;
};

struct pawl_part {
    struct pawl_str name;
    struct pawl_str file_name;    /* without folders; ptr NULL: it is not a file */
    struct pawl_str content_type; /* ptr NULL: it has none */
    struct pawl_str content;
};

/*
 * `content_type` is the request's field, `body` its body; both are borrowed. PAWL_EINVAL: it is not
 * a form of parts, or has no proper boundary.
 */
PAWL_MUST_CHECK int pawl__multipart_open(struct pawl_str content_type, struct pawl_str body,
                                         struct pawl_multipart *out);

/*
 * The next part; names are borrowed or in the arena, content is borrowed. PAWL_ENOTFOUND: all were
 * read, and the end was proper. PAWL_EPARSE: it is not as it should be. PAWL_ELIMIT: too many, or a
 * head that is too long. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__multipart_next(struct pawl_multipart *multipart, struct pawl_arena *arena,
                                         struct pawl_part *out);

#endif
