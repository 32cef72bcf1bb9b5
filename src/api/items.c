/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and their pages; see items.h. */
#include "api/items.h"

void api_respond_items(struct api_call *call, struct pawl_builder *b, struct pawl_json items)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "items", items);
    pawl__build_int(b, &out, "count", pawl__json_len(&items));
    api_respond(call, b, &out);
}

void api_respond_page(struct api_call *call, struct pawl_builder *b, struct pawl_json items,
                      uint64_t total)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "items", items);
    pawl__build_int(b, &out, "totalCount", (int64_t)total);
    api_respond(call, b, &out);
}

struct pawl_page_request api_page(struct api_number page, struct api_number size, uint32_t usual)
{
    int64_t rows = size.is_given ? size.value : usual;
    struct pawl_page_request out = {.with_total = true};

    if (rows < 0 || rows > (int64_t)PAWL_PAGE_ROWS_MAX)
        rows = PAWL_PAGE_ROWS_MAX;
    out.limit = (uint32_t)rows;
    out.total_only = rows == 0;
    /* Past any list, and no sum that overflows. */
    if (page.value > 0)
        out.offset = (uint64_t)(page.value < INT32_MAX ? page.value : INT32_MAX) * (uint64_t)rows;
    return out;
}

bool api_cursor_page(struct api_call *call, const struct api_cursor *cursor,
                     struct pawl_page_request *out)
{
    if (cursor->limit.is_given &&
        (cursor->limit.value < 1 || cursor->limit.value > (int64_t)PAWL_PAGE_ROWS_MAX)) {
        api_refuse(call, 400, "limit", "A page has 1 to 10000 rows.");
        return false;
    }
    *out = (struct pawl_page_request){.limit = (uint32_t)cursor->limit.value,
                                      .after = api_given(cursor->after),
                                      .with_total = cursor->with_total == 1};
    return true;
}

void api_respond_cursor(struct api_call *call, struct pawl_builder *b, struct pawl_json items,
                        const struct pawl_page_request *request, const struct pawl_page *page)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "items", items);
    pawl__build_text(b, &out, "next", page->next);
    if (request->with_total)
        pawl__build_int(b, &out, "totalCount", (int64_t)page->total);
    api_respond(call, b, &out);
}
