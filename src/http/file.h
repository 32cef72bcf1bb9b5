/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static files: a file of a folder as the response, with its type, Last-Modified and ETag, 304 for
 * what the client has, 206 and 416 for a range of bytes. Large files are sent in pieces.
 */
#ifndef PAWL_HTTP_FILE_H
#define PAWL_HTTP_FILE_H

#include "http/exchange.h"

/*
 * Responds with the file that `relative` names below `root` (os/served_file.h), or with 404. On a
 * worker: it reads from the disk. Fields that were added before, such as Cache-Control, are sent
 * too.
 */
void pawl__exchange_respond_file(struct pawl_exchange *exchange, const char *root,
                                 struct pawl_str relative);

/*
 * The same, or a packed form that lies next to it if the client accepts that: "app.js.br",
 * "app.js.gz". `caching` is the Cache-Control of a file that is served; refusals have no-store.
 */
void pawl__exchange_respond_packed_file(struct pawl_exchange *exchange, const char *root,
                                        struct pawl_str relative, const char *caching);

/* By a name's ending: "text/html; charset=utf-8"; application/octet-stream when it is unknown. */
const char *pawl__file_type(struct pawl_str name);

struct pawl_range {
    uint64_t first, length;
};

enum pawl_range_result {
    PAWL_RANGE_NONE,        /* all of it: no range, several, or not understood */
    PAWL_RANGE_PART,        /* *out */
    PAWL_RANGE_UNSATISFIED, /* nothing of it is there */
};

/* A field Range for a file of that size. */
enum pawl_range_result pawl__range_parse(struct pawl_str field, uint64_t size_bytes,
                                         struct pawl_range *out);

#endif
