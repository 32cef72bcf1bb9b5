/* SPDX-License-Identifier: Apache-2.0 */
/* What endpoints with lists share: pages as clients ask for them, and lists as they are sent. */
#ifndef PAWL_API_ITEMS_H
#define PAWL_API_ITEMS_H

#include "api/endpoint.h"
#include "api/private.h"

/* {"items": […], "count": n} */
void api_respond_items(struct api_call *call, struct pawl_builder *b, struct pawl_json items);
/* {"items": […], "totalCount": n} */
void api_respond_page(struct api_call *call, struct pawl_builder *b, struct pawl_json items,
                      uint64_t total);

/*
 * Elsa's pages: `page` from 0 with `size` rows each; a negative page is the first, a size of 0 has
 * no rows. Without a size there are `usual` rows; more than PAWL_PAGE_ROWS_MAX are cut to that.
 */
struct pawl_page_request api_page(struct api_number page, struct api_number size, uint32_t usual);

/*
 * Pawl's own pages: `limit` rows behind `after`, the `next` of the page before, and `total` if all
 * are to be counted. false: it was refused.
 */
struct api_cursor {
    struct api_number limit;
    struct pawl_str after;
    int with_total;
};
#define API_CURSOR_FIELDS(request)                                                                 \
    API_FIELD(request, cursor.limit, "limit", API_NUMBER, API_IN_QUERY),                           \
        API_FIELD(request, cursor.after, "after", API_TEXT, API_IN_QUERY),                         \
        API_FIELD(request, cursor.with_total, "total", API_BOOL, API_IN_QUERY)
bool api_cursor_page(struct api_call *call, const struct api_cursor *cursor,
                     struct pawl_page_request *out);
/* {"items": […], "next"?, "totalCount"?} */
void api_respond_cursor(struct api_call *call, struct pawl_builder *b, struct pawl_json items,
                        const struct pawl_page_request *request, const struct pawl_page *page);

#endif
